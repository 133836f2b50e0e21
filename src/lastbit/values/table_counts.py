"""`TableCounts`: the exact counts of several tables of the same records, and how far one person can move them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lastbit.exact.numbers import whole
from lastbit.output.words import plural
from lastbit.values.adjacency import Adjacency, parse_adjacency
from lastbit.values.counts import Counts
from lastbit.values.known import Known
from lastbit.values.ranked import counts_of_classes


@dataclass(frozen=True, kw_only=True, eq=False)
class TableCounts(Known):
    """Private counts of records, in one table for each set of columns. The counts are never printed.

    domain: the public values of each column, by its name.
    counts: for each table, named by its columns, an array with an axis for each column.
    most_records: how many records one person has at most. Each record is in one cell of each table.
    numbers_of_records: how many people have so many records, from 0 on, with those that do not count. Whoever has more
    than count may be among those with more than they have.
    adjacency: "add-remove" where one person comes or goes, "replace" where one person's records become others.

    >>> TableCounts(domain={"sex": ["f", "m"]}, counts={("sex",): np.array([3, 4])})
    <TableCounts: 1 table of 1 column, at most 1 record a person>
    """

    domain: Mapping[str, Sequence[Any]]
    counts: Mapping[tuple[str, ...], NDArray[np.int64]] = field(repr=False)
    most_records: int = 1
    numbers_of_records: NDArray[np.int64] | None = field(default=None, repr=False)
    adjacency: Adjacency = "add-remove"
    monotone: bool = field(default=True, init=False)
    resolution: Fraction = field(default=Fraction(1), init=False)

    def __post_init__(self) -> None:
        parse_adjacency(self.adjacency)
        object.__setattr__(self, "most_records", whole(self.most_records, "most_records"))
        object.__setattr__(self, "monotone", self.adjacency == "add-remove")

    @property
    def values(self) -> Mapping[tuple[str, ...], NDArray[np.int64]]:
        """The counts of each table, cell by cell."""
        return self.counts

    @property
    def member(self) -> Fraction:
        """All records of one person may be in one cell."""
        return Fraction(self.most_records)

    @property
    def total(self) -> Fraction:
        """Every record is in one cell of each table; whoever replaces records moves those of both."""
        people = 1 if self.adjacency == "add-remove" else 2
        return Fraction(people * self.most_records * len(self.counts))

    def spread(self, classes: Sequence[tuple[int, int | None]]) -> Counts:
        """Return how many people have how many records, by classes. One person is in one class.

        >>> counts = TableCounts(domain={}, counts={}, numbers_of_records=np.array([0, 4, 1]))
        >>> counts.spread([(1, 1), (2, None)]).values.tolist()
        [4, 1]
        """
        numbers = np.zeros(1, np.int64) if self.numbers_of_records is None else self.numbers_of_records
        return counts_of_classes(numbers, classes)

    def __repr__(self) -> str:
        stated = "" if self.adjacency == "add-remove" else f", {self.adjacency}"
        return (
            f"<TableCounts: {plural(len(self.counts), 'table')} of {plural(len(self.domain), 'column')}, at most "
            f"{plural(self.most_records, 'record')} a person{stated}>"
        )
