"""Verdicts on costs with a delta and on costs in rho."""

import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import gmpy2
import pytest

import lastbit as lb
from lastbit.audit import Law, check, check_all, compare, law
from lastbit.audit.divergence import Divergence
from lastbit.audit.nearest import find_nearest
from lastbit.audit.verdict import judge
from lastbit.privacy import zcdp
from lastbit.privacy.cost import Cost

BIT, THREE = lb.Eta(1, 1, 1), lb.Eta(1, 1, 3)
RARE = Fraction(1, 10**12)


def coin(p):
    return lambda draw: draw.bernoulli(p)


def known(masses, unexplored=0):
    return Law({outcome: gmpy2.mpq(mass) for outcome, mass in masses.items()}, Fraction(unexplored), len(masses))


RESPONSE = coin("8/9"), coin("1/9")
"""Randomized response of three bits: at one bit its delta is (8 - 2)/9."""


@pytest.mark.parametrize(
    ("delta", "answer"),
    [(Fraction(6, 9), "holds"), (Fraction(6, 9) - RARE, "violated"), (Fraction(1, 2), "violated"), (1 - RARE, "holds")],
)
def test_a_delta_is_judged_exactly(delta, answer):
    found = compare(*RESPONSE, Cost(BIT, delta=delta))
    assert found.verdict == answer
    assert found.delta == 0
    assert found.measured.value == Fraction(6, 9)
    assert found.measured.allowed == delta
    assert (found.claim, found.witness) == (("epsilon", (True,)) if answer == "violated" else (None, ()))
    assert found.alpha is None
    assert found.in_bits == f"delta 0.6667 ({answer})"
    assert "delta at least 0.666667 where" in str(found)


def test_both_directions_are_judged():
    """One law lacks an outcome that the other has: only one direction has a delta."""
    one, other = known({0: "1/2", 1: "1/2"}), known({0: "9/20", 1: "1/2", 2: "1/20"})
    assert one.delta_at(other, BIT)[1] == 0
    for first, second in ((one, other), (other, one)):
        assert judge(Cost(BIT, delta=Fraction(1, 20)), first, second, Fraction(0)).holds
        assert judge(Cost(BIT, delta=Fraction(1, 21)), first, second, Fraction(0)).witness == (2,)
        found = judge(Cost.zcdp(100), first, second, Fraction(0))
        assert (found.claim, found.witness, found.measured.value) == ("rho", (2,), math.inf)


def test_a_delta_holds_up_to_the_unexplored_mass():
    """Mass that is missing may fall on the event or beside it: neither convicts, and it is stated."""
    one, other = known({0: "1/2", 1: "3/10"}, "1/5"), known({0: "1/10", 1: "9/10"})
    cost = Cost(BIT, delta=Fraction(2, 5))
    found = judge(cost, one, other, Fraction(1, 5))
    assert (found.verdict, found.delta) == ("holds", Fraction(1, 10))
    assert "delta 2/5, but for 0.1" in str(found)
    assert judge(cost, one, other, Fraction(1, 6)).verdict == "undecided"
    # The other law's missing mass counts e^epsilon times.
    other = known({0: "1/10", 1: "8/10"}, "1/10")
    assert judge(Cost(BIT, delta=Fraction(1, 10)), known({0: "1/2", 1: "1/2"}), other, Fraction(1, 10)).holds
    found = judge(Cost(BIT, delta=Fraction(1, 10) - RARE), known({0: "1/2", 1: "1/2"}), other, Fraction(1, 10))
    assert (found.verdict, found.witness) == ("violated", (0,))


def test_several_outcomes_together_exceed_a_delta():
    one = known(dict.fromkeys(range(4), "1/4"))
    other = known({**dict.fromkeys(range(4), "1/16"), "rest": "3/4"})
    found = judge(Cost(BIT, delta=Fraction(49, 100)), one, other, Fraction(0))
    assert (found.verdict, set(found.witness)) == ("violated", set(range(4)))
    assert judge(Cost(BIT, delta=Fraction(3, 4)), one, other, Fraction(0)).holds


