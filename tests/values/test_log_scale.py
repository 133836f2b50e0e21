"""The weights of a log scale: W is the exact floor of a logarithm, and every interval weighs what its parts weigh."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from lastbit.exact.rounding import log2_floor
from lastbit.values import log_scale
from lastbit.values.log_scale import LogScale, inverses

LIMIT = 1 << 61
"""So many steps a value may lie from zero."""

FURTHEST = 10**18


def log2_floor_by_squaring(y: int, bits: int) -> int:
    """⌊2^bits·log2 y⌋ from whole numbers alone: y^(2^bits) has one bit more."""
    return (y ** (1 << bits)).bit_length() - 1


def test_the_exact_floor_is_that_of_whole_powers() -> None:
    for bits in (0, 1, 3, 7):
        for y in [*range(1, 200), 1 << 61, (1 << 61) - 1, (1 << 61) + 1]:
            assert log2_floor(y, bits) == log2_floor_by_squaring(y, bits)


def test_the_floor_of_a_fraction_and_of_a_hard_case() -> None:
    assert log2_floor(Fraction(3, 2), 4) == 9
    # A number so near to a power of two that 64 bits more do not tell them apart.
    assert log2_floor(Fraction((1 << 300) + 1, 1 << 300), 100) == 0
    assert log2_floor(Fraction((1 << 301) - 1, 1 << 300), 100) == (1 << 100) - 1


def numbers_to_try() -> list[int]:
    drawn = random.Random(20)
    near_powers = [(1 << e) + by for e in range(2, 62) for by in (-2, -1, 0, 1, 2)]
    # The entries of both tables begin and end here.
    edges = [(2048 + i << 50) + by for i in range(0, 2048, 31) for by in (-1, 0, 1)]
    fine = [(1 << 61) + (j << 39) + by for j in range(0, 2100, 17) for by in (-1, 0, 1)]
    some = [drawn.randrange(1, 1 << drawn.randrange(1, 63)) for _ in range(2000)]
    return [*range(1, 300), *near_powers, *edges, *fine, *some, (1 << 61) + 1, (1 << 63) - 1]


@pytest.mark.parametrize("bits", [3, 20, 40, 62, 63, 64])
def test_the_compiled_logarithm_is_the_exact_floor(bits: int) -> None:
    numbers = numbers_to_try()
    whole, parts = log_scale._logarithms_of(np.array(numbers), bits)
    exact = [(e << bits) + part for e, part in zip(whole.tolist(), parts.tolist(), strict=True)]
    assert exact == [log2_floor(y, bits) for y in numbers]


def test_what_the_tables_leave_in_doubt_is_decided_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    class Doubtful:
        """Tables that decide nothing."""

        def fill(self, numbers: np.ndarray, bits: int, exponents: np.ndarray, parts: np.ndarray) -> list[int]:
            exponents[:] = [int(y).bit_length() - 1 for y in numbers]
            parts[:] = 0
            return list(range(len(numbers)))

    monkeypatch.setattr(log_scale, "_tables", Doubtful)
    numbers = np.array([1, 2, 3, 1000, 10**18])
    starts = LogScale(0, FURTHEST).starts(numbers, wide=True)
    assert starts.tolist() == [LogScale(0, FURTHEST).start(int(y)) for y in numbers]


def test_the_inverses_bring_every_number_of_an_entry_to_one_or_just_above() -> None:
    for scale, entries in ((2048, 2048), (1 << 22, 2049)):
        for i, c in enumerate(inverses(scale, entries)):
            assert (scale + i) * c >= scale << 31 > (scale + i) * (c - 1)
    # So the second index is at most 2048, and z below 2^-21.99.
    first, second = inverses(2048, 2048), inverses(1 << 22, 2049)
    most = max(Fraction(2049 + i, 2048) * c / (1 << 31) for i, c in enumerate(first))
    assert (most - 1) * (1 << 22) < 2049
    z = max(Fraction((1 << 22) + j + 1, 1 << 22) * d / (1 << 31) for j, d in enumerate(second)) - 1
    assert z < Fraction(2) ** -22 + Fraction(2) ** -30


@pytest.mark.parametrize("ends", [(0, 7), (-3, 12), (5, 40), (-30, -4), (0, 1), (-1, 0)])
def test_every_number_weighs_something_and_positions_are_found_again(ends: tuple[int, int]) -> None:
    scale = LogScale(*ends)
    numbers = range(ends[0], ends[1] + 1)
    k = scale.bits
    assert 2**k >= 4 * scale.furthest
    positions = [position for y in numbers for position in [y] * scale.weight(y)]
    assert len(positions) == scale.total
    first = scale.start(ends[0])
    assert [scale.find(first + i) for i in range(scale.total)] == positions
    for y in numbers:
        away = abs(y)
        assert scale.weight(y) == ((2 << k) if y == 0 else log2_floor(away + 1, k) - log2_floor(away, k)) >= 1
        # Each factor of two weighs alike.
        if y > 0 and 2 * y - 1 <= ends[1]:
            assert scale.start(2 * y) - scale.start(y) == 1 << k


@pytest.mark.parametrize("ends", [(-FURTHEST, FURTHEST), (-LIMIT, LIMIT), (0, 1 << 40)])
def test_far_numbers_are_found_and_placed_exactly(ends: tuple[int, int]) -> None:
    scale = LogScale(*ends)
    drawn = random.Random(7)
    numbers = [*ends, 0, 1, -1, 2, *(drawn.randrange(*ends) for _ in range(200))]
    numbers = [y for y in numbers if ends[0] <= y <= ends[1]]
    exact = [scale.start(y) for y in numbers]
    assert scale.starts(np.array(numbers), wide=True).tolist() == exact
    if not scale.needs_wide():
        assert scale.starts(np.array(numbers), wide=False).tolist() == exact
    for y, start in zip(numbers, exact, strict=True):
        assert scale.weight(y) >= 1
        assert scale.find(start) == scale.find(start + scale.weight(y) - 1) == y
        if y > ends[0]:
            assert scale.find(start - 1) == y - 1


def test_wide_positions_are_asked_for_where_64_bits_have_no_room() -> None:
    assert LogScale(-FURTHEST, FURTHEST).needs_wide()
    assert not LogScale(0, 10**6).needs_wide(1 << 16)
    assert LogScale(0, 10**12).needs_wide(1 << 16)


def test_a_bad_guess_of_floats_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LogScale, "_near", lambda self, position: (self.low, self.low + 1))
    scale = LogScale(-5, 9)
    assert [scale.find(scale.start(y)) for y in range(-5, 10)] == list(range(-5, 10))


def test_the_least_weight_is_at_most_every_weight_within_a_magnitude() -> None:
    for ends in ((0, 300), (-50, 200), (20, 90), (-90, -20)):
        scale = LogScale(*ends)
        for magnitude in range(0, 310, 7):
            inside = [y for y in range(ends[0], ends[1] + 1) if abs(y) <= magnitude]
            weights = [scale.weight(y) for y in inside]
            least = scale.least_weight(magnitude)
            assert 1 <= least <= min(weights, default=math.inf)
            # It is no more than a unit below, and so of use.
            assert not weights or 0 in inside or least >= min(weights) - 1
