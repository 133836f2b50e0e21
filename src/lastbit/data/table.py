"""What every engine's table does: it answers a task, such as to count the units of each item.

The folders `duckdb`, `memory` and `spark` have a file of each name: `table` (this protocol), `columns` (the normal form
of values), `per_unit` (one number for each unit), `bound` (which items of a unit count), `records` (the counts of many
tables) and `profile` (what each unit has in many columns).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from lastbit.data.column_types import ColumnType
    from lastbit.data.profiles import ProfileTask, UnitProfiles
    from lastbit.data.records import Records, RecordTask
    from lastbit.data.weights import Weights
    from lastbit.values.contribution_bound import ContributionBound

if TYPE_CHECKING:
    from lastbit.data.numbers import Numbers

Integers: TypeAlias = NDArray[np.int64]
Keys: TypeAlias = Sequence[Hashable | None]
"""The normal forms of the items of a domain; None where no row can have the item."""

ItemTotals = tuple[list[list[Any]], NDArray[np.int64]]
"""The items that occur, column by column, and their counts or sums in steps: the largest first, then in order."""

Per = Literal["mean", "total", "latest", "first", "any", "row"]
"""Which number a unit has: the mean of its rows, their total, the latest, the first, the largest of any; or each of its
rows is a number."""

WAYS: tuple[str, ...] = get_args(Per)


@dataclass(frozen=True)
class Task:
    """What to count or to add up: the question that a table is asked.

    >>> Task(("diagnosis", "ward"), unit="patient").columns
    ('diagnosis', 'ward', 'patient')
    """

    by: tuple[str, ...]
    """The columns of the items."""
    unit: str | None = None
    weight: str | None = None
    amount: Weights | None = None
    """The grid and the bounds of the weights."""
    bound: ContributionBound | None = None
    """How many items one unit counts in; there is a unit then."""
    per: Per = "total"
    """For `read_numbers`: which number stands for the rows of a unit."""
    order: str | None = None
    """The column that says which row of a unit is the latest, or the first."""
    ends: tuple[int, int] = (0, 0)
    """The bounds of a unit's number, in steps. Rows of a total are clamped further out."""

    ranked: bool = False
    """For `read_numbers`: whether every number comes with its rank in the unit's lot, and with what is beyond."""
    lowest: int = 0
    """For ranked numbers: the floor of the lower bound, which may lie between two steps."""
    extremes: bool = False
    """For ranked numbers: whether each comes with its unit's lowest and highest one, and not with what is beyond."""

    @property
    def has_one_number(self) -> bool:
        """Whether a unit has one number at most: there are no groups, and its rows are made one number."""
        return not self.by and (self.unit is None or self.per != "row")

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are read."""
        return (*self.by, *(name for name in (self.unit, self.weight, self.order) if name is not None))


class Table(Protocol):
    """A table in its own engine."""

    def column_type(self, name: str) -> ColumnType | None:
        """Return the type of a column as it is declared; None where rows cannot be counted by such a type."""

    def decimal_places(self, name: str) -> int:
        """Return how many digits a column of decimals has after the point; 0 for other columns."""

    def compute_totals(self, task: Task, keys: Sequence[Keys]) -> Integers:
        """Compute the count of each item of the product of domains, or its sum in steps of the resolution."""

    def read_numbers(self, task: Task, keys: Sequence[Keys], facts: Numbers) -> Numbers:
        """Return the number of each unit, with the place of its item: these facts have none yet."""

    def profile(self, task: ProfileTask) -> UnitProfiles:
        """Measure how many rows each unit has, and what it has in each column."""

    def count_records(self, task: RecordTask, keys: Sequence[Keys]) -> Records:
        """Count how many records have each combination of values of several columns."""

    def find_items(self, task: Task) -> Callable[[int | None], ItemTotals]:
        """Return a function that gives the items that occur, largest first: so many, or all."""
