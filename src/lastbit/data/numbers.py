"""`Numbers`: one number for each unit, private, with the public facts that a release is built of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from lastbit.errors import LastbitError, ParameterError
from lastbit.exact.numbers import Number
from lastbit.values.adjacency import Adjacency
from lastbit.values.centred_squares import add_centred_squares
from lastbit.values.counts import Counts
from lastbit.values.grid import Grid, common
from lastbit.values.group_sums import GroupSums
from lastbit.values.ranked import count_sides, counts_of_classes, numbers_of_ranks
from lastbit.values.statistic import MeanSums, Statistic, centred_sums, steps_above

if TYPE_CHECKING:
    from lastbit.data.table import Task

NONE: Final = np.empty(0, np.int64)
"""The numbers of nobody."""

_WORD: Final = (1 << 63) - 1
"""The largest number of 64 bits."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """The number of each unit, private and never printed, and public facts about the numbers.

    >>> Numbers(np.array([4, 6]), np.array([0, 0]), (), Fraction(1, 2), (Fraction(0), Fraction(9)))
    <Numbers: between 0 and 9, at most 1 of a unit>
    """

    steps: NDArray[np.int64] = field(repr=False)
    """One number for each unit that has one, between the bounds, in steps of the resolution."""
    places: NDArray[np.int64] = field(repr=False)
    """The place of its item among `items`; 0 where there are none."""
    items: tuple[Any, ...]
    resolution: Fraction
    bounds: tuple[Fraction, Fraction]
    most: int = 1
    """How many of the numbers are one unit's, at most."""
    floored: Fraction = Fraction(0)
    """How far a number can lie from the exact one between the bounds; 0 where the numbers are exact."""

    ranks: NDArray[np.int64] | None = field(default=None, repr=False)
    """The rank of each number in its unit's lot, from 1 on, where it was asked for."""
    beyond: NDArray[np.int64] | None = field(default=None, repr=False)
    """Of the unit of each number: 1 where one of its numbers was above the bounds, -1 below, 0 otherwise."""

    extremes: tuple[NDArray[np.int64], NDArray[np.int64]] | None = field(default=None, repr=False)
    """Of the unit of each number: its lowest and its highest one, where bounds are chosen later."""

    apart: bool = field(default=False, repr=False)
    """Whether each number of a unit is in a group of its own: not so where rows are numbers."""

    adjacency: ClassVar[Adjacency] = "add-remove"

    def keep_first(self, most: int) -> Numbers:
        """Return the numbers where at most so many of a unit count: the first of its lot."""
        assert self.ranks is not None  # noqa: S101
        first = self.ranks <= most
        kept: dict[str, Any] = {"steps": self.steps[first], "places": self.places[first]}
        return self._change(**kept, most=most, ranks=None, beyond=None, extremes=None)

    def fill(self, task: Task, arrays: Sequence[NDArray[np.int64]]) -> Numbers:
        """Return the numbers that an engine found: their places and steps, and what a ranked task asks for besides."""
        places, steps, *more = arrays
        lots: dict[str, Any] = {}
        if task.ranked:
            ranks, *rest = more
            lots = {"ranks": ranks, **({"extremes": tuple(rest)} if task.extremes else {"beyond": rest[0]})}
        return self._change(places=places, steps=steps, **lots)

    def clamp_to(self, bounds: tuple[Fraction, Fraction]) -> Numbers:
        """Return the numbers clamped to nearer bounds, inwards where these are between two steps.

        >>> Numbers(np.array([4, 6]), np.array([0, 0]), (), Fraction(1, 2), (Fraction(-9), Fraction(9))).clamp_to(
        ...     (Fraction(0), Fraction(5, 2))).values
        (Fraction(2, 1), Fraction(5, 2))
        """
        low, high = math.ceil(bounds[0] / self.resolution), math.floor(bounds[1] / self.resolution)
        # Chosen bounds may be further out than 64 bits reach, and no number is.
        low, high = max(low, -_WORD), min(high, _WORD)
        beyond = self.beyond
        if self.extremes is not None:
            lowest, highest = self.extremes
            below = lowest < max(math.floor(bounds[0] / self.resolution), -_WORD)
            beyond = np.where(highest > high, 1, np.where(below, -1, 0))
        return self._change(steps=np.clip(self.steps, low, high), bounds=bounds, beyond=beyond, extremes=None)

    @property
    def furthest(self) -> NDArray[np.int64]:
        """Of each unit, that of its numbers which lies furthest from zero; of two, the positive one. They are private.

        >>> ends = np.array([-5, -5, 1]), np.array([3, 3, 1])
        >>> Numbers(np.array([3, -5, 1]), np.array([0, 1, 0]), (), Fraction(1), (Fraction(-9), Fraction(9)), 2,
        ...         ranks=np.array([1, 2, 1]), extremes=ends).furthest
        array([-5,  1])
        """
        assert self.ranks is not None and self.extremes is not None  # noqa: S101, PT018
        lowest, highest = (ends[self.ranks == 1] for ends in self.extremes)
        furthest: NDArray[np.int64] = np.where(highest >= -lowest, highest, lowest)
        return furthest

    @property
    def numbers_of_items(self) -> NDArray[np.int64]:
        """How many units have exactly so many numbers, from 0 on: the first entry is 0."""
        assert self.ranks is not None  # noqa: S101
        return numbers_of_ranks(self.ranks, np.ones(len(self.ranks), np.int64))

    @property
    def items_per_person(self) -> NDArray[np.int64]:
        """How many numbers each unit has, in no order: private."""
        numbers = self.numbers_of_items
        return np.repeat(np.arange(len(numbers)), numbers)

    def spread(self, classes: Sequence[tuple[int, int | None]]) -> Counts:
        """Return how many units have how many numbers, by classes. One unit is in one class."""
        return counts_of_classes(self.numbers_of_items, classes)

    @property
    def clamped_people(self) -> Counts:
        """How many units have a number below the bounds, and above them. One unit is in one of the two at most."""
        assert self.ranks is not None and self.beyond is not None  # noqa: S101, PT018
        sides = self.beyond[self.ranks == 1]
        return count_sides(int((sides < 0).sum()), int((sides > 0).sum()))

    def add_up(self, groups: int) -> list[tuple[int, int]]:
        """Return the sum of the steps of so many groups, and how many numbers each has; of one, those of all numbers.

        >>> facts = Fraction(1), (Fraction(0), Fraction(9))
        >>> Numbers(np.array([4, 6, 1]), np.array([0, 0, 1]), (), *facts).add_up(2)
        [(10, 2), (1, 1)]
        """
        # In two halves, so that nothing overflows.
        parts = self.steps >> 32, self.steps & 0xFFFFFFFF
        if groups == 1:
            return [((int(parts[0].sum()) << 32) + int(parts[1].sum()), len(self.steps))]
        halves = np.zeros((2, groups), np.int64)
        for row, part in zip(halves, parts, strict=True):
            np.add.at(row, self.places, part)
        sizes = self.count_up(groups)
        return [((upper << 32) + lower, n) for upper, lower, n in zip(*halves.tolist(), sizes.tolist(), strict=True)]

    def count_up(self, groups: int) -> NDArray[np.int64]:
        """Return how many numbers each of so many groups has.

        >>> facts = Fraction(1), (Fraction(0), Fraction(9))
        >>> Numbers(np.array([4, 6, 1]), np.array([0, 0, 1]), (), *facts).count_up(3).tolist()
        [2, 1, 0]
        """
        return np.bincount(self.places, minlength=groups)

    @property
    def sum(self) -> Fraction:
        """The exact sum of the numbers. It is private."""
        ((total, n),) = self.add_up(1)
        # Where the lower bound is between two steps, numbers were clamped to the step above it. Less so much each of
        # them is between the bounds still, and never above the exact one.
        raised = -self.bounds[0] % self.resolution
        return total * self.resolution - n * raised

    def _require_bound(self) -> None:
        """Refuse numbers of which nobody has said yet how many of a unit count."""
        if self.ranks is not None:
            raise ParameterError(
                "numbers by rank must be bounded first. Call keep_first(most), and use what it returns."
            )

    def total(self, resolution: Number) -> Statistic:
        """Return the sum of the numbers, on a grid, with how far one unit moves it."""
        self._require_bound()
        step = Grid(resolution).resolution
        low, high = self.bounds
        furthest = self.most * max(abs(low), abs(high))
        above = 0 if self._exact(step) else steps_above(self.floored, step)
        return Statistic(self.sum, furthest, step, low >= 0 or high <= 0, above=above)

    def mean(self, resolution: Number) -> MeanSums:
        """Return the two sums behind the mean of the numbers, for `NoisyMean` with the same bounds and resolution."""
        self._require_bound()
        floored = self.floored or (Fraction(0) if self._exact(Grid(resolution).resolution) else self.resolution)
        facts: dict[str, Any] = {"bounds": self.bounds, "resolution": resolution, "floored": floored}
        return centred_sums(self.sum, len(self), **facts, most=self.most)

    def group_sums(self, groups: int, *, squares: bool = False) -> GroupSums:
        """Return the sums behind the means of so many groups, for `GroupMeans` with these bounds; `squares` for sd."""
        self._require_bound()
        values = ((self.sum - len(self) * self.bounds[0], len(self)),) if groups == 1 else self._sums_above(groups)
        most_items, most_rows = (min(self.most, groups), 1) if self.apart else (1, self.most)
        unit = reduce(common, self.bounds, Fraction(1)) if self.floored == 0 else None
        facts = (self.steps, self.places, groups, self.resolution, self.bounds)
        second = add_centred_squares(*facts) if squares else None
        return GroupSums(values, self.bounds, most_items, most_rows, self.floored, unit, second)

    def _sums_above(self, groups: int) -> tuple[tuple[Fraction, int], ...]:
        """Return how far the numbers of each group lie above the lower bound, added up, and how many they are."""
        # As in `sum`: a lower bound between two steps is taken off as the step above it. It may be far below all steps.
        lowest = math.ceil(self.bounds[0] / self.resolution)
        return tuple([((total - n * lowest) * self.resolution, n) for total, n in self.add_up(groups)])

    def group_sizes(self, groups: Sequence[Any]) -> Counts:
        """Return how many numbers each of these groups has, with how far one unit moves that."""
        self._require_bound()
        most_items, most_rows = (min(self.most, len(groups)), 1) if self.apart else (1, self.most)
        sizes = self.count_up(len(groups))
        return Counts(items=groups, values=sizes, sensitivity=most_rows, monotone=True, most_items=most_items)

    def _exact(self, step: Fraction) -> bool:
        """Tell whether sums of the numbers are whole steps: numbers that are not floored are whole numbers."""
        return self.floored == 0 and step.numerator == 1

    @property
    def values(self) -> tuple[Fraction, ...]:
        """The numbers as exact values. They are private."""
        return Grid(self.resolution).values(self.steps)

    def of(self, place: int) -> Numbers:
        """Return the numbers of one item."""
        mask = self.places == place
        own: dict[str, Any] = {"steps": self.steps[mask], "places": self.places[mask]}
        return self._change(**own, items=(), ranks=None, beyond=None, extremes=None)

    def _change(self, **changes: Any) -> Numbers:
        """Return the same numbers with other facts, as arrays of this machine."""
        return Numbers(**{own.name: getattr(self, own.name) for own in fields(Numbers)} | changes)

    def __len__(self) -> int:
        return len(self.steps)

    def __repr__(self) -> str:
        low, high = self.bounds
        return f"<Numbers: between {low} and {high}, at most {self.most} of a unit>"

    def __reduce__(self) -> Any:
        raise LastbitError("Numbers hold private values and are not written down. Release them, and keep the release.")
