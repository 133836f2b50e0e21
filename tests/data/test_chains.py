"""A table that fails on a row: neither the error, nor any error that Python chains to it, quotes the row."""

from __future__ import annotations

import sqlite3
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import lastbit as lb
from tests.machine import has_postgres

SECRET = "row of anna"


def ask(place: str) -> Callable[[], Any]:
    return lambda: lb.ask(
        "top", place, table="visits", unit="patient", by="item", domain=["flu", "cold"], k=1, epsilon=1
    )


def of_duckdb(folder: Path) -> Callable[[], Any]:
    with duckdb.connect(str(folder / "clinic.duckdb")) as made:
        made.execute(f"create table raw as select i as patient, if(i = 7, '{SECRET}', '1') as item from range(20) t(i)")
        made.execute("create view visits as select patient, item::int::text as item from raw")
    return ask(str(folder / "clinic.duckdb"))


def of_sqlite(folder: Path) -> Callable[[], Any]:
    with sqlite3.connect(folder / "clinic.sqlite") as made:
        made.execute("create table raw(patient, item)")
        made.executemany("insert into raw values (?, ?)", [(i, SECRET if i == 7 else "{}") for i in range(20)])
        made.execute("create view visits as select patient, json_extract(item, '$.a') as item from raw")
    made.close()
    return ask(str(folder / "clinic.sqlite"))


def of_parquet(folder: Path) -> Callable[[], Any]:
    frame = pd.DataFrame({"patient": range(20), "item": [SECRET] * 20})
    frame.to_parquet(folder / "visits.parquet")
    data = (folder / "visits.parquet").read_bytes()
    start = data.index(SECRET.encode())
    (folder / "visits.parquet").write_bytes(data[: start - 20] + b"\xff" * 30 + data[start + 10 :])
    place = str(folder / "visits.parquet")
    return lambda: lb.ask("top", place, unit="patient", by="item", domain=["flu", "cold"], k=1, epsilon=1)


def of_ibis(folder: Path) -> Callable[[], Any]:
    ibis = pytest.importorskip("ibis")
    connection = ibis.duckdb.connect()
    connection.raw_sql(f"create table t as select i as patient, if(i = 7, '{SECRET}', '1') as item from range(9) r(i)")
    table = connection.table("t")
    table = table.mutate(item=table.item.cast("int64").cast("string"))
    return lambda: lb.count(table, by="item", unit="patient", domain=["flu"])


def of_dask(folder: Path) -> Callable[[], Any]:
    dask = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame({"patient": range(6), "item": ["flu"] * 6})

    def fail(part: pd.DataFrame) -> pd.DataFrame:
        raise ValueError(SECRET)

    table = dask.from_pandas(frame, npartitions=2).map_partitions(fail, meta=frame)
    return lambda: lb.count(table, by="item", unit="patient", domain=["flu"])


def chain_of(error: BaseException) -> Iterator[BaseException]:
    """An error and all that Python keeps with it, shown or not."""
    yield error
    for other in (error.__cause__, error.__context__):
        if other is not None:
            yield from chain_of(other)


def check(work: Callable[[], Any]) -> None:
    with pytest.raises(lb.DataError) as caught:
        work()
    for error in chain_of(caught.value):
        assert SECRET not in f"{error} {error.args!r} {getattr(error, '__notes__', '')}", type(error)
        assert isinstance(error, lb.LastbitError)  # what others say may quote a row the next time
    assert SECRET not in "".join(traceback.format_exception(caught.value)).replace(repr(SECRET), "")


@pytest.mark.parametrize("make", [of_duckdb, of_sqlite, of_parquet, of_ibis, of_dask])
def test_no_chained_error_quotes_a_row(make: Callable[[Path], Callable[[], Any]], tmp_path: Path) -> None:
    check(make(tmp_path))


@pytest.mark.skipif(not has_postgres(), reason="there is no PostgreSQL on this machine")
def test_no_chained_error_of_postgresql_quotes_a_row() -> None:
    import psycopg

    from tests.postgres_server import postgres_server

    with postgres_server() as home:
        place = f"postgresql://lastbit@/postgres?host={home}"
        with psycopg.connect(place, autocommit=True) as made:
            made.execute("create table raw(patient int, item text)")
            made.execute(
                "insert into raw select i, case when i = 7 then %s else '1' end from generate_series(1, 20) i", [SECRET]
            )
            made.execute("create view visits as select patient, item::int::text as item from raw")
        check(ask(place))
