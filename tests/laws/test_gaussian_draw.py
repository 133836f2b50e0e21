"""The discrete Gaussian draw: thresholds, masses and Rényi divergences against sums written out once more, in MPFR."""

from fractions import Fraction
from functools import lru_cache
from random import Random

import gmpy2
import numpy as np
import pytest
from gmpy2 import mpfr

import lastbit as lb
from lastbit.chance import _draws, distributions, gaussian
from lastbit.chance.gaussian import MOST_DEVIATION, Gaussian
from lastbit.chance.threshold_table import ThresholdTable
from tests.oracle import WORD
from tests.twins.pair import agree, edges

PRECISION = 300
NEAR = 1 - Fraction(1, 1 << 14)
RATES = {
    "1/16": lb.Rate(1, 4),
    "1/2": lb.Rate(1, 1),
    "9/10": lb.Rate.from_epsilon(Fraction(10536, 100000)),
    "99/100": lb.Rate.from_epsilon(Fraction(10050, 1000000)),
    "sigma 70": lb.Rate.from_epsilon(Fraction(1, 2 * 5000)),
    "sigma 90": lb.Rate(NEAR.numerator, 14),
}


@lru_cache
def tails(rate: lb.Rate) -> list[mpfr]:
    """A(0), A(1), …: each weight a power of its own, added up from the far end; the error is below 2^-270."""
    with gmpy2.context(precision=PRECISION):
        r, sums, i = mpfr(gmpy2.mpq(rate.fraction)), [], 0
        while (weight := r ** (i * i)) > mpfr(2) ** -280:
            sums.append(weight)
            i += 1
        for i in range(len(sums) - 2, -1, -1):
            sums[i] += sums[i + 1]
        return [*sums, mpfr(0)]


def survival(rate: lb.Rate, j: int) -> mpfr:
    with gmpy2.context(precision=PRECISION):
        sums = tails(rate)
        tail = sums[min(max(j, 1 - j), len(sums) - 1)] / (sums[0] + sums[1])
        return tail if j > 0 else 1 - tail


def floor(rate: lb.Rate, j: int, bits: int = 64) -> int:
    with gmpy2.context(precision=PRECISION):
        scaled = survival(rate, j) * mpfr(2) ** bits
        near = gmpy2.rint(scaled)
        # No edge here is so close to a word that 270 bits leave it in doubt.
        assert scaled < 0.5 or abs(scaled - near) > mpfr(2) ** (bits - 260)
        return int(gmpy2.floor(scaled))


@pytest.mark.parametrize("name", RATES)
def test_every_threshold_is_the_exact_floor(name: str) -> None:
    rate = RATES[name]
    table = ThresholdTable.of(Gaussian(rate))
    stored = table.thresholds.tolist()
    assert (stored[0], stored[-1], table.direction) == (WORD - 1, 0, 1)
    assert 0 < stored[-2] <= stored[1] < WORD - 1
    assert stored == [floor(rate, table.origin + 1 + k) for k in range(len(stored))]


@pytest.mark.parametrize("bits", [1, 64, 96, 128])
@pytest.mark.parametrize("name", RATES)
def test_the_sums_are_within_their_error(name: str, bits: int) -> None:
    sums = gaussian._tails(RATES[name], bits)
    true = tails(RATES[name])
    assert len(true) > len(sums.tails)
    with gmpy2.context(precision=PRECISION):
        scaled = [int(gmpy2.floor(tail * mpfr(2) ** sums.precision)) for tail in true]
    lacks = [more - int(less) for more, less in zip(scaled, sums.tails, strict=False)]
    assert min(lacks) >= 0
    assert max(lacks) < sums.error < 1 << 64
    # It ends where less is left than the error covers.
    assert scaled[len(sums.tails) - 1] <= sums.error


