"""Draws as people call them: what they return, what they refuse, how much memory they take."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

import lastbit as lb

RATE = lb.Rate.from_epsilon("1/20")


@pytest.mark.parametrize("make", [lambda: lb.Sampler(), lambda: lb.Reference(lb.SystemBits())])
def test_one_draw_is_a_python_number_and_many_are_an_array(make):
    draw = make()
    for value in (
        draw.integer(6),
        draw.geometric(RATE),
        draw.laplace(RATE),
        draw.truncated_geometric(RATE, 5),
        draw.index([1, 2]),
    ):
        assert type(value) is int
    assert type(draw.bernoulli("1/2")) is bool
    assert draw.bernoulli("1/2", size=3).dtype == np.bool_
    for values in (
        draw.integer(6, 3),
        draw.laplace(RATE, 3),
        draw.index([1, 2], 3),
        draw.permutation(3),
        draw.geometric(RATE, 0),
    ):
        assert values.dtype == np.int64
    assert draw.words(4).dtype == np.uint64


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda draw: draw.geometric(RATE, -1), "size must be a whole number"),
        (lambda draw: draw.geometric(RATE, 2.5), "size must be a whole number"),
        (lambda draw: draw.geometric(0.5), r"rate must be a lastbit\.Rate"),
        (lambda draw: draw.laplace("1/2", 3), r"rate must be a lastbit\.Rate"),
        (lambda draw: draw.truncated_geometric(RATE, 0), "below must be a whole number"),
        (lambda draw: draw.integer(0), "n must be a whole number"),
        (lambda draw: draw.permutation(-1), "n must be a whole number"),
        (lambda draw: draw.bernoulli("3/2"), "p must be from 0 to 1"),
        (lambda draw: draw.bernoulli(-1), "p must be from 0 to 1"),
        (lambda draw: draw.index([]), "at least one positive"),
        (lambda draw: draw.index([0, 0]), "at least one positive"),
        (lambda draw: draw.index([1, -1]), "none negative"),
        (lambda draw: draw.index([0.5, 0.5]), "integers or Fractions"),
        (lambda draw: draw.index([True, 1]), "integers or Fractions"),
    ],
)
def test_what_cannot_be_drawn_is_refused_before_a_word_is_read(wrong, message):
    for draws in (lb.Sampler, lb.Reference):
        tape = lb.Tape([1, 2, 3])
        with pytest.raises(lb.ParameterError, match=message):
            wrong(draws(tape))
        assert tape.consumed == 0


def test_probabilities_and_weights_are_exact_numbers_of_any_kind():
    draw = lb.Sampler()
    assert draw.bernoulli(1)
    assert not draw.bernoulli(0)
    assert draw.bernoulli(Fraction(1), 5).all()
    assert draw.index(np.array([0, 0, 3]), 4).tolist() == [2] * 4
    assert draw.index([0, Fraction(1, 3), 0], 4).tolist() == [1] * 4


@pytest.mark.parametrize(
    "draw_many",
    [
        lambda draw, n: draw.geometric(RATE, n),
        lambda draw, n: draw.laplace(RATE, n),
        lambda draw, n: draw.laplace(lb.Rate.from_epsilon("1e-6"), n),
        lambda draw, n: draw.geometric(lb.Rate.from_epsilon("1e-12"), n),
        lambda draw, n: draw.integer(1000, n),
        lambda draw, n: draw.permutation(n),
        lambda draw, n: draw.index([1, 2, 3], n),
    ],
)
def test_memory_beyond_the_result_stays_small(draw_many):
    draw, n = lb.Sampler(), 10**6
    draw_many(draw, 10)  # tables are kept, and are not of this call
    tracemalloc.start()
    result = draw_many(draw, n)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak - result.nbytes < 4_000_000


def test_nothing_secret_is_shown():
    assert repr(lb.Sampler()) == "Sampler(SystemBits())"
    assert repr(lb.Reference(lb.Tape([5]))) == "Reference(<Tape: 0 of 1 words consumed>)"


def test_a_fixed_tape_gives_the_values_of_the_definitions():
    # U = 0.75, 0.25, …: #{i >= 1 : U < 2^-i}, ⌊6U⌋, U < 1/2.
    high, low = 3 << 62, 1 << 62
    assert lb.Sampler(lb.Tape([high, low - 1])).geometric(lb.Rate(1, 1), 2).tolist() == [0, 2]
    assert lb.Sampler(lb.Tape([high, low])).integer(6, 2).tolist() == [4, 1]
    assert lb.Sampler(lb.Tape([high, low])).bernoulli("1/2", 2).tolist() == [False, True]
    assert lb.Sampler(lb.Tape([high, low])).index([1, 1, 2], 2).tolist() == [2, 1]
