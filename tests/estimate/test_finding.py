"""How many of the k largest are found: the floats of the estimate against the exact laws in fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from random import Random

import numpy as np
import pytest

import lastbit as lb
from lastbit.estimate.finding import Found, expected_found, zipf_counts
from lastbit.privacy.cost import Cost


def exactly(counts: list[int], k: int, p: int, q: int, r: Fraction) -> float:
    """The mean number of chosen counts that are at least the k-th largest, from the definition."""
    least = sorted(counts)[-k]
    total = hits = Fraction(0)
    for chosen in combinations(range(len(counts)), k):
        out = max(count for i, count in enumerate(counts) if i not in chosen)
        weight = r ** (p * out - q * min(counts[i] for i in chosen))
        total += weight
        hits += weight * sum(counts[i] >= least for i in chosen)
    return float(hits / total)


def test_sets_find_what_their_exact_laws_say() -> None:
    random = Random(1)
    for _ in range(40):
        n = random.randint(2, 7)
        counts, k = [random.randrange(9) for _ in range(n)], random.randrange(1, n)
        found = expected_found(counts, k, Cost.of(lb.Eta(1, 1, 2)))
        half, quarter = Fraction(1, 2), Fraction(1, 4)
        if k in (1, n - 1):
            same = exactly(counts, k, *((0, 1) if k == 1 else (1, 0)), quarter)
            assert found.both == pytest.approx(same, rel=1e-9)
            assert found.left_out == pytest.approx(same, rel=1e-9)
        else:
            assert found.both == pytest.approx(exactly(counts, k, 1, 1, half), rel=1e-9)
            assert found.left_out == pytest.approx(exactly(counts, k, 1, 0, quarter), rel=1e-9)


def test_counts_far_apart_are_all_found_and_equal_ones_are_all_as_good() -> None:
    for counts in ([10**6 * (10 - i) for i in range(20)], [7] * 20):
        found = expected_found(counts, 5, Cost.of(1))
        assert [found.noise, found.both, found.left_out] == pytest.approx([5] * 3)


def test_noise_finds_as_many_as_on_a_fixed_tape() -> None:
    # A smoke test: 300 releases of fixed words, where the mean number is off by less than 0.3.
    counts = zipf_counts(500, 3000)
    mechanism = lb.NoisyTopK(k=50, epsilon=1, resolution=1, monotone=True)
    words = np.random.default_rng(2).integers(0, 1 << 64, size=300 * 1000, dtype=np.uint64)
    draw = lb.Sampler(lb.Tape(words.tolist()))
    hits = [sum(index < 50 for index in mechanism.release(counts, draw).indices) for _ in range(300)]
    assert abs(np.mean(hits) - expected_found(counts, 50, Cost.of(1)).noise) < 0.3


def test_other_moves_and_other_costs() -> None:
    counts = zipf_counts(1000, 5000)
    apart = expected_found(counts, 20, Cost.of(1), monotone=False)
    assert apart == expected_found(counts, 20, Cost.of("1/2"))
    assert apart == expected_found(counts, 20, Cost.of(1), sensitivity=2)
    # A set that is paid in rho has the larger epsilon of a bounded range.
    ranged = expected_found(counts, 20, Cost.asked(None, None, "1/8"))
    assert ranged.both == pytest.approx(expected_found(counts, 20, Cost.of(1)).both)
    assert ranged.noise < expected_found(counts, 20, Cost.of(1)).noise


def test_the_way_that_finds_most() -> None:
    assert Found(3, 1.0, 2.0, 1.5).best == "both"
    assert Found(3, 1.0, 2.0, 2.5).best == "left-out"
    assert Found(3, 2.9, 2.0, 2.5).best == "noise"


def test_shapes_and_numbers_that_do_not_exist_are_refused() -> None:
    assert zipf_counts(4, 100, "1/2").tolist() == [100, 70, 57, 50]
    assert zipf_counts(100, 100)[[0, 24, 99]].tolist() == [100, 4, 1]
    with pytest.raises(lb.ParameterError, match="k must be less than the number of counts: got 3 of 3"):
        expected_found([1, 2, 3], 3, Cost.of(1))
    with pytest.raises(lb.ParameterError, match="top must be positive"):
        zipf_counts(4, 0)
