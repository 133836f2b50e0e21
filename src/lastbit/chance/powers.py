"""Cells proportional to powers of a rate: cell i has length r^e(i) over the sum of all, in the order given.

A cell may count several times, as a class of outcomes that are equally good: then its length is m(i)·r^e(i), for whole
m(i) of any size.

Nobody needs all bits of these weights. `Powers.cell` first brackets the interval with bounds of the running sum, in
fixed point. Only boundaries that fixed point leaves in doubt are compared exactly, as the sign of a sum of powers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, repeat
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

    @property
    def dtype(self) -> Any:
        """The type of the exponents, int64."""
        ...

    def __len__(self) -> int: ...

    def min(self) -> Any:
        """Return the smallest exponent."""
        ...

    def __getitem__(self, part: slice, /) -> NDArray[np.int64]: ...


class Sizes(ABC):
    """Multiplicities of any size that are computed where they are asked for: of many cells only a few can matter."""

    @property
    @abstractmethod
    def total(self) -> int:
        """At least the sum of all of them."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def part(self, first: int, beyond: int) -> tuple[int, ...]:
        """Return those of some cells, from the first one on."""

    def __iter__(self) -> Iterator[int]:
        return iter(self.part(0, len(self)))


Multiplicities = NDArray[np.int64] | tuple[int, ...] | Sizes
"""How often each cell counts: an array where all together are below 2^63; where they may be larger, a tuple, or sizes
that are computed where they are asked for."""


class PowerSums(ABC):
    """Cells whose boundaries are sums of powers: bounds of the sums bracket a cell, and signs of sums decide."""

    def cell(self, u: int, bits: int) -> int | None:
        """Return the cell that holds all of [u, u+1)/2^bits, or None when the interval meets more than one."""
        low, high = self._bracket(u, bits)
        # The cell of u/2^bits is how many boundaries are at or below it.
        first, beyond = low, high + 1
        while beyond - first > 1:
            middle = (first + beyond) // 2
            first, beyond = (middle, beyond) if self._compare(middle, u, bits) <= 0 else (first, middle)
        return first if first == high or self._compare(first + 1, u + 1, bits) >= 0 else None

    @abstractmethod
    def _bracket(self, u: int, bits: int) -> tuple[int, int]:
        """Return the first and the last cell that the interval may meet, from bounds in fixed point."""

    @abstractmethod
    def _compare(self, boundary: int, v: int, bits: int) -> int:
        """Return the sign of B - v/2^bits, where B is the boundary below this cell."""


