"""The items with the most units by fewer units to count: the same items as by all of them, on tables read again."""

from __future__ import annotations

from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lastbit as lb
from lastbit.data.duckdb import frequent
from lastbit.data.duckdb.relation import ColumnSelection
from lastbit.data.files.open_table import open_table
from lastbit.data.query.plan import RowPlan

PAIR = ColumnSelection(("item", "unit"))


def by_definition(rows: list[tuple[int, int, int]], most: int) -> list[tuple[int, int, int]]:
    units = defaultdict(set)
    for first, second, unit in rows:
        units[first, second].add(unit)
    return sorted(((*item, len(found)) for item, found in units.items()), key=lambda each: (-each[2], each))[:most]


def test_the_items_are_those_of_the_definition_and_rows_are_read_two_or_three_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(frequent, "_MORE", 2)
    chance, readings, engine = Random(1), set(), duckdb.connect(config={"threads": 1})
    # Some items have many rows of few units, so that rows mislead.
    tables = [[(0, 0, unit) for unit in range(9)] + [(1, b, 1) for b in range(3)] * 9 + [(0, 1, u) for u in range(5)]]
    for _ in range(40):
        items = [(chance.randrange(3), chance.randrange(3), chance.choice((1, 2, 9))) for _ in range(6)]
        tables.append([(a, b, chance.randrange(n)) for a, b, n in items for _ in range(chance.choice((1, 3, 9)))])
    tables.append([(0, b, unit) for b in range(3) for unit in range(9 - 4 * b)] + [(1, b, 0) for b in range(9)])
    for rows, most in zip(tables, (2, *(1, 2, 3, 8) * 10, 1), strict=True):
        # Many items with one row: half of the items or more are not asked for one by one.
        rows += [(chance.randrange(2), b, 0) for b in range(3, chance.choice((3, 30)))]
        told = engine.from_arrow(pa.table(dict(zip(("a", "b", "lastbit_unit"), zip(*rows, strict=True), strict=True))))
        read: list[int] = []

        def again(read: list[int] = read, told: Any = told) -> Any:
            kept = engine.execute("SELECT count(*) FROM duckdb_tables()").fetchall()
            read.append(kept[0][0])
            return told

        with ExitStack() as closing:
            found = frequent.find_frequent(again, ["a", "b"], "a < 2", most, engine, closing)
            ranked = found.order("lastbit_total DESC, a ASC, b ASC").limit(most).fetchall()
        assert ranked == by_definition([row for row in rows if row[0] < 2], most)
        readings.add(tuple(read))
    # The tables that are kept at each reading: none where all units are counted, for which memory may be short.
    assert readings == {(0, 0), (0, 1), (0, 1, 1), (0, 1, 2)}
    assert engine.execute("SELECT * FROM duckdb_tables()").fetchall() == []
    assert engine.execute("SELECT * FROM duckdb_views() WHERE NOT internal").fetchall() == []


def write(path: Path, items: list[str], units: list[int]) -> None:
    pq.write_table(pa.table({"item": items, "unit": units}), path)


def test_files_and_tables_are_read_again_where_they_have_the_same_rows(tmp_path: Path) -> None:
    for place, items in (("a.parquet", ["x", "x", "y"]), ("b.parquet", ["y", "z", "z"])):
        write(tmp_path / place, items, [1, 2, 1 if place == "a.parquet" else 3])
    (tmp_path / "c.csv").write_text("item,unit\ny,4\n")
    pq.write_table(pa.table({"item": ["x", "y"], "unit": ["5", "5"]}), tmp_path / "e.parquet")
    with duckdb.connect(tmp_path / "d.duckdb") as engine:
        engine.execute("CREATE TABLE kept AS SELECT 'y' AS item, 1 AS unit")
        engine.execute("CREATE VIEW seen AS SELECT * FROM kept WHERE random() < 2")
        engine.execute("CREATE TABLE made (unit INT, item AS (CASE WHEN random() < 2 THEN 'y' END))")
        engine.execute("INSERT INTO made VALUES (1)")
        engine.execute("CREATE SCHEMA other")
        engine.execute("CREATE TABLE other.seen AS FROM kept")

    def at(*names: str, table: str | None = None, plan: RowPlan | None = None) -> Any:
        return open_table([str(tmp_path / name) for name in names], PAIR, table, plan=plan)

    both = at("a.parquet", "b.parquet")
    assert sorted(both.again().fetchall()) == sorted(both.again().fetchall()) == sorted(both.relation.fetchall())
    counts = lb.count(at("a.parquet", "b.parquet"), by="item", unit="unit", domain=lb.UNKNOWN)
    assert counts.highest(2)[0] == ("x", "z")
    filtered = at("a.parquet", plan=RowPlan.of(where="item <> 'x'"))
    assert lb.count(filtered, by="item", unit="unit", domain=lb.UNKNOWN).highest(2)[0] == ("y",)
    for table in ("kept", "other.seen"):
        assert at("d.duckdb", table=table).again is not None
    for once in (at("c.csv"), at("e.parquet", "c.csv"), at("d.duckdb", table="seen"), at("d.duckdb", table="made")):
        assert once.again is None
        assert lb.count(once, by="item", unit="unit", domain=lb.UNKNOWN).highest(1)[0] == ("y",)


@pytest.mark.parametrize("item", [["x"], [1]], ids=["text", "numbers"])
def test_a_file_that_changes_between_two_readings_is_refused(item: list[Any], tmp_path: Path) -> None:
    path = tmp_path / "visits.parquet"
    write(path, item, [1])
    source = open_table(str(path), PAIR)
    source.check()
    write(path, item * 2, [1, 2])
    with pytest.raises(lb.DataError, match="changed while it was read"):
        source.check()
    path.unlink()
    with pytest.raises(lb.DataError, match="changed while it was read"):
        source.check()
