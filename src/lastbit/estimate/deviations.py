"""Standard deviations from published sums: what they are, and between which they lie."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

Ends = tuple[Fraction, Fraction]

_FINE: Final = 1 << 20
"""A root is rounded to this part of the largest that a standard deviation can be."""


def root(square: Fraction, step: Fraction, *, up: bool = False) -> Fraction:
    """Return the root of a number, rounded down to a multiple of the step, or up.

    >>> root(Fraction(2), Fraction(1, 10)), root(Fraction(2), Fraction(1, 10), up=True)
    (Fraction(7, 5), Fraction(3, 2))
    >>> root(Fraction(9), Fraction(1), up=True)
    Fraction(3, 1)
    """
    below = math.isqrt(math.floor(square / step**2)) * step
    return below + step if up and below * below < square else below


def find_deviation(squares: Fraction, people: Fraction, mean: Fraction, bounds: Ends) -> Fraction:
    """Return the standard deviation of people with this sum of squares about the middle of the bounds, and this mean.

    Sums with noise may belong to nobody's numbers: then the nearest that can be.

    >>> find_deviation(Fraction(8), Fraction(2), Fraction(4), (Fraction(0), Fraction(8)))
    Fraction(2, 1)
    """
    low, high = bounds
    largest = (high - low) / 2
    variance = squares / people - (mean - (low + high) / 2) ** 2
    return root(max(Fraction(0), min(largest**2, variance)), largest / _FINE)


def bound_deviation(squares: Ends, people: Ends, mean: Ends, bounds: Ends, missing: int = 0) -> Ends:
    """Return the least and the largest standard deviation, where squares, people and mean lie between these ends.

    The mean is that of all people; squares and people are without up to `missing` ones, of any number in the bounds.

    >>> bounds, one = (Fraction(0), Fraction(8)), Fraction(1)
    >>> bound_deviation((8 * one, 18 * one), (2 * one, 2 * one), (4 * one, 4 * one), bounds)
    (Fraction(2, 1), Fraction(3, 1))
    """
    low, high = bounds
    centre, largest = (low + high) / 2, (high - low) / 2
    # Somebody is there: nobody has no standard deviation.
    fewest, most = max(1, math.ceil(people[0])), max(1, math.floor(people[1]))
    far = max(abs(mean[0] - centre), abs(mean[1] - centre))
    near = max(Fraction(0), mean[0] - centre, centre - mean[1])
    # Who is missing adds nothing to the squares at the least, and the square of half the range at the most.
    least = max(Fraction(0), max(Fraction(0), squares[0]) / (most + missing) - far**2)
    highest = min(largest**2, (max(Fraction(0), squares[1]) + missing * largest**2) / (fewest + missing)) - near**2
    step = largest / _FINE
    start = root(min(largest**2, least), step)
    return start, max(start, root(max(Fraction(0), highest), step, up=True))
