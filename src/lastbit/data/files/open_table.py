"""Tables in files and databases, opened as DuckDB relations with the columns asked for.

One line, or one row of a database, changes nothing but itself: not how another is read, not a type, not whether the
table can be read. So the name and the first bytes of a file say how to read it. The file declares the columns and
types, or the user names them. Text files are read line by line, and a row that cannot be read is left out.

The reader of a format is imported where a file of it is opened: a command pays for one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, TypeVar

from lastbit.data.duckdb.relation import ColumnSelection, OpenTable, connect
from lastbit.data.files.formats import JSON_LINES, TextFormat, detect_format
from lastbit.data.files.paths import Source, expand_paths, read_standard_input
from lastbit.data.sql import quote_text
from lastbit.errors import DataError, LastbitError, ParameterError, raise_alone

if TYPE_CHECKING:
    import duckdb

    from lastbit.data.query.plan import RowPlan
    from lastbit.data.query.steps import TablePlan

__all__ = ["ColumnSelection", "OpenTable", "list_columns", "open_table"]

Result = TypeVar("Result")

_PLAIN: Final = TextFormat()
_POSTGRES: Final = ("postgresql://", "postgres://")
_PIPED: Final = "standard input must be CSV, TSV or JSON lines. Save other data as a file first."
_LOCKING: Final = Lock()


def open_table(
    path: str | Sequence[str],
    columns: ColumnSelection,
    table: str | None = None,
    text_format: TextFormat = _PLAIN,
    plan: RowPlan | TablePlan | None = None,
    *,
    with_rows: bool = True,
) -> OpenTable:
    """Open a file, several files, or a table of a database, with some of its columns; without rows if so wanted.

    Text files go by their names, others by their first bytes: the first bytes of lines of JSON are somebody's row.
    A plan filters the rows and makes columns, each of one row, or of the rows of one person.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "visits.csv")
    ...     _ = file.write_text('patient,diagnosis\\n1,flu\\n2,"co"ld\\n3,"cold"\\n')
    ...     open_table(str(file), ColumnSelection(("patient", "diagnosis"))).relation.fetchall()
    [('1', 'flu'), ('3', 'cold')]
    """
    paths = expand_paths([path] if isinstance(path, str) else path)
    if plan is None or plan.does_nothing:
        return _open_all(paths, columns, table, text_format, with_rows)
    from lastbit.data.query.steps import TablePlan

    more: tuple[str, ...] = ()
    if isinstance(plan, TablePlan):
        plan.check_names(list_columns(paths, table, text_format))
        more = plan.paths
    source = _open_all(paths, plan.source_columns(columns), table, text_format, with_rows)
    _lock_engine(source.connection, [*paths, *(path for name in more for path in expand_paths([name]))])
    return plan.apply(replace(source, with_rows=with_rows), columns)


def open_beside(
    path: str, columns: ColumnSelection, text_format: TextFormat, connection: duckdb.DuckDBPyConnection
) -> OpenTable:
    """Open a file in the engine that has another table already, to join the two. No row is read yet."""
    paths = expand_paths([path])

    def read(opening: list[str]) -> OpenTable:
        tables = []
        for own in paths:
            opening.append(own)
            tables.append(_open_one(own, columns, None, text_format, connection))
        return tables[0] if len(tables) == 1 else _union_tables(tables, paths)

    return _call_reader(read, path)


def list_columns(path: str | Sequence[str], table: str | None = None, text_format: TextFormat = _PLAIN) -> list[str]:
    """List the columns that a table declares; none where only its rows name them, which are private. No row is read.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "visits.csv")
    ...     _ = file.write_text("patient,diagnosis\\n1,flu\\n")
    ...     list_columns(str(file))
    ['patient', 'diagnosis']
    """
    first, *_ = expand_paths([path] if isinstance(path, str) else path)
    return _call_reader(lambda _: _list_columns(first, table, text_format), first)


def list_json_keys(path: str, text_format: TextFormat = _PLAIN) -> list[str]:
    """List the keys of the objects in a file of JSON lines. Its lines are read: not for a table of people.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "regions.jsonl")
    ...     _ = file.write_text('{"zip": 1}\\n{"zip": 2, "region": "n"}\\n')
    ...     list_json_keys(str(file))
    ['region', 'zip']
    """

    from lastbit.data.files.json_lines import find_keys

    def read(opening: list[str]) -> list[str]:
        keys: set[str] = set()
        for own in expand_paths([path]):
            opening.append(own)
            with closing(connect()) as connection:
                keys |= set(find_keys(connection, _find_file(own), text_format, own))
        return sorted(keys)

    return _call_reader(read, path)


def _lock_engine(connection: duckdb.DuckDBPyConnection, paths: Sequence[str]) -> None:
    """Let the engine touch nothing but these files. No plan asks for more: this holds even if one could.

    A DuckDB file is open for reading only, and its views may read other files, as their author wanted.
    """
    from lastbit.data.files.parquet_texts import escape_glob

    if not connection.execute("SELECT path FROM duckdb_databases() WHERE path IS NOT NULL").fetchall():
        names = ", ".join(quote_text(name) for path in paths for name in (path, escape_glob(Path(path))))
        connection.execute(f"SET allowed_paths = [{names}]")
        connection.execute("SET enable_external_access = false")
    with _LOCKING:
        # Two who read one DuckDB file at once in one process share its engine, which is locked once.
        if connection.execute("SELECT current_setting('lock_configuration')").fetchall() == [(False,)]:
            connection.execute("SET lock_configuration = true")


def _call_reader(read: Callable[[list[str]], Result], first: str) -> Result:  # noqa: RET503 - raise_alone ends it
    """Return what a reader returns; of another error than lastbit's pass on only the type: it may quote a row.

    read: gets a list whose last path is the one that is being opened.
    """
    paths = [first]
    try:
        return read(paths)
    except LastbitError as error:
        failure = error
    except Exception as error:
        problem = error.strerror or "" if isinstance(error, OSError) else type(error).__name__
        path = _hide_password(paths[-1])
        failure = DataError(f"{path} could not be read: {problem}. Open it with its own program to see why.")
    raise_alone(failure)


def _open_all(
    paths: Sequence[str], columns: ColumnSelection, table: str | None, text_format: TextFormat, with_rows: bool
) -> OpenTable:
    def read(opening: list[str]) -> OpenTable:
        if len(paths) == 1:
            return _open_one(paths[0], columns, table, text_format, with_rows=with_rows)
        tables: list[OpenTable] = []
        for path in paths:
            opening.append(path)
            if "://" in path or table is not None:
                raise ParameterError("several places must all be files of rows: a database is read alone.")
            tables.append(_open_one(path, columns, None, text_format, tables[0].connection if tables else None))
        return _union_tables(tables, paths)

    return _call_reader(read, paths[0])


def _open_one(
    path: str,
    columns: ColumnSelection,
    table: str | None,
    text_format: TextFormat,
    connection: duckdb.DuckDBPyConnection | None = None,
    *,
    with_rows: bool = True,
) -> OpenTable:
    if path.startswith(_POSTGRES):
        from lastbit.data.files.postgres import open_postgres

        _refuse_format(text_format, path)
        return open_postgres(path, _require_table(table, path), columns, with_rows=with_rows)
    source = _find_file(path)
    ending = text_format.endings(path)[0]
    if ending is not None and ending != ".parquet":
        _refuse_table(table, path)
        return _open_text(ending in JSON_LINES)(connection or connect(), source, columns, text_format, path)
    if not isinstance(source, Path):
        raise ParameterError(_PIPED)
    _refuse_format(text_format, path)
    file_format = detect_format(source)
    if file_format == "parquet":
        from lastbit.data.files.parquet import open_parquet

        _refuse_table(table, path)
        return open_parquet(connection or connect(), source, columns)
    if connection is not None:
        raise ParameterError("several places must all be files of rows: a database is read alone.")
    name = _require_table(table, path)
    if file_format == "sqlite":
        from lastbit.data.files.sqlite import open_sqlite

        return open_sqlite(source, name, columns, with_rows=with_rows)
    from lastbit.data.files.duckdb import open_duckdb

    return open_duckdb(connect(source), name, columns, path)


def _open_text(is_json: bool) -> Callable[..., OpenTable]:
    """Return the reader of one kind of text files."""
    if is_json:
        from lastbit.data.files.json_lines import open_json_lines

        return open_json_lines
    from lastbit.data.files.csv import open_delimited

    return open_delimited


def _list_columns(path: str, table: str | None, text_format: TextFormat) -> list[str]:
    if path.startswith(_POSTGRES):
        from lastbit.data.files.postgres import list_postgres_columns

        return list_postgres_columns(path, _require_table(table, path))
    source = _find_file(path)
    ending = text_format.endings(path)[0]
    if ending in JSON_LINES:
        return []
    if ending is not None and ending != ".parquet":
        from lastbit.data.files.csv import read_header

        return read_header(source, text_format, path)
    if not isinstance(source, Path):
        raise ParameterError(_PIPED)
    file_format = detect_format(source)
    if file_format == "parquet":
        from lastbit.data.files.parquet import list_parquet_columns

        return list_parquet_columns(source)
    if file_format == "sqlite":
        from lastbit.data.files.sqlite import list_sqlite_columns

        return list_sqlite_columns(source, _require_table(table, path))
    from lastbit.data.files.duckdb import find_relation

    with closing(connect(source)) as connection:
        return find_relation(connection, _require_table(table, path), path)[0].columns


def _find_file(path: str) -> Source:
    """Return the file of a name; refuse the name where there is none."""
    source: Source = read_standard_input() if path == "-" else Path(path)
    if isinstance(source, Path) and source.is_dir():
        raise DataError(f"{path} is a folder. Name the files in it, such as '{path.rstrip('/')}/*.csv'.")
    if isinstance(source, Path) and source.exists() and not source.is_file():
        raise DataError(f"{path} is no file: a table is opened by name, more than once. Save it as a file first.")
    if isinstance(source, Path) and not source.is_file():
        raise DataError(f"there is no file {_hide_password(path)}. Check the name, or give a postgresql:// address.")
    return source


def _refuse_format(text_format: TextFormat, path: str) -> None:
    """Refuse what is said of a text file where there is none."""
    if text_format.separator is not None or text_format.encoding != "utf-8" or text_format.comma:
        raise ParameterError(
            f"--separator, --encoding and --decimal-comma are for text files: {_hide_password(path)} is none. "
            "Leave them out."
        )


def _refuse_table(table: str | None, path: str) -> None:
    if table is not None:
        raise ParameterError(f"--table is for databases: {path} is a single table. Leave it out.")


def _require_table(table: str | None, path: str) -> str:
    if not table:
        raise ParameterError(
            f"{_hide_password(path)} is a database: say which of its tables to read with --table NAME."
        )
    return table


def _hide_password(path: str) -> str:
    """Return a path, or the address of a database without its password."""
    return path.split("://")[0] + "://…" if "://" in path else path


def _union_tables(tables: Sequence[OpenTable], paths: Sequence[str]) -> OpenTable:
    """Return the rows of all files. The columns must have the same types in all of them, by declaration.

    One engine reads all files; which file a row is in changes nothing.
    """
    first = tables[0]
    for table, path in zip(tables, paths, strict=True):
        if table.relation.types != first.relation.types:
            raise ParameterError(
                f"the columns must have the same types in all files: {path} differs from {paths[0]}. "
                "Read them apart, or write them alike."
            )

    def read() -> float:
        shares = [table.read() for table in tables if table.read is not None]
        return sum(shares) / len(shares) if shares else -1.0

    def problem() -> str | None:
        return next((reason for table in tables if (reason := table.problem()) is not None), None)

    known = any(table.read is not None for table in tables)
    relation = _union_relations([table.relation for table in tables])
    repeats = [table.again for table in tables if table.again is not None]
    again = (lambda: _union_relations([read() for read in repeats])) if len(repeats) == len(tables) else None
    texts = frozenset[str]().union(*(table.text_columns for table in tables))
    return OpenTable(relation, first.connection, read if known else None, problem, again, texts)


def _union_relations(relations: Sequence[duckdb.DuckDBPyRelation]) -> duckdb.DuckDBPyRelation:
    """Return the rows of all relations: joined in halves, so that many files do not nest deeply."""
    if len(relations) == 1:
        return relations[0]
    half = len(relations) // 2
    return _union_relations(relations[:half]).union(_union_relations(relations[half:]))
