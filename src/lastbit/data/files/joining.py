"""Another table beside the rows: the `--join` of a question.

By a column that is not the unit, the other table holds public facts, such as the region of a postcode: each key once.
By the unit, it holds more rows of the same people, and these are protected as theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from lastbit.data.column_types import INTEGER
from lastbit.data.duckdb.columns import DuckDBColumns
from lastbit.data.duckdb.relation import ColumnSelection, OpenTable
from lastbit.data.files.formats import JSON_LINES, TextFormat, detect_format
from lastbit.data.sql import quote_identifier
from lastbit.errors import DataError, LastbitError, ParameterError

_PLAIN: Final = TextFormat()


@dataclass(frozen=True)
class JoinPlan:
    """A file that is joined by a column. Nothing of it is read before a table is opened."""

    path: str
    on: str
    unit: tuple[str, ...] = ()
    """The columns that tell people apart. Joined by them, the file holds rows of the same people."""
    text_format: TextFormat = _PLAIN
    """How a text file is written: as the table is."""

    def __post_init__(self) -> None:
        if self.on in self.unit and len(self.unit) > 1:
            raise ParameterError(
                f"--on must be another column than {self.on!r}, which is a part of --unit: nobody could say whose the "
                "rows of the other table are. Nothing was read."
            )

    @property
    def is_public(self) -> bool:
        """Whether the file holds public facts, and no rows of people."""
        return (self.on,) != self.unit

    @cached_property
    def columns(self) -> list[str]:
        """The columns that the file declares."""
        from lastbit.data.files.open_table import list_columns

        if self.path == "-" or "://" in self.path or self._ending in JSON_LINES or self._is_database:
            raise ParameterError(
                "--join takes a file that names its columns: CSV, TSV or Parquet. Save the other table as one. Nothing "
                "was read."
            )
        names = list_columns(self.path, None, self._format)
        ColumnSelection((self.on,)).check(names)
        return names

    @property
    def new_columns(self) -> Sequence[str]:
        """The columns that the file adds."""
        return [name for name in self.columns if name != self.on]

    @property
    def _is_database(self) -> bool:
        return self._ending is None and Path(self.path).is_file() and detect_format(Path(self.path)) != "parquet"

    @property
    def _ending(self) -> str | None:
        return _PLAIN.endings(self.path)[0]

    @property
    def _format(self) -> TextFormat:
        return _PLAIN if self._ending in (None, ".parquet") else replace(self.text_format, read_as=None)

    def source_columns(self, columns: ColumnSelection) -> ColumnSelection:
        """Return the columns that the table must have for the columns wanted."""
        made = self._pick_columns(columns)
        weights = None if columns.weights in (*made, self.on) else columns.weights
        names = [name for name in columns.names if name not in made and name != weights]
        conditions = tuple(name for name in columns.conditions if name not in made)
        own = tuple(dict.fromkeys((*names, self.on)))
        return replace(columns, columns=own, weights=weights, conditions=conditions)

    def apply(self, table: OpenTable, selection: ColumnSelection) -> OpenTable:
        """Return the rows with the columns wanted. A row without a match has missing values."""
        other = self._open(table, self._pick_columns(selection))
        try:
            return self._join(table, other, selection)
        except LastbitError:
            raise
        except Exception as error:
            problem = type(error).__name__
        raise DataError(f"the engine does not join these tables: {problem}. Write their columns alike.")

    def _pick_columns(self, columns: ColumnSelection) -> list[str]:
        return [name for name in dict.fromkeys(columns.names) if name in self.columns and name != self.on]

    def _open(self, table: OpenTable, names: Sequence[str]) -> OpenTable:
        from lastbit.data.files.open_table import open_beside, open_table

        selection = ColumnSelection((*names, self.on))
        if not self.is_public:
            return open_beside(self.path, selection, self._format, table.connection)
        facts = open_table(self.path, selection, None, self._format)
        with closing(facts.connection):
            rows = facts.relation.to_arrow_table()
            facts.check()
        relation = table.connection.from_arrow(rows)
        self._check_keys(DuckDBColumns(relation, facts).key(self.on), relation)
        return replace(facts, relation=relation, connection=table.connection, again=lambda: relation)

    def _check_keys(self, key: str, relation: Any) -> None:
        """Refuse public facts with a key twice: one row of a person would become two."""
        keys = relation.project(f"{key} AS lastbit_key").filter("lastbit_key IS NOT NULL")
        ((rows, values),) = keys.aggregate("count(*), count(DISTINCT lastbit_key)").fetchall()
        if rows != values:
            raise ParameterError(
                f"{self.path} must have each value of {self.on!r} once: some value stands in two rows. Leave one of "
                "them out; or join by the column of --unit, where the file holds rows of the same people. Nothing was "
                "read of the table."
            )

    def _join(self, table: OpenTable, other: OpenTable, selection: ColumnSelection) -> OpenTable:
        mine, theirs = DuckDBColumns(table.relation, table), DuckDBColumns(other.relation, other)
        keys = self._keys(mine, theirs)
        names = list(dict.fromkeys(selection.names))
        added = [name for name in other.relation.columns if name != self.on]

        def join(rows: Any, more: Any) -> Any:
            own = ", ".join([*map(quote_identifier, rows.columns), f"{keys[0]} AS lastbit_on"])
            beside = ", ".join([*map(quote_identifier, added), f"{keys[1]} AS lastbit_key"])
            rows = rows.project(own).set_alias("lastbit_rows")
            rows = rows.join(more.project(beside).set_alias("lastbit_joined"), "lastbit_on = lastbit_key", "left")
            return rows.project(", ".join(map(quote_identifier, names)))

        first, second = table.again, other.again
        again = None if first is None or second is None else lambda: join(first(), second())
        texts = table.text_columns | (other.text_columns & set(added))
        return replace(
            table,
            relation=join(table.relation, other.relation),
            again=again,
            problem=lambda: table.problem() or other.problem(),
            text_columns=texts,
        )

    def _keys(self, mine: DuckDBColumns, theirs: DuckDBColumns) -> tuple[str, str]:
        """Return the normal forms that are compared. Two types are compared only where nothing can be lost."""
        types = mine.column_type(self.on), theirs.column_type(self.on)
        keys = mine.key(self.on), theirs.key(self.on)
        if types == (INTEGER, INTEGER):
            return f"TRY_CAST({keys[0]} AS HUGEINT)", f"TRY_CAST({keys[1]} AS HUGEINT)"
        if types[0] is None or types[0] is not types[1] or mine.type_name(self.on) != theirs.type_name(self.on):
            raise ParameterError(
                f"the column {self.on!r} must have one type in both tables: it is {mine.type_name(self.on)} in the "
                f"table and {theirs.type_name(self.on)} in {self.path}. In a CSV file all is text: save both tables as "
                "Parquet with the same types, or both as CSV. Nothing was read."
            )
        return keys
