"""SparseVector against the papers' algorithms, and against its own cost, as exact laws."""

from fractions import Fraction
from itertools import product

import pytest

import lastbit as lb
from lastbit.audit.verdict import judge
from lastbit.papers.free_gap_sparse import sparse_vector_with_gap
from lastbit.papers.sparse_vector import Inputs, disc_sv, gap_sv, sim_gap_sv
from tests.laws.folding import Folding, exact, fold

ETA1, ETA2, BOTH = lb.Eta(1, 2, 1), lb.Eta(1, 4, 1), lb.Eta(1, 6, 1)
SHARE = Fraction(1, 3)  # of BOTH this is ETA1
GAPS = (1, 3)
NOISES = ["one-sided", "laplace"]


def mechanism(limit, width, gaps=False, monotone=False, query_range=(-1, 2), noise="laplace"):
    return lb.SparseVector(
        threshold=0,
        limit=limit,
        eta=BOTH,
        split=SHARE,
        monotone=monotone,
        noise=noise,
        clamp=(*query_range, width),
        gaps=gaps,
    )


def inputs(values, limit, width, gaps=()):
    return Inputs(values, (-1, 2), width=width, limit=limit, eta1=ETA1, eta2=ETA2, gaps=gaps)


def as_paper(release, gaps):
    """Our answers in the paper's form: a ⊤ for the query and for every gap reached."""
    answers = release.answers
    return tuple((True, *(answer.gap >= gap for gap in gaps)) if answer.above else (False,) for answer in answers)


def rename(masses, name):
    result = {}
    for outcome, mass in masses.items():
        result[name(outcome)] = result.get(name(outcome), 0) + mass
    return result


@pytest.mark.parametrize("values", [(0, 1), (2, -1, 0)])
@pytest.mark.parametrize("limit", [1, 2])
@pytest.mark.parametrize("width", [0, 1, 2, 5])
def test_clamped_is_algorithm_2(values, limit, width):
    ours = exact(lb.audit.law(fold(mechanism(limit, width), values), 0))
    theirs = exact(lb.audit.law(lambda draw: disc_sv(draw, inputs(values, limit, width)), 0))
    assert rename(ours, lambda answers: tuple(answer.above for answer in answers.answers)) == theirs


@pytest.mark.parametrize(
    ("values", "limit", "width"), [((0, 1), 1, 0), ((0, 1), 2, 1), ((1, -1), 1, 2), ((2, 0), 1, 5)]
)
def test_clamped_with_gaps_is_algorithm_4_and_the_corrected_5(values, limit, width):
    folding = fold(mechanism(limit, width, GAPS), values)
    ours = rename(exact(lb.audit.law(folding, 0)), lambda answers: as_paper(answers, GAPS))
    given = inputs(values, limit, width, GAPS)
    bounds = {given.threshold_rate: 4 + width, given.query_rate: 4 + width + max(GAPS)}
    assert ours == exact(lb.audit.law(lambda draw: gap_sv(Folding(draw, bounds), given), 0))
    assert ours == exact(lb.audit.law(lambda draw: sim_gap_sv(draw, given), 0))


def test_three_queries_with_gaps_are_the_corrected_algorithm_5():
    folding = fold(mechanism(2, 1, GAPS), (0, 2, 1))
    ours = rename(exact(lb.audit.law(folding, 0)), lambda answers: as_paper(answers, GAPS))
    given = inputs((0, 2, 1), 2, 1, GAPS)
    assert ours == exact(lb.audit.law(lambda draw: sim_gap_sv(draw, given), 0))


@pytest.mark.parametrize("noise", NOISES)
def test_folding_changes_no_law(noise):
    clamped = mechanism(1, 1, GAPS, noise=noise)
    finite = exact(lb.audit.law(fold(clamped, (0, 1)), 0))
    endless = lb.audit.law(clamped.program((0, 1)), Fraction(1, 1 << 12))
    assert set(endless.masses) <= set(finite)
    for outcome, mass in finite.items():
        lower, upper = endless[outcome]
        assert lower <= mass <= upper


@pytest.mark.parametrize("width", [0, 1, 2, 5])
@pytest.mark.parametrize("limit", [1, 2])
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("noise", NOISES)
def test_clamped_keeps_its_cost_on_every_neighbour(width, limit, monotone, noise):
    tested = mechanism(limit, width, monotone=monotone, noise=noise)
    laws = {values: lb.audit.law(fold(tested, values), 0) for values in product((-1, 0, 1), repeat=2)}
    tried = 0
    for values, law in laws.items():
        for neighbour in tested.neighbours(values):
            if tuple(map(int, neighbour)) in laws:
                verdict = judge(tested.cost, law, laws[tuple(map(int, neighbour))], Fraction(0))
                assert verdict.holds
                assert verdict.delta == 0
                tried += 1
    assert tried == (2 * 16 if monotone else 2 * 20)


