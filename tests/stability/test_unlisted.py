"""The hostile rows once more where nobody listed the items, and where one unit counts in few of them.

With `most_items` the key is the same for both tables of a pair (`stability` sees to it): then one unit moves at most so
many counts, all the same way, and no item of another unit.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pytest
from hypothesis import given

import lastbit as lb
from lastbit.audit import hostile, stability
from lastbit.data.duckdb.relation import ColumnSelection
from lastbit.data.files.open_table import open_table
from lastbit.values.contribution_bound import ContributionBound
from lastbit.values.unlisted import sort_key
from tests.machine import has_java, has_postgres
from tests.stability.judge import (
    ENGINES,
    LONG,
    UNITS,
    Count,
    batches,
    duckdb_file,
    judge,
    load,
    parquet_file,
    some,
    sqlite_file,
)
from tests.stability.test_generated_rows import Scene, arrow, driven, scenes
from tests.stability.test_tables import CASES, COLLATED, SQL_ITEMS, pandas_objects

WAYS: dict[str, dict[str, Any]] = {
    "what occurs": {"domain": lb.UNKNOWN},
    "two items of what occurs": {"domain": lb.UNKNOWN, "most_items": 2},
    "two items of a domain": {"most_items": 2},
}
UNLISTED = tuple(WAYS)[:2]
BOUNDED = UNLISTED if LONG else UNLISTED[1:]
"""The bound on items goes through everything that counts without it do: where a count is slow, it stands for both."""


def counter(build: Callable[[list[Any]], Any], way: str, **options: Any) -> Count:
    """Count in this way; the items that come back are in their order."""

    def count(rows: list[Any]) -> Any:
        counts: Any = lb.count(build(rows), **{"by": "item", "unit": "patient", **options, **WAYS[way]})
        if isinstance(counts, lb.Unlisted):
            items, steps = counts.highest()
            ranks = [(-step, sort_key(item)) for item, step in zip(items, steps.tolist(), strict=True)]
            assert ranks == sorted(ranks), "out of order"
        return counts

    return count


def made(rows: list[Any], kinds: dict[str, pa.DataType]) -> pa.Table:
    return pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in kinds.items()})


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("name", "engine"), [(name, engine) for name in CASES for engine in CASES[name].engines])
def test_items(name: str, engine: str, way: str) -> None:
    case = CASES[name]

    def build(rows: list[Any]) -> Any:
        patients = pa.array([row["patient"] for row in rows], pa.int64())
        return ENGINES[engine](pa.table({"patient": patients, "item": case.make([row["item"] for row in rows])}))

    table = [{"patient": number, "item": case.usual} for number in range(UNITS)]
    strange = [{"patient": 900, "item": value} for value in [case.usual, *case.strange]]
    count = counter(build, way, domain=[case.domain(number) for number in range(3)])
    judge(count, table, batches(strange)[:1], refusable=case.refusable)


@pytest.mark.parametrize("way", WAYS if LONG else BOUNDED)
@pytest.mark.parametrize("collation", COLLATED)
def test_text_that_duckdb_takes_for_one(collation: str, way: str) -> None:
    before, kind = COLLATED[collation]

    connection = duckdb.connect(config={"threads": 1})
    connection.execute(before) if before else None

    def build(rows: list[Any]) -> Any:
        load(connection, rows, {"patient": kind, "item": kind})
        return connection.table("visits")

    table = [{"patient": f"p{number}", "item": "flu"} for number in range(UNITS)]
    strange = ["flu", "FLU", "Flu", "flü", "FLÜ", "flu "]
    judge(
        counter(build, way, domain=["flu", "cold", "Flu"]),
        table,
        [[{"patient": key, "item": item} for item in strange] for key in ("P1", "p\u00b9", "q")],
    )


@pytest.mark.parametrize("way", UNLISTED)
@pytest.mark.parametrize("name", SQL_ITEMS)
def test_items_of_duckdb(name: str, way: str) -> None:
    kind, usual, strange = SQL_ITEMS[name]

    connection = duckdb.connect(config={"threads": 1})

    def build(rows: list[Any]) -> Any:
        load(connection, rows, {"patient": "BIGINT", "item": kind})
        return connection.table("visits")

    table = [{"patient": number, "item": usual[number % 2]} for number in range(UNITS)]
    judge(counter(build, way), table, [[{"patient": 900, "item": value} for value in [*usual, *strange, None]]])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("column", ["item", "patient"])
def test_python_objects_in_pandas(column: str, way: str) -> None:
    table = [{"patient": f"p{number}", "item": "flu"} for number in range(UNITS)]
    for kind in hostile.KINDS:
        strange = [{"patient": "q", "item": "flu", column: value} for value in hostile.values(kind)]
        # Each key is another unit, and comes alone; items may come together.
        units = [strange] if column == "item" else [[row, {**row, "item": "cold"}] for row in some(strange, 4)]
        judge(counter(pandas_objects, way, domain=["flu", "cold", 1]), table, units)


def asked(scene: Scene, way: str) -> dict[str, Any]:
    options = dict(scene.options)
    if way in UNLISTED and options.get("bounds", (0, 0))[0] < 0:
        options["bounds"] = (0, 5)
    return options


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("engine", ENGINES)
def test_engines_in_this_process(engine: str, way: str) -> None:
    @driven
    @given(scenes())
    def run(scene: Scene) -> None:
        build = counter(lambda rows: ENGINES[engine](arrow(scene, rows)), way, **asked(scene, way))
        tried(build, scene)

    run()


def tried(count: Count, scene: Scene) -> None:
    """As `judge`, but a table in which nobody counts may come by: other bounds than the scene's own make one."""
    verdict = stability(count, scene.table, unit="patient", hostile=[scene.strange])
    assert verdict.holds, str(verdict)


