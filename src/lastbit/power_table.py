"""From a rate to the integers the kernel multiplies: r^e to 111 bits, from the digits of e in base 2^12.

Table l holds r^(i·2^(12·l)) for every digit i, rounded down: the first to 111 bits, so that a chunk of them adds up in
128, the others to 127. The last table ends with the first power below 2^-127, which stands for all further ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lastbit.exact import Rate
from lastbit.inversion import power

DIGIT_BITS: Final = 12
SCALE: Final = 111
_FACTOR_SCALE: Final = 127
_PRECISION: Final = 256
_MOST_DIGITS: Final = 6
"""Differences of int64 exponents are below 2^64."""


@dataclass(frozen=True, eq=False)
class PowerTable:
    """`factors` holds (high, low) words, table after table. Exponents count as at most `last`."""

    factors: NDArray[np.uint64]
    digits: int
    last: int

    @property
    def error(self) -> int:
        """A weight is less than this below its true value, in units of 2^-111.

        A table entry is less than 2 units of its own too small, since the powers are followed to 256 bits; a
        product drops three parts below a unit and doubles them, and passes on less than one more unit.
        """
        return 8 * self.digits

    @classmethod
    def of(cls, rate: Rate) -> PowerTable:
        """The tables of a rate: one down to a loss of about 0.02 a step, two down to 5e-6."""
        entries: list[int] = []
        for digit in range(_MOST_DIGITS):
            scale = _FACTOR_SCALE if digit else SCALE
            ratio, tail = power(rate, 1 << DIGIT_BITS * digit, _PRECISION)[0], 1 << _PRECISION
            size = 1 << min(DIGIT_BITS, 64 - DIGIT_BITS * digit)
            for i in range(size):
                entries.append(tail >> (_PRECISION - scale))
                if not entries[-1]:
                    return cls(_words(entries), digit + 1, i << DIGIT_BITS * digit)
                tail = tail * ratio >> _PRECISION
        return cls(_words(entries), _MOST_DIGITS, (1 << 64) - 1)


def _words(entries: list[int]) -> NDArray[np.uint64]:
    mask = (1 << 64) - 1
    return np.array([word for entry in entries for word in (entry >> 64, entry & mask)], np.uint64)
