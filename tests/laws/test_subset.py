"""SubsetTopK, exactly: its law is the definition, its loss is within the cost, and half of the cost is too little."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations, product
from typing import Any

import numpy as np
import pytest

import lastbit as lb
from lastbit.chance.layers import Layers
from lastbit.privacy import zcdp

HALF = Fraction(1, 2)
FORMS = ["both", "left-out"]
Law = dict[tuple[int, ...], Fraction]


def law_by_definition(r: Fraction, counts: tuple[int, ...], k: int, p: int, q: int, cut: bool = False) -> Law:
    """P(S) proportional to r^(p·c_out - q·c_in), from the definition; as the paper has it where it is cut at 0."""
    weights = {}
    for chosen in combinations(range(len(counts)), k):
        out = max(count for i, count in enumerate(counts) if i not in chosen)
        exponent = p * out - q * min(counts[i] for i in chosen)
        weights[chosen] = r ** (max(0, exponent) if cut else exponent)
    total = sum(weights.values())
    return {chosen: weight / total for chosen, weight in weights.items()}


def law_of(mechanism: lb.SubsetTopK, values: Any) -> Law:
    law = lb.audit.law(mechanism.program(values), 0)
    assert law.unexplored == 0
    return {outcome.indices: mass for outcome, mass in law.masses.items()}


def build(k: int, form: str, r: Fraction, n: int) -> tuple[lb.SubsetTopK, int, int]:
    """A monotone mechanism with this rate, and its p and q."""
    p, q = (0, 1) if k == 1 else (1, 0) if form == "left-out" or k == n - 1 else (1, 1)
    mechanism = lb.SubsetTopK(
        k=k, eta=lb.Eta(r.numerator, r.denominator.bit_length() - 1, p + q), monotone=True, form=form
    )
    return mechanism, p, q


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("n", "most"), [(2, 4), (3, 3), (4, 2)])
def test_the_law_is_the_definition_for_all_counts(n: int, most: int, form: str) -> None:
    for counts in product(range(most + 1), repeat=n):
        for k in range(1, n):
            mechanism, p, q = build(k, form, Fraction(3, 4), n)
            assert law_of(mechanism, list(counts)) == law_by_definition(Fraction(3, 4), counts, k, p, q), (counts, k)


@pytest.mark.parametrize("form", FORMS)
def test_the_law_is_the_definition_for_all_counts_of_five(form: str) -> None:
    for ranked in combinations_with_replacement(range(3, -1, -1), 5):
        counts = tuple(ranked[i] for i in (3, 0, 4, 1, 2))
        for k in range(1, 5):
            mechanism, p, q = build(k, form, HALF, 5)
            assert law_of(mechanism, list(counts)) == law_by_definition(HALF, counts, k, p, q), (counts, k)


def test_all_of_the_candidates_are_one_set_and_no_word() -> None:
    tape = lb.Tape([])
    assert lb.SubsetTopK(k=3, epsilon=1).release([5, 0, 9], lb.Sampler(tape)).indices == (0, 1, 2)


@pytest.mark.parametrize("monotone", [True, False])
@pytest.mark.parametrize("form", FORMS)
def test_one_of_many_and_all_but_one_are_the_exponential_mechanism(form: str, monotone: bool) -> None:
    for counts in [(4, 1, 1, 0), (2, 2, 2), (0, 0), (7, 3, 0, 0, 0)]:
        n = len(counts)
        for cost in ({"epsilon": "1/3"}, {"eta": lb.Eta(1, 1, 2)}, {"rho": "1/50"}):
            exponential = lb.ExponentialMechanism(**cost, monotone=monotone)
            picked, left = (
                lb.audit.law(exponential.program([sign * count for count in counts]), 0).masses for sign in (1, -1)
            )
            one = law_of(lb.SubsetTopK(k=1, **cost, form=form, monotone=monotone), list(counts))
            assert one == {(outcome.index,): mass for outcome, mass in picked.items()}
            if n > 2:
                others = law_of(lb.SubsetTopK(k=n - 1, **cost, form=form, monotone=monotone), list(counts))
                everyone = {*range(n)}
                assert others == {tuple(sorted(everyone - {outcome.index})): mass for outcome, mass in left.items()}


def test_the_order_of_equal_counts_does_not_matter() -> None:
    mechanism = lb.SubsetTopK(k=2, eta=lb.Eta(1, 1, 2), monotone=True)
    counts = (3, 1, 1, 0, 0)
    base = law_of(mechanism, list(counts))
    for order in permutations(range(5)):
        moved = law_of(mechanism, [counts[i] for i in order])
        assert {tuple(sorted(order[i] for i in chosen)): mass for chosen, mass in moved.items()} == base


def test_runs_of_equal_counts_have_the_law_of_single_counts() -> None:
    for counts in ([5, 5, 5, 2, 2, 0, 0, 0], [1, 1, 1, 1], [9, 4, 4, 4, 4, 3]):
        ranked, n = -np.array(counts), len(counts)
        for k in range(1, n):
            for p, q in ((1, 1), (1, 0), (0, 1)):
                runs = Layers.of(lb.Rate(3, 2), k, ranked, p, q)
                single = Layers.of_runs(lb.Rate(3, 2), k, np.arange(1, n + 1), ranked, p, q)
                assert of_sets(runs) == of_sets(single)


def of_sets(law: Layers) -> Law:
    found: Law = {}
    for cell, mass in law.masses():
        start, end = law.ranks(cell)
        sets = list(combinations(range(start, end), law.k - start))
        for rest in sets:
            chosen = (*range(start), *rest)
            found[chosen] = found.get(chosen, Fraction(0)) + mass / len(sets)
    return found


def worst(n: int, k: int, most: int, p: int, q: int, moves: range, cut: bool = False) -> float:
    """The largest loss of all counts up to `most` and all moves, in units of ln(1/r), at r = 1/2."""
    largest = Fraction(1)
    for counts in combinations_with_replacement(range(most, -1, -1), n):
        one = law_by_definition(HALF, counts, k, p, q, cut)
        for move in product(moves, repeat=n):
            other = law_by_definition(HALF, tuple(map(sum, zip(counts, move, strict=True))), k, p, q, cut)
            for chosen, mass in one.items():
                largest = max(largest, mass / other[chosen], other[chosen] / mass)
    return math.log2(largest)


@pytest.mark.parametrize(
    ("n", "k", "most", "found"), [(3, 1, 4, 0.9780), (4, 2, 3, 1.2224), (5, 2, 2, 1.2838), (5, 3, 2, 1.2838)]
)
def test_the_losses_of_the_law_of_the_paper(n: int, k: int, most: int, found: float) -> None:
    assert round(worst(n, k, most, 1, 1, range(2), cut=True), 4) == found


@pytest.mark.parametrize(
    ("n", "k", "most", "p", "q", "found"),
    [
        (3, 1, 4, 1, 1, 1.9916),
        (3, 2, 4, 1, 1, 1.9916),
        (4, 2, 3, 1, 1, 1.9194),
        (4, 2, 3, 1, 0, 0.9175),
        (4, 3, 3, 1, 0, 0.9709),
        (3, 1, 4, 0, 1, 0.9780),
    ],
)
def test_the_losses_are_within_the_cost(n: int, k: int, most: int, p: int, q: int, found: float) -> None:
    assert round(worst(n, k, most, p, q, range(2)), 4) == found < p + q


@pytest.mark.parametrize(("n", "k", "most", "found"), [(3, 1, 3, 3.9584), (4, 2, 2, 3.6356)])
def test_counts_that_move_against_each_other_lose_up_to_twice_as_much(n: int, k: int, most: int, found: float) -> None:
    assert round(worst(n, k, most, 1, 1, range(-1, 2)), 4) == found < 4


def test_the_cost_is_used_up_where_many_counts_are_zero() -> None:
    # One item at 5, one at 1, and 10^6 + 1 at 0; the person has the first and one at 0: from the set of these two.
    zeros = 10**6
    totals = []
    for counts, runs in (([5, 1, 0], [1, 2, zeros + 3]), ([6, 1, 0], [1, 3, zeros + 3])):
        law = Layers.of_runs(lb.Rate(1, 1), 2, np.array(runs), -np.array(counts), 1, 1)
        # The weight of all sets, where that of the set of the first two ranks is 1.
        totals.append(sum(a * HALF**d for d, a in law._terms(1 + len(law.starts) * len(law.ends)).items()))
    # {first, third}: best left out 1 and worst taken 0, then 1 and 1; the first two ranks: 0 and 1, then 1 and 1.
    before, after = HALF ** (1 - 0) / HALF ** (0 - 1) / totals[0], 1 / totals[1]
    assert round(loss := math.log2(after / before), 4) == 2
    assert loss < 2


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("monotone", [True, False])
def test_the_loss_and_the_rho_of_the_program_are_within_its_cost(form: str, monotone: bool) -> None:
    for k, values in [(1, [0, 1, 1]), (2, [2, 0, 1]), (2, [1, 1, 1]), (2, [3, 0, 2, 0])]:
        for cost in ({"eta": lb.Eta(1, 1, 1)}, {"epsilon": 1}, {"rho": "1/8"}):
            if len(values) == 4 and not (monotone and "eta" in cost):
                continue
            mechanism = lb.SubsetTopK(k=k, form=form, monotone=monotone, **cost)
            assert mechanism.cost.rho == (mechanism.rho or zcdp.range_rho(mechanism.cost.amount))
            assert lb.audit.check_all(mechanism, values, tolerance=0).holds


def test_half_of_the_cost_is_too_little() -> None:
    for form, values, moved, k in [
        ("both", [3, 1, 0, 0], [4, 1, 1, 0], 2),
        ("left-out", [4, 3, 0, 0], [4, 4, 0, 0], 2),
        ("both", [4, 0, 0], [4, 1, 0], 1),
    ]:
        mechanism = lb.SubsetTopK(k=k, eta=lb.Eta(1, 1, 4), monotone=True, form=form)
        programs = mechanism.program(values), mechanism.program(moved)
        assert lb.audit.compare(*programs, lb.Eta(1, 1, 4)).holds
        assert lb.audit.compare(*programs, lb.Eta(1, 1, 2)).verdict == "violated"


def test_rho_is_an_eighth_of_the_square_of_epsilon() -> None:
    assert lb.SubsetTopK(k=2, epsilon=1).cost.rho == Fraction(1, 8)
    in_rho = lb.SubsetTopK(k=2, rho="1/8")
    assert in_rho.cost.text == "rho 1/8"
    assert in_rho.cost.rho == Fraction(1, 8)
    assert 1 - Fraction(1, 2**50) < in_rho.cost.amount <= 1
