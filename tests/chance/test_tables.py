"""Every threshold is the exact floor, proved by computing it again; guides and sentinels are right."""

from bisect import bisect_left
from fractions import Fraction

import gmpy2
import numpy as np
import pytest

from lastbit import Rate
from lastbit.chance.inversion import Falling, Geometric, Signed, Truncated, Uniform, Weighted
from lastbit.chance.threshold_table import MAX_CELLS, ThresholdTable
from tests import oracle
from tests.oracle import WORD, certified_floor

DYADIC = [Rate(1, 1), Rate(3, 2), Rate(1, 2), Rate(15, 4), Rate(255, 8), Rate((1 << 20) - 1, 20)]
ROUNDED = [Rate.from_epsilon(epsilon) for epsilon in ("1", "0.7", "1/20", "1/200", "1/300", "1/2000")]
TINY = [Rate.from_epsilon(epsilon) for epsilon in ("1e-6", "1e-9", "1e-12", "1e-17")]
LARGE = [Rate.from_epsilon(epsilon) for epsilon in (5, 44, 45, 50, 100, 2048)]


def hair(bits: int) -> Rate:
    """A rate whose 2^20-th power is above 1/2, by less than 2^(20-bits)."""
    with gmpy2.context(precision=2 * bits + 100):
        return Rate(int(gmpy2.ceil(gmpy2.exp2(bits - gmpy2.mpfr(1) / (1 << 20)))), bits)


def levels(rates: list[Rate]) -> list[Falling]:
    """Laws with short tables: of a rate near 1 a coarse part, and a fine one of 2^12 cells at most."""
    found: list[Falling] = []
    for rate in rates:
        stride = 1 << max(0, rate.scale.bit_length() - 7)
        found += [Geometric(rate, stride), Signed(rate, stride)]
        if stride > 1:
            found.append(Truncated(rate, min(stride, 1 << 12) - 1, max(1, stride >> 12)))
    return found


def level_name(level: Falling) -> str:
    return f"{type(level).__name__}-{level.rate.loss_upper:.2g}-{level.stride}"


def level_end(level: Falling, stored: list[int]) -> int:
    """How many thresholds are floors; where a law ends, the last 0 is its end."""
    return len(stored) if level.last is None else len(stored) - 1


def floor(level: Falling, j: int) -> int:
    return certified_floor(type(level).__name__, level.rate.fraction, level.stride, level.last, j)


@pytest.mark.parametrize(
    "level", levels(DYADIC + ROUNDED + TINY + LARGE + [hair(200), hair(300), hair(2000)]), ids=level_name
)
def test_every_threshold_is_the_exact_floor(level: Falling) -> None:
    table = ThresholdTable.of(level)
    assert table.direction == 1
    stored = table.thresholds.tolist()
    positions = range(len(stored)) if len(stored) <= 4096 else [*range(500), *range(500, len(stored), 7)]
    for k in positions:
        if k < level_end(level, stored):
            assert stored[k] == floor(level, table.origin + 1 + k)


@pytest.mark.parametrize("level", levels(DYADIC + ROUNDED + TINY + LARGE), ids=level_name)
def test_tables_end_where_floors_stay(level: Falling) -> None:
    table = ThresholdTable.of(level)
    stored = table.thresholds
    assert stored.dtype == np.uint64
    assert np.all(stored[1:] <= stored[:-1])
    assert stored[-1] == 0
    if level.last is not None:
        assert len(stored) == level.last + 1
    elif len(stored) > 1:
        assert stored[-2] > 0
    if isinstance(level, Signed):
        assert stored[0] == WORD - 1
        assert floor(level, table.origin) == WORD - 1
        # No later one that belongs below zero is at the top too: the list stopped at the first.
        assert np.all(stored[1 : -table.origin - 1] < WORD - 1)
    else:
        assert table.origin == 0


