"""`Spread`: a sum of independent discrete Gaussians with known factors, and how far it may be off, with proof.

Three bounds hold, and the smallest is taken. The noise is subgaussian, so that √(2·V·ln(2/alpha)) always holds. Where
many numbers of similar size add up, their law is normal but for a distance D that a theorem bounds. And one number
alone has the exact law of its noise.

The theorem. Y = sum of a(i)·X(i), X(i) discrete Gaussian with parameter s(i), |a(1)| >= |a(2)| >= …, V = sum a²s². By
Poisson's summation, for |t| <= c < pi, the characteristic function of X(i) is e^(-s²t²/2)·(1 + e), where e is between 0
and k(i)·t²/c², k = 2·e^(-2·pi·s²·(pi-c))/(1 - e^(-2·pi·s²·(3pi-c))). Take this for all i where |t| <= c/a(1), and for
i > j alone where c/a(j) < |t| <= c/a(j+1), with 1 for the others. Esseen's smoothing inequality (Feller II, XVI.3,
Lemma 2, whose last term is 24·m/(pi·T) for a density of at most m) at T = c/a(J) gives, for R(j) = sum of a²s² over
i > j, E = sum k(i) and E' = sum k(i)·a(i)²/a(1)²,

    D <= (e^E' - 1)/pi + (1 + e^E)/pi · sum over j < J of [E1(R(j)c²/(2a(j)²)) - E1(R(j)c²/(2a(j+1)²))]
         + 24·a(J)/(pi·c·√(2·pi·V))        for every J, E1 the exponential integral.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp, expm1, isqrt, pi, sqrt
from statistics import NormalDist
from typing import Final

import gmpy2
import numpy as np
from numpy.typing import NDArray

from lastbit.exact.rounding import float_upper, fraction, rounding_down, rounding_up

_C: Final = 2.5
_FEW: Final = 512
"""So many different factors have an exponential integral each. Of more, simpler bounds are taken."""
_MOST_EXPONENT: Final = 30.0
"""Where the sum of all k is above this, the noise is far from normal, and so is e^E."""
_FLOATS: Final = 1e-9
"""More than the relative error of all floats here, which are sums of at most 10^7 positive numbers."""
_CHANCE: Final = Fraction(1, 1 << 40)
"""The chance that is left for factors which are not exactly the floats that stand for them."""
_OFF: Final = 2.0**-40
"""How far a factor may be from its float, in parts of the largest."""


@dataclass(frozen=True, eq=False)
class Spread:
    """A sum of noise: factors, how often each occurs, and the variance parameter s² of the noise that it belongs to.

    >>> Spread([1.0] * 3, [100, 1, 1], [400.0] * 3, Fraction(40800)).deviations(Fraction(95, 100))
    2.0...
    """

    factors: Sequence[float] | NDArray[np.float64]
    times: Sequence[int] | NDArray[np.int64]
    variances: Sequence[float] | NDArray[np.float64]
    variance: Fraction
    """The variance of the sum, exact or rounded up."""

    def half_width(self, level: Fraction) -> Fraction:
        """Return a distance that the sum keeps within, with at least this probability."""
        return root_upper(self.variance) * Fraction(self.deviations(level)) + self._float_error

    def deviations(self, level: Fraction) -> float:
        """Return the same in standard deviations: the smaller of both bounds."""
        alpha = 1 - level
        subgaussian = _subgaussian(alpha)
        left = alpha / 2 - Fraction(self.distance) - _CHANCE
        return subgaussian if left <= 0 else min(subgaussian, normal_quantile(left))

    @cached_property
    def distance(self) -> float:
        """How far the law of the sum is from the normal law of the same variance: at most, over all events Y <= w."""
        a, weight, k = self._groups
        if not len(a) or not float(self.variance):
            return 1.0
        total_k = float(k.sum())
        if total_k > _MOST_EXPONENT:
            return 1.0
        whole = float(weight.sum())
        first = expm1(float((k * (a / a[0]) ** 2).sum())) / pi
        # Added up from the small end: a difference of sums would lose what is left behind the large ones.
        rest = np.cumsum(weight[:0:-1])[::-1]
        scale = rest * _C**2 / 2
        pieces = _integrals(scale / a[:-1] ** 2, scale / a[1:] ** 2)
        middle = (1 + exp(total_k)) / pi * np.concatenate(([0.0], np.cumsum(pieces)))
        last = 24 * a / (pi * _C * sqrt(2 * pi * whole))
        return min(1.0, float((first + middle + last).min()) * (1 + _FLOATS) + _FLOATS * 1e-3)

    @cached_property
    def _groups(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """The different factors, largest first, and for each the sum of a²s² and the sum of k."""
        a, times, s = (np.asarray(member, np.float64) for member in (self.factors, self.times, self.variances))
        a = np.abs(a)
        kept = a > (a.max() * _OFF if len(a) else 0)
        a, times, s = a[kept], times[kept], s[kept]
        k = 2 * np.exp(-2 * pi * s * (pi - _C)) / -np.expm1(-2 * pi * s * (3 * pi - _C))
        different, places = np.unique(-a, return_inverse=True)
        weight, errors = np.zeros((2, len(different)))
        np.add.at(weight, places, a**2 * s * times)
        np.add.at(errors, places, k * times)
        return -different, weight, errors

    @cached_property
    def _float_error(self) -> Fraction:
        """How far the sum may be from the one with floats for factors, but for a chance of 2^-40."""
        a, times, s = (np.asarray(member, np.float64) for member in (self.factors, self.times, self.variances))
        if not len(a):
            return Fraction(0)
        off = (np.abs(a).max() * _OFF) ** 2 * float((times * s).sum())
        return Fraction(float_upper(sqrt(off) * 8 * (1 + _FLOATS)))  # √(2·ln(2^41)) is below 8


def _integrals(below: NDArray[np.float64], above: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return E1(below) - E1(above), the integrals of e^-t/t from below to above, or more."""
    if len(below) <= _FEW:
        return np.array([max(0.0, _e1(low) - _e1(high)) for low, high in zip(below, above, strict=True)])
    with np.errstate(divide="ignore", invalid="ignore"):
        wide = np.exp(-below) * np.log(above / below)
    # Where nothing is left of R, both are 0, and the integral is that of 1/t.
    return np.where(below > 0, wide, np.inf)


