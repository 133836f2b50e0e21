"""The engine that reads tables and counts them: DuckDB, in this process."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb


def engine(path: Path | None = None) -> duckdb.DuckDBPyConnection:
    """A new engine; with a path, the DuckDB file there, for reading only.

    >>> engine().execute("SELECT 1").fetchall()
    [(1,)]
    """
    import duckdb

    return duckdb.connect() if path is None else duckdb.connect(path, read_only=True)
