"""The kernel's floor of floats, against fractions: each value, and their sum."""

import math
import struct
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lastbit.values import _floors
from lastbit.values.grid import Grid

LIMIT = 1 << 61
"""So many steps a value may lie from zero."""

EDGES = [0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, -2.2250738585072014e-308, 0.5, -0.5, 1.0, -1.0]
EDGES += [math.inf, -math.inf, math.nan, -math.nan, 2.0**52, -(2.0**52) - 1, 2.0**53 + 2, -(2.0**61), 2.0**61]
EDGES += [math.nextafter(each, side) for each in (1.0, -1.0, 2.0**26, -(2.0**27), 2.0**35) for side in (-9e99, 9e99)]
EDGES += [1.7976931348623157e308, -1.7976931348623157e308, 0.1, -0.1, 0.3, 2.0**60 + 256, -(2.0**60) - 256]

# Odd part 1, those that leave the product in one word, larger ones, those whose product takes two words.
FACTORS = [1, 2, 1 << 20, 1 << 61, 3, 10, 1000, 3 << 29, 513 << 51, 1023, 1023 << 51]
FACTORS += [1025, 10**6, 1025 << 40, (1 << 32) - 1, (1 << 32) + 1, 1 << 62]
FACTORS += [((1 << 32) + 1) << 28, 10**16, 10**18, (1 << 61) - 1, 5**26]
# Steps so short that the furthest float which is not clamped lies below 1.
FACTORS += [1 << 100, 3 << 80, 1023 << 70, 1025 << 90, 10**19, 10**25, 5**26 << 200, 1 << 999, 1 << 1000, 1 << 1022]
FACTORS += [1 << 1023, 1 << 1100, 3 << 998, 3 << 999, 10**40]

floats = st.integers(0, 2**64 - 1).map(lambda bits: struct.unpack("<d", struct.pack("<Q", bits))[0])
moderate = st.builds(lambda m, e: math.ldexp(m, e), st.integers(-(2**53), 2**53), st.integers(-120, 12))


def exact_step(value: float, resolution: Fraction) -> int:
    if math.isnan(value) or math.isinf(value):
        scaled = LIMIT if value > 0 else -LIMIT
    else:
        scaled = max(-LIMIT, min(LIMIT, math.floor(Fraction(value) * resolution.denominator)))
    return scaled // resolution.numerator


@pytest.mark.parametrize("factor", FACTORS)
def test_edges_are_floored_exactly(factor: int) -> None:
    steps = Grid(Fraction(1, factor)).steps(np.array(EDGES))
    assert steps.tolist() == [exact_step(value, Fraction(1, factor)) for value in EDGES]


@given(st.lists(floats | moderate, max_size=40), st.sampled_from(FACTORS), st.integers(1, 5))
def test_any_floats_are_floored_exactly(values: list[float], factor: int, divisor: int) -> None:
    resolution = Fraction(divisor, factor)
    assert Grid(resolution).steps(np.array(values, float)).tolist() == [exact_step(v, resolution) for v in values]


@given(
    st.lists(floats | moderate, max_size=40),
    st.sampled_from(FACTORS),
    st.integers(1, 3),
    st.lists(st.integers(-LIMIT, LIMIT) | st.integers(-9, 9), min_size=2, max_size=2),
)
def test_totals_are_exact_sums(values: list[float], factor: int, divisor: int, ends: list[int]) -> None:
    resolution, (least, most) = Fraction(divisor, factor), sorted(ends)
    least, most = least // divisor, most // divisor
    expected = sum(max(least, min(most, exact_step(value, resolution))) for value in values)
    assert Grid(resolution).total(np.array(values, float), least, most) == expected
    assert Grid(resolution).total(values, least, most) == expected


def test_a_total_of_many_records_does_not_overflow() -> None:
    records = np.full(600_001, 2.0**60)
    for kind in (np.float64, np.int64):
        assert Grid(1).total(records.astype(kind), -LIMIT, LIMIT) == 600_001 << 60
    assert Grid(1).total(-records[::2], -LIMIT, LIMIT) == -(300_001 << 60)


def test_shorter_floats_mean_their_exact_value() -> None:
    assert Grid("1/10").total(np.array([0.3, -0.3], np.float32), -9, 9) == 3 - 4


