"""Rows of SQLite and PostgreSQL, fetched as text that stands for each value exactly.

Text is asked for as its bytes: these have no collation that could take two rows for one, and no encoding that could
fail on the way. Numbers are written with all of their digits, so that different numbers are different texts. Text that
is too long is replaced by its digest, where the database is. Bytes that are no text here are null.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from lastbit.data.duckdb.relation import ColumnSelection, OpenTable, connect
from lastbit.data.sql import quote_identifier
from lastbit.errors import ParameterError

Row = Sequence[Any]

ReadText = Callable[[Any], str | None]
"""From a cell, as a database gives it, to its text."""

ReadWeight = Callable[[Any], tuple[float | None, str | None]]
"""From a cell to the weight that it is, or to the text that it is."""

ROWS: Final = 1 << 14
"""Rows that are fetched at a time: with the longest text in all of them, this is some 160 MB for each column."""

FEW_ROWS: Final = 1 << 7
"""The same where texts come in their whole length."""


def check_table(name: str, present: list[str], path: str) -> None:
    """Refuse a table that a database does not have."""
    if name not in present:
        raise ParameterError(f"there is no table {name!r} in {path}: it has {', '.join(present) or 'none'}.")


def select_rows(chosen: Sequence[str], table: str, *, distinct: bool, with_rows: bool) -> str:
    """Return the query for these expressions of a table; one that finds no row where none is wanted."""
    rows = "" if with_rows else " WHERE false"
    return f"SELECT {'DISTINCT ' if distinct else ''}{', '.join(chosen)} FROM {table}{rows}"  # noqa: S608


def decode_text(data: bytes | None, encoding: str) -> str | None:
    """Return the text of bytes; None where they are no text, or hold a zero byte."""
    try:
        text = None if data is None else data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if text is None or "\0" in text else text


def load_rows(
    parts: Iterator[Sequence[Row]], selection: ColumnSelection, readers: Sequence[ReadText], read_weight: ReadWeight
) -> OpenTable:
    """Load rows into an engine of our own. A weight is a number, or text that is one or not."""
    import pyarrow as pa

    width = len(selection.columns)
    names = [f"c{number}" for number in range(width)]
    schema = pa.schema([*((name, pa.string()) for name in names), ("number", pa.float64()), ("text", pa.string())])
    batches: list[pa.RecordBatch] = []
    for rows in parts:
        columns = [pa.array([read(row[number]) for row in rows], pa.string()) for number, read in enumerate(readers)]
        weights = [(None, None) if selection.weights is None else read_weight(row[width]) for row in rows]
        columns += [pa.array([w[0] for w in weights], pa.float64()), pa.array([w[1] for w in weights], pa.string())]
        batches.append(pa.record_batch(columns, schema=schema))
    chosen = [f"{own} AS {quote_identifier(name)}" for own, name in zip(names, selection.columns, strict=True)]
    if selection.weights is not None:
        chosen.append(f"COALESCE(number, TRY_CAST(text AS DOUBLE)) AS {quote_identifier(selection.weights)}")
    connection = connect()
    relation = connection.from_arrow(pa.Table.from_batches(batches, schema))
    return OpenTable(relation.project(", ".join(chosen)), connection)
