"""The tails of the discrete Gaussian, however far out, between two MPFR numbers: rounded outward, like all of `exact`.

P(X >= j) = A(j)/Z, where A(j) is the sum of all r^(i²) from j on and Z the sum of all. The first terms of A(j) are
added one by one. Beyond its inflection point the curve r^(x²) is convex. So the sum of the terms from `last` on is at
least the integral from `last` on and half the term at `last`, because trapezoids lie above the curve; and it is at most
the integral from `last` - 1/2 on, because a term is at most the mean of the curve around it. Z is a series that falls
by r^(i²). By Poisson's summation it is also √(π/λ) times a series that falls by e^(-π²i²/λ), for λ = ln(1/r): the
series that falls faster needs next to no terms.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Final

import gmpy2

from lastbit.exact.rounding import Bounds, fraction, log_bounds, rounding_down, rounding_up

_FEW: Final = 64
"""Terms that are added one by one at first."""
_BITS: Final = 128
"""Bits of the first bounds."""


def tail_bounds(rate: Fraction, first: int, terms: int = _FEW, bits: int = _BITS) -> Bounds:
    """Return a number at or below P(X >= first), and one at or above it, for a first of at least 1 and a dyadic rate.

    More terms and more bits bring the bounds closer: without end, as the tail is irrational.

    >>> lower, upper = tail_bounds(Fraction(1, 2), 1)
    >>> lower < upper, f"{lower:.9f}"
    (True, '0.265140988')
    """
    # The rate itself is exact, and so is every point where a term or an integral is taken.
    precision = bits + rate.denominator.bit_length() + 2 * (first + terms).bit_length()
    below, above = log_bounds(gmpy2.mpq(1 / rate), precision)
    convex = isqrt(int(1 / (2 * fraction(below)))) + 2
    last = max(first + terms, convex)
    with rounding_down(precision):
        lower = _sum(rate, first, last)
        lower += _term(rate, last) / 2 + _integral(gmpy2.mpfr(last), above)
    with rounding_up(precision):
        upper = _sum(rate, first, last)
        upper += _integral(gmpy2.mpfr(2 * last - 1) / 2, below)
    least, most = _whole(below, above, precision)
    with rounding_down(precision):
        lower = lower / most
    with rounding_up(precision):
        return lower, upper / least


def tail_at_most(rate: Fraction, first: int, limit: Fraction) -> bool:
    """Return whether P(X >= first) <= limit, exactly, for a first of at least 1 and a dyadic rate.

    >>> [tail_at_most(Fraction(1, 2), 1, Fraction(millionths, 10**6)) for millionths in (265_140, 265_141)]
    [False, True]
    """
    terms, bits = _FEW, _BITS
    while True:
        lower, upper = tail_bounds(rate, first, terms, bits)
        with rounding_down(bits):
            at_least = gmpy2.mpfr(gmpy2.mpq(limit))
        with rounding_up(bits):
            at_most = gmpy2.mpfr(gmpy2.mpq(limit))
        if upper <= at_least or lower > at_most:
            return bool(upper <= at_least)
        terms, bits = 4 * terms, 2 * bits


def _term(rate: Fraction, place: int) -> gmpy2.mpfr:
    """Return r^(place²), rounded as the context says."""
    return gmpy2.mpfr(gmpy2.mpq(rate)) ** (place * place)


def _sum(rate: Fraction, first: int, last: int) -> gmpy2.mpfr:
    """Return the terms from first to last - 1. All factors are
    positive, so rounding each to one side keeps to that side.
    """
    total, weight = gmpy2.mpfr(0), _term(rate, first)
    factor, square = gmpy2.mpfr(gmpy2.mpq(rate)) ** (2 * first + 1), gmpy2.mpfr(gmpy2.mpq(rate)) ** 2
    for _ in range(last - first):
        total += weight
        weight *= factor
        factor *= square
    return total


def _integral(start: gmpy2.mpfr, loss: gmpy2.mpfr) -> gmpy2.mpfr:
    """Return the integral of e^(-loss·x²) from a start on: (√π/2)·erfc(√loss·start)/√loss, rounded as the context says.

    It falls in the loss, and rounding must go the other way for what is divided by and for the argument of erfc.
    """
    context = gmpy2.get_context()
    other = rounding_up if context.round == gmpy2.RoundDown else rounding_down
    with other(context.precision):
        root = gmpy2.sqrt(loss)
        place = root * start
        twice = 2 * root
    return gmpy2.sqrt(gmpy2.const_pi()) * gmpy2.erfc(place) / twice


def _whole(below: gmpy2.mpfr, above: gmpy2.mpfr, precision: int) -> Bounds:
    """Return a number at or below Z, and one at or above it, for a loss between these: Z falls in the loss."""
    with rounding_down(precision):
        turned = above <= gmpy2.const_pi()
        most_fall = below if not turned else gmpy2.const_pi() ** 2 / below
        scale_lower = gmpy2.sqrt(gmpy2.const_pi() / above)
    with rounding_up(precision):
        least_fall = above if not turned else gmpy2.const_pi() ** 2 / above
        scale_upper = gmpy2.sqrt(gmpy2.const_pi() / below)
    with rounding_down(precision):
        at_least = _theta(least_fall)[0] * (scale_lower if turned else 1)
    with rounding_up(precision):
        series, next_term = _theta(most_fall)
        # The terms left out, on both sides, each at most half the one before.
        return at_least, (series + 4 * next_term) * (scale_upper if turned else 1)


def _theta(fall: gmpy2.mpfr) -> tuple[gmpy2.mpfr, gmpy2.mpfr]:
    """Return the first terms of 1 + 2·(e^-fall + e^(-4·fall) +
    e^(-9·fall) + …), and the first left out, for a fall > 1.
    """
    total, place = gmpy2.mpfr(1), 1
    while (term := gmpy2.exp(gmpy2.mpfr(-gmpy2.mpq(fall) * place**2))) > gmpy2.exp2(-gmpy2.get_context().precision):
        total += 2 * term
        place += 1
    return total, term
