"""Keys that are nearly equal, on every reader and engine: two people are two units, and two items are two items.

One person has rows of the largest weight, the other of the smallest. Whoever takes both for one unit adds their weights
up before they are clamped, so that one of them moves a sum by both bounds.
"""

from __future__ import annotations

import datetime
import json
import sqlite3
from collections.abc import Callable
from decimal import Decimal, localcontext
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lastbit as lb
from lastbit.audit.hostile import FORMS, NEAR
from tests.machine import has_postgres
from tests.stability.judge import ENGINES, LONG, Files, judge, load, parquet_file, sqlite_file

UNITS = 4 if LONG else 2
NAMES = ["patient", "item", "days"]
ITEMS = ["flu", *(f"item {number}" for number in range(1, 16))]

Key = Any
Rows = list[dict[str, Any]]
Count = Callable[..., Any]


def check_pairs(count: Count, pairs: list[tuple[Key, Key]], usual: Callable[[int], Key]) -> None:
    """count: from rows to the `Counts` of ITEMS, of units or of the weights in days, with bounds of -1 and 1.

    Two keys have an item that no other pair has, so that all pairs are counted at once.
    """
    for start in range(0, len(pairs), len(ITEMS)):
        some = dict(zip(ITEMS, pairs[start:], strict=False))
        rows = [{"patient": key, "item": item, "days": 1} for item, pair in some.items() for key in pair]
        numbers = map(int, count(rows, weights=False).values)
        wrong = [pair for pair, number in zip(some.values(), numbers, strict=False) if number != 2]
        assert not wrong
    for first, second in pairs if LONG else pairs[:1]:  # the same code judges all
        others = [{"patient": usual(number), "item": "flu", "days": 1} for number in range(UNITS)]
        one, other = ([{"patient": key, "item": "flu", "days": days}] * 9 for key, days in ((first, 1), (second, -1)))
        judge(partial(count, weights=True), [*others, *one], [other, other[:1]] if LONG else [other])


def check_items(count: Callable[[Rows], lb.Unlisted], pairs: list[tuple[Key, Key]]) -> None:
    for first, second in pairs:
        rows = [{"patient": number, "item": key, "days": 1} for number, key in enumerate((first, second, second))]
        found = count(rows)
        assert sorted(found.highest()[1].tolist()) == [1, 2], (first, second)


def options(weights: bool) -> dict[str, Any]:
    return {"weights": "days", "bounds": (-1, 1)} if weights else {}


def arrow_table(rows: Rows, make: Callable[[list[Any]], Any]) -> pa.Table:
    columns = {"item": pa.array([row["item"] for row in rows], pa.string())}
    columns["days"] = pa.array([row["days"] for row in rows], pa.int64())
    return pa.table({**columns, "patient": make([row["patient"] for row in rows])})


def wide(values: list[Any]) -> pa.Array:
    with localcontext() as context:
        context.prec = 76
        return pa.array([Decimal(value).quantize(Decimal("0.001")) for value in values], pa.decimal256(76, 3))


