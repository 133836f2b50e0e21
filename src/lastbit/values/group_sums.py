"""The sums behind the means of groups: how far the numbers of each group lie above the lower bound, and how many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from lastbit.errors import ParameterError
from lastbit.values.adjacency import Adjacency
from lastbit.values.known import Known


@dataclass(frozen=True, eq=False)
class GroupSums(Known):
    """Private sums of groups, with how far one person moves them: for `GroupMeans`, not for publication.

    `values` has a pair for each group: how far its numbers lie above the lower bound, added up, and how many they are.

    >>> GroupSums(((Fraction(7), 2), (Fraction(0), 0)), (Fraction(0), Fraction(10)), most_items=2)
    GroupSums(bounds=(Fraction(0, 1), Fraction(10, 1)), most_items=2, most_rows=1, floored=Fraction(0, 1), unit=None)
    """

    values: Sequence[tuple[Fraction, int]] = field(repr=False)
    bounds: tuple[Fraction, Fraction]
    most_items: int = 1
    """How many groups one person is in, at most."""
    most_rows: int = 1
    """How many numbers one person has in each of these groups, at most."""
    floored: Fraction = Fraction(0)
    """How far below the exact one a number may lie; 0 where the numbers are exact."""
    unit: Fraction | None = None
    """The sums are whole multiples of this, by their type; None where that is not known."""
    squares: Sequence[Fraction] | None = field(default=None, repr=False)
    """Of each group, the squares of how far its numbers lie from the middle of the bounds, added up, if asked for."""

    monotone = False
    adjacency: Adjacency = field(default="add-remove", init=False, repr=False)
    resolution: Any = field(default=None, init=False, repr=False)

    @property
    def each(self) -> Fraction:
        """The furthest one person moves the sum of a group."""
        low, high = self.bounds
        return self.most_rows * (high - low)

    @property
    def total(self) -> Fraction:
        """The furthest one person moves the sums of all groups together."""
        return self.most_items * self.each


def parse_groups(groups: Any) -> tuple[Any, ...]:
    """Return public groups, refused where they are not different.

    >>> parse_groups(["north", "south"])
    ('north', 'south')
    """
    try:
        names = () if isinstance(groups, str) else tuple(groups)
        if names and len(set(names)) == len(names):
            return names
    except TypeError:
        pass
    raise ParameterError("groups must be a list of different public groups. Write groups=['north', 'south'].")
