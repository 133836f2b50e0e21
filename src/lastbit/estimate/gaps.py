"""What a free gap tells: an estimate of the value, its variance, and lower confidence bounds, all exact.

A query reported above with gap g says value + N = threshold + g, where N is the noise in the gap: the query noise minus
the threshold noise, and for one-sided noise minus a public shift. `GapNoise` is the law of N; `gap_laws` has the two
laws. Ding et al. (free gap), section 6.2.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from lastbit.errors import ParameterError
from lastbit.estimate.branches import Factor, Piece, sum_of_products
from lastbit.exact.numbers import Number, number, positive, probability
from lastbit.privacy.rate import Rate

MOST_BEFORE: Final = 7
"""The probability of a report has a term for every set of branches that failed: more would take seconds to add."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and the variance of its error.

    >>> Estimate(Fraction(10), Fraction(1)).value
    Fraction(10, 1)
    """

    value: Fraction
    variance: Fraction


def variance_weighted(*estimates: Estimate) -> Estimate:
    """Return independent estimates of one value, each weighted by the
    inverse of its variance: the best linear combination.

    >>> variance_weighted(Estimate(Fraction(10), Fraction(1)), Estimate(Fraction(14), Fraction(3)))
    Estimate(value=Fraction(11, 1), variance=Fraction(3, 4))
    """
    if not estimates or any(estimate.variance <= 0 for estimate in estimates):
        raise ParameterError("estimates must not be empty, and each must have a variance above 0.")
    weight = sum((1 / estimate.variance for estimate in estimates), Fraction(0))
    total = sum((estimate.value / estimate.variance for estimate in estimates), Fraction(0))
    return Estimate(total / weight, 1 / weight)


def measured(value: Number, variance: Number) -> Estimate:
    """Return a measurement with the variance of its noise, ready for `variance_weighted`.

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
    before: tuple[GapNoise, ...] = ()
    """The noise of the branches that a query must fail before this branch is tried, in order."""
    after: tuple[GapNoise, ...] = ()
    """The noise of the branches that are tried where this one fails, in order."""

    @property
    def branches(self) -> tuple[GapNoise, ...]:
        """The noise of every branch that can report a query, in the order in which they are tried."""
        return (*self.before, self, *self.after)

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
        """Return P(N >= steps), exactly. The fraction has about |steps| times 64 bits."""

    @abstractmethod
    def listed_bound(self, threshold: Number, gap: Number, level: Number = "0.95") -> Fraction | None:
        """Return a number at or below the value with probability `level` or more, given that the query is reported.

        None where the gap is too small to tell. Only one-sided noise has such a bound.
        """

    @property
    @abstractmethod
    def _threshold_pieces(self) -> Sequence[Piece]:
        """The mass of the threshold noise Z."""

    @property
    @abstractmethod
    def _query_pieces(self) -> Sequence[Piece]:
        """P(X >= steps) for the query noise X."""

    @property
    def shift(self) -> int:
        """The public shift of the threshold, in steps."""
        return 0

    @abstractmethod
    def _more_than(self, t: int, level: Fraction) -> bool:
        """Return whether P(N >= t) > level, without writing the probability out."""

    def estimate(self, threshold: Number, gap: Number) -> Estimate:
        """Return threshold plus gap, less the mean of N, as an estimate of the value.

        It is right on average, and the variance is the variance of its error, for a query that is asked whatever came
        out before. Among reported queries it is too high on average, and more so the further the value is below the
        threshold.

        >>> from lastbit.estimate.gap_laws import LaplaceGapNoise
        >>> LaplaceGapNoise(Rate(1, 1), Rate(1, 1), Fraction(1)).estimate(100, 7)
        Estimate(value=Fraction(107, 1), variance=Fraction(8, 1))
        """
        return Estimate(number(threshold, "threshold") + number(gap, "gap") - self.mean, self.variance)

    def decisive(self, level: Number = "0.95") -> Fraction:
        """Return a distance: a query so far above or below the threshold is answered rightly with this probability.

        >>> from lastbit.estimate.gap_laws import OneSidedGapNoise
        >>> noise = OneSidedGapNoise(Rate(1, 1), Rate(1, 1), Fraction(1))
        >>> noise.decisive("0.95"), float(noise.at_least(-4)), float(noise.at_least(4))
        (Fraction(4, 1), 0.9791666666666666, 0.041666666666666664)
        """
        if len(self.branches) > 1:
            raise ParameterError(
                "decisive is for a query, and here several branches can report it. Use decisive of the mechanism."
            )
        exact_level = parse_level(level)
        return self.resolution * max(
            least(lambda t: self._more_than(-t, exact_level), self._near(1 - exact_level, below=True)),
            least(lambda t: not self._more_than(t, 1 - exact_level), self._near(1 - exact_level)),
        )

    def _near(self, chance: Fraction, *, below: bool = False) -> int:
        """Return roughly how far N goes up, or down, with this probability: where a search begins."""
        return 0

    def lower_bound(self, threshold: Number, gap: Number, level: Number = "0.95") -> LowerBound:
        """Return a number at or below the value with probability `level` or more, reported or not: see `LowerBound`.

        >>> from lastbit.estimate.gap_laws import LaplaceGapNoise
        >>> bound = LaplaceGapNoise(Rate(1, 1), Rate(3, 2), Fraction(1)).lower_bound(100, 20, level="0.95")
        >>> bound.value, float(bound.coverage)
        (Fraction(111, 1), 0.961...)
        """
        exact_level = parse_level(level)
        # Every branch may be too high with an equal share of 1 - level: together they are at most 1 - level, for any
        # value, whichever branch reports it.
        steps = self.tail_bound((1 - exact_level) / len(self.branches))
        start = number(threshold, "threshold")
        return LowerBound(start + number(gap, "gap") - steps * self.resolution, start, exact_level, steps, self)

    def tail_bound(self, chance: Fraction) -> int:
        """Return the least number of steps that N exceeds with this probability at most.

        value >= threshold + gap - steps exactly when N <= steps.

        >>> from lastbit.estimate.gap_laws import OneSidedGapNoise
        >>> noise = OneSidedGapNoise(Rate(1, 1), Rate(1, 1), Fraction(1))
        >>> noise.tail_bound(Fraction(1, 20)), float(noise.at_least(4)), float(noise.at_least(3))
        (3, 0.041666666666666664, 0.08333333333333333)
        """
        return least(lambda t: not self._more_than(t + 1, chance), self._near(chance))

    def report_probability(self, below: int, at_least: int) -> Fraction:
        """Return P(this branch reports, with N of at least so many steps), for a value so far below the threshold.

        The branches before must fail. Exact, with all branches on the same noisy threshold.

        >>> from lastbit.estimate.gap_laws import OneSidedGapNoise
        >>> noise = OneSidedGapNoise(Rate(1, 1), Rate(1, 1), Fraction(1))
        >>> noise.report_probability(0, 0) == noise.at_least(0), noise.report_probability(2, 0) == noise.at_least(2)
        (True, True)
        """
        if len(self.before) > MOST_BEFORE:
            raise ParameterError(
                f"branches must be at most {MOST_BEFORE + 1} for the exact probability of a report: got a report by "
                f"branch {len(self.before) + 1}. Use listed_bound, which holds for every branch."
            )
        factors: list[Factor] = [(self._threshold_pieces, 0)]
        for noise in self.before:
            failing = [piece.complement for piece in noise._query_pieces]
            factors.append((failing, below + noise.margin + noise.shift))
        factors.append((self._query_pieces, max(below + self.margin, at_least) + self.shift))
        return sum_of_products(factors)


