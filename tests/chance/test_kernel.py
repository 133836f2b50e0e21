"""The kernel alone: counts, doubts and signs against Python integers, at every table position of every level."""

import math
from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, permutations
from random import Random
from typing import Any

import numpy as np
import pytest

from lastbit import Rate
from lastbit.chance import _cells, _draws, distributions
from lastbit.chance.inversion import Geometric, Signed, Truncated
from lastbit.chance.threshold_table import ThresholdTable
from lastbit.mechanisms.top_k import _ranks, ranking
from tests.oracle import WORD

LOSSES = ["100", "3", "1", "1/20", "1/250", "1/300", "1/2000", "1e-6", "1e-9", "1e-12"]
RATES = [Rate(1, 1), Rate(255, 8), *(Rate.from_epsilon(loss) for loss in LOSSES)]


def words_around(table: ThresholdTable) -> np.ndarray:
    """0, the top, and every threshold with its neighbours."""
    near = {0, WORD - 1}
    for threshold in table.thresholds.tolist():
        near |= {max(threshold - 1, 0), threshold, min(threshold + 1, WORD - 1)}
    return np.array(sorted(near), np.uint64)


def expected_cells(table: ThresholdTable, words: np.ndarray) -> tuple[list[int], list[int]]:
    rising = table.thresholds.tolist()[::-1]
    counts = [len(rising) - bisect_right(rising, word) for word in words.tolist()]
    edges = set(rising)
    return counts, [k for k, word in enumerate(words.tolist()) if word in edges]


def inverter(table: ThresholdTable) -> _draws.Inverter:
    return _draws.Inverter(table.thresholds, table.guide, table.origin, table.direction)


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: f"{rate.loss_upper:.2g}")
@pytest.mark.parametrize("name", ["geometric", "laplace"])
def test_every_position(name: str, rate: Rate) -> None:
    below = max(0, rate.scale.bit_length() - 7)
    shift = min(below, 12)
    coarse = (Geometric if name == "geometric" else Signed)(rate, 1 << below)
    fine = [Truncated(rate, (1 << shift) - 1, 1 << below - shift)] if shift else []
    for number, level in enumerate([coarse, *fine]):
        table = ThresholdTable.of(level)
        words = words_around(table)
        counts, doubts = expected_cells(table, words)
        out = np.empty(len(words), np.int64)
        if number == 0:
            assert inverter(table).first(words, 1, out) == doubts
            assert out.tolist() == [table.origin + count for count in counts]
            continue
        for before in (0, 1, 5, -1, -2, -9):
            out[:] = before
            assert inverter(table).finer(words, 0, 1, shift, out) == doubts
            # Below zero -1-value is the magnitude, and it is the magnitude that grows.
            grown = [((before if before >= 0 else -1 - before) << shift) + count for count in counts]
            assert out.tolist() == [each if before >= 0 else -1 - each for each in grown]


@pytest.mark.parametrize("weights", [[1], [1, 0, 2, 0], list(range(1, 3000))])
def test_weights_count_downwards(weights: list[int]) -> None:
    table = ThresholdTable.of(distributions.categorical(weights).levels[0])
    words = words_around(table)
    counts, doubts = expected_cells(table, words)
    out = np.empty(len(words), np.int64)
    assert inverter(table).first(words, 1, out) == doubts
    assert out.tolist() == [table.origin - count for count in counts]


@pytest.mark.parametrize("level", [Signed(RATES[3]), Geometric(RATES[6]), Signed(RATES[7])])
def test_one_word_is_decided_as_among_many_and_bytes_as_arrays(level: Geometric | Signed) -> None:
    first = distributions.Distribution((level,), (), lambda: iter(())).inverter
    assert first is not None
    random = Random(4)
    words = [0, WORD - 1, *(level.floor(j, 64)[0] for j in (1, 2, 40)), *(random.getrandbits(64) for _ in range(40))]
    array, out, again = np.array(words, np.uint64), np.empty(len(words), np.int64), np.empty(len(words), np.int64)
    doubts = first.first(array, 1, out)
    assert len(doubts) >= 4
    assert first.first(array.tobytes(), 1, again) == doubts
    assert again.tolist() == out.tolist()
    for k in range(len(words)):
        found = [first.one(word) for word in (array[k : k + 1], array[k : k + 1].tobytes())]
        assert found == ([None] * 2 if k in doubts else [out[k]] * 2)
    for none in (array[:0], b"", b"1234567"):
        with pytest.raises(ValueError, match="there must be a word for each sample"):
            first.one(none)


