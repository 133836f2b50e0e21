"""Rates: never below e^-λ, as close as promised, exact where they can be, and always toward privacy."""

import math
from fractions import Fraction

import gmpy2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastbit import Eta, ParameterError, Rate
from lastbit.privacy.dyadic import MAX_RATE_BITS

SCALES = [f"{digit}e{power}" for power in range(-2, 13) for digit in (1, 3, 7)][:-2]


def bounds(function: str, value: Fraction, precision: int) -> tuple[Fraction, Fraction]:
    """exp or log of an exact value between two roundings; both functions rise."""
    results = []
    for mode in (gmpy2.RoundDown, gmpy2.RoundUp):
        with gmpy2.context(precision=precision, round=mode):
            results.append(Fraction(gmpy2.mpq(getattr(gmpy2, function)(gmpy2.mpfr(gmpy2.mpq(value))))))
    return results[0], results[1]


def check_close(rate: Rate, loss: tuple[Fraction, Fraction]) -> None:
    """The rate's own loss is at most the one asked for, and within 2^-50 of it."""
    own = bounds("log", 1 / rate.fraction, 20_000)
    assert own[1] <= loss[0] or own[0] == loss[1]
    assert own[0] >= loss[1] * (1 - Fraction(1, 2**50))


@pytest.mark.parametrize("scale", SCALES)
def test_from_epsilon_at_every_scale(scale: str) -> None:
    loss = 1 / Fraction(scale)
    rate = Rate.from_epsilon(loss)
    assert rate.fraction >= bounds("exp", -loss, 4000)[1]
    check_close(rate, (loss, loss))


@given(st.fractions(Fraction(1, 10**20), 2048).filter(bool))
def test_from_epsilon(loss: Fraction) -> None:
    rate = Rate.from_epsilon(loss)
    assert rate.fraction >= bounds("exp", -loss, 12_000)[1]
    check_close(rate, (loss, loss))
    # Nothing smaller over the same power of two is at or above e^-λ.
    bits = max(rate.y, 64)
    assert rate.fraction - Fraction(1, 1 << bits) < bounds("exp", -loss, 12_000)[0]


@pytest.mark.parametrize("loss", [Fraction(1, 1 << 512), Fraction(1 << 11)])
def test_from_epsilon_at_both_ends(loss: Fraction) -> None:
    check_close(Rate.from_epsilon(loss), (loss, loss))


def test_from_epsilon_reads_floats_as_they_print() -> None:
    assert Rate.from_epsilon(0.1) == Rate.from_epsilon("0.1") == Rate.from_epsilon(Fraction(1, 10))
    assert Rate.from_epsilon(0.1) != Rate.from_epsilon(Fraction(0.1))


@given(st.integers(1, 60), st.data())
def test_from_eta_is_exact_for_whole_exponents(y: int, data: st.DataObject) -> None:
    x, z, times = (
        data.draw(st.integers(1, (1 << y) - 1)),
        data.draw(st.integers(1, 5)),
        data.draw(st.integers(1, 5)),
    )
    eta = Eta(x, y, z)
    assert Rate.from_eta(eta).fraction == eta.fraction
    assert Rate.from_eta(eta, times=times).fraction == eta.fraction**times
    assert Rate.from_eta(eta, times=Fraction(times, z)).fraction == Fraction(x, 1 << y) ** times


@given(st.integers(1, 12), st.data())
def test_from_eta_is_exact_for_perfect_roots(y: int, data: st.DataObject) -> None:
    x, root = data.draw(st.integers(1, (1 << y) - 1)), data.draw(st.integers(2, 7))
    times = data.draw(st.integers(1, 4))
    assert (
        Rate.from_eta(Eta(x**root, y * root, 1), times=Fraction(times, root)).fraction == Fraction(x, 1 << y) ** times
    )