def test_randomized_response_has_the_generic_rho_and_no_less():
    rho = zcdp.rho_of(Fraction(THREE.epsilon_upper))
    assert compare(*RESPONSE, Cost.zcdp(rho)).holds
    assert compare(*RESPONSE, Cost(THREE, rho)).holds
    found = compare(*RESPONSE, Cost.zcdp(rho * (1 - Fraction(1, 2**18))))
    assert (found.verdict, found.claim) == ("violated", "rho")
    assert found.witness == (True,)
    assert 1 < found.alpha < 1 + Fraction(1, 2**18)
    assert found.alpha * found.cost.rho == found.measured.allowed < found.measured.value
    assert found.in_bits == "rho 1.617 (violated)"


def test_a_rho_is_judged_at_large_alphas_too():
    """A rare outcome of a large ratio: near alpha 1 the divergence is small, further up it is too large."""
    tail = Fraction(1, 10**6)
    programs = coin(tail), coin(tail / 10**4)
    one, other = (law(program) for program in programs)
    assert one.renyi(other, "3/2")[1] < 1.5 * 0.01
    found = compare(*programs, Cost.zcdp("1/100"))
    assert (found.verdict, found.witness) == ("violated", (True,))
    assert found.alpha > 4
    least, alpha = one.least_rho(other)
    assert compare(*programs, Cost.zcdp(Fraction(least) * (1 + Fraction(1, 10**6)))).holds
    assert compare(*programs, Cost.zcdp(Fraction(least) * (1 - Fraction(1, 10**6)))).claim == "rho"
    assert one.renyi(other, alpha)[0] >= least


def test_an_epsilon_that_holds_does_not_excuse_a_rho():
    found = compare(*RESPONSE, Cost(THREE, Fraction(1, 2)))
    assert (found.verdict, found.claim) == ("violated", "rho")
    found = compare(*RESPONSE, Cost(BIT, Fraction(1, 2)))
    assert (found.verdict, found.claim) == ("violated", "epsilon")
    assert compare(*RESPONSE, Cost(THREE)).claim is None


def test_a_rho_holds_for_laws_within_the_unexplored_mass():
    mechanism = lb.DiscreteLaplace(eta=BIT)
    rho = zcdp.rho_of(Fraction(BIT.epsilon_upper))
    found = check(mechanism, [0], [1], Fraction(1, 2**16), cost=Cost.zcdp(rho))
    assert found.verdict == "holds"
    assert found.delta == max(law(mechanism.program([n]), Fraction(1, 2**16)).unexplored for n in (0, 1))
    less = known({0: "1/2"}, "1/2"), known({0: "1/2", 1: "1/2"})
    assert judge(Cost.zcdp(rho), *less, Fraction(1, 4)).verdict == "undecided"
    assert judge(Cost.zcdp(rho), *less, Fraction(1, 2)).verdict == "holds"


def response_with_end(end):
    """Randomized response of one bit that fails in the open with some probability."""
    keep = 1 - end
    one = known({"yes": keep * 2 / 3, "no": keep / 3, "first": end})
    return one, known({"yes": keep / 3, "no": keep * 2 / 3, "second": end})


def test_a_rho_with_a_delta():
    end, rho = Fraction(1, 100), zcdp.rho_of(Fraction(BIT.epsilon_upper))
    laws = response_with_end(end)
    assert judge(Cost.zcdp(rho), *laws, Fraction(0)).measured.value == math.inf
    found = judge(Cost.zcdp(rho, end), *laws, Fraction(0))
    assert (found.verdict, found.delta) == ("holds", 0)
    assert not judge(Cost.zcdp(rho, end - RARE), *laws, Fraction(0)).holds
    # A delta that is much too small: the event that one side lacks is above what any rho and delta allow.
    found = judge(Cost.zcdp(rho, end / 100), *laws, Fraction(0))
    assert (found.verdict, found.claim, found.alpha) == ("violated", "rho", None)
    assert found.witness == ("first",)
    assert found.measured.allowed == end / 100 + zcdp.delta_at(rho, found.measured.at)
    # In between neither is proved.
    found = judge(Cost.zcdp(rho, end - RARE / 10), *laws, Fraction(0))
    assert (found.verdict, found.witness, found.claim) == ("undecided", (), None)


