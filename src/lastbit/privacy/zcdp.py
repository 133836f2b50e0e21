"""Conversions between epsilon, rho of zero-concentrated privacy (zCDP), and (epsilon, delta): all on the safe side.

A release is rho-zCDP when the Rényi divergence of order alpha between its laws on neighbours is at most alpha·rho, for
every alpha > 1 (Bun and Steinke 2016). Here every function that turns one cost into another proves its value: floats
only choose the alpha, any alpha would do, and MPFR rounds the formula at that alpha to the stated side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Final

from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, probability
from lastbit.exact.rounding import exp_bounds, expm1_upper, fraction, log_lower, precision_for, short_upper
from lastbit.privacy.dyadic import positive_epsilon

BITS: Final = 96
"""The bits of a rho and of its conversions, so that sums of many stay short."""

_LEAST_DELTA: Final = Fraction(1, 1 << 1000)

_LARGE: Final = 1 << 10
"""From here on tanh(epsilon/2) counts as 1: it is within 2^-1400 of it."""

_GOLDEN: Final = (math.sqrt(5) - 1) / 2
_SEARCH: Final = -45.0, 700.0
"""Where ln(alpha - 1) is searched: as far as floats reach."""

_RAREST: Final = -(1 << 14)
"""A delta below e^-16384 is stated as that: nobody needs it smaller, and it would take long to write."""


@lru_cache(maxsize=256)
def rho_of(epsilon: Fraction) -> Fraction:
    """Return the least known rho of a release that is epsilon-private: epsilon·tanh(epsilon/2), rounded up.

    It is the rho of randomized response, the worst release of this epsilon (Steinke, "Sharp RDP and zCDP from pure
    DP"), and below epsilon²/2.

    >>> float(rho_of(Fraction(1))), float(rho_of(Fraction(1, 10)))
    (0.46211715726000..., 0.00499583749578...)
    """
    if epsilon >= _LARGE:
        return short_upper(epsilon, BITS)
    odds = expm1_upper(epsilon, 2 * BITS)
    return short_upper(epsilon * odds / (odds + 2), BITS)


@lru_cache(maxsize=256)
def epsilon_for(rho: Fraction) -> Fraction:
    """Return the largest epsilon of 64 bits whose `rho_of` is at most this.

    >>> epsilon = epsilon_for(Fraction(1, 100))
    >>> rho_of(epsilon) <= Fraction(1, 100) < rho_of(epsilon + Fraction(1, 2**60))
    True
    """
    return _largest(lambda epsilon: rho_of(epsilon) <= rho, root_lower(2 * rho), 64)


def range_rho(epsilon: Fraction) -> Fraction:
    """Return epsilon²/8, rounded up: the rho of a release of range epsilon.

    The range of a release is how far its privacy loss on two outcomes can lie apart. The logarithm K(s) of the moments
    of the loss is zero at 0 and at 1, and K'' <= epsilon²/4 (Cesar and Rogers 2021).

    >>> range_rho(Fraction(1))
    Fraction(1, 8)
    """
    return short_upper(epsilon * epsilon / 8, BITS)


def range_epsilon_for(rho: Fraction) -> Fraction:
    """Return the largest epsilon of about 64 bits whose `range_rho` is at most this: epsilon²/8 <= rho.

    >>> float(range_epsilon_for(Fraction(1, 8)))
    1.0
    """
    return root_lower(8 * rho)


def root_lower(value: Fraction, bits: int = 64) -> Fraction:
    """Return the root of a value, rounded down to a number of about this many bits.

    >>> root_lower(Fraction(1, 4)), float(root_lower(Fraction(2)))
    (Fraction(1, 2), 1.414213562373...)
    """
    size = value.numerator.bit_length() - value.denominator.bit_length()
    shift = bits - size // 2
    scaled = value * Fraction(4) ** shift
    return Fraction(math.isqrt(scaled.numerator // scaled.denominator)) / Fraction(2) ** shift


@lru_cache(maxsize=256)
def epsilon_at(rho: Fraction, delta: Fraction) -> Fraction:
    """Return an epsilon such that a rho-zCDP release is (epsilon, delta)-private, rounded up.

    The least over alpha of alpha·rho + ln(1/(alpha·delta))/(alpha - 1) + ln(1 - 1/alpha) (Canonne, Kamath and Steinke
    2020, Proposition 12).

    >>> float(epsilon_at(Fraction(1, 2), Fraction(1, 10**6))), float(epsilon_at(Fraction(1, 10), Fraction(1, 10**6)))
    (5.22153..., 2.14193...)
    """
    slope, far = float(rho), -log_of(delta)
    above = _least(lambda s: (1 + s) * slope + (far - math.log1p(s)) / s - math.log1p(1 / s))
    alpha = 1 + above
    precision = 256 + precision_for(alpha)
    # Divided by an exact positive number, an upper bound stays one, whatever its sign.
    far_upper = -log_lower(alpha * delta, precision) / above
    return short_upper(max(Fraction(0), alpha * rho + far_upper - log_lower(alpha / above, precision)), BITS)


@lru_cache(maxsize=256)
def delta_at(rho: Fraction, epsilon: Fraction) -> Fraction:
    """Return a delta such that a rho-zCDP release is (epsilon, delta)-private, rounded up.

    The least over alpha of e^((alpha - 1)(alpha·rho - epsilon))·(1 - 1/alpha)^alpha/(alpha - 1).

    >>> float(delta_at(Fraction(1, 10), Fraction(2)))
    4.325...e-06
    """
    slope, reach = float(rho), float(epsilon)
    above = _least(lambda s: s * ((1 + s) * slope - reach) - (1 + s) * math.log1p(1 / s) - math.log(s))
    alpha = 1 + above
    precision = 256 + precision_for(alpha)
    shrinks = alpha * log_lower(alpha / above, precision) + log_lower(above, precision)
    exponent = max(above * (alpha * rho - epsilon) - shrinks, Fraction(_RAREST))
    if exponent >= 0:
        return Fraction(1)
    return short_upper(fraction(exp_bounds(exponent, exponent, 256)[1]), BITS)


def log_of(value: Fraction) -> float:
    """Return ln(value) as a float, near enough to choose an alpha: of numbers too that are no floats."""
    return math.log(value.numerator) - math.log(value.denominator)


def largest_rho(epsilon: Number, delta: Number) -> Fraction:
    """Return the rho that an (epsilon, delta) buys: the largest of 80 bits for which zCDP proves (epsilon, delta).

    Any number of releases, chosen one after the other, whose rhos add up to this are (epsilon, delta)-private together.

    >>> float(largest_rho(1, "1e-6")), float(largest_rho(3, "1e-6"))
    (0.0243559..., 0.185069...)
    """
    most = positive_epsilon(epsilon)
    apart = probability(delta, "delta")
    if apart < _LEAST_DELTA:
        raise ParameterError("delta must be at least 2^-1000. Choose a larger one.")
    return _largest_rho(most, apart)


@lru_cache(maxsize=256)
def _largest_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    return _largest(lambda rho: epsilon_at(rho, delta) <= epsilon, epsilon, 80)


def _largest(fits: Callable[[Fraction], bool], near: Fraction, bits: int) -> Fraction:
    """Return the largest number of so many bits that fits, where all below it do; it is looked for from near on."""
    low = Fraction(2) ** (near.numerator.bit_length() - near.denominator.bit_length())
    while fits(2 * low):
        low *= 2
    while not fits(low):
        low /= 2
    step = low
    for _ in range(bits - 1):
        step /= 2
        if fits(low + step):
            low += step
    return low


def _least(curve: Callable[[float], float]) -> Fraction:
    """Return where a curve of one valley is about lowest: by its logarithm, cut in the golden ratio."""

    def at(place: float) -> float:
        try:
            return curve(math.exp(place))
        except (OverflowError, ZeroDivisionError, ValueError):
            return math.inf

    low, high = _SEARCH
    one, two = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_one, at_two = at(one), at(two)
    while high - low > 1e-9:
        if at_one < at_two:
            high, two, at_two = two, one, at_one
            one = high - _GOLDEN * (high - low)
            at_one = at(one)
        else:
            low, one, at_one = one, two, at_two
            two = low + _GOLDEN * (high - low)
            at_two = at(two)
    return Fraction(math.exp((low + high) / 2))
