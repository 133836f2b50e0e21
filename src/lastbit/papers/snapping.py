"""Covington's notes on the snapping mechanism, line by line.

The mechanism (`snapping`) runs on any Draw that does not list 2^52 cells. Sections 4 and 6 are functions of floats and
fractions. They are corrected or, where the name says so, as printed.
"""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import gmpy2

from lastbit.chance.draw import Draw
from lastbit.exact.rounding import fraction, log_lower, to_nearest
from lastbit.privacy.rate import Rate

PRECISION = 118
"""Bits for all arithmetic: by the notes, exact rounding of the logarithm of a double needs this many."""


def uniform(draw: Draw, first_exponent: int = 1, bits: int = 52) -> Fraction:
    """Return U*, section 3: 1.m1…m52 · 2^-e with e ~ Geom(1/2).

    Erratum A7: the geometric starts at 1, as the notes' U* between 0 and 1 and their script say: P(U* < u) = u. Where
    it starts at 0, U* is below 2 and the noise is not Laplace.

    >>> import lastbit as lb
    >>> uniform(lb.Sampler(lb.Tape([1 << 63, 0])))
    Fraction(1, 2)
    """
    exponent = draw.geometric(Rate(1, 1)) + first_exponent
    return Fraction((1 << bits) + draw.integer(1 << bits), 1 << bits + exponent)


def noise(u: Fraction, scale: Fraction, precision: int = PRECISION) -> Fraction:
    """Return λ ⊗ LN(u), section 3, both rounded to nearest.

    >>> round(float(noise(Fraction(1, 2), Fraction(10))), 3)
    -6.931
    """
    with to_nearest(precision):
        return fraction(gmpy2.mpfr(gmpy2.mpq(scale)) * gmpy2.log(gmpy2.mpfr(gmpy2.mpq(u))))


def noise_as_printed_elsewhere(u: Fraction, epsilon: Fraction, precision: int = PRECISION) -> Fraction:
    """Return (ε/2)·ln(1 - u) at sensitivity 1, as the base-2 exponential mechanism's paper prints it in section 4.1.

    Erratum A8: the scale is inverted and the noise goes one way only. Right is ±(1/ε)·ln u, as in `noise`.

    >>> round(float(noise_as_printed_elsewhere(Fraction(1, 2), Fraction(1, 10))), 4)
    -0.0347
    """
    return noise(1 - u, epsilon / 2, precision)


def noise_epsilon(epsilon: Fraction, bound: Fraction, precision: int = PRECISION) -> Fraction:
    """Return epsilon', section 5: the epsilon of the noise, so that the whole mechanism costs epsilon.

    >>> noise_epsilon(Fraction(1), Fraction(100)) < 1
    True
    """
    eta = Fraction(1, 1 << precision)
    return (epsilon - 2 * eta) / (1 + 12 * bound * eta)


def next_power(scale: Fraction) -> Fraction:
    """Return Λ, section 4.1: the least power of two that is at least the scale.

    >>> next_power(Fraction(10)), next_power(Fraction(1, 4)), next_power(Fraction(1, 3))
    (Fraction(16, 1), Fraction(1, 4), Fraction(1, 2))
    """
    exponent = scale.numerator.bit_length() - scale.denominator.bit_length()
    return next(power for e in (exponent - 1, exponent, exponent + 1) if (power := Fraction(2) ** e) >= scale)


def round_to_multiple(value: Fraction, step: Fraction) -> Fraction:
    """Return the nearest multiple of Λ, ties toward +∞ (section 2.2).

    >>> round_to_multiple(Fraction(5, 2), Fraction(1)), round_to_multiple(Fraction(-5, 2), Fraction(1))
    (Fraction(3, 1), Fraction(-2, 1))
    """
    return math.floor(value / step + Fraction(1, 2)) * step