def test_a_delta_of_a_rho_is_given_to_each_direction():
    one, other = response_with_end(Fraction(1, 100))
    rho = zcdp.rho_of(Fraction(BIT.epsilon_upper))
    whole = known({"yes": "2/3", "no": "1/3"})
    assert judge(Cost.zcdp(rho, "1/100"), whole, other, Fraction(0)).holds
    assert not judge(Cost.zcdp(rho, "1/1000"), whole, other, Fraction(0)).holds
    assert not judge(Cost.zcdp(rho, "1/1000"), other, whole, Fraction(0)).holds
    assert judge(Cost.zcdp(rho, "1/50"), one, other, Fraction(0)).holds


@pytest.mark.parametrize(("rate", "figure"), [("1/2", "2.29"), ("9/10", "3.62"), ("99/100", "3.96")])
def test_noisy_max_costs_up_to_four_times_the_rho_of_the_exponential_mechanism(rate, figure):
    """Scores (0, 1) against (1, 0): the lower one wins with probability r/2, and epsilon is 2·ln(1/r)."""
    r = Fraction(rate)
    one, other = known({0: r / 2, 1: 1 - r / 2}), known({0: 1 - r / 2, 1: r / 2})
    eighth = zcdp.range_rho(2 * Fraction(math.log(1 / r)))
    least, _ = one.least_rho(other)
    # Two outcomes that change places are randomized response, whose rho is known.
    most = zcdp.rho_of(Fraction(math.nextafter(math.log((2 - r) / r), 9)))
    assert least < most
    assert f"{least / eighth:.2f}" == f"{float(most / eighth):.2f}" == figure


def gap_laws(r, steps):
    """Winner and gap on the scores (0, steps) and (steps, 0), for noise that falls by r a step.

    The difference of two exponential noises is Laplace. From twice the scores' distance on, all gaps have one ratio.
    """
    tail = lambda place: r**place / 2 if place >= 0 else 1 - r**-place / 2  # noqa: E731
    masses = {}
    for gap in range(2 * steps):
        masses[0, gap] = tail(gap + steps) - tail(gap + 1 + steps)
        masses[1, gap] = tail(gap - steps) - tail(gap + 1 - steps)
    masses[0, 2 * steps], masses[1, 2 * steps] = tail(3 * steps), tail(steps)
    return known(masses), known({(1 - winner, gap): mass for (winner, gap), mass in masses.items()})


@pytest.mark.parametrize(("rate", "figure"), [("1/2", "2.52"), ("9/10", "3.70"), ("99/100", "3.97")])
def test_a_gap_adds_to_the_rho_of_noisy_max(rate, figure):
    r = Fraction(rate)
    eighth = zcdp.range_rho(2 * Fraction(math.log(1 / r)))
    one, other = gap_laws(r, 1)
    assert f"{one.least_rho(other)[0] / eighth:.2f}" == figure
    page = (Path(__file__).parents[2] / "docs" / "costs.md").read_text()
    assert page.count(f"| {figure} ") >= 1


@pytest.mark.parametrize(("rate", "figure"), [("1/2", "2.65"), ("9/10", "3.73"), ("99/100", "3.97")])
def test_a_finer_gap_adds_a_little_more(rate, figure):
    r = Fraction(math.pow(Fraction(rate), 1 / 10)).limit_denominator(10**6)
    one, other = gap_laws(r, 10)
    assert f"{one.least_rho(other)[0] / zcdp.range_rho(20 * Fraction(math.log(1 / r))):.2f}" == figure


@pytest.mark.parametrize("steps", [1, 2])
def test_the_released_gap_has_that_law(steps):
    mechanism = lb.NoisyMax(eta=lb.Eta(1, 1, 2 * steps), sensitivity=steps, resolution=1)
    ready = mechanism.ready([0, steps])

    def program(draw):
        release = ready(draw)
        return release.index, min(int(release.gap), 2 * steps)

    followed = law(program, Fraction(1, 2**9))
    for outcome, mass in gap_laws(Fraction(1, 2), steps)[0].masses.items():
        lower, upper = followed[outcome]
        assert lower <= mass <= upper


