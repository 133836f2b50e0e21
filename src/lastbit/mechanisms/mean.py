"""The mean over people whose number is private: two sums in one release."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations, combinations_with_replacement, product
from typing import Any, Final, Self

from lastbit.chance.draw import Draw
from lastbit.errors import ParameterError
from lastbit.estimate.accuracy import laplace_accuracy
from lastbit.exact.numbers import Number, probability, whole
from lastbit.mechanisms.grid_mechanism import GridMechanism
from lastbit.output.picture import Panel
from lastbit.privacy.rate import Rate
from lastbit.release import Interval, Release
from lastbit.values.bounds import parse_bounds
from lastbit.values.grid import Grid
from lastbit.values.known import Known, lies_on, unpack_within
from lastbit.values.statistic import MeanSums
from lastbit.values.sum_rule import SumRule, ends

_EXACT: Final = Fraction(0)
"""How far numbers lie from exact ones that are exact themselves."""


@dataclass(frozen=True, eq=False, repr=False)
class MeanAndPeople(Release):
    """A mean over people and the number of people, from two noisy sums: `mean`, `people`, and an interval for each.

    >>> import lastbit as lb
    >>> found = lb.NoisyMean(epsilon=9, bounds=(0, 10)).release([3, 4, 5] * 1000)
    >>> round(found.mean), 2_900 < found.people < 3_100
    (4, True)
    """

    sums: tuple[int, int]
    """The two noisy sums in half steps of the grid: totals less the midpoint, and people times half the range."""
    half_step: Fraction = field(hash=False)
    bounds: tuple[Fraction, Fraction] = field(hash=False)
    rate: Rate = field(compare=False)
    floored: Fraction = field(compare=False)
    """How far a number may lie from the exact one; 0 where the numbers, and so the first sum, are exact."""
    once: bool = field(compare=False, default=False)
    """Whether the first sum was floored, by less than two half steps; in older releases each number was."""
    of_rows: bool = field(compare=False, default=False)
    """Whether the mechanism was given a column of numbers, each of which was taken for one person."""

    @cached_property
    def mean(self) -> Fraction:
        """The estimate of the mean, within the bounds; the midpoint where nobody is seen."""
        first, second = self.sums
        if second <= 0:
            return sum(self.bounds, Fraction(0)) / 2
        # A sum that was floored is too low by half of that on average.
        return self._clamp((first + Fraction(self._above, 2)) / second)

    @cached_property
    def people(self) -> Fraction:
        """The estimate of the number of people, without bias: it may be below zero."""
        return self.sums[1] * self.half_step / self._half

    def interval(self, level: Number = "0.95") -> Interval:
        """Return a confidence interval for the mean of the numbers, each clamped to the bounds but not floored.

        It holds together with `people_interval` with at least this probability.

        >>> release = NoisyMean(epsilon=1, bounds=(0, 10)).release([5] * 1000)
        >>> low, high = release.interval("0.95")
        >>> high - low < 1
        True
        """
        first, second = self.sums
        reach = self._reach(level)
        if second - reach <= 0:
            return self.bounds
        ends = [Fraction(first + by, second + to) for by in (-reach, reach + self._above) for to in (-reach, reach)]
        # Numbers whose bounds lie between two steps may be too high as well as too low.
        below = self.floored if self.once else Fraction(0)
        return self._clamp(min(ends), -below), self._clamp(max(ends), self.floored)

    def people_interval(self, level: Number = "0.95") -> Interval:
        """Return a confidence interval of the number of people. It and `interval` hold together at this level."""
        reach = self._reach(level) * self.half_step / self._half
        return max(Fraction(0), self.people - reach), self.people + reach

    @cached_property
    def total(self) -> Fraction:
        """The estimate of the sum of the numbers, without bias: it follows from both noisy sums."""
        middle = sum(self.bounds, Fraction(0)) / 2
        return (self.sums[0] + Fraction(self._above, 2)) * self.half_step + middle * self.people

    def total_interval(self, level: Number = "0.95") -> Interval:
        """Return a confidence interval of the sum of the numbers, each clamped to the bounds but not floored.

        It holds together with `interval` and `people_interval` with at least this probability.

        >>> release = NoisyMean(epsilon=9, bounds=(0, 10)).release([5] * 1000)
        >>> low, high = release.total_interval("0.95")
        >>> low <= release.total <= high, high - low < 1000
        (True, True)
        """
        reach, (first, _), (low, high) = self._reach(level), self.sums, self.bounds
        fewest, most = (max(Fraction(0), end or Fraction(0)) for end in self.people_interval(level))
        middles = [(low + high) / 2 * number for number in (fewest, most)]
        start = (first - reach) * self.half_step + min(middles) - most * self.floored
        end = (first + reach + self._above) * self.half_step + max(middles) + most * self.floored
        # So many numbers, each between the bounds, have no other total.
        start, end = max(start, min(low * fewest, low * most)), min(end, max(high * fewest, high * most))
        return start, max(start, end)

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the mean and the number of people."""
        return {"mean": [self.mean], "people": [self.people]}

    def error_bars(self, level: Number = "0.95", most: int | None = None) -> dict[str, Sequence[Interval]]:
        """Return the interval of the mean, and that of the number of people."""
        return {"mean": [self.interval(level)], "people": [self.people_interval(level)]}

    def panels(self, level: Number = "0.95") -> list[Panel]:
        """Return the mean and the number of people, side by side: each has a scale of its own."""
        bars = self.error_bars(level)
        return [Panel(name, [name], column, intervals=bars[name]) for name, column in self.columns().items()]

    @property
    def _half(self) -> Fraction:
        low, high = self.bounds
        return (high - low) / 2

    def _reach(self, level: Number) -> int:
        # Both intervals hold together when each misses half as often.
        return laplace_accuracy(self.rate, (1 + probability(level, "level")) / 2)

    @property
    def _above(self) -> int:
        """How many half steps the exact first sum may lie above the one that was floored."""
        return 2 if self.once and self.floored else 0

    def _clamp(self, centred: Fraction, more: Fraction = Fraction(0)) -> Fraction:
        low, high = self.bounds
        return max(low, min(high, (low + high) / 2 + self._half * centred + more))


