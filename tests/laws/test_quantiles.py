"""Several quantiles by halves, exactly: the law is that of the splits, and a person pays for one split a level."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product
from typing import Any

import pytest

import lastbit as lb
from lastbit.mechanisms.quantiles.rank_error import furthest

QUARTILES = ["1/4", "1/2", "3/4"]
Law = dict[tuple[int, ...], Fraction]


def one_law(q: Fraction, r: Fraction, values: list[int], low: int, high: int) -> dict[int, Fraction]:
    """The exponential mechanism on the listed points from low to high."""
    n, weights = len(values), {}
    for y in range(low, high + 1):
        below, at_or_below = sum(x < y for x in values), sum(x <= y for x in values)
        weights[y] = r ** int(q.denominator * max(0, below - q * n, q * n - at_or_below))
    return {y: weight / sum(weights.values()) for y, weight in weights.items()}


def halves(mechanism: lb.Quantiles, qs: list[Fraction], values: list[int], low: int, high: int) -> Law:
    """The law as the paper writes it: the middle one, then either side."""
    levels = len(qs).bit_length()

    def many(data: list[int], low: int, high: int, qs: list[Fraction], least: Fraction, most: Fraction) -> Law:
        if not qs:
            return {(): Fraction(1)}
        i = len(qs) // 2
        share = (qs[i] - least) / (most - least)
        rate = mechanism.cost.rate(Fraction(1, levels * furthest(share)))
        found: Law = {}
        for y, chance in one_law(share, rate.fraction, data, low, high).items():
            left = many([x for x in data if x < y], low, y, qs[:i], least, qs[i])
            right = many([x for x in data if x >= y], y, high, qs[i + 1 :], qs[i], most)
            for (a, p), (b, q) in product(left.items(), right.items()):
                found[(*a, y, *b)] = found.get((*a, y, *b), Fraction(0)) + chance * p * q
        return found

    return many(values, low, high, qs, Fraction(0), Fraction(1))


def by_values(mechanism: lb.Quantiles, values: Any) -> Law:
    law = lb.audit.law(mechanism.program(values), 0)
    assert law.unexplored == 0
    return {tuple(int(value) for value in release.values): mass for release, mass in law.masses.items()}


def data_sets(points: int, most: int) -> list[list[int]]:
    return [list(each) for n in range(most + 1) for each in combinations_with_replacement(range(points), n)]


@pytest.mark.parametrize("qs", [["1/2"], ["1/3", "1/2"], QUARTILES, ["0", "1/5", "1/2", "1"]])
def test_the_law_is_that_of_the_splits(qs: list[str]) -> None:
    mechanism = lb.Quantiles(qs=qs, bounds=(0, 3), eta=lb.Eta(1, 1, 12), spread=1)
    exact = [Fraction(q) for q in qs]
    for values in ([], [2], [1, 1], [0, 3, 3], [0, 1, 2, 3]):
        found = by_values(mechanism, values)
        assert found == halves(mechanism, exact, values, 0, 3)
        assert all(a <= b for each in found for a, b in pairwise(each))


def test_one_of_several_is_one() -> None:
    one = lb.Quantile(q="2/5", bounds=(0, 4), epsilon=1)
    several = lb.Quantiles(qs=["2/5"], bounds=(0, 4), epsilon=1, spread=1)
    assert one.cost == several.cost
    law = lb.audit.law(one.program([1, 3, 3]), 0)
    assert by_values(several, [1, 3, 3]) == {(int(each.value),): mass for each, mass in law.masses.items()}


def test_spread_values_are_a_mixture_of_fine_ones() -> None:
    coarse = lb.Quantiles(qs=["1/2", "3/4"], bounds=(0, 2), eta=lb.Eta(1, 1, 12), spread=3)
    fine = lb.Quantiles(qs=["1/2", "3/4"], bounds=(0, 8), eta=lb.Eta(1, 1, 12), spread=1)
    mixed: Law = {}
    for parts in product(range(3), repeat=2):
        for value, mass in by_values(fine, [3 * x + part for x, part in zip([1, 1], parts, strict=True)]).items():
            floored = tuple(y // 3 for y in value)
            mixed[floored] = mixed.get(floored, Fraction(0)) + mass / 9
    assert by_values(coarse, [1, 1]) == mixed


@pytest.mark.parametrize("qs", [QUARTILES, ["0", "1/2"], ["1/10", "1/2", "9/10"]])
def test_the_loss_is_within_the_cost_on_every_neighbour(qs: list[str]) -> None:
    mechanism = lb.Quantiles(qs=qs, bounds=(0, 3), eta=lb.Eta(1, 1, 4), spread=1)
    exact = [Fraction(q) for q in qs]
    worst = Fraction(1)
    for values in data_sets(4, 2):
        law = halves(mechanism, exact, values, 0, 3)
        for more in range(4):
            other = halves(mechanism, exact, sorted([*values, more]), 0, 3)
            ratios = [law[each] / other[each] for each in law]
            worst = max(worst, *ratios, 1 / min(ratios))
    assert worst <= 16
    # The levels are really added up: one level alone could not lose as much.
    assert worst > 4


def test_the_auditor_agrees_with_and_without_spreading() -> None:
    for spread, values in ((1, [0, 2]), (2, [1])):
        mechanism = lb.Quantiles(qs=QUARTILES, bounds=(0, 2), eta=lb.Eta(1, 1, 4), spread=spread)
        assert lb.audit.check(mechanism, values, [*values, 2], tolerance=0).holds


def test_costs_of_levels() -> None:
    for m, levels in ((1, 1), (2, 2), (3, 2), (4, 3), (7, 3), (8, 4), (19, 5)):
        qs = [Fraction(i, m + 1) for i in range(1, m + 1)]
        mechanism = lb.Quantiles(qs=qs, bounds=(0, 9), epsilon=1)
        assert mechanism.cost.rho == pytest.approx(1 / (8 * levels), rel=1e-20)
        # The rate of each split is for its own share of the range, at a level's share of the cost.
        for split in mechanism._splits:
            assert split.rate == lb.Cost.of(1).rate(Fraction(1, levels * furthest(split.q)))
        in_rho = lb.Quantiles(qs=qs, bounds=(0, 9), rho="1/8")
        each = in_rho.cost.amount / levels
        assert levels * each**2 / 8 <= Fraction(1, 8) < levels * (each * (1 + Fraction(1, 1 << 60))) ** 2 / 8


def test_many_equal_values_do_not_pull_the_quantiles_above() -> None:
    # Six tenths of the values are 7. Without spreading, the half above the median begins with all of them again.
    values = [7] * 600 + list(range(600, 1000))
    tape = [(i * 0x9E3779B97F4A7C15) % (1 << 64) for i in range(1, 1100)]
    asked = {"qs": QUARTILES, "bounds": (0, 1000), "epsilon": 10}
    spread = lb.Quantiles(**asked).release(values, lb.Sampler(lb.Tape(tape))).values
    assert spread[:2] == (7, 7)
    assert abs(spread[2] - 750) < 20
    assert lb.Quantiles(**asked, spread=1).release(values, lb.Sampler(lb.Tape(tape))).values[1:] == (7, 7)


def within(law: Law, values: list[int], qs: list[Fraction], ranks: tuple[Fraction, ...]) -> Fraction:
    """The probability that all values are within so many ranks of their quantiles."""
    held = Fraction(0)
    for value, mass in law.items():
        away = [
            max(0, sum(x < y for x in values) - q * len(values), q * len(values) - sum(x <= y for x in values))
            for y, q in zip(value, qs, strict=True)
        ]
        held += mass if all(a <= most for a, most in zip(away, ranks, strict=True)) else 0
    return held


@pytest.mark.parametrize("values", [[], [3], [0, 2, 4, 6], list(range(8)), [1, 6], [4] * 5, [0, 0, 7, 7]])
def test_the_ranks_hold_at_their_level(values: list[int]) -> None:
    qs = [Fraction(q) for q in QUARTILES]
    ties = max((values.count(x) for x in values), default=1)
    mechanism = lb.Quantiles(qs=qs, bounds=(0, 7), eta=lb.Eta(1, 1, 8), spread=1)
    for level in (Fraction(1, 2), Fraction(4, 5)):
        assert within(halves(mechanism, qs, values, 0, 7), values, qs, mechanism.accuracy(level, ties=ties)) >= level


def test_the_ranks_hold_where_values_are_spread() -> None:
    # For every part of a step that the values may move by, on the fine grid.
    qs, parts, level = [Fraction(1, 2), Fraction(3, 4)], 8, Fraction(4, 5)
    mechanism = lb.Quantiles(qs=qs, bounds=(0, 1), eta=lb.Eta(1, 1, 8), spread=parts)
    for part, other in product(range(0, parts, 3), repeat=2):
        fine = halves(mechanism, qs, [part, parts + other], 0, 2 * parts - 1)
        law: Law = {}
        for value, mass in fine.items():
            floored = tuple(y // parts for y in value)
            law[floored] = law.get(floored, Fraction(0)) + mass
        assert within(law, [0, 1], qs, mechanism.accuracy(level)) >= level


TAPE = [(i * 0xD1B54A32D192ED03) % (1 << 64) for i in range(1, 400)]


@pytest.mark.parametrize("bounds", [(0, 10), (-(10**18), 10**18), (-(1 << 61), 1 << 61)])
@pytest.mark.parametrize("qs", [["1/2"], ["0", "1/3", "1"], [f"0.{i}" for i in range(1, 10)]])
def test_sampler_and_reference_release_the_same(qs: list[str], bounds: tuple[int, int]) -> None:
    mechanism = lb.Quantiles(qs=qs, bounds=bounds, epsilon=1)
    for values in ([], [3], [5] * 40, list(range(-20, 30)), [bounds[0]] * 3 + [bounds[1]] * 3):
        found = []
        for twin in (lb.Sampler, lb.Reference):
            tape = lb.Tape(TAPE)
            found.append((mechanism.release(values, twin(tape)), tape.consumed))
        assert found[0] == found[1]
        # One word a value where there is room to spread them, and three words a quantile.
        assert found[0][1] == len(qs) * 3 + (len(values) if mechanism.spread > 1 else 0)


def test_missing_values_are_left_out_and_neighbours_are_people_who_come_or_go() -> None:
    mechanism = lb.Quantiles(qs=["1/2", "3/4"], bounds=(0, 2), eta=lb.Eta(1, 1, 4), spread=1)
    assert by_values(mechanism, [None, 1, float("nan"), "x"]) == by_values(mechanism, [1])
    assert sorted(mechanism.neighbours([1])) == sorted([(), (1, 0), (1, 1), (1, 2)])
    assert mechanism.adjacency == "add-remove"


def test_refusals() -> None:
    for qs, message in (
        (["1/2", "1/4"], "qs must rise"),
        (["1/2", "0.5"], "qs must rise"),
        ([], "qs must be a list"),
        ("1/2", "qs must be a list"),
        (["3/2"], "each of qs must be from 0 to 1"),
        (["1/16777216", "1/3"], "common denominator"),
    ):
        with pytest.raises(lb.ParameterError, match=message):
            lb.Quantiles(qs=qs, bounds=(0, 1), epsilon=1)
    with pytest.raises(lb.ParameterError, match="spread must be at most"):
        lb.Quantiles(qs=["1/2"], bounds=(0, 10**18), epsilon=1, spread=100)


@pytest.mark.parametrize("qs", [["1/4", "1/2", "3/4"], ["1/3", "2/3"]])
@pytest.mark.parametrize("values", [[0, 1, 2], [0, 0, 2], [1, 1, 1]])
def test_three_spread_values_are_as_near_as_stated(qs: list[str], values: list[int]) -> None:
    mechanism = lb.Quantiles(qs=qs, bounds=(0, 2), epsilon=6, spread=2)
    n, ties = len(values), max(map(values.count, values))
    law = lb.audit.law(mechanism.ready(values), tolerance=Fraction(1, 1000))
    for level in ("1/2", "9/10"):
        inside = Fraction(0)
        stated = mechanism.accuracy(level, ties=ties)
        for release, mass in law.masses.items():
            near = (
                sum(x < y for x in values) <= Fraction(q) * n + w and sum(x <= y for x in values) >= Fraction(q) * n - w
                for y, q, w in zip(release.values, qs, stated, strict=True)
            )
            inside += mass if all(near) else 0
        assert inside >= Fraction(level)