@pytest.mark.parametrize("eta", [BIT, lb.Eta(3, 2, 1), lb.Eta(7, 3, 1)])
def test_the_released_noisy_max_has_that_law(eta):
    """The lower score wins with probability r/2: followed on every branch of the released code."""
    mechanism = lb.NoisyMax(eta=lb.Eta(eta.x, eta.y, 2), resolution=1)
    release = mechanism.ready([0, 1])
    found = law(lambda draw: release(draw).index, Fraction(1, 2**9))
    lower, upper = found[0]
    assert lower <= eta.fraction / 2 <= upper
    eighth = zcdp.range_rho(Fraction(lb.Eta(eta.x, eta.y, 2).epsilon_upper))
    claimed = check(mechanism, [0, 1], [1, 0], Fraction(1, 2**9), cost=Cost.zcdp(eighth))
    assert (claimed.verdict, claimed.claim) == ("violated", "rho")
    assert check(mechanism, [0, 1], [1, 0], Fraction(1, 2**9), cost=Cost.zcdp(mechanism.cost.rho)).holds


@pytest.mark.parametrize("monotone", [True, False])
@pytest.mark.parametrize("rates", [{"eta": lb.Eta(1, 1, 2)}, {"epsilon": "1/10"}, {"epsilon": 3}])
def test_the_exponential_mechanism_keeps_its_eighth_on_all_neighbours(monotone, rates):
    mechanism = lb.ExponentialMechanism(monotone=monotone, **rates)
    eighth = zcdp.range_rho(mechanism.cost.amount)
    assert mechanism.cost.stated_rho == eighth
    largest = 0.0
    for values in ([0, 0], [0, 1], [0, 1, 2]):
        verdicts = check_all(mechanism, values, 0)
        assert verdicts.holds
        for verdict in verdicts.each:
            one, other = (law(mechanism.program(each), 0) for each in (verdict.values, verdict.neighbour))
            largest = max(largest, one.least_rho(other)[0])
            assert verdict.delta == 0
    assert largest <= eighth
    # Two scores that change places are randomized response of half the epsilon: near the eighth, so it is no less.
    if not monotone:
        assert largest >= zcdp.rho_of(mechanism.cost.amount / 2) * (1 - Fraction(1, 2**16)) > Fraction(4, 5) * eighth


def test_the_picks_of_a_ranking_compose():
    """Two picks at half the epsilon: twice (epsilon/2)²/8, and half of what one pick is charged."""
    mechanism = lb.ExponentialMechanism(eta=lb.Eta(1, 1, 4))
    each = zcdp.range_rho(Fraction(lb.Eta(1, 1, 2).epsilon_upper))

    def release_ranking(scores):
        release = mechanism.ready_ranking(scores, 2)
        return lambda draw: release(draw).indices

    laws = {scores: law(release_ranking(list(scores)), 0) for scores in product((0, 1), repeat=3)}
    largest = 0.0
    for one, other in product(laws, laws):
        assert judge(Cost(mechanism.cost.epsilon, 2 * each), laws[one], laws[other], Fraction(0)).holds
        largest = max(largest, laws[one].least_rho(laws[other])[0])
    assert 0.7 * each < largest < 2 * each
    cheap = judge(Cost.zcdp(Fraction(largest) * (1 - RARE)), laws[0, 0, 1], laws[1, 1, 0], Fraction(0))
    assert largest > each or not cheap.holds


def test_every_neighbour_is_judged_by_a_claimed_cost():
    mechanism = lb.DiscreteLaplace(eta=BIT)
    assert check_all(mechanism, [0], Fraction(1, 2**10), cost=Cost.zcdp(1)).holds
    found = check_all(mechanism, [0], Fraction(1, 2**10), cost=Cost.zcdp("1/10"))
    assert [each.claim for each in found.each] == ["rho", "rho"]
    assert check_all(mechanism, [0], Fraction(1, 2**10), cost="1/2").worst.claim == "epsilon"
    assert check_all(mechanism, [0], Fraction(1, 2**10), cost=Cost(Fraction(1, 2), delta=Fraction(1, 2))).holds


