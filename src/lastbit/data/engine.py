"""The engine that reads tables and counts them: DuckDB, in this process."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import duckdb

_GIVE_BACK: Final = "SET allocator_bulk_deallocation_flush_threshold = '1MB'"
"""Memory goes back when a part of the work is done, not only when that frees 512 MB."""


def engine(path: Path | None = None) -> duckdb.DuckDBPyConnection:
    """A new engine; with a path, the DuckDB file there, for reading only.

    >>> engine().execute("SELECT 1").fetchall()
    [(1,)]
    """
    import duckdb

    connection = duckdb.connect() if path is None else duckdb.connect(path, read_only=True)
    # Whoever has the same file open in this process shares its engine, and may have locked its settings.
    with suppress(duckdb.Error):
        connection.execute(_GIVE_BACK)
    return connection
