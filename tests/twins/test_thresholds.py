"""Words on an edge, at every table position of every level: w = T, its neighbours, and what is read after it."""

from random import Random

import gmpy2
import pytest

from lastbit import Rate
from lastbit.chance import distributions
from tests.twins.pair import WORD, agree, edges

FULL = [("geometric", "1/20"), ("laplace", "1/20"), ("geometric", "1/1000"), ("laplace", "1/1000")]
FULL += [("geometric", "3"), ("laplace", "3"), ("geometric", "100"), ("laplace", "100")]
SPARSE = [("geometric", "1/200"), ("laplace", "1e-6"), ("geometric", "1e-9"), ("laplace", "1e-12")]
"""Tables too long for Reference to visit every position in a test: chance/test_kernel.py visits them all."""


def tape(levels: list[list[int]], positions: range, offsets: list[int], random: Random) -> list[int]:
    """One sample for each position: every level's word at its edge of that number, moved by the offset."""
    block = [
        min(max(level[position % len(level)] + offset, 0), WORD - 1)
        for position in positions
        for level, offset in zip(levels, offsets, strict=True)
    ]
    # Enough that all samples could be undecided on every level, some of them for two more words.
    return block + [random.getrandbits(64) for _ in range(2 * len(block) + 50)]


@pytest.mark.parametrize(("name", "epsilon", "stride"), [(*law, 3) for law in FULL] + [(*law, 97) for law in SPARSE])
def test_every_position(name: str, epsilon: str, stride: int) -> None:
    rate, random = Rate.from_epsilon(epsilon), Random(f"{name} {epsilon}")
    levels = edges(getattr(distributions, name)(rate))
    positions = range(0, max(len(level) for level in levels), stride)
    words = tape(levels, positions, [0] * len(levels), random)
    [(_, consumed)] = agree(words, lambda draw: getattr(draw, name)(rate, len(positions)))
    # Every word on an edge took at least one more; 0 is where a last cell ends.
    block = words[: len(positions) * len(levels)]
    assert consumed >= len(block) + sum(word > 0 for word in block)


@pytest.mark.parametrize("away", [-1, 1])
@pytest.mark.parametrize(("name", "epsilon"), FULL + SPARSE)
def test_neighbours(name: str, epsilon: str, away: int) -> None:
    rate, random = Rate.from_epsilon(epsilon), Random(f"{name} {epsilon} {away}")
    levels = edges(getattr(distributions, name)(rate))
    longest = max(len(level) for level in levels)
    positions = range(0, longest, max(1, longest // 60))
    for level in range(len(levels)):
        # One level on its edge, the others beside theirs.
        offsets = [0 if i == level else away for i in range(len(levels))] if len(levels) > 1 else [away]
        agree(tape(levels, positions, offsets, random), lambda draw: getattr(draw, name)(rate, len(positions)))


@pytest.mark.parametrize(("name", "epsilon"), [("geometric", "1/20"), ("laplace", "1/20"), ("laplace", "1/1000")])
def test_undecided_at_the_second_and_third_word(name: str, epsilon: str) -> None:
    rate, random = Rate.from_epsilon(epsilon), Random(epsilon)
    distribution = getattr(distributions, name)(rate)
    for _ in range(60):
        size = random.randrange(1, 6)
        block: list[int] = []
        after: list[int] = []
        for _ in range(size):
            for level in distribution.levels:
                depth = random.choice([1, 1, 2, 3])
                j = random.randrange(1, 30)
                path = level.floor(j, 64 * depth)[0] + random.choice([-1, 0, 1])
                block.append(path >> 64 * (depth - 1))
                after += [path >> 64 * i & (WORD - 1) for i in reversed(range(depth - 1))]
        words = block + after + [random.getrandbits(64) for _ in range(8)]
        agree(words, lambda draw: getattr(draw, name)(rate, size))
        agree(words, *[lambda draw: getattr(draw, name)(rate)] * size)


def test_exact_edges_read_nothing() -> None:
    # With r = 1/2 an edge is a word's own start: in doubt for the kernel, decided for the law.
    rate = Rate(1, 1)
    words = [1 << 64 - j for j in range(1, 65)]
    [((_, values), consumed)] = agree(words, lambda draw: draw.geometric(rate, 64))
    assert values == list(range(64))
    assert consumed == 64


@pytest.mark.parametrize("name", ["geometric", "laplace"])
def test_an_edge_a_hair_above_a_word(name: str) -> None:
    # r^(2^20) is 1/2 and less than 2^-270 more, so the table's 2^63 is a floor that rounding must not lose.
    with gmpy2.context(precision=1000):
        x = int(gmpy2.ceil(gmpy2.exp2(300 - gmpy2.mpfr(1) / (1 << 20))))
    rate = Rate(x, 300)
    levels = len(getattr(distributions, name)(rate).levels)
    agree([1 << 63, *[1 << 62] * (levels - 1), 0, 7, 7, 7], lambda draw: getattr(draw, name)(rate))
    for word in edges(getattr(distributions, name)(rate))[0][::16]:
        for near in (word - 1, word, word + 1):
            if 0 <= near < WORD:
                agree([near, *[1 << 62] * (levels - 1), 0, 7, 7, 7], lambda draw: getattr(draw, name)(rate))


@pytest.mark.parametrize("weights", [[1, 0], [0, 1], [1, 0, 0, 2, 0], [1] * 2048, list(range(3000)), [3, 10**30, 5]])
def test_every_position_of_weights(weights: list[int]) -> None:
    [words] = edges(distributions.categorical(weights))
    random = Random(len(weights))
    for away in (-1, 0, 1):
        block = [min(max(word + away, 0), WORD - 1) for word in words]
        more = [random.getrandbits(64) for _ in range(2 * len(block))]
        agree(block + more, lambda draw: draw.index(weights, len(weights)))
        agree(block + more, lambda draw: draw.index(weights, 1), lambda draw: draw.index(weights))


@pytest.mark.parametrize("n", [3, 7, 1000, (1 << 63) - 1, 1 << 63, (1 << 63) + 1, WORD - 1, WORD, WORD + 1, 10**25])
def test_positions_of_integers(n: int) -> None:
    [words] = edges(distributions.uniform(n))
    size = len(words) // distributions.uniform(n).words
    for away in (-1, 0, 1):
        block = [min(max(word + away, 0), WORD - 1) for word in words]
        agree([*block, *words], lambda draw: draw.integer(n, size))
