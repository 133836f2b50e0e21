"""Sorted values between two ends of a scale: what a quantile is picked from, and what is left on either side of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from lastbit.chance.draw import Draw
from lastbit.mechanisms.quantiles._rank_errors import tally
from lastbit.mechanisms.quantiles.rank_error import RankError
from lastbit.values.grid import Steps
from lastbit.values.log_scale import LogScale, Positions


class RankedValues(ABC):
    """Values in rising order, and the part of a public grid that a point may be picked from.

    A step of the grid may have several parts, and a point is one of them. What a point is written as, only the values
    that it was picked from can tell.
    """

    @abstractmethod
    def pick(self, error: RankError, draw: Draw) -> int:
        """Pick a point between the ends, with probability proportional to its weight times r^e.

        The words read and the classes follow from the number of values and from the grid.
        """

    @abstractmethod
    def split(self, point: int) -> tuple[Self, Self]:
        """Return the values below a point, between the lower end and the point, and all others, from the point on.

        Values that are equal to the point are on one side only: a person counts once.
        """

    @abstractmethod
    def step(self, point: int) -> int:
        """Return the step of the grid that a point is in."""


@dataclass(frozen=True, eq=False)
class LinearValues(RankedValues):
    """All points weigh alike, and a point is how many parts of a step it is from zero."""

    values: Steps
    low: int
    high: int
    parts: int = 1

    def pick(self, error: RankError, draw: Draw) -> int:
        """Pick a point between the ends, with probability proportional to r^e."""
        return error.point(draw, self.values, self.low, self.high)

    def split(self, point: int) -> tuple[LinearValues, LinearValues]:
        """Return the values below a point, and all others."""
        cut = int(self.values.searchsorted(point))
        below, above = self.values[:cut], self.values[cut:]
        return (
            LinearValues(below, self.low, point, self.parts),
            LinearValues(above, point, self.high, self.parts),
        )

    def step(self, point: int) -> int:
        """Return the step of the grid that a point is in."""
        return point // self.parts


@dataclass(frozen=True, eq=False)
class CountedValues(RankedValues):
    """All points weigh alike, and there are no more of them than values: each point is a class, and nothing is sorted.

    The law is that of `LinearValues`, and so are the words that are read.
    """

    counts: Steps
    """How many values are at each point, from `low` on."""
    low: int

    @classmethod
    def tally(cls, blocks: Iterable[Steps], low: int, points: int) -> CountedValues:
        """Count the values at each point. They come part by part, in any order."""
        counts = np.zeros(points, np.int64)
        for block in blocks:
            tally(np.ascontiguousarray(block), low, counts)
        return cls(counts, low)

    def pick(self, error: RankError, draw: Draw) -> int:
        """Pick a point, with probability proportional to r^e."""
        index = draw.power_index(error.rate, error.point_errors(self.counts))
        # As many words as in a gap between sorted values: they do not tell which of the two ways was taken.
        return self.low + index + draw.integer_below(1, len(self.counts))

    def split(self, point: int) -> tuple[CountedValues, CountedValues]:
        """Return the values below a point, and all others."""
        place = point - self.low
        below = self.counts[: place + 1].copy()
        below[place] = 0
        return CountedValues(below, self.low), CountedValues(self.counts[place:], point)

    def step(self, point: int) -> int:
        """Return the step of the grid that a point is."""
        return point


@dataclass(frozen=True)
class _Alone:
    """One point, however much it weighs."""

    def __call__(self, position: int) -> tuple[int, int]:
        """Return where the point begins and ends that holds a position."""
        return 0, 1


@dataclass(frozen=True)
class _Points:
    """The points of a gap, which begins at `start` on a scale: equal gaps are equal, for the auditor."""

    scale: LogScale
    parts: int
    start: int

    def __call__(self, position: int) -> tuple[int, int]:
        """Return where the point begins and ends that holds a position, both from where the gap begins."""
        step = self.scale.find((self.start + position) // self.parts)
        weight = self.scale.weight(step)
        first = position - (self.start + position - self.parts * self.scale.start(step)) % weight
        return first, first + weight


@dataclass(frozen=True, eq=False)
class LogValues(RankedValues):
    """Points weigh as a `LogScale` says; a point is where its weight begins on the scale, in parts of its weight.

    All parts of a step weigh as much as the step, in units that are so many parts smaller. As every point weighs
    something, different points begin at different positions.
    """

    scale: LogScale
    parts: int
    starts: Positions
    ends: Positions
    """Where the weight of the point of each value begins and ends."""
    low: int
    high: int
    """Where the weight of the points begins and ends that a point may be picked from."""

    @classmethod
    def place(cls, scale: LogScale, steps: Steps, offsets: Steps | None, parts: int) -> LogValues:
        """Sort values and place them on a scale; `offsets` says in which part of its step each value is."""
        order = np.argsort(steps) if offsets is None else np.lexsort((offsets, steps))
        sorted_steps, wide = steps[order], scale.needs_wide(parts)
        starts = scale.starts(sorted_steps, wide=wide)
        weights = scale.starts(sorted_steps + 1, wide=wide) - starts
        starts = starts * parts
        if offsets is not None:
            starts = starts + weights * offsets[order].astype(starts.dtype)
        ends = (parts * scale.start(end) for end in (scale.low, scale.high + 1))
        return cls(scale, parts, starts, starts + weights, *ends)

    def pick(self, error: RankError, draw: Draw) -> int:
        """Pick a point between the ends, with probability proportional to its weight times r^e."""
        n = len(self.starts)
        first_of_equals = np.ones(n, np.bool_)
        first_of_equals[1:] = self.starts[1:] != self.starts[:-1]
        # Of equal values only the first one has its point, and the gaps between them are below zero.
        befores, afters = np.empty(n + 1, self.starts.dtype), np.empty(n + 1, self.starts.dtype)
        befores[0], befores[1:], afters[:-1], afters[n] = self.low, self.ends, self.starts, self.high
        sizes = np.empty(2 * n + 1, self.starts.dtype)
        sizes[0::2] = np.maximum(afters - befores, 0)
        sizes[1::2] = np.where(first_of_equals, self.ends - self.starts, 0)
        times: Any = sizes if sizes.dtype == np.int64 else sizes.tolist()
        index = draw.power_index(error.rate, error.errors(first_of_equals), times)
        place, is_value = divmod(index, 2)
        # The class of a value is one point. In a gap, a point is drawn by its weight. The words are as many either way.
        start, size = (int(self.starts[place]), 1) if is_value else (int(befores[place]), int(sizes[index]))
        points = _Alone() if is_value else _Points(self.scale, self.parts, start)
        return start + draw.span_below(size, self.high - self.low, points)

    def split(self, point: int) -> tuple[LogValues, LogValues]:
        """Return the values below a point, and all others."""
        cut = int(np.searchsorted(self.starts, point))
        beyond = point + self.scale.weight(self.step(point))
        return (
            LogValues(self.scale, self.parts, self.starts[:cut], self.ends[:cut], self.low, beyond),
            LogValues(self.scale, self.parts, self.starts[cut:], self.ends[cut:], point, self.high),
        )

    def step(self, point: int) -> int:
        """Return the step of the grid that a point is in."""
        return self.scale.find(point // self.parts)
