"""The arithmetic of a snapping mechanism in whole numbers, which are as long for one value as for another."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

import gmpy2

from lastbit.values.raw import exact_ratio

_ORIGIN: Final = 1 << 128
"""Steps below the middle where places are counted from, so that places are positive and alike in length."""


@dataclass(frozen=True)
class SnappingUnits:
    """Values and noise as whole numbers of 2^-`bits` of a rounding step: so small that noise is always whole.

    Then a value may be floored to one of these units first, as ⌊v + noise⌋ = ⌊⌊v⌋ + noise⌋ for whole noise.
    """

    bits: int
    snap_bits: int
    """log2 of the rounding step, in units of the sensitivity."""
    factor: gmpy2.mpz
    divisor: gmpy2.mpz
    offset: gmpy2.mpz
    """A value is at ⌊(value·factor + offset)/divisor⌋, counted from `_ORIGIN` and a half steps below the middle on."""
    lowest: gmpy2.mpz
    highest: gmpy2.mpz
    """Where the bounds are."""
    tiny: float
    """Nearer to zero than this, all that counts of a float is its sign."""
    large: float
    """Floats further out are beyond the bounds."""
    shift: int
    """No float up to `large` is a multiple of 2^shift, so floats can be shifted to the right only."""
    below: int
    middle: int
    half: int
    step: int
    """The middle, half the distance of the bounds and a rounding step, in units of 1/`below`."""
    most: int
    """Steps from the middle to the last outcome on either side."""

    @classmethod
    def of(cls, middle: Fraction, unit: Fraction, half: Fraction, snap: Fraction, precision: int) -> SnappingUnits:
        """Return the units for noise of so many bits that is never below 2^-(precision + 2) of a step."""
        bits = 2 * precision + 8
        scale = Fraction(1 << bits) / (unit * snap)
        start = (_ORIGIN + Fraction(1, 2)) * (1 << bits) - middle * scale
        divisor = math.lcm(scale.denominator, start.denominator)
        ends = [math.floor(start + bound * scale) for bound in (middle - half * unit, middle + half * unit)]
        reach = math.ceil(abs(middle) + half * unit)
        below = math.lcm(middle.denominator, (half * unit).denominator, (unit * snap).denominator)
        return cls(
            bits=bits,
            snap_bits=snap.numerator.bit_length() - snap.denominator.bit_length(),
            factor=gmpy2.mpz(scale * divisor),
            divisor=gmpy2.mpz(divisor),
            offset=gmpy2.mpz(start * divisor),
            lowest=gmpy2.mpz(ends[0]),
            highest=gmpy2.mpz(ends[1]),
            tiny=math.ldexp(1.0, max(-1022, -int(scale * divisor).bit_length() - 1)),
            large=math.ldexp(1.0, min(1023, reach.bit_length() + 1)),
            shift=min(1023, reach.bit_length() + 1) + 1,
            below=below,
            middle=int(middle * below),
            half=int(half * unit * below),
            step=int(unit * snap * below),
            most=math.ceil(half / snap),
        )

    def place(self, value: object) -> gmpy2.mpz:
        """Return where a value is, clamped to the bounds; NaN and what is missing is at the lower one."""
        product = self._scale_float(value) if isinstance(value, float) else self._scale(value)
        return min(max((product + self.offset) // self.divisor, self.lowest), self.highest)

    def _scale_float(self, value: float) -> gmpy2.mpz:
        """Return ⌊value·factor⌋ in the same operations for all floats within the bounds: time would tell them apart."""
        # In this order, as max and min keep the first where the other is NaN.
        inside = min(self.large, max(-self.large, value))
        # Adding zero takes the sign off -0.
        fraction, exponent = math.frexp(math.copysign(max(self.tiny, abs(inside)), inside + 0.0))
        return (gmpy2.mpz(int(fraction * (1 << 53))) * self.factor << self.shift) >> (self.shift + 53 - exponent)

    def _scale(self, value: object) -> gmpy2.mpz:
        above, under = exact_ratio(value)
        if under == 0:
            return (self.highest if above > 0 else self.lowest) * self.divisor - self.offset
        return gmpy2.mpz(above) * self.factor // under

    @property
    def noise_bits(self) -> int:
        """log2 of how many units of a place the unit of the sensitivity has: noise times 2 to that is whole."""
        return self.bits - self.snap_bits

    def snap(self, place: gmpy2.mpz, noise: gmpy2.mpz, toward: int) -> Fraction:
        """Return the multiple of a step that is nearest to a value with
        noise, from the middle of the bounds, clamped.
        """
        step = int(place + toward * noise >> self.bits)
        # Clamped before the subtraction: what is kept in small integers is published then.
        return self.outcome(max(_ORIGIN - self.most, min(_ORIGIN + self.most, step)) - (_ORIGIN - self.most))

    def outcome(self, number: int) -> Fraction:
        """Return the outcome of this number, from 0, the lowest, to 2·most."""
        return _outcome(number, self.most, self.step, self.half, self.middle, self.below)


@lru_cache(maxsize=4096)
def _outcome(number: int, most: int, step: int, half: int, middle: int, below: int) -> Fraction:
    # The time to make a fraction depends on it, and the same few are published again and again.
    return Fraction(middle + max(-half, min(half, (number - most) * step)), below)