ARROW: dict[str, tuple[str, Callable[[list[Any]], Any]]] = {
    "text": ("text", lambda values: pa.array(values, pa.string())),
    "long offsets": ("text", lambda values: pa.array(values, pa.large_string())),
    "dictionaries": ("text", lambda values: pa.array(values, pa.string()).dictionary_encode()),
    "zero bytes": ("text with a zero byte", lambda values: pa.array(values, pa.string())),
    "bytes": ("bytes", lambda values: pa.array(values, pa.binary())),
    "int64": ("whole", lambda values: pa.array(values, pa.int64())),
    "uint64": ("unsigned", lambda values: pa.array(values, pa.uint64())),
    "float64": ("float", lambda values: pa.array(values, pa.float64())),
    "decimal128": ("decimal", lambda values: pa.array(values, pa.decimal128(38, 3))),
    "decimal256": ("long decimal", wide),
    "booleans": ("truth", lambda values: pa.array(values, pa.bool_())),
    "dates": ("date", lambda values: pa.array(values, pa.date32())),
    "moments": ("moment", lambda values: pa.array(values, pa.timestamp("us"))),
    "instants": ("moment", lambda values: pa.array(values, pa.timestamp("us")).view(pa.timestamp("us", "UTC"))),
    "fine moments": ("fine moment", lambda values: pa.array(values, pa.int64()).view(pa.timestamp("ns"))),
    "fine instants": ("fine moment", lambda values: pa.array(values, pa.int64()).view(pa.timestamp("ns", "UTC"))),
    "lengths": ("length", lambda values: pa.array(values, pa.duration("us"))),
    "clocks": ("clock", lambda values: pa.array(values, pa.time64("us"))),
}
USUAL: dict[str, Callable[[int], Any]] = {
    "text": lambda number: f"q{number}",
    "text with a zero byte": lambda number: f"q{number}",
    "bytes": lambda number: b"q%d" % number,
    "float": lambda number: 100.5 + number,
    "decimal": Decimal,
    "long decimal": Decimal,
    "truth": lambda number: None,
    "date": lambda number: datetime.date(2020, 1, 1 + number),
    "moment": lambda number: datetime.datetime(2020, 1, 1 + number),
    "fine moment": lambda number: 10**12 + number,
    "length": lambda number: datetime.timedelta(hours=1 + number),
    "clock": lambda number: datetime.time(1 + number),
}
SKIPPED = {
    # pandas has no such type, or takes the keys for others before lastbit sees them.
    ("pandas", "decimal256"), ("pandas", "int64"), ("pandas", "dictionaries"), ("pandas", "booleans"),
    ("Polars", "decimal256"), ("Polars, lazy", "decimal256"), ("DuckDB", "decimal256"),
    # DuckDB itself rounds instants to microseconds, and lastbit sees the rounded ones.
    ("DuckDB", "fine instants"), ("DuckDB", "lengths"),
}  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ARROW)
def test_tables(kind: str, engine: str) -> None:
    if (engine, kind) in SKIPPED:
        return
    stock, make = ARROW[kind]

    def table(rows: Rows) -> Any:
        return ENGINES[engine](arrow_table(rows, make))

    def count(rows: Rows, weights: bool) -> lb.Counts:
        return lb.count(table(rows), by="item", unit="patient", domain=ITEMS, **options(weights))

    def items(rows: Rows) -> lb.Unlisted:
        patients = pa.array([row["patient"] for row in rows], pa.int64())
        made = pa.table({"patient": patients, "item": make([row["item"] for row in rows])})
        return lb.count(ENGINES[engine](made), by="item", unit="patient", domain=lb.UNKNOWN)

    usual = USUAL.get(stock, lambda number: 100 + number)
    check_pairs(count, [*NEAR[stock]], usual)
    if not kind.startswith("fine") and (engine, kind) != ("pandas", "zero bytes"):
        check_items(items, [*NEAR[stock]])


def test_whole_numbers_of_128_bits() -> None:
    def polars(rows: Rows, weights: bool) -> lb.Counts:
        frame = pl.DataFrame(
            {name: [row[name] for row in rows] for name in NAMES},
            schema={"patient": pl.Int128, "item": pl.String, "days": pl.Int64},
        )
        return lb.count(frame, by="item", unit="patient", domain=ITEMS, **options(weights))

    connection = duckdb.connect(config={"threads": 1})

    def in_duckdb(rows: Rows, weights: bool) -> lb.Counts:
        load(connection, rows, {"patient": "HUGEINT", "item": "VARCHAR", "days": "BIGINT"})
        table = connection.table("visits")
        return lb.count(table, by="item", unit="patient", domain=ITEMS, **options(weights))

    for count in (polars, in_duckdb):
        check_pairs(count, [*NEAR["huge"]], lambda number: 100 + number)


OBJECTS = [pair for pairs in NEAR.values() for pair in pairs]


def test_python_objects() -> None:
    def frame(rows: Rows) -> pd.DataFrame:
        made = pd.DataFrame({"days": pd.Series([row["days"] for row in rows], dtype="int64")})
        for name in ("patient", "item"):
            cells = np.empty(len(rows), object)
            for place, row in enumerate(rows):
                cells[place] = row[name]
            made[name] = pd.Series(cells, dtype=object)
        return made

    def count(rows: Rows, weights: bool) -> lb.Counts:
        return lb.count(frame(rows), by="item", unit="patient", domain=ITEMS, **options(weights))

    check_pairs(count, OBJECTS, lambda number: f"q{number}")


def file_counter(files: Files, name: str, write: Callable[[Path, Rows], None], table: str | None = None) -> Count:
    def count(rows: Rows, weights: bool) -> lb.Counts:
        more: dict[str, Any] = {"weights": "days", "bounds": ("-1", "1")} if weights else {}
        return files.count(name, lambda path: write(path, rows), table=table, **more)

    return count


@pytest.mark.parametrize("kind", ARROW)
def test_parquet(kind: str, tmp_path: Path) -> None:
    stock, make = ARROW[kind]

    def write(path: Path, rows: Rows) -> None:
        parquet_file(path, arrow_table(rows, make))

    count = file_counter(Files(tmp_path, ITEMS), "visits.parquet", write)
    check_pairs(count, [*NEAR[stock]], USUAL.get(stock, lambda number: 100 + number))


