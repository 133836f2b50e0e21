"""Loss and verdict: both sides of the truth, and each of the three answers."""

import math
from fractions import Fraction

import gmpy2
import pytest

import lastbit as lb
from lastbit.audit import Law, check, check_all, compare, law, loss
from lastbit.audit.verdict import Verdicts, judge
from lastbit.privacy.cost import Cost
from tests.clock import Clock

HALF = lb.Eta(1, 1, 1)
RATE = lb.Rate.from_eta(HALF)


def coin(p):
    return lambda draw: draw.bernoulli(p)


@pytest.mark.parametrize(("p", "q"), [("1/3", "1/7"), ("1/7", "1/3"), ("9/10", "1/10"), ("1/2", "499/1000")])
def test_the_loss_of_two_coins(p, q):
    a, b = Fraction(p), Fraction(q)
    ratios = {True: max(a / b, b / a), False: max((1 - a) / (1 - b), (1 - b) / (1 - a))}
    found = loss(coin(p), coin(q))
    assert found.delta == 0
    assert found.lower <= found.upper <= math.nextafter(math.nextafter(found.lower, 9), 9)
    with gmpy2.context(precision=200):
        true = gmpy2.log(gmpy2.mpq(max(ratios.values())))
    assert found.lower <= true <= found.upper
    assert ratios[found.witness] == max(ratios.values())


def test_equal_laws_lose_nothing():
    found = loss(coin("1/3"), lambda draw: draw.integer(3) == 0)
    assert (found.lower, found.upper, found.witness) == (0.0, 0.0, None)


def test_an_outcome_that_one_side_cannot_reach_is_an_infinite_loss():
    found = loss(lambda draw: draw.integer(2), lambda draw: draw.integer(3))
    assert (found.lower, found.upper, found.witness) == (math.inf, math.inf, 2)


def test_the_loss_of_shifted_geometric_noise_is_bounded_from_both_sides():
    found = loss(lambda draw: 1 + draw.laplace(RATE), lambda draw: draw.laplace(RATE), Fraction(1, 2**20))
    assert math.log(2) * (1 - 1e-3) < found.lower <= math.log(2) <= found.upper < math.log(2) * (1 + 1e-3)
    assert 0 < found.delta <= Fraction(1, 2**20)


def test_the_upper_side_holds_for_every_event_but_for_delta():
    def shift_law(by):
        return law(lambda draw: by + draw.laplace(RATE), Fraction(1, 2**12))

    one, other = shift_law(0), shift_law(1)
    found = loss(one, other, Fraction(1, 2**8))
    odds = Cost.of(Fraction(found.upper)).odds_bounds()[1]
    for p, q in ((one, other), (other, one)):
        excess = (p[outcome][0] - odds * q[outcome][0] for outcome in {*one, *other})
        assert p.unexplored + sum(max(Fraction(0), each) for each in excess) <= found.delta


def test_a_loss_from_too_little_exploring_says_so():
    found = loss(law(lambda draw: draw.laplace(RATE), "1/4"), law(lambda draw: draw.laplace(RATE) + 1, "1/4"))
    assert found.upper == math.inf
    assert found.delta > Fraction(1, 2**40)
    nothing = Law({}, Fraction(1), 0)
    assert loss(nothing, nothing).lower == 0.0
    assert loss(nothing, nothing).upper == math.inf


@pytest.mark.parametrize(
    ("p", "q", "cost", "answer"),
    [
        ("1/2", "1/4", HALF, "holds"),  # exactly the cost, both ways
        ("1/2", "0.2499999", HALF, "violated"),
        ("0.5000001", "1/4", HALF, "violated"),
        ("1/4", "1/2", HALF, "holds"),
        ("0.2499999", "1/2", HALF, "violated"),
        ("1/2", "1/3", Fraction(41, 100), "holds"),  # ln 1.5 = 0.405
        ("1/2", "1/3", Fraction(40, 100), "violated"),
        ("1", "0", HALF, "violated"),
    ],
)
def test_coins_against_a_cost(p, q, cost, answer):
    found = compare(coin(p), coin(q), cost)
    assert found.verdict == answer
    assert found.delta == 0
    assert found.holds == (answer == "holds") == (not found.witness)


