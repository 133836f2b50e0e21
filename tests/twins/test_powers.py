"""`power_index` on Sampler and on Reference: the same cell and the same words on every tape, boundaries above all."""

from bisect import bisect
from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate, pairwise
from random import Random

import numpy as np
import pytest

from lastbit import ExponentialMechanism, Rate, Reference, Sampler, Tape
from lastbit.chance import _powers, sampler
from lastbit.chance.descending import Descending
from lastbit.chance.power_table import PowerTable
from lastbit.chance.powers import CHUNK, Powers

WORD = 1 << 64
RATES = [Rate(1, 1), Rate(3, 2), Rate(255, 8), Rate.from_epsilon("1/2"), Rate.from_epsilon("1/500"), Rate(1, 70)]


def both(rate: Rate, exponents: np.ndarray, words: list[int]) -> tuple[int, int]:
    results = []
    for twin in (Sampler, Reference):
        tape = Tape(words)
        results.append((twin(tape).power_index(rate, exponents), tape.consumed))
    assert results[0] == results[1], words
    return results[0]


def inner_cuts(rate: Rate, exponents: list[int]) -> list[Fraction]:
    """Exactly where one cell ends and the next begins."""
    most = max(exponents)
    sums = list(accumulate(rate.x**e << rate.y * (most - e) for e in exponents))
    return [Fraction(part, sums[-1]) for part in sums[:-1]]


def around(cut: Fraction, depth: int) -> Iterator[list[int]]:
    """Tapes that follow a cut for `depth` words and end one below it, on it (and go on low or high), or one above."""
    path = (cut.numerator << 64 * depth) // cut.denominator
    for last in (path - 1, path, path + 1):
        if 0 <= last < 1 << 64 * depth:
            head = [last >> 64 * i & WORD - 1 for i in reversed(range(depth))]
            yield from ([*head, *[word] * 3, 9] for word in ((0, WORD - 1) if last == path else (9,)))


def cases() -> Iterator[tuple[Rate, list[int]]]:
    random = Random(1)
    for rate in RATES:
        yield rate, [0, 0, 1]
        yield rate, [3, 1, 0, 2, 2, 7]
        yield rate, [random.randrange(60) for _ in range(random.randint(2, 9))]
        yield rate, [0] * 8
        yield rate, [0, *range(1, 12), 11]


@pytest.mark.parametrize(("rate", "exponents"), list(cases()))
def test_both_sides_of_every_boundary(rate: Rate, exponents: list[int]) -> None:
    cuts = inner_cuts(rate, exponents)
    for cut in cuts:
        for depth in (1, 2, 3):
            for words in around(cut, depth):
                cell, used = both(rate, np.array(exponents), words)
                start = sum((Fraction(word, WORD**i) for i, word in enumerate(words[:used], start=1)), Fraction(0))
                end = start + Fraction(1, WORD**used)
                assert cell == 0 or cuts[cell - 1] <= start
                assert cell == len(cuts) or end <= cuts[cell]
                # One word fewer did not decide: some cut runs through what they say.
                if used > 1:
                    coarse = WORD ** (used - 1)
                    floor = start.numerator * coarse // start.denominator
                    assert any(floor < each * coarse < floor + 1 for each in cuts)


@pytest.mark.parametrize(("rate", "exponents"), list(cases()))
def test_the_fast_path_stands_back_where_a_word_straddles(rate: Rate, exponents: list[int]) -> None:
    partition = Powers(rate, np.array(exponents))
    for cut in inner_cuts(rate, exponents):
        word = (cut.numerator << 64) // cut.denominator
        for near in range(max(0, word - 2), min(WORD, word + 3)):
            assert sampler._decide_power(partition, near) in (None, partition.cell(near, 64))
        assert partition.cell(word, 64) is not None or sampler._decide_power(partition, word) is None


def test_random_tapes() -> None:
    random = Random(2)
    for _ in range(300):
        rate = random.choice(RATES)
        exponents = np.array([random.randrange(1 << random.randint(1, 40)) for _ in range(random.randint(1, 30))])
        both(rate, exponents, [random.getrandbits(64) for _ in range(8)])


def test_far_cells_at_both_ends_of_the_tape() -> None:
    exponents = np.array([80, 300, 0, 1000, 10**9, 90])
    for rate in RATES[:5]:
        for head in ([0], [0, 0], [WORD - 1], [WORD - 1, WORD - 1], [0, 0, 0, 0, 1], [WORD - 1] * 5):
            both(rate, exponents, [*head, 1 << 60, 3, 5])


