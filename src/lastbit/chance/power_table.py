"""From a rate to the integers the kernels multiply: r^e to 63 or to 127 bits, from the digits of e in base 2^12.

Table l holds r^(i·2^(12·l)) for every digit i, rounded down. The last table ends with the first power below 2^-63, or
2^-127, which stands for all further ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lastbit.chance.inversion import power
from lastbit.privacy.rate import Rate

DIGIT_BITS: Final = 12
SCALE: Final = 63
WIDE: Final = 127
_GUARD: Final = 129
_MOST_DIGITS: Final = 6
"""Differences of int64 exponents are below 2^64."""


@dataclass(frozen=True, eq=False)
class PowerTable:
    """`factors` holds table after table, with two words for an entry of 127 bits. Exponents count as at most `last`."""

    factors: NDArray[np.uint64]
    digits: int
    last: int

    @property
    def error(self) -> int:
        """A weight is less than this below its true value, in units of its last bit.

        A table entry is less than 2 units too small, since the powers are followed to 129 bits more. A product of two
        such is less than 4 units too small, and rounded down by less than one more.
        """
        return 3 * self.digits

    @classmethod
    def of(cls, rate: Rate, scale: int = SCALE) -> PowerTable:
        """Return the tables of a rate: one down to a loss of about 0.01 a step (0.02 to 127 bits), two down to 3e-6."""
        entries: list[int] = []
        precision = scale + _GUARD
        for digit in range(_MOST_DIGITS):
            ratio, tail = power(rate, 1 << DIGIT_BITS * digit, precision)[0], 1 << precision
            size = 1 << min(DIGIT_BITS, 64 - DIGIT_BITS * digit)
            for i in range(size):
                entries.append(tail >> _GUARD)
                if not entries[-1]:
                    return cls(_words(entries, scale), digit + 1, i << DIGIT_BITS * digit)
                tail = tail * ratio >> precision
        return cls(_words(entries, scale), _MOST_DIGITS, (1 << 64) - 1)


def _words(entries: list[int], scale: int) -> NDArray[np.uint64]:
    """Return entries in words of 64 bits, the highest first."""
    if scale < 64:
        return np.array(entries, np.uint64)
    return np.array([(entry >> 64, entry & ((1 << 64) - 1)) for entry in entries], np.uint64).ravel()
