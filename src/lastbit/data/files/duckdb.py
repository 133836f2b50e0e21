"""Tables of a DuckDB file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lastbit.data.duckdb.relation import ColumnSelection, OpenTable, find_texts
from lastbit.data.duckdb.texts import shorten_blob
from lastbit.data.files.databases import check_table
from lastbit.data.sql import quote_identifier

if TYPE_CHECKING:
    import duckdb


def find_relation(
    connection: duckdb.DuckDBPyConnection, name: str, path: str
) -> tuple[duckdb.DuckDBPyRelation, tuple[str, str]]:
    """Return a table of a DuckDB file, and its schema and name; refuse a name that the file does not have."""
    query = "SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL"
    present = {
        table if schema == "main" else f"{schema}.{table}": (schema, table)
        for schema, table in connection.execute(query).fetchall()
    }
    check_table(name, list(present), path)
    parts = present[name]
    return connection.sql(f"SELECT * FROM {'.'.join(map(quote_identifier, parts))}"), parts  # noqa: S608


def open_duckdb(connection: duckdb.DuckDBPyConnection, table: str, columns: ColumnSelection, path: str) -> OpenTable:
    """Open a table of a DuckDB file, in the types that it declares."""
    relation, parts = find_relation(connection, table, path)
    columns.check(relation.columns)
    types = dict(zip(relation.columns, relation.types, strict=True))
    # Text comes out of its bytes without the collation of its column, which may take two for one.
    forms = {"VARCHAR": lambda column: f"decode({shorten_blob(f'encode({column})')})", "BLOB": shorten_blob}
    chosen = (
        f"{forms.get(str(types[name]), str)(quote_identifier(name))} AS {quote_identifier(name)}"
        for name in dict.fromkeys(columns.names)
    )
    rows = relation.project(", ".join(chosen))
    # A view, or a column that is computed, may find other rows each time: by a sample, or by chance.
    stored = "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT contains(sql, 'GENERATED ALWAYS AS')"
    same = parts in connection.execute(stored).fetchall()
    return OpenTable(rows, connection, again=(lambda: rows) if same else None, text_columns=find_texts(rows))
