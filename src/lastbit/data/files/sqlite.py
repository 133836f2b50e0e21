"""Tables of a SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from lastbit.data.duckdb.relation import ColumnSelection, OpenTable
from lastbit.data.files.databases import ROWS, ReadText, check_table, decode_text, load_rows, select_rows
from lastbit.data.long_texts import LONGEST_TEXT, digest, shorten_text
from lastbit.data.sql import quote_identifier
from lastbit.errors import ParameterError

_LONGEST_NUMBER: Final = 1_000
"""Bytes of the longest text that is read as a weight."""

_ZERO: Final = "<zero byte>"
"""A zero byte within SQLite, in which it would end a text."""

_REALS: Final = ("REAL", "FLOA", "DOUB")
_TEXTS: Final = ("CHAR", "CLOB", "TEXT")
_OTHERS: Final = ("INT", *_TEXTS, "BLOB")


def list_sqlite_columns(path: Path, table: str) -> list[str]:
    """List the columns of a table of a SQLite file."""
    with _connect(path, table) as (_, columns):
        return columns


@contextmanager
def _connect(path: Path, table: str) -> Iterator[tuple[sqlite3.Connection, list[str]]]:
    """Connect to a SQLite file, and give the connection and the columns of a table that is in it."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        connection.text_factory = lambda text: text.decode("utf-8", "replace")
        query = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
        check_table(table, [row[0] for row in connection.execute(query)], str(path))
        probe = connection.execute(f"SELECT * FROM {quote_identifier(table)} LIMIT 0")  # noqa: S608
        yield connection, [column[0] for column in probe.description]


def open_sqlite(path: Path, table: str, selection: ColumnSelection, *, with_rows: bool = True) -> OpenTable:
    """Open a table of a SQLite file. Its columns hold values of any type: all become text.

    An integer is its digits, a float the shortest digits that stand for it, bytes their digits behind a zero byte,
    which no text here has. A weight that is text is the number it is written as, as in a text file, or null. Without
    rows, none is read.
    """
    with _connect(path, table) as (connection, columns):
        # SQLite takes an unknown name in quotes for text, so that the check must come first.
        selection.check(columns)
        declared = {row[1]: row[2] for row in connection.execute(f"PRAGMA table_xinfo({quote_identifier(table)})")}
        texts = frozenset(name for name in columns if _is_text(declared.get(name, "")))
        if selection.weights in texts:
            raise ParameterError(
                f"the column {selection.weights!r} must hold numbers: the table declares it as text. Name a column of "
                "numbers, or make one with --sql and cast. Nothing was charged."
            )
        # A cast to a blob keeps the encoding of the file.
        encoding = connection.execute("PRAGMA encoding").fetchone()[0]
        connection.create_function("lastbit_text", 1, lambda data: _long_text(data, encoding), deterministic=True)
        connection.create_function("lastbit_bytes", 1, lambda data: _ZERO + digest(data).decode(), deterministic=True)
        chosen = [_value_sql(quote_identifier(name)) for name in selection.columns]
        if selection.weights is not None:
            weight = quote_identifier(selection.weights)
            text = f"CASE WHEN length({weight}) <= {_LONGEST_NUMBER} THEN CAST(CAST({weight} AS TEXT) AS BLOB) END"
            number = f"typeof({weight}) IN ('integer', 'real')"
            chosen.append(f"CASE WHEN {number} THEN CAST({weight} AS REAL) ELSE {text} END")
        query = select_rows(chosen, quote_identifier(table), distinct=selection.distinct, with_rows=with_rows)
        rows = connection.execute(query)
        readers = [_text_reader(encoding, _is_real(declared.get(name, ""))) for name in selection.columns]
        batches = iter(lambda: rows.fetchmany(ROWS), [])
        loaded = load_rows(batches, selection, readers, lambda cell: _read_weight(cell, encoding))
        return replace(loaded, text_columns=texts)


def _value_sql(name: str) -> str:
    """Return the SQL of a value: numbers themselves, text as its bytes in the file, and normal forms as text."""
    data = f"CAST({name} AS BLOB)"
    short = f"length({name}) <= {LONGEST_TEXT}"
    return (
        f"CASE typeof({name}) WHEN 'integer' THEN {name} WHEN 'real' THEN {name} "
        f"WHEN 'blob' THEN CASE WHEN {short} THEN '{_ZERO}' || hex({name}) ELSE lastbit_bytes({name}) END "
        f"WHEN 'text' THEN CASE WHEN length({data}) <= {LONGEST_TEXT} THEN {data} ELSE lastbit_text({data}) END END"
    )


def _long_text(data: bytes, encoding: str) -> str | None:
    """Return the normal form of a long text; null where the bytes are no text."""
    text = decode_text(data, encoding)
    return None if text is None else shorten_text(text)


def _is_text(declared: str) -> bool:
    """Tell whether SQLite turns numbers of a column into text, by the rules of its documentation."""
    declared = declared.upper()
    return "INT" not in declared and any(part in declared for part in _TEXTS)


def _is_real(declared: str) -> bool:
    """Tell whether SQLite turns whole numbers of a column into floats, by the rules of its documentation."""
    declared = declared.upper()
    return any(part in declared for part in _REALS) and not any(part in declared for part in _OTHERS)


def _text_reader(encoding: str, real: bool) -> ReadText:
    """Return a function from a cell to its text.

    SQLite takes 1 and 1.0 for equal, and a view may have both: one text stands for both of them.

    real: whether a column is declared to hold floats. Then 1 is written as 1.0, otherwise 1.0 as 1.
    """

    def read(cell: Any) -> str | None:
        if type(cell) is bytes:
            text = decode_text(cell, encoding)
            return None if text is None else shorten_text(text)
        if type(cell) is int:
            return repr(float(cell)) if real and int(float(cell)) == cell else str(cell)
        if type(cell) is float:
            whole = not real and -(2.0**63) <= cell < 2.0**63 and cell.is_integer()
            return str(int(cell)) if whole else repr(cell + 0.0)
        # What SQLite gives as text is a normal form already.
        return cell.replace(_ZERO, "\0") if cell else None

    return read


def _read_weight(value: Any, encoding: str) -> tuple[float | None, str | None]:
    return (None, decode_text(value, encoding)) if isinstance(value, bytes | None) else (value, None)