@pytest.mark.parametrize("name", ["99/100", "sigma 70", "sigma 90"])
def test_thresholds_in_doubt_are_settled_exactly(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    exact, settled = Gaussian(RATES[name]).thresholds(), []
    monkeypatch.setattr(gaussian, "_GUARD", 3)
    monkeypatch.setattr(gaussian, "_cached_tails", lru_cache(gaussian._tails))
    floor = Gaussian.floor
    monkeypatch.setattr(Gaussian, "floor", lambda law, j, bits: settled.append(j) or floor(law, j, bits))
    assert np.array_equal(Gaussian(RATES[name]).thresholds(), exact)
    assert settled


@pytest.mark.parametrize("name", RATES)
def test_the_floors_of_the_specification(name: str) -> None:
    rate = RATES[name]
    law, random = Gaussian(rate), Random(name)
    for bits in (1, 8, 64, 128, 192):
        for j in {-3, -1, 0, 1, 2, *(random.randrange(-700, 700) for _ in range(20))}:
            # Beyond the sums written out above, S(j) is too close to its limit to be told from it here.
            if abs(j) < len(tails(rate)) - 2:
                assert law.floor(j, bits) == (floor(rate, j, bits), False)


@pytest.mark.parametrize("sigma", [700, 1_900, MOST_DEVIATION])
def test_long_tables(sigma: int) -> None:
    rate = lb.Rate.from_epsilon(Fraction(1, 2 * sigma**2))
    table = ThresholdTable.of(Gaussian(rate))
    stored = table.thresholds
    assert np.all(stored[1:] <= stored[:-1])
    # The kernel finds every cell: its first and its last word, and the word of its edge, which is in doubt.
    out, edges = np.empty(len(stored) - 1, np.int64), stored[:-1]
    kernel = _draws.Inverter(stored, table.guide, table.origin, table.direction)
    first = table.origin + len(stored) - np.searchsorted(stored[::-1], edges, side="right")
    assert kernel.first(edges, 1, out) == list(range(len(edges)))
    assert np.array_equal(out, first)
    kernel.first(edges - np.uint64(1), 1, out)
    assert np.array_equal(
        out, table.origin + len(stored) - np.searchsorted(stored[::-1], edges - np.uint64(1), "right")
    )
    # S(j) of a wide Gaussian is close to the normal tail from j - 1/2 on: a check that needs no sum.
    with gmpy2.context(precision=PRECISION):
        wide = gmpy2.sqrt(1 / (-2 * gmpy2.log(mpfr(gmpy2.mpq(rate.fraction)))))
    for k in range(0, len(stored), len(stored) // 50):
        j = table.origin + 1 + k
        with gmpy2.context(precision=PRECISION):
            smooth = gmpy2.erfc((j - mpfr(0.5)) / (wide * gmpy2.sqrt(mpfr(2)))) / 2 * WORD
        # The sum from j on is not the integral: the midpoint rule is off by about the slope over 24.
        assert abs(int(stored[k]) - smooth) <= WORD / (24 * mpfr(sigma) ** 2)


@pytest.mark.parametrize("name", RATES)
def test_masses_are_those_of_the_law_but_for_a_share(name: str) -> None:
    rate = RATES[name]
    masses = dict(Gaussian(rate).masses())
    assert 0 < 1 - sum(masses.values()) < Fraction(1, 1 << 200)
    with gmpy2.context(precision=PRECISION):
        r, whole = mpfr(gmpy2.mpq(rate.fraction)), tails(rate)[0] + tails(rate)[1]
        for i, mass in masses.items():
            true = r ** (i * i) / whole
            assert -(mpfr(2) ** -270) <= 1 - mpfr(gmpy2.mpq(mass)) / true < mpfr(2) ** -200
    assert all(masses[i] == masses[-i] for i in masses)


def test_the_auditor_follows_it() -> None:
    rate = RATES["1/2"]
    law = lb.audit.law(lambda draw: draw.gaussian(rate), tolerance="1e-30")
    assert 0 < law.unexplored <= Fraction(1, 10**30)
    assert law.masses == {i: gmpy2.mpq(mass) for i, mass in Gaussian(rate).masses() if i in law.masses}
    assert {*law.masses} == set(range(-9, 10))
    two = lb.audit.law(lambda draw: tuple(draw.gaussian(rate, size=2).tolist()), tolerance="1e-3")
    assert all(mass == law.masses[a] * law.masses[b] for (a, b), mass in two.masses.items())


def test_the_auditor_ends_where_more_is_asked_than_the_masses_know() -> None:
    law = lb.audit.law(lambda draw: draw.gaussian(RATES["1/2"]), tolerance=Fraction(1, 1 << 300))
    assert Fraction(1, 1 << 300) < law.unexplored < Fraction(1, 1 << 200)
    with pytest.raises(lb.AuditError, match="tolerance must be above 0 for a program with an endless draw"):
        lb.audit.law(lambda draw: draw.gaussian(RATES["1/2"]), tolerance=0)


@pytest.mark.parametrize("away", [-1, 0, 1])
@pytest.mark.parametrize("name", RATES)
def test_words_on_and_beside_every_edge(name: str, away: int) -> None:
    rate, random = RATES[name], Random(f"{name} {away}")
    [thresholds] = edges(distributions.gaussian(rate))
    words = [min(max(word + away, 0), WORD - 1) for word in thresholds][:: 1 if len(thresholds) < 400 else 7]
    more = [random.getrandbits(64) for _ in range(2 * len(words))]
    [(_, consumed)] = agree(words + more, lambda draw: draw.gaussian(rate, len(words)))
    assert consumed >= len(words) * (1 if away else 2)
    agree(words[:5] + more, *[lambda draw: draw.gaussian(rate)] * 5)


@pytest.mark.parametrize("name", ["1/2", "sigma 70"])
def test_undecided_at_the_second_and_third_word(name: str) -> None:
    rate, random = RATES[name], Random(name)
    law = Gaussian(rate)
    for _ in range(40):
        depth, j = random.choice([2, 3]), random.randrange(-4, 5)
        path = law.floor(j, 64 * depth)[0]
        for by in (-1, 0, 1):
            words = [path + by >> 64 * i & (WORD - 1) for i in reversed(range(depth))]
            [((_, value), consumed)] = agree([*words, 1 << 63, 5, 5], lambda draw: draw.gaussian(rate))
            assert consumed == depth + (by == 0)
            assert by == 0 or value == (j if by < 0 else j - 1)


def test_words_at_both_ends_read_on() -> None:
    for rate in (RATES["1/2"], lb.Rate.from_epsilon(2048), lb.Rate(1, 1 << 10)):
        for word in (0, WORD - 1):
            agree([word, word, 1 << 63, word, word], lambda draw: draw.gaussian(rate))
            agree([word, word, 7], lambda draw: draw.gaussian(rate, 2))


def test_a_long_table_on_tapes() -> None:
    rate, random = lb.Rate.from_epsilon(Fraction(1, 2 * 3000**2)), Random(3000)
    [thresholds] = edges(distributions.gaussian(rate))
    for away in (-1, 0, 1):
        some = thresholds[:3] + thresholds[3:-3:2999] + thresholds[-3:]
        words = [min(max(word + away, 0), WORD - 1) for word in some]
        more = [random.getrandbits(64) for _ in range(2 * len(words))]
        agree(words + more, lambda draw: draw.gaussian(rate, len(words)))
    agree([1 << 63] * 2, lambda draw: draw.gaussian(rate), lambda draw: draw.gaussian(rate, 0))


def test_too_wide_a_law_is_refused() -> None:
    widest = lb.Rate.from_epsilon(Fraction(1, 2 * MOST_DEVIATION**2))
    assert Gaussian(widest).rate == widest
    is_too_wide = lb.Rate.from_epsilon(Fraction(1, 2 * MOST_DEVIATION**2 + 10**6))
    for draw in (lb.Sampler(lb.Tape([])), lb.Reference(lb.Tape([]))):
        with pytest.raises(lb.ParameterError, match=r"at most 2\^16 = 65,536 steps.*coarser resolution"):
            draw.gaussian(is_too_wide)
        with pytest.raises(lb.ParameterError, match="rate must be a"):
            draw.gaussian("1/2", 3)  # type: ignore[call-overload]


ALPHAS = [Fraction(each) for each in ("1.0001", "1.1", "1.5", "2", "7/3", "3", "3.7", "5", "10.3")]


def rounding_context(mode: int) -> gmpy2.context:
    # Where (α - 1)·shift is not whole, the divergence is short of its bound by a share of e^(-π²/ln(1/r)): for
    # r = 99/100 that is about 2^-1417.
    return gmpy2.context(precision=1700, round=mode)


@lru_cache
def logs(rate: lb.Rate) -> tuple[mpfr, mpfr]:
    """Bounds of ln(1/r)."""
    with rounding_context(gmpy2.RoundDown):
        lower = gmpy2.log(mpfr(gmpy2.mpq(1 / rate.fraction)))
    with rounding_context(gmpy2.RoundUp):
        return lower, gmpy2.log(mpfr(gmpy2.mpq(1 / rate.fraction)))


def power(rate: lb.Rate, exponent: Fraction, upper: bool) -> mpfr:
    """A bound of r^exponent."""
    with rounding_context(gmpy2.RoundUp if upper else gmpy2.RoundDown):
        return gmpy2.exp(gmpy2.mpq(-exponent) * logs(rate)[upper == (exponent < 0)])


def moment(rate: lb.Rate, alpha: Fraction, shift: int, upper: bool) -> mpfr:
    """A bound of the sum of all r^(α·i² + (1-α)·(i-shift)²), whose exponent is (i + (α-1)·shift)² and a constant."""
    middle = -round((alpha - 1) * shift)
    reach = int((1800 / float(logs(rate)[1]) * 0.7) ** 0.5) + 2
    exponents = [alpha * i * i + (1 - alpha) * (i - shift) ** 2 for i in range(middle - reach, middle + reach + 1)]
    total = mpfr(0)
    for exponent in exponents:
        each = power(rate, exponent, upper)
        with rounding_context(gmpy2.RoundUp if upper else gmpy2.RoundDown):
            total += each
    with rounding_context(gmpy2.RoundUp):
        # From either end on, the terms fall at least as fast as powers of r.
        beyond = 2 * power(rate, min(exponents[0], exponents[-1]), True) / mpfr(gmpy2.mpq(1 - rate.fraction))
        return total + beyond if upper else total


@pytest.mark.parametrize("shift", [1, 2, 3])
@pytest.mark.parametrize("name", ["1/16", "1/2", "9/10", "99/100"])
def test_the_renyi_divergence_of_a_shift_is_at_most_alpha_rho(name: str, shift: int) -> None:
    """(α-1)·D(α) <= α·(α-1)·rho with rho = shift²·ln(1/r): Canonne, Kamath and Steinke 2020, Proposition 5.

    Both sides as exponentials, the left rounded up and the right down. They are equal where (α-1)·shift is whole.
    """
    rate, hair = RATES[name], gmpy2.mpq(1, 1 << 1500)
    for alpha in ALPHAS:
        bounds = []
        for upper in (False, True):
            claim = power(rate, -alpha * (alpha - 1) * shift**2, not upper)
            whole = moment(rate, Fraction(1), 0, not upper)
            with rounding_context(gmpy2.RoundUp if upper else gmpy2.RoundDown):
                bounds.append(moment(rate, alpha, shift, upper) / whole / claim)
        if ((alpha - 1) * shift).denominator == 1:
            assert 1 - hair < bounds[0] <= 1 <= bounds[1] < 1 + hair
        else:
            assert bounds[1] < 1
