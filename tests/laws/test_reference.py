"""The law of every Reference draw, at 64 bits and beyond: both sides of every edge, and of the edge within the edge.

Cells are intervals, so a draw has its stated law when every edge lies where it should: the words from edge to edge
decide, and the word an edge runs through reads on.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import pytest

from lastbit import Rate, Reference, Tape, TapeEnded
from tests import oracle
from tests.oracle import WORD

RATES = [Fraction(1, 2), Fraction(3, 4), Fraction(1, 4), Fraction(15, 16), Fraction(63, 64)]
FILLERS = [[0x0123456789ABCDEF, WORD // 3, 1], [0, 0, 0], [WORD - 1, WORD - 1, WORD - 1]]

Program = Callable[[Reference], int]


def run(program: Program, words: Sequence[int]) -> tuple[int | None, int]:
    tape = Tape(words)
    try:
        return program(Reference(tape)), tape.consumed
    except TapeEnded:
        return None, tape.consumed


def around(edge: Fraction, depth: int) -> Iterator[list[int]]:
    """Tapes that follow an edge for `depth` words, but for the last one: one below, on it (and on), one above."""
    path = (edge.numerator << 64 * depth) // edge.denominator
    for last in (path - 1, path, path + 1):
        if 0 <= last < 1 << 64 * depth:
            head = [last >> 64 * i & (WORD - 1) for i in reversed(range(depth))]
            for tail in FILLERS if last == path else FILLERS[:1]:
                yield head + tail


def check_edges(program: Program, law: oracle.Law, edges: list[Fraction], at_once: int = 1) -> None:
    for edge in edges:
        for depth in range(at_once, at_once + 3):
            for words in around(edge, depth):
                assert run(program, words) == law.follow(words, at_once), (edge, words)


def some(positions: list[int]) -> list[int]:
    """All of a few; of many, both ends and some between."""
    return positions if len(positions) <= 70 else positions[:20] + positions[20:-20:61] + positions[-20:]


def rate_of(r: Fraction) -> Rate:
    return Rate(r.numerator, r.denominator.bit_length() - 1)


def tail_edges(law: oracle.Falling, step: int) -> list[int]:
    """The j from 0 on (by step) until S(j) is within 2^-66 of its limit."""
    j, found = 0, []
    while min(law.edge(j), 1 - law.edge(j)) * WORD * 4 > 1 or j == 0:
        found.append(j)
        j += step
    return found


@pytest.mark.parametrize("r", RATES)
def test_geometric(r: Fraction) -> None:
    law = oracle.geometric(r)
    assert all(law.mass(i) == (1 - r) * r**i for i in range(50))
    edges = [law.edge(1 + j) for j in some(tail_edges(oracle.Falling(lambda j: r ** (j + 1)), 1))]
    check_edges(lambda draw: draw.geometric(rate_of(r)), law, edges)


@pytest.mark.parametrize("r", RATES)
def test_laplace(r: Fraction) -> None:
    law = oracle.laplace(r)
    assert all(law.mass(i) == (1 - r) / (1 + r) * r ** abs(i) for i in range(-50, 50))
    edges = [law.edge(j) for j in some(tail_edges(law, 1)) + some(tail_edges(law, -1))]
    check_edges(lambda draw: draw.laplace(rate_of(r)), law, edges)


def test_laplace_is_a_difference_of_two_geometrics() -> None:
    # P(A - B = i) = sum over b of P(A = i + b)·P(B = b), a geometric series in r^2: in closed form, for i >= 0.
    for r in RATES:
        law, one = oracle.laplace(r), oracle.geometric(r)
        for i in range(20):
            head = sum(one.mass(i + b) * one.mass(b) for b in range(30))
            tail = (1 - r) ** 2 * r ** (i + 60) / (1 - r**2)
            assert head + tail == law.mass(i) == law.mass(-i)


@pytest.mark.parametrize("n", [1, 2, 3, 17, 100])
@pytest.mark.parametrize("r", [*RATES, Fraction(255, 256), 1 - Fraction(1, 1 << 20)])
def test_truncated_geometric(r: Fraction, n: int) -> None:
    law = oracle.truncated(r, n)
    total = sum(r**i for i in range(n))
    assert all(law.mass(i) == r**i / total for i in range(n))
    edges = [law.edge(j) for j in some(list(range(n + 1)))]
    check_edges(lambda draw: draw.truncated_geometric(rate_of(r), n), law, edges)


PROBABILITIES = [
    *(Fraction(i, 7) for i in range(8)),
    Fraction(1, 2),
    Fraction(1, WORD),
    Fraction(1, 2 * WORD),
    1 - Fraction(1, 2 * WORD),
    Fraction(1, WORD - 1),
    Fraction(1, WORD + 1),
    Fraction(3, WORD**2),
    Fraction(10**40, 10**40 + 1),
]


@pytest.mark.parametrize("p", PROBABILITIES)
def test_bernoulli(p: Fraction) -> None:
    law = oracle.categorical([p, 1 - p])
    check_edges(lambda draw: 0 if draw.bernoulli(p) else 1, law, [Fraction(0), p, Fraction(1)])


SIZES = [1, 2, 3, 6, 7, 10, 255, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 63) + 1, WORD - 1, WORD, WORD + 1, 10**30]
SIZES += [1 << 128, (1 << 128) + 1, 3 << 200]


@pytest.mark.parametrize("n", SIZES)
def test_integer(n: int) -> None:
    cells = sorted({c for c in (0, 1, 2, 3, n // 3, n // 2, n - 2, n - 1, n) if 0 <= c <= n})
    words = max(1, -(-(n - 1).bit_length() // 64))
    check_edges(lambda draw: draw.integer(n), oracle.Even(n), [Fraction(c, n) for c in cells], words)


WEIGHTS: list[list[int | Fraction]] = [
    [1],
    [0, 1],
    [1, 0],
    [0, 0, 5, 0, 0, 7, 7, 0],
    [1, 2, 3, 4, 5, 6],
    [Fraction(1, 3), 2, Fraction(1, 7)],
    [1, 10**40, 1],
    [Fraction(1, 2 * WORD), 1, Fraction(1, 3 * WORD)],
    [1] * 64,
]


@pytest.mark.parametrize("weights", WEIGHTS)
def test_index(weights: list[int | Fraction]) -> None:
    law = oracle.categorical(weights)
    total = sum(weights)
    assert all(law.mass(i) == Fraction(weight) / total for i, weight in enumerate(weights))
    check_edges(lambda draw: draw.index(weights), law, law.cuts)


@pytest.mark.parametrize("r", RATES)
@pytest.mark.parametrize("name", ["geometric", "laplace"])
def test_words_that_decide_a_value_make_up_its_mass(name: str, r: Fraction) -> None:
    # From S(j+1) to S(j), all words but those at the ends decide j, and an end decides when the edge is exact.
    law: oracle.Falling = getattr(oracle, name)(r)
    for j in range(0 if name == "geometric" else -6, 6):
        low, high = law.interval(j)
        first, last = -(-low.numerator * WORD // low.denominator), high.numerator * WORD // high.denominator - 1
        for word, inside in ((first - 1, False), (first, True), (last, True), (last + 1, False)):
            if 0 <= word < WORD:
                value, used = run(lambda draw: getattr(draw, name)(rate_of(r)), [word])
                assert (value == j and used == 1) == inside
        words = last - first + 1
        ends = (low * WORD).denominator != 1, (high * WORD).denominator != 1
        assert Fraction(words, WORD) <= law.mass(j) <= Fraction(words + sum(ends), WORD)
        assert any(ends) or Fraction(words, WORD) == law.mass(j)