def test_more_cells_than_a_chunk() -> None:
    random = Random(3)
    n = 2 * CHUNK + 100
    exponents = [random.randrange(40) for _ in range(n)]
    rate = Rate(1, 1)
    cuts = inner_cuts(rate, exponents)
    as_array = np.array(exponents)
    partition = Powers(rate, as_array)
    chunks = -(-n // sampler._SEARCH_CHUNK)
    begins = [n * i // chunks for i in (1, 2, chunks // 2, chunks - 1)]
    places = [0, 1, n - 3, n - 2, *(begin + by for begin in begins for by in (-2, -1, 0, 1))]
    for place in places:
        path = cuts[place].numerator * WORD // cuts[place].denominator
        for word in (path - 1, path, path + 1):
            assert sampler._decide_power(partition, word) in (None, partition.cell(word, 64))
        middle = (cuts[place] + (cuts[place + 1] if place + 1 < len(cuts) else 1)) / 2
        word = middle.numerator * WORD // middle.denominator
        tape = Tape([word])
        assert Sampler(tape).power_index(rate, as_array) == place + 1


def test_exponents_may_come_in_slices() -> None:
    class Counting:
        """The numbers from 0 on, made when asked for."""

        dtype = np.dtype(np.int64)

        def __init__(self) -> None:
            self.taken: list[int] = []

        def __len__(self) -> int:
            return 100_000

        def min(self) -> int:
            return 0

        def __getitem__(self, part: slice) -> np.ndarray:
            found = np.arange(*part.indices(len(self)))
            self.taken.append(len(found))
            return found

    rate = Rate.from_epsilon("1/30000")
    taken, cells = [], []
    for word in (0, 1 << 62, 1 << 63, WORD - (1 << 50)):
        counting = Counting()
        cells.append(Sampler(Tape([word])).power_index(rate, counting))
        assert cells[-1] == Sampler(Tape([word])).power_index(rate, np.arange(100_000))
        taken.append(counting.taken)
    # Wherever the cell is, as much is read, but for the one by which chunks differ.
    assert max(map(max, taken)) <= CHUNK
    assert len({len(each) for each in taken}) == 1
    assert max(map(sum, taken)) - min(map(sum, taken)) <= 1
    assert len({bisect(Powers(rate, counting).cuts, cell) for cell in cells}) == 4


@pytest.mark.parametrize("n", [1, 2, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 1, 75_000])
def test_chunks_are_as_long_as_each_other(n: int) -> None:
    cuts = Powers(Rate(1, 1), np.zeros(n, np.int64)).cuts
    lengths = {stop - start for start, stop in pairwise(cuts)}
    assert (cuts[0], cuts[-1]) == (0, n)
    assert max(lengths) <= CHUNK
    assert max(lengths) - min(lengths) <= 1


def in_python(weights: list[int], error: int, word: int) -> int:
    """The place of a word among weights that are each less than `error` too small, or -1 where that leaves a doubt."""
    error *= len(weights)
    sums = [0, *accumulate(weights)]
    start, stop = word * sums[-1] >> 64, -(-(word + 1) * (sums[-1] + error) >> 64)
    if stop > sums[-1]:
        return -1
    place = next(i for i in range(len(weights)) if sums[i + 1] >= stop)
    return place if place == 0 or sums[place] + error <= start else -1


@pytest.mark.parametrize("digits", [1, 2, 3])
@pytest.mark.parametrize("cuts", [(0, 40), (0, 13, 26, 40), (0, 1, 39, 40)])
def test_the_kernel_searches_as_python_does(digits: int, cuts: tuple[int, ...]) -> None:
    rate = [Rate.from_epsilon("1/2"), Rate.from_epsilon("1/1000"), Rate.from_epsilon("1e-8")][digits - 1]
    table, weights, random = PowerTable.of(rate), sampler._weights_of(rate), Random(digits)
    assert table.digits == digits
    for spread in (1, 4, 9 * digits):
        exponents = np.array([random.randrange(1 << spread) - 77 for _ in range(40)])
        least = int(exponents.min())
        each = []
        for i in range(40):
            one = _powers.PowerSearch(weights, least, 1, 1)
            one.add(exponents[i : i + 1])
            each.append(one.total)
        search = _powers.PowerSearch(weights, least, 40, len(cuts) - 1)
        for start, stop in pairwise(cuts):
            search.add(exponents[start:stop])
        assert search.total == sum(each)
        if cuts == tuple(40 * i // (len(cuts) - 1) for i in range(len(cuts))):
            again = _powers.PowerSearch(weights, least, 40, len(cuts) - 1)
            again.add_all(exponents)
            assert again.total == search.total
            assert [again.aim(word << 58) for word in range(64)] == [search.aim(word << 58) for word in range(64)]
        edges = [(edge << 64) // search.total + by for edge in accumulate(each) for by in range(-40 * digits, 3)]
        tried = {0, 1, WORD - 1, WORD - 2, *(random.randrange(WORD) for _ in range(200)), *edges}
        found = {}
        for word in tried:
            if 0 <= word < WORD:
                chunk = search.aim(word)
                found[word] = search.locate(exponents[cuts[chunk] : cuts[chunk + 1]], chunk, cuts[chunk])
                assert found[word] == in_python(each, table.error, word)
        assert -1 in found.values()
        assert len(set(found.values())) > 1


def test_no_more_chunks_than_announced() -> None:
    search = _powers.PowerSearch(sampler._weights_of(Rate(1, 1)), 0, 1, 1)
    search.add(np.array([0]))
    with pytest.raises(ValueError, match="announced"):
        search.add(np.array([0]))
    for each in (search, _powers.PowerSearch(sampler._weights_of(Rate(1, 1)), 0, 1, 2)):
        with pytest.raises(ValueError, match="a number for each chunk, and none was added"):
            each.add_all(np.array([0]))


@pytest.mark.parametrize("rate", [*RATES, Rate.from_epsilon("1/100000")], ids=lambda rate: f"{rate.loss_upper:.2g}")
def test_whole_numbers_are_searched_as_they_are(rate: Rate) -> None:
    # Around the ends of int64, of the clamps and of the bounds, and scores close together.
    random, limit = Random(3), 1 << 61
    for factor in (1, 2, 10, 1 << 40, limit):
        edge = limit // factor
        ends = [
            0,
            1,
            -1,
            edge,
            edge + 1,
            edge - 1,
            edge // 2,
            -edge,
            -edge - 1,
            1 - edge,
            (1 << 63) - 1,
            -(1 << 63),
            37,
        ]
        for lowest, highest in ((-limit, limit), (0, 50), (-7, 3), (limit - 5, limit), (-limit, -limit)):
            some = random.sample(ends, 5)
            near = [lowest // factor + random.randrange(-3, 60) for _ in range(3)]
            values = np.array(some + [min(max(each, -(1 << 63)), (1 << 63) - 1) for each in near], np.int64)
            exponents = Descending(values, factor, edge, lowest, highest, limit)
            beyond = [(v > edge) - (v < -edge) for v in values.tolist()]
            scaled = [by * limit if by else v * factor for v, by in zip(values.tolist(), beyond, strict=True)]
            plain = np.array([limit - max(lowest, min(highest, step)) for step in scaled])
            assert exponents[0:8].tolist() == plain.tolist()
            assert exponents.min() == plain.min()
            for word in (0, 1 << 62, WORD - 1, *(random.getrandbits(64) for _ in range(3))):
                # The kernel alone: equal sums, so that every word is in the same cell or in doubt both times.
                found = [sampler._decide_power(Powers(rate, each), word) for each in (exponents, plain)]
                assert found[0] == found[1]


def test_a_release_on_whole_scores_is_the_same_in_every_form() -> None:
    random = np.random.default_rng(8)
    for resolution, bounds in ((1, None), ("1/10", None), ("1/10", (0, "0.5")), (1, (-40, 40))):
        mechanism = ExponentialMechanism(epsilon="1/5", resolution=resolution, bounds=bounds)
        scores = random.integers(-90, 90, 20_000)
        for word in (5, 1 << 61, 3 << 62, WORD - 9):
            forms = scores, scores.astype(np.float64), scores.tolist(), np.asfortranarray(np.stack([scores] * 2))[0]
            assert len({mechanism.release(form, Sampler(Tape([word, 1]))).index for form in forms}) == 1


@pytest.mark.parametrize("values", [[-5, -900, -6, -7], [900, 12, 5000, 11], [-900], [10, 0, 10, 0]])
def test_scores_that_all_lie_beyond_a_bound_are_equal(values: list[int]) -> None:
    exponents = Descending(np.array(values), 1, 1 << 61, 0, 10, 1 << 61)
    plain = np.array([(1 << 61) - max(0, min(10, value)) for value in values])
    for word in range(0, WORD, WORD // 37):
        one, other = (Sampler(Tape([word])).power_index(Rate(1, 1), each) for each in (exponents, plain))
        assert one == other == Reference(Tape([word])).power_index(Rate(1, 1), plain)
