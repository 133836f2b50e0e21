"""Exact parameters: what is read as what, what is refused, and on which side every rounding falls."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import product

import gmpy2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastbit import Eta, ParameterError, Rate
from lastbit.exact import MAX_BITS, cost_of, number, odds_bounds, rate_of, whole


@pytest.mark.parametrize(
    ("given_", "exact"),
    [
        (1, Fraction(1)),
        (0.1, Fraction(1, 10)),
        (1e22, Fraction(10**22)),
        (5e-324, Fraction(5, 10**324)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.int8(7), Fraction(7)),
        (np.uint64(2**64 - 1), Fraction(2**64 - 1)),
        (Decimal("0.30"), Fraction(3, 10)),
        (Fraction(2, 6), Fraction(1, 3)),
        (gmpy2.mpq(1, 3), Fraction(1, 3)),
        (gmpy2.mpz(5), Fraction(5)),
        ("1/3", Fraction(1, 3)),
        (" 0.1 ", Fraction(1, 10)),
        (".5", Fraction(1, 2)),
        ("2.", Fraction(2)),
        ("1e-3", Fraction(1, 1000)),
        ("-7/2", Fraction(-7, 2)),
    ],
)
def test_a_number_means_what_it_prints_as(given_, exact):
    assert number(given_, "epsilon") == exact
    assert type(number(given_, "epsilon")) is Fraction


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_is_the_decimal_it_prints_as(value):
    assert number(value, "epsilon") == Fraction(repr(value))


REFUSED = [True, np.True_, None, [1], 1 + 0j, "", " ", "abc", "1/0", "1/3/4", "٣", "1_000", "0x10", "1e", "--1", b"1"]
REFUSED += [float("nan"), float("inf"), "nan", "inf", Decimal("NaN"), Decimal("Infinity"), np.float32("inf")]
REFUSED += ["1e99999", "1e9999999999", Decimal("1e-99999"), 10**5000, Fraction(1, 10**5000), "9" * 5000]


@pytest.mark.parametrize("bad", REFUSED, ids=[str(i) for i in range(len(REFUSED))])
def test_what_is_no_finite_number_is_refused(bad):
    with pytest.raises(ParameterError, match=r"^epsilon must ") as refused:
        Rate.from_epsilon(bad)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("bad", [0, -1, "0", "-1/2", 0.0, -0.0])
def test_an_epsilon_must_be_positive(bad):
    with pytest.raises(ParameterError, match=r"epsilon must be positive: got .*costs nothing cannot use the data\.$"):
        Rate.from_epsilon(bad)


def test_an_epsilon_must_be_within_reason():
    for bad in (2049, "1e300", Fraction(1, 1 << 513)):
        with pytest.raises(ParameterError, match="between 2"):
            Rate.from_epsilon(bad)


@pytest.mark.parametrize("bad", [0, 1.5, "x", True, -3])
def test_a_whole_number_is_whole(bad):
    with pytest.raises(ParameterError, match="k must be"):
        whole(bad, "k")
    assert whole("7", "k") == whole(7.0, "k") == whole(np.int32(7), "k") == 7


@pytest.mark.parametrize(
    "bad", [(0, 1, 1), (2, 1, 1), (4, 2, 1), (1, 0, 1), (1, 1, 0), (-1, 1, 1), (1.5, 1, 1), (True, 1, 1)]
)
def test_an_eta_is_validated(bad):
    with pytest.raises(ParameterError):
        Eta(*bad)
    with pytest.raises(ParameterError, match=r"y\*z must be at most"):
        Eta(1, 1 << 10, 1 << 10)


def exact_log2(eta: Eta, precision: int = 2000) -> tuple[Fraction, Fraction]:
    """Bounds of eta·ln 2 at a high precision."""
    bounds = []
    for down, up in ((gmpy2.RoundUp, gmpy2.RoundDown), (gmpy2.RoundDown, gmpy2.RoundUp)):
        with gmpy2.context(precision=precision, round=down):
            log = gmpy2.log(gmpy2.mpfr(gmpy2.mpq(eta.x, 1 << eta.y)))
        with gmpy2.context(precision=precision, round=up):
            value = -log * eta.z
        bounds.append(Fraction(*map(int, value.as_integer_ratio())))
    return bounds[0], bounds[1]


@given(st.integers(1, 80).flatmap(lambda y: st.tuples(st.integers(1, (1 << y) - 1), st.just(y), st.integers(1, 50))))
def test_epsilon_upper_is_never_below_and_the_next_float_is(parameters):
    eta = Eta(*parameters)
    lower, upper = exact_log2(eta)
    assert Fraction(eta.epsilon_upper) >= upper
    assert Fraction(np.nextafter(eta.epsilon_upper, 0).item()) <= lower


@pytest.mark.parametrize("epsilon", ["1/10", "1/3", "0.7", "1", "2", "3.5"])
@pytest.mark.parametrize("bits", range(4, 13))
def test_at_most_is_the_best_of_all_etas_of_its_bits(epsilon, bits):
    best = Eta.at_most(epsilon, bits=bits)
    limit = Fraction(epsilon)
    assert exact_log2(best)[1] <= limit
    assert best.y * best.z <= bits
    for y, z in product(range(1, bits + 1), repeat=2):
        if y * z <= bits:
            for x in range(1, 1 << y):
                other = Fraction(x**z, 1 << y * z)
                # A larger eta is a smaller 2^-eta, and must be over the limit.
                if other < best.fraction:
                    with gmpy2.context(precision=200):
                        assert -gmpy2.log(gmpy2.mpfr(gmpy2.mpq(other))) > gmpy2.mpq(limit)


@pytest.mark.parametrize("epsilon", ["1e-12", "0.001", "0.1", "1", "10", "50", "700"])
def test_at_most_wastes_next_to_nothing_by_default(epsilon):
    low, high = exact_log2(Eta.at_most(epsilon), 4000)
    assert high <= Fraction(epsilon)
    assert low >= Fraction(epsilon) * (1 - Fraction(1, 1 << 50))


def test_at_most_says_how_many_bits_it_takes():
    with pytest.raises(ParameterError, match="Use bits="):
        Eta.at_most("1e-12", bits=8)


@pytest.mark.parametrize("scale", ["1e-2", "1e-1", "1", "20", "2000", "1e6", "1e9", "1e12"])
def test_a_rate_loses_at_most_epsilon_and_nearly_all_of_it(scale):
    loss = 1 / Fraction(scale)
    rate = Rate.from_epsilon(loss)
    low, high = exact_log2(Eta(rate.x, rate.y, 1), 4000)
    assert high <= loss
    assert low >= loss * (1 - Fraction(1, 1 << 50))
    assert Fraction(rate.loss_upper) >= high


def test_a_rate_is_in_lowest_terms():
    assert Rate(6, 3) == Rate(3, 2)
    assert Rate(1 << 40, 41).fraction == Fraction(1, 2)
    for x, y in ((0, 3), (8, 3), (-1, 3), (True, 3), (1.0, 3)):
        with pytest.raises(ParameterError):
            Rate(x, y)


@pytest.mark.parametrize(
    ("eta", "times", "exact"),
    [
        ((1, 1, 1), 1, Fraction(1, 2)),
        ((3, 2, 5), 1, Fraction(3**5, 2**10)),
        ((3, 2, 1), 7, Fraction(3**7, 2**14)),
        ((9, 4, 1), "1/2", Fraction(3, 4)),
        ((1, 6, 1), "1/3", Fraction(1, 4)),
        ((3, 2, 4), "3/4", Fraction(27, 64)),
    ],
)
def test_a_rate_from_eta_is_exact_where_it_can_be(eta, times, exact):
    assert Rate.from_eta(Eta(*eta), times).fraction == exact


@pytest.mark.parametrize(
    ("eta", "times"), [((3, 2, 1), "1/2"), ((1, 1, 1), "1/1000"), ((5, 3, 2), "2/7"), ((1, 3, 1), "1/2")]
)
def test_otherwise_it_is_rounded_toward_privacy(eta, times):
    base, rate = Eta(*eta), Rate.from_eta(Eta(*eta), times)
    exponent = Fraction(times)
    # r^q and 2^-(eta·p) are fractions: the first is larger, and one unit less would not be.
    power = base.fraction**exponent.numerator
    assert rate.fraction**exponent.denominator >= power
    assert Fraction(rate.x - 1, 1 << rate.y) ** exponent.denominator < power or rate.y < 64
    low, _ = exact_log2(Eta(rate.x, rate.y, 1), 4000)
    assert low >= exact_log2(base, 4000)[1] * exponent * (1 - Fraction(1, 1 << 50))


def test_exactly_one_of_epsilon_and_eta():
    assert cost_of(None, Eta(1, 1, 1)) == Eta(1, 1, 1)
    for both in ((1, Eta(1, 1, 1)), (None, None)):
        with pytest.raises(ParameterError, match="exactly one of epsilon and eta"):
            cost_of(*both)
    with pytest.raises(ParameterError, match=r"must be a lastbit\.Eta"):
        cost_of(None, 1)


def test_rates_of_costs():
    assert rate_of(Eta(1, 1, 2), Fraction(1, 2)) == Rate(1, 1)
    assert rate_of(Fraction(1), Fraction(1, 20)) == Rate.from_epsilon("1/20")
    low, high = odds_bounds(Fraction(1))
    assert 0 < high - low < Fraction(1, 1 << 200)
    with gmpy2.context(precision=1000):
        assert low < gmpy2.mpq(gmpy2.exp(1)) < high


def test_sizes_that_are_absurd_are_refused_quickly():
    assert number(1 << (MAX_BITS - 1), "x") == 1 << (MAX_BITS - 1)
    with pytest.raises(ParameterError, match="4096 bits"):
        number(1 << MAX_BITS, "x")
