"""The grid: every kind of number, floored exactly, by a rule that never raises on a private value."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import floor, isnan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lastbit as lb
from lastbit.values import _floors
from lastbit.values.grid import Grid
from lastbit.values.raw import highest

LIMIT = 1 << 61
"""So many steps a value may lie from zero."""

RESOLUTIONS = [
    "1",
    "1/10",
    "1/3",
    "3/10",
    "7",
    "1/1024",
    "1/1000000",
    "10",
    "1/3000000007",
    "5/2",
    "1e-14",
    "1e-25",
    "1e25",
]
resolutions = st.sampled_from(RESOLUTIONS)


def floor_by_rule(value: Fraction | None, resolution: Fraction) -> int:
    """The public rule, in fractions; None stands for NaN."""
    if value is None:
        return -LIMIT // resolution.numerator
    return max(-LIMIT, min(LIMIT, floor(value * resolution.denominator))) // resolution.numerator


def exact(value: float) -> Fraction | None:
    if isnan(value):
        return None
    return Fraction(10**400 if value > 0 else -(10**400)) if abs(value) == float("inf") else Fraction(value)


@given(st.lists(st.floats(), max_size=30), resolutions)
def test_floats_are_floored_as_the_exact_numbers_they_are(values, resolution):
    grid = Grid(resolution)
    expected = [floor_by_rule(exact(value), grid.resolution) for value in values]
    assert grid.steps(np.array(values, np.float64)).tolist() == expected
    assert grid.steps(values).tolist() == expected


@given(st.lists(st.floats(width=32), max_size=10), st.lists(st.floats(width=16), max_size=10), resolutions)
def test_short_floats_too(singles, halves, resolution):
    grid = Grid(resolution)
    for values, kind in ((singles, np.float32), (halves, np.float16)):
        expected = [floor_by_rule(exact(value), grid.resolution) for value in values]
        assert grid.steps(np.array(values, kind)).tolist() == expected


@given(st.data(), st.sampled_from(["int8", "uint8", "int16", "uint32", "int64", "uint64"]), resolutions)
def test_integers_of_any_dtype(data, dtype, resolution):
    info, grid = np.iinfo(dtype), Grid(resolution)
    low, high = int(info.min), int(info.max)
    values = [low, high, *data.draw(st.lists(st.integers(low, high), max_size=20))]
    assert grid.steps(np.array(values, dtype)).tolist() == [floor_by_rule(Fraction(v), grid.resolution) for v in values]


@given(
    st.lists(st.fractions() | st.integers() | st.decimals(allow_nan=False, allow_infinity=False), max_size=9),
    resolutions,
)
def test_exact_numbers_of_any_size(values, resolution):
    grid = Grid(resolution)
    assert grid.steps(values).tolist() == [floor_by_rule(Fraction(v), grid.resolution) for v in values]


def test_what_is_not_a_finite_number_has_its_place():
    grid = Grid("1/2")
    odd = [float("nan"), float("inf"), float("-inf"), Decimal("nan"), Decimal("inf"), True, np.float32("nan")]
    assert grid.steps(odd).tolist() == [-LIMIT, LIMIT, -LIMIT, -LIMIT, LIMIT, 2, -LIMIT]
    huge = [Decimal("sNaN"), Decimal("-inf"), Decimal("1e999999"), Decimal("-1e999999"), Decimal("-1e-999999")]
    assert grid.steps(huge).tolist() == [-LIMIT, -LIMIT, LIMIT, -LIMIT, -1]


def test_a_float_means_its_exact_value():
    # 0.3 is a little below 3/10 and 0.1 + 0.2 a little above.
    assert Grid("1/10").steps([0.3, 0.1 + 0.2]).tolist() == [2, 3]


@pytest.mark.parametrize("values", ["12", b"12", 12, None, {1, 2}])
def test_values_must_come_in_a_row(values):
    with pytest.raises(lb.ParameterError, match="sequence of numbers"):
        Grid(1).steps(values)


def test_a_value_of_another_kind_is_refused_without_being_shown():
    with pytest.raises(lb.ParameterError) as refused:
        Grid(1).steps(["secret"])
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(("resolution", "use"), [("2/3", "1/3"), ("3", "1"), ("3/10", "1/10")])
def test_a_resolution_must_divide(resolution, use):
    with pytest.raises(lb.ParameterError, match=f"Use resolution={use}") as refused:
        Grid(resolution).count(Fraction(1), "sensitivity")
    assert "must divide sensitivity" in str(refused.value)
    assert Grid(use).count(Fraction(1), "sensitivity") == 1 / Fraction(use)


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="long double is no longer than double here")
def test_long_doubles_are_read_to_their_last_bit() -> None:
    # Rounded to float64 first, the one just below 1 would step up to 1 and stand two steps from the one below 0.
    tiny = np.longdouble(2) ** -64
    values = np.array([[1 - tiny, -tiny], [np.longdouble("nan"), np.longdouble("1e4000")]])
    expected = [0, -1, -LIMIT, LIMIT]
    assert Grid().steps(values).tolist() == expected
    assert Grid().steps(list(values.flat)).tolist() == expected
    assert Grid().total(values, -5, 7) == 0 - 1 - 5 + 7


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=60))
def test_the_highest_is_found_whatever_the_bits(bits):
    values = np.array(bits, np.uint64).view(np.float64)
    found = highest(values)
    numbers = [value for value in values.tolist() if not isnan(value)]
    assert len(found) == 1
    assert found[0] == max(numbers) if numbers else isnan(found[0])


def test_the_highest_of_more_than_a_block():
    values = np.full((1 << 18) + 5, -7.5)
    values[3], values[-1] = np.nan, -2.5
    assert highest(values).tolist() == [-2.5]
    assert highest(np.arange(5)).tolist() == [4]


def test_a_list_that_a_value_of_its_own_changes_is_not_read_on() -> None:
    class Clearing(Fraction):
        @property
        def numerator(self) -> int:
            values.clear()
            return 1

    values = [Clearing(1), 2, 3]
    with pytest.raises(RuntimeError, match=r"^the list changed while it was read\. Nothing was drawn\.$"):
        Grid().steps(values)


def test_a_list_that_changes_when_a_value_of_its_own_ends_is_not_read_on() -> None:
    class Last(Fraction):
        @property
        def numerator(self) -> int:
            values[0] = 1
            return 1

        def __del__(self) -> None:
            values.clear()

    # The list has its length when the first value is read, and nothing in it once the second one is.
    values = [Last(1), 2, 3]
    with pytest.raises(RuntimeError, match=r"^the list changed while it was read\. Nothing was drawn\.$"):
        Grid().steps(values)


def test_only_lists_and_tuples_are_packed() -> None:
    for values in (np.array([1, 2]), "12", {1, 2}, range(3)):
        with pytest.raises(TypeError, match="a list or a tuple"):
            _floors.packed(values)


@pytest.mark.parametrize("resolution", ["1", "3", "1/10", "7/3", "1/3", Fraction(1, 10**17), Fraction(10**9, 7)])
def test_arrays_of_steps_are_their_values_or_the_nearest_floats(resolution: Any) -> None:
    grid = Grid(resolution)
    for places in ([], [0], [-1, 1, 3, 10**6], [(1 << 53) - 1, -(1 << 53)], [(1 << 63) - 1, -(1 << 63)], [1 << 80, 5]):
        steps = np.array(places, object if max(places, default=0) >> 63 else np.int64)
        array = grid.array(steps)
        values = grid.values(places)
        if grid.denominator == 1:
            assert array.tolist() == [int(value) for value in values]
        else:
            assert array.dtype == np.float64
            assert array.tolist() == [float(value) for value in values]
