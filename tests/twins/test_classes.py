"""`power_index` with multiplicities: the law of the listed outcomes, and the same words on Sampler and Reference."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate
from random import Random

import numpy as np
import pytest

from lastbit import ParameterError, Rate, Reference, Sampler, Tape, audit
from lastbit.chance import _classes, sampler
from lastbit.chance.inversion import power
from lastbit.chance.power_table import WIDE, PowerTable
from lastbit.chance.powers import Powers

WORD = 1 << 64
RATES = [Rate(1, 1), Rate(3, 2), Rate(255, 8), Rate.from_epsilon("1/2"), Rate.from_epsilon("1/500"), Rate(1, 70)]
Classes = tuple[list[int], list[int]]
SMALL: list[Classes] = [
    ([0], [1]),
    ([5], [7]),
    ([0, 0, 1], [1, 0, 3]),
    ([3, 1, 0, 2, 2, 7], [0, 5, 1, 1, 0, 90]),
    ([9, 0, 0, 9], [0, 0, 2, 0]),
    ([0, -7, 4], [3, 0, 2]),
    ([-5, 1, 2, 1, -9], [0, 4, 6, 1, 0]),
    ([0, *range(1, 12), 11], [1] * 13),
]


def arrays(classes: Classes) -> tuple[np.ndarray, np.ndarray]:
    return np.array(classes[0], np.int64), np.array(classes[1], np.int64)


def shares(rate: Rate, classes: Classes) -> list[Fraction]:
    """The length of each cell, from the definition."""
    least = min(e for e, m in zip(*classes, strict=True) if m)
    weights = [m * rate.fraction ** (e - least) if m else Fraction(0) for e, m in zip(*classes, strict=True)]
    return [weight / sum(weights) for weight in weights]


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("classes", SMALL)
def test_the_law_is_that_of_the_listed_outcomes(rate: Rate, classes: Classes) -> None:
    found = audit.law(lambda draw: draw.power_index(rate, *arrays(classes)), 0)
    assert dict(found.masses) == {i: share for i, share in enumerate(shares(rate, classes)) if share}
    listed = np.repeat(*arrays(classes))
    owner = np.repeat(np.arange(len(classes[0])), classes[1])
    by_one = audit.law(lambda draw: int(owner[draw.power_index(rate, listed)]), 0)
    assert found.masses == by_one.masses


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("classes", SMALL)
def test_every_interval_lands_in_its_class(rate: Rate, classes: Classes) -> None:
    edges = [Fraction(0), *accumulate(shares(rate, classes))]
    partition = Powers(rate, *arrays(classes))
    for bits in (1, 3, 6):
        for u in range(1 << bits):
            low, high = Fraction(u, 1 << bits), Fraction(u + 1, 1 << bits)
            met = [i for i in range(len(edges) - 1) if max(low, edges[i]) < min(high, edges[i + 1])]
            assert partition.cell(u, bits) == (met[0] if len(met) == 1 else None)


def both(rate: Rate, classes: Classes, words: list[int]) -> tuple[int, int]:
    results = []
    for twin in (Sampler, Reference):
        tape = Tape(words)
        results.append((twin(tape).power_index(rate, *arrays(classes)), tape.consumed))
    assert results[0] == results[1], words
    return results[0]


def around(cut: Fraction, depth: int) -> Iterator[list[int]]:
    """Tapes that follow a cut for `depth` words and end one below it, on it (and go on low or high), or one above."""
    path = (cut.numerator << 64 * depth) // cut.denominator
    for last in (path - 1, path, path + 1):
        if 0 <= last < 1 << 64 * depth:
            head = [last >> 64 * i & WORD - 1 for i in reversed(range(depth))]
            yield from ([*head, *[word] * 3, 9] for word in ((0, WORD - 1) if last == path else (9,)))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("classes", SMALL)
def test_both_sides_of_every_boundary(rate: Rate, classes: Classes) -> None:
    edges = [Fraction(0), *accumulate(shares(rate, classes))]
    for cut in set(edges):
        for depth in (1, 2, 3):
            for words in around(cut, depth):
                cell, used = both(rate, classes, words)
                start = sum((Fraction(word, WORD**i) for i, word in enumerate(words[:used], start=1)), Fraction(0))
                assert edges[cell] <= start
                assert start + Fraction(1, WORD**used) <= edges[cell + 1]


def test_random_tapes_and_classes_of_every_size() -> None:
    random = Random(2)
    for _ in range(300):
        rate, n = random.choice(RATES), random.randint(1, 30)
        exponents = [random.randrange(1 << random.randint(1, 30)) for _ in range(n)]
        sizes = [random.choice([0, 1, random.randrange(1 << random.randint(1, 57))]) for _ in range(n - 1)]
        both(rate, (exponents, [*sizes, 1]), [random.getrandbits(64) for _ in range(8)])


def test_a_far_class_of_very_many_outcomes_is_decided_by_one_word() -> None:
    # 2^62 outcomes of weight 2^-60 weigh four times the best one: 63 bits of weight could not tell.
    classes = [0, 60], [1, 1 << 62]
    exponents, times = arrays(classes)
    for word in (0, WORD // 5 - 9, WORD // 5 + 9, WORD - 99):
        assert both(Rate(1, 1), classes, [word]) == (int(word > WORD // 5), 1)
        assert sampler._decide_class(Powers(Rate(1, 1), exponents, times), times, word) is not None


def test_more_classes_than_a_block() -> None:
    random, rate = Random(3), Rate(1, 1)
    n = 20_000
    exponents = np.array([random.randrange(40) for _ in range(n)])
    times = np.array([random.randrange(4) * (1 << random.randrange(20)) for _ in range(n)])
    weights = [int(m) << (40 - int(e)) for e, m in zip(exponents, times, strict=True)]
    sums = [0, *accumulate(weights)]
    partition = Powers(rate, exponents, times)
    for place in (0, 1, 6665, 6666, 6667, 13332, 13333, 13334, n - 2, n - 1):
        if weights[place]:
            word = ((sums[place] + sums[place + 1]) << 63) // sums[-1]
            assert sampler._decide_class(partition, times, word) == place
    for place in (5, 6666, 13333, n - 7):
        edge = (sums[place] << 64) // sums[-1]
        for word in (edge - 1, edge, edge + 1):
            assert sampler._decide_class(partition, times, word) in (None, partition.cell(word, 64))


def in_python(weights: list[int], error: int, word: int) -> int:
    """The place of a word among weights that are `error` too small together at most; -1 where that leaves a doubt."""
    sums = [0, *accumulate(weights)]
    start, stop = word * sums[-1] >> 64, -(-(word + 1) * (sums[-1] + error) >> 64)
    if stop > sums[-1]:
        return -1
    place = next(i for i in range(len(weights)) if sums[i + 1] >= stop)
    return place if place == 0 or sums[place] + error <= start else -1


@pytest.mark.parametrize("digits", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 1 << 30, 1 << 57])
def test_the_kernel_searches_as_python_does(digits: int, size: int) -> None:
    rate = [Rate.from_epsilon("1/2"), Rate.from_epsilon("1/1000"), Rate.from_epsilon("1e-8")][digits - 1]
    table, (weights, _), random = PowerTable.of(rate, WIDE), sampler.class_weights(rate), Random(digits)
    assert table.digits == digits
    for spread in (1, 4, 9 * digits):
        exponents = np.array([random.randrange(1 << spread) - 77 for _ in range(40)])
        times = np.array([random.randrange(size + 1) for _ in range(39)] + [size])
        least = int(exponents.min())
        each = [weights.total(exponents[i : i + 1], times[i : i + 1], least) for i in range(40)]
        assert weights.total(exponents, times, least) == sum(each)
        # An error that is large enough to leave doubts.
        error = table.error * sum(times.tolist()) << 60
        edges = [(edge << 64) // sum(each) + by for edge in accumulate(each) for by in range(-20, 3)]
        tried = {0, 1, WORD - 1, WORD - 2, *(random.randrange(WORD) for _ in range(200)), *edges}
        found = {
            word: weights.place(exponents, times, least, *divmod(error, WORD), word)
            for word in tried
            if 0 <= word < WORD
        }
        assert found == {word: in_python(each, error, word) for word in found}
        assert -1 in found.values()
        assert len(set(found.values())) > 1


@pytest.mark.parametrize(
    "rate", [Rate(1, 1), Rate(1, 1000), *(Rate.from_epsilon(f"1/{10**k}") for k in (0, 4, 12, 20))]
)
def test_kernel_weights_are_below_the_truth_by_less_than_they_say(rate: Rate) -> None:
    table = PowerTable.of(rate, WIDE)
    weights, random = _classes.ClassWeights(table.factors, table.digits, table.last), Random(6)
    edges = [1 << k for k in range(0, 63, 3)] + [4095, 4096, 4097, table.last - 1, table.last, table.last + 1]
    for e in [0, 1, 2, *edges, *(random.randrange(1 << random.randint(1, 62)) for _ in range(200))]:
        for times in (1, 3, (1 << 62) + 1):
            if 0 <= e < 1 << 63:
                lower, upper = power(rate, e, 600)
                found = weights.total(np.array([e]), np.array([times]), 0)
                assert found << 600 - WIDE <= upper * times
                assert found + table.error * times << 600 - WIDE > lower * times


@pytest.mark.parametrize(
    "times",
    [
        np.array([0, 0]),
        np.array([-1, 2]),
        np.array([1]),
        np.array([1.0, 2.0]),
        np.array([1 << 62, 1 << 62]),
        np.array([[1, 2]]),
    ],
)
def test_what_is_not_a_number_of_outcomes_is_refused(times: np.ndarray) -> None:
    tape = Tape([1])
    with pytest.raises(ParameterError, match="multiplicities must be"):
        Sampler(tape).power_index(Rate(1, 1), np.array([0, 1]), times)
    assert tape.consumed == 0


def test_a_private_number_of_outcomes_does_not_show_in_the_words() -> None:
    most = 1 << 62
    for n in (1, 2, 3, 100, (1 << 61) + 1, most):
        for words in ([0, 0], [WORD - 1, WORD - 1], [1 << 63, 5]):
            found = []
            for twin in (Sampler, Reference):
                tape = Tape([*words, 7])
                found.append((twin(tape).integer_below(n, most), tape.consumed))
            u = words[0] * WORD + words[1]
            assert found == [(u * n >> 128, 2)] * 2
    law = audit.law(lambda draw: draw.integer_below(3, most), 0)
    assert dict(law.masses) == dict.fromkeys(range(3), Fraction(1, 3))
    with pytest.raises(ParameterError, match="public bound"):
        Sampler(Tape([1, 2])).integer_below(5, 4)
