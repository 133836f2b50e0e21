"""Tables of SQLite and PostgreSQL, fetched as text that stands for each value exactly.

Text is asked for as its bytes: these have no collation that could take two rows for one, and no encoding that could
fail on the way. Numbers are written with all of their digits, so that different numbers are different texts. Text that
is too long is replaced by its digest, where the database is. Bytes that are no text here are null.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lastbit.data.engine import engine
from lastbit.data.long_texts import LONGEST, PREFIX, digest, shorten_text
from lastbit.data.relation import Opened, Wanted
from lastbit.data.sorting import quoted
from lastbit.errors import DataError, LastbitError, ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

Row = Sequence[Any]
Read = Callable[[Any], str | None]
"""From a cell, as a database gives it, to its text."""

Weigh = Callable[[Any], tuple[float | None, str | None]]
"""From a cell to the weight that it is, or to the text that it is."""

_ROWS: Final = 1 << 14
"""Rows that are fetched at a time: with the longest text in all of them, this is some 160 MB for each column."""

_FEW_ROWS: Final = 1 << 7
"""The same where texts come in their whole length."""

_LONGEST_NUMBER: Final = 1_000
"""Bytes of the longest text that is read as a weight."""

_ZERO: Final = "<zero byte>"
"""A zero byte within SQLite, in which it would end a text."""

_REALS: Final = ("REAL", "FLOA", "DOUB")
_OTHERS: Final = ("INT", "CHAR", "CLOB", "TEXT", "BLOB")

_POSTGRES_NUMBERS: Final = (20, 21, 23, 700, 701, 1700)
"""The types of PostgreSQL that are numbers. Others are refused: the type of a column is public, its rows are not."""

_NO_ROWS: Final = " WHERE false"

_REAL: Final = 700
"""The shortest text of such a float would be another double."""

_DOUBLE: Final = 701
_NUMERIC: Final = 1700
_INTERVAL: Final = 1186

_SETTINGS: Final = {
    "extra_float_digits": "3",  # floats as text are exact
    "datestyle": "ISO",
    "timezone": "UTC",
    "bytea_output": "hex",
}
"""How PostgreSQL writes values: in one form each, whatever the database says."""


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
    """A table of a SQLite file. Its columns hold values of any type: all become text.

    An integer is its digits, a float the shortest digits that stand for it, bytes their digits behind a zero byte,
    which no text here has. A weight that is text is the number it is written as, as in a text file, or null. Where no
    rows are wanted, none is read.
    """
    with _sqlite(path, table) as (connection, columns):
        # SQLite takes an unknown name in quotes for text, so that the check must come first.
        wanted.check(columns)
        declared = {row[1]: row[2] for row in connection.execute(f"PRAGMA table_xinfo({quoted(table)})")}
        # A cast to a blob keeps the encoding of the file.
        encoding = connection.execute("PRAGMA encoding").fetchone()[0]
        connection.create_function("lastbit_text", 1, lambda data: _long_text(data, encoding), deterministic=True)
        connection.create_function("lastbit_bytes", 1, lambda data: _ZERO + digest(data).decode(), deterministic=True)
        chosen = [_sqlite_value(quoted(name)) for name in wanted.columns]
        if wanted.weights is not None:
            weight = quoted(wanted.weights)
            text = f"CASE WHEN length({weight}) <= {_LONGEST_NUMBER} THEN CAST(CAST({weight} AS TEXT) AS BLOB) END"
            number = f"typeof({weight}) IN ('integer', 'real')"
            chosen.append(f"CASE WHEN {number} THEN CAST({weight} AS REAL) ELSE {text} END")
        rows = connection.execute(_selection(chosen, wanted) + quoted(table) + _NO_ROWS * (not rows_wanted))
        reads = [_sqlite_reader(encoding, _is_real(declared.get(name, ""))) for name in wanted.columns]
        return _fetched(iter(lambda: rows.fetchmany(_ROWS), []), wanted, reads, lambda cell: _as_it_is(cell, encoding))


def _sqlite_value(name: str) -> str:
    """A value for Python: numbers themselves, text as the bytes that it has in the file, and normal forms as text."""
    data = f"CAST({name} AS BLOB)"
    short = f"length({name}) <= {LONGEST}"
    return (
        f"CASE typeof({name}) WHEN 'integer' THEN {name} WHEN 'real' THEN {name} "
        f"WHEN 'blob' THEN CASE WHEN {short} THEN '{_ZERO}' || hex({name}) ELSE lastbit_bytes({name}) END "
        f"WHEN 'text' THEN CASE WHEN length({data}) <= {LONGEST} THEN {data} ELSE lastbit_text({data}) END END"
    )


def _long_text(data: bytes, encoding: str) -> str | None:
    """The normal form of a long text; null where the bytes are no text."""
    text = _text(data, encoding)
    return None if text is None else shorten_text(text)


def _is_real(declared: str) -> bool:
    """Whether SQLite turns whole numbers of a column into floats, by the rules of its documentation."""
    declared = declared.upper()
    return any(part in declared for part in _REALS) and not any(part in declared for part in _OTHERS)


def _sqlite_reader(encoding: str, real: bool) -> Read:
    """SQLite takes 1 and 1.0 for equal, and a view may have both: one text stands for both of them.

    real: whether a column is declared to hold floats. Then 1 is written as 1.0, otherwise 1.0 as 1.
    """

    def read(cell: Any) -> str | None:
        if type(cell) is bytes:
            text = _text(cell, encoding)
            return None if text is None else shorten_text(text)
        if type(cell) is int:
            return repr(float(cell)) if real and int(float(cell)) == cell else str(cell)
        if type(cell) is float:
            whole = not real and -(2.0**63) <= cell < 2.0**63 and cell.is_integer()
            return str(int(cell)) if whole else repr(cell + 0.0)
        # What SQLite gives as text is a normal form already.
        return cell.replace(_ZERO, "\0") if cell else None

    return read


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
        encoding = _encoding(connection)
        in_utf8 = encoding == "utf-8"
        chosen = [_postgres_value(_one_form(kinds[name]), in_utf8) for name in wanted.columns]
        if wanted.weights is not None:
            if kinds[wanted.weights].type_code not in _POSTGRES_NUMBERS:
                raise ParameterError(f"weights must be numbers: the column {wanted.weights!r} holds something else.")
            real = kinds[wanted.weights].type_code == _REAL
            weight = quoted(wanted.weights)
            weight = f"CAST({weight} AS DOUBLE PRECISION)" if real else weight
            chosen.append(f"convert_to(CAST({weight} AS TEXT), 'SQL_ASCII')")

        def read(cell: bytes | None) -> str | None:
            if cell is not None and cell[:1] == b"\0":  # a normal form already
                return cell[1:].decode()
            text = _text(cell, encoding)
            return None if text is None else shorten_text(text)

        text = _selection(chosen, wanted) + _dotted(table) + _NO_ROWS * (not rows_wanted)
        with connection.cursor("lastbit") as rows:
            rows.execute(query(text), binary=True)
            few = _ROWS if in_utf8 else _FEW_ROWS
            parts: Iterator[Sequence[Row]] = iter(lambda: rows.fetchmany(few), [])
            return _fetched(parts, wanted, [read] * len(wanted.columns), _as_float)


def _one_form(column: Any) -> str:
    """A column in which equal values are the same text: a person under two forms of a value would count twice."""
    name = quoted(column.name)
    if column.type_code in (_REAL, _DOUBLE):
        return f"CASE WHEN {name} = 0 THEN 0 ELSE {name} END"
    if column.type_code == _NUMERIC and column.precision is None:
        return f"trim_scale({name})"
    if column.type_code == _INTERVAL:
        # A month is thirty days and a day 24 hours, as where the database compares lengths of time.
        part = {each: f"CAST(extract({each} FROM {name}) AS NUMERIC)" for each in _PARTS}
        days = f"({part['year']} * 12 + {part['month']}) * 30 + {part['day']}"
        minutes = f"(({days}) * 24 + {part['hour']}) * 60 + {part['minute']}"
        microseconds = f"trim_scale(({minutes}) * 60000000 + {part['microseconds']})"
        return f"CASE WHEN isfinite({name}) THEN CAST({microseconds} AS TEXT) ELSE CAST({name} AS TEXT) END"
    return name


_PARTS: Final = ("year", "month", "day", "hour", "minute", "microseconds")


def _postgres_value(value: str, in_utf8: bool) -> str:
    """A value as the bytes of its text, or its normal form behind a zero byte. To SQL_ASCII means as they are.

    The digest is one of UTF-8. From another encoding a text comes as it is, because to convert it might fail.
    """
    text = f"CAST({value} AS TEXT)"
    data = f"convert_to({text}, 'SQL_ASCII')"
    if not in_utf8:
        return data
    form = f"'\\x00'::bytea || convert_to('{PREFIX.decode()}' || encode(sha256({data}), 'hex'), 'SQL_ASCII')"
    return f"CASE WHEN octet_length({text}) <= {LONGEST} THEN {data} ELSE {form} END"


def _encoding(connection: Any) -> str:
    """Python's name for the encoding of a PostgreSQL database, in which it shall write its text."""
    connection.execute("SELECT set_config('client_encoding', current_setting('server_encoding'), false)")
    for name, value in _SETTINGS.items():
        connection.execute("SELECT set_config(%s, %s, false)", (name, value))
    # In SQL_ASCII a database holds any bytes.
    known: str = connection.info.encoding
    return "utf-8" if known == "ascii" else known


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


