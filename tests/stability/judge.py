"""How the tests here ask for a verdict, and what the tables look like that they ask about."""

from __future__ import annotations

import hashlib
import itertools
import os
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet

import lastbit as lb
from lastbit.audit import stability
from tests.table_readers import count_rows, make_items, make_rows

Count = Callable[[list[Any]], Any]
Rows = Sequence[Any]

UNITS = 50

LONG = bool(os.environ.get("LASTBIT_FUZZ"))
"""Whether `make fuzz` runs, which has time for every value by itself."""


def batches(rows: Sequence[Any]) -> list[list[Any]]:
    """One unit that has all these rows at once; with time, each row alone as well."""
    return [list(rows), *([row] for row in (rows if LONG else rows[:1]))]


def some(values: Sequence[Any], most: int = 12) -> list[Any]:
    """As many of these as there is time for, from the first on, evenly."""
    return list(values) if LONG else list(values[:: max(1, -(-len(values) // most))])


def judge(count: Count, table: Rows, hostile: Iterable[Rows], unit: Any = "patient", refusable: bool = False) -> None:
    """Fail with the verdict unless it holds.

    A type of column may be refused altogether where a case says so, because types are public: then the same words must
    refuse every table, with hostile rows, without rows, with any.
    """
    units = [list(batch) for batch in hostile]
    if refusable:
        said = {refusal(count, rows) for rows in (list(table), [], *units, *([*table, *batch] for batch in units))}
        if len(said) == 1 and None not in said:
            return
    verdict = stability(count, table, unit=unit, hostile=units)
    assert verdict.holds, str(verdict)
    assert verdict.moved, "no unit of this table counts: the case tries nothing"


def refusal(count: Count, rows: Rows) -> str | None:
    """What is said when these rows are refused, None if they are not."""
    try:
        count(list(rows))
    except lb.LastbitError as error:
        return str(error)
    return None


# Engines take an Arrow table, so that columns have the types that are declared, whatever is in them.

DUCKDB = duckdb.connect(config={"threads": 1})
"""One for all tables that come from Arrow: to start an engine takes longer than to count."""

ENGINES: dict[str, Callable[[pa.Table], Any]] = {
    "pandas": lambda table: table.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get),
    "pandas on Arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "Polars": pl.from_arrow,
    "Polars, lazy": lambda table: pl.from_arrow(table).lazy(),
    "PyArrow": lambda table: table,
    "DuckDB": lambda table: DUCKDB.from_arrow(table),
}


def column(values: list[Any], kind: pa.DataType) -> pa.Array:
    """An Arrow column. Whole numbers stand for themselves where a time is wanted: Python's times reach less far."""
    if kind.bit_width in (32, 64) and pa.types.is_temporal(kind):
        return pa.array(values, pa.int64() if kind.bit_width == 64 else pa.int32()).view(kind)
    return pa.array(values, kind)


def arrow(rows: Rows, kinds: dict[str, pa.DataType]) -> pa.Table:
    return pa.table({name: column([row[name] for row in rows], kind) for name, kind in kinds.items()})


# Files are written anew for each count, and read by what the command reads with.


class Files:
    """Counts files in a folder, with the domains of the command."""

    def __init__(self, folder: Path, items: Sequence[str] = ("flu", "cold"), by: Sequence[str] = ("item",)) -> None:
        self._folder, self._by = folder, list(by)
        self._numbers = itertools.count()
        self._domain = folder / f"items-{hashlib.sha256(repr(items).encode()).hexdigest()[:8]}.txt"
        self._domain.write_text("\n".join(items), encoding="utf-8")

    def count(
        self,
        name: str,
        write: Callable[[Path], None],
        table: str | None = None,
        weights: str | None = None,
        bounds: tuple[str, str] | None = None,
        unit: str | None = "patient",
        **rows: Any,
    ) -> lb.Counts:
        path = self._folder / f"{next(self._numbers)}-{name}"
        write(path)
        try:
            return self.stored(str(path), table, weights, bounds, unit, **rows)
        finally:
            path.unlink()

    def stored(
        self,
        place: str,
        table: str | None,
        weights: str | None = None,
        bounds: tuple[str, str] | None = None,
        unit: str | None = "patient",
        **rows: Any,
    ) -> lb.Counts:
        """rows: which rows are read and how, as the options of a table say it."""
        domains = [str(self._domain), *["0..2"] * (len(self._by) - 1)]
        items = make_items(by=self._by, domain=domains, weights=weights, bounds=bounds)
        return count_rows(make_rows(source=place, unit=unit, table=table, **rows), items)


def sqlite_file(path: Path, rows: Rows, schema: str, names: Sequence[str]) -> None:
    connection = sqlite3.connect(path)
    connection.execute("pragma synchronous = off")
    connection.execute(f"create table visits ({schema})")
    marks = ", ".join("?" * len(names))
    connection.executemany(f"insert into visits values ({marks})", [tuple(row[name] for name in names) for row in rows])
    connection.commit()
    connection.close()


def duckdb_file(path: Path, rows: Rows, schema: dict[str, str], before: str = "") -> None:
    """Values come as text and are cast, as SQL writes what Python cannot hold."""
    with duckdb.connect(path) as connection:
        if before:
            connection.execute(before)
        load(connection, rows, schema)


def load(connection: duckdb.DuckDBPyConnection, rows: Rows, schema: dict[str, str]) -> None:
    columns = ", ".join(f"{name} {kind}" for name, kind in schema.items())
    connection.execute(f"create or replace table visits ({columns})")
    texts = {name: [None if row[name] is None else str(row[name]) for row in rows] for name in schema}
    connection.register("texts", pa.table({name: pa.array(each, pa.string()) for name, each in texts.items()}))
    chosen = ", ".join(f"cast({name} as {kind.split(' COLLATE')[0]})" for name, kind in schema.items())
    connection.execute(f"insert into visits select {chosen} from texts")
    connection.unregister("texts")


def parquet_file(path: Path, table: pa.Table) -> None:
    pyarrow.parquet.write_table(table, path)