if has_java() and LONG:  # tests/data/spark/test_table.py counts such items in the short run

    @pytest.mark.xdist_group("spark")
    @pytest.mark.filterwarnings("ignore")
    @pytest.mark.parametrize("way", BOUNDED)
    def test_spark(session: Any, way: str) -> None:
        kinds = {"patient": pa.string(), "item": pa.string()}
        table = [{"patient": f"p{number}", "item": "flu"} for number in range(2)]
        strange = [{"patient": "q", "item": item} for item in ("flu", "FLU", "", "flu ", "ä", "\ud7ff", None)]

        def build(rows: list[Any]) -> Any:
            listed = [(row["patient"], row["item"]) for row in made(rows, kinds).to_pylist()]
            return session.createDataFrame(listed, "patient string, item string")

        judge(counter(build, way), table, [strange])


# Files and databases, as the command opens them.

WRITTEN = {"visits.csv": None, "visits.jsonl": None, "visits.parquet": None, "visits.sqlite": "t", "visits.duckdb": "t"}


def written(path: Path, rows: list[Any]) -> None:
    names = ("patient", "item")
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8", errors="surrogatepass") as file:
            csv.writer(file, lineterminator="\n").writerows([names, *([row[name] for name in names] for row in rows)])
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    elif path.suffix == ".parquet":
        parquet_file(path, made(rows, dict.fromkeys(names, pa.string())))
    elif path.suffix == ".sqlite":
        sqlite_file(path, rows, "patient text collate nocase, item text collate nocase", names)
    else:
        duckdb_file(path, rows, dict.fromkeys(names, "VARCHAR COLLATE NOCASE"))


@pytest.mark.parametrize("way", WAYS if LONG else BOUNDED)
@pytest.mark.parametrize("name", WRITTEN)
def test_files(name: str, way: str, tmp_path: Path) -> None:
    def build(rows: list[Any]) -> Any:
        path = tmp_path / name
        path.unlink(missing_ok=True)
        written(path, rows)
        return open_table(str(path), WANTED, "visits" if WRITTEN[name] else None).relation

    table = [{"patient": f"p{number}", "item": "flu"} for number in range(UNITS)]
    texts = [text for text in hostile.values("text") if "\0" not in text or path_takes_zero(name)]
    strange = [[{"patient": "q", "item": item} for item in ["flu", *texts]], [{"patient": "P1", "item": "FLU"}]]
    judge(counter(build, way, domain=["flu", "FLU", "", "cold"]), table, strange)


