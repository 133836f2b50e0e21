"""The kernel alone: counts, doubts and signs against Python integers, at every table position of every level."""

import math
from bisect import bisect_right
from fractions import Fraction
from itertools import pairwise, permutations
from random import Random

import numpy as np
import pytest

from lastbit import Rate, _kernel, distributions
from lastbit.tables import Table
from tests.oracle import WORD

LOSSES = ["100", "3", "1", "1/20", "1/250", "1/300", "1/2000", "1e-6", "1e-9", "1e-12"]
RATES = [Rate(1, 1), Rate(255, 8), *(Rate.from_epsilon(loss) for loss in LOSSES)]


def words_around(table: Table) -> np.ndarray:
    """0, the top, and every threshold with its neighbours."""
    near = {0, WORD - 1}
    for threshold in table.thresholds.tolist():
        near |= {max(threshold - 1, 0), threshold, min(threshold + 1, WORD - 1)}
    return np.array(sorted(near), np.uint64)


def expected(table: Table, words: np.ndarray) -> tuple[list[int], list[int]]:
    rising = table.thresholds.tolist()[::-1]
    counts = [len(rising) - bisect_right(rising, word) for word in words.tolist()]
    edges = set(rising)
    return counts, [k for k, word in enumerate(words.tolist()) if word in edges]


def inverter(table: Table) -> _kernel.Inverter:
    return _kernel.Inverter(table.thresholds, table.guide, table.origin, table.direction)


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: f"{rate.loss_upper:.2g}")
@pytest.mark.parametrize("name", ["geometric", "laplace"])
def test_every_position(name: str, rate: Rate) -> None:
    distribution = getattr(distributions, name)(rate)
    for number, level in enumerate(distribution.levels):
        table = Table.of(level)
        words = words_around(table)
        counts, doubts = expected(table, words)
        out = np.empty(len(words), np.int64)
        if number == 0:
            assert inverter(table).first(words, 1, out) == doubts
            assert out.tolist() == [table.origin + count for count in counts]
            continue
        shift = distribution.shifts[number - 1]
        for before in (0, 1, 5, -1, -2, -9):
            out[:] = before
            assert inverter(table).finer(words, 0, 1, shift, out) == doubts
            # Below zero -1-value is the magnitude, and it is the magnitude that grows.
            grown = [((before if before >= 0 else -1 - before) << shift) + count for count in counts]
            assert out.tolist() == [each if before >= 0 else -1 - each for each in grown]


@pytest.mark.parametrize("weights", [[1], [1, 0, 2, 0], list(range(1, 3000))])
def test_weights_count_downwards(weights: list[int]) -> None:
    table = Table.of(distributions.weighted(weights).levels[0])
    words = words_around(table)
    counts, doubts = expected(table, words)
    out = np.empty(len(words), np.int64)
    assert inverter(table).first(words, 1, out) == doubts
    assert out.tolist() == [table.origin - count for count in counts]


def test_steps_and_offsets() -> None:
    table = Table.of(distributions.geometric(Rate(3, 2)).levels[0])
    random = Random(1)
    words = np.array([random.getrandbits(64) for _ in range(300)], np.uint64)
    out = np.empty(100, np.int64)
    inverter(table).first(words, 3, out)
    assert out.tolist() == expected(table, words[::3])[0]
    fine = Table.of(distributions.truncated_geometric(Rate(3, 2), 8).levels[0])
    out[:] = 0
    inverter(fine).finer(words, 2, 3, 3, out)
    assert out.tolist() == expected(fine, words[2::3])[0]


@pytest.mark.parametrize("n", [1, 2, 3, 10, 1 << 32, (1 << 32) + 1, (1 << 63) - 1, 1 << 63])
@pytest.mark.parametrize("rise", [0, 1])
def test_uniform(n: int, rise: int) -> None:
    random = Random(n)
    words = [0, 1, WORD - 1, WORD // 2, *(random.getrandbits(64) for _ in range(50))]
    for cut in (1, 2, 3, n // 2, n - 1):
        words += [min(max(cut * WORD // n + step, 0), WORD - 1) for step in (-1, 0, 1)]
    if rise:
        words = words[: (1 << 63) - n + 1]  # the kernel's own limit
    out = np.empty(len(words), np.int64)
    doubts = _kernel.uniform(np.array(words, np.uint64), n, rise, out)
    for k, word in enumerate(words):
        m = n + k * rise
        first, last = word * m // WORD, ((word + 1) * m - 1) // WORD
        assert (k in doubts) == (first != last)
        assert out[k] == first


@pytest.mark.parametrize("n", [0, 1, 2, 50])
def test_shuffle(n: int) -> None:
    random = Random(n)
    picks = [random.randrange(i + 1) for i in range(n)]
    order: list[int] = []
    for i, pick in enumerate(picks):
        order.append(i)
        order[i], order[pick] = order[pick], i
    out = np.array(picks, np.int64)
    _kernel.shuffle(out)
    assert out.tolist() == order


def test_gaps_are_the_floors_of_differences() -> None:
    steps = [7, 7, 5, 5, -3, -(10**30)]
    for places in permutations(range(6)):
        values = [step + Fraction(place, 6) for step, place in zip(steps, places, strict=True)]
        assert _kernel.gaps(steps, list(places)) == [math.floor(a - b) for a, b in pairwise(values)]
    assert _kernel.gaps([], []) == _kernel.gaps([1], [0]) == []
