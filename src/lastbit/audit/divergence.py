"""Rényi divergences of one law from another, rounded outward, and the alpha at which they say most about rho.

A release is rho-zCDP when the divergence of every order alpha > 1 is at most alpha·rho, for all neighbours. So each
alpha proves a lower bound on rho: the divergence over alpha. Floats only choose the alpha; MPFR proves the value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lastbit.audit.nearest import NearestLaws
from lastbit.audit.rationals import fraction_of
from lastbit.exact.rounding import Bounds, log_bounds, log_power_sum_bounds, log_upper, precision_for
from lastbit.privacy.zcdp import log_of

Bound = Fraction | float
"""A fraction, or infinity."""

_BITS: Final = 192
_SMALLEST: Final = -20
"""The smallest alpha that is tried is 1 + 2^-20. There the divergence is all but the limit at 1."""
_DENSE: Final = -6
_STEPS: Final = Fraction(1), Fraction(19, 16), Fraction(45, 32), Fraction(27, 16)
"""The alpha - 1 that are tried: powers of two up to 2^-6, and from there on four for each power, each within 1.2 times
the one before."""
_FURTHEST: Final = 20
"""Floats look for the worst alpha up to 1 + 2^20."""
_ROUNDS: Final = 40
_GOLDEN: Final = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class Divergence:
    """The Rényi divergences of P from Q, for two laws that are known exactly."""

    laws: NearestLaws

    def bounds(self, alpha: Fraction) -> tuple[Bound, Bound]:
        """Return a number at or below the divergence of order alpha, and one at or above it."""
        if self.laws.endless:
            return math.inf, math.inf
        lower, upper = log_power_sum_bounds(self.laws.masses, self._logs, alpha, self._precision)
        above = alpha - 1
        # No divergence is negative, whatever the rounding says.
        return max(Fraction(0), lower / above), max(Fraction(0), upper / above)

    def orders(self, rho: Fraction) -> Iterator[Fraction]:
        """Yield the alphas to try against a rho: the worst that floats find, and steps that leave nothing out.

        If the divergence is at most alpha·rho at all of them, it is at most alpha·rho·(1 + 1/100) at every alpha. For
        (alpha - 1)·divergence is convex in alpha, so between two alphas it is at most its chord, and the chord is above
        (alpha - 1)·alpha·rho by at most a quarter of the square of the step, times rho. Below the first alpha the
        divergence is smaller than there. From the last one on, alpha·rho is above the logarithm of the largest ratio,
        and no divergence is above that.
        """
        yield self.worst
        if self.laws.endless:
            return
        far = Fraction(log_upper(max(Fraction(1), fraction_of(self.laws.ratios[-1])))) / rho
        octave = _SMALLEST
        while True:
            for step in _STEPS if octave >= _DENSE else _STEPS[:1]:
                above = step * Fraction(2) ** octave
                yield 1 + above
                if 1 + above >= far:
                    return
            octave += 1

    @cached_property
    def worst(self) -> Fraction:
        """About the alpha at which the divergence over alpha is largest: some alpha where it is infinite."""
        if self.laws.endless:
            return Fraction(2)
        places = [_SMALLEST + n / 2 for n in range(2 * (_FURTHEST - _SMALLEST))]
        best = max(places, key=self._share)
        place = _highest(self._share, max(best - 0.5, _SMALLEST), best + 0.5)
        return 1 + Fraction(2.0**place).limit_denominator(1 << 30)

    def _share(self, place: float) -> float:
        """Return roughly the divergence over alpha, at alpha = 1 + 2^place."""
        above = 2.0**place
        logs, masses = self._floats
        terms = logs * above
        if float(terms.max()) < 1:
            # The masses add up to 1. Left out of the sum, they do not drown what is small.
            moment = math.log1p(float(np.sum(np.exp(masses) * np.expm1(terms))))
        else:
            terms += masses
            top = float(terms.max())
            moment = top + math.log(float(np.sum(np.exp(terms - top))))
        return float(moment / (above * (1 + above)))

    @cached_property
    def _precision(self) -> int:
        # Ratios near 1 need more bits, for the moments differ from 1 by about the square of their logarithms.
        ends = (fraction_of(ratio) for ratio in (self.laws.ratios[0], self.laws.ratios[-1]))
        return _BITS + 2 * max(precision_for(end) for end in ends)

    @cached_property
    def _logs(self) -> list[Bounds]:
        return [log_bounds(ratio, self._precision) for ratio in self.laws.ratios]

    @cached_property
    def _floats(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The logarithms of the ratios, and of the masses of P."""
        own = (ratio * mass for ratio, mass in zip(self.laws.ratios, self.laws.masses, strict=True))
        return np.array([float(low) for low, _ in self._logs]), np.array([log_of(fraction_of(mass)) for mass in own])


def _highest(curve: Callable[[float], float], low: float, high: float) -> float:
    """Return where a curve of one hill is about highest, cut in the golden ratio."""
    for _ in range(_ROUNDS):
        one, two = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        low, high = (low, two) if curve(one) > curve(two) else (one, high)
    return (low + high) / 2
