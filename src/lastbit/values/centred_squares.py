"""Sums of squares without rounding: how far the numbers of each group lie from the middle of their bounds."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_HALF: Final = 32
_LOWER: Final = (1 << _HALF) - 1


def add_centred_squares(
    steps: NDArray[np.int64],
    places: NDArray[np.int64],
    groups: int,
    resolution: Fraction,
    bounds: tuple[Fraction, Fraction],
) -> tuple[Fraction, ...]:
    """Return the sum of the squares of the distances from the middle of the bounds, of each of so many groups.

    Numbers are steps of the resolution. Where the lower bound is between two steps, the step above it stands for it.

    >>> bounds = Fraction(0), Fraction(10)
    >>> add_centred_squares(np.array([2, 6, 20]), np.array([0, 0, 1]), 2, Fraction(1, 2), bounds)
    (Fraction(20, 1), Fraction(25, 1))
    """
    low, high = bounds
    # A number is `low` and so many steps above the lowest one, so this is what is taken off to centre it.
    centre = math.ceil(low / resolution) + (high - low) / 2 / resolution
    # The magnitude of -2^63 is 2^63, which 64 bits without a sign hold; so they hold each product of two halves.
    size = np.abs(steps).astype(np.uint64)
    upper, lower = size >> np.uint64(_HALF), size & np.uint64(_LOWER)
    parts = [_add_by_group(part, places, groups) for part in (upper * upper, upper * lower, lower * lower)]
    sums, numbers = _add_by_group(steps, places, groups), np.bincount(places, minlength=groups).tolist()
    squares = ((a << 2 * _HALF) + (2 * b << _HALF) + c for a, b, c in zip(*parts, strict=True))
    return tuple(
        resolution**2 * (square - 2 * centre * total + n * centre**2)
        for square, total, n in zip(squares, sums, numbers, strict=True)
    )


def _add_by_group(column: NDArray[Any], places: NDArray[np.int64], groups: int) -> list[int]:
    """Return the sum of each group, in two halves so that nothing overflows."""
    kind, halves = column.dtype.type, np.zeros((2, groups), np.int64)
    for row, part in zip(halves, (column >> kind(_HALF), column & kind(_LOWER)), strict=True):
        np.add.at(row, places, part.astype(np.int64))
    return [(upper << _HALF) + lower for upper, lower in halves.T.tolist()]
