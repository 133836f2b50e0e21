"""Every bound lies on its stated side: at few bits, where each rounding shows, against MPFR at many bits."""

import math
from collections.abc import Callable
from fractions import Fraction

import gmpy2
import pytest

from lastbit.exact import rounding

VALUES = [Fraction(n, d) for n in (1, 2, 3, 5, 7, 10, 99) for d in (1, 3, 7, 10, 64, 1000)]
FEW = (4, 9, 20)
"""Precisions."""


def true(function: Callable[..., gmpy2.mpfr], *arguments: Fraction) -> Fraction:
    """A value to 500 bits: far nearer the true one than any bound of a few bits."""
    with gmpy2.context(precision=500):
        return Fraction(
            *map(int, function(*(gmpy2.mpfr(gmpy2.mpq(argument)) for argument in arguments)).as_integer_ratio())
        )


@pytest.mark.parametrize("bits", FEW)
def test_logarithms_and_exponentials_are_bounded_from_their_sides(bits: int) -> None:
    for value in VALUES:
        log, exp = true(gmpy2.log, value), true(gmpy2.exp, value)
        assert rounding.log_lower(value, bits) <= log
        below, above = map(rounding.fraction, rounding.log_bounds(gmpy2.mpq(value), bits))
        assert below <= log <= above
        below, above = map(rounding.fraction, rounding.exp_bounds(value, value, bits))
        assert below <= exp <= above
        assert rounding.expm1_upper(value, bits) >= true(gmpy2.expm1, value)
        assert rounding.short_upper(value, bits) >= value
        assert (
            rounding.exp_upper(-value, bits) - 1
            <= true(gmpy2.exp, -value) * 2**bits
            <= rounding.exp_upper(-value, bits)
        )


@pytest.mark.parametrize("bits", FEW)
def test_powers_are_bounded_from_their_sides(bits: int) -> None:
    for base in VALUES:
        for exponent in (Fraction(1, 3), Fraction(2), Fraction(7, 5)):
            power = true(lambda b, e: b**e, base, exponent)
            below, above = map(rounding.fraction, rounding.power_bounds(base, exponent, bits))
            assert below <= power <= above
            logs = [rounding.log_bounds(gmpy2.mpq(base), bits)] * 2
            weights = [gmpy2.mpq(1, 3), gmpy2.mpq(3, 7)]
            lower, upper = rounding.log_power_sum_bounds(weights, logs, exponent, bits)
            assert lower <= true(gmpy2.log, power * Fraction(16, 21)) <= upper


def test_floats_are_next_to_their_value_on_their_side() -> None:
    for value in [*VALUES, Fraction(10) ** 400, Fraction(1, 10**400)]:
        above, below = rounding.float_upper(value), rounding.float_lower(value)
        assert below <= value <= above
        assert above == below or math.nextafter(below, math.inf) == above or value > 10**300
        if value >= 1:
            log = true(gmpy2.log, value)
            assert rounding.log_float_lower(value) <= log <= rounding.log_upper(value)
