"""The enumerator: every branch, its exact mass, nothing lost, nothing waited for."""

import itertools
import math
import pickle
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from math import factorial
from random import Random
from unittest.mock import ANY

import numpy as np
import pytest

import lastbit as lb
from lastbit._outcomes import FloatName
from lastbit.audit import Enumerator, _tree, law
from lastbit.chance.distributions import Distribution, uniform
from lastbit.chance.inversion import Uniform
from lastbit.mechanisms.sparse_vector.answers import BELOW
from tests.clock import Clock

HALF = lb.Rate.from_eta(lb.Eta(1, 1, 1))
CROOKED = lb.Rate.from_epsilon("0.7")


def total(found):
    return sum(found.masses.values(), found.unexplored)


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (lambda draw: "always", {"always": 1}),
        (lambda draw: draw.bernoulli("1/3"), {True: Fraction(1, 3), False: Fraction(2, 3)}),
        (lambda draw: draw.index([1, 0, 2]), {0: Fraction(1, 3), 2: Fraction(2, 3)}),
        (lambda draw: draw.index([0, 0, 5]), {2: 1}),
        (lambda draw: draw.integer(1), {0: 1}),
        (lambda draw: draw.truncated_geometric(HALF, 2), {0: Fraction(2, 3), 1: Fraction(1, 3)}),
        (lambda draw: draw.bernoulli(draw.integer(2)), {False: Fraction(1, 2), True: Fraction(1, 2)}),
        (lambda draw: tuple(draw.integer(2, size=0)), {(): 1}),
        (
            lambda draw: draw.integer(2) if draw.bernoulli("1/4") else 2,
            {2: Fraction(3, 4), 0: Fraction(1, 8), 1: Fraction(1, 8)},
        ),
    ],
)
def test_finite_programs_are_followed_to_the_end(program, expected):
    for tolerance in (0, Fraction(1, 2**40)):
        found = law(program, tolerance)
        assert found.masses == expected
        assert found.unexplored == 0


def test_vectors_and_single_draws_have_one_law():
    one_by_one = law(lambda draw: tuple(draw.integer(3) for _ in range(4)))
    at_once = law(lambda draw: draw.integer(3, size=4))
    assert one_by_one.masses == at_once.masses == {t: Fraction(1, 81) for t in itertools.product(range(3), repeat=4)}


def test_permutations_are_uniform():
    found = law(lambda draw: draw.permutation(4))
    assert found.masses == {order: Fraction(1, factorial(4)) for order in itertools.permutations(range(4))}


@pytest.mark.parametrize("rate", [HALF, CROOKED])
@pytest.mark.parametrize("bits", [1, 8, 30, 90])
def test_tails_are_accounted_for_exactly(rate, bits):
    found = law(lambda draw: draw.geometric(rate), Fraction(1, 2**bits))
    r = rate.fraction
    assert found.masses == {i: r**i * (1 - r) for i in range(len(found))}
    assert found.unexplored == r ** len(found)
    assert found.unexplored <= Fraction(1, 2**bits) <= r ** (len(found) - 1)


def test_nothing_is_lost_between_finite_draws_and_tails():
    def program(draw):
        side = draw.index([1, 3, 3])
        return (side, *draw.laplace(CROOKED, size=side), draw.integer(1 + side))

    found = law(program, Fraction(1, 1000))
    assert total(found) == 1
    assert 0 < found.unexplored <= Fraction(1, 1000)
    r = CROOKED.fraction
    zero = (1 - r) / (1 + r)
    assert found[0, 0] == (Fraction(1, 7), Fraction(1, 7) + found.unexplored)
    assert found[2, 0, 1, 2][0] == Fraction(3, 7) * zero**2 * r / 3
    assert found["never"] == (0, found.unexplored)


@pytest.mark.parametrize("coins", list(itertools.product(range(4), repeat=2)))
def test_masses_of_an_outcome_add_up_over_unlike_powers_of_two(coins):
    """An outcome at the end of short paths and of long ones, whichever of them comes first."""
    found = law(lambda draw: int(sum(draw.index([3, 1], size=coins[draw.integer(2)]))))
    assert found.unexplored == 0
    assert found.masses == {
        ones: sum(Fraction(math.comb(n, ones) * 3 ** (n - ones), 2 * 4**n) for n in coins if ones <= n)
        for ones in range(max(coins) + 1)
    }


