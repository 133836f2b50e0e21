"""The kernel of logarithms: what it decides is the law's own cell, beside every edge, and doubts are few."""

import math
from fractions import Fraction
from random import Random

import gmpy2
import numpy as np
import pytest

from lastbit import Rate
from lastbit.chance import curves
from lastbit.chance.inversion import Geometric, Line, Signed, Truncated, Uniform
from tests.oracle import WORD

SCALES = ["100", "300", "2000", "1e5", "1e6", "50000000", "1e8", "1e10", "1e12"]
RATES = [Rate.from_epsilon(f"1/{scale}" if "e" not in scale else f"1e-{scale[2:]}") for scale in SCALES]
RATES += [Rate((1 << 20) - 1, 20), Rate((1 << 39) + 1, 40), Rate((1 << 40) - 3, 40)]


def laws(rate: Rate) -> list[Line]:
    scale = rate.scale
    found = [Geometric(rate), Signed(rate), Geometric(rate, 3), Signed(rate, 5)]
    return found + [Truncated(rate, last, 2) for last in (1, 60, scale // 30, scale, 40 * scale)]


def edges(law: Line, random: Random) -> list[int]:
    """Cells where the law's edges lie close, far and between, on both sides."""
    most = 40 * max(1, law.rate.scale // law.stride) if law.last is None else law.last
    places = [1, 2, 3, *(int(most * random.random() ** 3) for _ in range(25))]
    places = [j for j in places if 0 < j <= most]
    return places if law.first == 0 else places + [-j for j in places] + [0]


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: f"{rate.loss_upper:.2g}")
def test_decided_cells_are_those_of_the_law(rate: Rate) -> None:
    random = Random(rate.x)
    for law in laws(rate):
        inverter = curves.inverter(law)
        if inverter is None:
            continue
        near = [0, 1, WORD - 1, WORD // 2, *(random.getrandbits(64) for _ in range(30))]
        for j in edges(law, random):
            edge = law.floor(j, 64)[0]
            steps = [0, 1, 2, *(1 << bit for bit in range(2, 56, 3)), *(random.getrandbits(50) for _ in range(4))]
            near += [word for step in steps for word in (edge - step, edge + step) if 0 <= word < WORD]
        words = np.array(near, np.uint64)
        out = np.empty(len(words), np.int64)
        doubts = set(inverter.first(words, 1, out))
        for k, word in enumerate(near):
            cell = law.cell(word, 64)
            assert k in doubts or cell == out[k], (law, word)
            assert cell is not None or k in doubts


def test_the_errors_of_every_entry_are_within_those_claimed() -> None:
    # Every term rises with m, so the last m of an entry has the largest.
    with gmpy2.context(precision=256):
        for bits in (15, 31):
            for i, (inverse, log) in enumerate(zip(*curves.logarithm_table(bits), strict=True)):
                assert 0 <= gmpy2.log(gmpy2.mpfr(gmpy2.mpq(1 << bits, inverse))) * WORD - log < 1.001
                assert (2048 + i << 52) * inverse >= 1 << 63 + bits
                last = (2049 + i << 52) - 1
                z = Fraction(last * inverse, 1 << 63 + bits) - 1
                # Too small by the floor of the log, and the one of z or what the first look leaves out.
                if bits == 31:
                    assert inverse < 1 << 32
                    # Too large by the floor of the terms after z, that of their factor, and the terms left out.
                    assert 1 + z + z**6 / 6 * WORD < 2
                else:
                    assert inverse < 1 << 16
                    assert 1.001 + _shortfall(last, inverse, z) < 2**30.02


def _shortfall(m: int, inverse: int, z: Fraction) -> Fraction:
    """By how many units the first look is too small: the low bits of m, the root rounded up, and z^3/3."""
    short = (m >> 16) * inverse - (1 << 62)
    root = (short >> 20) + 1
    assert short << 2 < WORD
    assert root**2 < WORD
    return Fraction(inverse << 16, 1 << 14) + Fraction(2 * root, 1 << 21) + z**3 / 3 * WORD


SHARP = [
    Geometric(Rate((1 << 22) - 1, 22)),
    Signed(Rate.from_epsilon("1/67000000")),
    Geometric(Rate.from_epsilon("1/134000000")),
    Signed(Rate((1 << 40) - 1, 40)),
    Truncated(Rate((1 << 22) - 1, 22), 12 << 22),
    Truncated(Rate((1 << 33) - 1, 33), 14 << 33),
    Truncated(Rate((1 << 123) - 1, 123), 11 << 30, 1 << 93),
]


def at_entries(law: Line) -> list[int]:
    """Edges at both ends of all entries of the tables: the logarithm errs least after one end and most before it."""
    loss, ratio = law.rate.loss_upper * law.stride, float(law.rate.fraction)
    sides = {1: math.log1p(ratio), -1: math.log1p(1 / ratio)} if law.first is None else {1: 0.0}
    found = set()
    for side, constant in sides.items():
        # Without leading zeros, where the error of the logarithm counts, and with some, where the width of a word does.
        for zeros in (0, 11):
            for i in range(1, 2048):
                j = int((math.log((4096 << zeros) / (2048 + i)) - constant) / loss)
                found |= {side * j, side * (j + 1)} if j > 0 else set()
    return sorted(found)


@pytest.mark.parametrize("law", SHARP, ids=lambda law: f"{type(law).__name__} {law.rate.loss_upper:.2g}")
def test_words_beside_the_edges_at_every_entry(law: Line) -> None:
    places = at_entries(law)
    words = np.array([law.floor(j, 64)[0] for j in places], np.uint64)
    out = np.empty(len(words), np.int64)
    inverter = curves.inverter(law)
    assert len(places) > 7000
    assert inverter.first(words, 1, out) == list(range(len(words)))
    for step in (1, 2, 3):
        for beside, cells in ((words - np.uint64(step), places), (words + np.uint64(step), np.array(places) - 1)):
            doubts = inverter.first(beside, 1, out)
            wrong = out != cells
            wrong[doubts] = False
            assert not wrong.any(), (law, step, beside[wrong], out[wrong])


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: f"{rate.loss_upper:.2g}")
def test_doubts_are_few(rate: Rate) -> None:
    words = np.random.PCG64(1).random_raw(20_000)
    out = np.empty(len(words), np.int64)
    for law in laws(rate):
        inverter = curves.inverter(law)
        # One in 2^18 at the largest scale, of words that are the same in every run.
        assert inverter is None or len(inverter.first(words, 1, out)) <= 2


def test_steps_and_words_that_lack() -> None:
    inverter = curves.inverter(Signed(RATES[3]))
    words = np.random.PCG64(2).random_raw(300)
    out, every = np.empty(100, np.int64), np.empty(300, np.int64)
    assert inverter.first(words, 3, out) == inverter.first(words, 1, every) == []
    assert out.tolist() == every[::3].tolist()
    assert inverter.first(words[:0], 1, out[:0]) == []
    with pytest.raises(ValueError, match="a word for each sample"):
        inverter.first(words[:-3], 3, out)


def test_only_lines_of_middling_scales() -> None:
    assert curves.inverter(Uniform(6)) is None
    assert curves.inverter(Geometric(Rate(63, 6))) is None
    assert curves.inverter(Geometric(Rate.from_epsilon("1/66"))) is not None
    assert curves.inverter(Geometric(Rate((1 << 40) - 1, 40))) is not None
    assert curves.inverter(Geometric(Rate((1 << 41) - 1, 41))) is None
    assert curves.inverter(Geometric(Rate((1 << 41) - 1, 41), 2)) is not None


@pytest.mark.parametrize("kind", [Geometric, Signed])
def test_a_stride_beyond_every_float_leaves_no_guess_but_a_cell(kind: type[Geometric] | type[Signed]) -> None:
    law = kind(Rate((1 << 1100) - 1, 1100), 1 << 1060)
    cell = law.cell(WORD // 3, 64)
    assert law.floor(cell + 1, 64)[0] < WORD // 3 < law.floor(cell, 64)[0]
