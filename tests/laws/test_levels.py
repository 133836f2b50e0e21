"""Rates near 1 are drawn in levels, (V << m) + L: in rationals, the levels together have the stated law."""

from fractions import Fraction
from itertools import product
from random import Random

import gmpy2
import pytest

from lastbit import Rate, Reference, Tape, TapeEnded
from lastbit.chance import distributions
from tests import oracle
from tests.oracle import WORD

BITS = [43, 46, 52]
"""r = 1 - 2^-bits."""


def exact(bits: int) -> "gmpy2.mpq":
    return 1 - gmpy2.mpq(1, 1 << bits)  # as a Fraction, with faster long products


def rate(bits: int) -> Rate:
    return Rate((1 << bits) - 1, bits)


def levels_of(name: str, bits: int) -> list[oracle.Falling]:
    """The laws of the levels, from the shifts alone."""
    shifts = getattr(distributions, name)(rate(bits)).shifts
    assert shifts, "this rate was to need more than one level"
    below, r = sum(shifts), exact(bits)
    laws = [oracle.geometric(r, 1 << below) if name == "geometric" else oracle.signed(r, 1 << below)]
    for shift in shifts:
        below -= shift
        laws.append(oracle.truncated(r, 1 << shift, 1 << below))
    assert below == 0
    return laws


def split(value: int, name: str, bits: int) -> list[int]:
    """The cell of every level that a value stands for."""
    magnitude = value if value >= 0 else -1 - value
    digits = []
    for shift in reversed(getattr(distributions, name)(rate(bits)).shifts):
        digits.append(magnitude % (1 << shift))
        magnitude >>= shift
    return [magnitude if value >= 0 else -1 - magnitude, *reversed(digits)]


def values(name: str, bits: int) -> list[int]:
    """Around 0 and around the borders of every level."""
    shifts = getattr(distributions, name)(rate(bits)).shifts
    borders = {0, *(1 << sum(shifts[i:]) for i in range(len(shifts)))}
    if bits < 50:
        borders |= {3 << sum(shifts)}
    near = {border + step for border in borders for step in (-2, -1, 0, 1, 2)}
    return sorted(
        {value for value in near if value >= 0} | ({-value for value in near} if name == "laplace" else set())
    )


def middle(law: oracle.Falling, cell: int) -> int:
    low, high = law.interval(cell)
    return int((low + high) * WORD / 2)


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("name", ["geometric", "laplace"])
def test_levels_multiply_to_the_stated_mass(name: str, bits: int) -> None:
    laws, r = levels_of(name, bits), exact(bits)
    for value in values(name, bits):
        cells = split(value, name, bits)
        together = gmpy2.mpq(1)
        for law, cell in zip(laws, cells, strict=True):
            together *= law.mass(cell)
        stated = (1 - r) * r**value if name == "geometric" else (1 - r) / (1 + r) * r ** abs(value)
        assert together == stated, value
        tape = Tape(middle(law, cell) for law, cell in zip(laws, cells, strict=True))
        assert getattr(Reference(tape), name)(rate(bits)) == value


@pytest.mark.parametrize("name", ["geometric", "laplace"])
def test_every_combination_is_another_value(name: str) -> None:
    # With the masses above this leaves no other law: nothing is missed, nothing comes twice.
    laws = levels_of(name, 43)
    coarse = range(-5 if name == "laplace" else 0, 5)
    found = [
        getattr(Reference(Tape([middle(laws[0], v), middle(laws[1], low)])), name)(rate(43))
        for v, low in product(coarse, range(laws[1].last + 1))
    ]
    assert sorted(found) == list(range(coarse[0] * 16, 5 * 16))


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("name", ["geometric", "laplace"])
def test_undecided_levels_read_on_in_their_order(name: str, bits: int) -> None:
    laws, random = levels_of(name, bits), Random(bits)
    for _ in range(40):
        cells = [random.randrange(1, 4) for _ in laws]
        depths = [random.randrange(1, 4) for _ in laws]
        paths = []
        for law, cell, depth in zip(laws, cells, depths, strict=True):
            at = law.floor(cell, 64 * depth) + random.choice([-1, 0, 1])
            paths.append([at >> 64 * i & (WORD - 1) for i in reversed(range(depth))])
        block, more = [path[0] for path in paths], [word for path in paths for word in path[1:]]
        tape = Tape(block + more)
        left, got = more, []
        for law, word in zip(laws, block, strict=True):
            cell, used = law.follow([word, *left])
            got.append(cell)
            left = left[used - 1 :]
            if cell is None:
                break
        if got[-1] is None:
            with pytest.raises(TapeEnded):
                getattr(Reference(tape), name)(rate(bits))
        else:
            assert split(getattr(Reference(tape), name)(rate(bits)), name, bits) == got
            assert tape.consumed == len(block) + len(more) - len(left)


def test_fractions_say_the_same_for_a_short_rate() -> None:
    # The oracle above works in mpq; here once more in Fraction, over all values up to the third border.
    r = Fraction(255, 256)
    coarse, fine = oracle.geometric(r, 16), oracle.truncated(r, 16)
    assert all(coarse.mass(v) * fine.mass(low) == (1 - r) * r ** (16 * v + low) for v in range(3) for low in range(16))
