"""The one primitive: a uniform real U, revealed 64 bits at a time until it lies inside one cell.

A partition cuts [0, 1) into cells at exact real numbers. The words read so far say u/2^bits <= U < (u+1)/2^bits;
when that interval meets one cell only, the draw is decided, otherwise it reads one more word. Nothing is
rounded, so a cell is hit with exactly its length.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Protocol

from gmpy2 import mpz

from lastbit.privacy.rate import Rate

Bounds = tuple[int, int]
"""Integers (lower, upper) around 2^bits · v; equal exactly when 2^bits · v is known to be that integer."""


class Partition(Protocol):
    """A way of cutting [0, 1) into numbered cells."""

    def cell(self, u: int, bits: int) -> int | None:
        """Return the cell that holds all of [u, u+1)/2^bits, or None when the interval meets more than one."""
        ...


def resolve(partition: Partition, u: int, bits: int, read: Callable[[], int]) -> int:
    """Find the cell that U lies in, from its first bits; read further words only while they do not decide."""
    while (cell := partition.cell(u, bits)) is None:
        u, bits = (u << 64) | read(), bits + 64
    return cell


@dataclass(frozen=True)
class Uniform:
    """Cells of equal length in rising order: the cell is ⌊U·n⌋.

    >>> Uniform(6).cell(1 << 63, 64)
    3
    """

    n: int

    def cell(self, u: int, bits: int) -> int | None:
        """Return ⌊U·n⌋ where it is the same at both ends of the interval."""
        first, last = u * self.n >> bits, ((u + 1) * self.n - 1) >> bits
        return first if first == last else None


@dataclass(frozen=True)
class Spans:
    """Cells of whole lengths on 0, …, size-1: a cell is named by the position where it begins.

    `span` says where the cell begins and ends that holds a position. So nobody lists the cells.

    >>> Spans(6, lambda position: (0, 4) if position < 4 else (4, 6)).cell(1 << 62, 64)
    0
    """

    size: int
    span: Callable[[int], tuple[int, int]]

    def cell(self, u: int, bits: int) -> int | None:
        """Return the cell that both ends of the interval lie in."""
        start, end = self.span(u * self.size >> bits)
        return start if ((u + 1) * self.size - 1) >> bits < end else None

    def lengths(self) -> Iterator[tuple[int, int]]:
        """Yield every cell and its length."""
        position = 0
        while position < self.size:
            start, position = self.span(position)
            yield start, position - start


@dataclass(frozen=True)
class Weighted:
    """Cells proportional to exact weights, in their order: weights (2, 1) put cell 0 on U < 2/3."""

    cumulative: tuple[int, ...]

    @classmethod
    def of(cls, weights: Sequence[int | Fraction]) -> Weighted:
        """Bring the weights over one denominator, which leaves their ratios alone."""
        common = math.lcm(*{weight.denominator for weight in weights})
        if common == 1:
            return cls(tuple(accumulate(map(int, weights))))
        return cls(tuple(accumulate([weight.numerator * (common // weight.denominator) for weight in weights])))

    def cell(self, u: int, bits: int) -> int | None:
        """Return the cell that both ends of the interval lie in."""
        total = self.cumulative[-1]
        first = bisect_right(self.cumulative, u * total >> bits)
        last = bisect_right(self.cumulative, ((u + 1) * total - 1) >> bits)
        return first if first == last else None


class Falling(ABC):
    """Cells numbered downwards in U by a survival function: the cell is the largest j with U < S(j).

    S(j) is given for `first` < j <= `last` (None where there is no end). S is 1 at `first` and 0 past `last`.
    """

    first: int | None
    last: int | None

    @property
    def guard(self) -> int:
        """How many bits more than a floor has its first bounds have."""
        return 64

    @abstractmethod
    def bounds(self, j: int, bits: int) -> Bounds:
        """Return bounds of 2^bits · S(j), which close in on it as the bits grow."""

    def floor(self, j: int, bits: int) -> tuple[int, bool]:
        """Return ⌊2^bits · S(j)⌋, and whether S(j) is exactly that over 2^bits.

        The loop ends: S(j) is over a power of two only for the geometric, whose bounds are then equal; the others have
        an odd denominator above 1 (r is in lowest terms), or are irrational. `Truncated` knows when that could take
        for ever.
        """
        guard = self.guard
        while True:
            lower, upper = self.bounds(j, bits + guard)
            # S(j) is above 0 and below 1, however little: bounds beyond that are off by their error.
            low, high = max(0, lower >> guard), min((1 << bits) - 1, upper >> guard)
            if low == high:
                return low, lower == upper and lower & ((1 << guard) - 1) == 0
            guard *= 2

    def cell(self, u: int, bits: int) -> int | None:
        """Find the cell that holds the interval: by doubling steps from a guess, then by halving."""
        # Invariant: U < S(low) for certain, U >= S(high) for certain. A straddled S(j) on the way settles it.
        low, high, stride = self.first, None if self.last is None else self.last + 1, 1
        j = self.guess(u, bits)
        while low is None or high is None or high - low > 1:
            if low is not None and high is not None and not low < j < high:
                j = (low + high) // 2
            threshold, exact = self.floor(j, bits)
            if u == threshold and not exact:
                return None
            if u < threshold:
                low, j = j, j + stride
            else:
                high, j = j, j - stride
            stride *= 2
        return low

    def guess(self, u: int, bits: int) -> int:
        """Return the j to look at first: any will do, and near the cell is quicker."""
        return 1 if self.first is None else self.first + 1


class Line(Falling):
    """A survival function that is a line in a power: S(j) = offset + factor·R^|j| with R = r^stride."""

    rate: Rate
    stride: int

    @abstractmethod
    def line(self, negative: bool, bits: int) -> tuple[Bounds, Bounds]:
        """Return bounds of 2^bits · factor and of 2^bits · offset, for j < 0 or for j >= 0."""

    def guess(self, u: int, bits: int) -> int:
        """Return where the line meets the middle of the interval, in floats: they choose a place, the bounds decide."""
        try:
            guess = int(self.crossing((2 * u + 1) / (2 << bits), _loss(self.rate) * self.stride))
        except (OverflowError, ValueError, ZeroDivisionError):
            return super().guess(u, bits)
        return guess if self.first is None else max(guess, self.first + 1)

    @abstractmethod
    def crossing(self, share: float, loss: float) -> float:
        """Return the j with S(j) = share, for R = e^-loss."""

    @property
    def guard(self) -> int:
        """64 bits, and as many more as 1 - r is small: with fewer, the bounds of 1/(1 - R^j) tell nothing."""
        return 64 + max(0, -math.frexp(_loss(self.rate))[1] - 64)

    def bounds(self, j: int, bits: int) -> Bounds:
        """Return a lower and an upper bound of 2^bits · S(j)."""
        step, rising, falling = _parts(self, bits)
        factor, offset = falling if j < 0 else rising
        tail = _power(step, abs(j), bits)
        lower, upper = min(factor[0] * t for t in tail), max(factor[1] * t for t in tail)
        return offset[0] + (lower >> bits), offset[1] - (-upper >> bits)


def _power(base: Bounds, exponent: int, bits: int) -> Bounds:
    """Return bounds of 2^bits · v^exponent from bounds of 2^bits · v, by
    squaring; equal where nothing had to be rounded.
    """
    # gmpy2's integers are Python's, and faster where they are long.
    lower = upper = mpz(1) << bits
    least, most = mpz(base[0]), mpz(base[1])
    for digit in bin(exponent)[2:]:
        lower, upper = lower * lower >> bits, -(-upper * upper >> bits)
        if digit == "1":
            lower, upper = lower * least >> bits, -(-upper * most >> bits)
    return int(lower), int(upper)


@lru_cache(maxsize=64)
def _loss(rate: Rate) -> float:
    rest = (1 << rate.y) - rate.x
    return -math.log1p(-rest / (1 << rate.y)) if rest < rate.x else rate.y * math.log(2) - math.log(rate.x)


def power(rate: Rate, exponent: int, bits: int) -> Bounds:
    """Return a lower and an upper bound of 2^bits · r^exponent."""
    return _power((rate.x << bits >> rate.y, -(-rate.x << bits >> rate.y)), exponent, bits)


@lru_cache(maxsize=256)
def _parts(law: Line, bits: int) -> tuple[Bounds, tuple[Bounds, Bounds], tuple[Bounds, Bounds]]:
    """Return the parts that do not depend on j: bounds of R, and the line on either side of zero."""
    return _end(law.rate, law.stride, bits), law.line(False, bits), law.line(True, bits)


@lru_cache(maxsize=256)
def _end(rate: Rate, exponent: int, bits: int) -> Bounds:
    """Return `power`, cached: the step of one level is where the next finer level ends."""
    return power(rate, exponent, bits)


def _inverse(value: Bounds, bits: int) -> Bounds:
    """Return bounds of 2^bits / v from bounds of 2^bits · v, for v > 0; useless ones while v is not told from 0."""
    square = 1 << 2 * bits
    return square // value[1], -(-square // max(1, value[0]))


@dataclass(frozen=True)
class Geometric(Line):
    """S(j) = R^j for j >= 0: the geometric law of rate R = r^stride."""

    rate: Rate
    stride: int = 1
    first: int | None = field(default=0, init=False)
    last: int | None = field(default=None, init=False)

    def line(self, negative: bool, bits: int) -> tuple[Bounds, Bounds]:
        """The factor is 1 and the offset 0, exactly."""
        return (1 << bits, 1 << bits), (0, 0)

    def crossing(self, share: float, loss: float) -> float:
        """The crossing is -ln(U)/λ."""
        return -math.log(share) / loss


@dataclass(frozen=True)
class Truncated(Line):
    """The geometric law of rate R given that it is at most `last`: S(j) = 1 - (1 - R^j)/(1 - R^(last+1))."""

    rate: Rate
    last: int
    stride: int = 1
    first: int | None = field(default=0, init=False)

    def line(self, negative: bool, bits: int) -> tuple[Bounds, Bounds]:
        """The factor is 1/(1 - R^(last+1)), and the offset is 1 less the factor."""
        one, end = 1 << bits, _end(self.rate, self.stride * (self.last + 1), bits)
        factor = _inverse((one - end[1], one - end[0]), bits)
        return factor, (one - factor[1], one - factor[0])

    def crossing(self, share: float, loss: float) -> float:
        """The crossing is -ln(1 - (1 - U)·(1 - R^(last+1)))/λ."""
        return -math.log1p((1 - share) * math.expm1(-loss * (self.last + 1))) / loss

    def floor(self, j: int, bits: int) -> tuple[int, bool]:
        """Return the floor, also of an S(j) that is less than a fraction over 2^bits by next to nothing.

        S(j) = R^j - d with d = (1 - R^j)/(1/E - 1) for E = R^(last+1). Where R^j is N/2^bits exactly and 2^bits·d is
        below 1, the floor is N - 1, however many bits it would take to see d.
        """
        lower, upper = power(self.rate, self.stride * j, bits)
        if lower == upper:
            one, end = 1 << bits + 64, _end(self.rate, self.stride * (self.last + 1), bits + 64)[1]
            if end << bits < one - end:
                return lower - 1, False
        return super().floor(j, bits)


@dataclass(frozen=True)
class Signed(Line):
    """A side and a geometric magnitude in one cell: j >= 0 is (+, j), j < 0 is (-, -1-j).

    The side + has probability 1/(1+r), and either magnitude is geometric of rate R, so S(j) is R^j/(1+r) for
    j >= 0 and 1 - r·R^-j/(1+r) below. With stride 1 this is the discrete Laplace: P(X = j) ~ r^|j|.
    """

    rate: Rate
    stride: int = 1
    first: int | None = field(default=None, init=False)
    last: int | None = field(default=None, init=False)

    def line(self, negative: bool, bits: int) -> tuple[Bounds, Bounds]:
        """The factor is 1/(1+r) and the offset 0; below zero they are 1/(1+r) - 1 and 1."""
        one, r = 1 << bits, power(self.rate, 1, bits)
        factor = _inverse((one + r[0], one + r[1]), bits)
        return (factor, (0, 0)) if not negative else ((factor[0] - one, factor[1] - one), (one, one))

    def crossing(self, share: float, loss: float) -> float:
        """The crossing is -ln(U·(1 + r))/λ above zero, and the same from the other end below."""
        r = math.exp(-loss / self.stride)
        if share * (1 + r) < 1:
            return -math.log(share * (1 + r)) / loss
        return -1 + math.log((1 - share) * (1 + 1 / r)) / loss