def parse_level(level: Number) -> Fraction:
    """Return the level of a bound, refused below 1/2: nobody means less."""
    exact_level = probability(level, "level")
    if exact_level < Fraction(1, 2):
        raise ParameterError(f"level must be at least 1/2: got {level}. Write 0.95 for 95%.")
    return exact_level


def least(enough: Callable[[int], bool], near: int = 0) -> int:
    """Return the least whole number that is enough; all larger ones are,
    not all smaller ones. The search begins at a guess.

    >>> least(lambda t: t * t * t >= -30), least(lambda t: t * t * t >= -30, near=5)
    (-3, -3)
    """
    low, high, stride, trial = None, None, 1, near
    while low is None or high is None or high - low > 1:
        if low is not None and high is not None and not low < trial < high:
            trial = (low + high) // 2
        if enough(trial):
            high, trial = trial, trial - stride
        else:
            low, trial = trial, trial + stride
        stride *= 2
    return high


@dataclass(frozen=True, slots=True)
class LowerBound:
    """A lower confidence bound, and the probability with which it holds.

    `coverage` is the probability that the bound is at or below the value, for a query that is asked whatever came out
    before, reported or not: at least `level`. A query that is asked because of earlier answers may have less. Where
    several branches can report a query, the bound of every branch is low enough for all of them together.
    The bound fails more often among reported queries, because large noise gets queries reported. For a value far below
    the threshold it fails almost always. `coverage_given_report` is the probability among queries that this branch
    reports, for a supposed value of one query asked alone. `GapNoise.listed_bound` is a bound that holds among reported
    queries.

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
        """P(no branch reports the query with a bound above its value), whether the query is reported or not.

        It is exact where there is one branch. With several it is 1 less the sum of their chances to be too high, which
        holds for every value; the probability itself is larger.
        """
        noises = self.noise.branches
        share = (1 - self.level) / len(noises)
        return 1 - sum((noise.at_least(noise.tail_bound(share) + 1) for noise in noises), Fraction(0))

    def coverage_given_report(self, value: Number) -> Fraction:
        """Return P(bound <= value, given that this branch reports the query), exactly, if the query has this value.

        >>> from lastbit.estimate.gap_laws import LaplaceGapNoise
        >>> bound = LaplaceGapNoise(Rate(1, 1), Rate(3, 2), Fraction(1)).lower_bound(100, 20, level="0.95")
        >>> float(bound.coverage_given_report(100)), float(bound.coverage_given_report(95))
        (0.93..., 0.75...)
        """
        below = (self.threshold - number(value, "value")) / self.noise.resolution
        if below.denominator != 1:
            raise ParameterError(f"value must be on the grid of {self.noise.resolution}: got {value}.")
        steps = below.numerator + self.noise.margin
        misses = self.noise.report_probability(below.numerator, self.steps + 1)
        return 1 - misses / self.noise.report_probability(below.numerator, steps)