WANTED = ColumnSelection(("patient", "item"), distinct=True)


def path_takes_zero(name: str) -> bool:
    return name.endswith((".csv", ".jsonl", ".sqlite"))


if has_postgres():

    @pytest.mark.parametrize("way", UNLISTED)
    def test_postgres(server: str, way: str) -> None:
        place = f"postgresql://lastbit@/postgres?host={server}"

        def build(rows: list[Any]) -> Any:
            with psycopg.connect(place, autocommit=True) as connection:
                connection.execute("drop table if exists unlisted")
                connection.execute("create table unlisted (patient text, item text)")
                connection.cursor().executemany(
                    "insert into unlisted values (%s, %s)", [(row["patient"], row["item"]) for row in rows]
                )
            return open_table(place, WANTED, "unlisted").relation

        table = [{"patient": f"p{number}", "item": "flu"} for number in range(5)]
        judge(counter(build, way), table, [[{"patient": "q", "item": item} for item in ("flu", "FLU", "", "ä", None)]])


# Rules that must be convicted.


def bounded(rows: list[Any], first: Callable[[list[Any], list[Any]], list[Any]]) -> lb.Unlisted:
    """Units in items, where each unit stays in the two that a rule puts first."""
    counts: dict[Any, int] = {}
    for unit in dict.fromkeys(row["patient"] for row in rows):
        items = sorted({row["item"] for row in rows if row["patient"] == unit})
        for item in first(items, rows):
            counts[item] = counts.get(item, 0) + 1
    return lb.Unlisted.of(counts, most_items=2)


TABLE = [{"patient": n, "item": item} for n in range(6) for item in "abcd"[n % 2 :]]
STRANGE = [{"patient": 9, "item": item} for item in "cdxyz"]


def often(item: Any, rows: list[Any]) -> int:
    return -sum(row["item"] == item for row in rows)


def test_rules_that_look_at_others_or_forget_the_bound_are_convicted() -> None:
    honest = stability(partial(bounded, first=lambda items, _: items[:2]), TABLE, unit="patient", hostile=[STRANGE])
    assert honest.holds
    assert honest.moved == 1
    popular = partial(bounded, first=lambda items, rows: sorted(items, key=lambda item: (often(item, rows), item))[:2])
    verdict = stability(popular, TABLE, unit="patient", hostile=[STRANGE])
    assert "moves" in str(verdict)
    assert not verdict.holds
    many = stability(partial(bounded, first=lambda items, _: items[:3]), TABLE, unit="patient", hostile=[STRANGE])
    assert "3 counts move where 2 are stated" in str(many)


def test_a_key_for_each_table_of_a_pair_is_convicted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Why the trial fixes the key: with another one, other units stay in other items."""
    keys = iter(range(10**6))
    monkeypatch.setattr(ContributionBound, "draw", classmethod(lambda cls, most: ContributionBound(most, next(keys))))
    build = counter(lambda rows: made(rows, {"patient": pa.int64(), "item": pa.string()}), "two items of what occurs")
    assert not stability(build, TABLE, unit="patient", hostile=[STRANGE]).holds


def test_items_that_nobody_listed_move_by_their_weights() -> None:
    def count(rows: list[Any]) -> lb.Unlisted:
        kinds = {"patient": pa.int64(), "item": pa.string(), "days": pa.int64()}
        options: dict[str, Any] = {"weights": "days", "bounds": (0, 5), "most_items": 2}
        return lb.count(made(rows, kinds), by="item", unit="patient", domain=lb.UNKNOWN, **options)

    table = [{**row, "days": 2} for row in TABLE]
    verdict = stability(count, table, unit="patient", hostile=[[{**row, "days": 9} for row in STRANGE]])
    assert (verdict.holds, verdict.moved, verdict.sensitivity) == (True, 5, 5)
