"""The columns wanted of a table, and the DuckDB relation that comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from lastbit.data.long_texts import duckdb_text
from lastbit.data.sorting import quoted
from lastbit.errors import DataError, ParameterError, no_column

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_QUOTES: Final = " In a condition, text stands in single quotes: ward = 'north'."


@dataclass(frozen=True)
class Wanted:
    """The columns that are read; weights are numbers, the others may be anything.

    >>> Wanted(("item", "unit"), weights="cost").names
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
        """All of them."""
        return self.columns if self.weights is None else (*self.columns, self.weights)

    def check(self, present: Sequence[str]) -> None:
        """Refuse a column that is not there, or that no engine can name, before any row is read."""
        for name in self.names:
            if not name or name not in present:
                raise no_column(name, present, _QUOTES if name in self.conditions else "")


@dataclass(frozen=True)
class Opened:
    """A table ready to be counted, and how far its engine is with that."""

    relation: duckdb.DuckDBPyRelation
    connection: duckdb.DuckDBPyConnection
    read: Callable[[], float] | None = None
    """How much of a file is read, from 0 to 100, where the engine does not know."""
    problem: Callable[[], str | None] = lambda: None
    """Why the rows could not be read to their end, after a query; None where they could."""
    again: Callable[[], duckdb.DuckDBPyRelation] | None = None
    """The same rows once more, where they can be read more than once."""

    def changed(self, change: Callable[[duckdb.DuckDBPyRelation], duckdb.DuckDBPyRelation]) -> Opened:
        """The rows after a change that looks at one row at a time, or that always finds the same."""
        again = self.again
        more = None if again is None else lambda: change(again())
        return replace(self, relation=change(self.relation), again=more)

    def check(self) -> None:
        """Refuse rows that could not be read to their end, whatever the engine made of that."""
        problem = self.problem()
        if problem is not None:
            raise DataError(problem)

    def progress(self) -> float:
        """How much of the query under way is done, from 0 to 100; below 0 when nobody knows."""
        return float(self.connection.query_progress()) if self.read is None else self.read()


def streamed(
    connection: duckdb.DuckDBPyConnection, schema: pa.Schema, batches: Iterator[pa.RecordBatch]
) -> duckdb.DuckDBPyRelation:
    """Record batches as a relation that one query reads: a file of any size is counted in the memory of a few batches.

    As a capsule, the engine takes one batch after the other. A reader of Arrow it would read ahead in a thread of its
    own, and keep most of the file where counting is slower than reading.
    """
    import pyarrow as pa

    return connection.from_arrow(pa.RecordBatchReader.from_batches(schema, batches).__arrow_c_stream__())


COMMA: Final = r"[+-]?([0-9]+(,[0-9]+)?([eE][+-]?[0-9]+)?|[0-9]{1,3}([.][0-9]{3})+(,[0-9]+)?)"
"""A number with a comma before its fraction, and perhaps a point between thousands, or a power of ten as in 1e+05."""


def number_of(text: str, *, comma: bool = False) -> str:
    """The float that a text is, in SQL; null where it is none.

    >>> number_of("cost")
    'TRY_CAST(cost AS DOUBLE)'
    """
    if comma:
        plain = f"replace(replace(trim({text}), '.', ''), ',', '.')"
        text = f"CASE WHEN regexp_full_match(trim({text}), '{COMMA}') THEN {plain} END"
    return f"TRY_CAST({text} AS DOUBLE)"


def moment_of(text: str) -> str:
    """The time that a text in ISO form is, in SQL; null where it is none. Its zone is passed over.

    The engine does so only behind seconds.
    """
    zone = r"([T ][0-9]{2}:[0-9]{2})(Z|[+-][0-9]{2}(:?[0-9]{2})?)$"
    return f"TRY_CAST(regexp_replace({text}, '{zone}', '\\1') AS TIMESTAMP)"


def selection(wanted: Wanted, expressions: Sequence[str], *, comma: bool = False) -> str:
    """The columns wanted, of text, in SQL: as many expressions as names. Weights that are no number are null."""
    chosen = [f"{duckdb_text(text)} AS {quoted(name)}" for text, name in zip(expressions, wanted.columns, strict=False)]
    if wanted.weights is not None:
        chosen.append(f"{number_of(expressions[-1], comma=comma)} AS {quoted(wanted.weights)}")
    return ", ".join(chosen)


def literal(text: str) -> str:
    """A text in SQL.

    >>> literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"
