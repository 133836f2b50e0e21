"""Values between the steps of a grid: the stated cost is true, and intervals hold the value, not its floor."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lastbit as lb
from lastbit.values.known import lies_on

BITS = lb.Eta(1, 1, 4)
SURE = 1 - Fraction(1, 1 << 60)
"""A level at which no run of a test fails."""
HALVES = [Fraction(1, 2), Fraction(0)]


class TooLittle(lb.DiscreteLaplace):
    """Noise for the steps of the sensitivity alone, wherever the values lie: a negative control."""

    def _rate(self, n: int) -> lb.Rate:
        return self.rate


@pytest.mark.parametrize("values", [[Fraction(0)] * 2, HALVES, [Fraction(9, 10), Fraction(3, 10)], [0.0, 0.5]])
@pytest.mark.parametrize(("sensitivity", "resolution"), [(1, 1), (2, 1), (2, 2)])
def test_several_values_off_the_grid_keep_the_stated_cost(values: Any, sensitivity: int, resolution: int) -> None:
    asked: dict[str, Any] = {"eta": BITS, "sensitivity": sensitivity, "resolution": resolution}
    tolerance = Fraction(1, 1 << 7)
    assert lb.audit.check_all(lb.DiscreteLaplace(**asked), values, tolerance).holds
    assert lb.audit.check_all(TooLittle(**asked), values, tolerance).worst.verdict == "violated"


def test_three_values_off_the_grid_need_exactly_two_steps_more() -> None:
    mechanism, start = lb.DiscreteLaplace(eta=lb.Eta(1, 1, 12)), [Fraction(0)] * 3
    furthest = max(
        sum(abs(a - b) for a, b in zip(mechanism.grid.steps(start), mechanism.grid.steps(other), strict=True))
        for other in mechanism.neighbours(start)
    )
    assert furthest == 3
    assert mechanism.release(start).rate == lb.Rate.from_eta(lb.Eta(1, 1, 12), Fraction(1, 3))


@pytest.mark.parametrize("values", [np.full(100, 7), np.full(100, 7.5), [7] * 100, [Fraction(7)] * 100])
def test_a_coarse_grid_costs_what_it_says(values: Any) -> None:
    """One person moves each of 100 values by one, all of them across a step of 100."""
    mechanism = lb.DiscreteLaplace(epsilon=1, sensitivity=100, resolution=100)
    noisy = mechanism.release(values)
    assert not noisy.on_grid
    assert 1 / noisy.rate.fraction**100 <= mechanism.cost.odds_bounds()[1]
    assert mechanism.accuracy(n=100) > 100 * mechanism.accuracy() / 2


def test_a_thousand_floats_around_a_step_cost_what_they_say() -> None:
    mechanism = lb.DiscreteLaplace(epsilon=1)
    noisy = mechanism.release(np.full(1000, 0.9999))
    assert 1 / noisy.rate.fraction**1000 <= mechanism.cost.odds_bounds()[1]


@pytest.mark.parametrize(
    ("values", "resolution", "known"),
    [
        ([1, 2], "1/3", True),
        ([1, None], 1, True),
        ([1, 2], 2, False),
        ([1, 2.0], 1, False),
        ([1, Fraction(2)], 1, False),
        (np.array([1, 2], np.uint8), "1/10", True),
        (np.array([True, False]), 1, True),
        (np.array([1.0]), 1, False),
        (np.array([1, 2], object), 1, True),
        (pd.Series([1, 2]), 1, True),
        (pd.Series([1, None], dtype="Int64"), 1, True),
        (pd.Series([1.0, 2.0]), 1, False),
        (7, "1/2", True),
        (7.0, "1/2", False),
        (lb.Counts(items="ab", values=[1, 2]), "1/2", True),
        (lb.Counts(items="ab", values=[1, 2]), 2, False),
        (lb.Counts(items="ab", values=[Fraction(1), Fraction(2)]), 1, False),
        (lb.exact_sum([1], bounds=(0, 1), resolution="1/4"), "1/8", True),
        (lb.exact_sum([1], bounds=(0, 1), resolution="1/4"), "1/2", False),
    ],
)
def test_the_type_decides_what_lies_on_the_grid(values: Any, resolution: Any, known: bool) -> None:
    assert lies_on(values, lb.Grid(resolution)) is known


@pytest.mark.parametrize("values", [[3, 1], [0, 0]])
def test_whole_numbers_stay_whole_numbers(values: list[int]) -> None:
    mechanism = lb.DiscreteLaplace(eta=BITS, sensitivity=2, resolution="1/2")
    neighbours = list(mechanism.neighbours(values))
    assert len(neighbours) == 12
    assert all(type(value) is int for neighbour in neighbours for value in neighbour)
    assert lb.audit.check_all(mechanism, values, Fraction(1, 1 << 7)).holds


@pytest.mark.parametrize("value", [Fraction(109, 10), 10.9, 10.0, Fraction(10), 10])
@pytest.mark.parametrize("epsilon", [5, 1])
def test_intervals_cover_the_value_and_not_its_floor(value: Any, epsilon: int) -> None:
    level = Fraction(98, 100)
    law = lb.audit.law(lb.DiscreteLaplace(epsilon=epsilon).program(value), Fraction(1, 1 << 20))
    held = Fraction(0)
    for release, mass in law.masses.items():
        assert isinstance(release, lb.NoisyValues)
        low, high = release.interval(level)
        held += mass if low <= value <= high else 0
    assert held >= level - law.unexplored


def test_gap_intervals_cover_gaps_of_values_between_steps() -> None:
    level, values = Fraction(3, 4), [Fraction(19, 10), Fraction(0)]
    mechanism = lb.NoisyTopK(k=1, eta=lb.Eta(1, 1, 8), resolution=1, monotone=True)
    law = lb.audit.law(mechanism.program(values), Fraction(1, 1 << 12))
    held = Fraction(0)
    for release, mass in law.masses.items():
        assert isinstance(release, lb.TopK)
        ((low, high),) = release.gap_intervals(level)
        gap = values[release.indices[0]] - values[1 - release.indices[0]]
        held += mass if low <= gap <= high else 0
    assert held >= level - law.unexplored


class Far(lb.Sampler):
    """Noise of the largest type that noise can have."""

    def laplace(self, rate: lb.Rate, size: int | None = None) -> Any:
        return np.array([0, 1 << 80][: size or 1], object)


def test_the_type_of_a_release_depends_on_what_is_published() -> None:
    clamped = lb.DiscreteLaplace(epsilon=1, bounds=(0, 9)).release([3, 4], Far())
    assert clamped.steps.dtype == np.int64
    assert clamped.values == (3, 9)
    assert lb.DiscreteLaplace(epsilon=1).release([3, 4], Far()).steps.dtype == object
    assert lb.DiscreteLaplace(epsilon=1).release(3, Far()).steps.dtype == np.int64


def test_an_interval_at_the_end_of_the_grid_has_no_end() -> None:
    """Values are clamped at 2^61 steps, and nobody can know how far beyond they were."""
    fine = lb.DiscreteLaplace(epsilon=1, resolution=Fraction(1, 1 << 48))
    low, high = fine.release(10_000).interval(SURE)
    assert low is not None
    assert low < 10_000
    assert high is None
    below, above = fine.release(-10_000).interval(SURE)
    assert (below, above is None) == (None, False)
    counts = lb.Counts(items="ab", values=[10_000, 9000], monotone=True)
    for least, most in (
        lb.SelectAndMeasure(k=2, epsilon=1, resolution=Fraction(1, 1 << 48)).release(counts).intervals(SURE)
    ):
        assert least < 9000
        assert most is None


def test_a_long_sum_behind_a_mean_is_not_clamped() -> None:
    numbers = np.full(100_000, 1000.0)
    release = lb.NoisyMean(epsilon=1, bounds=(0, 10**6), resolution="1e-8").release(numbers)
    low, high = release.interval(SURE)
    assert low <= 1000 <= high
    fewest, most = release.people_interval(SURE)
    assert fewest <= 100_000 <= most


@pytest.mark.parametrize(("number", "known"), [(3.9, False), (3, True), (30.0, False)])
def test_the_interval_of_a_mean_covers_numbers_between_steps(number: float, known: bool) -> None:
    release = lb.NoisyMean(epsilon=1000, bounds=(0, 10)).release(np.full(2000, number))
    assert (release.floored == 0) is known
    low, high = release.interval(SURE)
    assert low <= min(Fraction(number), 10) <= high


def test_a_mean_takes_its_own_sums_only() -> None:
    mechanism = lb.NoisyMean(epsilon=1, bounds=(0, 10))
    for other in (
        lb.mean_sums([1, 2], bounds=(0, 1)),
        lb.mean_sums([1, 2], bounds=(0, 10), resolution="1/100"),
        lb.histogram([1], bounds=(0, 1), bins=2),
        lb.exact_sum([1], bounds=(0, 10)),
        lb.Counts(items="ab", values=[1, 2]),
    ):
        with pytest.raises(lb.ParameterError, match="same bounds and resolution"):
            mechanism.release(other)


def test_a_statistic_is_on_the_grid_that_it_states() -> None:
    halves = lb.Statistic(np.array([0.5, 1.7]), 1, 1)
    assert halves.values == (0, 1)
    assert lb.Statistic(Fraction(7, 2), "1", "1/3").values == Fraction(10, 3)
    with pytest.raises(lb.ParameterError, match="resolution must divide sensitivity"):
        lb.Statistic(3, 1, 2)


@pytest.mark.parametrize(
    ("values", "known"),
    [
        (pd.Series([None, None], dtype="Float64"), False),
        (pd.Series([1, 2], dtype="category"), False),
        (pd.Series([1, 2], dtype="UInt8"), True),
        (pd.Series([True], dtype="boolean"), True),
        (np.ma.masked_all(2, float), False),
    ],
)
def test_a_declared_type_decides_before_any_value(values: Any, known: bool) -> None:
    assert lies_on(values, lb.Grid(1)) is known


def test_one_whole_number_on_a_grid_of_wider_steps_was_floored() -> None:
    wide = lb.DiscreteLaplace(epsilon=1, sensitivity=2, resolution=2)
    for values in (3, np.array([3]), [3], 3.0):
        assert not wide.release(values).on_grid
    assert lb.DiscreteLaplace(epsilon=1, resolution="1/2").release(3).on_grid
