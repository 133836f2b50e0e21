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

from lastbit.audit.found import fraction_of
from lastbit.audit.nearest import Nearest
from lastbit.exact.rounding import Bounds, log_bounds, log_power_sum_bounds, log_upper, precision_for
from lastbit.privacy.zcdp import log_of

Bound = Fraction | float
"""A fraction, or infinity."""

_BITS: Final = 192
_SMALLEST: Final = -20
"""The smallest alpha that is tried is 1 + 2^-20. There the divergence is all but the limit at 1."""
_LARGEST: Final = 1 << 20
"""The largest alpha - 1 that is tried."""
_ROUNDS: Final = 40
_GOLDEN: Final = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class Divergence:
    """The Rényi divergences of P from Q, for two laws that are known exactly."""

    laws: Nearest

    def bounds(self, alpha: Fraction) -> tuple[Bound, Bound]:
        """At or below the divergence of order alpha, and at or above it."""
        if self.laws.endless:
            return math.inf, math.inf
        lower, upper = log_power_sum_bounds(self.laws.masses, self._logs, alpha, self._precision)
        above = alpha - 1
        # No divergence is negative, whatever the rounding says.
        return max(Fraction(0), lower / above), max(Fraction(0), upper / above)

    def orders(self, rho: Fraction) -> Iterator[Fraction]:
        """The alphas to try against a rho: dense near 1, the worst that floats find, and no larger than can matter.

        The divergence of any order is at most the logarithm of the largest ratio. So it is at most alpha·rho from
        some alpha on.
        """
        if self.laws.endless:
            yield Fraction(2)
            return
        far = Fraction(log_upper(max(Fraction(1), fraction_of(self.laws.ratios[-1]))))
        most = min(far / rho, Fraction(_LARGEST))
        yield self.worst
        for halves in range(2 * _SMALLEST, 2 * _LARGEST.bit_length()):
            above = Fraction(2) ** (halves // 2) * (Fraction(181, 128) if halves % 2 else 1)
            yield 1 + above
            if above >= most:
                return

    @cached_property
    def worst(self) -> Fraction:
        """About the alpha at which the divergence over alpha is largest: some alpha where it is infinite."""
        if self.laws.endless:
            return Fraction(2)
        places = [_SMALLEST + n / 2 for n in range(2 * (_LARGEST.bit_length() - _SMALLEST))]
        best = max(places, key=self._share)
        place = _highest(self._share, max(best - 0.5, _SMALLEST), best + 0.5)
        return 1 + Fraction(2.0**place).limit_denominator(1 << 30)

    def _share(self, place: float) -> float:
        """About the divergence over alpha, at alpha = 1 + 2^place."""
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

    @property
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
    """Where a curve of one hill is about highest, cut in the golden ratio."""
    for _ in range(_ROUNDS):
        one, two = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        low, high = (low, two) if curve(one) > curve(two) else (one, high)
    return (low + high) / 2
