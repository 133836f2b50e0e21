"""Which rows of a unit are among its first items, against the definition: marks that differ in few bits, and ties."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from lastbit.data.memory.bound import keep_items
from lastbit.data.memory.hashing import hash_pairs


def by_definition(places: list[int], units: list[int], marks: list[int], most: int) -> list[bool]:
    own: dict[int, set[tuple[int, int]]] = {}
    for place, unit, mark in zip(places, units, marks, strict=True):
        own.setdefault(unit, set()).add((mark, place))
    first = {unit: sorted(pairs)[:most] for unit, pairs in own.items()}
    return [(mark, place) in first[unit] for place, unit, mark in zip(places, units, marks, strict=True)]


@pytest.mark.parametrize("furthest", [0, 5, 2**33, 2**62])
def test_the_first_items_of_a_unit_are_those_of_the_definition(furthest: int) -> None:
    chance = Random(furthest)
    for most in (1, 2, 3) * 10:
        people = [0, furthest, furthest // 2, -furthest // 3]
        # Marks that only their lowest bits tell apart, or nothing: of these the items decide.
        of_pair = {(place, unit): chance.choice((0, 1, 2**62, 2**62 + 1)) for place in range(5) for unit in people}
        rows = [chance.choice(list(of_pair)) for _ in range(25)]
        places, units = [place for place, _ in rows], [unit for _, unit in rows]
        marks = [of_pair[row] for row in rows]
        kept = keep_items(np.array(places), np.array(units), np.array(marks, np.uint64), most)
        assert kept.tolist() == by_definition(places, units, marks, most)


def test_the_mark_of_a_pair_depends_on_both() -> None:
    words = np.arange(50, dtype=np.uint64)
    for items, units in ((words, words * 0), (words * 0, words), (words, words), (words, words[::-1])):
        assert len({*hash_pairs(items, units).tolist()}) == 50
