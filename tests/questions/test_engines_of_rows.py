"""What is done before a question, on every engine that holds a table: the same numbers, or a refusal before reading.

Files of each format, databases, and tables of libraries; a table of Spark is in tests/data/spark/test_ask.py.
"""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pytest

import lastbit as lb
from lastbit.questions.kinds import KINDS
from tests.machine import has_postgres

NAMES = ("user", "day", "zip", "cost", "codes")
DAYS = [f"2024-01-{number:02}" for number in range(1, 8)]
ROWS = [
    (f"u{user}", DAYS[number], str(user % 4), str((user * 7 + number) % 9), "a;b" if number % 2 else "b")
    for user in range(12)
    for number in range(1 + user % 6)
] + [(None, DAYS[0], "1", "5", "a"), ("u99", None, None, None, None)]
REGIONS = {"0": "north", "1": "south", "2": "north"}

FORMS: dict[str, dict[str, Any]] = {
    "let": {"let": {"n": "count(*)"}, "by": "n", "domain": ["1", "2", "3", "4", "5", "6"]},
    "lag": {
        "let": {"up": "cast(cost as bigint) > lag(cast(cost as bigint)) over (order by day)"},
        "where": "up",
        "by": "zip",
        "domain": ["0", "1", "2", "3"],
    },
    "split": {"split": ["codes", ";"], "by": "codes", "domain": ["a", "b"]},
    "join": {"on": "zip", "by": "region", "domain": ["north", "south"]},
    "units": {"unit": ["user", "day"], "by": "zip", "domain": ["0", "1", "2", "3"]},
    "some units": {"unit": ["user", "day"], "most_units": 3},
}


def expect(form: str) -> list[int]:
    """What plain Python says of the rows."""
    rows = [row for row in ROWS if row[0] is not None]
    by_user: dict[str, list[Any]] = {}
    for row in rows:
        by_user.setdefault(str(row[0]), []).append(row)
    if form == "let":
        return [sum(len(own) == n for own in by_user.values()) for n in range(1, 7)]
    if form == "lag":
        rising = {
            (user, own[place][2])
            for user, own in by_user.items()
            for place in range(1, len(own))
            if int(own[place][3]) > int(own[place - 1][3])
        }
        return [sum(zip_code == one for _, zip_code in rising) for one in "0123"]
    if form == "split":
        return [len({row[0] for row in rows if item in (row[4] or "").split(";")}) for item in "ab"]
    if form == "join":
        return [len({row[0] for row in rows if REGIONS.get(row[2]) == region}) for region in ("north", "south")]
    known = {(row[0], row[1], row[2]) for row in rows if row[1] is not None}
    if form == "units":
        return [sum(row[2] == one for row in known) for one in "0123"]
    return [sum(min(3, len([row for row in known if row[0] == user])) for user in by_user)]


@contextmanager
def store(kind: str, folder: Path) -> Iterator[tuple[Any, dict[str, Any]]]:
    """The rows in a table of this kind, and how a question names it. Others than these rows' texts are nowhere."""
    frame = pd.DataFrame(ROWS, columns=NAMES)
    path = folder / f"edits.{kind}"
    options: dict[str, Any] = {}
    source: Any = str(path)
    if kind in ("csv", "tsv"):
        frame.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(dict(zip(NAMES, row, strict=True))) + "\n" for row in ROWS), "utf-8")
    elif kind == "parquet":
        frame.to_parquet(path)
    elif kind == "several files":
        frame[:9].to_csv(folder / "part1.csv", index=False)
        frame[9:].to_csv(folder / "part2.csv", index=False)
        source = str(folder / "part*.csv")
    elif kind == "sqlite":
        with closing(sqlite3.connect(path)) as connection, connection:
            frame.to_sql("edits", connection, index=False)
        options = {"table": "edits"}
    elif kind == "duckdb":
        with closing(duckdb.connect(str(path))) as connection:
            connection.execute("CREATE TABLE edits AS SELECT * FROM frame")
        options = {"table": "edits"}
    else:
        source = {
            "pandas": lambda: frame,
            "polars": lambda: pl.DataFrame(ROWS, schema=list(NAMES), orient="row"),
            "lazy polars": lambda: pl.DataFrame(ROWS, schema=list(NAMES), orient="row").lazy(),
            "arrow": lambda: pa.Table.from_pandas(frame),
            "relation": lambda: duckdb.connect().from_arrow(pa.Table.from_pandas(frame)),
        }[kind]()
    yield source, options


FILES = ("csv", "tsv", "csv.gz", "jsonl", "parquet", "several files", "sqlite", "duckdb")
ENGINES = (*FILES, "pandas", "polars", "lazy polars", "arrow", "relation")


def count_exactly(source: Any, **options: Any) -> list[int]:
    """The private numbers themselves: no noise."""
    frame = None if isinstance(source, str) else source
    values = {"unit": "user", "source": source if frame is None else "-", "epsilon": 1, **options}
    reading = KINDS["count"].parse(values).question.reading
    assert reading is not None
    return [int(value) for value in reading.run(frame=frame).values]


def add_regions(form: str, folder: Path) -> dict[str, Any]:
    if form != "join":
        return {}
    (folder / "regions.csv").write_text("zip,region\n" + "".join(f"{a},{b}\n" for a, b in REGIONS.items()), "utf-8")
    return {"join": str(folder / "regions.csv")}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_counts_as_plain_python_does(engine: str, form: str, tmp_path: Path) -> None:
    with store(engine, tmp_path) as (source, options):
        assert count_exactly(source, **options, **FORMS[form], **add_regions(form, tmp_path)) == expect(form)


@pytest.mark.parametrize("engine", ENGINES)
def test_rates_of_every_engine(engine: str, tmp_path: Path) -> None:
    """A rate is made of what is published: no engine is asked again."""
    sizes = {"north": 50, "south": 25}
    with store(engine, tmp_path) as (source, options):
        asked = {**FORMS["join"], **add_regions("join", tmp_path), "unit": "user", "epsilon": "1000"}
        rates = lb.ask("count", source, **options, **asked).rate(sizes, per=100)
    shown = rates.to_frame()["value"].tolist()
    assert shown == [100 * people / size for people, size in zip(expect("join"), sizes.values(), strict=True)]


if has_postgres():

    @pytest.mark.parametrize("form", FORMS)
    def test_a_server_counts_as_plain_python_does(form: str, server: str, tmp_path: Path) -> None:
        place = f"postgresql://lastbit@/postgres?host={server}"
        with psycopg.connect(place, autocommit=True) as connection:
            connection.execute("DROP TABLE IF EXISTS edits_of_users")
            connection.execute('CREATE TABLE edits_of_users ("user" text, day text, zip text, cost text, codes text)')
            with connection.cursor() as cursor:
                cursor.executemany("INSERT INTO edits_of_users VALUES (%s, %s, %s, %s, %s)", ROWS)
        asked = {**FORMS[form], **add_regions(form, tmp_path)}
        assert count_exactly(place, table="edits_of_users", **asked) == expect(form)
