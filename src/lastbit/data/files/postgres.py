"""Tables of a PostgreSQL database."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from lastbit.data.duckdb.relation import ColumnSelection, OpenTable
from lastbit.data.files.databases import FEW_ROWS, ROWS, Row, decode_text, load_rows, select_rows
from lastbit.data.long_texts import LONGEST_TEXT, PREFIX, shorten_text
from lastbit.data.sql import quote_identifier
from lastbit.errors import DataError, LastbitError, ParameterError, raise_alone

_NUMBERS: Final = (20, 21, 23, 700, 701, 1700)
"""The types of PostgreSQL that are numbers. Others are refused: the type of a column is public, its rows are not."""

_REAL: Final = 700
_TEXTS: Final = (25, 1042, 1043)
"""The types text, character and character varying."""
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


def list_postgres_columns(address: str, table: str) -> list[str]:
    """List the columns of a table of a PostgreSQL database."""
    with _connect(address, table) as (_, _, columns):
        return list(columns)


@contextmanager
def _connect(address: str, table: str) -> Iterator[tuple[Any, Callable[[str], bytes], dict[str, Any]]]:
    """Connect to a database, and give the connection, its way to write a query, and the columns of a table."""
    try:
        import psycopg
    except ImportError:
        raise LastbitError("this needs psycopg. Install it with: pip install 'lastbit[postgres]'") from None
    try:
        with psycopg.connect(address) as connection:
            encoding = _set_encoding(connection)

            def query(text: str) -> bytes:
                # A name that cannot be written in the database's encoding is not there.
                return text.encode(encoding, "replace")

            probe = connection.execute(query(f"SELECT * FROM {_quote_table(table)} LIMIT 0"))  # noqa: S608
            yield connection, query, {column.name: column for column in probe.description or ()}
            return
    except psycopg.Error as error:
        problem = type(error).__name__
    raise_alone(DataError(f"the database could not be read: {problem}. Check its address and the table's name."))


def _quote_table(table: str) -> str:
    return ".".join(quote_identifier(part) for part in table.split("."))


def open_postgres(address: str, table: str, selection: ColumnSelection, *, with_rows: bool = True) -> OpenTable:
    """Open a table of a PostgreSQL database. Weights are the next floats, infinite where there are none so large.

    Without rows, none is read.
    """
    with _connect(address, table) as (connection, query, columns):
        selection.check(list(columns))
        encoding = _set_encoding(connection)
        in_utf8 = encoding == "utf-8"
        chosen = [_value_sql(_one_form(columns[name]), in_utf8) for name in selection.columns]
        if selection.weights is not None:
            if columns[selection.weights].type_code not in _NUMBERS:
                raise ParameterError(f"weights must be numbers: the column {selection.weights!r} holds something else.")
            real = columns[selection.weights].type_code == _REAL
            weight = quote_identifier(selection.weights)
            weight = f"CAST({weight} AS DOUBLE PRECISION)" if real else weight
            chosen.append(f"convert_to(CAST({weight} AS TEXT), 'SQL_ASCII')")

        def read(cell: bytes | None) -> str | None:
            if cell is not None and cell[:1] == b"\0":  # a normal form already
                return cell[1:].decode()
            text = decode_text(cell, encoding)
            return None if text is None else shorten_text(text)

        text = select_rows(chosen, _quote_table(table), distinct=selection.distinct, with_rows=with_rows)
        with connection.cursor("lastbit") as rows:
            rows.execute(query(text), binary=True)
            few = ROWS if in_utf8 else FEW_ROWS
            batches: Iterator[Sequence[Row]] = iter(lambda: rows.fetchmany(few), [])
            loaded = load_rows(batches, selection, [read] * len(selection.columns), _read_weight)
            texts = frozenset(name for name in selection.columns if columns[name].type_code in _TEXTS)
            return replace(loaded, text_columns=texts)


def _one_form(column: Any) -> str:
    """Return the SQL of a column in which equal values are one text: a person under two forms would count twice."""
    name = quote_identifier(column.name)
    if column.type_code in (_REAL, _DOUBLE):
        return f"CASE WHEN {name} = 0 THEN 0 ELSE {name} END"
    if column.type_code == _NUMERIC and column.precision is None:
        return f"trim_scale({name})"
    if column.type_code == _INTERVAL:
        # A month is thirty days and a day 24 hours, as where the database compares lengths of time.
        parts = {part: f"CAST(extract({part} FROM {name}) AS NUMERIC)" for part in _PARTS}
        days = f"({parts['year']} * 12 + {parts['month']}) * 30 + {parts['day']}"
        minutes = f"(({days}) * 24 + {parts['hour']}) * 60 + {parts['minute']}"
        microseconds = f"trim_scale(({minutes}) * 60000000 + {parts['microseconds']})"
        return f"CASE WHEN isfinite({name}) THEN CAST({microseconds} AS TEXT) ELSE CAST({name} AS TEXT) END"
    return name


_PARTS: Final = ("year", "month", "day", "hour", "minute", "microseconds")


def _value_sql(value: str, in_utf8: bool) -> str:
    """Return the SQL of a value as the bytes of its text, or its normal form behind a zero byte, as SQL_ASCII: as is.

    The digest is one of UTF-8. From another encoding a text comes as it is, because to convert it might fail.
    """
    text = f"CAST({value} AS TEXT)"
    data = f"convert_to({text}, 'SQL_ASCII')"
    if not in_utf8:
        return data
    form = f"'\\x00'::bytea || convert_to('{PREFIX.decode()}' || encode(sha256({data}), 'hex'), 'SQL_ASCII')"
    return f"CASE WHEN octet_length({text}) <= {LONGEST_TEXT} THEN {data} ELSE {form} END"


def _set_encoding(connection: Any) -> str:
    """Tell a database how to write its text, and return Python's name for its encoding."""
    connection.execute("SELECT set_config('client_encoding', current_setting('server_encoding'), false)")
    for name, value in _SETTINGS.items():
        connection.execute("SELECT set_config(%s, %s, false)", (name, value))
    # In SQL_ASCII a database holds any bytes.
    known: str = connection.info.encoding
    return "utf-8" if known == "ascii" else known


def _read_weight(value: bytes | None) -> tuple[float | None, str | None]:
    return (None if value is None else float(value), None)
