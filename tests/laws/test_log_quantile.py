"""Quantiles on a log scale, exactly: the law is the listed grid with public weights; the cost is that of any scale."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest

import lastbit as lb
from lastbit.chance.powers import Powers
from lastbit.chance.scaled import decide_class, decide_near_class
from lastbit.mechanisms.quantiles.rank_error import furthest
from lastbit.mechanisms.quantiles.ranked_values import LogValues, WideLogValues, _GapSizes, rank_on_scale
from lastbit.values.log_scale import LogScale

Law = dict[tuple[int, ...], Fraction]
QS = [Fraction(text) for text in ("1/2", "1/4", "2/5", "0", "1")]
QUARTILES = ["1/4", "1/2", "3/4"]
FURTHEST = 10**18


def weights(low: int, high: int) -> dict[int, int]:
    """W(|y| + 1) - W(|y|), and 2·2^k for zero. W(y) = ⌊2^k·log2 y⌋ is the length of y^(2^k), less 1."""
    k = (max(abs(low), abs(high)) + 1).bit_length() + 2
    lengths = [0, *((y ** (1 << k)).bit_length() - 1 for y in range(1, max(abs(low), abs(high)) + 2))]
    return {y: (lengths[abs(y) + 1] - lengths[abs(y)]) if y else 2 << k for y in range(low, high + 1)}


def error(q: Fraction, values: Any, y: int) -> int:
    below, at_or_below = sum(x < y for x in values), sum(x <= y for x in values)
    rank = q * len(values)
    return int(q.denominator * max(0, below - rank, rank - at_or_below))


def listed_law(q: Fraction, r: Fraction, values: Any, prior: dict[int, int]) -> dict[int, Fraction]:
    masses = {y: weight * r ** error(q, values, y) for y, weight in prior.items()}
    total = sum(masses.values())
    return {y: mass / total for y, mass in masses.items()}


def by_value(mechanism: lb.Quantile, values: Any) -> dict[Any, Fraction]:
    law = lb.audit.law(mechanism.program(values), 0)
    assert law.unexplored == 0
    return {release.value: mass for release, mass in law.masses.items()}


def by_values(mechanism: Any, values: Any) -> Law:
    law = lb.audit.law(mechanism.program(values), 0)
    assert law.unexplored == 0
    return {tuple(int(value) for value in release.values): mass for release, mass in law.masses.items()}


@pytest.mark.parametrize("q", QS, ids=str)
@pytest.mark.parametrize("bounds", [(0, 9), (-4, 3), (3, 8), (-6, -1)])
def test_the_law_is_the_listed_grid_with_the_weights_of_the_scale(q: Fraction, bounds: tuple[int, int]) -> None:
    mechanism = lb.Quantile(q=q, bounds=bounds, scale="log", eta=lb.Eta(1, 1, furthest(q)))
    low, high = bounds
    prior = weights(low, high)
    for values in [(), (low,), (high, high), (low + 1, low + 1, high), (low, low + 2, low + 2, high - 1)]:
        assert by_value(mechanism, values) == listed_law(q, Fraction(1, 2), values, prior)


def test_the_law_in_steps_of_a_resolution() -> None:
    mechanism = lb.Quantile(bounds=("-1/2", 1), resolution="1/4", scale="log", epsilon="1/3")
    rate = mechanism._rank_error.rate.fraction
    law = listed_law(Fraction(1, 2), rate, (-1, 3, 3), weights(-2, 4))
    assert by_value(mechanism, [0.76, Fraction(-1, 4), Fraction(3, 4)]) == {
        Fraction(y, 4): mass for y, mass in law.items()
    }


@pytest.mark.parametrize("q", QS, ids=str)
def test_the_loss_and_its_range_are_within_the_cost_on_every_neighbour(q: Fraction) -> None:
    odds, prior = 2 ** furthest(q), weights(-2, 3)
    for n in range(4):
        for values in combinations_with_replacement(range(-2, 4), n):
            law = listed_law(q, Fraction(1, 2), values, prior)
            for more in range(-2, 4):
                other = listed_law(q, Fraction(1, 2), (*values, more), prior)
                ratios = [law[y] / other[y] for y in prior]
                assert max(ratios) <= odds
                assert max(ratios) / min(ratios) <= odds
                assert min(ratios) * odds >= 1
    mechanism = lb.Quantile(q=q, bounds=(-2, 3), scale="log", eta=lb.Eta(1, 1, furthest(q)))
    for data in ((), (1,), (-2, 3)):
        assert lb.audit.check_all(mechanism, data, tolerance=0).holds


@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "1/8"}, {"eta": lb.Eta(3, 2, 1)}])
def test_cost_and_rho_are_those_of_a_linear_scale(cost: dict[str, Any]) -> None:
    log, linear = (lb.Quantile(bounds=(-1, 2), scale=scale, **cost) for scale in ("log", "linear"))
    assert log.cost == linear.cost
    assert lb.audit.check_all(log, [1], tolerance=0).holds


def halves(mechanism: Any, values: list[int], prior: dict[int, int]) -> Law:
    """The law of the splits, as the paper writes it, on listed points with their weights."""
    levels = len(mechanism.qs).bit_length()

    def many(data: list[int], low: int, high: int, qs: Any, least: Fraction, most: Fraction) -> Law:
        if not qs:
            return {(): Fraction(1)}
        i = len(qs) // 2
        share = (qs[i] - least) / (most - least)
        rate = mechanism.cost.rate(Fraction(1, levels * furthest(share))).fraction
        inside = {y: weight for y, weight in prior.items() if low <= y <= high}
        law: Law = {}
        for y, chance in listed_law(share, rate, data, inside).items():
            left = many([x for x in data if x < y], low, y, qs[:i], least, qs[i])
            right = many([x for x in data if x >= y], y, high, qs[i + 1 :], qs[i], most)
            for (a, p), (b, c) in product(left.items(), right.items()):
                law[(*a, y, *b)] = law.get((*a, y, *b), Fraction(0)) + chance * p * c
        return law

    return many(values, min(prior), max(prior), mechanism.qs, Fraction(0), Fraction(1))


def test_several_quantiles_have_the_law_of_the_splits() -> None:
    for qs in (["1/2"], ["1/3", "1/2"], QUARTILES):
        mechanism = lb.Quantiles(qs=qs, bounds=(-1, 2), scale="log", eta=lb.Eta(1, 1, 12), spread=1)
        for values in ([], [2], [0, 0], [-1, 1, 1]):
            assert by_values(mechanism, values) == halves(mechanism, values, weights(-1, 2))


def test_the_parts_of_a_step_share_its_weight() -> None:
    coarse = lb.Quantiles(qs=["1/2", "3/4"], bounds=(-1, 2), scale="log", eta=lb.Eta(1, 1, 12), spread=3)
    # Each part of a step weighs what the step weighs: in units that are a third, all three weigh as much as the step.
    fine = {3 * y + part: weight for y, weight in weights(-1, 2).items() for part in range(3)}
    mixed: Law = {}
    for parts in product(range(3), repeat=2):
        data = sorted(3 * x + part for x, part in zip([0, 0], parts, strict=True))
        for value, mass in halves(coarse, data, fine).items():
            floored = tuple(y // 3 for y in value)
            mixed[floored] = mixed.get(floored, Fraction(0)) + mass / 9
    assert by_values(coarse, [0, 0]) == mixed


def test_the_loss_of_several_is_within_the_cost() -> None:
    mechanism = lb.Quantiles(qs=QUARTILES, bounds=(-1, 2), scale="log", eta=lb.Eta(1, 1, 4), spread=1)
    prior, worst = weights(-1, 2), Fraction(1)
    for n in range(3):
        for values in combinations_with_replacement(range(-1, 3), n):
            law = halves(mechanism, list(values), prior)
            for more in range(-1, 3):
                other = halves(mechanism, sorted([*values, more]), prior)
                ratios = [law[each] / other[each] for each in law]
                worst = max(worst, *ratios, 1 / min(ratios))
    assert 4 < worst <= 16
    for spread, values in ((1, (0, 2)), (2, (1,))):
        checked = lb.Quantiles(qs=["1/2", "3/4"], bounds=(0, 2), scale="log", eta=lb.Eta(1, 1, 4), spread=spread)
        assert lb.audit.check(checked, values, (*values, 2), tolerance=0).holds


def test_groups_have_the_law_of_one_group() -> None:
    parameters: dict[str, Any] = {"qs": ["1/2"], "bounds": (-1, 2), "scale": "log", "eta": lb.Eta(1, 1, 2)}
    groups = lb.GroupQuantiles(groups=["a", "b"], **parameters)
    one = lb.Quantiles(**parameters)
    first, second = by_values(one, [1, 2]), by_values(one, [])
    law = lb.audit.law(groups.program({"a": [1, 2]}), 0)
    assert {tuple(int(row[0]) for row in release.values): mass for release, mass in law.masses.items()} == {
        (*a, *b): p * q for (a, p), (b, q) in product(first.items(), second.items())
    }


@pytest.mark.parametrize("q", QS, ids=str)
def test_the_ranks_hold_at_their_level(q: Fraction) -> None:
    mechanism = lb.Quantile(q=q, bounds=(-9, 20), scale="log", eta=lb.Eta(1, 1, furthest(q)))
    prior = weights(-9, 20)
    for level in (Fraction(1, 2), Fraction(9, 10)):
        for magnitude in (None, 2, 7):
            ranks = mechanism.accuracy(level, magnitude=magnitude)
            for values in [
                (),
                (2,) * 9,
                (-2,) * 30,
                (20,) * 9,
                (0, 0, 2, 20, 20),
                (-9,) * 5 + (7,) * 6,
                (1,) * 8 + (2,),
            ]:
                # The value at the quantile's rank, rounded up, is what the magnitude speaks of.
                rank = max(1, -(-q.numerator * len(values) // q.denominator))
                if magnitude is not None and values and abs(sorted(values)[rank - 1]) > magnitude:
                    continue
                law = listed_law(q, Fraction(1, 2), values, prior)
                held = sum(mass for y, mass in law.items() if error(q, values, y) <= ranks * q.denominator)
                assert held >= level
            release = mechanism.release([1, 2, 3])
            assert release.ranks(level, magnitude=magnitude) == ranks
    assert mechanism.accuracy(magnitude=1) < mechanism.accuracy(magnitude=20) == mechanism.accuracy()


def test_the_ranks_are_tight_where_one_point_is_right() -> None:
    # n equal values at the end, the point that weighs least: all others have the same error.
    mechanism = lb.Quantile(bounds=(-20, 20), scale="log", eta=lb.Eta(1, 1, 2))
    level, prior = Fraction(9, 10), weights(-20, 20)
    n = int(mechanism.accuracy(level) * 2)
    chances = [listed_law(Fraction(1, 2), Fraction(1, 2), [20] * count, prior)[20] for count in (n - 1, n, n + 1)]
    assert chances[0] < level <= chances[2]


def test_the_ranks_of_several_hold_where_values_are_near_zero() -> None:
    # Two quantiles of few values without ties: the worst of all is within the stated ranks often enough.
    mechanism = lb.Quantiles(qs=["1/2", "3/4"], bounds=(-3, 9), scale="log", eta=lb.Eta(1, 1, 16), spread=1)
    level = Fraction(3, 4)
    for magnitude in (4, None):
        bounds = mechanism.accuracy(level, magnitude=magnitude)
        for values in ([1, 2, 3, 4], [-3, -1, 0, 2], [0, 1, 2, 3, 4]):
            held = Fraction(0)
            for points, mass in halves(mechanism, values, weights(-3, 9)).items():
                errors = [
                    Fraction(error(q, values, y), q.denominator) for q, y in zip(mechanism.qs, points, strict=True)
                ]
                held += mass * all(off <= bound for off, bound in zip(errors, bounds, strict=True))
            assert held >= level
    assert all(near < far for near, far in zip(mechanism.accuracy(magnitude=4), mechanism.accuracy(), strict=True))


TAPES = [[3 << 61, 5, 9, 1], [0] * 4, [(1 << 64) - 1] * 3 + [7], [1 << 63] * 3 + [2], [77 << 50, 1 << 60, 2, 3]]


@pytest.mark.parametrize("words", TAPES)
@pytest.mark.parametrize("bounds", [(0, 10), None, (-(1 << 61), 1 << 61), (10**17, 10**17 + 50)])
def test_sampler_and_reference_release_the_same(words: list[int], bounds: Any) -> None:
    one = lb.Quantile(q="0.3", bounds=bounds, resolution=1, scale="log", epsilon=1)
    several = lb.Quantiles(qs=QUARTILES, bounds=bounds, resolution=1, scale="log", epsilon=1)
    low, high = one.bounds
    for values in ([], [3], [0] * 20 + [5] * 20, list(range(-20, 30)), [low] * 3 + [high] * 3):
        for mechanism in (one, several):
            outcomes = []
            for twin in (lb.Sampler, lb.Reference):
                tape = lb.Tape([*words, *(word * 0x9E3779B97F4A7C15 % (1 << 64) for word in range(1, 99))])
                outcomes.append((mechanism.release(values, twin(tape)), tape.consumed))
            assert outcomes[0] == outcomes[1]
            published = outcomes[0][0]
            assert all(
                low <= value <= high for value in getattr(published, "values", (getattr(published, "value", 0),))
            )


def test_the_words_do_not_tell_the_values() -> None:
    mechanism = lb.Quantile(resolution=1, epsilon=1)
    for values in ([], [0], [7] * 100, list(range(100)), [FURTHEST] * 50):
        tape = lb.Tape([99 << 55, 12345 << 40, 1, 1, 1])
        mechanism.release(values, lb.Sampler(tape))
        assert tape.consumed == 4


def test_bounds_may_be_left_out_where_a_resolution_is_said() -> None:
    mechanism = lb.Quantile(resolution="1/100", epsilon=1)
    assert mechanism.scale == "log"
    assert mechanism.bounds == (-(10**16), 10**16)
    assert mechanism == lb.Quantile(bounds=(-(10**16), 10**16), resolution="1/100", scale="log", epsilon=1)
    # A coarse grid ends before.
    assert lb.Quantile(resolution=7, epsilon=1).bounds[1] == 7 * ((1 << 61) // 7)
    assert lb.Quantiles(qs=QUARTILES, resolution=1, epsilon=1).spread == 1 << 16
    odd: list[Any] = [float("inf"), 1e300, None, float("nan"), "n/a", float("-inf"), 10**30]
    assert mechanism._steps(odd).tolist() == [FURTHEST, FURTHEST, -FURTHEST, FURTHEST]


def test_far_and_near_values_fit_into_64_bits() -> None:
    # So much cost that the value at the rank is what comes out, on tapes that are not rare.
    for at in (0, 1, -1, 12345, -(10**9), FURTHEST, -FURTHEST, FURTHEST - 1):
        for mechanism in (
            lb.Quantile(resolution=1, epsilon=100),
            lb.Quantiles(qs=["1/2"], resolution=1, epsilon=100),
            lb.Quantiles(qs=QUARTILES, resolution=1, epsilon=100),
        ):
            # Words that differ, so that the parts of the step do.
            tape = lb.Tape([(i * 0x9E3779B97F4A7C15) % (1 << 64) for i in range(3, 70)])
            published: Any = mechanism.release([at] * 40, lb.Sampler(tape))
            assert {*getattr(published, "values", (getattr(published, "value", at),))} == {at}
    mechanism = lb.Quantile(q="0", bounds=(-(1 << 61), 1 << 61), scale="log", epsilon=100)
    assert mechanism.release([-(1 << 61)] * 30, lb.Sampler(lb.Tape([1 << 63] * 9))).value == -(1 << 61)


def test_the_scale_is_part_of_what_identifies_a_question_only_where_it_is_not_linear() -> None:
    linear, log = (lb.Quantile(bounds=(0, 9), scale=scale, epsilon=1) for scale in ("linear", "log"))
    assert linear == lb.Quantile(bounds=(0, 9), epsilon=1) != log
    assert "scale" not in linear.parameters
    assert log.parameters["scale"] == "log"


def test_refusals() -> None:
    with pytest.raises(lb.ParameterError, match="resolution must be said where there are no bounds"):
        lb.Quantile(epsilon=1)
    with pytest.raises(lb.ParameterError, match="scale must be 'linear' or 'log': got 'lin'"):
        lb.Quantile(bounds=(0, 1), epsilon=1, scale="lin")  # type: ignore[arg-type]
    with pytest.raises(lb.ParameterError, match="magnitude must not be negative"):
        lb.Quantile(resolution=1, epsilon=1).accuracy(magnitude=-1)
    with pytest.raises(lb.ParameterError, match="spread must be at most"):
        lb.Quantiles(qs=QUARTILES, resolution=1, epsilon=1, spread=1 << 33)


def test_a_type_of_values_makes_no_difference() -> None:
    mechanism = lb.Quantile(resolution="1/2", epsilon=1)
    plain = mechanism._steps([1, 2, 3]).tolist()
    for values in (np.array([1, 2, 3]), np.array([1.0, 2.0, 3.0]), [1.2, Fraction(2), 3]):
        assert mechanism._steps(values).tolist() == plain


def splits(points: Any, low: float, high: float) -> tuple[Any, Any]:
    """The law of a split by half at epsilon 1/2, in floats: the middle of each gap between points, and its chance."""
    edges = np.concatenate(([low], points, [high]))
    errors = np.abs(np.arange(len(points) + 1) - len(points) / 2)
    masses = np.diff(edges) * np.exp((errors.min() - errors) / 2)
    return (edges[:-1] + edges[1:]) / 2, masses / masses.sum()


def chance_of_quartiles(values: Any, ranks: int) -> float:
    """How likely all three quartiles are within so many ranks, at epsilon 1 and without bounds, to about 1 in 1,000."""
    scale, data = LogScale(-FURTHEST, FURTHEST), np.sort(np.asarray(values))
    starts, ends = (np.array([scale.start(int(y) + by) for y in data], float) for by in (0, 1))
    # Equal values are spread over their step, evenly here.
    place = np.arange(len(data)) - np.searchsorted(data, data) + 0.5
    points = starts + (ends - starts) * place / np.array([(data == y).sum() for y in data])

    def good(q: float, at: Any) -> Any:
        steps = np.array([scale.find(int(position)) for position in at])
        below, rank = np.searchsorted(data, steps), q * len(data)
        return np.maximum(below - rank, rank - np.searchsorted(data, steps, side="right")) <= ranks

    low, high = float(scale.start(-FURTHEST)), float(scale.start(FURTHEST + 1))
    middles, chances = splits(points, low, high)
    total = 0.0
    for middle, chance, right in zip(middles, chances, good(0.5, middles), strict=True):
        if not right or chance < 1e-7:
            continue
        cut = np.searchsorted(points, middle)
        for q, side in ((0.25, splits(points[:cut], low, middle)), (0.75, splits(points[cut:], middle, high))):
            chance *= side[1][good(q, side[0])].sum()
        total += chance
    return total


@pytest.mark.parametrize("seed", range(8))
def test_the_quartiles_of_a_hundred_people_are_within_ten_ranks_where_nobody_knows_the_range(seed: int) -> None:
    made = np.random.default_rng(seed)
    populations = {
        "ages": made.integers(0, 95, 100),
        "costs": np.floor(made.lognormal(6, 1, 100)),
        "counts with many zeros": np.where(made.random(100) < 0.8, 0, made.poisson(2, 100)),
    }
    for name, values in populations.items():
        assert (name, chance_of_quartiles(values, 10) >= 0.95) == (name, True)


@pytest.mark.parametrize("epsilon", ["1/50", "1", "40"])
@pytest.mark.parametrize("kind", ["far apart", "equal", "empty", "few"])
def test_many_values_are_decided_by_those_near_the_quantile_as_by_all_of_them(epsilon: str, kind: str) -> None:
    """The compiled search looks at some of the classes, the reference at all, on the same words."""
    made = np.random.default_rng(3)
    values = {
        "far apart": np.floor(made.lognormal(9, 4, 3000)) * made.choice([-1, 1], 3000),
        "equal": np.repeat([0, 7, 10**17], 1000),
        "empty": np.array([], np.int64),
        "few": np.array([5, 5, 9]),
    }[kind]
    mechanism = lb.Quantiles(qs=QUARTILES, resolution=1, epsilon=epsilon)
    for tape in range(4):
        words = np.random.default_rng(tape).integers(0, 2**64, 3100 + 64, np.uint64).tolist()
        one, same = (mechanism.ready(values)(kind(lb.Tape(words))) for kind in (lb.Sampler, lb.Reference))
        assert one == same


def test_positions_of_any_length_are_picked_and_split_as_short_ones() -> None:
    scale, error = LogScale(-50, 50), lb.Quantiles(qs=["1/2"], resolution=1, epsilon=1)._splits[0]
    steps = np.array([-50, -3, 0, 0, 0, 4, 4, 50])
    offsets = np.array([0, 2, 0, 1, 1, 0, 2, 2])
    short = LogValues.place(scale, steps, offsets, 3)
    long = WideLogValues(scale, 3, steps, offsets, short.low, short.high)
    for tape in range(60):
        pair: list[Any] = [short, long]
        words = np.random.default_rng(tape).integers(0, 2**64, 64, np.uint64).tolist()
        draws = [lb.Sampler(lb.Tape(words)) for _ in pair]
        for side in (0, 1, 0):
            one, other = (ranked.pick(error, draw) for ranked, draw in zip(pair, draws, strict=True))
            assert (one, pair[0].step(one)) == (other, pair[1].step(other))
            pair = [ranked.split(one)[side] for ranked in pair]
            sizes = [len(pair[0].starts), len(pair[1].steps)]
            assert sizes[0] == sizes[1]
    # A value at the point is above it.
    at = int(short.starts[3])
    assert [len(part.steps) for part in long.split(at)] == [3, 5]


def test_a_word_at_the_edge_of_what_lies_beyond_is_in_doubt() -> None:
    ranked = rank_on_scale(LogScale(-FURTHEST, FURTHEST), np.arange(9000), np.zeros(9000, np.int64), 1 << 16)
    sizes = _GapSizes(ranked)
    error = lb.Quantiles(qs=["1/2"], resolution=1, epsilon=1)._splits[0]
    powers = Powers(error.rate, error.errors(sizes.first_of_equals), sizes)
    exact = tuple(sizes)
    assert sum(exact) == sizes.total
    for word in (0, 1, (1 << 63) + 5, (1 << 64) - 1):
        near = decide_near_class(powers, sizes, [word])
        assert near in (None, decide_class(replace(powers, multiplicities=exact), exact, [word]))
    assert decide_near_class(powers, sizes, [(1 << 63) + 5]) is not None
    assert decide_near_class(powers, sizes, [0]) is None
