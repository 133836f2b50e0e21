"""Public bounds: a lower and an upper number."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from lastbit.errors import ParameterError
from lastbit.exact.numbers import number
from lastbit.values.grid import common

_STEPS: Final = 1 << 8
_MOST: Final = 1 << 40


def default_step(bounds: object) -> Fraction:
    """Return a step that follows the bounds: both are on its grid, and 256 steps or more are between them.

    It divides 1 where that does not take too many steps, so that whole numbers are on the grid.

    >>> default_step((0, 1000)), default_step((0, 10)), default_step(("36.5", "42.3"))
    (Fraction(1, 1), Fraction(1, 32), Fraction(1, 80))
    """
    lower, upper = parse_bounds(bounds)
    alone = common(lower, upper)
    step = common(alone, Fraction(1))
    step = alone if (upper - lower) / step > _MOST else step
    while (upper - lower) / step < _STEPS:
        step /= 2
    return step


def parse_bounds(bounds: object) -> tuple[Fraction, Fraction]:
    """Return public bounds as exact numbers, the lower below the upper.

    >>> parse_bounds((0, "1/2"))
    (Fraction(0, 1), Fraction(1, 2))
    """
    if not isinstance(bounds, Sequence) or isinstance(bounds, str) or len(bounds) != 2:
        raise ParameterError("bounds must be a pair (lower, upper) of numbers, known without looking at the data.")
    lower, upper = number(bounds[0], "the lower bound"), number(bounds[1], "the upper bound")
    if lower >= upper:
        raise ParameterError(f"bounds must rise: got lower {lower} and upper {upper}. Write bounds=(lower, upper).")
    return lower, upper