def _e1(value: float) -> float:
    return float("inf") if value <= 0 else -float(gmpy2.eint(gmpy2.mpfr(-value)))


def _subgaussian(alpha: Fraction) -> float:
    """Return √(2·ln(2/alpha)), rounded up."""
    with rounding_up(64):
        return float_upper(fraction(gmpy2.sqrt(2 * gmpy2.log(gmpy2.mpfr(gmpy2.mpq(2 / alpha))))))


def normal_quantile(tail: Fraction) -> float:
    """Return a number that a standard normal exceeds with at most this probability, to about eight digits.

    >>> normal_quantile(Fraction(1, 40))
    1.9599639...
    """
    guess = -NormalDist().inv_cdf(max(float(tail), 1e-300))
    while True:
        guess += 1e-9 * max(1.0, abs(guess))
        with rounding_down(64):
            place = gmpy2.mpfr(guess) / gmpy2.sqrt(gmpy2.mpfr(2))
        with rounding_up(64):
            if fraction(gmpy2.erfc(place) / 2) <= tail:
                return guess


def root_upper(value: Fraction) -> Fraction:
    """Return a fraction at or above the root of a value, by less than a share of 2^-40.

    >>> root_upper(Fraction(4)), root_upper(Fraction(2)) ** 2 > 2
    (Fraction(2, 1), True)
    """
    scale = max(0, 48 + (value.denominator.bit_length() - value.numerator.bit_length() + 1) // 2)
    squared = value * (1 << 2 * scale)
    whole = -(-squared.numerator // squared.denominator)
    root = isqrt(whole)
    return Fraction(root + (root * root < whole), 1 << scale)
