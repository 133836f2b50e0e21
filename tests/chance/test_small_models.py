"""The compiled code itself, run on every input of a small model: nothing is sampled, and nothing is left out.

A proof for the model, and for the model only: half-precision floats among all floats, words of a few bits among all
words. docs/analysis.md says what this proves and what not. `make fuzz` takes more parameters.
"""

import math
import os
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Final

import numpy as np
import pytest

from lastbit import Rate, Sampler, Tape
from lastbit.chance import _draws, distributions
from lastbit.chance.threshold_table import ThresholdTable
from lastbit.values import grid

FUZZ: Final = bool(os.environ.get("LASTBIT_FUZZ"))

HALVES: Final = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float64)
"""Every half-precision float, each NaN among them."""
IN_UNITS: Final = [int(each) for each in np.nan_to_num(HALVES, nan=0.0, posinf=0.0, neginf=0.0) * 2**24]
"""Finite halves are multiples of 2^-24."""


def floor_by_rule(factor: int, least: int, most: int) -> list[int]:
    """⌊v·factor⌋ clamped to [least, most]; NaN counts as the lowest."""
    floors = np.array([max(least, min(most, unit * factor >> 24)) for unit in IN_UNITS])
    floors[np.isnan(HALVES) | np.isneginf(HALVES)] = least
    floors[np.isposinf(HALVES)] = most
    return floors.tolist()


def factors() -> list[int]:
    """Odd parts for each way of flooring, times powers of two."""
    odds = [1, 3, 1023, 1025, (1 << 32) - 1] + ([5, 511, 513, 2047, (1 << 20) + 1, (1 << 31) + 1] if FUZZ else [])
    twos = range(0, 62, 1 if FUZZ else 13)
    return [odd << two for odd in odds for two in twos if odd << two <= grid.LIMIT]


def bounds(factor: int) -> list[tuple[int, int]]:
    """Bounds that clamp nothing, and bounds that clamp: at a half, at a power of two, from zero up."""
    near = max(1, min(grid.LIMIT, factor << 3))
    ends = [(-grid.LIMIT, grid.LIMIT), (-near, near - 1), (0, near)]
    return [*ends, (-1, 1), (near // 2, near), (-near, -near // 2)] if FUZZ else ends


@pytest.mark.parametrize("factor", factors())
def test_every_half_float_is_floored_as_specified(factor: int) -> None:
    for least, most in bounds(factor):
        expected = floor_by_rule(factor, least, most)
        assert grid._scale_floats(HALVES, factor, least, most).tolist() == expected
        floor = grid._floor(factor, least, most)
        assert floor is not None
        assert floor.total(HALVES.view(np.uint64)) == (sum(expected), np.isnan(HALVES).sum())


def steps_between() -> Iterator[tuple[int, int, int]]:
    """An odd part, and every pair of powers of two: of the factor, and of the bounds over it."""
    for odd in (1, 3, 1023, 1025, (1 << 32) - 1):
        for twos in range(0, 62 - odd.bit_length(), 1 if FUZZ else 3):
            yield from ((odd, twos, top) for top in range(62 - odd.bit_length() - twos))


def test_bounds_of_every_size_clamp_what_is_beyond_them() -> None:
    """The kernel chooses its way by the bounds: at each choice floats on, inside and far beyond the bound are tried."""
    for odd, twos, top in steps_between():
        factor, most = odd << twos, odd << twos + top
        edge = 2.0**top
        values = [edge, -edge, edge * (1 + 2**-52), edge / 2, edge * 2, -edge * 2, 1e308, -1e308]
        found = grid._scale_floats(np.array([*values, np.inf]), factor, -most, most).tolist()
        exact = [max(-most, min(most, math.floor(Fraction(value) * factor))) for value in values]
        assert found == [*exact, most], f"{odd} times 2^{twos}, bounds 2^{top} times that"


def invert(table: ThresholdTable, words: np.ndarray) -> tuple[list[int], list[int]]:
    """The kernel's cell of each word, and the words that it leaves in doubt."""
    inverter = _draws.Inverter(table.thresholds, table.guide, 0, 1)
    out = np.empty(len(words), np.int64)
    doubts = inverter.first(words, 1, out)
    return out.tolist(), doubts


def test_every_word_of_four_bits_in_every_table_of_four_thresholds() -> None:
    words = np.arange(16, dtype=np.uint64) << np.uint64(60)
    for size in range(5):
        for chosen in combinations_with_replacement(range(15, -1, -1), size):
            falling = [*chosen, 0]
            table = ThresholdTable._of([each << 60 for each in chosen], 0, 1)
            counts, doubts = invert(table, words)
            assert counts == [sum(word < each for each in falling) for word in range(16)]
            assert doubts == [word for word in range(16) if word in falling]


@pytest.mark.parametrize("loss", ["3", "1/20", *(["100", "1"] if FUZZ else [])])
def test_every_leading_half_of_a_long_word_in_the_tables_of_draws(loss: str) -> None:
    """The top sixteen bits of a word take all values; the other bits are all zeros, or all ones."""
    for draw in (distributions.geometric, distributions.laplace):
        (level,) = draw(Rate.from_epsilon(loss)).levels
        table, words = ThresholdTable.of(level), leading(16)
        assert table is not None
        counts, doubts = invert(table, words)
        rising = table.thresholds[::-1]
        assert counts == (len(rising) - np.searchsorted(rising, words, side="right")).tolist()
        assert doubts == np.flatnonzero(np.isin(words, rising)).tolist()


@pytest.mark.parametrize("loss", ["1/2000", "1e-6", *(["1/250", "1e-9", "1e-12"] if FUZZ else [])])
@pytest.mark.parametrize("name", ["geometric", "laplace"])
def test_every_leading_part_of_a_word_in_draws_without_a_table(name: str, loss: str) -> None:
    """Against the specification. A word that it leaves in doubt reads more words, and is left out here."""
    rate = Rate.from_epsilon(loss)
    distribution = getattr(distributions, name)(rate)
    values = {word: distribution.decide([word]) for word in leading(16 if FUZZ else 10).tolist()}
    decided = [word for word, value in values.items() if value is not None]
    assert len(decided) > len(values) - 9
    found = getattr(Sampler(Tape(decided)), name)(rate, len(decided))
    assert found.tolist() == [values[word] for word in decided]


def leading(bits: int) -> np.ndarray:
    """Words whose leading bits take all values, while all others are 0, or 1."""
    rest = 64 - bits
    words = np.arange(1 << bits, dtype=np.uint64) << np.uint64(rest)
    return np.concatenate([words, words | np.uint64((1 << rest) - 1)])
