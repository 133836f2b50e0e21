"""Items that nobody listed: the exact smallest delta at epsilon, on all small data sets and all neighbours.

The laws come from the mechanism's own code on every branch, down to a tolerance. The smallest delta lies between two
fractions, which differ by what was left unexplored; the figures of the proof must lie between them.

`make fuzz` has time for larger tables: all counts up to 2, and all pairs where the law of one table takes seconds.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from random import Random

import numpy as np
import pytest

import lastbit as lb
from lastbit.audit.laws import Law
from lastbit.mechanisms.discover.histogram import _order_items, _pick_all, _sort_down
from lastbit.values.unlisted import sort_key

TOLERANCE = Fraction(1, 1000)
HALF = lb.Eta(1, 1, 1)
LONG = bool(os.environ.get("LASTBIT_FUZZ"))
"""Whether `make fuzz` runs, which has minutes."""

Data = tuple[tuple[str, int], ...]
Pair = tuple[Data, Data]


def data_sets(items: int, most: int) -> list[Data]:
    names = "abcdef"[:items]
    return [tuple(zip(names, counts, strict=True)) for counts in product(range(most + 1), repeat=items)]


def after_one_more(data: Data, most_items: int | None, weights: int = 1) -> Iterator[Data]:
    """The data sets with one person more, who has any of the items, or at most so many, each up to so many times."""
    for moves in product(range(weights + 1), repeat=len(data)):
        if 0 < sum(move > 0 for move in moves) <= (most_items or len(data)):
            yield tuple((name, count + move) for (name, count), move in zip(data, moves, strict=True))


def pairs(data: list[Data], most_items: int | None, weights: int = 1) -> list[Pair]:
    return [(before, after) for before in data for after in after_one_more(before, most_items, weights)]


@cache
def law_of(mechanism: lb.Mechanism, data: Data, unit: int, tolerance: Fraction = TOLERANCE, reach: int = 1) -> Law:
    bound = getattr(mechanism, "most_items", None)
    values = lb.Unlisted.of({name: count * unit for name, count in data}, sensitivity=unit * reach, most_items=bound)
    return lb.audit.law(mechanism.program(values), tolerance)


def smallest_delta(one: Law, other: Law, odds: Fraction) -> tuple[Fraction, Fraction]:
    """Between which fractions the largest P(S) - odds·Q(S) lies, over all events S."""
    ahead = sum(max(Fraction(0), mass - odds * other[outcome][0]) for outcome, mass in one.masses.items())
    return ahead - odds * other.unexplored, ahead + one.unexplored


def worst(
    mechanism: lb.Mechanism, neighbours: list[Pair], unit: int = 1, tolerance: Fraction = TOLERANCE, reach: int = 1
) -> tuple[Fraction, Fraction]:
    """The bounds of the smallest delta over these neighbours, both ways."""
    (odds, upper) = mechanism.cost.odds_bounds()
    assert odds == upper
    found = [
        smallest_delta(*(law_of(mechanism, each, unit, tolerance, reach) for each in pair), odds)
        for one, other in neighbours
        for pair in ((one, other), (other, one))
    ]
    return max(low for low, _ in found), max(high for _, high in found)


def bound(m: int, q: Fraction) -> Fraction:
    """1 - (1 - (1-q)^(m+1))/((m+1)·q): the probability that one of m items beats a bottom tau above them, exactly."""
    return 1 - (1 - (1 - q) ** (m + 1)) / ((m + 1) * q)


def top_k(k: int, candidates: int, most_items: int | None, tau: int, eta: lb.Eta, unit: int = 1) -> lb.DiscoverTopK:
    """The mechanism whose tau is this: the delta is the one that this tau keeps."""
    rate = lb.DiscoverTopK(k=k, eta=eta, delta="1/2", sensitivity=unit, resolution=1)._rate.fraction
    m = min(most_items or candidates, candidates)
    made = lb.DiscoverTopK(
        k=k, candidates=candidates, most_items=most_items, eta=eta, delta=min(m * rate**tau / 2, Fraction(999, 1000)),
        sensitivity=unit, resolution=1,
    )  # fmt: skip
    assert made.tau == tau
    return made


QUARTER = lb.Eta(1, 2, 1)

# Items, k, candidates, items a person, tau, eta, and the smallest delta at that eta, worked out by hand from the proof:
# attained wherever one person can change as many candidates as there are.
FIGURES = [
    (3, 1, 1, 1, 3, HALF, Fraction(1, 16)),
    (3, 1, 1, 3, 3, HALF, Fraction(1, 16)),
    (3, 1, 2, 1, 3, HALF, Fraction(47, 768)),
    (3, 1, 2, 3, 3, HALF, Fraction(23, 192)),
    (3, 2, 2, 1, 4, QUARTER, Fraction(1, 32)),
    (3, 2, 2, 3, 4, QUARTER, Fraction(47, 768)),
]


@pytest.mark.parametrize(("items", "k", "candidates", "bounded", "tau", "eta", "figure"), FIGURES)
def test_the_smallest_delta_of_a_top_k_is_what_the_proof_says(
    items: int, k: int, candidates: int, bounded: int, tau: int, eta: lb.Eta, figure: Fraction
) -> None:
    mechanism = top_k(k, candidates, None if bounded == items else bounded, tau, eta)
    low, high = worst(mechanism, pairs(data_sets(items, 2 if LONG else 1), mechanism.most_items))
    assert low <= figure <= high <= low + 6 * TOLERANCE
    assert figure <= bound(min(bounded, candidates), Fraction(1, 2) ** tau) <= mechanism.cost.delta <= mechanism.delta
    # The stated delta is m·q/2 rounded up, hardly more than the exact one.
    assert mechanism.cost.delta - min(bounded, candidates) * Fraction(1, 2) ** tau / 2 < Fraction(1, 1 << 60)


# Where one law takes a second: items, the most of each, k, candidates, tau, eta, the rate, the value of one person's
# item, how many of it one person may have, one over the tolerance, and the smallest delta. It is attained where the
# first person comes and fills all candidates. `make fuzz` tries all data sets and neighbours.
LARGER = [
    (3, 2, 1, 3, 3, HALF, Fraction(1, 2), 1, 1, 100, Fraction(353, 2048)),
    (4, 1, 2, 3, 4, QUARTER, Fraction(1, 2), 1, 1, 100, Fraction(1473, 16384)),
    (3, 2, 2, 2, 3, lb.Eta(3, 2, 4), Fraction(3, 4), 2, 1, 200, Fraction(1485, 4096)),
    (3, 2, 1, 2, 3, QUARTER, Fraction(1, 2), 1, 2, 500, Fraction(23, 192)),
]


@pytest.mark.parametrize(
    ("items", "most", "k", "candidates", "tau", "eta", "rate", "unit", "weights", "fineness", "figure"), LARGER
)
def test_the_smallest_delta_of_a_larger_top_k_is_what_the_proof_says(
    items: int, most: int, k: int, candidates: int, tau: int, eta: lb.Eta, rate: Fraction, unit: int, weights: int,
    fineness: int, figure: Fraction,
) -> None:  # fmt: skip
    mechanism = top_k(k, candidates, None, tau, eta, unit * weights)
    assert mechanism._rate.fraction == rate
    assert figure == bound(candidates, rate**tau) <= mechanism.cost.delta <= mechanism.delta
    nobody, tolerance = data_sets(items, 0)[0], Fraction(1, fineness)
    first = tuple((name, weights * (place < candidates)) for place, (name, _) in enumerate(nobody))
    low, high = worst(mechanism, [(nobody, first)], unit, tolerance, weights)
    assert low <= figure <= high <= low + (1 + mechanism.cost.odds_bounds()[1]) * tolerance
    if LONG:
        low, high = worst(mechanism, pairs(data_sets(items, most), None, weights), unit, tolerance, weights)
        assert low <= figure <= high


RANKINGS = [
    (3, 2, 2, 2, None, 3, Fraction(1, 5)),
    (3, 2, 1, 1, 1, 3, Fraction(1, 9)),
    (4, 1, 3, 3, 2, 4, Fraction(1, 9)),
]


@pytest.mark.parametrize(("items", "most", "k", "candidates", "bounded", "tau", "figure"), RANKINGS)
def test_the_smallest_delta_of_a_ranking_is_what_the_proof_says(
    items: int, most: int, k: int, candidates: int, bounded: int | None, tau: int, figure: Fraction
) -> None:
    m = min(bounded or candidates, candidates)
    q = Fraction(1, 2) ** tau
    mechanism = lb.DiscoverRanking(
        k=k, candidates=candidates, most_items=bounded, eta=lb.Eta(1, k, 1), delta=m * q, resolution=1
    )
    assert (mechanism.tau, mechanism._rate.fraction) == (tau, Fraction(1, 2))
    low, high = worst(mechanism, pairs(data_sets(items, most), bounded))
    # Every branch of a ranking is followed: the figure is exact.
    assert low == high == figure == m * q / (1 + m * q) <= mechanism.cost.delta == m * q


@pytest.mark.parametrize(("bounded", "above"), [(1, 2), (1, 3), (2, 2), (2, 3), (3, 2)])
def test_the_smallest_delta_of_a_histogram_is_that_of_its_tail(bounded: int, above: int) -> None:
    r = Fraction(1, 2)
    p = r**above / (1 + r)
    delta = 1 - (1 - p) ** bounded
    mechanism = lb.DiscoverHistogram(most_items=bounded, eta=lb.Eta(1, bounded, 1), delta=delta)
    assert mechanism.rate.fraction == r
    # The delta is compared with an upper bound of the tail, which is larger by less than 2^-200.
    assert mechanism.threshold in (above + 1, above + 2)
    again = lb.DiscoverHistogram(most_items=bounded, eta=lb.Eta(1, bounded, 1), delta=delta + Fraction(1, 1 << 99))
    assert again.threshold == above + 1
    assert 0 <= again.cost.delta - delta < Fraction(1, 1 << 60)
    low, high = worst(again, pairs(data_sets(max(2, bounded), 1), bounded))
    assert low <= delta <= high <= low + 6 * TOLERANCE


def test_a_gaussian_histogram_keeps_the_delta_of_its_tail() -> None:
    mechanism = lb.DiscoverHistogram(rho="1/2", delta="1/100", most_items=1)
    assert mechanism.cost.epsilon is None
    assert mechanism.cost.rho == Fraction(1, 2)
    # P(X >= 3) of a Gaussian of variance 1 on whole numbers is 0.0045, P(X >= 2) is 0.058.
    assert mechanism.threshold == 4
    assert Fraction(44, 10000) < mechanism.cost.delta < Fraction(46, 10000)
    law = law_of(mechanism, (("a", 1),), 1)
    told = sum(mass for release, mass in law.masses.items() if release.items)
    assert told <= mechanism.cost.delta <= told + law.unexplored + Fraction(1, 1 << 60)


def outcome(release: Hashable) -> tuple[tuple[str, ...], bool]:
    assert isinstance(release, lb.Discovered)
    return release.items, release.stopped


def test_where_items_are_few_or_none_the_search_stops_and_tells_no_number() -> None:
    mechanism = top_k(2, 2, None, 3, QUARTER)
    nothing = law_of(mechanism, (), 1)
    assert {outcome(each) for each in nothing} == {((), True)}
    # The lists are of one length whatever there is, so that an empty table and dummies alone are one law.
    assert nothing.masses == law_of(mechanism, (("a", 0),), 1).masses
    one = law_of(mechanism, (("a", 9),), 1)
    assert {outcome(each) for each in one} == {((), True), (("a",), True)}
    for release in one:
        assert isinstance(release, lb.DiscoveredTopK)
        assert len(release.gaps) == len(release.items)


def test_the_empty_text_is_an_item_and_equals_come_in_a_fixed_order() -> None:
    mechanism = lb.DiscoverRanking(k=2, epsilon=500, delta="1e-9")
    assert mechanism.release(lb.Unlisted.of({"": 900, "x": 500})).items == ("", "x")
    words = lb.Unlisted.of({"b": 7, "ä": 7, "a": 7, "B": 7, "": 7, "z": 9})
    assert words.highest(6)[0] == ("z", "", "B", "a", "b", "ä")
    assert words.highest(0)[0] == ()


@pytest.mark.parametrize("kind", [lb.DiscoverTopK, lb.DiscoverRanking])
def test_the_least_tau_and_the_default_candidates(kind: type) -> None:
    mechanism = kind(k=3, epsilon=1, delta="1e-6", resolution=1)
    assert mechanism.candidates == 30
    odds = Fraction(1, 2) if kind is lb.DiscoverTopK else Fraction(1)
    r = mechanism._rate.fraction
    assert odds * 30 * r**mechanism.tau <= mechanism.cost.delta <= Fraction(1, 10**6)
    assert odds * 30 * r ** (mechanism.tau - 1) > Fraction(1, 10**6)
    bounded = kind(k=3, epsilon=1, delta="1e-6", resolution=1, most_items=1)
    assert bounded.tau < mechanism.tau


def test_an_item_that_has_what_is_needed_is_told_as_often_as_stated() -> None:
    """One item alone: the exact probability in the law, at the stated number and one below."""
    for mechanism in (
        top_k(1, 1, 1, 3, HALF),
        lb.DiscoverRanking(k=1, candidates=1, eta=HALF, delta="1/20"),
        lb.DiscoverRanking(k=1, eta=HALF, delta="1/2"),  # with nine dummies, which end the search too
        lb.DiscoverHistogram(eta=HALF, delta="1/20", most_items=1),
    ):
        level = Fraction(4, 5)
        needed = int(mechanism.needed(level))
        told = []
        for count in (needed, needed - 1):
            law = law_of(mechanism, (("a", count),), 1)
            told.append(sum(mass for release, mass in law.masses.items() if release.items))
        assert told[0] + TOLERANCE >= level > told[1]


def test_what_the_mechanisms_refuse() -> None:
    mechanism = lb.DiscoverTopK(k=1, epsilon=1, delta="1e-6", most_items=2)
    for values, message in (
        ([1, 2], "Unlisted"),
        (lb.Counts(items=["a"], values=[1]), "Unlisted"),
        (lb.Unlisted.of({"a": 1}), "at most 2 items a person"),
        (lb.Unlisted.of({"a": 1}, most_items=3), "at most 2 items a person"),
        (lb.Unlisted.of({"a": 1}, most_items=2, sensitivity=2), "sensitivity=2"),
        (lb.Unlisted.of({"a": 1}, most_items=2, resolution="1/3"), "resolution"),
    ):
        with pytest.raises(lb.ParameterError, match=message):
            mechanism.release(values)
    for wrong, message in (
        ({"k": 5, "candidates": 4}, "candidates must be at least k"),
        ({"k": 1, "candidates": 10**7 + 1}, "candidates must be at most 10,000,000"),
        ({"k": 10**6 + 1}, "then k must be at most 1,000,000"),
        ({"k": 1, "delta": 0}, "delta"),
        ({"k": 1, "delta": 1}, "delta"),
        ({"k": 1, "most_items": 0}, "most_items"),
        ({"k": 0}, "k must be"),
    ):
        with pytest.raises(lb.ParameterError, match=message):
            lb.DiscoverTopK(**({"epsilon": 1, "delta": "1e-6"} | wrong))
    with pytest.raises(lb.ParameterError, match="most_items must be given"):
        lb.DiscoverHistogram(epsilon=1, delta="1e-6")


def test_private_items_are_not_shown() -> None:
    words = lb.Unlisted.of({"secret": 3}, most_items=1)
    assert "secret" not in repr(words)
    with pytest.raises(lb.LastbitError):
        words.__reduce__()
    with pytest.raises(lb.ParameterError, match="DiscoverTopK"):
        lb.NoisyMax(epsilon=1).release(words)


def test_releases_are_tables_that_say_whether_the_search_stopped() -> None:
    words = lb.Unlisted.of({"apple": 5000, "pear": 3000, "a name": 1}, most_items=2)
    stopped = lb.DiscoverTopK(k=3, epsilon=1, delta="1e-6").release(words)
    assert "It stopped" in str(stopped)
    assert stopped.to_dict()["stopped"] is True
    assert "It stopped" not in str(lb.DiscoverTopK(k=2, epsilon=1, delta="1e-6").release(words))
    histogram = lb.DiscoverHistogram.of(words, epsilon=1, delta="1e-6").release(words)
    assert histogram.columns()["item"] == ("apple", "pear")
    for (low, high), true in zip(histogram.intervals(Fraction((1 << 60) - 1, 1 << 60)), (5000, 3000), strict=True):
        assert low <= true <= high
    assert lb.DiscoverTopK.of(words, k=1, epsilon=1, delta="1e-6").most_items == 2


def test_items_with_equal_numbers_come_in_the_order_of_the_items_whatever_the_table_had():
    items = ["é", "z", "\ud800", "\uffff", "\U0001f600", "", 3, 2.5, True, b"a", ("a", 1), ("a", 0), "a", "b"]
    random = Random(4)
    for numbers in ([1] * len(items), [0, 0, *range(1, 7), *range(1, 7)], [place // 2 for place in range(len(items))]):
        by_item = dict(zip(items, numbers, strict=True))
        expected = sorted(items, key=lambda item: (-by_item[item], sort_key(item)))
        for _ in range(20):
            random.shuffle(items)
            noisy = np.array([by_item[item] for item in items])
            for steps in (noisy, noisy.astype(object)):
                order = _order_items(items, np.arange(len(items)), steps)
                assert [items[place] for place in order] == expected
    # Nobody, one item, and items that the table has between those that are told.
    assert _order_items([], np.arange(0), np.array([], np.int64)).tolist() == []
    assert _pick_all(["a", "b"], np.array([1])) == ("b",)
    assert _pick_all(["a", "b", "c"], np.array([2, 0])) == ("c", "a")
    assert _pick_all(("a", None, ("c", 1)), np.array([2, 0, 2])) == (("c", 1), "a", ("c", 1))
    assert _pick_all((), np.arange(0)) == ()
    for outside in (-1, 1, 1 << 62):
        with pytest.raises(ValueError, match="below the number of items"):
            _pick_all(("a",), np.array([outside]))
    assert _order_items(["b", "x", "a"], np.array([0, 2]), np.array([5, 5])).tolist() == [1, 0]


@pytest.mark.parametrize("furthest", [1, 9, 1 << 54, 1 << 61])
def test_numbers_are_sorted_down_and_equals_by_their_places_however_far_apart(furthest):
    random = Random(5)
    for n in (0, 1, 2, 63, 64, 65, 200):
        for shape in (furthest, -furthest, 0):
            choices = [shape, -furthest, furthest, 0, furthest // 2, 1 - furthest]
            numbers = random.choices(choices, k=n)
            expected = sorted(range(n), key=lambda place: -numbers[place])
            assert _sort_down(np.array(numbers, np.int64)).tolist() == expected
            assert _sort_down(np.array(numbers, object)).tolist() == expected
