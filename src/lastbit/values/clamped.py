"""One number for each person, floored to a grid and clamped, by a public rule that takes every value."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np

from lastbit.errors import ParameterError
from lastbit.values.grid import LIMIT, Grid, Steps
from lastbit.values.known import Known
from lastbit.values.missing import floats_among, missing_among, numbers_of

_BLOCK: Final = 1 << 14
"""Numbers in hand at a time. Arrays twice as long would be new memory each time, which is slow."""


def clamp_numbers(values: Any, grid: Grid, low: int, high: int, missing: int | None) -> Steps:
    """Return numbers in steps of a grid between two ends, in their order;
    a missing one is at a step, or left out where None.

    >>> clamp_numbers([0.3, None, 99], Grid("1/10"), 0, 50, None).tolist()
    [3, 50]
    """
    return clamp_flat(flatten_numbers(values), grid, low, high, missing)


def clamp_flat(numbers: Any, grid: Grid, low: int, high: int, missing: int | None) -> Steps:
    """Return what `clamp_numbers` does, of what `flatten_numbers` gives: always a new array."""
    if len(numbers) <= _BLOCK:
        return _clamp_block(numbers, grid, low, high, missing)
    steps, filled = np.empty(len(numbers), np.int64), 0
    for block in clamp_blocks(numbers, grid, low, high, missing):
        steps[filled : filled + len(block)] = block
        filled += len(block)
    return steps[:filled]


def flatten_numbers(values: Any) -> Any:
    """Return one number for each person as `numbers_of` does: a flat array, or a list."""
    if isinstance(values, Known):
        raise ParameterError(
            f"values must be one number for each person: got {type(values).__name__}. Nothing was drawn."
        )
    return numbers_of(values)


def clamp_blocks(numbers: Any, grid: Grid, low: int, high: int, missing: int | None) -> Iterator[Steps]:
    """Yield what `clamp_numbers` returns, part by part: memory that stays in the caches is many times as quick."""
    for start in range(0, max(len(numbers), 1), _BLOCK):
        yield _clamp_block(numbers[start : start + _BLOCK], grid, low, high, missing)


def _clamp_block(numbers: Any, grid: Grid, low: int, high: int, missing: int | None) -> Steps:
    steps = grid.steps(numbers)
    # A kernel returns an array of its own.
    np.clip(steps, low, high, out=steps)
    may_be_floats = not (isinstance(numbers, np.ndarray) and numbers.dtype.kind in "biu")
    if not may_be_floats:
        return steps
    if grid.denominator & (grid.denominator - 1):
        # No float is at a step such as 3/10. The float nearest to it, which may lie below, stands for the step.
        floats, above = floats_among(numbers), steps + 1
        np.minimum(above, high, out=above)
        near = np.true_divide(above if grid.numerator == 1 else above * grid.numerator, grid.denominator)
        near = near.astype(floats.dtype, copy=False)
        np.copyto(steps, above, where=floats >= near)
    unknown = missing_among(numbers)
    return steps[~unknown] if missing is None else np.where(unknown, missing, steps)


def clamp_steps(steps: Steps, resolution: Fraction, floored: Fraction, grid: Grid, low: int, high: int) -> Steps:
    """Return numbers that are whole steps of another grid, floored to steps of this one between two ends.

    `floored`, in whole steps of the other grid, says how far below the exact number each of them may lie: one that may
    be at a step of this grid is at that step, so that 0.3 is not floored twice, to 0.2.

    >>> clamp_steps(np.array([3, 900]), Fraction(1, 8), Fraction(0), Grid("1/10"), 0, 100).tolist()
    [3, 100]
    >>> clamp_steps(np.array([3, -900]), Fraction(1, 8), Fraction(0), Grid(10**30), -1, 0).tolist()
    [0, -1]
    """
    ratio = resolution / grid.resolution
    above, below = ratio.numerator, ratio.denominator
    # The ends in steps of the other grid, and one step more. Only public numbers decide whether 64 bits are enough.
    more = (floored / resolution).numerator
    first, last = low * below // above - 1 - more, high * below // above + 1
    less = 1 if more else 0
    if max((max(abs(first), abs(last)) + more) * above, below) < 1 << 62:
        floors: Steps = ((np.clip(steps, first, last) + more) * above - less) // below
    elif max((2 * LIMIT // below + 1) * above, below * above, more) < 1 << 62:
        # Whole ones and the rest apart, as steps lie within ±2^61.
        whole, rest = np.divmod(steps + more, below)
        floors = whole * above + (rest * above - less) // below
    else:
        wide: Any = ((steps.astype(object) + more) * above - less) // below
        floors = np.clip(wide, low, high).astype(np.int64)
    clamped: Steps = np.clip(floors, low, high)
    return clamped