@pytest.mark.parametrize(
    ("level", "law"),
    [
        (Geometric(Rate(3, 2)), oracle.geometric(Fraction(3, 4))),
        (Geometric(Rate(15, 4), 4), oracle.geometric(Fraction(15, 16), 4)),
        (Signed(Rate(3, 2)), oracle.laplace(Fraction(3, 4))),
        (Signed(Rate(15, 4), 4), oracle.signed(Fraction(15, 16), 4)),
        (Truncated(Rate(15, 4), 60), oracle.truncated(Fraction(15, 16), 61)),
        (Truncated(Rate(255, 8), 60, 3), oracle.truncated(Fraction(255, 256), 61, 3)),
        (Truncated(ROUNDED[2], 60), oracle.truncated(ROUNDED[2].fraction, 61)),
        (Geometric(ROUNDED[2]), oracle.geometric(ROUNDED[2].fraction)),
        (Signed(ROUNDED[2]), oracle.laplace(ROUNDED[2].fraction)),
    ],
    ids=lambda each: level_name(each) if isinstance(each, Falling) else "",
)
def test_plain_fractions_give_the_same_floors(level: Falling, law: oracle.Falling) -> None:
    # No MPFR here: r as a Fraction, its powers written out.
    table = ThresholdTable.of(level)
    assert table.thresholds.tolist()[:-1] == [law.floor(table.origin + k) for k in range(1, len(table.thresholds))]


@pytest.mark.parametrize(
    ("rate", "below"), [(Rate(1, 1), 3000), (ROUNDED[0], 3000), (LARGE[4], 400), (Rate(3, 2), MAX_CELLS)]
)
def test_cut_off_where_nothing_is_left(rate: Rate, below: int) -> None:
    # S(1) is r less a number too small to write down: its floor must not take its digits to find.
    table = ThresholdTable.of(Truncated(rate, below - 1))
    assert len(table.thresholds) == below
    whole = ThresholdTable.of(Geometric(rate)).thresholds
    first = table.thresholds[: len(whole)].tolist()
    exact = [(rate.x**j << 64) % (1 << rate.y * j) == 0 for j in range(1, len(whole))]
    assert first == [int(t) - e for t, e in zip(whole[:-1], exact, strict=True)] + [0]
    assert not np.any(table.thresholds[len(whole) :])


@pytest.mark.parametrize(
    "weights", [[1], [1, 2], [0, 1], [1, 0], [0, 0, 3, 0, 4, 0, 0], [7] * 5000, [10**40, 1, 10**40]]
)
def test_weights(weights: list[int]) -> None:
    table = ThresholdTable.of(Weighted.of(weights))
    law = oracle.categorical(weights)
    last = max(i for i, weight in enumerate(weights) if weight)
    assert (table.origin, table.direction) == (last, -1)
    edges = [int(cut * WORD) for cut in law.cuts[1:-1] if cut < 1]
    assert table.thresholds.tolist() == [*reversed(edges), 0]


@pytest.mark.parametrize(
    "partition",
    [level for rate in (DYADIC[0], ROUNDED[2], TINY[1], LARGE[4]) for level in levels([rate])]
    + [Weighted.of([1]), Weighted.of([1, 0, 2]), Weighted.of(range(1, 5000)), Signed(ROUNDED[3])],
    ids=lambda partition: type(partition).__name__,
)
def test_guides(partition: Falling | Weighted) -> None:
    table = ThresholdTable.of(partition)
    bits = len(table.guide).bit_length() - 1
    assert len(table.guide) == (1 << bits) + 1
    rising = table.thresholds.tolist()[::-1]
    for bucket, count in enumerate(table.guide.tolist()):
        # The count at the largest word before the bucket: the walk comes no further, and starts at the next entry.
        assert count == len(rising) - bisect_left(rising, bucket << 64 - bits)


def test_no_table_where_it_would_not_pay() -> None:
    assert ThresholdTable.of(Uniform(6)) is None
    assert ThresholdTable.of(Weighted.of([1] * (MAX_CELLS + 1))) is None
    assert ThresholdTable.of(Weighted.of([1] * MAX_CELLS)) is not None
    assert ThresholdTable.of(Truncated(TINY[0], MAX_CELLS)) is None
    assert ThresholdTable.of(Truncated(TINY[0], MAX_CELLS - 1)) is not None
    assert ThresholdTable.of(Geometric(ROUNDED[3])) is not None
    assert ThresholdTable.of(Geometric(ROUNDED[4])) is None
    assert ThresholdTable.of(Signed(TINY[3])) is None
