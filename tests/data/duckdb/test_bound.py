"""The pairs that DuckDB keeps under a bound are those that sorting keeps, also where marks are equal."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import groupby, islice
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import lastbit as lb
from lastbit.data.duckdb import bound
from lastbit.data.duckdb import table as duckdb_table
from lastbit.values.contribution_bound import ContributionBound
from tests.data.cases import count_pair_by_pair

KEYS = ("lastbit_key_0", "lastbit_key_1")
UNITS = [(unit, unit * 7 % 24 + 1) for unit in range(30)]
"""Units with 1 to 24 items."""

MARKS = {
    "different": bound.hash_sql(KEYS, 11),
    "equal": "CAST(5 AS BIGINT)",
    "of three": "CAST((hash(lastbit_unit, lastbit_key_0) >> 1) % 3 AS BIGINT)",
    "the ends": "CASE WHEN hash(lastbit_unit, lastbit_key_0) % 2 = 0 THEN 0 ELSE 9223372036854775807 END",
}
WAYS = {"as it is": (16, 10**6), "counted first": (0, 10**6), "sorted": (16, 0), "at a change": (8, 14)}


ROWS = [(unit, str((n * 5 + unit) % 24).encode(), n % 2, unit * n) for unit, many in UNITS for n in range(many)]
"""The unit, two columns of the item, and a weight."""


@pytest.fixture(scope="module")
def pairs() -> Any:
    connection = duckdb.connect(config={"threads": 2, "default_order": "desc", "default_null_order": "nulls_first"})
    names = ("lastbit_unit", *KEYS, "lastbit_step")
    connection.register("given", pa.table(dict(zip(names, zip(*ROWS, strict=True), strict=True))))
    connection.execute("create table pairs as from given")
    yield connection.table("pairs")
    assert not connection.execute("select view_name from duckdb_views() where view_name like 'lastbit%'").fetchall()


def check(pairs: Any, mark: str, many: tuple[int, ...]) -> None:
    marks = dict(pairs.project(f"(lastbit_unit, lastbit_key_0), {mark}").fetchall())
    rows = sorted(ROWS, key=lambda row: (row[0], marks[row[:2]], row))
    for most in many:
        expected = [row[1:] for _, own in groupby(rows, lambda row: row[0]) for row in islice(own, most)]
        with ExitStack() as closing:
            found = bound.keep_items(pairs, KEYS, ["lastbit_step"], ContributionBound(most, 11), closing).fetchall()
        assert sorted(found) == sorted(expected)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MARKS)
def test_the_pairs_that_stay(name: str, way: str, pairs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bound, "hash_sql", lambda keys, key: MARKS[name])
    monkeypatch.setattr(bound, "_SHORT", WAYS[way][0])
    monkeypatch.setattr(bound, "_LONGEST", WAYS[way][1])
    check(pairs, MARKS[name], (1, 2, 7, 8, 12, 13, 23, 24))


def test_bounds_that_the_engine_has_another_way_for(pairs: Any) -> None:
    check(pairs, MARKS["different"], (15, 16, 17, 10**6 - 2, 10**6 - 1, 10**6, 2**62))


def test_the_mark_depends_on_the_unit_the_item_and_the_key() -> None:
    rows = duckdb.connect().sql(
        "select * from (values (1, 'a', 0), (2, 'a', 0), (1, 'b', 0), (1, 'a', 1)) as t(u, a, b)"
    )
    rows = rows.project(f"u as lastbit_unit, a as {KEYS[0]}, b as {KEYS[1]}")
    marks = [row[0] for key in (0, 1, 2**63 - 1) for row in rows.project(bound.hash_sql(KEYS, key)).fetchall()]
    assert len(set(marks)) == 12
    assert min(marks) >= 0


def test_the_engine_has_lists_for_all_bounds_but_those_that_sort() -> None:
    pairs = duckdb.connect().sql("select 1 as lastbit_unit, 5 as lastbit_mark")
    for most in (1, 10**6 - 2, 10**6 - 1, 10**6):
        query = bound._crowded_units(most).split("SEMI JOIN")[0]
        assert ("min(" in query) == (most < 10**6 - 1)
        if "min(" in query:  # on a row, where the engine looks at the length
            assert pairs.aggregate(f"min(lastbit_mark, {most + 1})").fetchall() == [([5],)]


@pytest.mark.parametrize("filtered", [0, 100_000])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_items_that_are_not_in_the_domain_use_up_no_bound(
    most: int, filtered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    count_pair_by_pair(monkeypatch)  # units with few items have a way of their own
    monkeypatch.setattr(duckdb_table, "_FILTERED", filtered)
    rows = [(unit, item) for unit in range(40) for item in "abcdefghij"]
    frame = pa.table({"unit": [unit for unit, _ in rows], "item": [item for _, item in rows]})
    for table in (frame, duckdb.connect().from_arrow(frame)):
        counts = lb.count(table, by="item", unit="unit", domain=["a", "b"], most_items=most)
        assert sum(counts.values) == 40 * min(most, 2)
        assert counts.most_items == most


def test_nobody_knows_beforehand_which_items_stay() -> None:
    keys = [ContributionBound.draw(1).key for _ in range(3)]
    assert len({*keys}) == 3
    assert all(0 <= key < 1 << 63 for key in keys)
