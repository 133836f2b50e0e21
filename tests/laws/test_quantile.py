"""One quantile, exactly: its law is the exponential mechanism on the listed grid; one person moves it by its cost."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

import lastbit as lb
from lastbit.mechanisms.quantiles.rank_error import RankError, furthest

QS = [Fraction(text) for text in ("1/2", "1/4", "3/4", "1/10", "2/5", "0", "1")]
HALF = lb.Rate(1, 1)


def error(q: Fraction, values: tuple[int, ...], y: int) -> int:
    """b times the distance from rank q·n to the ranks that y takes, from the definition."""
    below, at_or_below = sum(x < y for x in values), sum(x <= y for x in values)
    rank = q * len(values)
    return int(q.denominator * max(0, below - rank, rank - at_or_below))


def data_sets(points: int, most: int) -> Iterator[tuple[int, ...]]:
    for n in range(most + 1):
        yield from combinations_with_replacement(range(points), n)


def law_by_listing(q: Fraction, r: Fraction, values: tuple[int, ...], points: int) -> dict[int, Fraction]:
    weights = {y: r ** error(q, values, y) for y in range(points)}
    return {y: weight / sum(weights.values()) for y, weight in weights.items()}


def by_value(mechanism: lb.Quantile, values: Any) -> dict[Any, Fraction]:
    law = lb.audit.law(mechanism.program(values), 0)
    assert law.unexplored == 0
    return {release.value: mass for release, mass in law.masses.items()}


@pytest.mark.parametrize("q", QS, ids=str)
@pytest.mark.parametrize(("points", "most"), [(4, 4), (12, 3)])
def test_classes_are_the_listed_grid(q: Fraction, points: int, most: int) -> None:
    for values in data_sets(points, most):
        sizes, errors = RankError(q, HALF).classes(np.array(values, np.int64), 0, points - 1)
        assert len(sizes) == 2 * len(values) + 1
        assert sizes.min() >= 0
        # Written out, the classes are the errors of all points, in the order of the grid.
        assert np.repeat(errors, sizes).tolist() == [error(q, values, y) for y in range(points)]


@pytest.mark.parametrize("q", QS, ids=str)
@pytest.mark.parametrize(("points", "most"), [(4, 4), (7, 3)])
def test_one_value_moves_the_error_by_the_sensitivity_exactly(q: Fraction, points: int, most: int) -> None:
    moves = {
        error(q, (*values, more), y) - error(q, values, y)
        for values in data_sets(points, most)
        for more in range(points)
        for y in range(points)
    }
    a, b = q.numerator, q.denominator
    assert max(map(abs, moves)) == max(a, b - a)
    # The minimum and the maximum move one way only: their range is half of the others'.
    assert furthest(q) == (1 if q in (0, 1) else 2 * max(a, b - a))
    assert max(moves) - min(0, *moves) <= furthest(q)
    assert (min(moves) < 0) == (0 < q < 1)


@pytest.mark.parametrize("q", QS, ids=str)
def test_the_law_is_the_exponential_mechanism_on_the_listed_grid(q: Fraction) -> None:
    mechanism = lb.Quantile(q=q, bounds=(0, 5), eta=lb.Eta(1, 1, furthest(q)))
    assert mechanism._rank_error.rate == HALF
    for values in [(), (0,), (5, 5), (1, 1, 4), (2, 2, 2, 3), (0, 1, 2, 3, 4, 5), (0, 5, 5, 5, 5)]:
        assert by_value(mechanism, values) == law_by_listing(q, Fraction(1, 2), values, 6)
    by_epsilon = lb.Quantile(q=q, bounds=(0, 5), epsilon="1/3")
    rate = by_epsilon._rank_error.rate.fraction
    assert by_value(by_epsilon, (1, 4, 4)) == law_by_listing(q, rate, (1, 4, 4), 6)
    assert 1 / rate ** furthest(q) <= lb.Cost.of("1/3").odds_bounds()[0]


@pytest.mark.parametrize("q", QS, ids=str)
def test_the_loss_is_within_the_cost_on_every_neighbour(q: Fraction) -> None:
    # With rate 1/2 the odds of one value are 2 to the range; all small data sets by the listed law.
    odds = 2 ** furthest(q)
    for values in data_sets(4, 4):
        law = law_by_listing(q, Fraction(1, 2), values, 4)
        for more in range(4):
            other = law_by_listing(q, Fraction(1, 2), (*values, more), 4)
            ratios = [law[y] / other[y] for y in range(4)]
            assert max(ratios) <= odds
            assert min(ratios) >= Fraction(1, odds)
            # Bounded range: how far the losses lie apart is within the cost too.
            assert max(ratios) / min(ratios) <= odds
    mechanism = lb.Quantile(q=q, bounds=(0, 3), eta=lb.Eta(1, 1, furthest(q)))
    for values in ((), (1,), (0, 3)):
        verdicts = lb.audit.check_all(mechanism, values, tolerance=0)
        assert verdicts.holds
        assert len(verdicts.each) == len(values) + 4


@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "1/8"}, {"eta": lb.Eta(3, 2, 1)}])
@pytest.mark.parametrize("q", ["1/2", "2/5", "1"])
def test_epsilon_and_rho_hold_as_stated(q: str, cost: dict[str, Any]) -> None:
    mechanism = lb.Quantile(q=q, bounds=(0, 2), **cost)
    assert lb.audit.check_all(mechanism, [1], tolerance=0).holds
    assert mechanism.cost.rho <= lb.Cost.of(mechanism.cost.amount).rho


def test_rho_is_that_of_a_bounded_range() -> None:
    assert lb.Quantile(bounds=(0, 9), epsilon=1).cost.rho == Fraction(1, 8)
    assert float(lb.Quantile(bounds=(0, 9), rho="1/8").cost.amount) == 1
    assert lb.Quantile(bounds=(0, 9), rho="1/8").cost.text == "rho 1/8"


def test_the_cost_cannot_be_lowered() -> None:
    # A wide gap above holds nearly all points. A person who comes to 0 makes 0 better, and all of the gap worse.
    error = lb.Quantile(bounds=(0, 10**6), eta=lb.Eta(1, 1, 2))._rank_error

    def chance_of_zero(values: list[int]) -> Fraction:
        sizes, errors = (each.tolist() for each in error.classes(np.array(values), 0, 10**6))
        weights = [size * Fraction(1, 2) ** each for size, each in zip(sizes, errors, strict=True)]
        # The gap before the value 1 is the point 0, and so is the value 0.
        return weights[values.index(min(values)) + (0 in values)] / sum(weights)

    ratio = chance_of_zero([0, 1]) / chance_of_zero([1])
    assert Fraction(9999, 10000) * 4 < ratio <= 4


def test_values_outside_are_clamped_floored_and_missing_ones_left_out() -> None:
    mechanism = lb.Quantile(bounds=(0, 2), resolution="1/2", eta=lb.Eta(1, 1, 2))
    plain = by_value(mechanism, [0, 2, 2, "1/2"][:3])
    odd: list[Any] = [float("-inf"), 10**30, 2.4, None, float("nan"), np.nan, "n/a"]
    assert by_value(mechanism, odd) == plain
    assert by_value(mechanism, np.array([-1.0, 7.0, np.nan, 2.25])) == plain
    masked = np.ma.MaskedArray([-1.0, 7.0, 1.0, 2.25], mask=[False, False, True, False])
    assert by_value(mechanism, masked) == plain
    assert by_value(mechanism, [0.74]) == by_value(mechanism, [Fraction(1, 2)])
    lowest = lb.Quantile(bounds=(0, 2), resolution="1/2", eta=lb.Eta(1, 1, 2), missing="lowest")
    assert by_value(lowest, [None, 1]) == by_value(mechanism, [0, 1])
    as_one = lb.Quantile(bounds=(0, 2), resolution="1/2", eta=lb.Eta(1, 1, 2), missing=1)
    assert by_value(as_one, [None, 2]) == by_value(mechanism, [1, 2])


@pytest.mark.parametrize("missing", ["leave-out", "lowest", 2])
def test_a_person_whose_value_is_missing_is_within_the_cost(missing: Any) -> None:
    # Left out, a value that turns missing goes, and a person without a value comes and goes freely.
    mechanism = lb.Quantile(q="1/4", bounds=(0, 3), eta=lb.Eta(1, 1, 6), missing=missing)
    for values in ((), (0,), (1, 3)):
        without = [*values, None]
        assert lb.audit.check(mechanism, without, values, tolerance=0).holds
        if missing == "leave-out":
            assert by_value(mechanism, without) == by_value(mechanism, values)
            assert all(lb.audit.check(mechanism, without, [*values, value], tolerance=0).holds for value in (0, 3))


def test_a_person_with_several_values_is_within_the_cost_that_was_built_for_it() -> None:
    for q in QS:
        # Half the cost for each of two values: the rate of one value at half the cost.
        eta = lb.Eta(1, 1, 2 * furthest(q))
        built = lb.Quantile(q=q, bounds=(0, 3), eta=eta, most_values=2)
        assert built._rank_error.rate == HALF
        for values in data_sets(4, 2):
            law = law_by_listing(q, Fraction(1, 2), values, 4)
            for more in combinations_with_replacement(range(4), 2):
                other = law_by_listing(q, Fraction(1, 2), (*values, *more), 4)
                assert all(eta.fraction <= law[y] / other[y] <= 1 / eta.fraction for y in law)
    once, twice = (lb.Quantile(bounds=(0, 40), eta=lb.Eta(1, 1, 2), most_values=most) for most in (1, 2))
    assert lb.audit.check(once, [2], [0, 0, 2], tolerance=0).verdict == "violated"
    assert lb.audit.check(twice, [2], [0, 0, 2], tolerance=0).holds


@pytest.mark.parametrize("q", QS, ids=str)
def test_the_ranks_hold_at_their_level(q: Fraction) -> None:
    for level in (Fraction(1, 2), Fraction(9, 10)):
        mechanism = lb.Quantile(q=q, bounds=(0, 7), eta=lb.Eta(1, 1, furthest(q)))
        ranks = mechanism.accuracy(level)
        for values in [(), (3,), (0,) * 9, (0,) * 5 + (7,) * 5, (0, 1, 2, 3, 4, 5, 6, 7), (7,) * 30, (2,) * 8 + (5,)]:
            held = sum(
                mass
                for y, mass in by_value(mechanism, values).items()
                if error(q, values, int(y)) <= ranks * q.denominator
            )
            assert held >= level
        release = mechanism.release([1, 2, 3])
        assert release.ranks(level) == ranks


def test_the_ranks_are_tight_where_one_point_is_right() -> None:
    # n equal values: all other points have the same error. So many values that the level is just reached.
    mechanism = lb.Quantile(bounds=(0, 7), eta=lb.Eta(1, 1, 2))
    level = Fraction(9, 10)
    n = mechanism.accuracy(level) * 2
    for count, reached in ((n + 1, True), (n, False)):
        assert (by_value(mechanism, [4] * int(count))[4] >= level) == reached


def test_for_accuracy_is_the_least_epsilon() -> None:
    found = lb.Quantile.for_accuracy(20, "0.9", bounds=(0, 1000), q="1/4")
    less = lb.Quantile(epsilon=found.epsilon * (1 - Fraction(1, 10**8)), bounds=(0, 1000), q="1/4")
    assert found.accuracy("0.9") <= 20 < less.accuracy("0.9")


TAPES = [
    [3 << 61, 5, 9, 1],
    [0, 0, 0, 0],
    [(1 << 64) - 1] * 3 + [7],
    [1 << 63, 1 << 63, 1 << 63, 2],
    [77 << 50, 1 << 60, 2, 3],
]


@pytest.mark.parametrize("words", TAPES)
@pytest.mark.parametrize("bounds", [(0, 10), (-(10**18), 10**18), (-(1 << 61), 1 << 61)])
@pytest.mark.parametrize("q", ["1/2", "0", "0.999999"])
def test_sampler_and_reference_release_the_same(words: list[int], bounds: tuple[int, int], q: str) -> None:
    mechanism = lb.Quantile(q=q, bounds=bounds, epsilon=1)
    for values in ([], [3], [5] * 40, list(range(-20, 30)), [bounds[0]] * 3 + [bounds[1]] * 3):
        found = []
        for twin in (lb.Sampler, lb.Reference):
            tape = lb.Tape([*words, *range(9)])
            found.append((mechanism.release(values, twin(tape)), tape.consumed))
        assert found[0] == found[1]
        low, high = bounds
        assert low <= found[0][0].value <= high


def test_the_words_do_not_tell_the_values() -> None:
    mechanism = lb.Quantile(bounds=(-(1 << 61), 1 << 61), epsilon=1)
    for values in ([], [0], [7] * 100, list(range(100)), [1 << 61] * 50):
        tape = lb.Tape([99 << 55, 12345 << 40, 1, 1, 1])
        mechanism.release(values, lb.Sampler(tape))
        assert tape.consumed == 3


@pytest.mark.parametrize("resolution", ["1", "1/10", "3/7", "1/1048576"])
@pytest.mark.parametrize("fine", [Fraction(1), Fraction(1, 8), Fraction(3, 7), Fraction(1 << 10), Fraction(1, 3**30)])
def test_numbers_on_another_grid_are_floored_to_this_one(resolution: str, fine: Fraction) -> None:
    mechanism = lb.Quantile(bounds=(-3, 9), resolution=resolution, epsilon=1)
    steps = [-(1 << 60), -100, -3, -1, 0, 1, 2, 7, 71, 5000, 3**30 * 2 + 1, 1 << 60]
    grid = mechanism.grid
    right = [max(grid.step(-3), min(grid.step(9), grid.step(step * fine))) for step in steps]
    assert mechanism.floor_steps(np.array(steps), fine).tolist() == right


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_a_decimal_that_is_a_step_stays_that_step(kind: str) -> None:
    mechanism = lb.Quantile(bounds=(0, 10), resolution="1/10", epsilon=1)
    values = np.array([i / 10 for i in range(101)], kind)
    below = np.nextafter(values, np.array(-1, kind))
    steps = list(range(101))
    assert mechanism._steps(values).tolist() == steps
    assert mechanism._steps(below).tolist() == [0, *steps[:-1]]
    if kind == "f8":
        assert mechanism._steps([None, *values.tolist(), 7, Fraction(3, 10)]).tolist() == [*steps, 70, 3]


def test_numbers_that_were_floored_already_are_not_floored_past_a_step() -> None:
    mechanism = lb.Quantile(bounds=(0, 10), resolution="1/10", epsilon=1)
    fine = Fraction(1, 1 << 20)
    for step in range(101):
        here = Fraction(step, 10) // fine
        near = np.array([here - 3, here - 2, here - 1, here, here + 1], np.int64)
        found = mechanism.floor_steps(near, fine, 2 * fine).tolist()
        # At most two fine steps below, a number may be at the step; at a step that is on both grids, less than two.
        reached = here - 1 if here * fine == Fraction(step, 10) else here - 2
        expected = [step if each >= reached + (here * fine < Fraction(step, 10)) else step - 1 for each in near]
        assert found == [max(0, each) for each in expected]


def test_refusals() -> None:
    with pytest.raises(lb.ParameterError, match="q must be from 0 to 1: got 2"):
        lb.Quantile(q=2, bounds=(0, 1), epsilon=1)
    with pytest.raises(lb.ParameterError, match="denominator of at most 2"):
        lb.Quantile(q="0.123456789", bounds=(0, 1), epsilon=1)
    with pytest.raises(lb.ParameterError, match="resolution must divide the upper bound"):
        lb.Quantile(bounds=(0, 1), resolution=2, epsilon=1)
    with pytest.raises(lb.ParameterError, match="2\\^61 steps"):
        lb.Quantile(bounds=(0, (1 << 61) + 1), epsilon=1)
    with pytest.raises(lb.ParameterError, match="exactly one of epsilon"):
        lb.Quantile(bounds=(0, 1))
    with pytest.raises(lb.ParameterError, match="one number for each person: got Statistic"):
        lb.Quantile(bounds=(0, 1), epsilon=1).release(lb.exact_sum([1], bounds=(0, 1)))
    with pytest.raises(lb.ParameterError, match="missing must be"):
        lb.Quantile(bounds=(0, 1), epsilon=1, missing="zero")
    with pytest.raises(lb.ParameterError, match="most_values must be a whole number"):
        lb.Quantile(bounds=(0, 1), epsilon=1, most_values=0)