def test_steps_and_offsets() -> None:
    table = ThresholdTable.of(distributions.geometric(Rate(3, 2)).levels[0])
    random = Random(1)
    words = np.array([random.getrandbits(64) for _ in range(300)], np.uint64)
    out = np.empty(100, np.int64)
    inverter(table).first(words, 3, out)
    assert out.tolist() == expected_cells(table, words[::3])[0]
    fine = ThresholdTable.of(distributions.truncated_geometric(Rate(3, 2), 8).levels[0])
    out[:] = 0
    inverter(fine).finer(words, 2, 3, 3, out)
    assert out.tolist() == expected_cells(fine, words[2::3])[0]


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
    doubts = _draws.uniform(np.array(words, np.uint64), n, rise, out)
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
    _draws.shuffle(out)
    assert out.tolist() == order


@pytest.mark.parametrize("near", [_ranks.near, ranking.near])
def test_who_is_near_the_kth_largest(near: Callable[..., Any]) -> None:
    random = Random(1)
    for n in [*range(8), 32, 33, 300]:
        for spread in (1, 3, 10**18):
            steps = [random.randrange(-spread, spread) for _ in range(n)]
            for arranged in (steps, sorted(steps), sorted(steps, reverse=True)):
                for kept in (1, 2, n - 1, n, n + 1):
                    if kept < 1:
                        continue
                    for below in (0, 1, 1000):
                        edge = sorted(arranged)[-min(kept, n)] - below if n > kept else -(10**19)
                        expected_cells = [i for i, step in enumerate(arranged) if step >= edge]
                        places = near(np.array(arranged, np.int64), kept, below)
                        assert places.dtype == np.int64
                        assert places.tolist() == expected_cells


def as_lists(found: tuple[np.ndarray, np.ndarray]) -> tuple[list[int], list[int]]:
    return found[0].tolist(), found[1].tolist()


@pytest.mark.parametrize("ranked", [_ranks.ranked, ranking._rank_objects])
def test_ranks_and_leads_are_those_of_numbers_with_such_fractions(ranked: Callable[..., Any]) -> None:
    steps = [7, 5, 7, 5, -(1 << 63), (1 << 63) - 1]
    for places in permutations(range(6)):
        values = [step + Fraction(place, 6) for step, place in zip(steps, places, strict=True)]
        best = sorted(range(6), key=values.__getitem__, reverse=True)
        for kept in (1, 3, 6, 7):
            leads = [math.floor(values[a] - values[b]) for a, b in pairwise(best[:kept])]
            assert as_lists(ranked(np.array(steps), np.array(places), kept)) == (best[:kept], leads)
    none = np.empty(0, np.int64)
    assert as_lists(ranked(none, none, 2)) == ([], [])
    assert as_lists(ranked(np.array([1]), np.array([0]), 2)) == ([0], [])


def test_ranks_of_many_are_those_without_the_kernel() -> None:
    random = np.random.default_rng(1)
    steps, places = random.integers(0, 300, 2000), random.permutation(2000)
    assert as_lists(_ranks.ranked(steps, places, 1500)) == as_lists(ranking._rank_objects(steps, places, 1500))


def test_steps_beyond_64_bits_are_ranked_without_the_kernel() -> None:
    steps, places = np.array([10**30, 10**30 + 1, -(10**30), 10**30]), np.array([2, 0, 3, 1])
    assert as_lists(ranking.rank_steps(steps, places, 4)) == ([1, 0, 3, 2], [0, 0, 2 * 10**30 - 1])
    assert ranking.near(steps, 1, 1).tolist() == [0, 1, 3]


@pytest.mark.parametrize(
    ("steps", "places"),
    [
        ([1, 2], [0]),
        ([1], [0, 1]),
        ([1, 2], [0, 2]),
        ([1, 2], [0, -1]),
        (np.array([1, 2], np.int32), [0, 1]),
        (np.array([1.0, 2.0]), [0, 1]),
        (np.array([1, 2], np.uint64), [0, 1]),
        (np.array([1, 2], object), [0, 1]),
        ([1, 2, 3, 4], np.arange(8)[::2]),
    ],
)
def test_the_kernel_ranks_whole_arrays_of_one_length_only(steps: Any, places: Any) -> None:
    with pytest.raises((ValueError, BufferError)):
        _ranks.ranked(np.asarray(steps), np.asarray(places), 2)