@pytest.mark.parametrize("width", [0, 1, 2, 5])
@pytest.mark.parametrize(("limit", "gaps"), [(1, (1,)), (2, False)])
@pytest.mark.parametrize(("monotone", "neighbour"), [(False, (1, 1, 0)), (True, (1, 1, 1))])
@pytest.mark.parametrize("noise", NOISES)
def test_clamped_keeps_its_cost_on_three_queries(width, limit, gaps, monotone, neighbour, noise):
    tested = mechanism(limit, width, gaps, monotone, query_range=(0, 1), noise=noise)
    one, other = (lb.audit.law(fold(tested, values), 0) for values in ((0, 0, 1), neighbour))
    assert judge(tested.cost, one, other, Fraction(0)).holds


@pytest.mark.parametrize(("limit", "values"), [(1, [0, 1]), (2, [1, 0]), (1, [0, 0, 1])])
def test_unclamped_is_algorithm_1_with_discrete_noise(limit, values):
    epsilon, tolerance = 4, Fraction(1, 1 << 10)
    ours = lb.audit.law(
        lb.SparseVector(threshold=1, limit=limit, epsilon=epsilon, split="even", noise="laplace").program(values),
        tolerance,
    )
    paper = lb.audit.law(lambda draw: sparse_vector_with_gap(draw, values, 1, limit, epsilon), tolerance)
    gaps = rename(ours.masses, lambda answers: tuple(answer.gap for answer in answers.answers))
    assert (gaps, ours.unexplored) == (paper.masses, paper.unexplored)


def test_unclamped_has_the_closed_form_law():
    """P(⊥, gap g) = Σ over the threshold noise z of P(z)·P(ν < z - q₁)·P(ν = z + g - q₂)."""
    values, threshold = (0, 1), 1
    tested = lb.SparseVector(threshold=threshold, limit=1, eta=lb.Eta(1, 4, 1), split="even", noise="laplace")
    a, b = tested._plan.threshold_rate.fraction, tested._plan.branches[0].rate.fraction
    assert (a, b) == (Fraction(1, 4), Fraction(1, 2))
    law = lb.audit.law(tested.program(values), Fraction(1, 1 << 14))

    def mass(r, k):
        return r ** abs(k) * (1 - r) / (1 + r)

    def below(r, k):
        """P(noise < k)."""
        return r ** (1 - k) / (1 + r) if k <= 0 else 1 - r**k / (1 + r)

    spent = Fraction(1, 2)
    for gap in range(4):
        outcome = lb.AboveThreshold("SparseVector", tested.cost, 2, (1,), (Fraction(gap),), (spent,))
        noisy = [(mass(a, z), threshold + z) for z in range(-60, 61)]
        partial = sum(p * below(b, t - values[0]) * mass(b, t + gap - values[1]) for p, t in noisy)
        beyond = 2 * a**61 / (1 + a)
        lower, upper = law[outcome]
        assert lower <= partial + beyond
        assert partial <= upper


@pytest.mark.parametrize(
    ("limit", "bits", "values", "neighbour", "monotone"),
    [
        (1, 4, [0, 1], [1, 0], False),
        (1, 4, [0, 1], [1, 2], True),
        (2, 8, [0, 1], [1, 0], False),
        (2, 8, [1, 1], [0, 0], True),
        (1, 8, [0, 0, 1], [1, 1, 0], False),
        (1, 8, [0, 0, 1], [1, 1, 2], True),
        (2, 16, [0, 1, 1], [1, 0, 0], False),
        (2, 16, [0, 1, 1], [1, 2, 2], True),
    ],
)
def test_unclamped_keeps_its_cost(limit, bits, values, neighbour, monotone):
    """With Laplace noise; test_one_sided_sparse_vector.py has the other, and all of its losses."""
    tested = lb.SparseVector(
        threshold=1, limit=limit, eta=lb.Eta(1, bits, 1), split="even", monotone=monotone, noise="laplace"
    )
    assert lb.audit.check(tested, values, neighbour, tolerance=Fraction(1, 1 << 13)).holds


@pytest.mark.parametrize("split", ["optimal", "1/3"])
@pytest.mark.parametrize("noise", NOISES)
def test_every_split_keeps_its_cost(split, noise):
    tested = lb.SparseVector(threshold=0, limit=1, epsilon=4, split=split, sensitivity=2, resolution=1, noise=noise)
    assert lb.audit.check(tested, [0, 2], [2, 0], tolerance=Fraction(1, 1 << 10)).holds


def test_half_the_noise_is_for_monotone_queries_only():
    """The cost of queries that move apart is more than what monotone ones pay: the doubling is needed."""
    monotone = mechanism(1, 2, (1,), monotone=True)
    one, other = (lb.audit.law(fold(monotone, values), 0) for values in ((0, 1), (1, 0)))
    assert judge(monotone.cost, one, other, Fraction(0)).verdict == "violated"