def test_a_rho_that_rounding_cannot_tell_from_the_divergence_is_undecided():
    """Neither side of the rounding may be taken for the other: the divergence lies between them."""
    one, other = known({0: "1/1000000", 1: "999999/1000000"}), known({0: "1/10000000000", 1: "9999999999/10000000000"})
    divergence = Divergence(find_nearest(one, other))
    alpha = divergence.worst
    least, most = divergence.bounds(alpha)
    assert 4 < alpha < 5
    assert least < most < least * (1 + Fraction(1, 2**150))
    for rho, answer in ((least, "undecided"), (most, "holds"), (least - (most - least), "violated")):
        assert judge(Cost.zcdp(rho / alpha), one, other, Fraction(0)).verdict == answer
        # An epsilon that holds does not decide for the rho.
        assert judge(Cost(Fraction(20), rho / alpha), one, other, Fraction(0)).verdict == answer
    with gmpy2.context(precision=2000):
        order = gmpy2.mpq(alpha)
        terms = (gmpy2.mpfr(one.exact[n]) ** order * gmpy2.mpfr(other.exact[n]) ** (1 - order) for n in (0, 1))
        true = Fraction(*(int(part) for part in (gmpy2.log(sum(terms)) / (order - 1)).as_integer_ratio()))
    assert least < true < most


def test_an_epsilon_that_rounding_cannot_tell_from_the_loss_is_undecided():
    lower, upper = Cost.of(1).odds_bounds()
    other = known({0: "1/10", 1: "9/10"})
    for odds, answer in ((lower, "holds"), ((lower + upper) / 2, "undecided"), (2 * upper - lower, "violated")):
        one = known({0: odds / 10, 1: 1 - odds / 10})
        assert judge(1, one, other, Fraction(0)).verdict == answer
        assert judge(Cost(Fraction(1), delta=RARE), one, other, Fraction(0)).verdict == "holds"


def gaussian(shift, r=Fraction(1, 2), last=14):
    """The discrete Gaussian r^(i²)/Z around a shift, up to a tail that counts as unexplored: Z is rounded up."""
    weights = {i + shift: r ** (i * i) for i in range(-last, last + 1)}
    above = sum(weights.values()) + 2 * r ** ((last + 1) ** 2) / (1 - r)
    return known({i: weight / above for i, weight in weights.items()}, 1 - sum(weights.values()) / above)


@pytest.mark.parametrize("shift", [1, 2, 3])
def test_gaussian_noise_has_the_rho_of_its_squared_shift(shift):
    """D = alpha·shift²·ln(1/r) where (alpha - 1)·shift is whole, less elsewhere; and no smaller rho holds."""
    rho = shift**2 * Fraction(BIT.epsilon_upper)
    one, other = gaussian(0), gaussian(shift)
    assert one.unexplored < Fraction(1, 2**200)
    for alpha in (2, 3, Fraction(4, 3), Fraction(3, 2), Fraction(21, 20)):
        share = one.renyi(other, alpha)[0] / (alpha * rho)
        assert share <= 1
        assert (share > 1 - 1e-12) == (((alpha - 1) * shift).denominator == 1)
    assert judge(Cost.zcdp(rho), one, other, Fraction(1, 2**100)).verdict == "holds"
    found = judge(Cost.zcdp(rho * (1 - Fraction(1, 10**9))), one, other, Fraction(1, 2**100))
    assert (found.verdict, found.claim) == ("violated", "rho")
    # As an epsilon nothing holds, but with the delta that the rho proves.
    epsilon = Fraction(1 + 3 * shift)
    assert judge(Cost(epsilon), one, other, Fraction(1, 2**100)).verdict == "violated"
    cost = Cost(epsilon, delta=zcdp.delta_at(rho, epsilon))
    assert judge(cost, one, other, Fraction(1, 2**100)).verdict == "holds"
