"""What a free gap tells: an estimate of the value, its variance, and lower confidence bounds, all exact.

A query reported above with gap g says value + N = threshold + g, where N is the noise in the gap: the query noise minus
the threshold noise, and for one-sided noise minus a public shift. `GapNoise` is the law of N; `gap_laws` has the two
laws. Ding et al. (free gap), section 6.2.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, number, positive, probability
from lastbit.privacy.rate import Rate


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and the variance of its error.

    >>> Estimate(Fraction(10), Fraction(1)).value
    Fraction(10, 1)
    """

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


def measured(value: Number, variance: Number) -> Estimate:
    """A measurement with the variance of its noise, ready for `variance_weighted`.

    >>> measured("12.5", 2)
    Estimate(value=Fraction(25, 2), variance=Fraction(2, 1))
    """
    return Estimate(number(value, "value"), positive(variance, "variance", "It is the spread of the noise."))


@dataclass(frozen=True, slots=True)
class GapNoise(ABC):
    """The law of N, the noise in a gap, on the grid of `resolution`. A mechanism's `gap_noise` is one of its laws.

    Every promise here is about a query that is asked whatever came out before, reported or not; `listed_bound` and
    `coverage_given_report` are about queries that are reported. Large noise gets queries reported, so among these N is
    too high on average.

    >>> import lastbit as lb
    >>> noise = lb.SparseVector(threshold=100, limit=1, epsilon=1).gap_noise
    >>> bound = noise.lower_bound(100, 20)
    >>> bound.value, noise.listed_bound(100, 20)
    (Fraction(113, 1), Fraction(112, 1))
    """

    threshold_rate: Rate
    query_rate: Rate
    resolution: Fraction
    margin: int = 0
    """The least gap that is reported, in steps: an adaptive sparse vector's branches ask for some."""

    @property
    @abstractmethod
    def mean(self) -> Fraction:
        """The mean of N: by so much threshold + gap is too high on average, for a query asked whatever came before."""

    @property
    @abstractmethod
    def variance(self) -> Fraction:
        """The variance of threshold + gap as an estimate of the value."""

    @abstractmethod
    def at_least(self, steps: int) -> Fraction:
        """P(N >= steps), exactly. The fraction has about |steps| times 64 bits."""

    @abstractmethod
    def listed_bound(self, threshold: Number, gap: Number, level: Number = "0.95") -> Fraction | None:
        """A number at or below the value with probability `level` or more, given that the query is reported.

        None where the gap is too small to tell. Only one-sided noise has such a bound.
        """

    @abstractmethod
    def _more_than(self, t: int, level: Fraction) -> bool:
        """Whether P(N >= t) > level, without writing the probability out."""

    def estimate(self, threshold: Number, gap: Number) -> Estimate:
        """Threshold plus gap, less the mean of N, as an estimate of the value.

        It is right on average, and the variance is the variance of its error, for a query that is asked whatever came
        out before. Among reported queries it is too high on average, and more so the further the value is below the
        threshold.

        >>> from lastbit.estimate.gap_laws import LaplaceGapNoise
        >>> LaplaceGapNoise(Rate(1, 1), Rate(1, 1), Fraction(1)).estimate(100, 7)
        Estimate(value=Fraction(107, 1), variance=Fraction(8, 1))
        """
        return Estimate(number(threshold, "threshold") + number(gap, "gap") - self.mean, self.variance)

    def decisive(self, level: Number = "0.95") -> Fraction:
        """A distance from the threshold: a query so far above, or so far below, is told rightly with this probability.

        >>> from lastbit.estimate.gap_laws import OneSidedGapNoise
        >>> noise = OneSidedGapNoise(Rate(1, 1), Rate(1, 1), Fraction(1))
        >>> noise.decisive("0.95"), float(noise.at_least(-4)), float(noise.at_least(4))
        (Fraction(4, 1), 0.9791666666666666, 0.041666666666666664)
        """
        wanted = confident(level)
        return self.resolution * max(
            least(lambda t: self._more_than(-t, wanted), self._near(1 - wanted, below=True)),
            least(lambda t: not self._more_than(t, 1 - wanted), self._near(1 - wanted)),
        )

    def _near(self, chance: Fraction, *, below: bool = False) -> int:
        """About how far N goes up, or down, with this probability: where a search begins."""
        return 0

    def lower_bound(self, threshold: Number, gap: Number, level: Number = "0.95") -> LowerBound:
        """A number at or below the value with probability `level` or more, reported or not: see `LowerBound`.

        >>> from lastbit.estimate.gap_laws import LaplaceGapNoise
        >>> bound = LaplaceGapNoise(Rate(1, 1), Rate(3, 2), Fraction(1)).lower_bound(100, 20, level="0.95")
        >>> bound.value, float(bound.coverage)
        (Fraction(111, 1), 0.961...)
        """
        wanted = confident(level)
        # value >= threshold + gap - t exactly when N <= t. Find the least t with P(N >= t+1) at most 1 - level.
        steps = least(lambda t: not self._more_than(t + 1, 1 - wanted), self._near(1 - wanted))
        start = number(threshold, "threshold")
        return LowerBound(start + number(gap, "gap") - steps * self.resolution, start, wanted, steps, self)


