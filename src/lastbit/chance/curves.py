"""From a law that is a line in a power to the integers of the kernel that inverts it by a logarithm.

No table grows with the scale, so one word decides a sample at every scale from 2^6 to 2^40. `_curves.pyx` says what
the kernel computes; here are the numbers that it starts from, each rounded down, and the width of its doubt:

    y = ((zeros + 1)·ln 2 - ln M - c)/λ, in units of 2^(bits-64), and 1/λ < 2^bits.

The kernel's y is above the largest y of the word, by less than 16 units: 8 are added, the floor of the start takes
less than 1 and the logarithm less than 2; the logarithm gives less than 3, the floor of 1/λ and of the product less
than 2. The interval of the word, w wide and from 2^(63-zeros) on, spans at most w/2^(63-zeros)/λ, which is below
w·2^(zeros+1) units. So what is not in doubt has both ends between two whole numbers. The first look counts in units of
2^(bits-58), 64 times as large: there the same holds, and its logarithm gives 2^24.02 more. y is below 45/λ, so that one
word has room for it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np

from lastbit.chance._curves import CurveInverter, Logarithms
from lastbit.chance.inversion import Geometric, Line, Partition, Signed, power
from lastbit.exact.rounding import log_floors, log_lower, precision_for

LEAST_BITS: Final = 7
"""The scale of laws that a short table inverts faster is below 2^6."""

MOST_BITS: Final = 40
"""At larger scales too many words would be in doubt: one in 2^18 is here."""

_ROUGH_BITS: Final = 26
"""Up to this scale the first look decides all but one in 2^8."""

_ENTRIES: Final = 1 << 11
_BIAS: Final = 8
_FINE: Final = 16
_ROUGH: Final = (1 << 24) + (1 << 19)
_WORD: Final = 1 << 64
_TOP: Final = _WORD - 1


def inverter(law: Partition) -> CurveInverter | None:
    """Return the kernel's form of a law, or None where it has none: its scale is too small, or too large."""
    if not isinstance(law, Line):
        return None
    logarithm = law.stride * _log(1 / law.rate.fraction)
    bits = int(1 / logarithm).bit_length()
    if not LEAST_BITS <= bits <= MOST_BITS:
        return None
    r, unit, wide, way, side, floor, share = law.rate.fraction, Fraction(1 << 64 - bits), 1, 0, _TOP, 0, _TOP
    constants = [Fraction(0), Fraction(0)]
    if isinstance(law, Signed):
        # Above: U < R^j/(1+r). Below: 1 - U <= R^m·r/(1+r) for -1 - m.
        way, side, constants = 1, int(_WORD / (1 + r)), [_log(1 + r), _log(1 + 1 / r)]
    elif not isinstance(law, Geometric):
        # V = E + U·(1 - E), with E = R^(last+1). Both parts are rounded down, and so is their sum: 4 units together.
        assert law.last is not None  # noqa: S101
        # A power is known to less than 2^44 times the stride.
        guard = 64 + law.stride.bit_length()
        end = power(law.rate, law.stride * (law.last + 1), 64 + guard)
        way, wide, floor, share = 2, 4, end[0] >> guard, ((_WORD << guard) - end[1]) >> guard
    sides = [_starts(constant, logarithm, unit, wide) for constant in constants]
    return CurveInverter(
        _logarithms(), sides, int(unit / logarithm), bits, way, bits <= _ROUGH_BITS, side, floor, share
    )


def _starts(constant: Fraction, logarithm: Fraction, unit: Fraction, wide: int) -> list[tuple[int, int, int, int, int]]:
    """Return the numbers that the kernel starts from after so many zeros: those of ((zeros + 1)·ln 2 - c)/λ."""
    slope, offset = _LN2 / logarithm * unit, constant / logarithm * unit
    whole = math.lcm(slope.denominator, offset.denominator)
    step, begin = int(slope * whole), int(offset * whole)
    starts = []
    for zeros in range(64):
        floor = ((zeros + 1) * step - begin) // whole
        span = wide << (zeros + 1)
        y, first = floor + _BIAS, (floor >> 6) + _BIAS
        starts.append((y % _WORD, y // _WORD, min(_TOP, _FINE + span), first % _WORD, _ROUGH + span // 64 + 1))
    return starts


def _log(value: Fraction) -> Fraction:
    """Return ln(value) of a value above 1, too small by less than 2^-200 of itself."""
    return log_lower(value, precision_for(value) + 128)


_LN2: Final = _log(Fraction(2))


@lru_cache(maxsize=1)
def _logarithms() -> Logarithms:
    (short, logs), (long, fine_logs) = logarithm_table(15), logarithm_table(31)
    inverses, fine_inverses = np.array(short, np.uint16), np.array(long, np.uint32)
    return Logarithms(inverses, np.array(logs, np.uint64), fine_inverses, np.array(fine_logs, np.uint64))


def logarithm_table(bits: int) -> tuple[list[int], list[int]]:
    """Return the least c with M·c >= 2^bits for all M of an entry, and ⌊2^64·ln(2^bits/c)⌋; for each entry.

    >>> inverses, logs = logarithm_table(15)
    >>> inverses[:2], logs[0], inverses[1024] * 3 / 2 >= 1 << 15
    ([32768, 32753], 0, True)
    """
    # Above the lower end of its interval, so that the product is 1 or just above.
    inverses = [-(-(_ENTRIES << bits) // (_ENTRIES + i)) for i in range(_ENTRIES)]
    return inverses, log_floors(1 << bits, inverses, 64)
