"""The classes of answers for a quantile are those of the definition, point by point."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from lastbit import audit
from lastbit.chance.sampler import class_weights
from lastbit.mechanisms.quantiles._rank_errors import pick_point, tally
from lastbit.mechanisms.quantiles.rank_error import RankError
from lastbit.mechanisms.quantiles.ranked_values import CountedValues, LinearValues
from lastbit.privacy.rate import Rate
from tests.twins.pair import agree

LOW, HIGH = -2, 2


def error_of(point: int, values: tuple[int, ...], q: Fraction) -> int:
    """b times the distance from rank q·n to the ranks that a point takes."""
    a, b, n = q.numerator, q.denominator, len(values)
    below, equal = (sum(value < point for value in values), sum(value == point for value in values))
    return max(0, b * below - a * n, a * n - b * (below + equal))


@pytest.mark.parametrize("q", ["0", "1/4", "1/2", "2/3", "1"])
@pytest.mark.parametrize("n", range(5))
def test_classes_are_the_points_of_the_grid_in_order(q: str, n: int) -> None:
    rule = RankError(Fraction(q), Rate(1, 1))
    for values in combinations_with_replacement(range(LOW, HIGH + 1), n):
        sizes, errors = rule.classes(np.array(values, np.int64), LOW, HIGH)
        assert len(sizes) == len(errors) == 2 * n + 1
        classes = [error for size, error in zip(sizes.tolist(), errors.tolist(), strict=True) for _ in range(size)]
        assert classes == [error_of(point, values, Fraction(q)) for point in range(LOW, HIGH + 1)]


def test_values_that_are_not_in_one_piece_are_read_in_their_order() -> None:
    rule, every = RankError(Fraction(1, 2), Rate(1, 1)), np.array([-2, 9, 0, 9, 1, 9])
    spread, together = rule.classes(every[::2], LOW, HIGH), rule.classes(np.array([-2, 0, 1]), LOW, HIGH)
    assert all((one == other).all() for one, other in zip(spread, together, strict=True))


@pytest.mark.parametrize("q", ["0", "1/4", "1/2", "2/3", "1"])
@pytest.mark.parametrize("n", range(1, 5))
def test_counts_at_points_have_the_errors_of_the_points(q: str, n: int) -> None:
    rule = RankError(Fraction(q), Rate(1, 1))
    for values in combinations_with_replacement(range(LOW, HIGH + 1), n):
        counted = CountedValues.tally([np.array(values[:2]), np.array(values[2:], np.int64)], LOW, HIGH - LOW + 1)
        assert counted.counts.tolist() == [values.count(point) for point in range(LOW, HIGH + 1)]
        errors = [error_of(point, values, Fraction(q)) for point in range(LOW, HIGH + 1)]
        assert rule.point_errors(counted.counts).tolist() == errors


def test_counted_and_sorted_values_are_one_law_and_read_as_many_words() -> None:
    rule, tapes = RankError(Fraction(1, 2), Rate.from_epsilon("1/3")), np.random.default_rng(7)
    for values in ((-2, -2, 0, 1, 1), (0, 0, 0, 0, 0), (-2, -1, 0, 1, 2), (2, 2, 2, 2, 2)):
        counted = CountedValues.tally([np.array(values)], LOW, HIGH - LOW + 1)
        ranked = LinearValues(np.array(values), LOW, HIGH)
        ways = (counted, *counted.split(0)), (ranked, *ranked.split(0))
        for one, other in zip(*ways, strict=True):
            laws = [audit.law(lambda draw, way=way: way.pick(rule, draw), 0).masses for way in (one, other)]
            assert laws[0] == laws[1]
        for words in tapes.integers(0, 1 << 64, (20, 4), np.uint64).tolist():
            ((_, consumed),) = agree(words, lambda draw, way=counted: way.pick(rule, draw))
            ((_, as_sorted),) = agree(words, lambda draw, way=ranked: way.pick(rule, draw))
            assert consumed == as_sorted
        for word in (0, (1 << 64) - 1):
            agree([word] * 64, lambda draw, way=counted: way.pick(rule, draw))


def test_nothing_is_written_beside_the_counts() -> None:
    around = np.zeros(7, np.int64)
    tally(np.array([-(1 << 62), LOW - 1, HIGH + 1, 1 << 62]), LOW, around[1:6])
    assert around.tolist() == [0, 2, 0, 0, 0, 2, 0]


def tapes_at_cuts(rule: RankError, values: np.ndarray, low: int, high: int) -> list[list[int]]:
    """Tapes whose first word lies at, just below or just above where a class begins that is not too far away."""
    sizes, errors = rule.classes(values, low, high)
    r, far = rule.rate.fraction, 400
    powers = [r.numerator**error * r.denominator ** (far - error) for error in range(far)]
    weights = [
        size * sum(powers[error : error + 1]) for size, error in zip(sizes.tolist(), errors.tolist(), strict=True)
    ]
    total, running, words = sum(weights), 0, {0, 1, (1 << 64) - 1}
    for weight in weights:
        running += weight
        cut = (running << 64) // total
        words |= {word for word in (cut - 1, cut, cut + 1) if 0 <= word < 1 << 64}
    return [[word, second, 0, *[5] * 8] for word in sorted(words) for second in (0, 1 << 63, (1 << 64) - 1)]


STEEP = [Rate(1, 1), Rate(1, 9), Rate(255, 8), Rate.from_epsilon("1/100")]


@pytest.mark.parametrize("rate", STEEP, ids=str)
@pytest.mark.parametrize("q", ["0", "1/3", "1/2", "9/10", "1"])
def test_one_call_picks_the_point_that_the_classes_have(rate: Rate, q: str) -> None:
    random, rule = np.random.default_rng(3), RankError(Fraction(q), rate)
    equal = np.full(300, 7)
    many = [np.sort(random.integers(0, most, n)) for most, n in ((3, 400), (10**6, 400), (30, 50), (5, 1))]
    # Equal values may begin far below the ranks that count, and end far above them.
    for values in (np.array([], np.int64), equal, np.sort(np.append(equal, [0, 1, 8, 10**6 - 1])), *many):
        ranked = LinearValues(values, 0, 10**6)
        for words in tapes_at_cuts(rule, values, 0, 10**6)[:200]:
            agree(words, lambda draw, way=ranked: way.pick(rule, draw))
        for words in random.integers(0, 1 << 64, (40, 3), np.uint64).tolist():
            agree(words, lambda draw, way=ranked: way.pick(rule, draw))


def test_the_kernel_decides_all_but_rare_words() -> None:
    rule, values = RankError(Fraction(1, 2), Rate.from_epsilon("1/2")), np.arange(0, 3000, 3)
    for words in np.random.default_rng(5).integers(0, 1 << 64, (100, 3), np.uint64):
        assert pick_point(values, 0, 10**6, 1, 2, *class_weights(rule.rate), words) is not None
    # Of more ranks than it keeps in hand it decides nothing: the classes do.
    flat = Rate.from_epsilon("1e-9")
    assert pick_point(np.arange(70_000), 0, 10**6, 1, 2, *class_weights(flat), words) is None
