"""Numbers at the ends of what can be written have their place on the grid."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from lastbit.values.grid import Grid

LIMIT = 1 << 61
"""So many steps a value may lie from zero."""


@pytest.mark.parametrize(
    ("value", "step"),
    [
        (Decimal("NaN"), -LIMIT),
        (Decimal("sNaN"), -LIMIT),
        (Decimal("Infinity"), LIMIT),
        (Decimal("-Infinity"), -LIMIT),
        (Decimal("1e999999999"), LIMIT),
        (Decimal("-1e999999999"), -LIMIT),
        (Decimal("1e-999999999"), 0),
        (Decimal("-1e-999999999"), -1),
        (Decimal("0e999999999"), 0),
        (float("nan"), -LIMIT),
        (float("inf"), LIMIT),
        (-5e-324, -1),
    ],
)
def test_extreme_values(value: object, step: int) -> None:
    assert Grid(1).step(value) == step
    assert Grid("1/1024").step(value) == step


@pytest.mark.parametrize("resolution", [1, "1/2", "1/1024", 3, Fraction(1, 1 << 1030), 1 << 200])
def test_arrays_and_single_values_agree(resolution: object) -> None:
    values = [0.0, -0.0, 0.3, -0.3, 1.5, -1.5, 1e17, -1e17, 1e300, -1e300, 5e-324, -5e-324, 2.0**61, -(2.0**61)]
    values += [float("nan"), float("inf"), float("-inf"), 123456.789, float(2**61 + 2**10)]
    grid = Grid(resolution)
    for kind in (np.float64, np.float32, np.float16):
        with np.errstate(over="ignore"):
            array = np.array(values, kind)
        assert grid.steps(array).tolist() == [grid.step(float(value)) for value in array]
    whole = [0, 1, -1, 2**61 - 1, 2**61, 2**61 + 1, 2**63 - 1, -(2**61) - 1, -(2**63)]
    assert grid.steps(np.array(whole)).tolist() == [grid.step(value) for value in whole]


def test_beyond_is_what_flooring_drops() -> None:
    grid = Grid("1/10")
    for value in (0.3, Fraction(1, 3), Decimal("-0.25"), 7):
        step = grid.step(value)
        assert (step + grid.beyond(value, step)) * grid.resolution == Fraction(value)
    for value in (float("nan"), float("inf"), 1e300):
        assert grid.beyond(value, grid.step(value)) == 0
