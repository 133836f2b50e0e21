"""Spans of whole lengths: each is drawn with its share, and words follow from the public bound alone."""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction

import pytest

import lastbit as lb
from lastbit.chance.inversion import Spans

EDGES = [0, 1, 4, 9, 10]


def span(position: int) -> tuple[int, int]:
    place = bisect_right(EDGES, position)
    return EDGES[place - 1], EDGES[place]


def test_the_law_is_the_share_of_each_span() -> None:
    law = lb.audit.law(lambda draw: draw.span_below(10, 1000, span), 0)
    assert law.masses == {0: Fraction(1, 10), 1: Fraction(3, 10), 4: Fraction(5, 10), 9: Fraction(1, 10)}


def test_a_cell_is_the_span_of_every_position_of_the_interval() -> None:
    for bits in (1, 3, 6, 64):
        for u in {0, 1, (1 << bits) - 1, (1 << bits) // 2, (1 << bits) // 3}:
            held = {span(position)[0] for position in (u * 10 >> bits, ((u + 1) * 10 - 1) >> bits)}
            assert Spans(10, span).cell(u, bits) == (held.pop() if len(held) == 1 else None)


@pytest.mark.parametrize("word", [0, 1, 1 << 63, (1 << 64) - 1, (1 << 64) // 10, 4 * (1 << 64) // 10])
def test_sampler_and_reference_draw_the_same(word: int) -> None:
    drawn = []
    for twin in (lb.Sampler, lb.Reference):
        tape = lb.Tape([word, 0, word, 7, 7, 7])
        drawn.append((twin(tape).span_below(10, 1 << 70, span), tape.consumed))
    assert drawn[0] == drawn[1]
    # 64 bits more than the public bound has.
    assert drawn[0][1] == 3


def test_a_length_beyond_its_bound_is_refused() -> None:
    with pytest.raises(lb.ParameterError, match="n must be at most its public bound"):
        lb.Sampler().span_below(10, 9, span)