@given(st.lists(st.integers(-(2**63), 2**64 - 1), max_size=40), st.sampled_from([*FACTORS, 1 << 63, 1 << 70]))
def test_whole_numbers_are_scaled_exactly(values: list[int], factor: int) -> None:
    for kind in (np.int64, np.uint64, np.int8, np.bool_):
        limits = (0, 1) if kind is np.bool_ else (np.iinfo(kind).min, np.iinfo(kind).max)
        fitting = [max(int(limits[0]), min(int(limits[1]), value)) for value in values]
        expected = [max(-LIMIT, min(LIMIT, value * factor)) for value in fitting]
        assert Grid(Fraction(1, factor)).steps(np.array(fitting, kind)).tolist() == expected


@pytest.mark.parametrize("factor", FACTORS)
def test_bounds_may_be_close_together(factor: int) -> None:
    for least, most in ((0, 0), (0, 1), (-1, 0), (5, 5)):
        total = Grid(Fraction(1, factor)).total(np.array(EDGES), least, most)
        assert total == sum(max(least, min(most, exact_step(value, Fraction(1, factor)))) for value in EDGES)


@given(
    st.sampled_from([*FACTORS, 7, 100, 10**4, 10**9, 999, (1 << 31) + 1]),
    st.lists(st.integers(0, 1000) | st.integers(0, LIMIT), min_size=2, max_size=2),
    st.integers(0, 3),
)
@example(3, [0, 11_276_114_562_032_696], 0)
def test_totals_between_bounds_that_are_not_below_zero(factor: int, ends: list[int], beyond: int) -> None:
    # The floats around the bounds and around whole steps: where clamping first could differ from clamping last.
    least, most = sorted(ends)
    near = [
        float(Fraction(step, factor)) for step in (least, most, least + beyond, max(0, most - beyond), most + beyond)
    ]
    values = [each for value in near for each in (value, math.nextafter(value, 0), math.nextafter(value, math.inf))]
    values += [*EDGES, -near[0], -near[1]]
    expected = sum(max(least, min(most, exact_step(value, Fraction(1, factor)))) for value in values)
    assert Grid(Fraction(1, factor)).total(np.array(values), least, most) == expected


def test_sums_of_wider_steps_are_those_of_single_steps() -> None:
    random = Random(2)
    numerators = [2, 3, 7, 10, 16, 65537, (1 << 31) - 1, 1 << 31, 1 << 40, (1 << 58) + 1]
    add_up = 0
    for numerator in numerators:
        for denominator in (1, 10, 3, 1024, 10**6):
            grid = Grid(Fraction(numerator, denominator))
            for low, width in ((0, 1), (-1, 100), (-100, 0), (5, 1 << 30), (-(1 << 20), 3), (0, 1 << 35)):
                edges = [each * float(grid.resolution) for each in (low, low + 1, low + width, low + width + 1)]
                spread = [random.uniform(-1, 1) * 10.0 ** random.randrange(-3, 15) for _ in range(8)]
                values = [*edges, *spread, math.nan, math.inf, -math.inf, 0.0, -0.0]
                expected = sum(max(low, min(low + width, grid.step(value))) for value in values)
                found = grid.total_of_floats(np.array(values), low, low + width)
                assert found in (None, (expected, 1))
                assert grid.total(np.array(values), low, low + width) == expected
                add_up += found is not None
    assert add_up > 200
    with pytest.raises(ValueError, match="divide the least"):
        _floors.Floor(1, 0, 10, 3, 9, -1, -1).total(np.zeros(1, np.uint64), 2)


@given(
    st.lists(st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(-99, 99), max_size=40),
    st.sampled_from([1, 2, 10, 1 << 20, 10**18]),
    st.lists(st.integers(-LIMIT, LIMIT) | st.integers(-9, 9), min_size=2, max_size=2),
)
def test_totals_of_whole_numbers_are_exact_sums(values: list[int], factor: int, ends: list[int]) -> None:
    least, most = sorted(ends)
    scaling = Grid(Fraction(1, factor)).scaling(np.array(values, np.int64))
    assert scaling is not None
    steps = [max(least, min(most, value * factor)) for value in values]
    assert _floors.total(np.array(values, np.int64), *scaling, least, most) == sum(steps)