def test_old_times_of_parquet(tmp_path: Path) -> None:
    """Times of 96 bits: 2^64 nanoseconds apart, and one nanosecond apart."""

    def write(path: Path, rows: Rows) -> None:
        made = arrow_table(rows, lambda keys: pa.array(keys, pa.int64()).view(pa.timestamp("us")))
        pq.write_table(made, path, use_deprecated_int96_timestamps=True)

    def write_fine(path: Path, rows: Rows) -> None:
        made = arrow_table(rows, lambda keys: pa.array(keys, pa.int64()).view(pa.timestamp("ns")))
        pq.write_table(made, path, use_deprecated_int96_timestamps=True)

    files = Files(tmp_path, ITEMS)
    fine = file_counter(files, "visits.parquet", write_fine)
    check_pairs(fine, [*NEAR["fine moment"]], lambda number: 10**12 + number)
    # Beyond the nanoseconds of 64 bits a time is null, as where the file says nanoseconds itself.
    coarse = file_counter(files, "visits.parquet", write)
    others = [{"patient": number, "item": "flu", "days": 1} for number in range(UNITS)]
    far = 1000 * ((1 << 64) // 1000_000)
    one, other = ([{"patient": key, "item": "flu", "days": days}] * 9 for key, days in ((0, 1), (far, -1)))
    judge(partial(coarse, weights=True), [*others, *one], [other])
    assert coarse([*one, *others, *other], weights=False).values[0] == UNITS


SQLITE: dict[str, tuple[tuple[Any, Any], ...]] = {
    "real": (*NEAR["float"], (1e15, 1e15 + 0.125), (float("-inf"), float("inf"))),
    "integer": (*NEAR["whole"], (1.5, 1), ("1x", 1)),
    "numeric": (*NEAR["whole"], *NEAR["float"]),
    "text": NEAR["text"],
    "": (*NEAR["float"], *NEAR["text"], *NEAR["whole"], (b"\xff", b"\xfe"), (b"p", "p"), (b"p\x00", b"p")),
    "blob": NEAR["bytes"],
}


@pytest.mark.parametrize("declared", SQLITE)
def test_sqlite(declared: str, tmp_path: Path) -> None:
    def write(path: Path, rows: Rows) -> None:
        sqlite_file(path, rows, f"patient {declared}, item text, days real", NAMES)

    count = file_counter(Files(tmp_path, ITEMS), "visits.db", write, "visits")
    check_pairs(count, [*SQLITE[declared]], lambda number: f"q{number}" if declared in ("text", "") else 100 + number)


def test_one_number_of_sqlite_is_one_unit_in_every_form(tmp_path: Path) -> None:
    """Without a declared type, 1 and 1.0 stand beside each other, and SQLite takes them for equal."""

    def write(path: Path, rows: Rows, schema: str) -> None:
        sqlite_file(path, rows, schema, NAMES)

    def view(path: Path, rows: Rows) -> None:
        with sqlite3.connect(path) as connection:
            connection.execute("pragma synchronous = off")
            connection.execute("create table wards (patient real, item text, days real)")
            connection.execute("create table homes (patient, item text, days real)")
            for place, row in enumerate(rows):
                cells = [row[name] for name in NAMES]
                connection.execute(f"insert into {'wards' if place % 2 else 'homes'} values (?, ?, ?)", cells)
            connection.execute("create view visits as select * from wards union all select * from homes")
        connection.close()

    bare = partial(write, schema="patient, item text, days real")
    for writing in (bare, view):
        count = file_counter(Files(tmp_path, ITEMS), "visits.db", writing, "visits")
        for forms in (*FORMS[:1], (1, 1.0), (2**53, 2.0**53), (-(2**63), -(2.0**63))):
            rows = [{"patient": form, "item": "flu", "days": 1} for form in (forms[0], *forms, *reversed(forms))]
            # Without weights SQLite itself leaves out rows that are alike.
            assert [int(count(rows, weights=weights).values[0]) for weights in (False, True)] == [1, 1], forms
            table = [{"patient": float(number), "item": "flu", "days": 1} for number in range(10, 10 + UNITS)]
            judge(partial(count, weights=True), table, [rows])


def test_items_of_sqlite_are_written_as_python_writes_floats(tmp_path: Path) -> None:
    def write(path: Path, rows: Rows) -> None:
        sqlite_file(path, rows, "patient integer, item real, days real", NAMES)

    items = [1234567890123456.0, 1234567890123457.0, 0.1, 3.0]
    rows = [{"patient": place, "item": item, "days": 1} for place, item in enumerate(items)]
    count = file_counter(Files(tmp_path, [repr(item) for item in items]), "visits.db", write, "visits")
    assert list(count(rows, weights=False).values) == [1, 1, 1, 1]


JSON = [
    ("0.12345678901234567891", "0.12345678901234567892"),
    ("12345678901234567890123", "12345678901234567890124"),
    ("12345678901234567890123.5", "12345678901234567890124.5"),
    ("123456789012345678901234567890e1", "123456789012345678901234567891e1"),
    ("1e400", "1e401"),
    ("1e-400", "2e-400"),
    ("9007199254740993.0", "9007199254740992.0"),
    ('"p"', '"p\\u0301"'),
    ('"0.12345678901234567891"', '"0.12345678901234567892"'),
    ('"\\"0.12345678901234567891"', '"\\"0.12345678901234567892"'),
    ("[0.12345678901234567891]", "[0.12345678901234567892]"),
]


def json_counter(files: Files) -> Count:
    def write(path: Path, rows: Rows) -> None:
        lines = [f'{{"patient": {row["patient"]}, "item": "{row["item"]}", "days": {row["days"]}}}' for row in rows]
        path.write_text("\n".join([*lines, ""]))

    return file_counter(files, "visits.jsonl", write)


def test_json_lines(tmp_path: Path) -> None:
    count = json_counter(Files(tmp_path, ITEMS))
    texts = [(json.dumps(first), json.dumps(second)) for first, second in NEAR["text"]]
    check_pairs(count, [*JSON, *texts], lambda number: f'"q{number}"')


def test_one_number_of_json_is_one_unit_in_every_form(tmp_path: Path) -> None:
    count = json_counter(Files(tmp_path, ITEMS))
    for forms in (("0.0", "-0.0"), ("0.12345678901234567891", "0.123456789012345678910", "12345678901234567891e-20")):
        rows = [{"patient": form, "item": "flu", "days": 1} for form in forms]
        assert count(rows, weights=False).values[0] == 1, forms


def test_text_files(tmp_path: Path) -> None:
    def write(path: Path, rows: Rows) -> None:
        lines = (f"{row['patient']},{row['item']},{row['days']}" for row in rows)
        path.write_text("\n".join(["patient,item,days", *lines, ""]))

    count = file_counter(Files(tmp_path, ITEMS), "visits.csv", write)
    numbers = [(repr(first), repr(second)) for first, second in NEAR["float"]]
    check_pairs(count, [*NEAR["text"], *numbers], lambda number: f"q{number}")


if has_postgres():
    POSTGRES: dict[str, tuple[tuple[Any, Any], ...]] = {
        "double precision": NEAR["float"],
        "real": ((16777216.0, 16777218.0), (0.1, 0.10000001)),
        "numeric": (*NEAR["long decimal"], *NEAR["decimal"]),
        "bigint": NEAR["whole"],
        "text": tuple(pair for pair in NEAR["text"]),
        "bytea": (("\\x70", "\\x7000"), ("\\xff", "\\xfe")),
        "timestamp": NEAR["moment"],
        "timestamptz": (("2024-10-27 00:30:00+00", "2024-10-27 01:30:00+00"), ("infinity", "-infinity")),
        "date": NEAR["date"],
        "interval": (("1 microsecond", "2 microseconds"), ("1 month", "31 days"), ("1 year", "365 days")),
        "uuid": (("00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"),),
    }

    @pytest.mark.parametrize("style", ["ISO", "German"])
    @pytest.mark.parametrize("declared", POSTGRES)
    def test_postgresql(declared: str, style: str, server: str, tmp_path: Path) -> None:
        place, files = f"postgresql://lastbit@/postgres?host={server}", Files(tmp_path, ITEMS)
        pairs = [*POSTGRES[declared]]
        if style != "ISO":
            if declared not in ("timestamptz", "interval", "bytea"):
                return
            place += "&options=-c%20datestyle%3DGerman%20-c%20timezone%3DEurope/Berlin%20-c%20bytea_output%3Descape"

        def count(rows: Rows, weights: bool) -> lb.Counts:
            with psycopg.connect(place, autocommit=True) as connection:
                connection.execute("drop table if exists near_visits")
                connection.execute(f"create table near_visits (patient {declared}, item text, days int)".encode())
                keys = [None if row["patient"] is None else str(row["patient"]) for row in rows]
                values = [(key, row["item"], row["days"]) for key, row in zip(keys, rows, strict=True)]
                insert = f"insert into near_visits values (%s::text::{declared}, %s, %s)"
                connection.cursor().executemany(insert.encode(), values)
            more: dict[str, Any] = {"weights": "days", "bounds": ("-1", "1")} if weights else {}
            return files.stored(place, "near_visits", **more)

        check_pairs(count, pairs, lambda number: None)
        if declared == "interval":
            rows = [{"patient": text, "item": "flu", "days": 1} for text in ("1 month", "30 days", "720 hours")]
            assert count(rows, weights=False).values[0] == 1
