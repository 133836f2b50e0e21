"""`SparkCounts`: a value for each item of a public table in Spark, where both stay."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, flag
from lastbit.output.words import plural
from lastbit.values.adjacency import Adjacency
from lastbit.values.counts import Counts
from lastbit.values.known import Known
from lastbit.values.spark_rows import TOTAL, SparkRows
from lastbit.values.unlisted import sort_key


@dataclass(frozen=True, kw_only=True, eq=False)
class SparkCounts(Known):
    """A value for each item of a public table in Spark. Neither the items nor the values are brought to one machine.

    `NoisyTopK` selects among them in the executors, and `SubsetTopK` by two jobs. For every other mechanism,
    `collect()` brings them to this machine as `Counts`.
    """

    rows: SparkRows = field(repr=False)
    sensitivity: Number = 1
    monotone: bool = False
    resolution: Number = 1
    most_items: int | None = None
    above: int = field(default=0, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "monotone", flag(self.monotone, "monotone"))

    @property
    def adjacency(self) -> Adjacency:  # type: ignore[override]
        """One person comes or goes."""
        return "add-remove"

    @property
    def each(self) -> Fraction:
        """The most that one person moves each value."""
        return Fraction(self.sensitivity)

    @property
    def values(self) -> Any:
        """Refused: there may be more than one machine holds."""
        raise ParameterError(
            "the counts are spread over Spark, and this mechanism runs on one machine. Bring them here with "
            "counts.collect(), or select the largest with NoisyTopK or SubsetTopK. Nothing was drawn."
        )

    total = values

    def collect(self) -> Counts:
        """Return all items and their values as `Counts` on this machine, in the fixed order of items."""
        pairs = zip(*self.rows.fetch(self.rows.frame, TOTAL), strict=True)
        # Spark's own order depends on all rows, and places are published.
        rows = sorted(pairs, key=lambda row: sort_key(row[0]))
        unit = Fraction(self.resolution)
        return Counts(
            items=[item for item, _ in rows],
            values=tuple([step if unit == 1 else step * unit for _, step in rows]),
            sensitivity=self.sensitivity,
            monotone=self.monotone,
            resolution=self.resolution,
            most_items=self.most_items,
            above=self.above,
        )

    def __repr__(self) -> str:
        way = "monotone" if self.monotone else "not monotone"
        bound = "" if self.most_items is None else f", at most {plural(self.most_items, 'item')} a unit"
        return f"<SparkCounts: sensitivity {self.sensitivity}, {way}{bound}>"
