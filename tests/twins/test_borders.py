"""Where blocks, tapes and integers end: chunk borders, tapes that stop midway, values beyond int64."""

from random import Random

import pytest

from lastbit import Rate, TapeEnded
from lastbit.chance import distributions
from tests.twins.pair import WORD, agree, edges

CHUNK = 1024


@pytest.fixture(autouse=True)
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The specification takes its time: shorter chunks end as long ones do."""
    monkeypatch.setattr("lastbit.chance.sampler._CHUNK", CHUNK)


def noise_tape(name: str, rate: Rate, size: int, doubtful: list[int], random: Random) -> list[int]:
    """Plain words, but for the samples named, which sit on an edge of every level."""
    distribution = getattr(distributions, name)(rate)
    levels = edges(distribution)
    words = [random.getrandbits(64) for _ in range(size * len(levels) + 4 * len(doubtful) * len(levels))]
    for sample in doubtful:
        for i, level in enumerate(levels):
            words[sample * len(levels) + i] = random.choice(level)
    return words


@pytest.mark.parametrize(
    ("name", "epsilon", "levels"),
    [
        ("geometric", "1", 1),
        ("laplace", "1", 1),
        ("laplace", "1/1000", 1),
        ("laplace", "1e-13", 2),
        ("geometric", "1e-17", 3),
    ],
)
@pytest.mark.parametrize("beyond", [-1, 0, 1])
def test_sizes_around_a_chunk(name: str, epsilon: str, levels: int, beyond: int) -> None:
    rate = Rate.from_epsilon(epsilon)
    chunk = CHUNK // levels
    size = chunk + beyond
    doubtful = [at for at in (0, 1, 17, chunk - 2, chunk - 1, chunk, size - 1) if at < size]
    words = noise_tape(name, rate, size, sorted(set(doubtful)), Random(size))
    [(_, consumed)] = agree(words, lambda draw: getattr(draw, name)(rate, size))
    assert consumed > size * levels


def test_doubts_of_two_levels_are_settled_in_the_order_of_the_samples() -> None:
    rate, random = Rate.from_epsilon("1e-13"), Random(3)
    levels = edges(distributions.laplace(rate))
    # In turn, a sample is in doubt in its second level, or in its first.
    words = [
        random.choice(level) if (sample + i) % 2 else random.getrandbits(64)
        for sample in range(40)
        for i, level in enumerate(levels)
    ]
    further = [random.getrandbits(64) for _ in range(80)]
    [(_, consumed)] = agree(words + further, lambda draw: draw.laplace(rate, 40))
    assert consumed > len(words) + 30


def test_several_chunks_with_doubts_in_each() -> None:
    rate, size = Rate.from_epsilon(2), 3 * CHUNK + 5
    doubtful = [at + step for at in range(0, size - 3, 1000) for step in (0, 1)]
    agree(noise_tape("laplace", rate, size, doubtful, Random(1)), lambda draw: draw.laplace(rate, size))


@pytest.mark.parametrize("n", [6, 1 << 63, WORD, 10**30])
def test_integers_around_a_chunk(n: int) -> None:
    random, block = Random(n), distributions.uniform(n).words
    for size in (CHUNK // block - 1, CHUNK // block, CHUNK // block + 1):
        words = [random.getrandbits(64) for _ in range(size * block + 20)]
        for sample in (0, CHUNK // block - 1, size - 1):
            for i in range(block):
                words[sample * block + i] = ((n // 2) * (1 << 64 * block) // n >> 64 * (block - 1 - i)) % WORD
        agree(words, lambda draw: draw.integer(n, size))


@pytest.mark.parametrize("n", [CHUNK - 1, CHUNK, CHUNK + 1, CHUNK + 2, 2 * CHUNK + 2])
def test_permutations_around_a_chunk(n: int) -> None:
    random = Random(n)
    words = [random.getrandbits(64) for _ in range(n + 40)]
    for i in (1, 2, 3, CHUNK - 2, CHUNK - 1, CHUNK, CHUNK + 1, n - 1):
        if i < n:
            words[i - 1] = random.randrange(1, i + 1) * WORD // (i + 1)
    agree(words, lambda draw: draw.permutation(n))


def test_bernoulli_and_index_around_a_chunk() -> None:
    random = Random(3)
    words = [random.choice([random.getrandbits(64), WORD // 3]) for _ in range(4 * CHUNK)]
    for size in (CHUNK - 1, CHUNK, CHUNK + 1):
        agree(words, lambda draw: draw.bernoulli("1/3", size))
        agree(words, lambda draw: draw.index([1, 1, 1], size))


@pytest.mark.parametrize("weights", [(1 << 15) - 1, 1 << 15, (1 << 15) + 1])
def test_weights_with_and_without_a_table(weights: int) -> None:
    random = Random(weights)
    words = [random.choice([random.getrandbits(64), i * WORD // weights]) for i in range(weights)]
    agree(words * 2, lambda draw: draw.index([1] * weights, weights))


@pytest.mark.parametrize("below", [1 << 15, (1 << 15) + 1, 10**15])
def test_truncations_with_and_without_a_table(below: int) -> None:
    rate = Rate.from_epsilon("1e-4")
    words = [word for word in edges(distributions.truncated_geometric(rate, below))[0][:300] for _ in range(2)]
    agree(words * 2, lambda draw: draw.truncated_geometric(rate, below, len(words)))


@pytest.mark.parametrize(
    ("name", "epsilon"), [("geometric", "1"), ("laplace", "1/20"), ("laplace", "1e-3"), ("geometric", "1e-9")]
)
def test_tapes_of_every_length(name: str, epsilon: str) -> None:
    # Five samples, three of them undecided on every level, one of those twice: the tape ends everywhere.
    rate = Rate.from_epsilon(epsilon)
    distribution = getattr(distributions, name)(rate)
    levels = edges(distribution)
    block: list[int] = []
    for sample in range(5):
        for level in levels:
            block.append(level[3 * sample % len(level)] if sample in (0, 2, 4) else WORD // 3)
    second = distribution.levels[0].floor(3, 128)[0]
    block[0], after = second >> 64, [second & (WORD - 1), *range(5, 30)]
    words = block + after
    ended = 0
    for length in range(len(words) + 1):
        (value, consumed), (_, later) = agree(
            words[:length], lambda draw: getattr(draw, name)(rate, 5), lambda draw: draw.integer(6)
        )
        ended += value is TapeEnded
        assert value is not TapeEnded or consumed == later == length
    # It ended within the block and within each of the resolutions.
    assert ended >= len(block) + 3 * len(levels) + 1


@pytest.mark.parametrize("zeros", [3, 4, 7])
@pytest.mark.parametrize("epsilon", ["1e-17", "1e-20"])
@pytest.mark.parametrize("name", ["geometric", "laplace"])
def test_values_beyond_int64_come_as_python_integers(name: str, epsilon: str, zeros: int) -> None:
    rate = Rate.from_epsilon(epsilon)
    levels = len(getattr(distributions, name)(rate).levels)
    block = [0] + [WORD // 5] * (levels - 1)
    plain = [WORD // 3] * levels
    after = [0] * zeros + [9, 9, 9]
    [((kind, value), _)] = agree(block + after, lambda draw: getattr(draw, name)(rate))
    assert kind is int
    assert value >= 1 << 63
    [((dtype, values), _)] = agree(plain + block + plain + after, lambda draw: getattr(draw, name)(rate, 3))
    assert dtype == "object"
    assert values[1] == value
    assert all(type(each) is int for each in values)
    if name == "laplace":
        block[0], after[:zeros] = WORD - 1, [WORD - 1] * zeros
        [((_, value), _)] = agree(block + after, lambda draw: draw.laplace(rate))
        assert value < -(1 << 63)


def test_a_value_beyond_int64_at_scale_1e16() -> None:
    # P(X > 2^63) is 2^-1331 here: 21 words of zeros.
    rate = Rate.from_epsilon("1e-16")
    levels = len(distributions.geometric(rate).levels)
    tape = [0] + [1 << 63] * (levels - 1) + [0] * 21 + [5] * 4
    [((dtype, [value]), _)] = agree(tape, lambda draw: draw.geometric(rate, 1))
    assert dtype == "object"
    assert value >= 1 << 63


def test_integers_on_both_sides_of_int64() -> None:
    for n in ((1 << 63) - 1, 1 << 63, (1 << 63) + 1, WORD):
        low, high = (
            agree([0, 5], lambda draw: draw.integer(n, 1)),
            agree([WORD - 1, 5], lambda draw: draw.integer(n, 1)),
        )
        assert low[0][0] == ("int64", [0])
        assert high[0][0] == ("int64" if n <= 1 << 63 else "object", [n - 1])
