"""The exact probability that a query fails the branches tried before, and is reported by one with at least some noise.

The branches of an adaptive sparse vector share the noise Z of the threshold, so their gaps are not independent. Given
Z = z they are: the probability is the sum over all z of P(Z = z) times one factor a branch. Each factor is a constant
plus a power of z on each side of a border, so between borders the product is a sum of powers, and their sum over z is
closed.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from gmpy2 import mpq


class Piece(NamedTuple):
    """A function on the whole numbers from `first` to `last`: constant + coefficient·base^number. None is no end.

    >>> Piece(0, None, Fraction(1), Fraction(-1), Fraction(1, 2)).complement
    Piece(first=0, last=None, constant=Fraction(0, 1), coefficient=Fraction(1, 1), base=Fraction(1, 2))
    """

    first: int | None
    last: int | None
    constant: Fraction
    coefficient: Fraction
    base: Fraction

    @property
    def complement(self) -> Piece:
        """Return 1 less this function."""
        return self._replace(constant=1 - self.constant, coefficient=-self.coefficient)


Factor = tuple[Sequence[Piece], int]
"""A function of z: the pieces of a function of z + this number."""

_Range = tuple[int | None, int | None]


def sum_of_products(factors: Sequence[Factor]) -> Fraction:
    """Return the sum over all whole z of the product of these factors. A factor is 0 where it has no piece.

    >>> half = [Piece(0, None, Fraction(0), Fraction(1), Fraction(1, 2))]
    >>> sum_of_products([(half, 0)]), sum_of_products([(half, 0), (half, -1)])
    (Fraction(2, 1), Fraction(2, 3))
    """
    total = _sum_over(list(factors), (None, None), [])
    return Fraction(int(total.numerator), int(total.denominator))


def _sum_over(factors: Sequence[Factor], within: _Range, choices: list[tuple[Piece, int]]) -> mpq:
    """Return the sum over this range, with one piece chosen for each factor before these."""
    if not factors:
        return _between(within, choices)
    (pieces, offset), *rest = factors
    total = mpq(0)
    for piece in pieces:
        first, last = within
        if piece.first is not None:
            first = piece.first - offset if first is None else max(first, piece.first - offset)
        if piece.last is not None:
            last = piece.last - offset if last is None else min(last, piece.last - offset)
        if first is None or last is None or first <= last:
            total += _sum_over(rest, (first, last), [*choices, (piece, offset)])
    return total


def _between(within: _Range, choices: Sequence[tuple[Piece, int]]) -> mpq:
    """Return the sum where every factor is one piece: a geometric series for each choice of constants and powers."""
    first, last = within
    upward = first is not None
    anchor = first if first is not None else last or 0
    # Every term as its value at the anchor, and the factor by which it changes with each step away from it.
    terms = [(mpq(1), mpq(1))]
    for piece, offset in choices:
        base = mpq(piece.base)
        power = mpq(piece.coefficient) * base ** (anchor + offset)
        ratio = base if upward else 1 / base
        longer = [(value * power, step * ratio) for value, step in terms if power]
        constant = mpq(piece.constant)
        terms = longer + ([(value * constant, step) for value, step in terms] if constant else [])
    if first is None or last is None:
        return sum((value / (1 - step) for value, step in terms), mpq(0))
    count = last - first + 1
    return sum((value * (count if step == 1 else (1 - step**count) / (1 - step)) for value, step in terms), mpq(0))
