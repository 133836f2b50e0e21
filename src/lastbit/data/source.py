"""Tables of any kind, as a DuckDB relation with the columns asked for.

One line, or one row of a database, changes nothing but itself: not how another is read, not a type, not whether the
table can be read. So the name and the first bytes of a place say how to read it. The place declares the columns and
types, or the user names them. Text files are read line by line, and a row that cannot be read is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from lastbit.data.databases import check_table, postgres_columns, postgres_table, sqlite_columns, sqlite_table
from lastbit.data.engine import engine
from lastbit.data.form import JSON_LINES, PACKINGS, Form
from lastbit.data.long_texts import duckdb_form
from lastbit.data.parquet import no_glob, parquet, parquet_columns
from lastbit.data.places import Place, expanded, standard_input
from lastbit.data.query.plan import Plan
from lastbit.data.relation import Opened, Wanted, literal
from lastbit.data.sorting import quoted
from lastbit.data.text import delimited, delimited_columns, json_lines
from lastbit.data.together import together
from lastbit.errors import DataError, LastbitError, ParameterError

if TYPE_CHECKING:
    import duckdb

__all__ = ["Opened", "Wanted", "list_columns", "opened"]

_PLAIN: Final = Form()


def opened(
    place: str | Sequence[str],
    wanted: Wanted,
    table: str | None = None,
    form: Form = _PLAIN,
    plan: Plan | None = None,
    *,
    rows_wanted: bool = True,
) -> Opened:
    """Open a file, several files, or a table of a database, with the columns wanted; without rows where none are.

    Text files go by their names, others by their first bytes: the first bytes of lines of JSON are somebody's row.
    A plan filters the rows and makes columns, each of one row.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "visits.csv")
    ...     _ = file.write_text('patient,diagnosis\\n1,flu\\n2,"co"ld\\n3,"cold"\\n')
    ...     opened(str(file), Wanted(("patient", "diagnosis"))).relation.fetchall()
    [('1', 'flu'), ('3', 'cold')]
    """
    places = expanded([place] if isinstance(place, str) else place)
    if plan is None or plan.does_nothing:
        return _in_words(places, wanted, table, form, rows_wanted)
    source = _in_words(places, plan.source(wanted), table, form, rows_wanted)
    _lock(source.connection, places)
    return plan.applied(source, wanted)


_LOCKING: Final = Lock()


def _lock(connection: duckdb.DuckDBPyConnection, places: Sequence[str]) -> None:
    """Let the engine touch nothing but these files. No plan asks for more: this holds even if one could.

    A DuckDB file is open for reading only, and its views may read other files, as their author wanted.
    """
    if not connection.execute("SELECT path FROM duckdb_databases() WHERE path IS NOT NULL").fetchall():
        paths = ", ".join(literal(text) for place in places for text in (place, no_glob(Path(place))))
        connection.execute(f"SET allowed_paths = [{paths}]")
        connection.execute("SET enable_external_access = false")
    with _LOCKING:
        # Two who read one DuckDB file at once in one process share its engine, which is locked once.
        if connection.execute("SELECT current_setting('lock_configuration')").fetchall() == [(False,)]:
            connection.execute("SET lock_configuration = true")


def list_columns(place: str | Sequence[str], table: str | None = None, form: Form = _PLAIN) -> list[str]:
    """List the columns that a table declares; none where only its rows name them, which are private. No row is read.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "visits.csv")
    ...     _ = file.write_text("patient,diagnosis\\n1,flu\\n")
    ...     list_columns(str(file))
    ['patient', 'diagnosis']
    """
    first, *_ = expanded([place] if isinstance(place, str) else place)
    with _in_our_words() as at:
        at.append(first)
        return _columns(first, table, form)


def _columns(place: str, table: str | None, form: Form) -> list[str]:
    if place.startswith(("postgresql://", "postgres://")):
        return postgres_columns(place, _named(table, place))
    path = _path(place)
    kind = form.endings(place)[0]
    if kind in JSON_LINES:
        return []
    if kind is not None and kind != ".parquet":
        return delimited_columns(path, form, place)
    if not isinstance(path, Path):
        raise ParameterError(_PIPED)
    kind = _kind(path)
    if kind == "parquet":
        return parquet_columns(path)
    if kind == "sqlite":
        return sqlite_columns(path, _named(table, place))
    with closing(engine(path)) as connection:
        return _duckdb_relation(connection, _named(table, place), place)[0].columns


_PIPED: Final = "standard input must be CSV, TSV or JSON lines. Save other data as a file first."


@contextmanager
def _in_our_words() -> Iterator[list[str]]:
    """Pass on lastbit's own errors, and of others only the kind: an engine's message may quote a row.

    The last place in the list is the one that is being opened.
    """
    at: list[str] = []
    try:
        yield at
        return
    except LastbitError:
        raise
    except Exception as error:
        problem = error.strerror or "" if isinstance(error, OSError) else type(error).__name__
    raise DataError(f"{_public(at[-1])} could not be read: {problem}. Open it with its own program to see why.")


def _in_words(places: Sequence[str], wanted: Wanted, table: str | None, form: Form, rows_wanted: bool) -> Opened:
    with _in_our_words() as at:
        at.append(places[0])
        if len(places) == 1:
            return _opened(places[0], wanted, table, form, rows_wanted=rows_wanted)
        found: list[Opened] = []
        for place in places:
            at.append(place)
            if "://" in place or table is not None:
                raise ParameterError("several places must all be files of rows: a database is read alone.")
            found.append(_opened(place, wanted, None, form, found[0].connection if found else None))
        return together(found, places)


def _opened(
    place: str,
    wanted: Wanted,
    table: str | None,
    form: Form,
    connection: duckdb.DuckDBPyConnection | None = None,
    *,
    rows_wanted: bool = True,
) -> Opened:
    if place.startswith(("postgresql://", "postgres://")):
        _check_plain(form, place)
        return postgres_table(place, _named(table, place), wanted, rows_wanted=rows_wanted)
    path = _path(place)
    kind = form.endings(place)[0]
    if kind is None or kind == ".parquet":
        if not isinstance(path, Path):
            raise ParameterError(_PIPED)
        _check_plain(form, place)
        return _binary(path, place, table, wanted, connection, rows_wanted)
    if table is not None:
        raise ParameterError(f"--table is for databases: {place} is a single table. Leave it out.")
    read = json_lines if kind in JSON_LINES else delimited
    return read(connection or engine(), path, wanted, form, place)


def _path(place: str) -> Place:
    """The file of a name, refused where there is none."""
    path: Place = standard_input() if place == "-" else Path(place)
    if isinstance(path, Path) and path.is_dir():
        raise DataError(f"{place} is a folder. Name the files in it, such as '{place.rstrip('/')}/*.csv'.")
    if isinstance(path, Path) and path.exists() and not path.is_file():
        raise DataError(f"{place} is no file: a table is opened by name, more than once. Save it as a file first.")
    if isinstance(path, Path) and not path.is_file():
        raise DataError(f"there is no file {_public(place)}. Check the name, or give a postgresql:// address.")
    return path


def _binary(
    path: Path,
    place: str,
    table: str | None,
    wanted: Wanted,
    connection: duckdb.DuckDBPyConnection | None,
    rows_wanted: bool,
) -> Opened:
    kind = _kind(path)
    if kind == "parquet":
        if table is not None:
            raise ParameterError(f"--table is for databases: {place} is a single table. Leave it out.")
        return parquet(connection or engine(), path, wanted)
    if connection is not None:
        raise ParameterError("several places must all be files of rows: a database is read alone.")
    if kind == "sqlite":
        return sqlite_table(path, _named(table, place), wanted, rows_wanted=rows_wanted)
    name = _named(table, place)
    return _duckdb_table(engine(path), name, place, wanted)


def _check_plain(form: Form, place: str) -> None:
    """Refuse what is said of a text file where there is none."""
    if form.separator is not None or form.encoding != "utf-8" or form.comma:
        raise ParameterError(
            f"--separator, --encoding and --decimal-comma are for text files: {_public(place)} is none. Leave them out."
        )


def _public(place: str) -> str:
    """A place without its password."""
    return place.split("://")[0] + "://…" if "://" in place else place


def _named(table: str | None, place: str) -> str:
    if not table:
        raise ParameterError(f"{_public(place)} is a database: say which of its tables to read with --table NAME.")
    return table


def _kind(path: Path) -> str:
    suffix = (Path(path.stem) if path.suffix.lower() in PACKINGS else path).suffix.lower()
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
        "Name text files .csv, .tsv or .jsonl, or say --read-as csv."
    )


def _duckdb_relation(
    connection: duckdb.DuckDBPyConnection, name: str, place: str
) -> tuple[duckdb.DuckDBPyRelation, tuple[str, str]]:
    """A table of a DuckDB file, and its schema and name."""
    listed = "SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL"
    present = {
        table if schema == "main" else f"{schema}.{table}": (schema, table)
        for schema, table in connection.execute(listed).fetchall()
    }
    check_table(name, list(present), place)
    at = present[name]
    return connection.sql(f"SELECT * FROM {'.'.join(map(quoted, at))}"), at  # noqa: S608


def _duckdb_table(connection: duckdb.DuckDBPyConnection, name: str, place: str, wanted: Wanted) -> Opened:
    relation, at = _duckdb_relation(connection, name, place)
    wanted.check(relation.columns)
    kinds = dict(zip(relation.columns, relation.types, strict=True))
    # Text comes out of its bytes without the collation of its column, which may take two for one.
    forms = {"VARCHAR": lambda column: f"decode({duckdb_form(f'encode({column})')})", "BLOB": duckdb_form}
    chosen = (
        f"{forms.get(str(kinds[each]), str)(quoted(each))} AS {quoted(each)}" for each in dict.fromkeys(wanted.names)
    )
    rows = relation.project(", ".join(chosen))
    # A view, or a column that is computed, may find other rows each time: by a sample, or by chance.
    stored = "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT contains(sql, 'GENERATED ALWAYS AS')"
    same = at in connection.execute(stored).fetchall()
    return Opened(rows, connection, again=(lambda: rows) if same else None)
