"""Tables of SQLite and PostgreSQL, fetched as text that the database itself writes.

A value is asked for as the bytes of its text: these have no collation that could take two rows for one, no encoding
that could fail on the way, and no type that a row could exceed. Bytes that are no text here are null.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lastbit.data.engine import engine
from lastbit.data.lines import LONGEST
from lastbit.data.relation import Opened, Wanted
from lastbit.data.sorting import quoted
from lastbit.errors import DataError, LastbitError, ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

Row = Sequence[Any]

_ROWS: Final = 100_000
"""Rows that are fetched at a time."""

_POSTGRES_NUMBERS: Final = (20, 21, 23, 700, 701, 1700)
"""The types of PostgreSQL that are numbers. Others are refused: the type of a column is public, its rows are not."""

_NO_ROWS: Final = " WHERE false"

_REAL: Final = 700
"""The shortest text of such a float would be another double."""

_DOUBLE: Final = 701
_NUMERIC: Final = 1700


def check_table(name: str, present: list[str], place: str) -> None:
    """Refuse a table that a database does not have."""
    if name not in present:
        raise ParameterError(f"there is no table {name!r} in {place}: it has {', '.join(present) or 'none'}.")


def sqlite_columns(path: Path, table: str) -> list[str]:
    """The columns of a table of a SQLite file."""
    with _sqlite(path, table) as (_, columns):
        return columns


@contextmanager
def _sqlite(path: Path, table: str) -> Iterator[tuple[sqlite3.Connection, list[str]]]:
    """A connection to a SQLite file, and the columns of a table that is in it."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        connection.text_factory = lambda text: text.decode("utf-8", "replace")
        listed = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
        check_table(table, [row[0] for row in connection.execute(listed)], str(path))
        probe = connection.execute(f"SELECT * FROM {quoted(table)} LIMIT 0")  # noqa: S608
        yield connection, [column[0] for column in probe.description]


def sqlite_table(path: Path, table: str, wanted: Wanted, *, rows_wanted: bool = True) -> Opened:
    """A table of a SQLite file. Its columns hold values of any type: all are text, as SQLite casts them.

    A weight that is text is the number it is written as, as in a text file, or null. Where no rows are wanted, none is
    read.
    """
    with _sqlite(path, table) as (connection, columns):
        # SQLite takes an unknown name in quotes for text, so that the check must come first.
        wanted.check(columns)
        # A cast to a blob keeps the encoding of the file.
        encoding = connection.execute("PRAGMA encoding").fetchone()[0]
        names = [quoted(name) for name in wanted.names]
        chosen = [_short("length", f"CAST(CAST({name} AS TEXT) AS BLOB)", "{}") for name in names]
        if wanted.weights is not None:
            number = f"typeof({names[-1]}) IN ('integer', 'real')"
            chosen[-1] = f"CASE WHEN {number} THEN CAST({names[-1]} AS REAL) ELSE {chosen[-1]} END"
        rows = connection.execute(_selection(chosen, wanted) + quoted(table) + _NO_ROWS * (not rows_wanted))
        return _fetched(iter(lambda: rows.fetchmany(_ROWS), []), wanted, encoding, _as_it_is)


def postgres_columns(place: str, table: str) -> list[str]:
    """The columns of a table of a PostgreSQL database."""
    with _postgres(place, table) as (_, _, columns):
        return list(columns)


@contextmanager
def _postgres(place: str, table: str) -> Iterator[tuple[Any, Callable[[str], bytes], dict[str, Any]]]:
    """A connection to a PostgreSQL database, how it reads a query, and the columns of a table with their types."""
    try:
        import psycopg
    except ImportError:
        raise LastbitError("this needs psycopg. Install it with: pip install 'lastbit[postgres]'") from None
    try:
        with psycopg.connect(place) as connection:
            encoding = _encoding(connection)

            def query(text: str) -> bytes:
                # A name that cannot be written in the database's encoding is not there.
                return text.encode(encoding, "replace")

            probe = connection.execute(query(f"SELECT * FROM {_dotted(table)} LIMIT 0"))  # noqa: S608
            yield connection, query, {column.name: column for column in probe.description or ()}
            return
    except psycopg.Error as error:
        problem = type(error).__name__
    raise DataError(f"the database could not be read: {problem}. Check its address and the table's name.")


def _dotted(table: str) -> str:
    return ".".join(quoted(part) for part in table.split("."))


