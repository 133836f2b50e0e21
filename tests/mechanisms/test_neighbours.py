"""The auditor's neighbours are as wide as the claim: all that one person can make, found once more by trying all.

The auditor tries these and no others, so a fault that shows on a missing one is never found.
"""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product
from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from tests.mechanisms.test_mechanism import all_mechanisms

ONE = {"epsilon": 1}
POINTS = (0, 1, 2)


def after_one_person(before: tuple[Any, ...], most: int, points: tuple[Any, ...] = POINTS) -> set[tuple[Any, ...]]:
    """All multisets over the points that hold up to so many numbers more than these, or fewer, of one person."""
    found = set()
    for size in range(len(before) + most + 1):
        for after in combinations_with_replacement(points, size):
            more, less = Counter(after) - Counter(before), Counter(before) - Counter(after)
            if not (more and less) and 0 < (more + less).total() <= most:
                found.add(after)
    return found


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("before", [(), (1,), (0, 2, 2)])
@pytest.mark.parametrize("kind", [lb.Quantile, lambda **more: lb.Quantiles(qs=["1/3", "1/2"], **more)])
def test_quantiles(kind: Any, before: tuple[int, ...], most: int) -> None:
    tried = kind(bounds=(0, 2), resolution=1, most_values=most, **ONE).neighbours(before)
    assert {tuple(sorted(map(int, after))) for after in tried} == after_one_person(before, most)


def pairs_of(values: Any) -> tuple[Any, ...]:
    """Every number with its group, in order."""
    return tuple(sorted((group, int(number)) for group, numbers in values.items() for number in numbers))


@pytest.mark.parametrize("most", [1, 2])
def test_quantiles_of_groups(most: int) -> None:
    """A person has up to `most` numbers in all groups together: a point is a group with a number."""
    before = {"a": [0, 2], "b": [1]}
    mechanism = lb.GroupQuantiles(groups=["a", "b"], bounds=(0, 2), resolution=1, most_values=most, **ONE)

    expected = after_one_person(pairs_of(before), most, tuple(product("ab", POINTS)))
    assert {pairs_of(after) for after in mechanism.neighbours(before)} == expected


