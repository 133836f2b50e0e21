"""Noisy top-k: its law is that of continuous noise, the papers' algorithms have it too, and its loss is its cost.

Endless draws leave a little probability unexplored, and a program that was stopped early a little more. What is
compared is therefore an enclosure: the probability of every outcome lies between the mass that was found for it and
that mass plus all that was not explored. The masses and the integral are fractions; nothing is rounded.
"""

from collections.abc import Hashable
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

import lastbit as lb
from lastbit.mechanisms.top_k.selector import Selector
from lastbit.papers.free_gap_top_k import noisy_max_with_gap, noisy_top_k_with_gap
from lastbit.papers.secure_top_k import secure_top_k, top_k_with_rounding
from tests.continuous_top_k import outcomes, probability
from tests.limited_draws import STOPPED, settle_after, with_geometrics

QUARTER = Fraction(1, 4)
COST = {1: lb.Eta(1, 4, 1), 2: lb.Eta(1, 8, 1)}
"""For k selected, the cost at which general queries get noise of rate 1/4 a step."""

MOST = {1: 12, 2: 4, 3: 2}
"""Gaps up to here are compared for k selected, found or not; those found, all."""


def assert_encloses(law: lb.audit.Law, queries: tuple[int, ...], k: int, r: Fraction) -> None:
    """The law's enclosures hold the integral over continuous noise."""
    unknown = law.unexplored + law.masses.get(STOPPED, Fraction(0))
    for outcome in {*outcomes(len(queries), k, MOST[k]), *law} - {STOPPED}:
        found = law.masses.get(outcome, Fraction(0))
        assert found <= probability(queries, *outcome, r) <= found + unknown, outcome


