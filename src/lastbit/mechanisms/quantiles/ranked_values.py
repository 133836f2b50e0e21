"""Sorted values between two ends of a scale: what a quantile is picked from, and what is left on either side of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lastbit.chance.draw import Draw
from lastbit.chance.powers import Sizes
from lastbit.mechanisms.quantiles._rank_errors import tally
from lastbit.mechanisms.quantiles.rank_error import RankError
from lastbit.values.grid import LIMIT, Steps
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
    def place(cls, scale: LogScale, steps: Steps, offsets: Steps, parts: int) -> LogValues:
        """Return sorted values in their places on a scale."""
        starts, ends = place_points(scale, steps, offsets, parts, wide=False)
        return cls(scale, parts, starts, ends, *(parts * scale.start(end) for end in (scale.low, scale.high + 1)))

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
        index = draw.power_index(error.rate, error.errors(first_of_equals), sizes)
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


@dataclass(frozen=True, eq=False)
class WideLogValues(RankedValues):
    """The same where positions have no room in 64 bits: they are computed for the values near a quantile only."""

    scale: LogScale
    parts: int
    steps: Steps
    offsets: Steps
    """The step of each value, and its part of the step, both in rising order."""
    low: int
    high: int

    def pick(self, error: RankError, draw: Draw) -> int:
        """Pick a point between the ends, with probability proportional to its weight times r^e."""
        sizes = _GapSizes(self)
        index = draw.power_index(error.rate, error.errors(sizes.first_of_equals), sizes)
        is_value, (start, size) = index % 2 == 1, sizes.span(index)
        # The class of a value is one point. In a gap, a point is drawn by its weight. The words are as many either way.
        points = _Alone() if is_value else _Points(self.scale, self.parts, start)
        return start + draw.span_below(1 if is_value else size, self.high - self.low, points)

    def split(self, point: int) -> tuple[WideLogValues, WideLogValues]:
        """Return the values below a point, and all others."""
        step = self.step(point)
        weight = self.scale.weight(step)
        part = (point - self.parts * self.scale.start(step)) // weight
        first, beyond = (int(np.searchsorted(self.steps, step, side)) for side in ("left", "right"))
        cut = first + int(np.searchsorted(self.offsets[first:beyond], part))
        return self._cut(slice(None, cut), self.low, point + weight), self._cut(slice(cut, None), point, self.high)

    def _cut(self, kept: slice, low: int, high: int) -> WideLogValues:
        return WideLogValues(self.scale, self.parts, self.steps[kept], self.offsets[kept], low, high)

    def step(self, point: int) -> int:
        """Return the step of the grid that a point is in."""
        return self.scale.find(point // self.parts)


@dataclass(frozen=True, eq=False)
class _GapSizes(Sizes):
    """The weights of 2n + 1 classes: class 2i is the gap below the i-th value, class 2i + 1 the value itself."""

    ranked: WideLogValues

    @cached_property
    def first_of_equals(self) -> NDArray[np.bool_]:
        """Which values differ from the one before."""
        steps, offsets = self.ranked.steps, self.ranked.offsets
        first = np.ones(len(steps), np.bool_)
        first[1:] = (steps[1:] != steps[:-1]) | (offsets[1:] != offsets[:-1])
        return first

    @property
    def total(self) -> int:
        """The weight of all points."""
        return self.ranked.high - self.ranked.low

    def __len__(self) -> int:
        return 2 * len(self.ranked.steps) + 1

    def part(self, first: int, beyond: int) -> tuple[int, ...]:
        """Return the weights of some classes."""
        sizes: tuple[int, ...] = tuple(self._spans(first, beyond)[1].tolist())
        return sizes

    def span(self, index: int) -> tuple[int, int]:
        """Return where a class begins, and its weight."""
        starts, sizes = self._spans(index, index + 1)
        return int(starts[0]), int(sizes[0])

    def _spans(self, first: int, beyond: int) -> tuple[Positions, Positions]:
        """Return where some classes begin, and their weights, from the value before them to the value behind them."""
        own, n = self.ranked, len(self.ranked.steps)
        low, high = max(0, first // 2 - 1), min(n, beyond // 2 + 1)
        starts, ends = place_points(own.scale, own.steps[low:high], own.offsets[low:high], own.parts, wide=True)
        count = high - low
        begins, sizes = np.empty(2 * count + 1, object), np.empty(2 * count + 1, object)
        begins[0], begins[2::2], begins[1::2] = own.low, ends, starts
        sizes[1::2] = np.where(self.first_of_equals[low:high], ends - starts, 0)
        sizes[0:-1:2] = starts - begins[0:-1:2]
        sizes[-1] = own.high - begins[-1]
        # Of equal values only the first one has its point, and the gaps between them are below zero.
        kept = slice(first - 2 * low, beyond - 2 * low)
        return begins[kept], np.maximum(sizes[kept], 0)


def rank_on_scale(scale: LogScale, steps: Steps, offsets: Steps | None, parts: int) -> LogValues | WideLogValues:
    """Sort values and place them on a scale; `offsets` are as many parts of a step, one for each value.

    Offsets are drawn alike and apart from all values, so it does not matter which value has which of them: each belongs
    to the value of its place in rising order.
    """
    steps = np.sort(steps)
    if offsets is None:
        offsets = np.zeros(len(steps), np.int64)
    elif len(steps) * parts >= LIMIT:
        offsets = offsets[np.lexsort((offsets, steps))]
    else:
        runs = np.zeros(len(steps), np.int64)
        np.cumsum(steps[1:] != steps[:-1], out=runs[1:])
        offsets = np.sort(runs * parts + offsets) % parts
    if not scale.needs_wide(parts):
        return LogValues.place(scale, steps, offsets, parts)
    low, high = (parts * scale.start(end) for end in (scale.low, scale.high + 1))
    return WideLogValues(scale, parts, steps, offsets, low, high)


def place_points(
    scale: LogScale, steps: Steps, offsets: Steps, parts: int, *, wide: bool
) -> tuple[Positions, Positions]:
    """Return where the weight of each value's point begins and ends."""
    starts = scale.starts(steps, wide=wide)
    weights = scale.starts(steps + 1, wide=wide) - starts
    starts = starts * parts + weights * offsets.astype(starts.dtype)
    return starts, starts + weights
