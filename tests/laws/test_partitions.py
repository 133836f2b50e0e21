"""Every interval of a few bits lands in the cell it should: masses in rationals, the undecided accounted for."""

from collections import Counter
from fractions import Fraction
from math import ceil, floor

import pytest

from lastbit import Rate
from lastbit.chance import inversion
from tests import oracle

RATES = [Fraction(1, 2), Fraction(3, 4), Fraction(1, 4), Fraction(15, 16), Fraction(255, 256)]
CLOSE = [1 - Fraction(1, 1 << 12), 1 - Fraction(1, 1 << 20)]


def rate_of(r: Fraction) -> Rate:
    return Rate(r.numerator, r.denominator.bit_length() - 1)


def account(partition: inversion.Partition, law: oracle.Law, bits: int) -> None:
    """Decided mass <= stated mass <= decided mass + undecided mass that touches the cell, for every cell met."""
    decided: Counter[int] = Counter()
    undecided, met = set(), set()
    for u in range(1 << bits):
        cell = partition.cell(u, bits)
        assert cell == law.holding(u, bits), u
        if cell is None:
            undecided.add(u)
            met |= {law.locate(Fraction(256 * u + low, 256 << bits)) for low in (1, 128, 255)}
        else:
            decided[cell] += 1
            met.add(cell)
    assert decided.total() + len(undecided) == 1 << bits
    for cell in met:
        low, high = (edge * (1 << bits) for edge in law.interval(cell))
        touching = undecided & {floor(low), ceil(high) - 1}
        assert decided[cell] <= high - low <= decided[cell] + len(touching), cell


@pytest.mark.parametrize("bits", [1, 5, 10])
@pytest.mark.parametrize("r", RATES)
def test_geometric(r: Fraction, bits: int) -> None:
    account(inversion.Geometric(rate_of(r)), oracle.geometric(r), bits)
    account(inversion.Geometric(rate_of(r), 16), oracle.geometric(r, 16), bits)


@pytest.mark.parametrize("bits", [1, 5, 10])
@pytest.mark.parametrize("r", RATES)
def test_signed(r: Fraction, bits: int) -> None:
    account(inversion.Signed(rate_of(r)), oracle.laplace(r), bits)
    account(inversion.Signed(rate_of(r), 16), oracle.signed(r, 16), bits)


@pytest.mark.parametrize("n", [1, 2, 7, 64])
@pytest.mark.parametrize("r", RATES + CLOSE)
def test_truncated(r: Fraction, n: int) -> None:
    account(inversion.Truncated(rate_of(r), n - 1), oracle.truncated(r, n), 10)
    account(inversion.Truncated(rate_of(r), n - 1, 16), oracle.truncated(r, n, 16), 8)


@pytest.mark.parametrize("n", [*range(1, 20), 64, 255, 256, 257, 1023, 1 << 11])
def test_uniform(n: int) -> None:
    account(inversion.Uniform(n), oracle.Even(n), 10)


@pytest.mark.parametrize(
    "weights",
    [
        [1],
        [0, 0, 1],
        [1, 0, 0],
        [0, 3, 0, 0, 5, 0],
        [1, 2, 3, 4],
        [Fraction(1, 3), Fraction(1, 7), Fraction(11, 21)],
        [Fraction(1, 1 << 12), 1],
        [10**30, 1, 10**30],
        [1] * 1024,
        [Fraction(1, i) for i in range(1, 40)],
    ],
)
def test_weighted(weights: list[int | Fraction]) -> None:
    account(inversion.Weighted.of(weights), oracle.categorical(weights), 10)


@pytest.mark.parametrize("bits", [1, 2, 3])
def test_deeper_levels_refine_shallower_ones(bits: int) -> None:
    # What an interval decides, every interval inside it decides alike: reading more never changes an answer.
    for partition in (
        inversion.Geometric(rate_of(Fraction(3, 4))),
        inversion.Signed(rate_of(Fraction(15, 16))),
        inversion.Truncated(rate_of(Fraction(3, 4)), 5),
        inversion.Uniform(7),
        inversion.Weighted((2, 3, 7)),
    ):
        for u in range(1 << bits):
            if (cell := partition.cell(u, bits)) is not None:
                assert {partition.cell((u << 7) + low, bits + 7) for low in range(128)} == {cell}
