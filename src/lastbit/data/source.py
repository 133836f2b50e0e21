"""Tables of any kind, as a DuckDB relation with the columns asked for.

One line, or one row of a database, changes nothing but itself: not how another is read, not a type, not whether the
table can be read. So the name and the first bytes of a place say how to read it. The place declares the columns and
types, or the user names them. Text files are read line by line, and a row that cannot be read is left out.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lastbit.data.databases import check_table, postgres_table, sqlite_table
from lastbit.data.parquet import parquet
from lastbit.data.relation import Opened, Wanted
from lastbit.data.sorting import quoted
from lastbit.data.text import JSON_LINES, SEPARATORS, delimited, json_lines
from lastbit.errors import DataError, LastbitError, ParameterError

if TYPE_CHECKING:
    import duckdb

__all__ = ["Opened", "Wanted", "opened"]


def opened(place: str, wanted: Wanted, table: str | None = None) -> Opened:
    """Open a file, or a table of a database, with the columns wanted.

    Text files go by their names, others by their first bytes: the first bytes of lines of JSON are somebody's row.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "visits.csv")
    ...     _ = file.write_text('patient,diagnosis\\n1,flu\\n2,"co"ld\\n3,"cold"\\n')
    ...     opened(str(file), Wanted(("patient", "diagnosis"))).relation.fetchall()
    [('1', 'flu'), ('3', 'cold')]
    """
    try:
        return _opened(place, wanted, table)
    except LastbitError:
        raise
    except Exception as error:
        # An engine's message may quote a row: only the kind of the error is passed on.
        problem = error.strerror or "" if isinstance(error, OSError) else type(error).__name__
    raise DataError(f"{_public(place)} could not be read: {problem}. Open it with its own program to see why.")


def _opened(place: str, wanted: Wanted, table: str | None) -> Opened:
    import duckdb

    if place.startswith(("postgresql://", "postgres://")):
        return postgres_table(place, _named(table, place), wanted)
    path = Path(place)
    if place == "-" or (path.exists() and not path.is_file()):
        raise DataError(f"{place} is no file: a table is opened by name, more than once. Save it as a file first.")
    if not path.is_file():
        raise DataError(f"there is no file {place}. Check the name, or give a postgresql:// address.")
    kind = _kind(path)
    if kind == "sqlite":
        return sqlite_table(path, _named(table, place), wanted)
    if kind == "duckdb":
        name = _named(table, place)
        return _duckdb_table(duckdb.connect(path, read_only=True), name, place, wanted)
    if table is not None:
        raise ParameterError(f"--table is for databases: {place} is a single table. Leave it out.")
    connection = duckdb.connect()
    if kind == "parquet":
        return parquet(connection, path, wanted)
    if kind in JSON_LINES:
        return json_lines(connection, path, wanted)
    return delimited(connection, path, wanted, SEPARATORS[kind])


def _public(place: str) -> str:
    """A place without its password."""
    return place.split("://")[0] + "://…" if "://" in place else place


def _named(table: str | None, place: str) -> str:
    if not table:
        raise ParameterError(f"{_public(place)} is a database: say which of its tables to read with --table NAME.")
    return table


def _kind(path: Path) -> str:
    suffix = (Path(path.stem) if path.suffix.lower() == ".gz" else path).suffix.lower()
    if suffix in SEPARATORS or suffix in JSON_LINES:
        return suffix
    if suffix == ".json":
        # By its name alone: the first byte may already be somebody's.
        raise ParameterError(
            f"{path} must be JSON lines: in one long list a row that is broken breaks all others. "
            "Write one object in each line and name the file .jsonl, for instance with: jq -c '.[]'"
        )
    with path.open("rb") as file:
        start = file.read(16)
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"SQLite format 3\0"):
        return "sqlite"
    if start[8:12] == b"DUCK":
        return "duckdb"
    raise ParameterError(
        f"{path} must be CSV, TSV, Parquet, JSON lines, or a DuckDB or SQLite file. "
        "Name text files .csv, .tsv or .jsonl."
    )


def _duckdb_table(connection: duckdb.DuckDBPyConnection, name: str, place: str, wanted: Wanted) -> Opened:
    listed = "SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL"
    present = {
        row[1] if row[0] == "main" else ".".join(row): ".".join(map(quoted, row))
        for row in connection.execute(listed).fetchall()
    }
    check_table(name, list(present), place)
    relation = connection.sql(f"SELECT * FROM {present[name]}")  # noqa: S608
    wanted.check(relation.columns)
    kinds = dict(zip(relation.columns, relation.types, strict=True))
    # Text comes out of its bytes without the collation of its column, which may take two for one.
    chosen = (
        f"decode(encode({quoted(each)})) AS {quoted(each)}" if kinds[each] == "VARCHAR" else quoted(each)
        for each in dict.fromkeys(wanted.names)
    )
    return Opened(relation.project(", ".join(chosen)), connection)
