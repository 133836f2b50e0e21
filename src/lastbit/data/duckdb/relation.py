"""The columns that are read of a table, and the DuckDB relation that comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Final

from lastbit.errors import DataError, ParameterError, missing_column_error

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_QUOTES: Final = " In a condition, text stands in single quotes: ward = 'north'."
_OWN: Final = "lastbit_"
"""Columns that queries make for themselves begin so: one of the table could take the place of another."""


@dataclass(frozen=True)
class ColumnSelection:
    """The columns that are read; weights are numbers, the others may be anything.

    >>> ColumnSelection(("item", "unit"), weights="cost").names
    ('item', 'unit', 'cost')
    """

    columns: tuple[str, ...]
    weights: str | None = None
    distinct: bool = False
    """Whether rows that are alike may be read as one."""
    conditions: tuple[str, ...] = ()
    """Columns that a condition names: perhaps a text without quotes."""

    def __post_init__(self) -> None:
        names = set(self.names)
        if len({name.lower() for name in names}) != len(names):
            raise ParameterError(
                "columns must differ in more than capitals: the engine takes them for one. Rename one, and ask again."
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns."""
        return self.columns if self.weights is None else (*self.columns, self.weights)

    def check(self, present: Sequence[str]) -> None:
        """Refuse a column that is not there, or that no engine can name, before any row is read."""
        for name in self.names:
            if not name or name not in present:
                raise missing_column_error(name, present, _QUOTES if name in self.conditions else "")
            if name.lower().startswith(_OWN):
                raise ParameterError(f"no column may begin with {_OWN}: got {name!r}. Rename it. Nothing was read.")


@dataclass(frozen=True)
class OpenTable:
    """A table ready to be counted, and how far its engine is with that."""

    relation: duckdb.DuckDBPyRelation
    connection: duckdb.DuckDBPyConnection
    read: Callable[[], float] | None = None
    """How much of a file is read, from 0 to 100, where the engine does not know."""
    problem: Callable[[], str | None] = lambda: None
    """Why the rows could not be read to their end, after a query; None where they could."""
    again: Callable[[], duckdb.DuckDBPyRelation] | None = None
    """The same rows once more, where they can be read more than once."""
    text_columns: frozenset[str] = frozenset()
    """The columns that the table declares as text. Text files declare no types: a column of theirs may hold numbers."""
    with_rows: bool = True
    """Whether rows are read: not where only the columns are looked at."""
    one_row_each: tuple[str, ...] = ()
    """Columns that no two rows have alike, in their normal form: each person has one row then. Empty where unknown."""
    held: tuple[duckdb.DuckDBPyRelation, pa.Table] | None = None
    """The relation of rows that Arrow holds in memory, as they were opened, and these rows."""

    def transform(
        self,
        change: Callable[[duckdb.DuckDBPyRelation], duckdb.DuckDBPyRelation],
        *,
        one_row_each: tuple[str, ...] = (),
    ) -> OpenTable:
        """Return the rows after a change that looks at one row at a time, or that always finds the same.

        one_row_each: what is known of the rows after it. What was known of those before it is not taken for granted.
        """
        again = self.again
        more = None if again is None else lambda: change(again())
        return replace(self, relation=change(self.relation), again=more, one_row_each=one_row_each)

    def check(self) -> None:
        """Refuse rows that could not be read to their end, whatever the engine made of that."""
        problem = self.problem()
        if problem is not None:
            raise DataError(problem)

    def progress(self) -> float:
        """Return how much of the query under way is done, from 0 to 100; below 0 when nobody knows."""
        return float(self.connection.query_progress()) if self.read is None else self.read()


def keep_rows(table: OpenTable) -> OpenTable:
    """Return the rows of a table, kept by its engine: they can be read again when the file is closed.

    >>> engine = connect()
    >>> keep_rows(OpenTable(engine.sql("SELECT 1 AS a"), engine)).relation.fetchall()
    [(1,)]
    """
    name, view = (f"{_OWN}{token_hex(8)}" for _ in range(2))
    problem = ""
    try:
        table.relation.query(view, f"CREATE TEMP TABLE {name} AS SELECT * FROM {view}")  # noqa: S608
    except Exception as error:
        problem = type(error).__name__
    if problem:
        raise DataError(f"the rows could not be read: {problem}. Open the table with its own program to see why.")
    return replace(table, relation=table.connection.table(name), again=lambda: table.connection.table(name))


def find_texts(relation: duckdb.DuckDBPyRelation) -> frozenset[str]:
    """Return the columns of a relation whose declared type is text."""
    types = zip(relation.columns, relation.types, strict=True)
    return frozenset(name for name, declared in types if str(declared) == "VARCHAR")


def stream_batches(
    connection: duckdb.DuckDBPyConnection, schema: pa.Schema, batches: Iterator[pa.RecordBatch]
) -> duckdb.DuckDBPyRelation:
    """Return record batches as a relation that one query reads: a file of any size takes the memory of a few batches.

    As a capsule, the engine takes one batch after the other. A reader of Arrow it would read ahead in a thread of its
    own, and keep most of the file where counting is slower than reading.
    """
    import pyarrow as pa

    return connection.from_arrow(pa.RecordBatchReader.from_batches(schema, batches).__arrow_c_stream__())


def connect(path: Path | None = None) -> duckdb.DuckDBPyConnection:
    """Connect to a new engine in this process; with a path, to the DuckDB file there, for reading only.

    >>> connect().execute("SELECT 1").fetchall()
    [(1,)]
    """
    import duckdb

    return duckdb.connect() if path is None else duckdb.connect(path, read_only=True)
