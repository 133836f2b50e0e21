"""The steps of a plan: each says which columns it needs for those wanted, and makes these of them.

First a text of several items is split, then another table is joined, then columns are made of the rows of each person,
and last a filter and columns of one row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from lastbit.data.duckdb.relation import ColumnSelection, OpenTable
from lastbit.errors import DataError, LastbitError, ParameterError

if TYPE_CHECKING:
    from lastbit.data.query.plan import RowPlan


class Step(Protocol):
    """A change of a table. Built from public words only."""

    @property
    def new_columns(self) -> Sequence[str]:
        """The names of the columns that the step makes."""

    def source_columns(self, columns: ColumnSelection) -> ColumnSelection:
        """Return the columns that the table must have for the columns wanted."""

    def apply(self, table: OpenTable, selection: ColumnSelection) -> OpenTable:
        """Return the table with the columns wanted."""


@dataclass(frozen=True)
class TablePlan:
    """What is done to the rows of each person, and then to each row: see `RowPlan`."""

    steps: tuple[Step, ...]
    rows: RowPlan
    paths: tuple[str, ...] = ()
    """The files that are read besides the table."""

    @property
    def does_nothing(self) -> bool:
        """Whether the rows stay as they are."""
        return False

    def source_columns(self, columns: ColumnSelection) -> ColumnSelection:
        """Return the columns that the table must have for the columns wanted."""
        return self._selections(columns)[0]

    def apply(self, table: OpenTable, selection: ColumnSelection) -> OpenTable:
        """Return the rows that the filter keeps, with the columns wanted."""
        _, *wanted = self._selections(selection)
        for step, columns in zip(self.steps, wanted[:-1], strict=True):
            table = step.apply(table, columns)
        return self.rows.apply(table, selection)

    def check_names(self, present: Sequence[str]) -> None:
        """Refuse a column that is made and that the table has already: nobody could say which is meant."""
        names = {name.lower() for name in present}
        for step in self.steps:
            for name in step.new_columns:
                if name.lower() in names:
                    raise ParameterError(
                        f"there are two columns called {name!r}: the table has one, and --let or --join makes another. "
                        "Rename one of them. Nothing was read."
                    )
                names.add(name.lower())

    def check_counts(self, counts: str, columns: ColumnSelection) -> None:
        """Refuse a table that somebody counted already."""
        raise ParameterError(
            f"--split, --join and --let are for rows of people: {counts!r} holds counts of many. Leave --counts out, "
            "or these. Nothing was read."
        )

    def columns_behind(self, step: Step, columns: ColumnSelection) -> ColumnSelection:
        """Return the columns that the table has behind a step, for those wanted in the end."""
        selection = self.rows.source_columns(columns)
        for later in self.steps[: self.steps.index(step) : -1]:
            selection = later.source_columns(selection)
        return selection

    def _selections(self, columns: ColumnSelection) -> list[ColumnSelection]:
        """Return the columns before the first step, and behind every step."""
        selections = [columns, self.rows.source_columns(columns)]
        for step in reversed(self.steps):
            selections.append(step.source_columns(selections[-1]))
        return selections[::-1]


def run_step(table: OpenTable, change: Callable[[Any], Any], one_row_each: tuple[str, ...] = ()) -> OpenTable:
    """Return the table after a change; of an error of the engine only the type is passed on: it may quote a row."""
    try:
        return table.transform(change, one_row_each=one_row_each)
    except LastbitError:
        raise
    except Exception as error:
        problem = type(error).__name__
    raise DataError(f"the engine does not take this query: {problem}. Make it plainer.")
