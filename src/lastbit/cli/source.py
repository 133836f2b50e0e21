"""Tables of any kind, as a DuckDB relation with the columns asked for.

What a file holds must not decide how it is read: a reader that guesses types or separators from the rows lets one
person's row change how all others count. So the separator, the quotes and the columns of text files are fixed before
the first row, everything in them is text, and rows that do not fit are left out.
"""

from __future__ import annotations

import csv
import gzip
import io
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lastbit.data.sorting import quoted
from lastbit.errors import DataError, LastbitError, ParameterError

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_ROWS: Final = 100_000
"""Rows of a database that are fetched at a time."""

_SEPARATORS: Final = {".csv": ",", ".tsv": "\t"}
_TEXT: Final = "VARCHAR"
_POSTGRES_NUMBERS: Final = (20, 21, 23, 700, 701, 1700)
"""The types of PostgreSQL that are numbers: text would fail in the row that holds none."""


@dataclass(frozen=True)
class Wanted:
    """The columns that are read; weights are numbers, the others may be anything."""

    columns: tuple[str, ...]
    weights: str | None = None
    distinct: bool = False
    """Whether rows that are alike may be read as one."""

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return self.columns if self.weights is None else (*self.columns, self.weights)

    def check(self, present: Sequence[str]) -> None:
        """Refuse a column that is not there, before any row is read."""
        for name in self.names:
            if name not in present:
                raise ParameterError(f"there is no column {name!r}: the table has {', '.join(present)}.")


@dataclass(frozen=True)
class Opened:
    """A table ready to be counted, and how far its engine is with that."""

    relation: duckdb.DuckDBPyRelation
    connection: duckdb.DuckDBPyConnection

    def progress(self) -> float:
        """How much of the query under way is done, from 0 to 100; below 0 when nobody knows."""
        return float(self.connection.query_progress())


def opened(place: str, wanted: Wanted, table: str | None = None) -> Opened:
    """Open a file, or a table of a database.

    The kind goes by the first bytes for Parquet, DuckDB and SQLite, by the name for CSV, TSV and JSON.
    """
    import duckdb

    try:
        return _opened(place, wanted, table)
    except (duckdb.Error, sqlite3.Error, OSError) as error:
        # What an engine says may quote a row: only its kind is passed on.
        problem = error.strerror or "" if isinstance(error, OSError) else type(error).__name__
    raise DataError(f"{_public(place)} could not be read: {problem}. Open it with its own program to see why.")


def _opened(place: str, wanted: Wanted, table: str | None) -> Opened:
    import duckdb

    if place.startswith(("postgresql://", "postgres://")):
        return _fetched(lambda: _postgres_rows(place, _named(table, place), wanted), wanted)
    path = Path(place)
    if place == "-" or (path.exists() and not path.is_file()):
        raise DataError(f"{place} is no file: a table is opened by name, more than once. Save it as a file first.")
    if not path.is_file():
        raise DataError(f"there is no file {place}. Check the name, or give a postgresql:// address.")
    kind = _kind(path)
    if kind == "sqlite":
        return _fetched(lambda: _sqlite_rows(path, _named(table, place), wanted), wanted)
    if kind == "duckdb":
        connection = duckdb.connect(path, read_only=True)
        name = _named(table, place)
        listed = "SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL"
        present = {
            row[1] if row[0] == "main" else ".".join(row): ".".join(map(quoted, row))
            for row in connection.execute(listed).fetchall()
        }
        _check_table(name, list(present), place)
        relation = connection.sql(f"SELECT * FROM {present[name]}")  # noqa: S608
    else:
        if table is not None:
            raise ParameterError(f"--table is for databases: {place} is a single table. Leave it out.")
        connection = duckdb.connect()
        relation = _READERS[kind](connection, path, wanted)
    wanted.check(relation.columns)
    return Opened(relation, connection)


def _public(place: str) -> str:
    """A place without what may be a password."""
    return place.split("://")[0] + "://…" if "://" in place else place


