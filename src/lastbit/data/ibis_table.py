"""Tables of Ibis, as the lazy tables of the engines below them."""

from __future__ import annotations

from typing import Any


def own_table(table: Any) -> Any | None:
    """The table as its engine's own library has it, with nothing read yet; None where that cannot be.

    Ibis hands a table of this process (`ibis.memtable`) or a function of the user's to an engine only when Ibis itself
    runs the query. The engine alone does not know them, or knows another table of that name.
    """
    from ibis.expr import operations

    if table.op().find((operations.InMemoryTable, operations.ScalarUDF, operations.AggUDF)):
        return None
    backend = table.get_backend()
    if backend.name == "duckdb":
        return backend.con.sql(backend.compile(table))
    if backend.name == "pyspark":
        return backend.raw_sql(backend.compile(table))
    return backend.compile(table) if backend.name == "polars" else None
