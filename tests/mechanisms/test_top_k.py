"""Noisy top-k and max: what they take, refuse and publish, and the selection against its plain reading."""

import json
import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest

import lastbit as lb
from lastbit.mechanisms.top_k import _ranks
from lastbit.mechanisms.top_k.selector import Selector
from lastbit.papers.secure_top_k import geometric_of_coins, secure_top_k, top_k_with_rounding
from tests.limited_draws import STOPPED, stop_after

FAR = [500, 100, 300, 200, 400]
"""So far apart that epsilon = 100 always finds the order."""


def tape(words: int, seed: int = 1) -> lb.Tape:
    source = Random(seed)
    return lb.Tape(source.getrandbits(64) for _ in range(words))


def plain(steps: list[int], selector: Selector, draw: lb.Draw) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The selection as its docstring reads, in Python integers."""
    n, m = len(steps), 1 << selector.shift
    coarse = [int(v) for v in draw.geometric(selector.coarse, n)]
    least = [step + v * m for step, v in zip(steps, coarse, strict=True)]
    edge = sorted(least, reverse=True)[min(selector.k, n - 1)]
    in_play = {i for i in range(n) if least[i] + m - 1 >= edge}
    highest = sorted(range(n), key=lambda i: -least[i])[: selector.width]
    drawn = sorted(in_play.union(highest)) if n > selector.few else range(n)
    fine = draw.truncated_geometric(selector.rate, m, len(drawn)).tolist() if m > 1 else [0] * len(drawn)
    order = draw.permutation(len(drawn)).tolist()
    place = {i: (least[i] + low, rank) for i, low, rank in zip(drawn, fine, order, strict=True)}
    best = sorted(drawn, key=place.__getitem__, reverse=True)[: selector.k + 1]
    gaps = [place[i][0] - place[j][0] - (place[i][1] < place[j][1]) for i, j in pairwise(best)]
    return tuple(best[: selector.k]), tuple(gaps)


@pytest.mark.parametrize("kind", [np.int64, object])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 31, 32, 33, 63, 64, 65, 200, 1001])
@pytest.mark.parametrize(("k", "shift"), [(1, 0), (1, 3), (2, 4), (3, 1)])
def test_contenders_are_the_highest_and_who_can_come_within_reach(k: int, shift: int, n: int, kind: type) -> None:
    source = Random(n)
    selector = Selector(k, lb.Rate.from_epsilon("1/500"), shift)
    for spread in (1, 10, 100, 10_000):
        least = [source.randrange(spread) for _ in range(n)]
        edge = sorted(least, reverse=True)[min(k, n - 1)]
        reach = (1 << shift) - 1
        in_play = [i for i in range(n) if least[i] + reach >= edge]
        highest = sorted(range(n), key=lambda i: -least[i])[: selector.width]
        assert selector.in_play(np.array(least, kind)).tolist() == in_play
        contenders = sorted({*in_play, *highest}) if n > selector.few else list(range(n))
        assert selector.contenders(np.array(least, kind)).tolist() == contenders


def test_contenders_are_told_from_the_one_after_the_selected() -> None:
    # One is far ahead. The next, and the last of the contenders, are equal to those left out, who are in play.
    assert _ranks.contenders(np.array([9] + [5] * 20), 8, 1, 1) is None
    assert _ranks.contenders(np.array([9] + [5] * 20), 8, 0, 4)[0].tolist() == list(range(8))
    assert _ranks.contenders(np.array([9] + [5] * 20), 8, 0, 5) is None
    lowest = np.array([-(1 << 63)] * 2)
    assert _ranks.contenders(lowest, 1, 0, 1) is None


def _partition(order: list[int], front: Callable[[int], bool]) -> int:
    count = 0
    for i in range(len(order)):
        each = order[i]
        order[i], order[count] = order[count], each
        count += front(each)
    return count


def _hard_to_part(n: int) -> list[int]:
    """Values that are the middle of three wherever the kernel looks, so that each round takes three of them away."""
    value: dict[int, int] = {}
    order, rounds = list(range(n)), 0
    while len(order) > 8 and rounds < 70:
        looked_at = (order[0], order[len(order) >> 1], order[-1])
        for each in looked_at:
            value.setdefault(each, 10**6 - len(value))
        middle = sorted(value[each] for each in looked_at)[1]
        order = order[_partition(order, lambda each, middle=middle: value.get(each, -1) > middle) :]
        order = order[_partition(order, lambda each, middle=middle: value.get(each, -1) >= middle) :]
        rounds += 1
    rest = [index for index in range(n) if index not in value]
    return [value[i] if i in value else rest.index(i) * 37 % len(rest) for i in range(n)]


@pytest.mark.parametrize("width", [140, 160, 200, 240])
def test_contenders_of_an_order_that_is_made_to_be_bad(width: int) -> None:
    values = _hard_to_part(250)
    best = sorted(sorted(range(250), key=lambda i: (-values[i], i))[:width])
    assert _ranks.contenders(np.array(values), width, 0, 1)[0].tolist() == best


def test_a_sampler_with_draws_of_its_own_is_asked() -> None:
    asked = []

    class Own(lb.Sampler):
        def geometric(self, rate: lb.Rate, size: int | None = None) -> Any:
            asked.append(size)
            return np.zeros(size, np.int64)

    found = lb.NoisyTopK(k=2, epsilon=1, resolution=1).release([3, 9, 5], Own())
    assert (asked, found.indices) == ([3], (1, 2))


@pytest.mark.parametrize(("k", "epsilon"), [(1, "1/1000"), (1, "3"), (4, "1/20"), (20, "1/2"), (100, "1/1000")])
def test_more_than_the_width_are_in_play_with_probability_below_2_to_the_minus_64(k: int, epsilon: str) -> None:
    selector = Selector.of(k, lb.Rate.from_epsilon(epsilon))
    climbers, q = selector.width - 1, Fraction(selector.coarse.x, 1 << selector.coarse.y)
    reached = [math.comb(climbers, i) * q**i * (1 - q) ** (climbers - i) for i in range(k + 1)]
    assert sum(reached) < Fraction(1, 1 << 64)


@pytest.mark.parametrize("n", [64, 300])
@pytest.mark.parametrize("mechanism", [lb.NoisyMax(epsilon=1), lb.NoisyTopK(k=4, epsilon="1/100")])
def test_the_number_of_words_does_not_depend_on_the_values(mechanism: lb.Mechanism, n: int) -> None:
    inputs = [np.zeros(n, np.int64), np.arange(n), np.arange(n) * 10**6, np.full(n, 10**12), np.arange(n) // 7]
    read = set()
    for seed in range(5):
        for values in inputs:
            words = tape(3 * n, seed)
            mechanism.release(values, lb.Sampler(words))
            read.add(words.consumed)
    assert len(read) == 1


SHAPES = [(1, 1), (2, 1), (5, 4), (5, 5), (40, 3), (100, 2), (300, 20)]


@pytest.mark.parametrize(
    ("n", "k", "epsilon"),
    [
        (n, k, epsilon)
        for n, k in SHAPES
        for epsilon in ("3", "1/500", "1e-9", "5e-19", "2.2e-19", "1e-25")
        if n < 9 or "-" not in epsilon
    ],
)
def test_the_selection_is_its_plain_reading(n: int, k: int, epsilon: str) -> None:
    """Also where noise is beyond int64 (1e-25), and where only its sum with the steps is (about 2^-61)."""
    selector = Selector.of(k, lb.Rate.from_epsilon(epsilon))
    source = Random(n * k)
    for spread in (1, 10**6, 1 << 61):
        steps = np.array([source.randrange(-spread, spread + 1) for _ in range(n)])
        fast, slow = tape(8 * n + 8, spread), tape(8 * n + 8, spread)
        indices, ahead = selector.select(n, steps.__getitem__, lb.Sampler(fast))
        answer = indices, tuple(ahead.tolist())
        assert answer == plain(steps.tolist(), selector, lb.Reference(slow))
        assert fast.consumed == slow.consumed
        assert all(type(number) is int for part in answer for number in part)


def test_where_ties_are_likely_everyone_is_drawn_for() -> None:
    selector = Selector.of(3, lb.Rate(1, 10))
    assert selector.width > 1000
    steps = np.zeros(1000, np.int64)
    fast, slow = tape(2100), tape(2100)
    indices, ahead = selector.select(1000, steps.__getitem__, lb.Sampler(fast))
    assert (indices, tuple(ahead.tolist())) == plain(steps.tolist(), selector, lb.Reference(slow))
    assert fast.consumed == slow.consumed > 1900


def test_more_candidates_than_are_converted_at_once() -> None:
    values = np.zeros(200_000, np.int64)
    values[[7, 70_000, 199_999]] = 3_000_000, 1_000_000, 2_000_000
    for given in (values, values.astype(float), values.astype(np.int32)):
        assert lb.NoisyTopK(k=3, epsilon=1).release(given).indices == (7, 199_999, 70_000)


@pytest.mark.parametrize(
    "values",
    [
        FAR,
        tuple(FAR),
        [float(value) for value in FAR],
        [Fraction(value) + Fraction(1, 3) for value in FAR],
        *(np.array(FAR, kind) for kind in (np.int16, np.uint16, np.int64, np.uint64, np.float32, np.float64, object)),
        np.array([FAR]),
    ],
)
def test_numbers_of_any_kind_are_taken(values: object) -> None:
    release = lb.NoisyTopK(k=3, epsilon=100).release(values)
    assert release.indices == (0, 4, 2)
    assert all(abs(gap - 100) < 20 for gap in release.gaps)


@pytest.mark.parametrize("worst", [float("nan"), float("-inf"), -(10**400)])
def test_no_value_is_refused(worst: float) -> None:
    assert lb.NoisyTopK(k=1, epsilon=100).release([worst, float("inf"), 0]).indices == (1,)


def test_everyone_can_be_selected_with_one_gap_less() -> None:
    release = lb.NoisyTopK(k=5, epsilon=500).release(FAR)
    assert release.indices == (0, 4, 2, 3, 1)
    assert len(release.gaps) == 4
    assert release.columns()["gap"][-1] is None
    alone = lb.NoisyMax(epsilon=1).release([3])
    assert (alone.index, alone.gap, alone.gaps) == (0, None, ())


@pytest.mark.parametrize("n", [0, 1, 2])
def test_too_few_candidates_are_refused_before_anything_is_drawn(n: int) -> None:
    words = tape(0)
    for mechanism in (lb.NoisyTopK(k=3, epsilon=1), lb.SelectAndMeasure(k=3, epsilon=1)):
        with pytest.raises(lb.ParameterError, match=f"k=3 and {n} candidates?.*Nothing was drawn"):
            mechanism.release([4242] * n, lb.Sampler(words))
        with pytest.raises(lb.ParameterError):
            mechanism.release(np.full(n, 4242), lb.Sampler(words))


def test_nobody_to_choose_from_is_refused() -> None:
    with pytest.raises(lb.ParameterError, match="0 candidates"):
        lb.NoisyMax(epsilon=1).release([])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 0, "epsilon": 1}, "k must be a whole number of at least 1"),
        ({"k": "1/2", "epsilon": 1}, "k must be a whole number"),
        ({"k": 1}, "exactly one of epsilon, eta and rho"),
        ({"k": 1, "epsilon": 0}, "epsilon must be positive"),
        ({"k": 1, "epsilon": 1, "monotone": "yes"}, "monotone must be True or False"),
        ({"k": 1, "epsilon": 1, "sensitivity": "1/15"}, "resolution must divide sensitivity"),
    ],
)
def test_wrong_parameters_are_refused_at_construction(parameters: dict[str, object], message: str) -> None:
    for kind in (lb.NoisyTopK, lb.SelectAndMeasure):
        with pytest.raises(lb.ParameterError, match=message):
            kind(**parameters)


@pytest.mark.parametrize("split", [0, 1, "3/2", "-1/2"])
def test_a_split_leaves_something_to_both(split: object) -> None:
    with pytest.raises(lb.ParameterError, match="split must be above 0 and below 1"):
        lb.SelectAndMeasure(k=1, epsilon=1, split=split)


def test_a_whole_k_may_come_as_any_number() -> None:
    assert lb.NoisyTopK(k="2", epsilon=1).k == lb.NoisyTopK(k=Fraction(2), epsilon=1).k == 2


def test_counts_bring_their_items() -> None:
    counts = lb.Counts(items=["a", "b", "c", "d", "e"], values=FAR, monotone=True)
    release = lb.NoisyTopK(k=2, epsilon=100, monotone=True).release(counts)
    assert release.items == ("a", "e")
    assert lb.NoisyMax(epsilon=100).release(counts).item == "a"
    assert lb.SelectAndMeasure(k=2, epsilon=200).release(counts).items == ("a", "e")
    assert lb.NoisyMax(epsilon=100).release(FAR).item is None


def test_counts_that_contradict_the_mechanism_are_refused() -> None:
    counts = lb.Counts(items="abcde", values=FAR, sensitivity=2)
    with pytest.raises(lb.ParameterError, match="sensitivity=2"):
        lb.NoisyMax(epsilon=1).release(counts)
    with pytest.raises(lb.ParameterError, match="without monotone=True"):
        lb.NoisyMax(epsilon=1, sensitivity=2, monotone=True).release(counts)


def test_gaps_add_up_between_any_two() -> None:
    release = lb.NoisyTopK(k=4, epsilon=500).release(FAR)
    assert release.gap_between(0, 3) == sum(release.gaps[:3])
    assert release.gap_between(3, 1) == -(release.gaps[1] + release.gaps[2])
    assert release.gap_between(2, 2) == 0
    assert release.gaps_float == tuple(float(gap) for gap in release.gaps)
    for i, j in ((0, 4), (-1, 0), (0, "x")):
        with pytest.raises(lb.ParameterError):
            release.gap_between(i, j)


def test_a_release_prints_as_a_table_and_travels() -> None:
    counts = lb.Counts(items=["flu", "cold"], values=[500, 100])
    release = lb.NoisyTopK(k=2, epsilon=100).release(counts)
    lines = str(release).splitlines()
    assert lines[0] == "The largest with gaps, epsilon 100"
    assert lines[1].split() == ["item", "index", "gap"]
    assert lines[3].split() == ["cold", "1"]
    assert json.loads(release.to_json())["item"] == ["flu", "cold"]
    assert pickle.loads(pickle.dumps(release)) == release
    assert {release} == {pickle.loads(pickle.dumps(release))}


def test_a_measured_release_prints_and_travels() -> None:
    release = lb.SelectAndMeasure(k=2, epsilon=200).release(FAR)
    assert str(release).splitlines()[1].split() == ["index", "gap", "measurement", "standard", "error", "estimate"]
    assert pickle.loads(pickle.dumps(release)) == release
    assert len(release.estimates) == len(release.measurements) == len(release.intervals()) == 2
    assert all(abs(estimate - truth) < 30 for estimate, truth in zip(release.estimates, (500, 400), strict=True))


def test_a_release_without_a_last_gap_can_be_plotted() -> None:
    pytest.importorskip("matplotlib")
    assert lb.NoisyTopK(k=5, epsilon=500).release(FAR).plot() is not None


def test_the_measured_selection_is_the_same_on_both_interpreters() -> None:
    mechanism = lb.SelectAndMeasure(k=3, epsilon="1/10", split="1/3")
    fast, slow = tape(100), tape(100)
    assert mechanism.release(FAR, lb.Sampler(fast)) == mechanism.release(np.array(FAR), lb.Reference(slow))
    assert fast.consumed == slow.consumed


def test_measurements_beyond_int64_stay_exact() -> None:
    mechanism = lb.SelectAndMeasure(k=2, epsilon="2e-18", resolution=1)
    values = [1 << 61, -(1 << 61), 1 << 61]
    fast, slow = tape(200, 3), tape(200, 3)
    release = mechanism.release(values, lb.Sampler(fast))
    draw = lb.Reference(slow)
    indices, _ = plain(values, mechanism._selector, draw)
    noise = draw.laplace(mechanism._measurement_rate, 2).tolist()
    assert release.measurements == tuple(values[i] + by for i, by in zip(indices, noise, strict=True))


def test_the_papers_run_on_every_interpreter() -> None:
    queries, cost = (5, 0, 9, 4), Fraction(2)
    for algorithm in (
        lambda draw: top_k_with_rounding(queries, 2, cost, 2, draw),
        lambda draw: secure_top_k(queries, 2, cost, 2, 10, draw),
        lambda draw: secure_top_k(queries, 2, cost, 2, 10, draw, early_pruning=True),
        lambda draw: geometric_of_coins(2, 3, draw),
    ):
        for seed in range(20):
            assert algorithm(lb.Sampler(tape(300, seed))) == algorithm(lb.Reference(tape(300, seed)))


@pytest.mark.parametrize(("s", "t"), [(1, 1), (2, 1), (3, 2)])
def test_algorithm_5_is_geometric(s: int, t: int) -> None:
    """Stopped after a few draws; what was found encloses r^i·(1-r), r = e^(-s/t), which is itself enclosed."""
    law = lb.audit.law(stop_after(lambda draw: geometric_of_coins(s, t, draw), 18), 0)
    lost = law.masses[STOPPED]
    assert lost < Fraction(1, 20)
    terms = [Fraction((-s) ** i, t**i) for i in range(60)]
    factorial, r = 1, Fraction(0)
    for i, term in enumerate(terms):
        factorial *= max(1, i)
        r += term / factorial
    slack = Fraction(1, 10**30)
    for i in range(5):
        found = law[i][0]
        assert found - slack <= r**i * (1 - r) <= found + lost + slack