def test_masses_of_an_outcome_add_up_over_unlike_denominators():
    def program(draw):
        return draw.integer(6) == 0 if draw.bernoulli("1/5") else draw.index([2, 5]) == 0

    assert law(program)[True][0] == Fraction(1, 5) * Fraction(1, 6) + Fraction(4, 5) * Fraction(2, 7)


@pytest.mark.parametrize("draws", [1, 15, 16, 17, 40, 333])
def test_the_mass_of_a_long_path_is_the_product_of_all_of_it(draws):
    def program(draw):
        return sum(not draw.bernoulli(1 - Fraction(1, 1000 + i)) for i in range(draws))

    found = law(program, Fraction(9, 10))
    assert found[0][0] == math.prod(1 - Fraction(1, 1000 + i) for i in range(draws))
    assert total(found) == 1


def test_a_loop_that_chance_ends_is_cut_and_reported():
    def program(draw):
        rounds = 0
        while draw.bernoulli("2/3"):
            rounds += 1
        return rounds

    for tolerance in (Fraction(1, 100), Fraction(1, 2**40)):
        found = law(program, tolerance)
        assert all(mass == Fraction(2, 3) ** rounds / 3 for rounds, mass in found.masses.items())
        assert total(found) == 1
        assert 0 < found.unexplored <= tolerance


def test_a_loop_inside_a_tail_is_followed_as_far_as_the_tolerance_asks():
    def program(draw):
        stop = draw.geometric(HALF)
        while not draw.bernoulli("1/2"):
            stop += 1
        return stop

    found = law(program, Fraction(1, 2**16))
    # The sum of two geometrics: each total has (total + 1) ways. What is seen is never more.
    whole = {total: Fraction(total + 1, 2 ** (total + 2)) for total in found}
    assert all(found[key][0] <= whole[key] <= found[key][1] for key in found)
    assert total(found) == 1
    assert found.unexplored <= Fraction(1, 2**16)


def test_with_tolerance_zero_even_unlikely_ends_are_reached():
    def program(draw):
        return next((i for i in range(300) if draw.bernoulli("1/2")), "end")

    found = law(program, 0)
    assert found.unexplored == 0
    assert found.masses["end"] == Fraction(1, 2**300)


def test_an_endless_draw_needs_a_tolerance():
    with pytest.raises(lb.AuditError, match="tolerance must be above 0"):
        law(lambda draw: draw.geometric(HALF), 0)
    found = law(lambda draw: draw.geometric(HALF), 0, seconds=0.05)
    assert total(found) == 1
    assert found.unexplored > 0


def test_more_distributions_than_a_cache_holds():
    found = law(lambda draw: sum(draw.integer(n) for n in range(1, 3)) + draw.integer(100 + draw.integer(70)))
    assert total(found) == 1
    again = law(lambda draw: [draw.integer(1) for _ in range(200)] and [draw.integer(n) for n in (*[1] * 9, 2)][-1])
    assert again.masses == {0: Fraction(1, 2), 1: Fraction(1, 2)}


def test_a_distribution_made_anew_is_still_the_same_draw():
    def program(draw):
        first = draw.integer(5)
        for n in range(300, 400):  # pushes everything else out of the caches of distributions
            lb.Reference(lb.Tape([0])).integer(n)
        return first, draw.integer(5)

    assert law(program).masses == {pair: Fraction(1, 25) for pair in itertools.product(range(5), repeat=2)}


class Remembers:
    """Breaks the contract after a while."""

    def __init__(self, after):
        self.runs, self.after = 0, after

    def late(self):
        self.runs += 1
        return self.runs > self.after


def forgets_a_draw():
    memory = Remembers(1)
    return lambda draw: draw.integer(2) if memory.late() else (draw.integer(2), draw.integer(2))


def asks_something_else():
    memory = Remembers(1)
    return lambda draw: draw.integer(3 if memory.late() else 2)


def asks_for_another_vector():
    memory = Remembers(1)
    return lambda draw: draw.geometric(CROOKED if memory.late() else HALF, size=2)


def answers_differently():
    memory = Remembers(0)
    return lambda draw: (draw.integer(2), memory.runs, memory.late())


def draws_more_later():
    memory = Remembers(1)
    return lambda draw: [draw.integer(2) for _ in range(2 if memory.late() else 1)] and "same"


def draws_less_later():
    memory = Remembers(1)
    return lambda draw: [draw.integer(2) for _ in range(1 if memory.late() else 2)] and "same"


