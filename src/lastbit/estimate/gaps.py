"""What a free gap tells: an estimate of the value, its variance, and a lower confidence bound, all exact.

A query reported above with gap g says value + X = threshold + g, where X is the query noise minus the threshold noise:
two independent discrete Laplace variables. Ding et al. (free gap), section 6.2, with discrete noise in Lemma 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from lastbit.chance.inversion import power
from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, number, positive, probability
from lastbit.privacy.rate import Rate


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and the variance of its error."""

    value: Fraction
    variance: Fraction


def variance_weighted(*estimates: Estimate) -> Estimate:
    """Independent estimates of one value, each weighted by the inverse of its variance: the best linear combination.

    >>> variance_weighted(Estimate(Fraction(10), Fraction(1)), Estimate(Fraction(14), Fraction(3)))
    Estimate(value=Fraction(11, 1), variance=Fraction(3, 4))
    """
    if not estimates or any(each.variance <= 0 for each in estimates):
        raise ParameterError("estimates must not be empty, and each must have a variance above 0.")
    weight = sum((1 / each.variance for each in estimates), Fraction(0))
    total = sum((each.value / each.variance for each in estimates), Fraction(0))
    return Estimate(total / weight, 1 / weight)


@dataclass(frozen=True, slots=True)
class GapNoise:
    """The law of X = query noise - threshold noise, on the grid: symmetric about 0.

    >>> noise = GapNoise(Rate(1, 1), Rate(3, 2), Fraction(1))
    >>> noise.at_least(0) + noise.at_least(1)
    Fraction(1, 1)
    """

    threshold_rate: Rate
    query_rate: Rate
    resolution: Fraction

    @property
    def variance(self) -> Fraction:
        """The variance of threshold + gap as an estimate of the value."""
        return (self.threshold_rate.laplace_variance + self.query_rate.laplace_variance) * self.resolution**2

    def estimate(self, threshold: Number, gap: Number) -> Estimate:
        """Threshold plus gap as an estimate of the value.

        The error is X, and the variance is the variance of X, over all queries asked. Among reported queries X is not
        centred: the estimate is too high on average, and more so the further the value is below the threshold.

        >>> GapNoise(Rate(1, 1), Rate(1, 1), Fraction(1)).estimate(100, 7)
        Estimate(value=Fraction(107, 1), variance=Fraction(8, 1))
        """
        return Estimate(number(threshold, "threshold") + number(gap, "gap"), self.variance)

    def at_least(self, steps: int) -> Fraction:
        """P(X >= steps), exactly: Lemma 7 for discrete noise. The fraction has about |steps| times 64 bits."""
        t = abs(steps) + (steps < 0)
        tail = self._tail(t, *(rate.fraction ** (t + 1) for rate in self._slow_fast))
        return 1 - tail if steps < 0 else tail

    def lower_bound(self, threshold: Number, gap: Number, level: Number = "0.95") -> LowerBound:
        """A number at or below the value with probability `level` or more, over all queries asked: see `LowerBound`.

        >>> bound = GapNoise(Rate(1, 1), Rate(3, 2), Fraction(1)).lower_bound(100, 20, level="0.95")
        >>> bound.value, float(bound.coverage)
        (Fraction(111, 1), 0.961...)
        """
        wanted = probability(level, "level")
        if wanted < Fraction(1, 2):
            raise ParameterError(f"level must be at least 1/2: got {level}. Write 0.95 for 95%.")
        # value >= threshold + gap - t exactly when X <= t. Find the least t with P(X >= t+1) at most 1 - level.
        low, high = -1, 1
        while self._more_than(high + 1, 1 - wanted):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._more_than(middle + 1, 1 - wanted) else (low, middle)
        start = number(threshold, "threshold")
        return LowerBound(start + number(gap, "gap") - high * self.resolution, start, wanted, high, self)

    @property
    def _slow_fast(self) -> tuple[Rate, Rate]:
        """The two rates, the one that falls more slowly first."""
        one, other = self.threshold_rate, self.query_rate
        return (one, other) if one.fraction >= other.fraction else (other, one)

    def _tail(self, t: int, slow: Fraction, fast: Fraction) -> Fraction:
        """P(X >= t) for t >= 0, from a^(t+1) and b^(t+1): rising in the first, falling in the second.

        For a > b, P(X = k) = (1-a)²(1-b)² / ((a-b)(1-ab)) · (a^(|k|+1)/(1-a²) - b^(|k|+1)/(1-b²)); for a = b it is
        (1-a)⁴/(1-a²)² · (|k| + (1+a²)/(1-a²)) · a^|k|.
        """
        a, b = (rate.fraction for rate in self._slow_fast)
        if a == b:
            mean = (1 + a * a) / (1 - a * a)
            return (1 - a) ** 4 / (1 - a * a) ** 2 * ((t + mean) / (1 - a) + a / (1 - a) ** 2) * slow / a
        scale = (1 - a) ** 2 * (1 - b) ** 2 / ((a - b) * (1 - a * b))
        return scale * (slow / ((1 - a * a) * (1 - a)) - fast / ((1 - b * b) * (1 - b)))

    def _more_than(self, t: int, level: Fraction) -> bool:
        """Whether P(X >= t) > level. Bounds close in on the powers, and are exact at enough bits."""
        bits = 512
        while True:
            one = 1 << bits
            slow, fast = (power(rate, t + 1, bits) for rate in self._slow_fast)
            lower = self._tail(t, Fraction(slow[0], one), Fraction(fast[1], one))
            upper = self._tail(t, Fraction(slow[1], one), Fraction(fast[0], one))
            if lower > level or upper <= level:
                return lower > level
            bits *= 2


@dataclass(frozen=True, slots=True)
class LowerBound:
    """A lower confidence bound, and the probability with which it holds.

    `coverage` is the probability that the bound is at or below the value, over all queries asked: at least `level`.
    The bound fails more often among reported queries, because large noise gets queries reported. For a value far below
    the threshold it fails almost always. `coverage_given_report` is the probability among reported queries, for a
    supposed value of one query asked alone.
    """

    value: Fraction
    threshold: Fraction
    level: Fraction
    steps: int
    """How far the bound is below threshold + gap, on the grid."""
    noise: GapNoise

    @property
    def coverage(self) -> Fraction:
        """P(bound <= value), whether the query is reported or not, exactly."""
        return self.noise.at_least(-self.steps)

    def coverage_given_report(self, value: Number) -> Fraction:
        """P(bound <= value, given that the query is reported above), exactly, if the query has this value.

        >>> bound = GapNoise(Rate(1, 1), Rate(3, 2), Fraction(1)).lower_bound(100, 20, level="0.95")
        >>> float(bound.coverage_given_report(100)), float(bound.coverage_given_report(95))
        (0.93..., 0.75...)
        """
        below = (self.threshold - number(value, "value")) / self.noise.resolution
        if below.denominator != 1:
            raise ParameterError(f"value must be on the grid of {self.noise.resolution}: got {value}.")
        reported = self.noise.at_least(below.numerator)
        missed = self.noise.at_least(max(below.numerator, self.steps + 1))
        return 1 - missed / reported


def measured(value: Number, variance: Number) -> Estimate:
    """A measurement with the variance of its noise, ready for `variance_weighted`.

    >>> measured("12.5", 2)
    Estimate(value=Fraction(25, 2), variance=Fraction(2, 1))
    """
    return Estimate(number(value, "value"), positive(variance, "variance", "It is the spread of the noise."))
