"""Weights of any size on Sampler and on Reference: the same cells and words on every tape, boundaries above all."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate
from random import Random
from typing import Any

import numpy as np
import pytest

from lastbit import ParameterError, Rate, Reference, Sampler, Tape, audit
from lastbit.chance import _scaled, distributions, scaled
from lastbit.chance.inversion import power
from lastbit.chance.layers import Layers
from lastbit.chance.powers import Powers

WORD = 1 << 64
RATES = [Rate(1, 1), Rate(3, 2), Rate.from_epsilon("1/2"), Rate.from_epsilon("1/500"), Rate(1, 70)]
FORMS = [(1, 1), (1, 0), (0, 1)]
COUNTS = [
    ((9, 4, 4, 0, 0), 2),
    ((3, 3, 3, 3), 2),
    ((70, 60, 5, 1), 3),
    ((0, 0, 0), 1),
    ((8, 1), 1),
    ((40, 30, 20, 20, 20, 10, 7, 3, 2, 1, 0, 0, 0, 0), 5),
    ((1 << 60, 5, 0, -(1 << 60)), 2),
]


def both(ask: Any, words: list[int]) -> tuple[Any, int]:
    results = []
    for twin in (Sampler, Reference):
        tape = Tape(words)
        results.append((ask(twin(tape)), tape.consumed))
    assert results[0] == results[1], words
    return results[0]


def around(cut: Fraction, depth: int) -> Iterator[list[int]]:
    """Tapes that follow a cut for `depth` words and end one below it, on it (and go on low or high), or one above."""
    path = (cut.numerator << 64 * depth) // cut.denominator
    for last in (path - 1, path, path + 1):
        if 0 <= last < 1 << 64 * depth:
            head = [last >> 64 * i & WORD - 1 for i in reversed(range(depth))]
            yield from ([*head, *[word] * 3, 9, 9] for word in ((0, WORD - 1) if last == path else (9,)))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize(("p", "q"), FORMS)
def test_both_sides_of_every_boundary_between_cells(rate: Rate, p: int, q: int) -> None:
    for counts, k in COUNTS[:-1]:
        law = Layers.of(rate, k, -np.array(counts), p, q)
        edges = [Fraction(0), *accumulate(mass for _, mass in law.masses())]
        for cut in set(edges):
            for depth in (1, 2, 3):
                for words in around(cut, depth):
                    cell, used = both(lambda draw, law=law: draw.layer(law), words)
                    start = sum((Fraction(word, WORD**i) for i, word in enumerate(words[:used], start=1)), Fraction(0))
                    assert edges[cell] <= start
                    assert start + Fraction(1, WORD**used) <= edges[cell + 1]
                    assert used >= 2


@pytest.mark.parametrize(("p", "q"), FORMS)
def test_counts_that_lie_far_apart(p: int, q: int) -> None:
    random = Random(4)
    for counts, k in COUNTS:
        law = Layers.of(Rate.from_epsilon("1/2"), k, -np.array(counts), p, q)
        for _ in range(10):
            words = [random.getrandbits(64) for _ in range(4)]
            cell, used = both(lambda draw, law=law: draw.layer(law), words)
            assert used == 2
            assert scaled.decide_layer(law, words[:2]) == cell


def test_random_tapes_and_laws_of_every_size() -> None:
    random = Random(5)
    decided = 0
    for _ in range(150):
        rate, n = random.choice(RATES), random.randint(2, 40)
        spread = 1 << random.randint(0, 12)
        counts = np.sort(np.array([-random.randrange(spread) for _ in range(n)]))
        law = Layers.of(rate, random.randrange(1, n), counts, *random.choice(FORMS))
        words = [random.getrandbits(64) for _ in range(4)]
        cell, _ = both(lambda draw, law=law: draw.layer(law), words)
        decided += scaled.decide_layer(law, words[:2]) == cell
    assert decided == 150


def test_the_kernel_decides_all_but_what_lies_next_to_a_boundary() -> None:
    # 2^930 sets: fixed point of any usual length could not tell the cells apart.
    n, k = 3000, 100
    counts = np.sort(-np.array([40_000 // (1 + i) for i in range(n)]))
    law = Layers.of(Rate.from_epsilon("1/2"), k, counts, 1, 1)
    assert math.comb(n, k).bit_length() > 600
    random = Random(6)
    for _ in range(3):
        words = [random.getrandbits(64) for _ in range(2)]
        found = scaled.decide_layer(law, words)
        assert found is not None
        assert law.cell(words[0] << 64 | words[1], 128) == found


def sum_of(rows: _scaled.Rows) -> list[Fraction]:
    words, exponents = rows.sums()
    numbers = [distributions.join_words(words[3 * i : 3 * i + 3].tolist()) for i in range(len(exponents))]
    return [Fraction(m) * Fraction(2) ** (int(e) - 126) for m, e in zip(numbers, exponents, strict=True)]


@pytest.mark.parametrize("rate", [*RATES, Rate((1 << 300) - 1, 300)])
def test_tables_and_sums_are_below_the_truth_by_less_than_they_say(rate: Rate) -> None:
    powers, random = scaled.scaled_powers(rate), Random(7)
    unit = Fraction(1, 1 << 127)

    def value(number: tuple[int, int]) -> Fraction:
        assert number[0] >> 127 == 1
        return number[0] * unit * Fraction(2) ** number[1]

    for e in [1, 2, 255, 256, 257, 65535, *(random.randrange(1, 1 << random.randint(1, 17)) for _ in range(30))]:
        low, high = (Fraction(each, 1 << 1000) for each in power(rate, e, 1000)) if e < 600 else (None, None)
        if rate.y * e > 100_000:
            continue
        exact = rate.fraction**e
        assert low is None or low <= exact <= high
        one, rest = powers(e)
        assert 0 <= exact - value(one) < 65 * unit * exact
        assert 0 <= 1 - exact - value(rest) < 79 * unit * (1 - exact)
    assert powers(0) == ((1 << 127, 0), (0, -(1 << 56)))


@pytest.mark.parametrize("n", [0, 1, 2, 5, 170, 3000])
def test_factorials_are_below_the_truth_by_less_than_they_say(n: int) -> None:
    many, shared = scaled.factorials(n)
    for m in {0, 1, 2, n // 3, n - 1, n} & {*range(n + 1)}:
        whole = Fraction(math.factorial(m))
        for (mantissa, e), exact, units in ((many[m], whole, 2), (shared[m], 1 / whole, 8)):
            value = Fraction(mantissa, 1 << 127) * Fraction(2) ** e
            assert mantissa >> 127 == 1
            assert 0 <= exact - value < units * exact / (1 << 127)


@pytest.mark.parametrize("rate", [Rate(3, 2), Rate.from_epsilon("1/500")])
def test_the_sum_of_a_row_is_below_the_truth_by_less_than_it_says(rate: Rate) -> None:
    random = Random(8)
    laws = []
    for n in (1, 2, 40, 600):
        counts = np.sort(np.array([-random.randrange(2 * n) for _ in range(n + 5)]))
        laws.append(Layers.of(rate, random.randrange(1, n + 5), counts, 1, 1))
    # Several blocks of columns, of which the last has the largest cells.
    laws.append(Layers.of(rate, 30, np.arange(700), 1, 1))
    for law in laws:
        k = law.k
        powers, (many, shared) = scaled.scaled_powers(rate), scaled.factorials(law.n)
        rows = _scaled.Rows(powers, many, shared, law.starts, law.ends, law.tails, k, int(law.tails[0]))
        lost = Fraction(scaled._LOST + 4 * (len(law.ends) + 64), 1 << 127)
        r, tails = rate.fraction, (law.tails - law.tails[0]).tolist()
        for row, found in [(0, sum_of(rows)[0]), (len(law.starts) - 1, sum_of(rows)[-1])]:
            start, exact = int(law.starts[row]), Fraction(0)
            for j, end in enumerate(law.ends.tolist()):
                share = r ** tails[j] - (r ** tails[j + 1] if j + 1 < len(tails) else 0)
                exact += share * Fraction(math.factorial(end - start), math.factorial(end - k))
            assert 0 <= exact - found < lost * exact


Classes = tuple[list[int], list[int]]
LARGE: list[Classes] = [
    ([0], [1]),
    ([0, 0, 1], [1, 0, 3]),
    ([0, 1000, 2000], [1, 1 << 1000, 1 << 2000]),
    ([-5, 1, 2, 1, -9], [0, 4 << 100, 6 << 70, 1, 0]),
    ([5, 300, 0, 70], [3**200, 7**250, 1, 10**40]),
]


def shares(rate: Rate, classes: Classes) -> list[Fraction]:
    """The length of each cell, from the definition."""
    least = min(e for e, m in zip(*classes, strict=True) if m)
    weights = [m * rate.fraction ** (e - least) if m else Fraction(0) for e, m in zip(*classes, strict=True)]
    return [weight / sum(weights) for weight in weights]


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("classes", LARGE)
def test_multiplicities_of_any_size(rate: Rate, classes: Classes) -> None:
    exponents, times = np.array(classes[0]), classes[1]
    law = audit.law(lambda draw: draw.power_index(rate, exponents, times), 0)
    parts = shares(rate, classes)
    assert dict(law.masses) == {i: share for i, share in enumerate(parts) if share}
    edges = [Fraction(0), *accumulate(parts)]
    for cut in set(edges):
        for depth in (1, 2, 3):
            for words in around(cut, depth):
                cell, used = both(lambda draw: draw.power_index(rate, exponents, times), words)
                start = sum((Fraction(word, WORD**i) for i, word in enumerate(words[:used], start=1)), Fraction(0))
                assert edges[cell] <= start
                assert start + Fraction(1, WORD**used) <= edges[cell + 1]


def test_small_multiplicities_as_a_list_and_as_an_array_are_the_same_draw() -> None:
    random = Random(9)
    for _ in range(100):
        n = random.randint(1, 600)
        exponents = np.array([random.randrange(1 << random.randint(1, 12)) for _ in range(n)])
        times = np.array([random.choice([0, 1, random.randrange(1 << 40)]) for _ in range(n - 1)] + [1])
        word = random.getrandbits(64)
        rate = random.choice(RATES)
        found = Sampler(Tape([word, 5])).power_index(rate, exponents, times.tolist())
        assert found == Sampler(Tape([word, 5])).power_index(rate, exponents, times)
        often = tuple(times.tolist())
        assert scaled.decide_class(Powers(rate, exponents, often), often, [word]) == found


@pytest.mark.parametrize("times", [[0, 0], [-1, 2], [1], [1.0, 2.0], [True, 2], np.array([1, None], object), "ab"])
def test_what_is_not_a_number_of_outcomes_is_refused(times: Any) -> None:
    tape = Tape([1])
    with pytest.raises(ParameterError, match="multiplicities must be"):
        Sampler(tape).power_index(Rate(1, 1), np.array([0, 1]), times)
    assert tape.consumed == 0


def test_the_words_of_a_subset_tell_nothing_about_it() -> None:
    random = Random(10)
    most = 41_270, 100
    for n, k in ((100, 100), (1, 0), (0, 0), (41_270, 100), (20_000, 3)):
        for words in ([0] * 202, [WORD - 1] * 202, [random.getrandbits(64) for _ in range(202)]):
            found, used = both(lambda draw, n=n, k=k: tuple(draw.subset(n, k, most=most).tolist()), words)
            assert used == 200
            assert len({*found}) == k
            assert found == tuple(sorted(found))
            assert all(0 <= each < n for each in found)


def test_a_pick_in_doubt_reads_on() -> None:
    # U below 1/3 or above is open after two words of 0101…: a third word decides, and a fourth where it goes on.
    third = WORD // 3
    for words, used in (([third, third, 0], 3), ([third, third, WORD - 1], 3), ([third, third, third, 7], 4)):
        found, read = both(lambda draw: draw.subset(3, 1, most=(3, 1)).tolist(), words)
        assert (found, read) == ([int(words[-1] > third)], used)
    both(lambda draw: draw.subset(4, 2, most=(9, 3)).tolist(), [third, third, 1, 1, 5, 5, WORD - 1, 3])
