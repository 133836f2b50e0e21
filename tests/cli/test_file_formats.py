"""The same counts from every kind of file, and no row that decides how others are read."""

from __future__ import annotations

import csv
import gzip
import json
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.parquet
import pytest

import lastbit as lb
from lastbit.data.duckdb.relation import ColumnSelection
from lastbit.data.files.formats import TextFormat
from lastbit.data.files.open_table import open_table
from lastbit.data.query.plan import RowPlan
from tests.machine import has_postgres
from tests.table_readers import count_rows, make_items, make_rows

ROWS: list[tuple[str | None, str | None, float | None]] = [
    ("1", "flu", 2.5),
    ("1", "flu", 1.0),
    ("01", "flu", None),
    ("2", 'c"o,ld', 4.0),
    (None, "flu", 1.0),
    ("3", None, 1.0),
    ("4", "other", 1.0),
]
NAMES = ["unit", "item", "weight"]


def as_csv(path: Path, separator: str = ",", opener: Callable[..., Any] = open) -> None:
    with opener(path, "wt", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, delimiter=separator)
        rows.writerows([NAMES, *ROWS])


def as_json(path: Path) -> None:
    rows = [dict(zip(NAMES, row, strict=True)) for row in ROWS]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def arrow() -> pa.Table:
    return pa.table(dict(zip(NAMES, zip(*ROWS, strict=True), strict=True)))


def as_duckdb(path: Path) -> None:
    with duckdb.connect(path) as connection:
        connection.register("rows", arrow())
        connection.execute("create table visits as select * from rows")


def as_sqlite(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("create table visits (unit text, item text, weight real)")
    connection.executemany("insert into visits values (?, ?, ?)", ROWS)
    connection.commit()
    connection.close()


FILES: dict[str, Callable[[Path], None]] = {
    "visits.csv": as_csv,
    "visits.tsv": lambda path: as_csv(path, "\t"),
    "visits.csv.gz": lambda path: as_csv(path, opener=gzip.open),
    "visits.jsonl": as_json,
    "visits.parquet": lambda path: pyarrow.parquet.write_table(arrow(), path),
    "visits.duckdb": as_duckdb,
    "visits.db": as_sqlite,
}


def numbers(place: str, table: str | None = None, unit: str | None = "unit") -> list[int]:
    domain = Path(place).parent / "domain.txt" if "://" not in place else Path("domain.txt")
    domain.write_text('flu\nc"o,ld\nabsent\n', encoding="utf-8")
    counts = count_rows(make_rows(source=place, unit=unit, table=table), make_items(by=["item"], domain=[str(domain)]))
    return counts.values.tolist()


@pytest.mark.parametrize("name", FILES)
def test_the_same_counts_from_every_kind_of_file(name: str, tmp_path: Path) -> None:
    FILES[name](tmp_path / name)
    table = "visits" if name.endswith(("duckdb", "db")) else None
    assert numbers(str(tmp_path / name), table) == [2, 1, 0]
    assert numbers(str(tmp_path / name), table, unit=None) == [4, 1, 0]
    wanted = ColumnSelection(("item",), weights="weight")
    total = open_table(str(tmp_path / name), wanted, table).relation.aggregate("sum(weight)").fetchone()
    assert total == (10.5,)
    if name.endswith("jsonl"):  # whose keys are in its rows, so that nobody may learn which there are
        assert open_table(str(tmp_path / name), ColumnSelection(("nobody",))).relation.fetchall() == [(None,)] * len(
            ROWS
        )
        return
    with pytest.raises(lb.ParameterError, match="no column 'nobody': the table has unit, item, weight"):
        open_table(str(tmp_path / name), ColumnSelection(("nobody",)), table)


if has_postgres():

    def test_the_same_counts_from_postgresql(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        place = f"postgresql://lastbit@/postgres?host={server}"
        connected = partial(psycopg.connect, autocommit=True)
        with connected(place) as connection:
            connection.execute("create schema if not exists clinic")
            connection.execute("create table clinic.visits (unit text, item text, weight double precision)")
            with connection.cursor() as cursor:
                cursor.executemany("insert into clinic.visits values (%s, %s, %s)", ROWS)
        assert numbers(place, "clinic.visits") == [2, 1, 0]
        assert numbers(place, "clinic.visits", unit=None) == [4, 1, 0]
        with pytest.raises(lb.ParameterError, match="no column 'nobody'"):
            open_table(place, ColumnSelection(("nobody",)), "clinic.visits")
        with pytest.raises(lb.ParameterError, match="weights must be numbers: the column 'unit'"):
            open_table(place, ColumnSelection(("item",), weights="unit"), "clinic.visits")
        weighed = open_table(place, ColumnSelection(("item",), weights="weight"), "clinic.visits")
        assert weighed.relation.aggregate("sum(weight)").fetchone() == (10.5,)
        with connected(place) as connection:
            connection.execute('create table "Vis its" ("U""nit.x" integer, "ITEM" text)')
            connection.execute("""insert into "Vis its" values (1, 'flu'), (2, 'flu')""")
        items = make_items(by=["ITEM"], domain=["domain.txt"])
        assert count_rows(make_rows(source=place, unit='U"nit.x', table="Vis its"), items).values.tolist() == [2, 0, 0]
        with pytest.raises(lb.DataError, match="could not be read: UndefinedTable"):
            open_table(place, ColumnSelection(("item",)), "clinic.no")
        with connected(place) as connection:
            connection.execute("create view clinic.light as select * from clinic.visits where weight < 3")
        assert numbers(place, "clinic.light") == [1, 0, 0]
        plan = RowPlan.of(where="weight > 2 and unit = '1'")
        assert open_table(place, ColumnSelection(("item",)), "clinic.visits", plan=plan).relation.fetchall() == [
            ("flu",)
        ]
        with pytest.raises(lb.ParameterError, match="are for text files: postgresql://… is none"):
            open_table(place, ColumnSelection(("item",)), "clinic.visits", TextFormat(separator=";"))


def test_a_row_does_not_decide_how_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("unit,item,weight\n" + "1,flu,1\n01,flu,1\n" * 3, encoding="utf-8")
    before = numbers(str(path))
    for strange in (
        "x,other,1",
        "1;2;3",
        "1.5,other,",
        '7,"oth""er",2',
        "one,two,three,four",
        "one",
        "",
        "\udcff,flu,1",
    ):
        text = path.read_text(encoding="utf-8")
        path.write_bytes((text + strange + "\n").encode("utf-8", "surrogateescape"))
        assert numbers(str(path)) == before
        path.write_text(text, encoding="utf-8")


def test_an_engine_that_fails_is_named_but_not_quoted(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv.gz"
    path.write_bytes(gzip.compress(b"unit,item\nsecret,flu\n")[:-9])
    with pytest.raises(lb.DataError) as caught:
        numbers(str(path))
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None