def snapping(
    draw: Draw, value: Fraction, epsilon: Fraction, bound: Fraction, first_exponent: int = 1, bits: int = 52
) -> Fraction:
    """Return the mechanism of section 2.2 at sensitivity 1, with the arithmetic of section 3 and the ε' of section 5.

    Erratum A10: with 52 bits of U* the loss exceeds epsilon by up to 2^-52.1, because ε' pays for errors of
    2^-118 only. `lastbit.Snapping` draws as many bits as its arithmetic has.

    >>> import lastbit as lb
    >>> -8 <= snapping(lb.Sampler(), Fraction(3), Fraction(1), Fraction(8)) <= 8
    True
    """
    scale = 1 / noise_epsilon(epsilon, bound)
    sign = 1 if draw.bernoulli(Fraction(1, 2)) else -1
    shift = sign * noise(uniform(draw, first_exponent, bits), scale)
    with to_nearest(PRECISION):
        noisy = fraction(gmpy2.mpfr(gmpy2.mpq(clamp(value, bound))) + gmpy2.mpfr(gmpy2.mpq(shift)))
    return clamp(round_to_multiple(noisy, next_power(scale)), bound)


def clamp(value: Fraction, bound: Fraction) -> Fraction:
    """Return the value as clamp_B of section 2.2 does.

    >>> clamp(Fraction(9), Fraction(8))
    Fraction(8, 1)
    """
    return max(-bound, min(bound, value))


def round_by_bits(value: float, exponent: int) -> float:
    """Return, by section 4.2, a double rounded to a multiple of Λ = 2^exponent by its bits alone.

    Erratum B5: the test whether a carry reaches the exponent is about the first y bits only. And ties go up, below zero
    too, where the printed recipe rounds them away from zero. Zero and subnormal numbers round to zero here, which is
    right for every Λ from 2^-1021 on.

    >>> round_by_bits(2.5, 0), round_by_bits(-2.5, 0), round_by_bits(-0.3, 0)
    (3.0, -2.0, 0.0)
    """
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    sign, biased, mantissa = bits >> 63, bits >> 52 & 0x7FF, bits & (1 << 52) - 1
    y = biased - exponent - 1023
    if biased == 0 or y < -1:
        return 0.0
    if y >= 52:
        return value
    if y == -1:
        # A size from 1/2 up to 1 rounds to 1, or below zero to -1. Only the tie -1/2 goes up to 0.
        whole = 0 if sign and mantissa == 0 else 1
    else:
        leading, rest = mantissa >> 52 - y, mantissa & (1 << 52 - y) - 1
        half = 1 << 51 - y
        up = rest > half if sign else rest >= half
        whole = (1 << y | leading) + up
    return 0.0 if whole == 0 else math.ldexp(-whole if sign else whole, exponent)


def accuracy_as_printed(value: Fraction, bound: Fraction, epsilon: Fraction, alpha: Fraction) -> float:
    """Compute GetAccuracy of section 6.3, for epsilon' and a value of at least 0.

    Erratum B6: its last case claims too much. Use `accuracy`.

    >>> round(accuracy_as_printed(Fraction("5.40"), Fraction(6), Fraction("0.99"), Fraction("0.01")), 2)
    1.4
    """
    f, b, e, a = float(value), float(bound), float(epsilon), float(alpha)

    def laplace_below(x: float) -> float:
        return math.exp(x * e) / 2 if x < 0 else 1 - math.exp(-x * e) / 2

    lower_binds = laplace_below(-b - f + 1 / e)
    upper_binds = 1 - laplace_below(b - f - 1 / e)
    below = 1 - math.exp(-e * (b - f) + 1)
    if lower_binds >= a:
        return b + f
    if below >= 1 + lower_binds - a:
        return (1 - math.log(a - lower_binds)) / e
    if below + upper_binds >= 1 + lower_binds - a:
        return b - f
    return (1 - math.log(a - lower_binds + upper_binds)) / e


def accuracy(bound: Fraction, epsilon: Fraction, step: Fraction, alpha: Fraction) -> Fraction:
    """Compute GetAccuracy2 of section 6.3, for epsilon' and Λ', rounded up.

    >>> float(accuracy(Fraction(100), Fraction(1), Fraction(1), Fraction(1, 20)))
    3.495732273553991
    """
    return min(-log_lower(alpha, 128) / epsilon + step / 2, 2 * bound)
