"""What a draw refuses, what it returns, and how little it needs beside its result."""

import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from lastbit import Draw, ParameterError, Rate, Reference, Sampler, Tape
from lastbit.chance.inversion import Geometric
from tests.oracle import WORD

RATE = Rate.from_epsilon("1/20")
WORDS = [WORD // 3, WORD // 5, WORD - WORD // 7] * 20

BOTH = pytest.mark.parametrize("draws", [Sampler, Reference])

REFUSED: list[tuple[str, Callable[[Any], Any], str]] = [
    ("size -1", lambda d: d.geometric(RATE, -1), "size must be a whole number of at least 0: got -1."),
    (
        "size 1/2",
        lambda d: d.laplace(RATE, Fraction(1, 2)),
        "size must be a whole number of at least 0: got 1/2.",
    ),
    ("size True", lambda d: d.integer(6, True), "size must be a number: got True. Pass 1 if one is meant."),
    ("size tuple", lambda d: d.integer(6, (2, 3)), "size must be a number: got tuple. Pass an int"),
    ("p -0.1", lambda d: d.bernoulli(-0.1), "p must be from 0 to 1: got -0.1. It is a probability."),
    ("p 1.5", lambda d: d.bernoulli(1.5, 3), "p must be from 0 to 1: got 1.5. It is a probability."),
    ("p nan", lambda d: d.bernoulli(float("nan")), "p must be a finite number: got 'nan'. Write it like"),
    ("p True", lambda d: d.bernoulli(True), "p must be a number: got True. Pass 1 if one is meant."),
    ("n 0", lambda d: d.integer(0), "n must be a whole number of at least 1: got 0."),
    ("n -1", lambda d: d.integer(-1, 5), "n must be a whole number of at least 1: got -1."),
    ("n 2.5", lambda d: d.integer(2.5), "n must be a whole number of at least 1: got 5/2."),
    ("order -1", lambda d: d.permutation(-1), "n must be a whole number of at least 0: got -1."),
    ("words -1", lambda d: d.words(-1), "n must be a whole number of at least 0: got -1."),
    (
        "below 0",
        lambda d: d.truncated_geometric(RATE, 0),
        "below must be a whole number of at least 1: got 0.",
    ),
    ("no weights", lambda d: d.index([]), "weights must be exact, none negative and at least one positive."),
    (
        "weight -1",
        lambda d: d.index([2, -1]),
        "weights must be exact, none negative and at least one positive.",
    ),
    (
        "weights 0",
        lambda d: d.index([0, 0], 3),
        "weights must be exact, none negative and at least one positive.",
    ),
    ("weight float", lambda d: d.index([1, 0.5]), "weights must be integers or Fractions: got float."),
    ("weight nan", lambda d: d.index([float("nan")]), "weights must be integers or Fractions: got float."),
    ("weight text", lambda d: d.index(["1/2"]), "weights must be integers or Fractions: got str."),
    ("weight True", lambda d: d.index([True, 1]), "weights must be integers or Fractions: got bool."),
    ("weight None", lambda d: d.index([None]), "weights must be integers or Fractions: got NoneType."),
    (
        "rate float",
        lambda d: d.geometric(0.5),
        "rate must be a lastbit.Rate: got float. Write Rate.from_epsilon",
    ),
    (
        "rate text",
        lambda d: d.laplace("1/2", 4),
        "rate must be a lastbit.Rate: got str. Write Rate.from_epsilon",
    ),
    (
        "rate list",
        lambda d: d.geometric([1]),
        "rate must be a lastbit.Rate: got list. Write Rate.from_epsilon",
    ),
    (
        "rate None",
        lambda d: d.truncated_geometric(None, 5),
        "rate must be a lastbit.Rate: got NoneType. Write",
    ),
]


@BOTH
@pytest.mark.parametrize(("ask", "message"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_refused_before_anything_is_drawn(draws: type[Draw], ask: Callable[[Draw], Any], message: str) -> None:
    tape = Tape(WORDS)
    with pytest.raises(ParameterError) as caught:
        ask(draws(tape))
    assert str(caught.value).startswith(message)
    assert tape.consumed == 0


@BOTH
def test_single_draws_are_plain_python(draws: type[Draw]) -> None:
    draw = draws(Tape(WORDS))
    assert type(draw.bernoulli("1/3")) is bool
    for value in (
        draw.integer(6),
        draw.integer(10**30),
        draw.index([1, 2, 3]),
        draw.geometric(RATE),
        draw.geometric(Rate.from_epsilon("1e-20")),
        draw.laplace(RATE),
        draw.truncated_geometric(RATE, 9),
    ):
        assert type(value) is int


@BOTH
def test_several_draws_are_arrays(draws: type[Draw]) -> None:
    draw = draws(Tape(WORDS))
    for size in (0, 1, 3):
        assert draw.bernoulli("1/3", size).dtype == np.bool_
        for values in (
            draw.integer(6, size),
            draw.index([1, 2], size),
            draw.geometric(RATE, size),
            draw.laplace(RATE, size),
            draw.truncated_geometric(RATE, 9, size),
        ):
            assert values.dtype == np.int64
            assert values.shape == (size,)
    assert draw.permutation(0).tolist() == []
    assert draw.permutation(1).tolist() == [0]
    assert draw.permutation(3).dtype == np.int64
    assert draw.words(2).dtype == np.uint64


@BOTH
def test_certain_draws(draws: type[Draw]) -> None:
    for word in (0, 1, WORD // 2, WORD - 1):
        for size in (1, 2, 5):
            draw = draws(Tape([word] * 100))
            assert draw.bernoulli(1, size).tolist() == [True] * size
            assert draw.bernoulli(0, size).tolist() == [False] * size
            assert draw.index([0, 3, 0], size).tolist() == [1] * size
            assert draw.index([5, 0, 0, 0], size).tolist() == [0] * size
            assert draw.integer(1, size).tolist() == [0] * size
            assert draw.truncated_geometric(RATE, 1, size).tolist() == [0] * size


@BOTH
def test_weights_of_any_exact_kind(draws: type[Draw]) -> None:
    numbers = [np.int64(3), Fraction(1, 2), 2, np.uint8(7)]
    plain = [3, Fraction(1, 2), 2, 7]
    for weights in (numbers, tuple(numbers)):
        assert draws(Tape(WORDS)).index(weights, 30).tolist() == draws(Tape(WORDS)).index(plain, 30).tolist()
    array = np.array([1, 2, 3])
    assert draws(Tape(WORDS)).index(array, 30).tolist() == draws(Tape(WORDS)).index([1, 2, 3], 30).tolist()


@BOTH
def test_weights_that_would_overflow_fixed_integers(draws: type[Draw]) -> None:
    weights = [np.int64(1 << 62), np.int64(1 << 62), Fraction(1, 1 << 62)]
    exact = [1 << 62, 1 << 62, Fraction(1, 1 << 62)]
    assert draws(Tape(WORDS)).index(weights, 30).tolist() == draws(Tape(WORDS)).index(exact, 30).tolist()


@pytest.mark.parametrize("below", [10**6, 10**12, 1 << 100])
@pytest.mark.parametrize(
    "rate",
    [Rate(1, 1), Rate.from_epsilon(1), RATE, Rate.from_epsilon("1e-4")],
    ids=["1/2", "1", "1/20", "1e-4"],
)
@BOTH
def test_a_cut_off_far_out_costs_nothing(draws: type[Draw], rate: Rate, below: int) -> None:
    # The part cut off is too small to write down: a word leads where it leads the geometric, but on an edge.
    words = [WORD // 3, WORD // 5, 1 << 40, WORD - 1]
    whole = [Geometric(rate).cell(word, 64) for word in words]
    assert draws(Tape(words)).truncated_geometric(rate, below, 4).tolist() == whole
    # r itself is an edge of the geometric; the truncated one's lies just below it.
    for depth in (1, 2):
        if rate.y <= 64 * depth:
            on = rate.x << 64 * depth - rate.y
            path = [on >> 64 * i & (WORD - 1) for i in reversed(range(depth))]
            assert draws(Tape(path)).truncated_geometric(rate, below) == 0


MEMORY: list[tuple[str, Callable[[Sampler], Any]]] = [
    ("geometric at scale 20", lambda d: d.geometric(RATE, 10**6)),
    ("laplace at scale 20", lambda d: d.laplace(RATE, 10**6)),
    ("geometric at scale 10^6", lambda d: d.geometric(Rate.from_epsilon("1e-6"), 10**6)),
    ("laplace at scale 10^6", lambda d: d.laplace(Rate.from_epsilon("1e-6"), 10**6)),
    ("laplace at scale 10^12", lambda d: d.laplace(Rate.from_epsilon("1e-12"), 10**6)),
    ("truncated geometric", lambda d: d.truncated_geometric(RATE, 100, 10**6)),
    ("bernoulli", lambda d: d.bernoulli("1/3", 10**6)),
    ("integer", lambda d: d.integer(6, 10**6)),
    ("index", lambda d: d.index([1, 2, 3], 10**6)),
    ("permutation", lambda d: d.permutation(10**6)),
]


@pytest.mark.parametrize("ask", [case[1] for case in MEMORY], ids=[case[0] for case in MEMORY])
def test_memory_beyond_the_result(ask: Callable[[Sampler], Any]) -> None:
    tracemalloc.start()
    try:
        result = ask(Sampler())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert result.nbytes <= 8 * 10**6
    assert peak - result.nbytes < 4 << 20


def test_reprs_say_what_but_not_which() -> None:
    sampler = Sampler()
    sampler.geometric(RATE, 10)
    assert repr(sampler) == "Sampler(SystemBits())"
    tape = Tape([123456789] * 3)
    draw = Reference(tape)
    draw.integer(6)
    assert repr(draw) == "Reference(<Tape: 1 of 3 words consumed>)"
    assert "123456789" not in repr(draw) + repr(Sampler(tape)) + repr(vars(draw))


def test_a_draw_is_not_made_without_its_parts() -> None:
    with pytest.raises(TypeError):
        Draw()
