"""Counts by rank: bounded at any rank later, they are what people with these lots count for, person by person."""

from __future__ import annotations

import itertools
import pickle
from collections import Counter
from typing import Any

import numpy as np
import pytest

import lastbit as lb
from lastbit.values.ranked import RankedCounts, RankedUnlisted

ITEMS = ("x", "y", "z")
LOTS = [lot for size in range(4) for lot in itertools.permutations(range(3), size)]
"""Every order in which somebody's items can count."""
PEOPLE = [[lot] * (1 + place % 3) for place, lot in enumerate(LOTS)]
EVERYBODY = [lot for lots in PEOPLE for lot in lots]
CLASSES = [(1, 1), (2, 2), (3, None)]


def rank(lots: list[tuple[int, ...]]) -> tuple[Any, Any, Any]:
    """The place, the rank and the number of people, as a reader counts them."""
    seen = Counter((place, rank) for lot in lots for rank, place in enumerate(lot, start=1))
    places, ranks = (np.array(column, np.int64) for column in zip(*seen, strict=True))
    return places, ranks, np.array(list(seen.values()), np.int64)


@pytest.mark.parametrize("most", [1, 2, 3, 9])
def test_a_person_counts_in_the_first_items_of_their_lot(most: int) -> None:
    counted = Counter(place for lot in EVERYBODY for place in lot[:most])
    bounded = RankedCounts(ITEMS, *rank(EVERYBODY)).keep_first(most)
    assert bounded.values.tolist() == [counted[place] for place in range(3)]
    assert (bounded.sensitivity, bounded.monotone, bounded.most_items) == (1, True, most)


@pytest.mark.parametrize("most", [1, 2, 3])
def test_sums_are_of_the_same_items(most: int) -> None:
    """The weight of somebody in an item is ten times the item's place, and one."""
    places, ranks, units = rank(EVERYBODY)
    totals = np.array([int(n) * (10 * int(place) + 1) for n, place in zip(units, places, strict=True)], object)
    ranked = RankedCounts(
        ITEMS, places, ranks, units, totals, lambda sums, most: lb.Counts(items=ITEMS, values=sums, most_items=most)
    )
    expected = [sum(10 * place + 1 for lot in EVERYBODY if place in lot[:most]) for place in range(3)]
    assert list(ranked.keep_first(most).values) == expected


def test_the_ranks_say_how_many_items_people_have() -> None:
    ranked = RankedCounts(ITEMS, *rank(EVERYBODY))
    sizes = Counter(map(len, EVERYBODY))
    assert ranked.numbers_of_items.tolist() == [0, *(sizes[size] for size in (1, 2, 3))]
    assert sorted(ranked.items_per_person) == sorted(size for size in map(len, EVERYBODY) if size)
    spread = ranked.spread(CLASSES)
    assert spread.values.tolist() == [sizes[1], sizes[2], sizes[3]]
    assert ranked.spread([(1, 2), (3, 9)]).values.tolist() == [sizes[1] + sizes[2], sizes[3]]


@pytest.mark.parametrize("lot", LOTS)
def test_somebody_who_comes_is_in_one_class_and_in_few_counts(lot: tuple[int, ...]) -> None:
    before, after = (RankedCounts(ITEMS, *rank(lots)) for lots in (EVERYBODY, [*EVERYBODY, lot]))
    moved = np.array(after.spread(CLASSES).values) - np.array(before.spread(CLASSES).values)
    assert sorted(moved.tolist()) == [0, 0, 1 if lot else 0]
    for most in (1, 2):
        steps = np.array(after.keep_first(most).values) - np.array(before.keep_first(most).values)
        assert steps.tolist() == [int(place in lot[:most]) for place in range(3)]


def test_nobody_is_counted_in_an_empty_table() -> None:
    none = np.zeros(0, np.int64)
    ranked = RankedCounts(ITEMS, none, none, none)
    assert ranked.keep_first(1).values.tolist() == [0, 0, 0]
    assert ranked.spread(CLASSES).values.tolist() == [0, 0, 0]
    assert len(ranked.items_per_person) == 0


@pytest.mark.parametrize("most", [1, 2])
def test_items_that_nobody_listed_are_named_up_to_a_rank_only(most: int) -> None:
    """At ranks beyond, a reader says how many people there are, and no item (place -1)."""
    places, ranks, units = rank(EVERYBODY)
    places = np.where(ranks <= 2, places, -1)
    ranked = RankedUnlisted(ITEMS, places, ranks, units)
    counted = Counter(ITEMS[place] for lot in EVERYBODY for place in lot[:most])
    items, steps = ranked.keep_first(most).highest(None)
    assert dict(zip(items, steps.tolist(), strict=True)) == counted
    assert list(items) == sorted(counted, key=lambda item: (-counted[item], item))
    assert ranked.keep_first(most).most_items == most
    assert (
        ranked.spread(CLASSES).values.tolist() == RankedCounts(ITEMS, *rank(EVERYBODY)).spread(CLASSES).values.tolist()
    )


@pytest.mark.parametrize("parts", [1, 3, 10])
def test_sums_of_unlisted_items_are_floored_once(parts: int) -> None:
    totals = np.array([29, 30, 31, 2, 5], object)
    places, ranks = np.array([0, 1, 2, 0, 1]), np.array([1, 1, 1, 2, 2])
    ranked = RankedUnlisted(ITEMS, places, ranks, np.ones(5, np.int64), totals, parts=parts)
    items, steps = ranked.keep_first(2).highest(None)
    expected = {item: total // parts for item, total in zip(ITEMS, (31, 35, 31), strict=True)}
    assert dict(zip(items, steps.tolist(), strict=True)) == expected


def test_private_numbers_are_neither_shown_nor_written_down() -> None:
    ranked = RankedCounts(ITEMS, *rank([(0, 1)] * 77))
    assert "77" not in repr(ranked)
    with pytest.raises(lb.LastbitError, match="not written down"):
        pickle.dumps(ranked)