def _as_float(value: bytes | None) -> tuple[float | None, str | None]:
    return (None if value is None else float(value), None)


def _fetched(parts: Iterator[Sequence[Row]], wanted: Wanted, reads: Sequence[Read], weigh: Weigh) -> Opened:
    """Rows in an engine of our own. A weight is a number, or text that is one or not."""
    import pyarrow as pa

    width = len(wanted.columns)
    names = [f"c{place}" for place in range(width)]
    schema = pa.schema([*((name, pa.string()) for name in names), ("number", pa.float64()), ("text", pa.string())])
    batches: list[pa.RecordBatch] = []
    for rows in parts:
        columns = [pa.array([read(row[place]) for row in rows], pa.string()) for place, read in enumerate(reads)]
        weights = [(None, None) if wanted.weights is None else weigh(row[width]) for row in rows]
        columns += [pa.array([w[0] for w in weights], pa.float64()), pa.array([w[1] for w in weights], pa.string())]
        batches.append(pa.record_batch(columns, schema=schema))
    chosen = [f"{each} AS {quoted(name)}" for each, name in zip(names, wanted.columns, strict=True)]
    if wanted.weights is not None:
        chosen.append(f"COALESCE(number, TRY_CAST(text AS DOUBLE)) AS {quoted(wanted.weights)}")
    connection = engine()
    relation = connection.from_arrow(pa.Table.from_batches(batches, schema))
    return Opened(relation.project(", ".join(chosen)), connection)
