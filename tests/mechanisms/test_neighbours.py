"""The auditor's neighbours are as wide as the claim: all that one person can make, found once more by trying all.

The auditor tries these and no others, so a fault that shows on a missing one is never found.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product
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


@pytest.mark.parametrize("most", [1, 2])
def test_quantiles_of_groups(most: int) -> None:
    """A person has up to `most` numbers in all groups together: a point is a group with a number."""
    before = {"a": [0, 2], "b": [1]}
    mechanism = lb.GroupQuantiles(groups=["a", "b"], bounds=(0, 2), resolution=1, most_values=most, **ONE)

    def pairs(values: Any) -> tuple[Any, ...]:
        return tuple(sorted((group, int(number)) for group, numbers in values.items() for number in numbers))

    points = tuple(product("ab", POINTS))
    assert {pairs(after) for after in mechanism.neighbours(before)} == after_one_person(pairs(before), most, points)


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


ELSEWHERE = {
    "NoisyMax", "NoisyTopK", "SelectAndMeasure", "SparseVector", "SubsetTopK", "AdaptiveSparseVector", "Snapping",
    "AutomaticBounds", "GroupMeans", "GroupTopK", "PrivateSelection", "PrivateSearch", "Parts",
}  # fmt: skip
"""test_mechanism has the first five, and tests/laws the others: runs of queries, one number, coins, and parts."""


def test_no_mechanism_is_left_out() -> None:
    here = {
        "Quantile", "Quantiles", "GroupQuantiles", "NoisyMean", "DiscoverHistogram", "DiscoverRanking", "DiscoverTopK",
        "DiscreteLaplace", "DiscreteGaussian", "ExponentialMechanism", "Tables",
    }  # fmt: skip
    assert {mechanism.__name__ for mechanism in all_mechanisms()} <= here | ELSEWHERE