def split(answer: tuple[tuple[int, int], ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(j for j, _ in answer), tuple(gap for _, gap in answer)


def selection(queries: tuple[int, ...], k: int, shift: int, draw: lb.Draw) -> Hashable:
    return Selector(k, lb.Rate(1, 2), shift).select(len(queries), np.array(queries).__getitem__, draw)


@pytest.mark.parametrize("shift", [0, 1, 2])
@pytest.mark.parametrize(
    ("queries", "k", "tolerance"),
    [
        ((0, 0), 1, "1e-7"),
        ((0, 2), 1, "1e-7"),
        ((0, 0, 1), 1, "1e-4"),
        ((1, 0, 1), 2, "1e-4"),
        ((0, 3, 1), 2, "1e-4"),
        ((0, 1, 0, 0), 1, "1/20"),
        ((0, 0, 1, 3), 2, "1/20"),
        ((0, 0, 0, 1), 3, "1/20"),
    ],
)
def test_the_law_is_that_of_continuous_noise(queries: tuple[int, ...], k: int, tolerance: str, shift: int) -> None:
    law = lb.audit.law(lambda draw: selection(queries, k, shift, draw), tolerance)
    assert law.unexplored <= Fraction(tolerance)
    assert_encloses(law, queries, k, QUARTER)


@pytest.mark.parametrize(
    ("mechanism", "values", "queries"),
    [
        (lb.NoisyTopK(k=1, eta=COST[1], resolution=1), [0, 1], (0, 1)),
        (lb.NoisyTopK(k=1, eta=lb.Eta(1, 2, 1), resolution=1, monotone=True), [0, 1], (0, 1)),
        (lb.NoisyTopK(k=2, eta=COST[2], resolution=1), [0, 1, 0], (0, 1, 0)),
        (lb.NoisyTopK(k=1, eta=COST[2], resolution="1/2"), [Fraction(-1, 2), 0.75], (-1, 1)),
        (lb.NoisyMax(eta=COST[1], sensitivity="2/3", resolution="2/3"), [0.5, 0.7], (0, 1)),
        (lb.NoisyMax(eta=lb.Eta(1, 12, 1), sensitivity=3, resolution=1), [0, 1], (0, 1)),
    ],
)
def test_every_parameter_leads_to_the_stated_noise(
    mechanism: lb.NoisyTopK | lb.NoisyMax, values: list[object], queries: tuple[int, ...]
) -> None:
    def program(draw: lb.Draw) -> Hashable:
        release = mechanism.release(values, draw)
        return release.indices, tuple(int(gap / mechanism.grid.resolution) for gap in release.gaps)

    law = lb.audit.law(program, "1e-4")
    assert law.unexplored <= Fraction(1, 10_000)
    assert_encloses(law, queries, mechanism.k, QUARTER)


def test_everyone_selected_has_the_law_of_the_order_and_one_gap_less() -> None:
    law = lb.audit.law(lambda draw: selection((0, 1), 2, 0, draw), "1e-6")
    for order, gap in product(permutations((0, 1)), range(8)):
        found = law.masses[order, (gap,)]
        assert found <= probability((0, 1), order[:1], (gap,), QUARTER) <= found + law.unexplored


@pytest.mark.parametrize(
    ("queries", "k", "refine", "pruning", "tolerance"),
    [
        ((0, 0), 1, 2, False, "1/1000"),
        ((0, 1), 1, 4, True, "1/1000"),
        ((0, 0, 1), 1, 4, True, "1/10"),
        ((4, 0, 2), 2, 4, False, "1/50"),
    ],
)
def test_algorithm_4_has_the_same_law(
    queries: tuple[int, ...], k: int, refine: int, pruning: bool, tolerance: str
) -> None:
    def program(draw: lb.Draw) -> Hashable:
        return split(secure_top_k(queries, k, COST[k], 1, refine, draw, early_pruning=pruning))

    assert_encloses(lb.audit.law(program, tolerance), queries, k, QUARTER)


@pytest.mark.parametrize(
    ("queries", "k", "tolerance"),
    [((0, 0), 1, "1/1000"), ((0, 1), 1, "1/1000"), ((0, 0, 1), 1, "1/50"), ((1, 0, 1), 2, "1/5")],
)
def test_algorithm_2_has_the_same_law(queries: tuple[int, ...], k: int, tolerance: str) -> None:
    law = lb.audit.law(lambda draw: split(top_k_with_rounding(queries, k, COST[k], 1, draw)), tolerance)
    assert_encloses(law, queries, k, QUARTER)


@pytest.mark.parametrize("pruning", [False, True])
@pytest.mark.parametrize(
    ("cells", "k", "rounds"),
    [
        *product(product(range(3), repeat=3), (1, 2), (0, 1)),
        *product([(0, 0, 0), (1, 1, 0)], (1, 2), (2,)),
        *product([(1, 0, 1, 1)], (1, 2), (0, 1)),
    ],
)
def test_no_refinement_is_needed(cells: tuple[int, ...], k: int, pruning: bool, rounds: int) -> None:
    """Given the cells, one permutation has the law of Algorithm 4: exactly, by induction over the rounds of its loop.

    No round: if the tied ones come out in the order of a uniform permutation, the outcome is that of our selection.
    One round: if they do after a round of refinement, they do before it. And the loop ends with probability 1.
    """
    queries = (0,) * len(cells)

    def loop(draw: lb.Draw) -> Hashable:
        fixed = settle_after(with_geometrics(draw, cells), rounds)
        return split(secure_top_k(queries, k, COST[k], 1, len(cells), fixed, early_pruning=pruning))

    refined = lb.audit.law(loop, 0)
    simple = lb.audit.law(lambda draw: selection(queries, k, 0, with_geometrics(draw, cells)), 0)
    assert simple.unexplored == refined.unexplored == 0
    assert simple.masses == refined.masses


CASES = [
    lb.NoisyTopK(k=1, eta=COST[1], resolution=1),
    lb.NoisyTopK(k=1, eta=lb.Eta(1, 2, 1), resolution=1, monotone=True),
    lb.NoisyTopK(k=2, eta=COST[2], resolution=1),
    lb.NoisyTopK(k=2, eta=lb.Eta(1, 4, 1), resolution=1, monotone=True),
]


@pytest.mark.parametrize("mechanism", CASES, ids=str)
@pytest.mark.parametrize("values", [(0, 0, 0), (2, 0, 1)])
def test_the_loss_is_within_the_cost_on_all_neighbours(mechanism: lb.NoisyTopK, values: tuple[int, ...]) -> None:
    assert lb.audit.check_all(mechanism, values, tolerance="1/100").holds


def test_the_loss_is_within_an_epsilon_too() -> None:
    assert lb.audit.check_all(lb.NoisyMax(epsilon=4, resolution=1), (0, 1), tolerance="1/1000").holds


@pytest.mark.parametrize("monotone", [False, True])
def test_the_loss_is_within_the_cost_on_a_finer_grid(monotone: bool) -> None:
    mechanism = lb.NoisyMax(eta=lb.Eta(1, 4, 1) if monotone else lb.Eta(1, 8, 1), resolution="1/2", monotone=monotone)
    assert lb.audit.check_all(mechanism, (0, Fraction(1, 2)), tolerance="1/10000").holds


@pytest.mark.parametrize(
    ("k", "queries", "neighbour", "spent"),
    [
        (1, (0, 0), (1, -1), 2),
        (1, (0, 0), (1, 0), 1),
        (2, (0, 0, 0), (1, 1, -1), 4),
        (2, (0, 0, 0), (1, 1, 0), 2),
    ],
)
def test_the_loss_is_tight(k: int, queries: tuple[int, ...], neighbour: tuple[int, ...], spent: int) -> None:
    """The likeliest ratio is r to the 2k (general) or k (monotone) exactly: no smaller noise would do."""
    ratios = [
        probability(neighbour, order, gaps, QUARTER) / probability(queries, order, gaps, QUARTER)
        for order, gaps in outcomes(len(queries), k, 3)
    ]
    assert max(ratios) == QUARTER**-spent


def test_half_the_noise_is_too_little_for_queries_that_are_not_monotone() -> None:
    mechanism = lb.NoisyMax(eta=lb.Eta(1, 2, 1), resolution=1, monotone=True)
    verdict = lb.audit.check(mechanism, (0, 0), (1, -1), tolerance="1/1000")
    assert verdict.verdict == "violated"


def test_the_free_gap_papers_finite_form_cannot_tell_ties() -> None:
    """Its Algorithms 2 and 3 with discrete noise: a tie goes to the first, so that the second never wins by 0."""

    def law(queries: tuple[int, ...]) -> lb.audit.Law:
        return lb.audit.law(lambda draw: noisy_top_k_with_gap(queries, 1, COST[1], 1, draw), "1e-4")

    tied, simple = law((0, 0)), lb.audit.law(lambda draw: noisy_max_with_gap((0, 0), COST[1], 1, draw), "1e-4")
    assert tied.masses == {(outcome,): mass for outcome, mass in simple.masses.items()}
    assert ((0, 0),) in tied
    assert ((1, 0),) not in tied
    r = QUARTER
    same = ((1 - r) / (1 + r)) ** 2 * (1 + r**2) / (1 - r**2)
    assert tied[((0, 0),)][0] <= same <= tied[((0, 0),)][1]