@dataclass(frozen=True, eq=False)
class Powers(PowerSums):
    """Cells proportional to r^e, or to m·r^e. Only differences between exponents matter, so any int64 will do.

    >>> Powers(Rate(1, 1), np.array([0, 1])).cell(2, 2), Powers(Rate(1, 1), np.array([0, 1])).cell(3, 2)
    (None, 1)
    >>> Powers(Rate(1, 1), np.array([0, 1]), np.array([1, 2])).cell(1, 1)
    1
    >>> Powers(Rate(1, 1), np.array([0, 1000]), (1, 1 << 1000)).cell(1, 1)
    1
    """

    rate: Rate
    exponents: Exponents
    multiplicities: Multiplicities | None = None
    """m: whole, 0 too, some of them positive. None where every cell counts once."""

    def chunks(self) -> Iterator[NDArray[np.int64]]:
        """Return the exponents, a bounded number at a time."""
        return (self.exponents[start:stop] for start, stop in pairwise(self.cuts))

    @cached_property
    def cuts(self) -> tuple[int, ...]:
        """Where the chunks begin, and the end: their lengths differ by one at most, so that time tells of none."""
        n = len(self.exponents)
        count = -(-n // CHUNK)
        return tuple([n * i // count for i in range(count + 1)])

    @cached_property
    def least(self) -> int:
        """The smallest exponent of all cells that have a length."""
        if self.multiplicities is None:
            return int(self.exponents.min())
        exponents, has_length = self.exponents[0 : len(self.exponents)], self._has_length
        return int(np.min(exponents, where=has_length, initial=np.iinfo(np.int64).max))

    @cached_property
    def total(self) -> int:
        """The sum of all multiplicities, how many outcomes there are; or more, of sizes that are not computed."""
        if self.multiplicities is None:
            return len(self.exponents)
        if isinstance(self.multiplicities, Sizes):
            return self.multiplicities.total
        return sum(self.multiplicities) if isinstance(self.multiplicities, tuple) else total(self.multiplicities)

    @cached_property
    def _has_length(self) -> NDArray[np.bool_]:
        """Whether each cell has a length, where there are multiplicities."""
        if isinstance(self.multiplicities, np.ndarray):
            return self.multiplicities > 0
        return np.array([times > 0 for times in self._multiplicity_list])

    @cached_property
    def relative(self) -> tuple[int, ...]:
        """The exponents less the smallest."""
        exponents = [exponent for chunk in self.chunks() for exponent in chunk.tolist()]
        least = min(exponents)
        return tuple([exponent - least for exponent in exponents])

    @cached_property
    def _key(self) -> tuple[Rate, bytes, bytes]:
        # Differences from the smallest lie below 2^64, so wrapping tells them apart. An auditor asks on every branch.
        times = b"" if self.multiplicities is None else repr(self._multiplicity_list).encode()
        return self.rate, b"".join([(chunk - self.least).tobytes() for chunk in self.chunks()]), times

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Powers) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _groups(self) -> tuple[list[int], NDArray[np.intp], list[int]]:
        """The distinct exponents, rising; which of them each cell has; and how often each counts."""
        everything = np.concatenate(list(self.chunks()))
        if self.multiplicities is not None:
            # A cell of no length may have any exponent.
            everything = np.where(self._has_length, everything, self.least)
        distinct, which = np.unique(everything, return_inverse=True)
        relative = [exponent - self.least for exponent in distinct.tolist()]
        return relative, which, self._count_groups(which, len(relative))

    def _count_groups(self, which: NDArray[np.intp], groups: int) -> list[int]:
        """Count how often each distinct exponent occurs in the first cells; `which` is the exponent of each cell."""
        if self.multiplicities is None:
            return list(np.bincount(which, minlength=groups).tolist())
        times = [0] * groups
        for group, often in zip(which.tolist(), self._multiplicity_list, strict=False):
            times[group] += often
        return times

    @cached_property
    def _multiplicity_list(self) -> list[int]:
        """The multiplicities as Python's integers; 1 for each cell where there are none."""
        if self.multiplicities is None:
            return [1] * len(self.exponents)
        return list(map(int, self.multiplicities))

    def _bracket(self, u: int, bits: int) -> tuple[int, int]:
        """Return the first and the last cell that the interval may meet, from bounds of the weights in fixed point."""
        distinct, which, counts = self._groups
        precision = bits + 64 + self.total.bit_length()
        bounds, last = [(1 << precision, 1 << precision)], 0
        for exponent in distinct[1:]:
            bounds.append(_times_power(self.rate, exponent - last, precision, bounds[-1]))
            last = exponent
        pairs = list(zip(counts, bounds, strict=True))
        lower, upper = (sum(count * bound[side] for count, bound in pairs) for side in (0, 1))
        start, stop = u * lower >> bits, -(-(u + 1) * upper >> bits)
        low = high = below = above = 0
        for start_of_chunk in range(0, len(which) - 1, CHUNK):
            part = slice(start_of_chunk, start_of_chunk + CHUNK)
            often = repeat(1) if self.multiplicities is None else self._multiplicity_list[part]
            for cell, (group, times) in enumerate(zip(which[part].tolist(), often, strict=False), start_of_chunk + 1):
                below, above = below + times * bounds[group][0], above + times * bounds[group][1]
                if above <= start:
                    low = cell
                if below >= stop:
                    return low, high
                high = min(cell, len(which) - 1)
        return min(low, high), high

    def _compare(self, boundary: int, v: int, bits: int) -> int:
        """Return the sign of B - v/2^bits, where B is the boundary below this cell."""
        distinct, which, counts = self._groups
        before = self._count_groups(which[:boundary], len(distinct))
        terms = [(d, (b << bits) - v * c) for d, b, c in zip(distinct, before, counts, strict=True)]
        return sign(self.rate, [term for term in terms if term[1]])


def total(multiplicities: NDArray[np.int64]) -> int:
    """Return the sum of whole numbers that are not negative, exactly: by halves where it might overflow.

    >>> total(np.array([1 << 62, 1 << 62])) == 1 << 63
    True
    """
    # A sum of floats is off by far less than half of itself.
    if multiplicities.sum(dtype=np.float64) < 1 << 62:
        return int(multiplicities.sum())
    return (int((multiplicities >> 32).sum()) << 32) + int((multiplicities & 0xFFFFFFFF).sum())


def sign(rate: Rate, terms: Terms) -> int:
    """Return -1, 0 or 1: the sign of the sum of all a·r^d, exactly, however large the d.

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
    """Return bounds of 2^precision times the sum of all a·r^(d - first
    d), from the far end: one factor for each gap.
    """
    lower = upper = 0
    last = terms[-1][0]
    for d, a in reversed(terms):
        lower, upper = _times_power(rate, last - d, precision, (lower, upper))
        lower, upper, last = lower + (a << precision), upper + (a << precision), d
    return lower, upper


def _times_power(rate: Rate, exponent: int, precision: int, bounds: Bounds) -> Bounds:
    """Return bounds of v·r^exponent from bounds of v, both in units of 2^-precision."""
    lower, upper = bounds
    if exponent * rate.y <= precision:
        factor, shift = rate.x**exponent, exponent * rate.y
        return lower * factor >> shift, -(-upper * factor >> shift)
    near = power(rate, exponent, precision)
    return lower * near[lower < 0] >> precision, -(-upper * near[upper > 0] >> precision)


def is_zero(rate: Rate, terms: Terms) -> bool:
    """Return whether the sum of all a·r^d is zero, in integers no longer than the a.

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
