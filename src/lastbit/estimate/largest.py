"""The largest magnitude a statistic of bounded records can have: what to put as `bounds` of a `Snapping` (its B')."""

from __future__ import annotations

from fractions import Fraction

from lastbit.exact.numbers import Number, whole
from lastbit.values.statistic import span

Bounds = tuple[Number, Number]


def largest_mean(bounds: Bounds) -> Fraction:
    """The largest |mean| of records within bounds.

    >>> largest_mean((-3, 2))
    Fraction(3, 1)
    """
    return max(map(abs, span(bounds)))


def largest_variance(bounds: Bounds, n: int) -> Fraction:
    """The largest sample variance (over n - 1) of n records within bounds: half of them at either end.

    For odd n the print has one record in the middle, which is not the most: the halves differ by one record instead.

    >>> largest_variance((0, 1), 4), largest_variance((0, 1), 3)
    (Fraction(1, 3), Fraction(1, 3))
    """
    return largest_covariance(bounds, bounds, n)


def largest_covariance(bounds: Bounds, others: Bounds, n: int) -> Fraction:
    """The largest |sample covariance| (over n - 1) of n pairs of records, each within its bounds.

    >>> largest_covariance((0, 1), (0, 10), 5)
    Fraction(3, 1)
    """
    (a, b), (c, d) = span(bounds), span(others)
    n = whole(n, "n", least=2)
    # With k of n pairs at the upper ends the covariance is k·(n-k)/(n·(n-1)) of the product of the widths.
    return (b - a) * (d - c) * (n // 2) * (n - n // 2) / (n * (n - 1))


def largest_count(n: int) -> int:
    """The largest count of a histogram of n records.

    >>> largest_count(100)
    100
    """
    return whole(n, "n")
