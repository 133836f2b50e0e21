"""A public weight for every whole number, by which each factor of two weighs alike: the prior of quantiles.

W(y) = ⌊2^bits·log2 y⌋ is fixed once for all numbers. A number y > 0 weighs W(y + 1) - W(y), and -y weighs as much; zero
weighs 2·2^bits, as all numbers of two factors of two together: counts of people are often zero, and where many are, a
quantile among them has to outweigh the numbers beside them. So the weight of an interval is the difference of two
positions, whatever intervals it is cut into: `start` says how much weight lies before a number. Weights that were
rounded interval by interval would not add up, and people's values do the cutting.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lastbit.exact.rounding import log2_floor, log_lower
from lastbit.values._logarithms import BinaryLogarithms
from lastbit.values.grid import LIMIT, Steps

_ENTRIES: Final = 1 << 11
_UNIT: Final = 31
_FURTHEST: Final = 62.0
_FLOAT_BITS: Final = 40
"""A power of two of a float is right to more bits than this."""
_WORD: Final = (1 << 64) - 1

Positions = NDArray[Any]
"""int64 where all weights together are far below 2^63, Python's integers (dtype object) where they may not be."""


@dataclass(frozen=True)
class LogScale:
    """The weights of all whole numbers from `low` to `high`, which lie within ±2^61.

    >>> scale = LogScale(-2, 4)
    >>> scale.bits, [scale.weight(y) for y in range(-2, 5)]
    (5, [18, 32, 64, 32, 18, 14, 10])
    >>> scale.total, scale.find(scale.start(3) + 13)
    (188, 3)
    """

    low: int
    high: int
    bits: int = field(init=False)
    """So many that every number weighs something: two more than the largest one has, at least."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "bits", (self.furthest + 1).bit_length() + 2)

    @property
    def furthest(self) -> int:
        """The largest distance from zero."""
        return max(abs(self.low), abs(self.high))

    @property
    def _zero(self) -> int:
        """The weight of zero: that of two factors of two."""
        return 2 << self.bits

    @property
    def total(self) -> int:
        """The weight of all numbers together."""
        return self.start(self.high + 1) - self.start(self.low)

    def start(self, number: int) -> int:
        """Return the weight of all numbers from 0 up to this one, which is not among them; negative below 0.

        This is the specification of `starts`, with MPFR in place of the compiled tables.
        """
        if number > 0:
            return self._zero + log2_floor(number, self.bits)
        return -log2_floor(1 - number, self.bits)

    def weight(self, number: int) -> int:
        """Return the weight of one number."""
        return self.start(number + 1) - self.start(number)

    def starts(self, numbers: Steps, *, wide: bool) -> Positions:
        """Return `start` of each number: as Python's integers where wide ones are asked for, else in 64 bits."""
        kind = object if wide else np.int64
        whole, after = (part.astype(kind) for part in _logarithms_of(_magnitudes(numbers), self.bits))
        above: Positions = (whole << self.bits) + after
        # Zero and the numbers above it begin with the weight of zero.
        return np.where(numbers > 0, above + self._zero, -above)

    def needs_wide(self, parts: int = 1) -> bool:
        """Return whether positions, in parts of so many to a unit, may be too large for 64 bits."""
        return 2 * parts * self.start(self.furthest + 1) >= LIMIT

    def find(self, position: int) -> int:
        """Return the number whose weight holds this position: `start` inverted."""
        low, high = self._near(position)
        if not self.start(low) <= position < self.start(high + 1):
            low, high = self.low, self.high
        return low + bisect_right(range(low, high + 1), position, key=self.start) - 1

    def _near(self, position: int) -> tuple[int, int]:
        """Return ends of a short interval that most likely holds the number: floats choose it, `start` decides."""
        above = position >= self._zero
        logarithm = (position - self._zero if above else max(0, -position)) / (1 << self.bits)
        guess = int(2.0 ** min(logarithm, _FURTHEST))
        near, apart = (guess if above else -guess), 2 + (guess >> _FLOAT_BITS)
        low, high = (max(self.low, min(self.high, near + by)) for by in (-apart, apart))
        return low, high

    def least_weight(self, magnitude: int) -> int:
        """Return at most the weight of any number within ±magnitude, and of those alone that are on the scale."""
        nearest = max(self.low, -self.high, 0)
        number = max(1, min(self.furthest, max(magnitude, nearest)))
        # ⌊a⌋ - ⌊b⌋ is at least ⌊a - b⌋, and the logarithm bends down.
        return log2_floor(Fraction(number + 1, number), self.bits)


def _magnitudes(numbers: Steps) -> Steps:
    """Return the number whose logarithm says where each number begins: y above zero, 1 + y for -y and for zero."""
    return np.where(numbers > 0, numbers, 1 - numbers)


def _logarithms_of(numbers: Steps, bits: int) -> tuple[Steps, NDArray[np.uint64]]:
    """Return ⌊log2 y⌋ and the first bits of log2 y after the point, exactly, for each y of at least 1."""
    exponents, parts = np.empty(len(numbers), np.int64), np.empty(len(numbers), np.uint64)
    for place in _tables().fill(np.ascontiguousarray(numbers), bits, exponents, parts):
        exact = log2_floor(int(numbers[place]), bits)
        parts[place] = exact - (int(exponents[place]) << bits)
    return exponents, parts


@lru_cache(maxsize=1)
def _tables() -> BinaryLogarithms:
    first, second = inverses(_ENTRIES, _ENTRIES), inverses(_ENTRIES << 11, _ENTRIES + 1)
    logs = [[log2_floor(Fraction(1 << _UNIT, inverse), 128) for inverse in table] for table in (first, second)]
    # 1/ln 2 - 1, rounded down.
    factor = int((1 << 128) / -log_lower(Fraction(1, 2), 256)) - (1 << 128)
    constants = [(1 << 128) // divisor for divisor in (5, 4, 3, 2)]
    return BinaryLogarithms(
        np.array(first, np.uint64), np.array(second, np.uint64), *map(_words, (*logs, [*constants, factor]))
    )


def inverses(scale: int, entries: int) -> list[int]:
    """Return for each entry i the least c with (1 + i/scale)·c >= 2^31.

    >>> inverses(2048, 2)
    [2147483648, 2146435584]
    """
    return [-(-(scale << _UNIT) // (scale + i)) for i in range(entries)]


def _words(numbers: list[int]) -> NDArray[np.uint64]:
    """Return numbers below 2^128, two words each, the higher one first."""
    return np.array([(number >> 64, number & _WORD) for number in numbers], np.uint64).ravel()