@pytest.mark.parametrize(
    ("eta", "times", "exact"),
    [
        (Eta(2, 3, 1), "1/2", Fraction(1, 2)),
        (Eta(18, 5, 1), "1/2", Fraction(3, 4)),
        (Eta(2, 4, 1), "1/3", Fraction(1, 2)),
        (Eta(8, 5, 3), "1/6", Fraction(1, 2)),
        (Eta(6, 3, 1), "1", Fraction(3, 4)),
    ],
)
def test_from_eta_not_in_lowest_terms(eta: Eta, times: str, exact: Fraction) -> None:
    # 2/8 is 1/4, whose root is exact, though 2 has none. Rounding an exact value up for ever would never end.
    assert Rate.from_eta(eta, times=times).fraction == exact


@given(st.integers(1, 80), st.integers(1, 9), st.fractions(Fraction(1, 50), 20, max_denominator=50), st.data())
def test_from_eta_rounds_toward_privacy(y: int, z: int, times: Fraction, data: st.DataObject) -> None:
    x = data.draw(st.integers(1, (1 << y) - 1) | st.sampled_from([1, (1 << y) - 1]))
    exponent = z * times
    low, high = bounds("log", Fraction(1 << y, x), 20_000)
    if high * exponent > 2000:
        return
    rate = Rate.from_eta(Eta(x, y, z), times=times)
    # r against (x/2^y)^exponent, without roots: r^denominator against (x/2^y)^numerator.
    ours, asked = rate.fraction**exponent.denominator, Fraction(x, 1 << y) ** exponent.numerator
    assert ours >= asked
    if ours > asked:
        check_close(rate, (low * exponent, high * exponent))


@pytest.mark.parametrize("y", [64, 100, 200, 400])
def test_from_eta_of_a_tiny_loss(y: int) -> None:
    low, high = bounds("log", Fraction(1 << y, (1 << y) - 1), 20_000)
    check_close(Rate.from_eta(Eta((1 << y) - 1, y, 1), times="1/3"), (low / 3, high / 3))


@pytest.mark.parametrize("times", [Fraction(1, (1 << 64) + 1), Fraction(1 << 70, (1 << 72) + 1), "1e-30"])
def test_from_eta_takes_any_fraction_of_a_step(times: Fraction | str) -> None:
    low, high = bounds("log", Fraction(4, 3), 20_000)
    check_close(Rate.from_eta(Eta(3, 2, 1), times=times), (low * Fraction(times), high * Fraction(times)))


@pytest.mark.parametrize(
    ("times", "start"), [(0, "times must be positive: got 0."), (-1, "times must be positive: got -1.")]
)
def test_times_refused(times: int, start: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Rate.from_eta(Eta(1, 1, 1), times=times)
    assert str(caught.value).startswith(start)


def test_losses_too_large_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"must be at most 65536"):
        Rate.from_eta(Eta(1, 2, 1), times=40_000)
    with pytest.raises(ParameterError):
        Rate.from_eta(Eta(1, 3, 1), times="10000/7")


@pytest.mark.parametrize(
    ("x", "y"),
    [(0, 1), (2, 1), (-1, 3), (1.0, 1), (True, 1), ("1", 1), (1, 0), (1, MAX_RATE_BITS + 1), (1, "x")],
)
def test_refused(x: object, y: object) -> None:
    with pytest.raises(ParameterError, match=r"^rate's [xy] must "):
        Rate(x, y)


@given(st.integers(1, 500), st.data())
def test_rates_are_kept_in_lowest_terms(y: int, data: st.DataObject) -> None:
    x = data.draw(st.integers(1, (1 << y) - 1))
    rate = Rate(x, y)
    assert rate.fraction == Fraction(x, 1 << y)
    assert rate.x % 2 == 1
    assert rate == Rate(4 * x, y + 2)
    assert hash(rate) == hash(Rate(4 * x, y + 2))


@given(st.integers(1, 900), st.data())
def test_loss_upper_is_the_nearest_float_at_or_above(y: int, data: st.DataObject) -> None:
    x = data.draw(st.integers(1, (1 << y) - 1) | st.sampled_from([1, (1 << y) - 1]))
    low, high = bounds("log", Fraction(1 << y, x), 3000)
    upper = Rate(x, y).loss_upper
    assert Fraction(upper) >= high
    assert Fraction(math.nextafter(upper, 0)) < low
