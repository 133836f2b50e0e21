"""Cells proportional to powers of a rate: cell i has length r^e(i) over the sum of all, in the order given.

Nobody needs all bits of these weights. `Powers.cell` first brackets the interval with bounds of the running sum, in
fixed point. Only boundaries that fixed point leaves in doubt are compared exactly, as the sign of a sum of powers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from lastbit.chance.inversion import Bounds, power
from lastbit.privacy.rate import Rate

CHUNK: Final = 1 << 13
"""Exponents in hand at a time."""

Terms = list[tuple[int, int]]
"""Pairs (d, a), d rising and no a zero: the sum of all a·r^d."""


class Exponents(Protocol):
    """An int64 array, or anything that has a length and a minimum and whose slices are int64 arrays."""

    def __len__(self) -> int: ...

    def min(self) -> Any:
        """The smallest of them."""
        ...

    def __getitem__(self, part: slice, /) -> NDArray[np.int64]: ...


@dataclass(frozen=True, eq=False)
class Powers:
    """Cells proportional to r^e. Only differences between exponents matter, so any int64 will do.

    >>> Powers(Rate(1, 1), np.array([0, 1])).cell(2, 2), Powers(Rate(1, 1), np.array([0, 1])).cell(3, 2)
    (None, 1)
    """

    rate: Rate
    exponents: Exponents

    def chunks(self) -> Iterator[NDArray[np.int64]]:
        """The exponents, a bounded number at a time."""
        return (self.exponents[start : start + CHUNK] for start in range(0, len(self.exponents), CHUNK))

    @cached_property
    def least(self) -> int:
        """The smallest exponent: that of the heaviest cell."""
        return int(self.exponents.min())

    @cached_property
    def relative(self) -> tuple[int, ...]:
        """The exponents less the smallest."""
        exponents = [exponent for chunk in self.chunks() for exponent in chunk.tolist()]
        least = min(exponents)
        return tuple([exponent - least for exponent in exponents])

    @cached_property
    def _key(self) -> tuple[Rate, bytes]:
        # Differences from the smallest lie below 2^64, so wrapping tells them apart. An auditor asks on every branch.
        return self.rate, b"".join([(chunk - self.least).tobytes() for chunk in self.chunks()])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Powers) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def cell(self, u: int, bits: int) -> int | None:
        """The cell that holds all of [u, u+1)/2^bits, or None when the interval meets more than one."""
        low, high = self._bracket(u, bits)
        # The cell of u/2^bits is how many boundaries are at or below it.
        first, beyond = low, high + 1
        while beyond - first > 1:
            middle = (first + beyond) // 2
            first, beyond = (middle, beyond) if self._compare(middle, u, bits) <= 0 else (first, middle)
        return first if first == high or self._compare(first + 1, u + 1, bits) >= 0 else None

    @cached_property
    def _groups(self) -> tuple[list[int], NDArray[np.intp], list[int]]:
        """The distinct exponents, rising; which of them each cell has; and how many cells have each."""
        everything = np.concatenate(list(self.chunks()))
        distinct, which, counts = np.unique(everything, return_inverse=True, return_counts=True)
        return [exponent - self.least for exponent in distinct.tolist()], which, counts.tolist()

    def _bracket(self, u: int, bits: int) -> tuple[int, int]:
        """The first and the last cell that the interval may meet, from bounds of the weights in fixed point."""
        distinct, which, counts = self._groups
        precision = bits + 64 + len(which).bit_length()
        bounds, last = [(1 << precision, 1 << precision)], 0
        for exponent in distinct[1:]:
            bounds.append(_times_power(self.rate, exponent - last, precision, bounds[-1]))
            last = exponent
        lower, upper = (sum(count * each[side] for count, each in zip(counts, bounds, strict=True)) for side in (0, 1))
        start, stop = u * lower >> bits, -(-(u + 1) * upper >> bits)
        low = high = below = above = 0
        for start_of_chunk in range(0, len(which) - 1, CHUNK):
            for cell, group in enumerate(which[start_of_chunk : start_of_chunk + CHUNK].tolist(), start_of_chunk + 1):
                below, above = below + bounds[group][0], above + bounds[group][1]
                if above <= start:
                    low = cell
                if below >= stop:
                    return low, high
                high = min(cell, len(which) - 1)
        return min(low, high), high

    def _compare(self, boundary: int, v: int, bits: int) -> int:
        """The sign of B - v/2^bits, where B is the boundary below this cell."""
        distinct, which, counts = self._groups
        before = np.bincount(which[:boundary], minlength=len(distinct)).tolist()
        terms = [(d, (b << bits) - v * c) for d, b, c in zip(distinct, before, counts, strict=True)]
        return sign(self.rate, [term for term in terms if term[1]])


def sign(rate: Rate, terms: Terms) -> int:
    """-1, 0 or 1: the sign of the sum of all a·r^d, exactly, however large the d.

    A sum that is not zero is told from zero at some precision. That would be as long as the largest d is large where a
    leading part cancels exactly and the rest is far away; so such a part is dropped.

    >>> sign(Rate(1, 1), [(0, 1), (1, -2)]), sign(Rate(1, 1), [(0, 1), (1, -2), (10**18, 5)])
    (0, 1)
    """
    if is_zero(rate, terms):
        return 0
    precision = 128
    while True:
        lower, upper = _bounds(rate, terms, precision)
        if lower > 0 or upper < 0:
            return 1 if lower > 0 else -1
        visible = bisect_left(terms, True, key=lambda term: power(rate, term[0] - terms[0][0], precision)[0] == 0)
        if is_zero(rate, terms[:visible]):
            terms = terms[visible:]
        else:
            precision *= 2


def _bounds(rate: Rate, terms: Terms, precision: int) -> Bounds:
    """Bounds of 2^precision times the sum of all a·r^(d - first d), from the far end: one factor for each gap."""
    lower = upper = 0
    last = terms[-1][0]
    for d, a in reversed(terms):
        lower, upper = _times_power(rate, last - d, precision, (lower, upper))
        lower, upper, last = lower + (a << precision), upper + (a << precision), d
    return lower, upper


def _times_power(rate: Rate, exponent: int, precision: int, bounds: Bounds) -> Bounds:
    """Bounds of v·r^exponent from bounds of v, both in units of 2^-precision."""
    lower, upper = bounds
    if exponent * rate.y <= precision:
        factor, shift = rate.x**exponent, exponent * rate.y
        return lower * factor >> shift, -(-upper * factor >> shift)
    near = power(rate, exponent, precision)
    return lower * near[lower < 0] >> precision, -(-upper * near[upper > 0] >> precision)


def is_zero(rate: Rate, terms: Terms) -> bool:
    """Whether the sum of all a·r^d is zero, in integers no longer than the a.

    From the far end: r = x/2^y with x odd, so with d' the next exponent below, a·r^d can only cancel when 2^(y(d-d'))
    divides a; then it is the same as a·x^(d-d')/2^(y(d-d')) at d'.
    """
    carry, last = 0, 0
    for d, a in reversed(terms):
        if carry:
            gap = last - d
            if gap * rate.y >= carry.bit_length() or carry & ((1 << gap * rate.y) - 1):
                return False
            carry = (carry >> gap * rate.y) * rate.x**gap
        carry, last = carry + a, d
    return carry == 0