def _named(table: str | None, place: str) -> str:
    if not table:
        raise ParameterError(f"{_public(place)} is a database: say which of its tables to read with --table NAME.")
    return table


def _check_table(name: str, present: list[str], place: str) -> None:
    if name not in present:
        raise ParameterError(f"there is no table {name!r} in {place}: it has {', '.join(present) or 'none'}.")


def _kind(path: Path) -> str:
    with path.open("rb") as file:
        start = file.read(16)
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"SQLite format 3\0"):
        return "sqlite"
    if start[8:12] == b"DUCK":
        return "duckdb"
    suffix = _suffix(path)
    if suffix in _SEPARATORS:
        return "csv"
    if suffix in (".json", ".jsonl", ".ndjson"):
        return "json"
    raise ParameterError(
        f"{path} must be CSV, TSV, Parquet, JSON, or a DuckDB or SQLite file. Name text files .csv, .tsv or .json."
    )


def _suffix(path: Path) -> str:
    return Path(path.stem).suffix.lower() if path.suffix.lower() == ".gz" else path.suffix.lower()


def _parquet(connection: duckdb.DuckDBPyConnection, path: Path, wanted: Wanted) -> duckdb.DuckDBPyRelation:
    return connection.read_parquet(str(path))


def _csv(connection: duckdb.DuckDBPyConnection, path: Path, wanted: Wanted) -> duckdb.DuckDBPyRelation:
    separator = _SEPARATORS[_suffix(path)]
    # More than the header is decoded at a time: rows that are no UTF-8 must not matter here.
    with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as raw:
        lines = io.TextIOWrapper(raw, encoding="utf-8-sig", errors="replace", newline="")
        header = next(csv.reader(lines, delimiter=separator), [])
    if not header or any("\ufffd" in name or "\0" in name for name in header):
        raise ParameterError(f"the first line of {path} must name its columns, in UTF-8. Write the file with a header.")
    wanted.check(header)
    if len(set(header)) != len(header):
        raise ParameterError(f"the columns of {path} must have different names. Rename those that are alike.")
    # By their places, because the engine takes names that differ in capitals only for one.
    columns = ", ".join(f"c{place}: '{_TEXT}'" for place in range(len(header)))
    chosen = ", ".join(f"c{header.index(name)} AS {quoted(name)}" for name in wanted.names)
    # In SQL, because the method of the same name loads pandas, which takes longer than most files.
    rows = connection.sql(
        f"SELECT {chosen} FROM read_csv({_literal(str(path))}, auto_detect = false, header = true, "  # noqa: S608
        f"columns = {{{columns}}}, delim = {_literal(separator)}, quote = '\"', escape = '\"', ignore_errors = true)"
    )
    return _with_numbers(rows, wanted)


def _json(connection: duckdb.DuckDBPyConnection, path: Path, wanted: Wanted) -> duckdb.DuckDBPyRelation:
    # A line that is no JSON is left out; in one long list nobody knows where the next row begins.
    lines = _suffix(path) != ".json"
    options = ", format = 'newline_delimited', ignore_errors = true" if lines else ""
    place = _literal(str(path))
    # Which names occur counts as public, as a header does; no type is taken from the rows.
    present = connection.sql(f"SELECT * FROM read_json({place}{options})").columns  # noqa: S608
    if present == ["json"] and "json" not in wanted.names:  # the engine's name for what has none
        raise ParameterError(f'{path} must hold rows with names, such as {{"item": "a"}}: it has none.')
    wanted.check(present)
    columns = ", ".join(f"{_literal(name)}: '{_TEXT}'" for name in wanted.names)
    rows = connection.sql(
        f"SELECT * FROM read_json({place}, columns = {{{columns}}}, records = true{options})"  # noqa: S608
    )
    return _with_numbers(rows, wanted)