def test_noise_gets_its_steps_or_is_left_alone() -> None:
    room = 1 << 62
    steps = np.array([-(1 << 61), 1 << 61, 0, 5])
    for extreme in (0, room, -room):
        noise = np.array([1, -1, extreme, 7])
        assert _cells.add(steps, noise, room)
        assert noise.tolist() == [1 - (1 << 61), (1 << 61) - 1, extreme, 12]
    for beyond in (room + 1, -room - 1, (1 << 63) - 1, -(1 << 63)):
        noise = np.array([1, -1, beyond, 7])
        assert not _cells.add(steps, noise, room)
        assert noise.tolist() == [1, -1, beyond, 7]
    assert _cells.add(steps[:0], noise[:0], room)
    with pytest.raises(ValueError, match="for each step"):
        _cells.add(steps, noise[:3], room)


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: f"{rate.loss_upper:.2g}")
@pytest.mark.parametrize("name", ["geometric", "laplace"])
def test_cells_onto_steps_are_the_cells_and_the_steps(name: str, rate: Rate) -> None:
    law = getattr(distributions, name)(rate)
    if law.inverter is None:
        pytest.skip("takes more than a word")
    random = Random(7)
    words = np.array([random.getrandbits(64) for _ in range(500)], np.uint64)
    cells, steps = np.empty(500, np.int64), np.array([random.randrange(-(1 << 61), 1 << 61) for _ in range(500)])
    doubts = law.inverter.first(words, 1, cells)
    decided = np.setdiff1d(np.arange(500), doubts)
    least, most = int(cells[decided].min()), int(cells[decided].max())
    found = law.inverter.onto(words[decided], steps[decided], 1 << 62)
    assert found.tolist() == [int(cell) + int(step) for cell, step in zip(cells[decided], steps[decided], strict=True)]
    # Words as bytes, and both sides of the room.
    again = law.inverter.onto(words[decided].tobytes(), steps[decided], max(-least, most))
    assert again.tolist() == found.tolist()
    assert law.inverter.onto(words[decided], steps[decided], max(-least, most) - 1) is None
    assert law.inverter.onto(words[:0], steps[:0], 0).tolist() == []
    with pytest.raises(ValueError, match="a word for each step"):
        law.inverter.onto(words, steps[:3], 1 << 62)


def test_a_cell_in_doubt_is_not_added() -> None:
    law = distributions.laplace(Rate(1, 1))
    table = ThresholdTable.of(law.levels[0])
    edge = int(table.thresholds[3])
    for place in range(3):
        words = np.full(3, 12345, np.uint64)
        words[place] = edge
        assert law.inverter.onto(words, np.zeros(3, np.int64), 1 << 62) is None


@pytest.mark.parametrize("origin", [-32_769, -32_768, -32_767, -1, 32_766, 32_767, 32_768, 1 << 40])
@pytest.mark.parametrize("direction", [-1, 1])
def test_a_cell_is_never_taken_for_a_cut_bucket(origin: int, direction: int) -> None:
    # Where few buckets are cut, a short table of small numbers holds the cells: it must not be made of others.
    thresholds = np.array([3 << 62, 1 << 63, 5, 0], np.uint64)
    guide = np.zeros((1 << 11) + 1, np.uint32)
    firsts = [bucket << 53 for bucket in range(1 << 11)]
    guide[:-1] = [sum(first <= threshold for threshold in thresholds.tolist()) for first in firsts]
    words = [0, 4, 5, 6, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 63) + 1, 3 << 62, WORD - 1]
    out = np.empty(len(words), np.int64)
    doubts = _draws.Inverter(thresholds, guide, origin, direction).first(np.array(words, np.uint64), 1, out)
    assert out.tolist() == [origin + direction * sum(word < each for each in thresholds.tolist()) for word in words]
    assert doubts == [words.index(0), words.index(5), words.index(1 << 63), words.index(3 << 62)]
