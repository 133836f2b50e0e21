"""Units whose few items are bits of a word: the same counts as pair by pair, and lots by a unit's own rows."""

from __future__ import annotations

from collections import Counter
from typing import Any

import duckdb
import numpy as np
import pytest

from lastbit import count
from lastbit.data._lots import count_ranks
from lastbit.data.duckdb import table as duckdb_table
from lastbit.data.memory.hashing import mix_bits
from lastbit.values.contribution_bound import one_key

ROWS = [(unit, item) for unit in range(40) for item in range(70) if (unit * 7 + item * 13) % 5 < 2]


def relation(rows: Any = ROWS) -> Any:
    values = ", ".join(f"({unit}, {item}, 'i{item}')" for unit, item in rows)
    extra = "(NULL, 1, 'i1'), (3, NULL, NULL), (4, 99, 'other')"
    return duckdb.sql(f"SELECT * FROM (VALUES {values}, {extra}) AS t(unit, item, text)")


@pytest.mark.parametrize("size", [1, 2, 62, 63, 64, 65])
def test_both_sides_of_a_word_count_alike(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers, texts = range(size), [f"i{item}" for item in range(size)]
    expected = [len({unit for unit, item in ROWS if item == place}) for place in numbers]
    assert count(relation(), by="item", unit="unit", domain=numbers).values.tolist() == expected
    assert count(relation(), by="text", unit="unit", domain=texts).values.tolist() == expected
    assert count(relation(), by="item", unit="unit", domain=[*numbers][::-1]).values.tolist() == expected[::-1]
    monkeypatch.setattr(duckdb_table, "can_mask", lambda *_: False)
    assert count(relation(), by="text", unit="unit", domain=texts).values.tolist() == expected


def test_two_columns_are_one_word() -> None:
    domain = [[0, 1, 2], ["i2", "i0"]]
    counted = count(relation(), by=["item", "text"], unit="unit", domain=domain)
    people = [len({unit for unit, item in ROWS if item == place}) for place in range(3)]
    assert counted.values.tolist() == [0, people[0], 0, 0, people[2], 0]


def test_no_rows_are_no_people() -> None:
    empty = relation().filter("unit = 1000")
    for most in (None, 1):
        assert count(empty, by="item", unit="unit", domain=[1, 2], most_items=most).values.tolist() == [0, 0]


@pytest.mark.parametrize("most", [1, 3, 63])
def test_a_bound_keeps_the_first_items_of_each_unit_alone(most: int) -> None:
    """A unit that leaves takes its own items with it: at most so many, and nobody else's."""
    with one_key(7):
        together = count(relation(), by="item", unit="unit", domain=range(63), most_items=most).values
        for gone in (0, 17, 39):
            others = [row for row in ROWS if row[0] != gone]
            without = count(relation(others), by="item", unit="unit", domain=range(63), most_items=most).values
            own = together - without
            items = {item for unit, item in ROWS if unit == gone and item < 63}
            assert own.min() >= 0
            assert own.max() <= 1
            assert own.sum() == min(most, len(items))
            assert {*np.flatnonzero(own).tolist()} <= items


def test_ranks_are_those_of_sorted_hashes() -> None:
    chance = np.random.default_rng(5)
    for size in (1, 5, 63):
        masks = chance.integers(0, 1 << size, 200)
        units = chance.integers(0, 1 << 63, 200).astype(np.uint64)
        items = chance.integers(0, 1 << 63, size).astype(np.uint64)
        items[-1] = items[0]  # two items with one hash: the first comes first
        expected: Counter[tuple[int, int]] = Counter()
        for mask, unit in zip(masks.tolist(), units, strict=True):
            own = [place for place in range(size) if mask >> place & 1]
            marks = mix_bits(items ^ unit)
            expected.update(enumerate(sorted(own, key=lambda place: int(marks[place]))))
        found = count_ranks(masks, units, items)
        ranks = {(rank, place): int(found[place, rank]) for place, rank in zip(*found.nonzero(), strict=True)}
        assert ranks == {(rank, place): number for (rank, place), number in expected.items()}


def test_lots_are_fair() -> None:
    """Of units with all items, every item is first about as often: on one tape of keys, with room to spare."""
    units = np.arange(30_000, dtype=np.uint64)
    counts = count_ranks(np.full(30_000, 7), mix_bits(units + np.uint64(1)), mix_bits(np.arange(1, 4, dtype=np.uint64)))
    assert (abs(counts - 10_000) < 500).all()
