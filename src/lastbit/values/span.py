"""Public bounds: a lower and an upper number."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from lastbit.errors import ParameterError
from lastbit.exact.numbers import number


def span(bounds: object) -> tuple[Fraction, Fraction]:
    """Public bounds as exact numbers, the lower below the upper.

    >>> span((0, "1/2"))
    (Fraction(0, 1), Fraction(1, 2))
    """
    if not isinstance(bounds, Sequence) or isinstance(bounds, str) or len(bounds) != 2:
        raise ParameterError("bounds must be a pair (lower, upper) of numbers, known without looking at the data.")
    lower, upper = number(bounds[0], "the lower bound"), number(bounds[1], "the upper bound")
    if lower >= upper:
        raise ParameterError(f"bounds must rise: got lower {lower} and upper {upper}. Write bounds=(lower, upper).")
    return lower, upper