def confident(level: Number) -> Fraction:
    """The level of a bound, refused below 1/2: nobody means less."""
    wanted = probability(level, "level")
    if wanted < Fraction(1, 2):
        raise ParameterError(f"level must be at least 1/2: got {level}. Write 0.95 for 95%.")
    return wanted


def least(enough: Callable[[int], bool], near: int = 0) -> int:
    """The least whole number that is enough; all larger ones are, not all smaller ones. The search begins at a guess.

    >>> least(lambda t: t * t * t >= -30), least(lambda t: t * t * t >= -30, near=5)
    (-3, -3)
    """
    low, high, stride, tried = None, None, 1, near
    while low is None or high is None or high - low > 1:
        if low is not None and high is not None and not low < tried < high:
            tried = (low + high) // 2
        if enough(tried):
            high, tried = tried, tried - stride
        else:
            low, tried = tried, tried + stride
        stride *= 2
    return high


@dataclass(frozen=True, slots=True)
class LowerBound:
    """A lower confidence bound, and the probability with which it holds.

    `coverage` is the probability that the bound is at or below the value, for a query that is asked whatever came out
    before, reported or not: at least `level`. A query that is asked because of earlier answers may have less.
    The bound fails more often among reported queries, because large noise gets queries reported. For a value far below
    the threshold it fails almost always. `coverage_given_report` is the probability among reported queries, for a
    supposed value of one query asked alone. `GapNoise.listed_bound` is a bound that holds among reported queries.

    >>> import lastbit as lb
    >>> noise = lb.SparseVector(threshold=100, limit=1, epsilon=1, resolution=1).gap_noise
    >>> bound = noise.lower_bound(100, 20, level="0.95")
    >>> bound.value < 120, bound.coverage >= bound.level
    (True, True)
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
        return 1 - self.noise.at_least(self.steps + 1)

    def coverage_given_report(self, value: Number) -> Fraction:
        """P(bound <= value, given that the query is reported above), exactly, if the query has this value.

        >>> from lastbit.estimate.gap_laws import LaplaceGapNoise
        >>> bound = LaplaceGapNoise(Rate(1, 1), Rate(3, 2), Fraction(1)).lower_bound(100, 20, level="0.95")
        >>> float(bound.coverage_given_report(100)), float(bound.coverage_given_report(95))
        (0.93..., 0.75...)
        """
        below = (self.threshold - number(value, "value")) / self.noise.resolution
        if below.denominator != 1:
            raise ParameterError(f"value must be on the grid of {self.noise.resolution}: got {value}.")
        needed = below.numerator + self.noise.margin
        reported = self.noise.at_least(needed)
        missed = self.noise.at_least(max(needed, self.steps + 1))
        return 1 - missed / reported
