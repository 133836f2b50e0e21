"""Standard deviations of groups, exactly: the law of the squares, the loss of the whole, and the intervals."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import lastbit as lb
from lastbit.estimate.deviations import bound_deviation, root
from lastbit.values.centred_squares import add_centred_squares
from lastbit.values.group_sums import GroupSums
from tests.fixed_words import FixedWords

UNIT: dict[str, Any] = {"bounds": (0, 1), "resolution": 1, "sd": True}
COSTS: dict[str, dict[str, Any]] = {"eta": {"eta": lb.Eta(1, 1, 4)}, "epsilon": {"epsilon": 3}, "rho": {"rho": 2}}


def test_a_quarter_of_the_cost_pays_for_squares_and_the_rest_for_the_sums() -> None:
    facts: dict[str, Any] = {"groups": ["a", "b", "c"], "most_items": 2, "most_rows": 3, "bounds": (0, 6)}
    for cost in ("epsilon", "rho"):
        whole = lb.GroupMeans(**facts, resolution=2, **{cost: 1}, sd=True)
        assert whole.rate == lb.GroupMeans(**facts, resolution=2, **{cost: "3/4"}).rate
        # A square is 9 at most, in three steps as the range is.
        sums = {"sensitivity": 2 * 3 * 9} if cost == "epsilon" else {"squared_sensitivity": 2 * (3 * 9) ** 2}
        plain: Any = lb.DiscreteLaplace if cost == "epsilon" else lb.DiscreteGaussian
        assert whole._square_step == 3
        assert whole._square_rate == plain(**{cost: "1/4"}, resolution=3, **sums).rate
        assert lb.GroupMeans(**facts, resolution=2, **{cost: 1})._square_rate is None


@pytest.mark.parametrize("cost", COSTS.values(), ids=COSTS)
@pytest.mark.parametrize("most_rows", [1, 2])
def test_the_loss_of_the_whole_is_within_the_cost_on_every_neighbour(cost: dict[str, Any], most_rows: int) -> None:
    """Also a negative control: squares that move twice as many steps as the noise is for are convicted."""
    more = {name: _times(amount, most_rows) for name, amount in cost.items()}
    mechanism = lb.GroupMeans(groups=["a"], **UNIT, **more, most_rows=most_rows)
    values, tolerance = {"a": [1]}, Fraction(1, 1 << 13)
    assert lb.audit.check_all(mechanism, values, tolerance).holds
    object.__setattr__(mechanism, "_square_step", mechanism._square_step / 2)
    assert not lb.audit.check_all(mechanism, values, tolerance).holds


@pytest.mark.parametrize("cost", [{"eta": lb.Eta(1, 1, 16)}, {"rho": 16}], ids=["eta", "rho"])
def test_squares_with_half_of_their_noise_violate_the_cost(cost: dict[str, Any]) -> None:
    """The sensitivity of a square is the square of half the range: half of that is convicted."""
    mechanism = lb.GroupMeans(groups=["a"], **UNIT, **cost)
    check: dict[str, Any] = {"values": {}, "neighbour": {"a": [1]}, "tolerance": Fraction(1, 1 << 30)}
    assert lb.audit.check(mechanism, **check).holds
    loud = lb.GroupMeans(groups=["a"], **UNIT, **{name: _twice(amount) for name, amount in cost.items()})
    object.__setattr__(mechanism, "_square_rate", loud._square_rate)
    assert lb.audit.check(mechanism, **check).verdict == "violated"


def _times(amount: Any, factor: int) -> Any:
    return lb.Eta(1, 1, factor * amount.z) if isinstance(amount, lb.Eta) else factor * amount


def _twice(amount: Any) -> Any:
    """Return the cost of half the scale of the noise."""
    return lb.Eta(1, 1, 2 * amount.z) if isinstance(amount, lb.Eta) else 4 * amount


@pytest.mark.parametrize("bounds", [(0, 2), (-3, 1)])
@pytest.mark.parametrize("values", [[0.9], [0, 2], [1.5, 0.3, None, 1], [-9, 9, 9, 9]])
def test_each_interval_holds_at_its_level_whoever_is_missing(values: list[Any], bounds: tuple[int, int]) -> None:
    level, (low, high) = Fraction(3, 4), bounds
    mechanism = lb.GroupMeans(groups=["a"], bounds=bounds, resolution=2, sd=True, eta=lb.Eta(1, 1, 12))
    law = lb.audit.law(mechanism.program({"a": values}), Fraction(1, 1 << 9))
    there = [max(Fraction(low), min(Fraction(high), Fraction(value))) for value in values if value is not None]
    held, numbers = [Fraction(0)] * 2, (Fraction(low), Fraction(low + high, 2), Fraction(high))
    for release, mass in law.masses.items():
        for missing in (0, 1):
            start, end = release.sd_intervals(level, [missing])[0]
            others = [more for count in range(missing + 1) for more in product(numbers, repeat=count)]
            truths = [_variance([*there, *more]) for more in others]
            held[missing] += mass if all(start**2 <= truth <= end**2 for truth in truths) else 0
    assert all(mass >= level - law.unexplored for mass in held), held


def _variance(numbers: list[Fraction]) -> Fraction:
    mean = sum(numbers, Fraction(0)) / len(numbers)
    return sum(((number - mean) ** 2 for number in numbers), Fraction(0)) / len(numbers)


def test_the_root_is_rounded_outwards_and_by_one_step_at_most() -> None:
    step = Fraction(1, 7)
    for square in (Fraction(n, 11) for n in range(60)):
        below, above = root(square, step), root(square, step, up=True)
        assert below**2 <= square <= above**2
        assert above - below in (0, step)
        assert (above == below) == (below**2 == square)


def test_bounds_of_the_deviation_hold_every_choice_within_them() -> None:
    one, bounds = Fraction(1), (Fraction(0), Fraction(4))
    for numbers in product(range(5), repeat=3):
        own = [Fraction(number) for number in numbers]
        square, mean = sum(((number - 2) ** 2 for number in own), Fraction(0)), sum(own, Fraction(0)) / 3
        near = (mean - Fraction(1, 8), mean + Fraction(1, 8))
        low, high = bound_deviation((square - one, square + one), (2 * one, 4 * one), near, bounds)
        assert low**2 <= _variance(own) <= high**2 <= 4


def test_numbers_that_were_floored_widen_the_interval() -> None:
    mechanism = lb.GroupMeans(groups=["a"], bounds=(0, 8), epsilon=9, resolution=1, sd=True)
    squares = (Fraction(4000),)
    exact = GroupSums(((Fraction(4000), 1000),), (Fraction(0), Fraction(8)), unit=Fraction(1), squares=squares)
    raised = replace(exact, floored=Fraction(1, 4))
    releases = (mechanism.release(sums, lb.Sampler(FixedWords("floored sd"))) for sums in (exact, raised))
    (start, end), (least, most) = (release.sd_intervals("0.95")[0] for release in releases)
    assert least <= start - Fraction(1, 4)
    assert most >= end + Fraction(1, 4)


def test_squares_are_exact_at_both_ends_of_64_bits() -> None:
    steps = np.array([-(1 << 63), (1 << 63) - 1, 5, -(1 << 32) - 1], np.int64)
    bounds = Fraction(-(1 << 63)), Fraction((1 << 63) - 1)
    middle = (bounds[0] + bounds[1]) / 2
    expected = [
        sum(((Fraction(int(step)) - middle) ** 2 for step in own), Fraction(0)) for own in (steps[:2], steps[2:])
    ]
    assert list(add_centred_squares(steps, np.array([0, 0, 1, 1]), 2, Fraction(1), bounds)) == expected


def test_sums_without_squares_and_wrong_values_are_refused() -> None:
    mechanism = lb.GroupMeans(groups=["a"], bounds=(0, 10), epsilon=1, sd=True)
    with pytest.raises(lb.ParameterError, match="squares=True"):
        mechanism.release(GroupSums(((Fraction(3), 1),), (Fraction(0), Fraction(10))))
    with pytest.raises(lb.ParameterError, match="sd must be True or False"):
        lb.GroupMeans(groups=["a"], bounds=(0, 10), epsilon=1, sd="yes")  # type: ignore[arg-type]
    with pytest.raises(lb.ParameterError, match="rho must be larger with sd"):
        lb.GroupMeans(groups=["a"], bounds=(0, 1), resolution=1, rho=Fraction(1, 1 << 32) * 2 / 3, sd=True)


def test_small_costs_in_rho_have_fewer_steps_of_squares() -> None:
    fine, coarse = (
        lb.GroupMeans(groups=["a"], bounds=(0, 1024), resolution=4, rho=rho, sd=True) for rho in (1, "1/40000")
    )
    assert fine._square_step == Fraction(512**2, 256)
    assert coarse._square_step > fine._square_step


def test_without_sd_there_are_no_deviations() -> None:
    release = lb.GroupMeans(groups=["a"], bounds=(0, 10), epsilon=1).release({"a": [3]})
    assert (release.sds, release.sd_intervals(), "sd" in release.columns()) == ((), (), False)