def _with_numbers(rows: duckdb.DuckDBPyRelation, wanted: Wanted) -> duckdb.DuckDBPyRelation:
    """The columns wanted, the weights as numbers: text that is none is null."""
    chosen = [quoted(name) for name in wanted.columns]
    if wanted.weights is not None:
        name = quoted(wanted.weights)
        chosen.append(f"TRY_CAST({name} AS DOUBLE) AS {name}")
    return rows.project(", ".join(chosen))


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_READERS: Final[dict[str, Callable[[duckdb.DuckDBPyConnection, Path, Wanted], duckdb.DuckDBPyRelation]]] = {
    "parquet": _parquet,
    "csv": _csv,
    "json": _json,
}


def _fetched(rows: Callable[[], Iterator[Sequence[Any]]], wanted: Wanted) -> Opened:
    """Rows of a database in an engine of our own, all columns as text but the weights."""
    import duckdb
    import pyarrow as pa

    number = len(wanted.names) - 1 if wanted.weights is not None else None
    types = [pa.float64() if i == number else pa.string() for i in range(len(wanted.names))]
    schema = pa.schema(list(zip(wanted.names, types, strict=True)))
    batches: list[pa.RecordBatch] = []
    chunk: list[Sequence[Any]] = []
    for row in rows():
        chunk.append(row)
        if len(chunk) == _ROWS:
            batches.append(_batch(chunk, schema))
            chunk = []
    batches.append(_batch(chunk, schema))
    connection = duckdb.connect()
    return Opened(connection.from_arrow(pa.Table.from_batches(batches, schema)), connection)


def _batch(rows: list[Sequence[Any]], schema: pa.Schema) -> pa.RecordBatch:
    import pyarrow as pa

    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.record_batch([pa.array(c, field.type) for c, field in zip(columns, schema, strict=True)], schema=schema)


def _selection(wanted: Wanted, real: str) -> str:
    chosen = [f"CAST({quoted(name)} AS TEXT)" for name in wanted.columns]
    if wanted.weights is not None:
        chosen.append(f"CAST({quoted(wanted.weights)} AS {real})")
    return f"SELECT {'DISTINCT ' if wanted.distinct else ''}{', '.join(chosen)} FROM "  # noqa: S608


def _sqlite_rows(path: Path, table: str, wanted: Wanted) -> Iterator[Sequence[Any]]:
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    connection.text_factory = lambda text: text.decode("utf-8", "replace")
    try:
        listed = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
        _check_table(table, [row[0] for row in connection.execute(listed)], str(path))
        # SQLite takes an unknown name in quotes for text, so that the check must come first.
        probe = connection.execute(f"SELECT * FROM {quoted(table)} LIMIT 0")  # noqa: S608
        wanted.check([column[0] for column in probe.description])
        yield from connection.execute(_selection(wanted, "REAL") + quoted(table))
    finally:
        connection.close()


def _postgres_rows(place: str, table: str, wanted: Wanted) -> Iterator[Sequence[Any]]:
    try:
        import psycopg
    except ImportError:
        raise LastbitError("this needs psycopg. Install it with: pip install 'lastbit[postgres]'") from None
    name = ".".join(quoted(part) for part in table.split("."))
    problem = ""
    try:
        with psycopg.connect(place) as connection:
            probe = connection.execute(f"SELECT * FROM {name} LIMIT 0".encode())  # noqa: S608
            kinds = {column.name: column.type_code for column in probe.description or ()}
            wanted.check(list(kinds))
            if wanted.weights is not None and kinds[wanted.weights] not in _POSTGRES_NUMBERS:
                raise ParameterError(f"weights must be numbers: the column {wanted.weights!r} holds something else.")
            with connection.cursor("lastbit") as rows:
                rows.itersize = _ROWS
                yield from rows.execute((_selection(wanted, "DOUBLE PRECISION") + name).encode())
    except psycopg.Error as error:
        problem = type(error).__name__
    if problem:
        raise DataError(f"the database could not be read: {problem}. Check its address and the table's name.")
