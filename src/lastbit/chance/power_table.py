"""From a rate to the integers the kernel multiplies: r^e to 63 bits, from the digits of e in base 2^12.

Table l holds r^(i·2^(12·l)) for every digit i, rounded down. The last table ends with the first power below 2^-63,
which stands for all further ones.
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
_PRECISION: Final = 192
_MOST_DIGITS: Final = 6
"""Differences of int64 exponents are below 2^64."""


@dataclass(frozen=True, eq=False)
class PowerTable:
    """`factors` holds table after table. Exponents count as at most `last`."""

    factors: NDArray[np.uint64]
    digits: int
    last: int

    @property
    def error(self) -> int:
        """A weight is less than this below its true value, in units of 2^-63.

        A table entry is less than 2 units too small, since the powers are followed to 192 bits. A product of two such
        is less than 4 units too small, and rounded down by less than one more.
        """
        return 3 * self.digits

    @classmethod
    def of(cls, rate: Rate) -> PowerTable:
        """The tables of a rate: one down to a loss of about 0.01 a step, two down to 3e-6."""
        entries: list[int] = []
        for digit in range(_MOST_DIGITS):
            ratio, tail = power(rate, 1 << DIGIT_BITS * digit, _PRECISION)[0], 1 << _PRECISION
            size = 1 << min(DIGIT_BITS, 64 - DIGIT_BITS * digit)
            for i in range(size):
                entries.append(tail >> (_PRECISION - SCALE))
                if not entries[-1]:
                    return cls(np.array(entries, np.uint64), digit + 1, i << DIGIT_BITS * digit)
                tail = tail * ratio >> _PRECISION
        return cls(np.array(entries, np.uint64), _MOST_DIGITS, (1 << 64) - 1)
