"""The grid that the numbers of units are floored to: it follows from public bounds, or from a resolution."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from lastbit.data.weights import Weights
from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, number
from lastbit.values.bounds import parse_bounds
from lastbit.values.grid import Grid
from lastbit.values.missing import Missing, step_of_missing

_FINE: Final = 40
"""The bounds are at most 2^40 steps of the finest grid."""

_COARSEST: Final = 1 << 10
"""Steps are at most so large, so that 64 bits hold every number."""

_FINER: Final = 10
"""Without bounds, the finest grid has at least 2^9 steps to one of the resolution, so that flooring shows nowhere."""

MOST_FLOORED: Final = 4
"""A number is floored by less than so many steps of the finest grid."""

FURTHEST: Final = 1 << 60
"""Rows of a total are clamped at so many steps: a million times as far out as the bounds."""


def missing_step(missing: Missing, grid: Grid, low: int, high: int, bounds: tuple[Fraction, Fraction]) -> int | None:
    """Return the step that a missing number counts as: on a fine grid a number may lie between two steps."""
    try:
        exact = number(missing, "missing")
    except ParameterError:
        return step_of_missing(missing, grid, low, high)
    if bounds[0] <= exact <= bounds[1]:
        return max(low, min(high, math.floor(exact / grid.resolution)))
    raise ParameterError(f"missing must be a number between the bounds: got {missing}. Use one that is.")


def bounded_grid(bounds: tuple[Number, Number], resolution: Number | None) -> tuple[Grid, int, int, bool]:
    """Return the grid, the bounds in its steps, inwards where they are between two steps, and whether they are not."""
    lower, upper = parse_bounds(bounds)
    if resolution is not None:
        grid = Grid(resolution)
        low, high = grid.count(lower, "the lower bound"), grid.count(upper, "the upper bound")
    else:
        furthest = max(abs(lower), abs(upper))
        grid = Grid(Fraction(2) ** (_power(furthest) - _FINE))
        low, high = math.ceil(lower / grid.resolution), math.floor(upper / grid.resolution)
        if low >= high:
            raise ParameterError("bounds must be further apart: between them there are fewer than two numbers to tell.")
    if max(abs(low), abs(high)) > 1 << _FINE or grid.numerator > _COARSEST:
        steps = "" if resolution is None else "at most 2^40 steps of the resolution, and "
        raise ParameterError(
            f"bounds must be {steps}at most 2^50, which is about 10^15. Use bounds nearer to zero: numbers beyond them "
            "are clamped."
        )
    return grid, low, high, (lower, upper) == (low * grid.resolution, high * grid.resolution)


def reach_below_step(bounds: tuple[Number, Number] | None, resolution: Number | None = None) -> Fraction:
    """Return how far below a step a number may lie and yet be taken to be at it, whatever type its column has.

    >>> reach_below_step((0, 100)) == Fraction(1, 2**31)
    True
    """
    grid, *_ = (
        unbounded_grid(1 if resolution is None else resolution) if bounds is None else bounded_grid(bounds, resolution)
    )
    return MOST_FLOORED * grid.resolution


def unbounded_weights(resolution: Number) -> Weights:
    """Return numbers on a grid much finer than a resolution, which are clamped about 10^15 of its steps from zero.

    >>> unbounded_weights(1).grid.resolution
    Fraction(1, 1024)
    """
    grid, low, high, _ = unbounded_grid(resolution)
    return Weights(grid, low, high)


def is_power_of_two(number: int) -> bool:
    """Return whether a whole number is a power of two.

    >>> [number for number in range(1, 9) if is_power_of_two(number)]
    [1, 2, 4, 8]
    """
    return number & (number - 1) == 0


def unbounded_grid(resolution: Number) -> tuple[Grid, int, int, bool]:
    """Return a grid much finer than a resolution, and as many of its steps as 64 bits hold with room to spare."""
    step = Grid(resolution).resolution
    grid = Grid(min(Fraction(1), Fraction(2) ** (_power(step) - _FINER)))
    return grid, -FURTHEST, FURTHEST, True


def _power(size: Fraction) -> int:
    """Return the least power of two, by its exponent, that is at or above this size."""
    power = size.numerator.bit_length() - size.denominator.bit_length()
    while Fraction(2) ** power < size:
        power += 1
    return power