@pytest.mark.parametrize(("groups", "rows"), [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_means_of_groups(groups: int, rows: int) -> None:
    """A person has `rows` numbers in each of so many groups, or in all groups together."""
    before = {"a": [0, 2], "b": [1]}
    bounds = {"most_items": groups, "most_rows": rows}
    mechanism = lb.GroupMeans(groups=["a", "b", "c"], bounds=(0, 2), resolution=1, **bounds, **ONE)
    expected = set()
    for after in after_one_person(pairs_of(before), groups * rows, tuple(product("abc", POINTS))):
        one, other = Counter(after), Counter(pairs_of(before))
        moved = Counter(group for group, _ in ((one - other) + (other - one)).elements())
        if moved.total() <= rows or (len(moved) <= groups and max(moved.values()) <= rows):
            expected.add(after)
    assert {pairs_of(after) for after in mechanism.neighbours(before)} == expected


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("before", [(), (1,), (-3, 0, 1, 2)])
def test_bounds_that_are_chosen(before: tuple[int, ...], most: int) -> None:
    """All that counts of a number is beyond which numbers of the list it lies."""
    tried = lb.AutomaticBounds(choices=[1, 2, 5], most_values=most, **ONE).neighbours(before)

    def numbers_beyond(values: Any) -> tuple[int, ...]:
        beyond = [sum(sign * value > y for value in values) for sign in (1, -1) for y in (0, 1, 2)]
        return (len(values), *beyond)

    expected = after_one_person(before, most, points=(-6, -3, -2, -1, 0, 1, 2, 3, 6))
    assert {numbers_beyond(after) for after in tried} == {numbers_beyond(after) for after in expected}


@pytest.mark.parametrize("most", [1, 2])
def test_means(most: int) -> None:
    """One comes or goes, or replaces one: up to so many numbers go, are missing, or are others."""
    tried = lb.NoisyMean(bounds=(0, 2), most_rows=most, **ONE).neighbours([0, 2])
    reached = {tuple(sorted(int(number) for number in after if number is not None)) for after in tried}
    expected = set()
    for size in range(2 + most + 1):
        for after in combinations_with_replacement(POINTS, size):
            more, less = Counter(after) - Counter((0, 2)), Counter((0, 2)) - Counter(after)
            # Who goes may come back with other numbers; who is new replaces nobody.
            if less.total() <= most and more.total() <= (less.total() or most):
                expected.add(after)
    assert reached | {(0, 2)} == expected


@pytest.mark.parametrize("bound", [1, 2, None])
@pytest.mark.parametrize("kind", ["DiscoverHistogram", "DiscoverRanking", "DiscoverTopK"])
def test_items_that_nobody_listed(kind: str, bound: int | None) -> None:
    """A person moves up to so many items, each by any amount up to the sensitivity; one of them may be new."""
    if kind == "DiscoverHistogram" and bound is None:
        pytest.skip("it needs a bound")
    more = {} if kind == "DiscoverHistogram" else {"k": 1}
    mechanism = getattr(lb, kind)(delta="1/10", sensitivity=2, resolution=1, most_items=bound, **more, **ONE)
    before = {"a": 3, "b": 1}
    values = lb.Unlisted.of(before, sensitivity=2, most_items=bound, resolution=1)
    reached = set()
    for after in mechanism.neighbours(values):
        items, steps = after.highest(None)
        counts = dict(zip(items, steps.tolist(), strict=True))
        fresh = [count for item, count in counts.items() if item not in before]
        reached.add((counts.get("a", 0), counts.get("b", 0), *fresh, *[0] * (1 - len(fresh))))
    expected = set()
    for moves in product(range(-2, 3), repeat=3):
        after = (3 + moves[0], 1 + moves[1], moves[2])
        some = sum(move != 0 for move in moves)
        same_way = min(moves) >= 0 or max(moves) <= 0
        if same_way and 0 < some <= (bound or 3) and min(after) >= 0:
            expected.add(after)
    assert reached == expected


@pytest.mark.parametrize("sensitivity", [1, 2, 3])
def test_sums_of_moves(sensitivity: int) -> None:
    moves = list(product(range(-sensitivity, sensitivity + 1), repeat=2))
    tried = lb.DiscreteLaplace(sensitivity=sensitivity, **ONE).neighbours([5, 7])
    assert set(tried) == {(5 + a, 7 + b) for a, b in moves if 0 < abs(a) + abs(b) <= sensitivity}
    squared = lb.DiscreteGaussian(rho=1, squared_sensitivity=sensitivity**2).neighbours([5, 7])
    assert set(squared) == {(5 + a, 7 + b) for a, b in moves if 0 < a * a + b * b <= sensitivity**2}


@pytest.mark.parametrize("monotone", [False, True])
def test_scores(monotone: bool) -> None:
    half = Fraction(1, 2)
    mechanism = lb.ExponentialMechanism(resolution=half, monotone=monotone, **ONE)
    moves = [(a * half, b * half) for a, b in product(range(-2, 3), repeat=2)]
    expected = {(a, 3 + b) for a, b in moves if (a or b) and (a * b >= 0 or not monotone)}
    assert set(mechanism.neighbours([0, 3])) == expected


@pytest.mark.parametrize("replaces", [False, True])
@pytest.mark.parametrize("most", [1, 2])
def test_tables(most: int, replaces: bool) -> None:
    mechanism = lb.Tables(domain={"sex": "fm"}, ways=1, rho=1, most_records=most, replaces=replaces)
    expected = set()
    for moves in product(range(-most, most + 1), repeat=2):
        after = (1 + moves[0], 2 + moves[1])
        moved = sum(map(abs, moves))
        allowed = sum(moves) == 0 and moved <= 2 * most if replaces else moved <= most and moves[0] * moves[1] >= 0
        if moved and allowed and min(after) >= 0:
            expected.add(after)
    assert set(mechanism.neighbours([1, 2])) == expected


def test_a_number_to_snap() -> None:
    """Numbers are rounded to whole sensitivities first: one person moves them by one."""
    for value, reached in ((3, {2, 4}), (0, {1}), (Fraction(17, 2), {7})):
        tried = lb.Snapping(bounds=(0, 8), **ONE).neighbours([value])
        assert {int(after) for (after,) in tried} == reached


ELSEWHERE = {
    "test_mechanism.py": {
        "NoisyMax", "NoisyTopK", "SelectAndMeasure", "SparseVector", "AdaptiveSparseVector", "SubsetTopK",
    },
    "../laws/test_group_top_k.py": {"GroupTopK"},
}  # fmt: skip
"""The files that compare with all in the same way."""
NONE = {"PrivateSelection", "PrivateSearch", "Parts"}
"""The data of two is in their candidates; that of the last in several inputs, and whoever makes them knows of whom."""


def test_no_mechanism_is_left_out() -> None:
    own = Path(__file__)
    elsewhere = {name: (own.parent / file).read_text() for file, names in ELSEWHERE.items() for name in names}
    for mechanism in all_mechanisms():
        name, text = mechanism.__name__, elsewhere.get(mechanism.__name__, own.read_text().partition("ELSEWHERE")[0])
        assert (name in NONE) == (mechanism.neighbours is lb.Mechanism.neighbours), name
        assert name in NONE or re.search(rf'lb\.{name}\b|"{name}"', text), f"nobody compares the neighbours of {name}"
        assert "test_neighbours_are_all" in text or "test_the_neighbours_are_all" in text or name not in elsewhere
