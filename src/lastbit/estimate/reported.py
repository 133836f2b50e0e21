"""What reports above a threshold tell together with a measurement of each: estimates, and intervals that hold.

Report i has a gap, which says value + X - Z - shift = threshold + gap, and a measurement, which says value + N. The
noise X of the query and the noise N of the measurement are new for each report; the noise Z of the threshold is one for
all. So with the variances vA of N, vX of X and vZ of Z, and with Dᵢ the estimate from gap i less measurement i, the
best linear estimate is

    βᵢ = αᵢ + w_d·(Dᵢ - D̄) + w_m·D̄,    w_d = vA/(vA + vX),    w_m = vA/(vA + vX + k·vZ).

That is least squares for queries that are asked whatever came out before. Lucky noise gets queries reported, so among
reported queries the gaps, and these estimates with them, are too high on average. Intervals do not suffer from it: the
noise of a measurement is drawn after the report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from lastbit.errors import ParameterError
from lastbit.estimate.accuracy import laplace_accuracy, least_exponent
from lastbit.estimate.gap_laws import OneSidedGapNoise
from lastbit.estimate.gaps import GapNoise
from lastbit.exact.numbers import Number, probability
from lastbit.privacy.rate import Rate

THRESHOLD_PART: Final = Fraction(1, 4)
"""The part of 1 - level that the bound on the threshold noise may fail with; the two sides of a measurement share the
rest."""


@dataclass(frozen=True, slots=True)
class ReportedLaw:
    """The noise in the gap and in the measurement of a report.

    >>> noise = OneSidedGapNoise(Rate(1, 1), Rate(1, 1), Fraction(1))
    >>> law = ReportedLaw(noise, Rate(1, 1))
    >>> law.estimates([Fraction(10), Fraction(20)], [Fraction(12), Fraction(20)])
    (Fraction(166, 15), Fraction(296, 15))
    """

    gap_noise: GapNoise
    measurement_rate: Rate

    @property
    def measurement_variance(self) -> Fraction:
        """vA: the variance of a measurement."""
        return self.measurement_rate.laplace_variance * self.gap_noise.resolution**2

    def _variances(self) -> tuple[Fraction, Fraction, Fraction]:
        """Return the variances of a measurement, of the noise of a query and of that of the threshold: vA, vX, vZ."""
        noise, one_sided = self.gap_noise, isinstance(self.gap_noise, OneSidedGapNoise)
        x, z = (
            rate.geometric_variance if one_sided else rate.laplace_variance
            for rate in (noise.query_rate, noise.threshold_rate)
        )
        return self.measurement_variance, x * noise.resolution**2, z * noise.resolution**2

    def estimates(self, measurements: Sequence[Fraction], by_gaps: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """Return the best linear estimates from the measurements and
        from threshold + gap - mean of each, all together.
        """
        k = len(measurements)
        if len(by_gaps) != k:
            raise ParameterError(f"there must be one gap for each measurement: got {len(by_gaps)} and {k}.")
        a, x, z = self._variances()
        apart = [gap - measured for gap, measured in zip(by_gaps, measurements, strict=True)]
        mean = sum(apart, Fraction(0)) / k if k else Fraction(0)
        own, common = a / (a + x), a / (a + x + k * z)
        return tuple(
            measured + own * (difference - mean) + common * mean
            for measured, difference in zip(measurements, apart, strict=True)
        )

    def error_left(self, k: int) -> Fraction:
        """Return the mean squared error of the estimates of k reports, over that of the measurements alone.

        It holds for queries that are asked whatever came out before.

        >>> float(ReportedLaw(OneSidedGapNoise(Rate(1, 1), Rate(1, 1), Fraction(1)), Rate(1, 1)).error_left(2))
        0.466...
        """
        a, x, z = self._variances()
        return ((k - 1) * x / (a + x) + (x + k * z) / (a + x + k * z)) / k

    def reaches(self, level: Number) -> tuple[int, int | None]:
        """Return how far, in steps, a measurement is off, and how far the
        threshold noise goes up, at this level together.

        The second is None where the noise of the gaps is not one-sided: then no gap bounds a value from above.

        Proof of the interval [measurement - first, min(measurement + first, threshold + shift + gap + second)]. The
        noise of the measurement is drawn after the report, so it is off by more than `first` with the same probability
        whatever was reported. X is never negative, so value <= threshold + shift + gap + Z. Z is drawn once, before all
        queries: it exceeds `second` with probability s^(second + 1), for all reports and all questions at once.

        >>> ReportedLaw(OneSidedGapNoise(Rate(1, 1), Rate(1, 1), Fraction(1)), Rate(1, 1)).reaches("0.95")
        (5, 6)
        """
        wrong, noise = 1 - probability(level, "level"), self.gap_noise
        if not isinstance(noise, OneSidedGapNoise):
            return laplace_accuracy(self.measurement_rate, 1 - wrong), None
        reach = laplace_accuracy(self.measurement_rate, 1 - wrong * (1 - THRESHOLD_PART))
        return reach, max(0, least_exponent(noise.threshold_rate, wrong * THRESHOLD_PART) - 1)
