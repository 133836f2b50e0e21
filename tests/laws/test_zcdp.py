"""Conversions between epsilon, rho and (epsilon, delta): certified, against formulas followed to 300 digits."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import gmpy2
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import lastbit as lb
from lastbit.privacy import zcdp
from lastbit.privacy.zcdp import largest_rho

DIGITS = gmpy2.context(precision=1100, emin=gmpy2.get_emin_min(), emax=gmpy2.get_emax_max())
MILLIONTH, BILLIONTH = Fraction(1, 10**6), Fraction(1, 10**9)

rhos = st.fractions(Fraction(1, 10**9), 50, max_denominator=10**12).filter(bool)
deltas = st.integers(1, 40).map(lambda bits: Fraction(1, 1 << bits)) | st.fractions(MILLIONTH, Fraction(99, 100))
epsilons = st.fractions(Fraction(1, 10**6), 30, max_denominator=10**9)


def long(value: Fraction) -> gmpy2.mpfr:
    return gmpy2.mpfr(gmpy2.mpq(value))


def lowest(curve: Callable[[gmpy2.mpfr], gmpy2.mpfr]) -> gmpy2.mpfr:
    """The lowest value of a curve of one valley over alpha - 1 > 0, by thirds of its logarithm: 300 digits of it."""
    low, high = gmpy2.mpfr(-60), gmpy2.mpfr(60)
    for _ in range(880):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, two) if curve(gmpy2.exp(one)) < curve(gmpy2.exp(two)) else (one, high)
    return curve(gmpy2.exp((low + high) / 2))


@settings(max_examples=25)
@given(rhos, deltas)
@example(Fraction(1, 2), MILLIONTH)
@example(Fraction(1, 100), BILLIONTH)
def test_epsilon_at_delta_is_never_below_the_formula_and_never_far_above(rho: Fraction, delta: Fraction) -> None:
    stated = zcdp.epsilon_at(rho, delta)
    with DIGITS:
        slope, far = long(rho), gmpy2.log(1 / long(delta))
        formula = lowest(lambda s: (1 + s) * slope + (far - gmpy2.log1p(s)) / s - gmpy2.log1p(1 / s))
        assert long(stated) >= formula
        assert long(stated) <= max(formula, 0) * (1 + gmpy2.mpfr("1e-12")) + gmpy2.mpfr("1e-12")


@settings(max_examples=25)
@given(rhos, epsilons)
@example(Fraction(1, 10), Fraction(2))
def test_delta_at_epsilon_is_never_below_the_formula_and_never_far_above(rho: Fraction, epsilon: Fraction) -> None:
    stated = zcdp.delta_at(rho, epsilon)
    with DIGITS:
        slope, reach = long(rho), long(epsilon)
        formula = lowest(lambda s: s * ((1 + s) * slope - reach) - (1 + s) * gmpy2.log1p(1 / s) - gmpy2.log(s))
        # A delta is stated down to e^-16384 only.
        least = gmpy2.exp(max(formula, gmpy2.mpfr(-16384)))
        assert stated == 1 or long(stated) >= least
        assert long(stated) <= least * (1 + gmpy2.mpfr("1e-9"))


@given(st.fractions(Fraction(1, 10**12), 2000, max_denominator=10**12).filter(bool))
@example(Fraction(1, 1 << 500))
@example(Fraction(5000))
def test_rho_of_a_pure_epsilon_is_tight_and_never_below(epsilon: Fraction) -> None:
    stated = zcdp.rho_of(epsilon)
    with DIGITS:
        exact = long(epsilon) * gmpy2.tanh(long(epsilon) / 2)
        assert exact <= long(stated) <= exact * (1 + gmpy2.mpfr(2) ** -90)


@given(rhos)
def test_an_epsilon_for_a_rho_is_the_largest(rho: Fraction) -> None:
    for largest, of in ((zcdp.epsilon_for, zcdp.rho_of), (zcdp.range_epsilon_for, zcdp.range_rho)):
        epsilon = largest(rho)
        assert of(epsilon) <= rho
        assert of(epsilon * (1 + Fraction(1, 1 << 60))) > rho


@given(st.fractions(Fraction(1, 100), 20, max_denominator=1000), deltas)
def test_a_rho_for_epsilon_and_delta_is_certified_and_about_the_largest(epsilon: Fraction, delta: Fraction) -> None:
    rho = largest_rho(epsilon, delta)
    assert zcdp.epsilon_at(rho, delta) <= epsilon
    assert zcdp.epsilon_at(rho * (1 + Fraction(1, 10**9)), delta) > epsilon
    assert rho.numerator.bit_length() <= 80


# Figures of the conversion, rounded up: rho, delta, epsilon by zCDP, rho + 2·sqrt(rho·ln(1/delta)), and the exact
# epsilon of one continuous Gaussian of this rho.
FIGURES = [
    ("1/2", MILLIONTH, 5.2215, 5.7565, 4.8866),
    ("1/10", MILLIONTH, 2.1419, 2.4508, 1.9945),
    ("1/100", BILLIONTH, 0.8102, 0.9205, 0.7682),
]


def gaussian_delta(rho: Fraction, epsilon: float) -> gmpy2.mpfr:
    """The delta of a Gaussian whose noise is 1/sqrt(2·rho) sensitivities wide (Balle and Wang 2018)."""
    width = 1 / gmpy2.sqrt(2 * long(rho))
    root = gmpy2.sqrt(gmpy2.mpfr(2))
    below = gmpy2.erfc((epsilon * width - 1 / (2 * width)) / root) / 2
    return below - gmpy2.exp(gmpy2.mpfr(epsilon)) * gmpy2.erfc((epsilon * width + 1 / (2 * width)) / root) / 2


@pytest.mark.parametrize(("rho", "delta", "certified", "simple", "gaussian"), FIGURES)
def test_figures_of_the_conversion(rho: str, delta: Fraction, certified: float, simple: float, gaussian: float) -> None:
    cost = lb.Cost.zcdp(rho)
    assert cost.epsilon_at(delta) == pytest.approx(certified, abs=5.1e-5)
    assert float(cost.rho) + 2 * math.sqrt(cost.rho * math.log(1 / delta)) == pytest.approx(simple, abs=5.1e-5)
    with DIGITS:
        assert gaussian_delta(cost.rho, gaussian - 1e-4) > long(delta) > gaussian_delta(cost.rho, gaussian + 1e-4)


@pytest.mark.parametrize(
    ("epsilon", "delta", "rho"), [(1, MILLIONTH, 0.024356), (1, BILLIONTH, 0.014973), (3, MILLIONTH, 0.185070)]
)
def test_figures_of_the_largest_rho(epsilon: int, delta: Fraction, rho: float) -> None:
    assert float(largest_rho(epsilon, delta)) == pytest.approx(rho, abs=5.1e-7)


def test_fifty_picks_cost_far_less_together_than_their_sum() -> None:
    pick = lb.ExponentialMechanism(epsilon="1/10").cost
    assert (pick * 50).epsilon == 5
    assert (pick * 50).epsilon_at(MILLIONTH) == pytest.approx(1.66, abs=0.001)
    # In rho the scale of a ranking grows with the root of the number of picks.
    mechanism = lb.ExponentialMechanism(rho=largest_rho(1, MILLIONTH), monotone=True)
    scale = 1 / mechanism._rate(50).loss_upper
    assert 16 < scale < 16.1 < 19
    assert 1 / lb.ExponentialMechanism(epsilon=1, monotone=True)._rate(50).loss_upper == pytest.approx(50)
