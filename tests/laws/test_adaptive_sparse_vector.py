"""AdaptiveSparseVector against Algorithm 4 of Ding et al., and against its own cost, as exact laws."""

from fractions import Fraction

import pytest

import lastbit as lb
from lastbit.papers.free_gap_sparse import adaptive_sparse_vector_with_gap


@pytest.mark.parametrize(("limit", "values", "bits"), [(1, [0, 3], 9), (2, [2], 9), (1, [5, 5], 8)])
def test_two_branches_are_algorithm_4(limit, values, bits):
    epsilon, tolerance = 12, Fraction(1, 1 << bits)
    tested = lb.AdaptiveSparseVector(threshold=1, limit=limit, epsilon=epsilon, split="even", noise="laplace")
    ours = lb.audit.law(tested.program(values), tolerance)
    paper = lb.audit.law(
        lambda draw: adaptive_sparse_vector_with_gap(draw, values, 1, limit, epsilon, spend_all=True), tolerance
    )
    renamed = {
        tuple((answer.gap, answer.spent) if answer.above else None for answer in answers.answers): mass
        for answers, mass in ours.masses.items()
    }
    assert (renamed, ours.unexplored) == (paper.masses, paper.unexplored)
    assert {answer.spent for answers in ours for answer in answers.answers} == {
        0,
        tested._plan.unit,
        2 * tested._plan.unit,
    }


@pytest.mark.parametrize(
    ("branches", "limit", "bits", "values", "neighbour", "monotone"),
    [
        (2, 1, 16, [0, 4], [1, 3], False),
        (2, 1, 12, [1, 3], [0, 2], True),
        (2, 2, 32, [0, 3], [1, 2], False),
        (3, 1, 32, [0, 3], [1, 2], False),
        (3, 1, 12, [3], [2], False),
    ],
)
@pytest.mark.parametrize("noise", ["one-sided", "laplace"])
def test_keeps_its_cost(branches, limit, bits, values, neighbour, monotone, noise):
    tested = lb.AdaptiveSparseVector(
        threshold=1,
        limit=limit,
        eta=lb.Eta(1, bits, 1),
        split="even",
        branches=branches,
        monotone=monotone,
        noise=noise,
    )
    assert lb.audit.check(tested, values, neighbour, tolerance=Fraction(1, 1 << 9)).holds


@pytest.mark.parametrize("sigma", [0, 5])
@pytest.mark.parametrize("noise", ["one-sided", "laplace"])
def test_keeps_its_cost_with_any_sigma(sigma, noise):
    tested = lb.AdaptiveSparseVector(threshold=0, limit=1, eta=lb.Eta(1, 16, 1), split="even", sigma=sigma, noise=noise)
    assert lb.audit.check(tested, [0, 0], [1, -1], tolerance=Fraction(1, 1 << 9)).holds


def test_a_branch_has_the_noise_its_units_pay_for():
    tested = lb.AdaptiveSparseVector(threshold=0, limit=2, eta=lb.Eta(1, 32, 1), split="even", branches=3)
    assert tested._plan.threshold_rate.fraction == Fraction(1, 2**16)
    # 16 of eta are left for 2·4 units; a query's noise is paid twice.
    assert [branch.rate.fraction for branch in tested._plan.branches] == [
        Fraction(1, 2),
        Fraction(1, 4),
        Fraction(1, 16),
    ]
    assert [branch.units for branch in tested._plan.branches] == [1, 2, 4]
    assert tested._plan.opening + tested._plan.units * tested._plan.unit == 1


@pytest.mark.parametrize(("noise", "sides"), [("one-sided", 1), ("laplace", 2)])
def test_sigma_is_two_standard_deviations_rounded_up(noise, sides):
    tested = lb.AdaptiveSparseVector(threshold=0, limit=3, epsilon=1, resolution="1/10", branches=4, noise=noise)
    for branch in tested._plan.branches[:-1]:
        r = branch.rate.fraction
        four_variances = 4 * sides * r / (1 - r) ** 2
        assert (branch.margin - 1) ** 2 < four_variances <= branch.margin**2
    assert tested._plan.branches[-1].margin == 0
