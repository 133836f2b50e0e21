"""What a release of means of groups publishes: people, mean and total of each group, with their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

from lastbit.estimate.deviations import bound_deviation, find_deviation
from lastbit.estimate.people import noise_of_sum
from lastbit.exact.numbers import Number, probability
from lastbit.mechanisms.noisy_values import Noise, accuracy_of
from lastbit.privacy.rate import Rate
from lastbit.release import Interval, Release

_SELDOM: Final = Fraction(1, 1 << 20)
"""Of the cases in which the total of floored numbers may fail, the part where more people are there than was seen."""


@dataclass(frozen=True, eq=False, repr=False)
class GroupMeanValues(Release):
    """The mean, the total and the number of people of each group, in the order of `items`, with their intervals.

    >>> import lastbit as lb
    >>> stays = lb.GroupMeans(groups=["north", "south"], bounds=(0, 10), epsilon=50)
    >>> release = stays.release({"north": [3] * 100, "south": [4] * 200})
    >>> [round(mean) for mean in release.means], [round(float(total), -2) for total in release.totals]
    ([3, 4], [300.0, 800.0])
    """

    sums: tuple[tuple[int, int], ...]
    """Of each group, in steps: how far its numbers lie above the lower bound and below the upper one, with noise."""
    items: tuple[Any, ...] = field(hash=False)
    resolution: Fraction = field(hash=False)
    bounds: tuple[Fraction, Fraction] = field(hash=False)
    rate: Rate = field(compare=False)
    noise: Noise = field(compare=False)
    floored: Fraction = field(compare=False)
    """How far below the exact one a number may lie."""
    on_grid: bool = field(compare=False)
    """Whether the first sums were whole steps. Others were floored to one."""
    squares: tuple[int, ...] = ()
    """Of each group, in steps: the squares of how far its numbers lie from the middle, with noise; where asked for."""
    square_step: Fraction = field(default=Fraction(1), hash=False)
    square_rate: Rate | None = field(default=None, compare=False)

    @cached_property
    def people(self) -> tuple[Fraction, ...]:
        """The number of people of each group, without bias: it may be below zero."""
        return tuple(Fraction(above + below) / self._range for above, below in self.sums)

    @cached_property
    def means(self) -> tuple[Fraction | None, ...]:
        """The mean of each group, between the bounds; None where nobody is seen."""
        return tuple(self._mean(above + self._half, below - self._half) for above, below in self.sums)

    @cached_property
    def totals(self) -> tuple[Fraction, ...]:
        """The total of each group, without bias."""
        return tuple(self._total(above + self._half, below - self._half) for above, below in self.sums)

    @cached_property
    def sds(self) -> tuple[Fraction | None, ...]:
        """The standard deviation of each group, divided by its number of people; None where nobody is seen.

        >>> import lastbit as lb
        >>> release = lb.GroupMeans(groups=["a"], bounds=(0, 10), epsilon=90, sd=True).release({"a": [3, 7] * 500})
        >>> round(release.sds[0], 1)
        Fraction(2, 1)
        """
        return tuple(
            None
            if mean is None
            else find_deviation((square + Fraction(1, 2)) * self.square_step, people, mean, self.bounds)
            for square, people, mean in self._with_squares(self.people, self.means)
        )

    def sd_intervals(self, level: Number = "0.95", missing: Sequence[int] | None = None) -> tuple[Interval, ...]:
        """Return a confidence interval for the standard deviation of each group, each at this level.

        The squares may fail in half of the cases that the level allows, and people and mean in the other half, at
        `halve_failures(level)`. `missing` says how many people of each group may be left out while these hold.

        >>> import lastbit as lb
        >>> release = lb.GroupMeans(groups=["a"], bounds=(0, 10), epsilon=9, sd=True).release({"a": [3, 7] * 500})
        >>> low, high = release.sd_intervals("0.95")[0]
        >>> low < 2 < high < low + 1
        True
        """
        half, left_out = halve_failures(level), missing or [0] * len(self.sums)
        reach = 0 if self.square_rate is None else accuracy_of(self.noise, self.square_rate, half)
        ends, largest = [], (self.bounds[1] - self.bounds[0]) / 2
        others = self.people_within(half), self.intervals(half, left_out), left_out
        for square, people, mean, more in self._with_squares(*others):
            # A sum of squares was floored to a step.
            squares = (square - reach) * self.square_step, (square + reach + 1) * self.square_step
            low, high = bound_deviation(squares, people, mean, self.bounds, more)
            # Numbers that are all moved by up to so much have a standard deviation that is moved by as much at most.
            ends.append((max(Fraction(0), low - self.floored), min(largest, high + self.floored)))
        return tuple(ends)

    def _with_squares(self, *others: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
        """Yield the sum of squares of each group with these; nothing where no squares were asked for."""
        return zip(self.squares, *others, strict=bool(self.squares))

    def intervals(self, level: Number = "0.95", missing: Sequence[int] | None = None) -> tuple[Interval, ...]:
        """Return a confidence interval for the mean of each group, each at this level.

        `missing` says how many people of each group may be left out of the sums, whatever their numbers are.

        >>> import lastbit as lb
        >>> release = lb.GroupMeans(groups=["a"], bounds=(0, 10), epsilon=1).release({"a": [5] * 1000})
        >>> low, high = release.intervals("0.95")[0]
        >>> high - low < 1
        True
        """
        left_out = missing or [0] * len(self.sums)
        ends = []
        for (least, above, below, most), people in zip(self._ends(level), left_out, strict=True):
            more = people * self._range
            low, high = self._mean(least, most + more), self._mean(above + more, below)
            ends.append((self._clamp(low, 0, -self.floored), self._clamp(high, 1, self.floored)))
        return tuple(ends)

    def people_within(self, level: Number = "0.95") -> tuple[tuple[Fraction, Fraction], ...]:
        """Return an interval of the number of people that holds together with that of the mean, at this level.

        >>> import lastbit as lb
        >>> release = lb.GroupMeans(groups=["a"], bounds=(0, 10), epsilon=1).release({"a": [5] * 1000})
        >>> low, high = release.people_within("0.95")[0]
        >>> high - low < 30
        True
        """
        return tuple(
            ((least + below) / self._range, (above + most) / self._range)
            for least, above, below, most in self._ends(level)
        )

    def _ends(self, level: Number) -> list[tuple[int, int, int, int]]:
        """Return the least and the most of the first sum, then of the second, which hold together at this level."""
        reach, more = self._reach((1 + probability(level, "level")) / 2), int(not self.on_grid)
        return [
            (max(0, above - reach), max(0, above + reach + more), max(0, below - reach - more), max(0, below + reach))
            for above, below in self.sums
        ]

    def people_intervals(self, level: Number = "0.95") -> tuple[Interval, ...]:
        """Return a confidence interval for the number of people of each group, each at this level.

        >>> import lastbit as lb
        >>> release = lb.GroupMeans(groups=["a"], bounds=(0, 10), epsilon=1).release({"a": [5] * 1000})
        >>> low, high = release.people_intervals("0.95")[0]
        >>> high - low < 20
        True
        """
        reach = noise_of_sum(self.noise, self.rate, 2, (1 - probability(level, "level")) / 2)
        return tuple(
            (
                Fraction(max(0, math.ceil(Fraction(above + below - reach) / self._range))),
                Fraction(max(0, math.floor(Fraction(above + below + reach) / self._range))),
            )
            for above, below in self.sums
        )

    def total_intervals(self, level: Number = "0.95") -> tuple[Interval, ...]:
        """Return a confidence interval for the total of each group, each at this level.

        >>> import lastbit as lb
        >>> release = lb.GroupMeans(groups=["a"], bounds=(0, 10), epsilon=1).release({"a": [5] * 1000})
        >>> low, high = release.total_intervals("0.95")[0]
        >>> high - low < 100
        True
        """
        allowed = 1 - probability(level, "level")
        seldom = allowed * _SELDOM if self.floored else Fraction(0)
        reach = reach_of_total(self.bounds, self.resolution, self.noise, self.rate, 1 - allowed + seldom)
        more = noise_of_sum(self.noise, self.rate, 2, seldom) if seldom else 0
        step = Fraction(0) if self.on_grid else self.resolution

        def around(above: int, below: int) -> Interval:
            people = max(0, math.floor(Fraction(above + below + more) / self._range))
            total = self._total(above, below)
            return total - reach, total + reach + step + people * self.floored

        return tuple(around(above, below) for above, below in self.sums)

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return a row for each group."""
        sds = {"sd": self.sds} if self.squares else {}
        return {"item": self.items, "people": self.people, "mean": self.means, **sds, "total": self.totals}

    def error_bars(self, level: Number = "0.95", most: int | None = None) -> dict[str, Sequence[Interval]]:
        """Return the intervals of the means, of the totals, and of the numbers of people."""
        return {
            "people": self.people_intervals(level)[:most],
            "mean": self.intervals(level)[:most],
            **({"sd": self.sd_intervals(level)[:most]} if self.squares else {}),
            "total": self.total_intervals(level)[:most],
        }

    @property
    def _range(self) -> Fraction:
        """The range of the bounds in steps."""
        low, high = self.bounds
        return (high - low) / self.resolution

    @property
    def _half(self) -> Fraction:
        """A sum that was floored is too low by half a step on average."""
        return Fraction(0) if self.on_grid else Fraction(1, 2)

    def _reach(self, level: Fraction) -> int:
        return accuracy_of(self.noise, self.rate, level)

    def _mean(self, above: Fraction | int, below: Fraction | int) -> Fraction | None:
        low, high = self.bounds
        if above + below <= 0:
            return None
        return max(low, min(high, low + (high - low) * Fraction(above) / (above + below)))

    def _total(self, above: Fraction | int, below: Fraction | int) -> Fraction:
        low, high = self.bounds
        return (high * above + low * below) / self._range

    def _clamp(self, mean: Fraction | None, end: int, more: Fraction) -> Fraction:
        low, high = self.bounds
        return self.bounds[end] if mean is None else max(low, min(high, mean + more))


def halve_failures(level: Number) -> Fraction:
    """Return the level at which half as many cases fail.

    >>> halve_failures("0.9")
    Fraction(19, 20)
    """
    return (1 + probability(level, "level")) / 2


def reach_of_total(
    bounds: tuple[Fraction, Fraction], resolution: Fraction, noise: Noise, rate: Rate, level: Number
) -> Fraction:
    """Return how far noise moves a total at most: the upper bound times the first sum, the lower times the second.

    >>> reach_of_total((Fraction(0), Fraction(10)), Fraction(1), "laplace", Rate.from_epsilon("1/10"), "0.95")
    Fraction(30, 1)
    """
    (low, high), exact_level = bounds, probability(level, "level")
    if low == 0 or high == 0:
        steps = max(-low, high) * accuracy_of(noise, rate, exact_level)
    elif low == -high:
        steps = high * noise_of_sum(noise, rate, 2, (1 - exact_level) / 2)
    else:
        steps = (abs(low) + abs(high)) * accuracy_of(noise, rate, (1 + exact_level) / 2)
    return steps * resolution / (high - low)