def draws_nothing_late_in_the_run():
    memory = Remembers(700)
    return lambda draw: "same" if memory.late() or draw.integer(2000) else "other"


@pytest.mark.parametrize(
    "broken",
    [
        forgets_a_draw,
        asks_something_else,
        asks_for_another_vector,
        answers_differently,
        draws_more_later,
        draws_less_later,
        draws_nothing_late_in_the_run,
    ],
)
def test_what_is_not_a_function_of_its_draws_is_refused(broken):
    with pytest.raises(lb.AuditError, match="did not repeat itself"):
        law(broken())


@pytest.mark.parametrize("seed", range(20))
def test_chance_from_elsewhere_is_refused_however_few_branches_there_are(seed):
    elsewhere = Random(seed)
    for program in (
        lambda draw: (draw.integer(2), elsewhere.getrandbits(1)),
        lambda draw: draw.integer(elsewhere.choice([2, 3])),
        lambda draw: [draw.integer(2) for _ in range(elsewhere.randrange(1, 4))],
    ):
        with pytest.raises(lb.AuditError, match="did not repeat itself"):
            law(program)


@pytest.mark.parametrize("runs", [1, 2, 5, 20])
def test_a_change_of_mind_early_is_noticed(runs):
    memory = Remembers(runs)
    with pytest.raises(lb.AuditError, match="did not repeat itself"):
        law(lambda draw: (draw.integer(2), memory.late()))


def test_a_change_of_mind_late_in_the_run_is_noticed_too():
    memory = Remembers(700)
    with pytest.raises(lb.AuditError, match="did not repeat itself"):
        law(lambda draw: (draw.integer(2000), memory.late(), memory.runs if memory.runs > 700 else 0))


@dataclass(frozen=True, eq=False)
class Shown(lb.Release):
    own: object
    shared: object = field(default=None, hash=False)

    def columns(self):
        return {"own": [self.own]}


def shown(own, shared=None):
    return Shown("shown", Fraction(1), own, shared)


def test_an_outcome_that_contains_itself_is_an_error_and_no_crash():
    endless, deep, held = [], 1, []
    endless.append(endless)
    for _ in range(100_000):
        deep = (deep, 1)
    held.append(shown(held))
    for outcome in (endless, deep, held[0]):
        with pytest.raises(RecursionError):
            law(lambda draw: (draw.integer(2), outcome))


@pytest.mark.parametrize("release", [shown, lambda value: shown(0, value)], ids=["hashed", "compared only"])
def test_all_that_a_release_publishes_is_told_apart(release):
    values = [0.0, -0.0, float("nan"), np.array([1, 2]), [1, 3], "text"]
    found = law(lambda draw: release(values[draw.integer(6)]))
    assert len(found) == 6
    assert {found[release(value)][0] for value in values} == {Fraction(1, 6)}
    assert release([1, 2]) == release((1, 2)) == release(np.array([1, 2])) != release([1.5, 2])


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_releases_and_answers_pickle(protocol):
    for published in (shown(0.0, -0.0), lb.NoisyMax(epsilon=1).release([0, 10**6]), BELOW):
        again = pickle.loads(pickle.dumps(published, protocol))
        assert again == published
        assert hash(again) == hash(published)


def test_a_release_equals_what_says_it_equals_everything():
    assert shown(1) == ANY
    assert shown(1) != 1
    assert lb.NoisyMax(epsilon=1).release([0]) != lb.NoisyTopK(k=1, epsilon=1).release([0])


def test_a_distribution_without_mass_is_refused():
    nothing = replace(uniform(3), masses=lambda: iter(()))
    with pytest.raises(lb.AuditError, match="must have mass"):
        law(lambda draw: draw._one(nothing))


def test_a_long_permutation_keeps_to_its_time(monkeypatch):
    clock = Clock(monkeypatch)
    found = law(lambda draw: draw.permutation(300_000)[0], seconds=0.2)
    assert found.unexplored == 1
    assert 200 <= clock.looks < 210


def test_raw_words_and_unhashable_outcomes_are_refused():
    with pytest.raises(lb.AuditError, match="raw words"):
        law(lambda draw: int(draw.words(1)[0]))
    with pytest.raises(lb.AuditError, match="hashable value: got dict"):
        law(lambda draw: {})


