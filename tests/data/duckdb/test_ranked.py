"""What DuckDB counts by rank is what it counts under a bound, for one lot; and one unit moves its own part only."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest

import lastbit as lb
from lastbit.audit import stability
from lastbit.data.duckdb.ranked import count_ranked, count_ranked_unlisted
from lastbit.data.duckdb.relation import OpenTable
from lastbit.data.per_unit import rank_per_unit
from lastbit.values.contribution_bound import one_key

ITEMS = [f"item {place}" for place in range(9)]
ROWS = [(unit, ITEMS[(unit * 5 + n * n) % 9], (unit * n) % 8 - 2) for unit in range(40) for n in range(unit % 7 + 1)]
"""A unit, an item and a weight: units with one to seven rows, some of them in the same item."""
KEYS = [1, 2, 3, 2**62 + 5]
SPREAD = [(1, 1), (2, 3), (4, None)]


@pytest.fixture
def table() -> Any:
    connection = duckdb.connect(config={"threads": 2})
    connection.execute("create table visits (u integer, item varchar, w integer)")
    connection.executemany("insert into visits values (?, ?, ?)", ROWS)
    yield OpenTable(connection.table("visits"), connection)
    connection.close()


def counts(values: Any) -> list[Any]:
    return [int(value) for value in values.values]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("most", [1, 2, 5, 9])
def test_a_bound_on_ranks_keeps_what_a_bound_on_items_keeps(most: int, key: int, table: Any) -> None:
    listed: dict[str, Any] = {"by": "item", "unit": "u", "domain": ITEMS[1:]}
    sums: dict[str, Any] = {**listed, "weights": "w", "bounds": (-1, 3)}
    with one_key(key):
        for options in (listed, sums):
            ranked = count_ranked(table, **options).keep_first(most)
            plain = lb.count(table, **options, most_items=most)
            assert counts(ranked) == counts(plain)
            facts = ("sensitivity", "monotone", "most_items", "resolution")
            assert [getattr(ranked, name) for name in facts] == [getattr(plain, name) for name in facts]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("most", [1, 2, 5])
def test_items_that_nobody_listed_are_kept_alike(most: int, key: int, table: Any) -> None:
    unlisted: dict[str, Any] = {"by": "item", "unit": "u"}
    sums: dict[str, Any] = {**unlisted, "weights": "w", "bounds": (0, 3)}
    with one_key(key):
        for options in (unlisted, sums):
            ranked = count_ranked_unlisted(table, **options, most=most).keep_first(most).highest(None)
            plain = lb.count(table, **options, domain=lb.UNKNOWN, most_items=most).highest(None)
            assert [list(column) for column in ranked] == [list(column) for column in plain]


@pytest.mark.parametrize("bounds", [(-1, 3), (0, 3), (0, 5), (-9, 1)])
@pytest.mark.parametrize("unit", ["u", None])
def test_each_unit_is_clamped_once_whatever_the_number_of_items(
    bounds: tuple[int, int], unit: str | None, table: Any
) -> None:
    """Above where a row is, or the total of an item; otherwise below where one is; and only in listed items."""
    low, high = bounds
    totals: dict[Any, dict[str, int]] = {}
    beyond: dict[Any, set[int]] = {}
    for place, (person, item, weight) in enumerate(ROWS):
        who = place if unit is None else person
        if item in ITEMS[1:]:
            own = totals.setdefault(who, {})
            own[item] = own.get(item, 0) + max(low, min(high, weight))
            beyond.setdefault(who, set()).add((weight > high) - (weight < low))
    for who, sums in totals.items():
        beyond[who] |= {(total > high) - (total < low) for total in sums.values()}
    expected = [sum(-1 in sides and 1 not in sides for sides in beyond.values()), sum(1 in s for s in beyond.values())]
    options: dict[str, Any] = {"by": "item", "unit": unit, "domain": ITEMS[1:], "weights": "w", "bounds": bounds}
    ranked = count_ranked(table, **options)
    assert counts(ranked.clamped_people) == expected
    assert counts(ranked.keep_first(9)) == counts(lb.count(table, **options))
    if unit is not None and low == 0:
        listed = ", ".join(f"'{item}'" for item in ITEMS[1:])
        some = OpenTable(table.relation.filter(f"item IN ({listed})"), table.connection)
        unlisted = count_ranked_unlisted(some, by="item", unit="u", most=1, weights="w", bounds=bounds)
        assert counts(unlisted.clamped_people) == expected


def test_the_lot_is_another_one_with_another_key(table: Any) -> None:
    seen = set()
    for key in range(1, 9):
        with one_key(key):
            seen.add(tuple(counts(count_ranked(table, by="item", unit="u", domain=ITEMS).keep_first(1))))
    assert len(seen) == 8


def test_no_item_is_named_beyond_the_rank(table: Any) -> None:
    with one_key(5):
        ranked = count_ranked_unlisted(table, by="item", unit="u", most=2)
    assert (ranked.places[ranked.ranks > 2] == -1).all()
    assert (ranked.places[ranked.ranks <= 2] >= 0).all()
    # All ranks say how many items units have, also those beyond.
    sizes = Counter(len({item for unit, item, _ in ROWS if unit == other}) for other in range(40))
    for everybody in (ranked, count_ranked(table, by="item", unit="u", domain=ITEMS)):
        assert dict(enumerate(everybody.numbers_of_items.tolist())) == {n: sizes[n] for n in range(max(sizes) + 1)}


def parse(line: bytes) -> tuple[bytes, bytes, bytes]:
    unit, item, weight = line.split(b",")
    return unit, item, weight


LINES = [b"%d,item %d,%d" % (i % 12, i * i % 9, i % 8 - 2) for i in range(40)]
HOSTILE = [[b"99,item %d,%d" % (n % 9, 10**n) for n in range(15)], [b"99,item 1,-999", b"99,item 2,999", b"99,item 3,"]]
READERS: dict[str, Any] = {
    "counts": lambda table: count_ranked(table, by="item", unit="u", domain=ITEMS).keep_first(2),
    "spread": lambda table: count_ranked(table, by="item", unit="u", domain=ITEMS).spread(SPREAD),
    "sums": lambda table: count_ranked(
        table, by="item", unit="u", domain=ITEMS, weights="w", bounds=(-1, 3)
    ).keep_first(2),
    "unlisted": lambda table: count_ranked_unlisted(table, by="item", unit="u", most=3).keep_first(2),
    "spread of unlisted": lambda table: count_ranked_unlisted(table, by="item", unit="u", most=1).spread(SPREAD),
    "clamped sums": lambda table: count_ranked(
        table, by="item", unit="u", domain=ITEMS, weights="w", bounds=(-1, 3)
    ).clamped_people,
    "clamped sums of unlisted": lambda table: count_ranked_unlisted(
        table, by="item", unit="u", most=2, weights="w", bounds=(0, 3)
    ).clamped_people,
    "clamped rows": lambda table: numbers(table, per="row", most_rows=2).clamped_people,
    "clamped means": lambda table: numbers(table).clamped_people,
    "clamped in groups": lambda table: numbers(table, by="item", domain=ITEMS).clamped_people,
    "spread of rows": lambda table: numbers(table, per="row", most_rows=2).spread(SPREAD),
}  # fmt: skip


def numbers(table: Any, **options: Any) -> Any:
    return rank_per_unit(table, of="w", unit="u", bounds=(-1, 3), **options)


@pytest.mark.parametrize("reader", READERS)
def test_one_unit_moves_its_own_part_only(reader: str, tmp_path: Path) -> None:
    """Also one with numbers on both sides of the bounds, and one with many rows beyond one of them."""

    def count(lines: list[bytes]) -> Any:
        rows = [parse(line) for line in lines]
        connection = duckdb.connect(config={"threads": 1})
        connection.execute("create table visits (u varchar, item varchar, w bigint)")
        for unit, item, weight in rows:
            connection.execute(
                "insert into visits values (?, ?, try_cast(? as bigint))",
                [unit.decode(), item.decode(), weight.decode()],
            )
        return READERS[reader](OpenTable(connection.table("visits"), connection))

    verdict = stability(count, LINES, unit=lambda line: line.split(b",")[0], hostile=HOSTILE)
    assert verdict.holds, str(verdict)
    assert verdict.moved


def test_a_unit_is_clamped_once_whatever_it_has(tmp_path: Path) -> None:
    connection = duckdb.connect(config={"threads": 1})
    rows = [("a", 9), ("a", 8), ("b", -5), ("b", -6), ("c", -5), ("c", 7), ("d", 1), ("d", 3), ("e", -1)]
    rows += [(unit, number) for unit in "fghijkl" for number in (0, 9)]
    connection.execute("create table visits (u varchar, w bigint)")
    connection.executemany("insert into visits values (?, ?)", rows)
    table = OpenTable(connection.table("visits"), connection)
    for per, most in (("row", {"most_rows": 1}), ("row", {"most_rows": 2}), ("mean", {})):
        # c has numbers on both sides, and counts above. Seven have one number above, whatever the lot is.
        assert counts(numbers(table, per=per, **most).clamped_people) == [1, 9]
    # The totals are 17, -11, 2, 4, -1 and 9.
    assert counts(numbers(table, per="total").clamped_people) == [1, 9]


@pytest.mark.parametrize("most", [1, 2, 7])
def test_numbers_are_bounded_by_their_ranks(most: int, table: Any) -> None:
    """The rows of a unit that stay are drawn by lot: no more than so many, each of them its own, and each once."""
    with one_key(3):
        bounded = numbers(table, per="row", most_rows=most).keep_first(most)
        groups = numbers(table, by="item", domain=ITEMS).keep_first(most)
    sizes = [unit % 7 + 1 for unit in range(40)]
    assert (len(bounded), bounded.most) == (sum(min(size, most) for size in sizes), most)
    assert bounded.total(1).sensitivity == 3 * most
    items = [len({item for unit, item, _ in ROWS if unit == other}) for other in range(40)]
    assert len(groups) == sum(min(size, most) for size in items)
