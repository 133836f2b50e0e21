"""MPFR, rounded outward: the one place where a real number is approximated, always on the stated side."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction

import gmpy2

Bounds = tuple["gmpy2.mpfr", "gmpy2.mpfr"]


def exp_upper(exponent: Fraction, bits: int) -> int:
    """Return ⌈2^bits · e^exponent⌉, exactly.

    >>> exp_upper(Fraction(-1, 10), 8)
    232
    """
    return ceiling(lambda precision: exp_bounds(exponent, exponent, precision), bits)


def log_upper(value: Fraction, times: Fraction = Fraction(1)) -> float:
    """Return a float at or above times·ln(value), for a value of at least 1: the nearest such float."""
    return float_upper(-log_lower(1 / value, precision_for(value)) * times)


def float_upper(value: Fraction | float) -> float:
    """Return the nearest float at or above a value; infinite beyond all floats.

    >>> float_upper(Fraction(1, 10)) >= Fraction(1, 10), float_upper(Fraction(10) ** 400)
    (True, inf)
    """
    try:
        result = float(value)
    except OverflowError:
        return math.inf
    return result if result >= value else math.nextafter(result, math.inf)


def float_lower(value: Fraction | float) -> float:
    """Return the nearest float at or below a positive value.

    >>> float_lower(Fraction(1, 10)) <= Fraction(1, 10), float_lower(math.inf)
    (True, inf)
    """
    try:
        result = float(value)
    except OverflowError:
        return sys.float_info.max
    return result if result <= value else math.nextafter(result, -math.inf)


def log_float_lower(value: Fraction) -> float:
    """Return a float at or below ln(value), for a value of at least 1: the nearest such float."""
    return float_lower(log_lower(value, precision_for(value)))


def precision_for(value: Fraction) -> int:
    """Return 128, and as many bits more as are needed to tell the value from 1."""
    gap = abs(value - 1)
    return 128 + max(0, gap.denominator.bit_length() - gap.numerator.bit_length())


def _rounding(mode: int, precision: int) -> gmpy2.context:
    return gmpy2.context(precision=precision, round=mode, emin=gmpy2.get_emin_min(), emax=gmpy2.get_emax_max())


def rounding_down(precision: int) -> gmpy2.context:
    """Return a context in which every operation gives the nearest number of this many bits at or below its result."""
    return _rounding(gmpy2.RoundDown, precision)


def rounding_up(precision: int) -> gmpy2.context:
    """Return a context in which every operation gives the nearest number of this many bits at or above its result."""
    return _rounding(gmpy2.RoundUp, precision)


def to_nearest(precision: int) -> gmpy2.context:
    """Return a context in which every operation gives the nearest number of this many bits, proved by MPFR."""
    return _rounding(gmpy2.RoundToNearest, precision)


def short_upper(value: Fraction, precision: int = 53) -> Fraction:
    """Return the least number of this many bits at or above a value.

    >>> short_upper(Fraction(1, 3), 4)
    Fraction(11, 32)
    """
    with rounding_up(precision):
        return fraction(gmpy2.mpfr(gmpy2.mpq(value)))


def log_lower(value: Fraction, precision: int) -> Fraction:
    """Return a fraction at or below ln(value)."""
    with rounding_down(precision):
        log = gmpy2.log(gmpy2.mpfr(gmpy2.mpq(value)))
    return fraction(log)


def log_floors(above: int, belows: Sequence[int], bits: int) -> list[int]:
    """Return ⌊2^bits · ln(above/below)⌋, or one less where that is nearer than 2^-60 to a whole number, for each below.

    >>> log_floors(2, [1, 2], 8), math.log(2) * 256
    ([177, 0], 177.44...)
    """
    with rounding_down(bits + 64):
        logs = [gmpy2.log(gmpy2.mpfr(gmpy2.mpq(above, below))) for below in belows]
        return [max(0, int(gmpy2.floor(gmpy2.mul_2exp(log, bits)))) for log in logs]


def log2_floor(value: Fraction | int, bits: int) -> int:
    """Return ⌊2^bits · log2(value)⌋, exactly, for a value of at least 1.

    >>> log2_floor(3, 4), log2_floor(1 << 70, 4), math.log2(3) * 16
    (25, 1120, 25.35...)
    """
    above, below = Fraction(value).as_integer_ratio()
    if below == 1 and above & (above - 1) == 0:
        return (above.bit_length() - 1) << bits
    exact, precision = gmpy2.mpq(above, below), bits + 64
    # The logarithm of any other fraction is irrational: at some precision both bounds have the same floor.
    while True:
        with rounding_down(precision):
            lower = int(gmpy2.floor(gmpy2.mul_2exp(gmpy2.log2(gmpy2.mpfr(exact)), bits)))
        with rounding_up(precision):
            upper = int(gmpy2.floor(gmpy2.mul_2exp(gmpy2.log2(gmpy2.mpfr(exact)), bits)))
        if lower == upper:
            return lower
        precision *= 2


def fraction(value: gmpy2.mpfr) -> Fraction:
    """Return the exact value of an MPFR number."""
    return Fraction(*(int(part) for part in value.as_integer_ratio()))


def exp_bounds(lower: Fraction, upper: Fraction, precision: int) -> Bounds:
    """Return a number at or below e^lower, and one at or above e^upper."""
    with rounding_down(precision):
        below = gmpy2.exp(gmpy2.mpfr(gmpy2.mpq(lower)))
    with rounding_up(precision):
        above = gmpy2.exp(gmpy2.mpfr(gmpy2.mpq(upper)))
    return below, above


def expm1_upper(value: Fraction, precision: int) -> Fraction:
    """Return a fraction at or above e^value - 1, for a positive value.

    >>> float(expm1_upper(Fraction(1), 64))
    1.718281828459...
    """
    with rounding_up(precision):
        return fraction(gmpy2.expm1(gmpy2.mpfr(gmpy2.mpq(value))))


def any_upper(chance: Fraction, times: int, precision: int) -> Fraction:
    """Return a fraction at or above 1 - (1 - chance)^times: that one of so many independent events happens.

    >>> float(any_upper(Fraction(1, 2), 3, 64)), float(any_upper(Fraction(1, 1 << 4000), 1 << 4000, 64))
    (0.875, 0.632120558828557...)
    """
    if chance >= 1:
        return Fraction(1)
    # Down: what is less makes 1 less it more. log1p and expm1 keep all bits of the smallest chance.
    with rounding_down(precision):
        none = gmpy2.expm1(gmpy2.log1p(gmpy2.mpfr(gmpy2.mpq(-chance))) * times)
    return -fraction(none)


def one_lower(any_of_them: Fraction, times: int, precision: int) -> Fraction:
    """Return a fraction at or below the chance of one of so many independent events, from the chance of any of them.

    >>> float(one_lower(Fraction(7, 8), 3, 64))
    0.5
    """
    # Up: less is taken off 1. A chance that is nearly 1 needs as many bits more.
    with rounding_up(precision + any_of_them.denominator.bit_length()):
        rest = gmpy2.expm1(gmpy2.log1p(gmpy2.mpfr(gmpy2.mpq(-any_of_them))) / times)
    return -fraction(rest)


def power_bounds(base: Fraction, exponent: Fraction, precision: int) -> Bounds:
    """Return a number at or below base^exponent, and one at or above it."""
    lower, upper = log_lower(base, precision), -log_lower(1 / base, precision)
    return exp_bounds(lower * exponent, upper * exponent, precision)


def ceiling(bounds: Callable[[int], Bounds], bits: int) -> int:
    """Return ⌈2^bits · v⌉ for an irrational v. The bounds close in on v until both have the same ceiling."""
    precision = bits + 64
    while True:
        with _rounding(gmpy2.RoundToNearest, precision):
            lower, upper = (int(gmpy2.ceil(gmpy2.mul_2exp(end, bits))) for end in bounds(precision))
        if lower == upper:
            return upper
        precision *= 2


def log_bounds(value: gmpy2.mpq, precision: int) -> Bounds:
    """Return a number at or below ln(value), and one at or above it."""
    with rounding_down(precision):
        below = gmpy2.log(gmpy2.mpfr(value))
    with rounding_up(precision):
        above = gmpy2.log(gmpy2.mpfr(value))
    return below, above


def log_power_sum_bounds(
    weights: Sequence[gmpy2.mpq], logs: Sequence[Bounds], power: Fraction, precision: int
) -> tuple[Fraction, Fraction]:
    """Return a number at or below ln(w1·r1^power + w2·r2^power + …), and one at
    or above it: weights and power positive, logs around ln r.

    >>> logs = [log_bounds(gmpy2.mpq(2), 64)]
    >>> below, above = log_power_sum_bounds([gmpy2.mpq(1)], logs, Fraction(3), 64)
    >>> float(below), 0 < float(above - below) < 1e-17
    (2.07944154167983..., True)
    """
    ends = []
    for mode, side in ((gmpy2.RoundDown, 0), (gmpy2.RoundUp, 1)):
        with _rounding(mode, precision):
            total = gmpy2.mpfr(0)
            times = gmpy2.mpq(power)
            # Every operation rises with its arguments, so rounding each to one side keeps to that side.
            for weight, log in zip(weights, logs, strict=True):
                # As one fraction: gmpy2 rounds a rational factor first, and of a negative logarithm to the wrong side.
                total += gmpy2.mpfr(weight) * gmpy2.exp(gmpy2.mpfr(gmpy2.mpq(log[side]) * times))
            ends.append(fraction(gmpy2.log(total)))
    return ends[0], ends[1]