def test_errors_of_the_program_come_through():
    with pytest.raises(ZeroDivisionError):
        law(lambda draw: 1 // draw.integer(2))


def test_a_program_that_swallows_errors_does_not_swallow_a_cut():
    def program(draw):
        try:
            while draw.bernoulli("1/2"):
                pass
        except Exception:
            return "swallowed"
        return "ended"

    found = law(program, Fraction(1, 2**20))
    assert list(found) == ["ended"]
    assert total(found) == 1


def swallows_the_end_of_a_run(draw):
    try:
        while draw.bernoulli("1/2"):
            pass
    except BaseException:
        return "swallowed"
    return "ended"


def swallows_it_and_draws_on(draw):
    try:
        while draw.bernoulli("1/2"):
            pass
    except BaseException:
        try:
            return draw.integer(3)
        except BaseException:
            return "twice"
    return "ended"


def swallows_it_in_a_vector(draw):
    try:
        return tuple(draw.laplace(HALF, size=60))
    except BaseException:
        return ()


@pytest.mark.parametrize("program", [swallows_the_end_of_a_run, swallows_it_and_draws_on, swallows_it_in_a_vector])
def test_a_program_that_swallows_a_cut_is_refused(program):
    with pytest.raises(lb.AuditError, match="catches BaseException"):
        law(program, Fraction(1, 2**20))


@pytest.mark.parametrize(
    ("refused", "tolerance", "message"),
    [
        (lambda draw: int(draw.words(1)[0]), Fraction(1, 2**20), "raw words"),
        (lambda draw: draw.geometric(HALF), 0, "endless draw"),
        (
            lambda draw: draw.power_index(HALF, np.array([0, 1 << 40])),
            Fraction(1, 2**20),
            "exponents must be closer together",
        ),
    ],
)
def test_a_refusal_that_the_program_swallows_is_a_refusal_still(refused, tolerance, message):
    """Under a Sampler the draw would have worked: what the program does without it is no part of its law."""

    def program(draw):
        try:
            return refused(draw)
        except Exception:
            return "swallowed"

    with pytest.raises(lb.AuditError, match=message):
        law(program, tolerance)


def test_a_change_of_mind_that_is_swallowed_is_noticed():
    memory = Remembers(1)

    def program(draw):
        try:
            return draw.integer(3 if memory.late() else 2)
        except Exception:
            return 0

    with pytest.raises(lb.AuditError, match="did not repeat itself"):
        law(program)


def test_what_is_compared_by_identity_is_refused():
    with pytest.raises(lb.AuditError, match="compares by content"):
        law(lambda draw: object())
    with pytest.raises(lb.AuditError, match="compares by content"):
        law(lambda draw: (draw.integer(2) for _ in range(2)))


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_loop_that_chance_alone_ends_needs_a_tolerance_too(goes_on, monkeypatch):
    """Whether the branch followed first goes on or ends."""
    monkeypatch.setattr(_tree, "_LONGEST", 500)

    def program(draw):
        return next(i for i in itertools.count() if draw.bernoulli("1/3") != goes_on)

    with pytest.raises(lb.AuditError, match="500 values in a run: got 0"):
        law(program, 0)
    assert total(law(program, 0, seconds=0.05)) == 1


def test_long_finite_runs_need_a_tolerance_but_use_none_of_it():
    def program(draw):
        return draw.index([1, 0], size=4095).sum() + draw.integer(2)

    assert law(program, 0).masses == {0: Fraction(1, 2), 1: Fraction(1, 2)}
    with pytest.raises(lb.AuditError, match="4,096 values in a run"):
        law(lambda draw: program(draw) + draw.integer(1), 0)
    found = law(lambda draw: program(draw) + draw.integer(1), Fraction(1, 2**99))
    assert (found.masses, found.unexplored) == ({0: Fraction(1, 2), 1: Fraction(1, 2)}, 0)


@pytest.mark.parametrize(
    "program",
    [
        lambda draw: (),
        lambda draw: draw.geometric(HALF, size=0),
        lambda draw: draw.laplace(CROOKED, 0),
        lambda draw: draw.bernoulli("1/2", size=0),
        lambda draw: draw.permutation(0),
        lambda draw: np.array([], object),
        lambda draw: [draw.integer(2, size=0), draw.integer(2, size=0)][1],
    ],
)
@pytest.mark.parametrize("tolerance", [0, Fraction(1, 2), Fraction(1, 2**40)])
@pytest.mark.parametrize("seconds", [None, 0, 5])
def test_nothing_drawn_is_one_branch(program, tolerance, seconds):
    found = law(program, tolerance, seconds=seconds)
    assert (found.masses, found.unexplored, found.branches) == ({(): 1}, 0, 1)


def test_an_empty_draw_between_others_changes_nothing():
    def program(draw):
        first = draw.integer(3)
        draw.laplace(CROOKED, size=0)
        draw.permutation(1)
        return first, draw.integer(2)

    assert law(program, 0).masses == {pair: Fraction(1, 6) for pair in itertools.product(range(3), range(2))}


def test_values_beyond_int64_and_arrays_of_objects_are_outcomes_like_any_other():
    huge = 1 << 70
    found = law(lambda draw: draw.integer(2, size=2).astype(object) * huge, 0)
    assert found.masses == {pair: Fraction(1, 4) for pair in itertools.product((0, huge), repeat=2)}
    assert law(lambda draw: np.array([draw.integer(2), None, "a", Fraction(1, 2)], object)).masses == {
        (bit, None, "a", Fraction(1, 2)): Fraction(1, 2) for bit in (0, 1)
    }
    assert law(lambda draw: np.array([[draw.integer(2), 1], [2, 3]])).masses == {
        ((bit, 1), (2, 3)): Fraction(1, 2) for bit in (0, 1)
    }
    assert law(lambda draw: np.array(draw.integer(2))).masses == {0: Fraction(1, 2), 1: Fraction(1, 2)}


def test_whole_numbers_are_the_same_outcome_in_any_array():
    found = law(lambda draw: np.array([1, 2], [np.int8, np.uint64, np.int64, object, np.float64][draw.integer(5)]), 0)
    assert found.masses == {(1, 2): 1}


def test_a_draw_may_give_integers_of_any_size():
    masses = iter([(1 << 70, Fraction(1, 2)), (-1, Fraction(1, 2))])
    far = Distribution((Uniform(2),), (), lambda: masses)
    found = law(lambda draw: draw._many(far, 2), 0)
    assert found.masses == {pair: Fraction(1, 4) for pair in itertools.product((1 << 70, -1), repeat=2)}


@pytest.mark.parametrize("seconds", [0, 0.0, Fraction(0)])
def test_no_time_at_all_is_one_look(seconds):
    found = law(lambda draw: draw.integer(5), seconds=seconds)
    assert total(found) == 1
    assert found.branches >= 1
    assert all(mass == Fraction(1, 5) for mass in found.masses.values())
    nothing = law(lambda draw: next(i for i in itertools.count() if draw.bernoulli(0)), seconds=seconds)
    assert (len(nothing), nothing.unexplored, nothing.branches) == (0, 1, 0)
    assert str(nothing).startswith("0 outcomes on 0 branches, unexplored 1")
    assert nothing["anything"] == (0, 1)


@pytest.mark.parametrize("seconds", [-1, float("nan"), "1", 1j])
def test_seconds_are_a_time(seconds):
    with pytest.raises(lb.ParameterError, match="seconds must be a number from 0 on"):
        law(lambda draw: 0, seconds=seconds)
    with pytest.raises(lb.ParameterError, match="seconds must be a number from 0 on"):
        lb.audit.loss(lambda draw: 0, lambda draw: 0, seconds=seconds)


def test_a_law_inside_a_program_is_a_law_of_its_own():
    def program(draw):
        n = 2 + draw.integer(2)
        inner = law(lambda inside: inside.integer(n), 0)
        return inner[0][0], draw.integer(2)

    expected = {(Fraction(1, n), bit): Fraction(1, 4) for n in (2, 3) for bit in (0, 1)}
    assert law(program, 0).masses == expected
    with pytest.raises(lb.AuditError, match="hashable value: got Law"):
        law(lambda draw: law(lambda inside: inside.integer(2)))


def test_an_enumerator_inside_its_own_program_is_refused():
    def nested(draw):
        return draw.explore(lambda inside: inside.integer(2), Fraction(0))

    with pytest.raises(lb.AuditError, match="inside its own program"):
        law(nested)
    with pytest.raises(lb.AuditError, match="did not repeat itself"):
        law(lambda draw: law(lambda _: draw.integer(2))[0])
    again = Enumerator()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            again.explore(lambda draw: 1 // 0, Fraction(0))


@pytest.mark.parametrize(
    "program",
    [
        lambda draw: tuple(draw.laplace(CROOKED, size=6)),
        lambda draw: next(i for i in itertools.count() if draw.bernoulli(0)),
        lambda draw: draw.permutation(40)[0],
    ],
    ids=["many branches", "never ends", "finite but huge"],
)
def test_the_time_budget_is_kept(program, monkeypatch):
    clock = Clock(monkeypatch)
    found = law(program, Fraction(1, 2**200), seconds=0.2)
    assert 200 <= clock.looks < 240  # each of the first runs is repeated, and repeats look too
    assert total(found) == 1
    assert found.unexplored > Fraction(1, 2**200)


def test_outcomes_are_told_apart_as_an_observer_would():
    found = law(lambda draw: [0.0, -0.0, float("nan"), float("inf")][draw.integer(4)])
    assert len(found) == 4
    assert {found[x][0] for x in (0.0, -0.0, float("nan"), float("inf"))} == {Fraction(1, 4)}
    assert law(lambda draw: float("nan") if draw.integer(2) else (lambda: float("nan"))()).masses.popitem()[1] == 1
    nested = law(lambda draw: ([1.0, -0.0 if draw.integer(2) else 0.0], "text", None, b"bytes", Fraction(1, 2)))
    assert len(nested) == 2
    sets = law(lambda draw: frozenset({[0.0, -0.0, float("nan")][draw.integer(3)]}))
    assert len(sets) == 3
    assert law(lambda draw: complex(-0.0, 1.0) if draw.integer(2) else (-0.0, 1.0))[-0.0, 1.0][0] == Fraction(1, 2)
    arrays = law(lambda draw: draw.integer(2, size=2) + 0.5)
    assert arrays[0.5, 1.5] == (Fraction(1, 4), Fraction(1, 4))


@pytest.mark.parametrize("kind", [float, np.float64, np.float32, np.float16, np.longdouble, Decimal])
def test_zeros_and_nans_of_every_kind_are_told_apart(kind):
    values = [kind("0"), kind("-0"), kind("nan"), kind("inf"), kind("1")]
    found = law(lambda draw: values[draw.integer(5)])
    assert len(found) == 5
    assert {found[value][0] for value in values} == {Fraction(1, 5)}
    assert law(lambda draw: [kind("nan")]).masses == {(FloatName("nan"),): 1}


@pytest.mark.parametrize("kind", [complex, np.complex128, np.complex64])
def test_complex_numbers_are_told_apart_part_by_part(kind):
    parts = list(itertools.product((0.0, -0.0, 1.0, float("nan")), repeat=2))
    found = law(lambda draw: kind(complex(*parts[draw.integer(16)])))
    assert len(found) == 16
    assert {found[kind(complex(*part))][0] for part in parts} == {Fraction(1, 16)}


def test_a_release_as_an_outcome():
    mechanism = lb.DiscreteLaplace(eta=lb.Eta(1, 1, 1))
    found = law(mechanism.program([3]), Fraction(1, 2**10))
    masses = {outcome.values[0] - 3: mass for outcome, mass in found.masses.items()}
    assert all(mass == Fraction(1, 3) / 2 ** abs(int(noise)) for noise, mass in masses.items())


def test_one_enumerator_can_be_used_again():
    one = Enumerator()
    first = one.explore(lambda draw: draw.geometric(HALF), Fraction(1, 100))
    second = one.explore(lambda draw: draw.geometric(HALF), Fraction(1, 100))
    assert first == second


def test_progress_is_shown_on_a_terminal_only(monkeypatch):
    from lastbit.audit import progress

    written = []

    class Stream:
        def __init__(self, terminal):
            self.terminal = terminal

        def isatty(self):
            return self.terminal

        def write(self, text):
            written.append(text)

        def flush(self):
            pass

    monkeypatch.setattr(progress, "_AFTER", -1.0)
    monkeypatch.setattr(progress.sys, "stderr", Stream(False))
    law(lambda draw: draw.geometric(HALF))
    assert written == []
    monkeypatch.setattr(progress.sys, "stderr", Stream(True))
    law(lambda draw: draw.geometric(HALF))
    assert "branches" in written[0]
    assert written[-1] == "\r\x1b[K"


def test_a_law_prints_its_likeliest_outcomes_and_says_how_many_more():
    text = str(law(lambda draw: draw.integer(1000) // 2 if draw.bernoulli("1/2") else "often"))
    assert text.splitlines()[0] == "501 outcomes on 1,001 branches, every branch explored"
    assert text.splitlines()[2].split() == ["often", "0.500", "1/2"]
    assert text.splitlines()[-1] == "… and 461 more outcomes"
    with pytest.raises(lb.ParameterError, match="tolerance must be from 0 to below 1: got 1"):
        law(lambda draw: 0, 1)
