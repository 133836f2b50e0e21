"""The vectorised runs are the mechanisms: one run on a tape gives the answers of the mechanism on that tape."""

import hashlib
from fractions import Fraction

import numpy as np
import pytest

import lastbit as lb
from experiments import sparse_runs, top_k_runs
from experiments.after_selection import weights_of
from experiments.free_gap import best_estimates
from lastbit.estimate.blue import blue
from lastbit.estimate.tempered import tempered
from lastbit.papers.free_gap_top_k import noisy_top_k_with_gap


def tape(name: str, words: int = 1 << 14) -> lb.Tape:
    stream = hashlib.shake_256(name.encode()).digest(8 * words)
    return lb.Tape(np.frombuffer(stream, "<u8").tolist())


VALUES = np.sort(np.array([900 // (i + 1) for i in range(300)], np.int64))[::-1]


@pytest.mark.parametrize("kind", [lb.SparseVector, lb.AdaptiveSparseVector])
@pytest.mark.parametrize("limit", [1, 2, 7])
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("noise", ["one-sided", "laplace"])
def test_one_sparse_run_is_the_mechanism(kind, limit, monotone, noise):
    mechanism = kind(threshold=40, limit=limit, epsilon=2, monotone=monotone, noise=noise)
    order = np.frombuffer(hashlib.shake_256(b"order").digest(8 * len(VALUES)), "<u8").argsort()
    for name in map(str, range(12)):
        one, other = tape(name), tape(name)
        release = mechanism.release(VALUES[order], draw=lb.Sampler(one))
        above = sparse_runs.ask(mechanism._plan, VALUES, order[None, :], 1, lb.Sampler(other))
        assert order[list(release.indices)].tolist() == above.queries.tolist()
        assert list(release.gaps) == above.gaps.tolist()
        assert list(release.spent) == [
            mechanism._plan.branches[branch].units * mechanism._plan.unit for branch in above.branches
        ]
        assert one.consumed == other.consumed


def test_many_sparse_runs_ask_in_their_own_orders_and_stop_by_themselves():
    mechanism = lb.AdaptiveSparseVector(threshold=40, limit=3, epsilon=2)
    orders = np.stack([np.arange(len(VALUES)), np.arange(len(VALUES))[::-1]])
    above = sparse_runs.ask(mechanism._plan, VALUES, orders, 10, lb.Sampler(tape("orders")))
    spent = np.bincount(above.runs, [mechanism._plan.branches[branch].units for branch in above.branches], 10)
    assert (spent <= mechanism._plan.units).all()
    assert (spent == mechanism._plan.units).all()
    first = [above.queries[above.runs == run][0] for run in range(10)]
    assert max(first[:5]) < min(first[5:])


@pytest.mark.parametrize(("k", "epsilon"), [(1, 1), (3, 1), (7, "1/2"), (20, "1/50")])
@pytest.mark.parametrize("monotone", [False, True])
def test_one_selection_is_the_mechanism(k, epsilon, monotone):
    mechanism = lb.NoisyTopK(k=k, epsilon=epsilon, monotone=monotone)
    steps = VALUES * 10
    for name in map(str, range(8)):
        one, other = tape(name), tape(name)
        release = mechanism.release(VALUES, draw=lb.Sampler(one))
        chosen = top_k_runs.with_exponential_noise(mechanism._selector, steps, 1, lb.Sampler(other))
        assert release.indices == tuple(chosen.indices[0].tolist())
        assert release.gap_steps == tuple(chosen.gaps[0].tolist())
        assert one.consumed == other.consumed


@pytest.mark.parametrize("k", [1, 4])
def test_one_selection_with_laplace_noise_is_the_papers(k):
    # Scale 2k, one word a draw: then single draws and a vector of them read the same words.
    rate = lb.Rate.from_epsilon(Fraction(1, 2 * k))
    for name in map(str, range(8)):
        one, other = tape(name), tape(name)
        listing = noisy_top_k_with_gap(VALUES.tolist(), k, Fraction(1), 1, lb.Sampler(one))
        chosen = top_k_runs.with_laplace_noise(k, rate, VALUES, 1, lb.Sampler(other))
        assert listing == tuple(zip(chosen.indices[0].tolist(), chosen.gaps[0].tolist(), strict=True))


def test_each_of_many_selections_is_right_given_its_cells():
    # Noise far below the distances of the values: every run must select the same, in order, whatever the others do.
    mechanism = lb.NoisyTopK(k=3, epsilon=1000, resolution=1)
    values = np.array([9000, 8000, 7000, 6000, 5, 5, 5, 0])
    chosen = top_k_runs.with_exponential_noise(mechanism._selector, values, 50, lb.Sampler(tape("many")))
    assert chosen.indices.tolist() == [[0, 1, 2]] * 50
    assert np.abs(chosen.gaps - 1000).max() <= 1
    assert len({tuple(gaps) for gaps in chosen.gaps.tolist()}) > 1


def test_best_estimates_are_blue():
    measured, gaps = np.array([[10, 4, 1], [7, 7, 7]]), np.array([[3, 2, 9], [0, 1, 5]])
    found = best_estimates(measured, gaps, 0.5)
    for row, exact in zip(found, zip(measured.tolist(), gaps.tolist(), strict=True), strict=True):
        wanted = blue(*([Fraction(each) for each in part] for part in exact), Fraction(1, 2))
        assert row.tolist() == pytest.approx([float(each) for each in wanted], rel=1e-12)


def test_weights_after_selection_are_those_of_the_mechanism():
    measured, gaps = np.array([[90.0, 55, 30, 20, 4], [90.0, 80, 70, 60, 50]]), np.array([[30.0, 30, 9, 1], [10.0] * 4])
    line = best_estimates(measured, gaps, 0.0)
    found = line + weights_of(measured - line, 0.5, 8.0) * (measured - line)
    for row, values, between in zip(found, measured, gaps, strict=True):
        exact = ([Fraction(each) for each in part] for part in (values, between))
        assert row.tolist() == pytest.approx([float(each) for each in tempered(*exact, Fraction(1, 2), Fraction(8))])