def postgres_table(place: str, table: str, wanted: Wanted, *, rows_wanted: bool = True) -> Opened:
    """A table of a PostgreSQL database. Weights are the floats next to them, infinite when there are none so large.

    Where no rows are wanted, none is read.
    """
    with _postgres(place, table) as (connection, query, kinds):
        wanted.check(list(kinds))
        values = [_one_form(kinds[name]) for name in wanted.columns]
        if wanted.weights is not None:
            if kinds[wanted.weights].type_code not in _POSTGRES_NUMBERS:
                raise ParameterError(f"weights must be numbers: the column {wanted.weights!r} holds something else.")
            real = kinds[wanted.weights].type_code == _REAL
            weight = quoted(wanted.weights)
            values.append(f"CAST({weight} AS DOUBLE PRECISION)" if real else weight)
        # To SQL_ASCII means as they are.
        chosen = [_short("octet_length", f"CAST({value} AS TEXT)", "convert_to({}, 'SQL_ASCII')") for value in values]
        text = _selection(chosen, wanted) + _dotted(table) + _NO_ROWS * (not rows_wanted)
        with connection.cursor("lastbit") as rows:
            rows.execute(query(text), binary=True)
            return _fetched(iter(lambda: rows.fetchmany(_ROWS), []), wanted, _encoding(connection), _as_float)


def _one_form(column: Any) -> str:
    """A column in which equal numbers are the same text: a person under two forms of a number would count twice."""
    name = quoted(column.name)
    if column.type_code in (_REAL, _DOUBLE):
        return f"CASE WHEN {name} = 0 THEN 0 ELSE {name} END"
    if column.type_code == _NUMERIC and column.precision is None:
        return f"trim_scale({name})"
    return name


def _encoding(connection: Any) -> str:
    """Python's name for the encoding of a PostgreSQL database, in which it shall write its text."""
    connection.execute("SELECT set_config('client_encoding', current_setting('server_encoding'), false)")
    # Floats as text are exact.
    connection.execute("SET extra_float_digits = 3")
    # In SQL_ASCII a database holds any bytes.
    known: str = connection.info.encoding
    return "utf-8" if known == "ascii" else known


def _short(length: str, value: str, form: str) -> str:
    """A value in its form; null when it is longer than a line of a text file may be."""
    return f"CASE WHEN {length}({value}) <= {LONGEST} THEN {form.format(value)} END"


def _selection(chosen: Sequence[str], wanted: Wanted) -> str:
    return f"SELECT {'DISTINCT ' if wanted.distinct else ''}{', '.join(chosen)} FROM "  # noqa: S608


def _text(data: bytes | None, encoding: str) -> str | None:
    try:
        text = None if data is None else data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if text is None or "\0" in text else text


def _as_it_is(value: Any, encoding: str) -> tuple[float | None, str | None]:
    return (None, _text(value, encoding)) if isinstance(value, bytes | None) else (value, None)


def _as_float(value: bytes | None, encoding: str) -> tuple[float | None, str | None]:
    return (None if value is None else float(value), None)


def _fetched(
    parts: Iterator[Sequence[Row]],
    wanted: Wanted,
    encoding: str,
    weight: Callable[[Any, str], tuple[float | None, str | None]],
) -> Opened:
    """Rows in an engine of our own. A weight is a number, or text that is one or not."""
    import pyarrow as pa

    width = len(wanted.columns)
    names = [f"c{place}" for place in range(width)]
    schema = pa.schema([*((name, pa.string()) for name in names), ("number", pa.float64()), ("text", pa.string())])
    batches: list[pa.RecordBatch] = []
    for rows in parts:
        columns = [pa.array([_text(row[place], encoding) for row in rows], pa.string()) for place in range(width)]
        weights = [(None, None) if wanted.weights is None else weight(row[width], encoding) for row in rows]
        columns += [pa.array([w[0] for w in weights], pa.float64()), pa.array([w[1] for w in weights], pa.string())]
        batches.append(pa.record_batch(columns, schema=schema))
    chosen = [f"{each} AS {quoted(name)}" for each, name in zip(names, wanted.columns, strict=True)]
    if wanted.weights is not None:
        chosen.append(f"COALESCE(number, TRY_CAST(text AS DOUBLE)) AS {quoted(wanted.weights)}")
    connection = engine()
    relation = connection.from_arrow(pa.Table.from_batches(batches, schema))
    return Opened(relation.project(", ".join(chosen)), connection)
