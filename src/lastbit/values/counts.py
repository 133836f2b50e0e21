"""`Counts`: one value for each of a public list of items, and how far one person can move them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, flag, positive, whole
from lastbit.output.words import plural
from lastbit.values.adjacency import Adjacency, parse_adjacency
from lastbit.values.bins import BinLabels
from lastbit.values.grid import Grid
from lastbit.values.known import Known, steps_off
from lastbit.values.raw import unwrap


@dataclass(frozen=True, kw_only=True, eq=False)
class Counts(Known):
    """A private value for each public item. The values are never printed.

    items: public, one for each value, no two alike.
    values: whole numbers (a read-only int64 array), or exact sums (a tuple of Fractions).
    sensitivity: the furthest one person can move any single value.
    monotone: whether one person who comes or goes moves all values the same way.
    resolution: the grid that the values are on, 1 for whole numbers; values between two steps are floored to it.
    above: how many steps of it the exact values may lie above these; 1 for fractions, where nobody says.
    adjacency: "add-remove" when one person comes or goes; "replace" when one person replaces a record and the number
        of records is public. A Ledger charges by it. Values with "replace" cannot be monotone.
    most_items: the number of items that one person counts in, at most; None where there is no bound. With a bound, all
        moves of one person add up to less, and noise for all items is smaller.
    together: the furthest that all moves of one person add up to, where that is less than these two say.

    >>> counts = Counts(items=["flu", "cold"], values=[120, 80], monotone=True)
    >>> counts
    <Counts: 2 items, sensitivity 1, monotone>
    >>> len(counts)
    2
    """

    items: Sequence[Any]
    values: NDArray[np.int64] | tuple[Fraction, ...] = field(repr=False)
    sensitivity: Number = 1
    monotone: bool = False
    resolution: Number | None = None
    adjacency: Adjacency = "add-remove"
    most_items: int | None = None
    above: int | None = field(default=None, repr=False)
    together: Number | None = None

    def __post_init__(self) -> None:
        distinct = isinstance(self.items, range | BinLabels)
        items = self.items if distinct else tuple(self.items)
        values = _exact(self.values)
        if len(items) != len(values):
            raise ParameterError(
                f"items and values must be of one length: got {plural(len(items), 'item')} and "
                f"{plural(len(values), 'value')}."
            )
        if not distinct and not _all_different(items):
            raise ParameterError("items must be different, and hashable: two that are alike have one count.")
        object.__setattr__(self, "monotone", flag(self.monotone, "monotone"))
        parse_adjacency(self.adjacency, monotone=self.monotone)
        sensitivity = positive(self.sensitivity, "sensitivity", "It is how far one person can move a value.")
        if self.resolution is not None:
            grid = Grid(self.resolution)
            grid.count(sensitivity, "sensitivity")
            object.__setattr__(self, "above", steps_off(self.above, self.values, grid))
            values = grid.floor(values)
            object.__setattr__(self, "resolution", grid.resolution)
        else:
            object.__setattr__(self, "resolution", _step(values))
            object.__setattr__(self, "above", steps_off(self.above or 0, self.values, Grid(1)))
        if self.most_items is not None:
            object.__setattr__(self, "most_items", whole(self.most_items, "most_items"))
        if self.together is not None:
            together = positive(self.together, "together", "It is how far one person can move all values together.")
            object.__setattr__(self, "together", together)
        object.__setattr__(self, "items", items)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "sensitivity", sensitivity)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def each(self) -> Fraction:
        """The most that one person moves each value."""
        return Fraction(self.sensitivity)

    @property
    def total(self) -> Fraction:
        """One person may be in every item that a bound allows; whoever replaces another moves the items of both."""
        people = 1 if self.adjacency == "add-remove" else 2
        most = len(self) if self.most_items is None else min(len(self), people * self.most_items)
        apart = most * self.each
        return apart if self.together is None else min(apart, people * Fraction(self.together))

    @property
    def names(self) -> Sequence[Any]:
        """The names of the values: the items."""
        return self.items

    def __repr__(self) -> str:
        way = "monotone" if self.monotone else "not monotone"
        change = "" if self.adjacency == "add-remove" else f", {self.adjacency}"
        bound = "" if self.most_items is None else f", at most {plural(self.most_items, 'item')} a unit"
        return f"<Counts: {plural(len(self), 'item')}, sensitivity {self.sensitivity}, {way}{change}{bound}>"


def _step(values: NDArray[np.int64] | tuple[Fraction, ...]) -> Fraction | None:
    """Return the grid of values about which nobody said more: whole numbers are on 1."""
    return Fraction(1) if isinstance(values, np.ndarray) else None


def _all_different(items: Sequence[Any]) -> bool:
    try:
        return len(set(items)) == len(items)
    except TypeError:
        return False


def _exact(values: Any) -> NDArray[np.int64] | tuple[Fraction, ...]:
    if isinstance(values, Sequence) and not isinstance(values, str | bytes | list | tuple):
        values = tuple(values)
    values = unwrap(values)
    if not isinstance(values, list | tuple) and (not isinstance(values, np.ndarray) or values.ndim != 1):
        raise ParameterError("values of Counts must be a sequence with one exact number for each item.")
    if isinstance(values, np.ndarray) and values.dtype.kind in "biu":
        # No count reaches 2^63: the clamp only keeps a wrong one from turning negative.
        least = np.minimum(values, np.uint64((1 << 63) - 1)) if values.dtype == np.uint64 else values
        integers: NDArray[np.int64] = least.astype(np.int64)
        integers.flags.writeable = False
        return integers
    # NumPy calls a time span a whole number.
    if not all(isinstance(value, Rational) and not isinstance(value, np.timedelta64) for value in values):
        raise ParameterError("values of Counts must be exact: whole numbers or Fractions, not floats.")
    return tuple(Fraction(int(value.numerator), int(value.denominator)) for value in values)
