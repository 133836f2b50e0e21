"""The snapping mechanism with a uniform number that may exceed 1: a reading of "Geom(1/2)" that the notes exclude."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Final

import gmpy2

from lastbit.audit.broken.case import Case
from lastbit.chance.draw import Draw
from lastbit.mechanisms.mechanism import Program
from lastbit.privacy.eta import Eta
from lastbit.privacy.rate import Rate

_MANTISSAS: Final = 1 << 52
_HALVING: Final = Rate.from_eta(Eta(1, 1, 1))
BOUND: Final = 16
"""B: values and results are clamped to ±B. λ = Λ = 1, so ε = 1."""

COST: Final = 1 + (12 * BOUND + 2) * Fraction(1, 1 << 53)
"""ε(1 + 12Bη) + 2η with η = 2^-53: the cost of the snapping mechanism with doubles."""


def snap(draw: Draw, value: Fraction, first_exponent: int) -> int:
    """Return clamp(⌊value + S·ln U*⌉), U* = (1.m)·2^-e with a mantissa m
    of 52 bits and e geometric from first_exponent on.

    For one sign and exponent the mantissas give at most two results, and the result changes once as m rises. So the
    mantissas are drawn in two groups, counted exactly.
    """
    sign = 1 if draw.bernoulli(Fraction(1, 2)) else -1
    exponent = first_exponent + draw.geometric(_HALVING)
    first, last, at_first = _groups(value, sign, exponent)
    return first if draw.index((at_first, _MANTISSAS - at_first)) == 0 else last


@cache
def _groups(value: Fraction, sign: int, exponent: int) -> tuple[int, int, int]:
    """Return the result at the least and the greatest mantissa, and how many mantissas give the first."""
    first, last = _result(value, sign, exponent, 0), _result(value, sign, exponent, _MANTISSAS - 1)
    if first == last:
        return first, last, _MANTISSAS
    low, high = 0, _MANTISSAS - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _result(value, sign, exponent, middle) == first else (low, middle)
    return first, last, high


def _result(value: Fraction, sign: int, exponent: int, mantissa: int) -> int:
    with gmpy2.context(precision=256):
        log = gmpy2.log(gmpy2.mpfr(_MANTISSAS + mantissa)) - (52 + exponent) * gmpy2.const_log2()
        nearest = int(gmpy2.floor(gmpy2.mpfr(gmpy2.mpq(value)) + sign * log + gmpy2.mpfr("0.5")))
    return max(-BOUND, min(BOUND, nearest))


def instance(first_exponent: int) -> tuple[Program, Program]:
    """Return the programs on the values 1/2 and 3/2."""
    return (
        lambda draw: snap(draw, Fraction(1, 2), first_exponent),
        lambda draw: snap(draw, Fraction(3, 2), first_exponent),
    )


CASES = (
    Case(
        "snapping with a uniform number up to 2",
        "A reading of Covington's section 3 that the notes exclude: they put U* between 0 and 1",
        "With exponents from 0 on, half of all U* lie between 1 and 2, where ln U* has the wrong sign. So the noise is "
        "too often too small.",
        *instance(0),
        COST,
        instance(1),
        kind="implementers",
        erratum="A7",
    ),
)
