"""The numbers of items by the rank that an item has in the lot of each unit: they can be bounded at any rank later."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lastbit.errors import LastbitError
from lastbit.values.adjacency import Adjacency
from lastbit.values.counts import Counts
from lastbit.values.unlisted import Unlisted

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RankedCounts:
    """Private: for each item and each rank, how many units have the item at this rank of their lot.

    The items of a unit are ranked by lot, from 1 on. A unit that counts in `most` items counts in the first ones. A
    unit with s items has one item at each rank up to s, so that the ranks say how many items units have.

    >>> lots = RankedCounts(("a", "b"), np.array([0, 1, 1]), np.array([1, 1, 2]), np.array([3, 2, 1]))
    >>> lots.keep_first(1).values.tolist(), lots.keep_first(2).values.tolist()
    ([3, 2], [3, 3])
    >>> lots.numbers_of_items.tolist()
    [0, 4, 1]
    """

    items: Sequence[Any]
    places: Integers = field(repr=False)
    """The place of the item in each row."""
    ranks: Integers = field(repr=False)
    """Its rank in the lots of these units."""
    units: Integers = field(repr=False)
    """How many units have it at this rank."""
    totals: Any = field(default=None, repr=False)
    """The sum of their weights in steps; None where units are counted."""
    build: Callable[[Any, int], Counts] | None = field(default=None, repr=False)
    """Makes Counts of sums in steps, where a unit counts in so many items."""
    sides: tuple[int, int] = field(default=(0, 0), repr=False)
    """How many units have a weight, or a total in an item, below the bounds and none above, and how many one above."""
    heads: Integers | None = field(default=None, repr=False)
    """Where the lot is one of groups with several items: of how many units this item is the first of its group."""
    adjacency: Adjacency = "add-remove"

    def keep_first(self, most: int) -> Counts:
        """Return the numbers of the items where a unit counts in so many of them."""
        counted = self.ranks <= most
        if self.totals is None or self.build is None:
            values = np.zeros(len(self.items), np.int64)
            np.add.at(values, self.places[counted], self.units[counted])
            return Counts(items=self.items, values=values, monotone=True, most_items=most)
        sums = [0] * len(self.items)
        for place, total in zip(self.places[counted].tolist(), self.totals[counted].tolist(), strict=True):
            sums[place] += int(total)
        return self.build(sums, most)

    def rename(self, items: Sequence[Any]) -> RankedCounts:
        """Return the same numbers under other names of the items."""
        build = self.build
        named = None if build is None else lambda sums, most: replace(build(sums, most), items=items)
        return replace(self, items=items, build=named)

    @property
    def numbers_of_items(self) -> Integers:
        """How many units have exactly so many items, or groups of a lot of groups, from 0 on: the first entry is 0."""
        return numbers_of_ranks(self.ranks, self.units if self.heads is None else self.heads)

    @property
    def items_per_person(self) -> Integers:
        """The number of items of each unit, in no order: private."""
        numbers = self.numbers_of_items
        return np.repeat(np.arange(len(numbers)), numbers)

    def spread(self, classes: Sequence[tuple[int, int | None]]) -> Counts:
        """Return how many units have how many items, by classes. One unit is in one class.

        >>> lots = RankedCounts(("a", "b"), np.array([0, 1, 1]), np.array([1, 1, 2]), np.array([3, 2, 1]))
        >>> lots.spread([(1, 1), (2, None)]).values.tolist()
        [4, 1]
        """
        return counts_of_classes(self.numbers_of_items, classes)

    @property
    def clamped_people(self) -> Counts:
        """How many units have a number below the bounds, and above them. One unit is in one of the two at most."""
        return count_sides(*self.sides)

    def __reduce__(self) -> Any:
        raise LastbitError("counts hold private values and are not written down. Release them, and keep the release.")


@dataclass(frozen=True, eq=False)
class RankedUnlisted(RankedCounts):
    """The same for items that nobody listed, in their fixed order. The items are private too."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    """The sensitivity and the resolution of sums, and how far the exact sums may lie above."""
    parts: int = 1
    """So many steps of the totals are one step of the resolution, to which each sum is floored."""

    def keep_first(self, most: int) -> Unlisted:  # type: ignore[override]
        """Return the numbers of the items where a unit counts in so many of them."""
        counted = (self.ranks <= most) & (self.places >= 0)
        totals = self.units if self.totals is None else self.totals
        sums = [0] * len(self.items)
        for place, total in zip(self.places[counted].tolist(), totals[counted].tolist(), strict=True):
            sums[place] += int(total)
        sums = [total // self.parts for total in sums]
        # Stable: of equal numbers the first item stays first.
        order = [place for place in sorted(range(len(sums)), key=lambda place: -sums[place]) if sums[place] > 0]
        items, steps = tuple(self.items[place] for place in order), np.array([sums[place] for place in order], np.int64)
        steps.flags.writeable = False
        return Unlisted(fetch=lambda n: (items[:n], steps[:n]), most_items=most, **self.facts)


@dataclass(frozen=True, eq=False)
class DifferentValues(RankedCounts):
    """Private: how many different values each group has, by the lowest rank of a value in the lots of its units.

    A pair is a group and a value. The lot of a unit orders its own pairs, and of `most` pairs the first ones count. A
    group has a value if some unit has the pair among those. `units` are the values whose lowest rank is this one, and
    `heads` the units that have some pair of the group at it.

    One unit moves all numbers together by `most` at most: which pairs of a unit count follows from its own pairs and
    the key, and a group has the values of the union over its units. So a unit that comes adds to this union no pair but
    its own, of which `most` count at most, and takes none away, whatever the others have. In one group it moves the
    number by `most` too, or by all values that are listed, where these are fewer.

    >>> lots = DifferentValues(("north",), np.array([0, 0]), np.array([1, 2]), np.array([3, 2]), heads=np.array([5, 4]))
    >>> lots.keep_first(1).values.tolist(), lots.keep_first(2).values.tolist(), lots.keep_first(2).sensitivity
    ([3], [5], Fraction(2, 1))
    >>> lots.numbers_of_items.tolist()
    [0, 1, 4]
    """

    listed: int | None = None
    """How many values are listed; None where nobody listed them."""

    def keep_first(self, most: int) -> Counts:
        """Return how many different values the groups have where so many pairs of a unit count."""
        groups, reach = min(most, len(self.items)), reach_in_one(most, self.listed)
        return replace(super().keep_first(most), sensitivity=reach, most_items=groups, together=most)


def reach_in_one(most: int, listed: int | None) -> int:
    """Return how far one unit moves the number of different values of one group: all of its pairs may be in it.

    >>> reach_in_one(12, 4), reach_in_one(3, 4), reach_in_one(5, None)
    (4, 3, 5)
    """
    return most if listed is None else min(most, listed)


def count_sides(below: int, above: int) -> Counts:
    """Return how many units have a number below the bounds, and above them, as counts of which one unit moves one.

    >>> count_sides(3, 4).values.tolist()
    [3, 4]
    """
    return Counts(items=("below", "above"), values=np.array([below, above], np.int64), monotone=True, most_items=1)


def numbers_of_ranks(ranks: Integers, units: Integers) -> Integers:
    """Return how many units have exactly so many items, from 0 on, where so many units have an item at each rank.

    >>> numbers_of_ranks(np.array([1, 1, 2]), np.array([3, 2, 1])).tolist()
    [0, 4, 1]
    """
    # Who has s items is at rank s once.
    at_least = np.zeros(int(ranks.max(initial=0)) + 2, np.int64)
    np.add.at(at_least, ranks, units)
    exactly = at_least[:-1] - at_least[1:]
    exactly[0] = 0
    return exactly


def counts_of_classes(numbers: Integers, classes: Sequence[tuple[int, int | None]]) -> Counts:
    """Return how many units have how many items, by classes, as counts of which one unit moves one.

    >>> counts_of_classes(np.array([0, 4, 1]), [(1, 1), (2, None)]).values.tolist()
    [4, 1]
    """
    labels = [f"{first} to {last}" if last is not None else f"{first} or more" for first, last in classes]
    values = [int(numbers[first : None if last is None else last + 1].sum()) for first, last in classes]
    return Counts(items=labels, values=np.array(values, np.int64), monotone=True, most_items=1)