def test_the_witness_is_an_event_that_proves_it():
    found = compare(lambda draw: draw.integer(10), lambda draw: draw.index([1, 9]), HALF)
    assert found.witness == (2,)
    for outcome in found.witness:
        assert law(lambda draw: draw.integer(10))[outcome][0] > 2 * law(lambda draw: draw.index([1, 9]))[outcome][1]


def test_many_small_excesses_together_convict():
    """No outcome alone is certain when the other side left too much open; all together are."""
    one = Law(dict.fromkeys(range(10), Fraction(1, 10)), Fraction(0), 10)
    other = Law({**dict.fromkeys(range(10), Fraction(1, 50)), "rest": Fraction(3, 4)}, Fraction(1, 20), 11)
    found = judge(HALF, one, other, Fraction(1, 10))
    assert found.verdict == "violated"
    assert set(found.witness) == set(range(10))
    one = Law({**dict.fromkeys(range(10), Fraction(9, 100)), "rest": Fraction(1, 10)}, Fraction(0), 11)
    other = Law({**dict.fromkeys(range(10), Fraction(1, 50)), "rest": Fraction(1, 5)}, Fraction(6, 10), 11)
    assert judge(HALF, one, other, Fraction(1, 10)).verdict == "undecided"


def test_holds_states_what_it_leaves_out():
    mechanism = lb.DiscreteLaplace(eta=HALF)
    found = check(mechanism, [0], [1], Fraction(1, 2**16))
    assert found.verdict == "holds"
    assert 0 < found.delta <= (1 + 2) * Fraction(1, 2**16)
    assert found.values == [0]
    assert found.neighbour == [1]
    assert "holds" in str(found)
    assert "delta" in str(found)


def test_a_mechanism_on_values_too_far_apart_is_convicted():
    found = check(lb.DiscreteLaplace(epsilon=1), [0], [2])
    assert found.verdict == "violated"
    assert found.loss.lower > 1
    assert "witness value=" in str(found)


def test_out_of_time_is_undecided_never_an_acquittal(monkeypatch):
    mechanism = lb.DiscreteLaplace(epsilon="1/10")
    clock = Clock(monkeypatch)
    found = check(mechanism, [0, 0, 0, 0], [1, 0, 0, 0], seconds=0.2)
    assert found.verdict == "undecided"
    assert not found.holds
    # Two thirds of the time are for the two laws. The rest is for comparing them, which looks at no clock here.
    assert 133 <= clock.looks <= 200
    clock.looks = 0
    everyone = check_all(lb.DiscreteLaplace(epsilon="1/10"), [0, 0, 0], seconds=0.3)
    assert not everyone.holds
    assert everyone.worst.verdict == "undecided"
    assert 150 <= clock.looks <= 400
    assert loss(mechanism.program([0, 0, 0, 0]), mechanism.program([1, 0, 0, 0]), seconds=0.1).upper == math.inf


def test_the_alphas_of_a_rho_are_tried_within_the_time(monkeypatch):
    """A rho that holds is undecided where there is no time for every alpha, and one that fails is convicted first."""
    laws = [law(lambda draw, p=p: draw.bernoulli(p)) for p in ("1/2", "2/5")]
    cost = Cost.zcdp("1/10")
    assert judge(cost, *laws, Fraction(0)).verdict == "holds"
    clock = Clock(monkeypatch)
    for least in (cost, Cost.zcdp("1/10", "1e-9")):
        clock.looks = 0
        assert judge(least, *laws, Fraction(0), seconds=0.003).verdict == "undecided"
        assert clock.looks < 10
    assert judge(Cost.zcdp("1/100"), *laws, Fraction(0), seconds=0).verdict == "violated"
    assert judge(lb.Eta(1, 1, 1), *laws, Fraction(0), seconds=0).verdict == "holds"  # one pass, however late


@pytest.mark.parametrize("all_of_them", [False, True])
def test_a_check_of_a_rho_ends_in_time(all_of_them, monkeypatch):
    mechanism = lb.DiscreteGaussian(rho="1/8")
    clock = Clock(monkeypatch)
    found = check_all(mechanism, [0], seconds=0.05) if all_of_them else check(mechanism, [0], [1], seconds=0.05)
    assert found.verdict == "undecided"
    assert clock.looks < 80


