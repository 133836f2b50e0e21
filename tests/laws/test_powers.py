"""Cells proportional to powers of a rate: every interval of a few bits, and the exact comparisons underneath."""

from fractions import Fraction
from itertools import accumulate, pairwise
from random import Random

import numpy as np
import pytest

from lastbit import AuditError, ParameterError, Rate, Reference, Sampler, Tape, audit
from lastbit.chance import _powers, powers
from lastbit.chance.inversion import power
from lastbit.chance.power_table import SCALE, PowerTable
from lastbit.chance.powers import Powers, is_zero, sign

HALF, THREE_QUARTERS, CLOSE = Rate(1, 1), Rate(3, 2), Rate(255, 8)
RATES = [HALF, THREE_QUARTERS, Rate(1, 2), CLOSE, Rate.from_epsilon("1/3")]
EXPONENTS = [
    [0],
    [5],
    [0, 0],
    [0, 1],
    [3, 0, 1],
    [0, 1, 2, 3, 4, 5, 5],
    [7, 7, 7],
    [-2, 4, 0, 0, 9],
    [0, 0, 60],
    [40, 0],
]


def cuts(rate: Rate, exponents: list[int]) -> list[Fraction]:
    """Where the cells begin, and 1."""
    weights = [rate.fraction ** (exponent - min(exponents)) for exponent in exponents]
    sums = [Fraction(0), *accumulate(weights)]
    return [part / sums[-1] for part in sums]


def holding(edges: list[Fraction], u: int, bits: int) -> int | None:
    """The one cell around [u, u+1)/2^bits, by looking at all of them."""
    low, high = Fraction(u, 1 << bits), Fraction(u + 1, 1 << bits)
    met = [i for i, (a, b) in enumerate(pairwise(edges)) if a < high and b > low]
    return met[0] if len(met) == 1 else None


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("exponents", EXPONENTS)
def test_every_interval_lands_in_its_cell(rate: Rate, exponents: list[int]) -> None:
    edges, partition = cuts(rate, exponents), Powers(rate, np.array(exponents))
    for bits in (1, 3, 7):
        for u in range(1 << bits):
            assert partition.cell(u, bits) == holding(edges, u, bits), (u, bits)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("exponents", EXPONENTS)
def test_law(rate: Rate, exponents: list[int]) -> None:
    edges = cuts(rate, exponents)
    found = audit.law(lambda draw: draw.power_index(rate, np.array(exponents)), 0)
    assert found.unexplored == 0
    assert dict(found.masses) == {i: edges[i + 1] - edges[i] for i in range(len(exponents))}


FAR = 10**18


@pytest.mark.parametrize("draws", [Reference, Sampler])
@pytest.mark.parametrize("rate", RATES)
def test_a_weight_of_next_to_nothing_still_moves_the_boundary(draws: type, rate: Rate) -> None:
    # Half of a total of 2 + r^FAR lies above 1, so the boundary between the first two cells lies below 1/2 by next to
    # nothing, and the word just below 1/2 must be read to depths where that shows: never.
    exponents = np.array([0, 0, FAR])
    at = Tape([1 << 63])
    assert (draws(at).power_index(rate, exponents), at.consumed) == (1, 1)
    below = Tape([(1 << 63) - 1, *[(1 << 64) - 1] * 4, 0])
    assert (draws(below).power_index(rate, exponents), below.consumed) == (0, 6)
    # With the far weight in front it lies above 1/2 by as little.
    exponents = np.array([FAR, 0, 0])
    above = Tape([1 << 63, 0, 0, 1])
    assert (draws(above).power_index(rate, exponents), above.consumed) == (2, 4)
    first = Tape([0, 0, 0, 7])
    assert (draws(first).power_index(rate, exponents), first.consumed) == (1, 4)


def test_a_long_sum_that_cancels_up_to_a_far_rest() -> None:
    # 1 = 1/2 + 1/4 + … + 2^-300 + 2^-300, so the first boundary is at 1/2 exactly; a far ninth of nothing moves it.
    exponents = np.array([0, *range(1, 301), 300])
    even, moved = Powers(HALF, exponents), Powers(HALF, np.append(exponents, FAR))
    assert even.cell(1 << 63, 64) == 1
    assert even.cell((1 << 63) - 1, 64) == 0
    assert moved.cell((1 << 63) - 1, 64) is None
    assert moved.cell((1 << 640) - 1 >> 1, 640) is None
    assert moved.cell(1 << 63, 64) == 1


