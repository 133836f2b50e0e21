"""Numbers on a grid between two ends: the three ways of flooring steps of another grid are one rule."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from lastbit.values import clamped
from lastbit.values.clamped import clamp_numbers, clamp_steps
from lastbit.values.grid import Grid

FINE = [Fraction(1), Fraction(1, 1 << 10), Fraction(1, 1 << 17), Fraction(1, 3**30), Fraction(3, 7)]


@pytest.mark.parametrize("resolution", ["1", "1/100", "3/7", "1/1048576", "7"])
@pytest.mark.parametrize("fine", FINE, ids=str)
@pytest.mark.parametrize("reach", [9, 10**12, 10**18])
@pytest.mark.parametrize("floored", [0, 3])
def test_steps_are_floored_by_one_rule(resolution: str, fine: Fraction, reach: int, floored: int) -> None:
    grid = Grid(resolution)
    near = [step + by for step in (0, 1 << 20, 10**9, 1 << 50, (1 << 60) - 4) for by in (-3, -1, 0, 1, 2, 4)]
    steps = [*near, *(-step for step in near)]
    exact = []
    for step in steps:
        highest = (step + floored) * fine / grid.resolution
        # One that may be at a step of the grid is at that step; one that is so far below it for certain is not.
        floor = highest.numerator // highest.denominator - (floored > 0 and highest.denominator == 1)
        exact.append(max(-reach, min(reach, floor)))
    assert clamp_steps(np.array(steps), fine, floored * fine, grid, -reach, reach).tolist() == exact


@pytest.mark.parametrize("missing", [None, 2])
@pytest.mark.parametrize("resolution", ["1", "1/10", "1/8"])
def test_parts_of_an_array_are_clamped_as_the_whole(
    missing: int | None, resolution: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    floats = np.array([0.3, np.nan, -9.0, 1e30, 0.7, np.nan, np.nan, 0.1 + 0.2, -0.0])
    whole = np.arange(-4, 5), np.arange(9, dtype=np.uint8)
    arrays = [floats, floats.astype(np.float32), *whole, [*floats.tolist(), "?"]]
    at_once = [clamp_numbers(values, Grid(resolution), -3, 9, missing) for values in arrays]
    monkeypatch.setattr(clamped, "_BLOCK", 2)
    for values, steps in zip(arrays, at_once, strict=True):
        by_parts = clamp_numbers(values, Grid(resolution), -3, 9, missing)
        assert by_parts.dtype == np.int64
        assert by_parts.tolist() == steps.tolist()
