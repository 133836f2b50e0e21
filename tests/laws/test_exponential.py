"""The exponential mechanism's laws as fractions: the closed form, the rounding, the loss on all neighbours."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from lastbit import Choice, Eta, ExponentialMechanism, Reference, Sampler, Tape, audit
from lastbit.audit.verdict import judge
from lastbit.privacy.cost import Cost

ETA = Eta(1, 1, 2)
"""2^-ETA = 1/4, so the rate is 1/2, or 1/4 where scores are monotone."""

FULL = "1/1000000000"


def by_index(law: audit.Law) -> dict[int, Fraction]:
    assert law.unexplored == 0
    return {outcome.index: mass for outcome, mass in law.masses.items()}


def closed_form(r: Fraction, steps: list[int]) -> dict[int, Fraction]:
    """P(i) = r^-s(i), normalised."""
    weights = [(1 / r) ** (step - max(steps)) for step in steps]
    total = sum(weights)
    return {i: weight / total for i, weight in enumerate(weights)}


def law_of(mechanism: ExponentialMechanism, scores: object) -> dict[int, Fraction]:
    return by_index(audit.law(mechanism.program(scores), 0))


@pytest.mark.parametrize("scores", [[0], [1, 0], [3, 3, 3], [-5, 2, 0, 2], [10, 0, 4, 9, 9]])
def test_law_on_the_grid(scores: list[int]) -> None:
    assert law_of(ExponentialMechanism(eta=ETA), scores) == closed_form(Fraction(1, 2), scores)
    assert law_of(ExponentialMechanism(eta=ETA, monotone=True), scores) == closed_form(Fraction(1, 4), scores)
    wide = ExponentialMechanism(eta=Eta(1, 1, 4), sensitivity=2)
    assert law_of(wide, scores) == closed_form(Fraction(1, 2), scores)
    fine = ExponentialMechanism(eta=Eta(1, 1, 4), resolution="1/2")
    assert law_of(fine, [Fraction(score, 2) for score in scores]) == closed_form(Fraction(1, 2), scores)
    mechanism = ExponentialMechanism(epsilon="1/3")
    assert law_of(mechanism, scores) == closed_form(mechanism.rate.fraction, scores)
    assert 1 / mechanism.rate.fraction**2 <= Cost.of(mechanism.cost).odds_bounds()[0]


@pytest.mark.parametrize("kind", [list, np.array, lambda values: np.array(values, float), tuple])
def test_scores_in_any_form_have_the_same_law(kind: type) -> None:
    mechanism = ExponentialMechanism(eta=ETA, bounds=(-1, 2))
    assert law_of(mechanism, kind([-3, 0, 5, 1])) == closed_form(Fraction(1, 2), [-1, 0, 2, 1])


def test_off_the_grid_scores_are_floored_and_nothing_is_drawn_for_it() -> None:
    mechanism = ExponentialMechanism(eta=ETA)
    assert law_of(mechanism, [0.75, -0.25, Fraction(7, 3)]) == closed_form(Fraction(1, 2), [0, -1, 2])
    tape = Tape([5])
    mechanism.release([0.75, -0.25], Sampler(tape))
    assert tape.consumed == 1


def test_nan_counts_lowest_and_infinities_at_the_bounds() -> None:
    mechanism = ExponentialMechanism(eta=ETA, bounds=(-2, 3))
    odd = [float("nan"), float("inf"), float("-inf"), 0]
    for form in (odd, np.array(odd)):
        assert law_of(mechanism, form) == closed_form(Fraction(1, 2), [-2, 3, -2, 0])
    for draws in (Sampler, Reference):
        found = ExponentialMechanism(eta=ETA).release(np.array(odd), draws(Tape([1 << 40])))
        assert found.index == 1


def rounded_law(r: Fraction, scores: list[Fraction]) -> dict[int, Fraction]:
    """Mechanism 4 as the proof of its privacy reads: up with probability equal to the fraction."""
    total = dict.fromkeys(range(len(scores)), Fraction(0))
    floors = [score.numerator // score.denominator for score in scores]
    for ups in product((0, 1), repeat=len(scores)):
        chance = Fraction(1)
        for score, floor, up in zip(scores, floors, ups, strict=True):
            chance *= score - floor if up else 1 - (score - floor)
        if chance:
            for i, mass in closed_form(r, [floor + up for floor, up in zip(floors, ups, strict=True)]).items():
                total[i] += chance * mass
    return total


HALVES = [
    [Fraction(1, 2), Fraction(0)],
    [Fraction(1, 3), Fraction(-5, 4), Fraction(7, 2)],
    [Fraction(99, 100), Fraction(101, 100), Fraction(1)],
]


@pytest.mark.parametrize("scores", HALVES)
def test_randomized_rounding_has_the_law_of_the_corrected_mechanism_4(scores: list[Fraction]) -> None:
    mechanism = ExponentialMechanism(eta=ETA, rounding="randomized")
    assert law_of(mechanism, scores) == rounded_law(Fraction(1, 2), scores)
    on_grid = [2, 0, 5]
    assert law_of(mechanism, on_grid) == closed_form(Fraction(1, 2), on_grid)


def test_randomized_rounding_stays_within_bounds_and_reads_as_many_words_for_any_scores() -> None:
    mechanism = ExponentialMechanism(eta=ETA, rounding="randomized", bounds=(0, 2), resolution="1/2")
    scores = [Fraction(9, 4), Fraction(-3, 8), float("nan"), 1, Fraction(7, 8), float("inf")]
    half_steps = [Fraction(4), Fraction(0), Fraction(0), Fraction(2), Fraction(7, 4), Fraction(4)]
    found = law_of(mechanism, scores)
    assert found == rounded_law(mechanism.rate.fraction, half_steps)
    for values in (scores, [0] * 6, np.array([0.3] * 6)):
        tape = Tape(range(1 << 60, (1 << 60) + 9))
        mechanism.release(values, Sampler(tape))
        assert tape.consumed == 7


def mechanisms() -> Iterator[tuple[ExponentialMechanism, list[Fraction]]]:
    for monotone, rounding in product((False, True), ("floor", "randomized")):
        for cost in ({"eta": ETA}, {"epsilon": 1}):
            kind = {"monotone": monotone, "rounding": rounding, **cost}
            yield ExponentialMechanism(**kind), [Fraction(0), Fraction(1, 4), Fraction(2)]
            yield ExponentialMechanism(**kind, bounds=(0, 1)), [Fraction(0), Fraction(1, 4), Fraction(1)]
        yield ExponentialMechanism(**kind, sensitivity=2), [Fraction(3, 4), Fraction(0)]
        yield ExponentialMechanism(**kind, resolution="1/2"), [Fraction(1, 4), Fraction(0)]


@pytest.mark.parametrize(("mechanism", "scores"), list(mechanisms()))
def test_loss_is_within_the_cost_for_every_neighbour(mechanism: ExponentialMechanism, scores: list[Fraction]) -> None:
    verdicts = audit.check_all(mechanism, scores, FULL)
    assert verdicts.holds
    assert all(verdict.delta == 0 for verdict in verdicts.each)


def test_neighbours_of_off_grid_scores_are_off_the_grid_and_within_reach() -> None:
    scores = [Fraction(1, 4), Fraction(0)]
    found = set(ExponentialMechanism(eta=ETA, rounding="randomized").neighbours(scores))
    assert len(found) == 24
    assert (Fraction(-3, 4), Fraction(1, 2)) in found
    assert all(max(abs(a - b) for a, b in zip(each, scores, strict=True)) <= 1 for each in found)


@pytest.mark.parametrize("monotone", [False, True])
def test_the_cost_is_tight(monotone: bool) -> None:
    # One score moves up and a hundred others down (or stay): the loss comes close to the whole cost.
    mechanism = ExponentialMechanism(eta=ETA, monotone=monotone)
    one, other = law_of(mechanism, [1, *[0] * 100]), law_of(mechanism, [0, *[0 if monotone else 1] * 100])
    upper = Cost.of(mechanism.cost).odds_bounds()[1]
    assert upper * Fraction(9, 10) < one[0] / other[0] <= upper


def test_a_monotone_rate_is_too_much_when_scores_move_both_ways() -> None:
    claimed = ExponentialMechanism(eta=ETA, monotone=True)
    assert audit.check(claimed, [1, 0, 0, 0], [0, 1, 1, 1]).verdict == "violated"


def test_the_printed_rounding_of_mechanism_4_is_convicted() -> None:
    # Down with probability equal to the fraction: scores just below and just above a step trade places.
    def printed_law(scores: list[Fraction]) -> audit.Law:
        turned = [2 * (score.numerator // score.denominator) + 1 - score for score in scores]
        mechanism = ExponentialMechanism(eta=ETA, rounding="randomized")
        return audit.law(mechanism.program(turned), 0)

    low, high = Fraction(99, 100), Fraction(101, 100)
    for n in (3, 5):
        one, other = printed_law([low, *[high] * (n - 1)]), printed_law([high, *[low] * (n - 1)])
        assert judge(ETA, one, other, Fraction(0)).verdict == "violated"
    corrected = ExponentialMechanism(eta=ETA, rounding="randomized")
    assert audit.check(corrected, [low, high, high], [high, low, low]).holds


def test_ranking_is_peeling_and_costs_the_whole() -> None:
    mechanism = ExponentialMechanism(eta=Eta(1, 1, 4))
    scores, half = [2, 0, 1], Fraction(1, 2)  # each pick at half the cost: rate 1/2
    found = audit.law(lambda draw: mechanism.ranking(scores, 2, draw), 0)
    first = closed_form(half, scores)
    for ranking, mass in found.masses.items():
        i, j = ranking.indices
        left = [place for place in range(3) if place != i]
        second = dict(zip(left, closed_form(half, [scores[place] for place in left]).values(), strict=True))
        assert mass == first[i] * second[j]
    assert len(found) == 6
    for neighbour in mechanism.neighbours(scores):
        other = audit.law(lambda draw, values=neighbour: mechanism.ranking(values, 2, draw), 0)
        assert judge(mechanism.cost, found, other, Fraction(0)).holds


def test_ranking_with_randomized_rounding_costs_no_more() -> None:
    mechanism = ExponentialMechanism(eta=ETA, rounding="randomized")
    scores = [Fraction(1, 4), Fraction(1, 2), Fraction(0)]
    one = audit.law(lambda draw: mechanism.ranking(scores, 3, draw), 0)
    for neighbour in ([Fraction(5, 4), Fraction(-1, 2), Fraction(1)], [Fraction(3, 4), Fraction(3, 2), Fraction(-1)]):
        other = audit.law(lambda draw, values=neighbour: mechanism.ranking(values, 3, draw), 0)
        assert judge(mechanism.cost, one, other, Fraction(0)).holds


def test_clamped_discrete_laplace_by_outcome_space() -> None:
    # Section 4.1: outcomes B_L, B_L + γ, …, B_U with the distance to f as utility.
    gamma, f = Fraction(1, 4), Fraction(3, 4)
    outcomes = [-2 + gamma * i for i in range(17)]
    mechanism = ExponentialMechanism(eta=Eta(1, 1, 8), resolution=gamma)
    found = audit.law(lambda draw: mechanism.choose(outcomes, lambda o: -abs(f - o), draw), 0)
    weights = {outcome: mechanism.rate.fraction ** (abs(f - outcome) / gamma) for outcome in outcomes}
    assert mechanism.rate.fraction == Fraction(1, 2)
    assert {choice.outcome: mass for choice, mass in found.masses.items()} == {
        outcome: weight / sum(weights.values()) for outcome, weight in weights.items()
    }


def test_sampler_and_reference_release_the_same() -> None:
    words = [3 << 61, 1 << 62, 7, (1 << 64) - 5, 9, 1 << 63, 12, 13]
    for rounding in ("floor", "randomized"):
        mechanism = ExponentialMechanism(epsilon=1, rounding=rounding, resolution="1/4", bounds=(-3, 3))
        scores = np.array([0.1, 2.7, -9, 3.5, 2.9])
        tapes = Tape(words), Tape(words)
        one, two = mechanism.release(scores, Sampler(tapes[0])), mechanism.release(scores, Reference(tapes[1]))
        assert isinstance(one, Choice)
        assert one == two
        assert tapes[0].consumed == tapes[1].consumed