@pytest.mark.parametrize("draws", [Reference, Sampler])
def test_a_dense_range_whose_first_boundary_lies_next_to_a_word(draws: type) -> None:
    # 1/2 over 1 - 2^-2000: above 1/2 by 2^-2001 and a hair, so about 2^46 in units of 2^-2048.
    exponents = np.arange(2000)
    partition = Powers(HALF, exponents)
    assert partition.cell((1 << 63) - 1, 64) == 0
    assert partition.cell(1 << 63, 64) is None
    assert partition.cell((1 << 2047) + (1 << 46), 2048) == 0
    assert partition.cell((1 << 2047) + (1 << 48), 2048) == 1
    tape = Tape([1 << 63, 0, 0, 5, 6])
    assert (draws(tape).power_index(HALF, exponents), tape.consumed) == (1, 4)


def test_sign_is_that_of_the_fraction() -> None:
    random = Random(4)
    for _ in range(400):
        rate = random.choice(RATES)
        degrees = sorted(random.sample(range(14), random.randint(1, 6)))
        terms = [(d, random.choice([-1, 1]) * random.randint(1, 1 << random.randint(0, 70))) for d in degrees]
        total = sum(a * rate.fraction**d for d, a in terms)
        assert sign(rate, terms) == (total > 0) - (total < 0)
        assert is_zero(rate, terms) == (total == 0)


def test_bounds_hold_at_any_precision() -> None:
    random = Random(7)
    for _ in range(400):
        rate, precision = random.choice(RATES), random.choice([4, 9, 40])
        terms = [(d, random.choice([-3, -1, 1, 2])) for d in sorted(random.sample(range(90), random.randint(1, 5)))]
        total = sum(a * rate.fraction ** (d - terms[0][0]) for d, a in terms) * (1 << precision)
        lower, upper = powers._bounds(rate, terms, precision)
        assert lower <= total <= upper


@pytest.mark.parametrize("rate", RATES)
def test_sums_that_cancel_exactly_are_known_to(rate: Rate) -> None:
    random = Random(5)
    for _ in range(50):
        # Any polynomial times (2^y·t - x) is zero at t = x/2^y.
        times = [random.randint(-9, 9) for _ in range(random.randint(1, 40))]
        zero = [(a << rate.y) - b * rate.x for a, b in zip([0, *times], [*times, 0], strict=True)]
        terms = [(d, a) for d, a in enumerate(zero) if a]
        assert sign(rate, terms) == 0
        for extra in (1, -1):
            assert sign(rate, [*terms, (FAR, extra)]) == extra
            beside = dict(terms)
            beside[3] = beside.get(3, 0) + extra
            assert sign(rate, sorted((d, a) for d, a in beside.items() if a)) == extra


TABLE_RATES = [HALF, Rate(1, 1000), *(Rate.from_epsilon(f"1/{10**k}") for k in range(0, 21, 4)), Rate(1, 60000)]


@pytest.mark.parametrize("rate", TABLE_RATES)
def test_kernel_weights_are_below_the_truth_by_less_than_they_say(rate: Rate) -> None:
    table = PowerTable.of(rate)
    weights, random = _powers.PowerWeights(table.factors, table.digits, table.last, table.error), Random(6)
    edges = [1 << k for k in range(0, 63, 3)] + [4095, 4096, 4097, table.last - 1, table.last, table.last + 1]
    for e in [0, 1, 2, *edges, *(random.randrange(1 << random.randint(1, 62)) for _ in range(300))]:
        if not 0 <= e < 1 << 63:
            continue
        lower, upper = power(rate, e, 600)
        search = _powers.PowerSearch(weights, 0, 1, 1)
        search.add(np.array([e]))
        found = search.total
        assert found << 600 - SCALE <= upper
        assert found + table.error << 600 - SCALE > lower


def test_differences_beyond_int64_are_drawn_too() -> None:
    ends = np.array([-(1 << 63), (1 << 63) - 1])
    for draws in (Reference, Sampler):
        assert draws(Tape([5])).power_index(HALF, ends) == 0


def test_masses_too_long_to_write_are_refused_by_the_auditor() -> None:
    with pytest.raises(AuditError, match="bounds"):
        audit.law(lambda draw: draw.power_index(HALF, np.array([0, FAR])))


@pytest.mark.parametrize("exponents", [np.array([], np.int64), np.array([0.0, 1.0]), np.array([1], np.int32)])
def test_what_is_not_an_array_of_exponents_is_refused(exponents: np.ndarray) -> None:
    tape = Tape([1])
    with pytest.raises(ParameterError):
        Sampler(tape).power_index(HALF, exponents)
    assert tape.consumed == 0


def test_sums_of_weights_carry_from_word_to_word() -> None:
    for weight, n in ((2**64 - 1, 3), (2**64 - 1, 1000), (2**63, 1025), (2**32 - 1, 7), (1 << 32, 4096)):
        weights = _powers.PowerWeights(np.array([weight, 1], np.uint64), 1, 1, 3)
        for chunks in (1, min(3, n)):
            search = _powers.PowerSearch(weights, 0, n, chunks)
            search.add_all(np.zeros(n, np.int64))
            assert search.total == n * weight