@dataclass(frozen=True, kw_only=True)
class NoisyMean(GridMechanism[MeanAndPeople]):
    """The mean of a number over people, and how many people there are, when the number of people is private too.

    With half = (upper - lower)/2, a person adds their number less the midpoint to a first sum, which is at most half
    either way, and half to a second sum. So one person moves both together by at most upper - lower, and the mean is
    midpoint + half·first/second. Pass one number for each person, or the sums that `mean_sums` gives. A person whose
    number is missing is in neither sum: the mean divides by the people who have a number, and `people` counts these.
    With `most_rows`, a person has so many numbers at most, both sums move so many times as far, and `people` counts
    numbers.

    Paper:    none; the midpoint is taken off so that it costs nothing.
    Law:      both sums with discrete Laplace noise of scale most_rows·(upper - lower)/epsilon on a grid of half the
              resolution.
    Cost:     epsilon, or eta.
    Assumes:  one person comes or goes, or replaces one, whose number may be missing before or after. Numbers
              are clamped to the bounds, and their sum is floored to the resolution.
    Checked:  tests/laws/test_mean.py, exactly, on neighbours.
    Speed:    two draws, and one pass over the numbers.

    >>> release = NoisyMean(epsilon=1, bounds=(0, 10)).release([3, 4, 5] * 1000)
    >>> 3 < release.mean < 5, 2900 < release.people < 3100
    (True, True)
    """

    bounds: tuple[Number, Number]
    most_rows: int = 1
    sensitivity: Number = field(init=False, repr=False, compare=False, default=1)
    rate: Rate = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        lower, upper = parse_bounds(self.bounds)
        step = Grid(self.resolution).resolution
        ends((lower, upper), Grid(step))
        # Half steps: the midpoint of two bounds on the grid may lie between two steps.
        most = whole(self.most_rows, "most_rows")
        self._derive(bounds=(lower, upper), sensitivity=most * (upper - lower), resolution=step / 2, most_rows=most)
        super().__post_init__()
        self._derive(resolution=step, rate=self.cost.rate(Fraction(1, self._reach)))

    @classmethod
    def of(cls, values: Any, **parameters: Any) -> Self:
        """Return the mechanism for one number for each person, or for `mean_sums`, which say their bounds themselves.

        >>> NoisyMean.of([3, 4, 5], epsilon=1, bounds=(0, 10)).bounds
        (Fraction(0, 1), Fraction(10, 1))
        """
        if not isinstance(values, MeanSums) and "bounds" not in parameters:
            raise ParameterError(
                "NoisyMean.of needs bounds, the range that each person's number is clamped to: write bounds=(0, 100). "
                "Choose it without the numbers. Nothing was drawn."
            )
        known = {"bounds": values.bounds} if isinstance(values, MeanSums) else {}
        return cls(**{**known, **parameters})

    def ready(self, values: Any) -> Callable[[Draw], MeanAndPeople]:
        """Return the mean of one number for each person, or of the sums that `mean_sums` gives."""
        of_rows = not isinstance(values, Known)
        sums, flooring = self._add_rows(values) if of_rows else self._floor_sums(values)
        first, second = sums
        bounds: Any = self.bounds
        name, cost, half_step, rate = self.name, self.cost, self.grid.resolution, self.rate

        def measure(draw: Draw) -> MeanAndPeople:
            one, other = draw.laplace(rate, 2).tolist()
            return MeanAndPeople.made(
                name, cost, (first + one, second + other), half_step, bounds, rate, flooring, True, of_rows
            )

        return measure

    @cached_property
    def _rule(self) -> SumRule:
        """How numbers are added up."""
        return SumRule.of(self.bounds, self.resolution)

    def _add_rows(self, values: Any) -> tuple[tuple[int, int], Fraction]:
        """Return `mean_sums` of one number for each person, in half steps, and how far numbers lie from exact ones."""
        rule = self._rule
        total, units, whole = rule.add(values, None)
        # The midpoint, and half the range, are so many half steps.
        sums = 2 * total - (rule.least + rule.most) * units, (rule.most - rule.least) * units
        return sums, _EXACT if whole else rule.fine.resolution

    def _floor_sums(self, values: Known) -> tuple[tuple[int, int], Fraction]:
        """Return the same of sums that `mean_sums` gives."""
        if not isinstance(values, MeanSums) or values.bounds != self.bounds or not lies_on(values, self.grid):
            raise ParameterError(
                "values must be one number for each person, or mean_sums of them with the same bounds and resolution "
                f"as the mechanism: got {type(values).__name__}. Nothing was drawn."
            )
        unpack_within(values, self._furthest)
        # Exact, and not clamped as other values are: a sum may be long.
        first, second = (math.floor(value / self.grid.resolution) for value in values.values)
        return (first, second), values.floored

    def neighbours(self, values: Sequence[Number]) -> Iterator[tuple[Any, ...]]:
        """Yield the input without the numbers of one person, with some of them missing or others in their place, and
        with more. A person has up to `most_rows` numbers. Those that are new lie at a bound or in the middle.
        """
        numbers = tuple(values)
        lower, upper = parse_bounds(self.bounds)
        others = (lower, (lower + upper) / 2, upper)
        for size in range(1, self.most_rows + 1):
            for places in combinations(range(len(numbers)), size):
                for changes in product(((), (None,), *((number,) for number in others)), repeat=size):
                    new = dict(zip(places, changes, strict=True))
                    yield tuple(number for place, old in enumerate(numbers) for number in new.get(place, (old,)))
            for more in combinations_with_replacement(others, size):
                yield (*numbers, *more)