def test_every_neighbour_is_walked():
    found = check_all(lb.DiscreteLaplace(eta=HALF, sensitivity=2), [0, 0], Fraction(1, 2**8))
    assert found.holds
    near = {(a, b) for a in range(-2, 3) for b in range(-2, 3) if 0 < abs(a) + abs(b) <= 2}
    assert {verdict.neighbour for verdict in found.each} == near
    assert str(found).startswith("12 neighbours, worst holds")
    with pytest.raises(lb.ParameterError, match="values must have a neighbour"):
        check_all(lb.DiscreteLaplace(eta=HALF), [])


@pytest.mark.parametrize(
    ("kind", "parameters", "values"),
    [
        (lb.DiscreteLaplace, {"eta": HALF}, [0]),
        (lb.NoisyTopK, {"k": 1, "eta": HALF, "resolution": 1}, [0, 0]),
        (lb.NoisyMax, {"eta": HALF, "resolution": 1}, [0, 0]),
        (lb.SelectAndMeasure, {"k": 1, "eta": lb.Eta(1, 1, 4), "resolution": 1}, [0, 0]),
        (lb.ExponentialMechanism, {"eta": HALF}, [0, 0]),
        (lb.SparseVector, {"threshold": 0, "limit": 1, "eta": HALF}, [0]),
        (lb.Snapping, {"epsilon": 1, "bounds": (0, 8)}, [3]),
    ],
)
def test_what_a_class_readies_is_what_is_audited(kind, parameters, values):
    """Whatever a mechanism knows about its own law, it is not the law of another class."""

    class Telling(kind):
        def ready(self, values):
            return lambda draw: values[0]

    class Leak:
        def ready(self, values):
            return lambda draw: values[0]

    class Mixed(Leak, kind):
        pass

    class Unchanged(kind):
        pass

    neighbour = [value + 1 for value in values]
    tolerance = Fraction(1, 4)
    for leaking in (Telling, Mixed):
        assert leaking(**parameters).release(values) == values[0]
        assert law(leaking(**parameters).program(values)).masses == {values[0]: 1}
        assert check(leaking(**parameters), values, neighbour, tolerance).verdict == "violated"
    assert check(Unchanged(**parameters), values, neighbour, tolerance).verdict == "holds"


def test_a_release_from_beside_is_refused():
    class Leak:
        def release(self, values, draw=None):
            return tuple(values)

    with pytest.raises(lb.MechanismError, match="must not define release or program"):

        class Mixed(Leak, lb.NoisyMax):
            pass

    with pytest.raises(lb.MechanismError, match="must not define release or program"):

        class Flattering(lb.DiscreteLaplace):
            def program(self, *values):
                return super().program([0])


def test_the_worst_is_a_violation_before_an_open_question():
    class Careless(lb.DiscreteLaplace):
        def ready(self, values):
            ready = super().ready([min(0, value) for value in values])
            return lambda draw: (*ready(draw).values, values[0] > 0)

    found = check_all(Careless(eta=HALF), [0], Fraction(1, 2**8))
    assert [verdict.verdict for verdict in found.each] == ["holds", "violated"]
    assert found.worst.neighbour == (1,)
    assert found.worst.loss.lower > math.log(2)
    assert found.worst.loss.upper == math.inf
    assert not found.holds


def test_an_open_question_is_worse_than_any_loss_that_holds():
    fair = Law({True: Fraction(1, 2), False: Fraction(1, 2)}, Fraction(0), 2)
    within = Law({True: Fraction(2, 3), False: Fraction(1, 3)}, Fraction(0), 2)
    half = Law({True: Fraction(1, 4), False: Fraction(1, 4)}, Fraction(1, 2), 2)
    holds, undecided = (judge(HALF, fair, other, Fraction(0)) for other in (within, half))
    assert (holds.verdict, undecided.verdict) == ("holds", "undecided")
    assert holds.loss.lower > undecided.loss.lower
    for each in ((holds, undecided), (undecided, holds)):
        assert Verdicts(each).worst is undecided
        assert not Verdicts(each).holds
