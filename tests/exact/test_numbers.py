"""What a person types becomes the fraction meant, or a refusal that says what to do."""

import re
from decimal import Decimal
from fractions import Fraction

import gmpy2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastbit import Eta, LastbitError, ParameterError, Rate
from lastbit.exact.numbers import MAX_BITS, number, positive, probability, whole

ACCEPTED = [
    (3, Fraction(3)),
    (-3, Fraction(-3)),
    (0, Fraction(0)),
    (0.1, Fraction(1, 10)),
    (1e-7, Fraction(1, 10**7)),
    (1e22, Fraction(10**22)),
    (2.5, Fraction(5, 2)),
    (Fraction(1, 3), Fraction(1, 3)),
    (Decimal("0.10"), Fraction(1, 10)),
    (Decimal("1E+3"), Fraction(1000)),
    (Decimal("-1.5e-3"), Fraction(-3, 2000)),
    ("0.1", Fraction(1, 10)),
    (" 1/3 ", Fraction(1, 3)),
    ("-2/4", Fraction(-1, 2)),
    ("+7", Fraction(7)),
    (".5", Fraction(1, 2)),
    ("5.", Fraction(5)),
    ("1e-3", Fraction(1, 1000)),
    ("2.5E2", Fraction(250)),
    (np.int8(-3), Fraction(-3)),
    (np.uint64(2**64 - 1), Fraction(2**64 - 1)),
    (np.float16(0.1), Fraction(1, 10)),
    (np.float32(0.1), Fraction(1, 10)),
    (np.float64(0.1), Fraction(1, 10)),
    (np.longdouble("0.1"), Fraction(1, 10)),
    (gmpy2.mpz(7), Fraction(7)),
    (gmpy2.mpq(2, 6), Fraction(1, 3)),
    (1 << MAX_BITS - 1, Fraction(1 << MAX_BITS - 1)),
    (Fraction(1, 1 << MAX_BITS - 1), Fraction(1, 1 << MAX_BITS - 1)),
]


@pytest.mark.parametrize(("given_", "meant"), ACCEPTED, ids=lambda value: f"{type(value).__name__} {str(value)[:20]}")
def test_accepted(given_: object, meant: Fraction) -> None:
    result = number(given_, "epsilon")
    assert type(result) is Fraction
    assert type(result.numerator) is int
    assert result == meant


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_means_what_it_prints(value: float) -> None:
    assert number(value, "epsilon") == Fraction(repr(value))


@given(st.fractions())
def test_fractions_and_their_texts_are_themselves(value: Fraction) -> None:
    assert number(value, "x") == number(str(value), "x") == number(gmpy2.mpq(value), "x") == value


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**300), max_value=10**300, places=20))
def test_decimals_are_exact(value: Decimal) -> None:
    assert number(value, "x") == Fraction(value)


REFUSED = [
    (True, "epsilon must be a number: got True. Pass 1 if one is meant."),
    (np.True_, "epsilon must be a number: got True. Pass 1 if one is meant."),
    (None, "epsilon must be a number: got NoneType. Pass an int"),
    (1j, "epsilon must be a number: got complex. Pass an int"),
    (b"1", "epsilon must be a number: got bytes. Pass an int"),
    ([1], "epsilon must be a number: got list. Pass an int"),
    (np.array(1), "epsilon must be a number: got ndarray. Pass an int"),
    (float("nan"), "epsilon must be a finite number: got 'nan'. Write it like"),
    (float("inf"), "epsilon must be a finite number: got 'inf'. Write it like"),
    (-float("inf"), "epsilon must be a finite number: got '-inf'. Write it like"),
    (np.float32("nan"), "epsilon must be a finite number: got 'nan'. Write it like"),
    (Decimal("NaN"), "epsilon must be a finite number: got 'NaN'. Write it like"),
    (Decimal("sNaN"), "epsilon must be a finite number: got 'sNaN'. Write it like"),
    (Decimal("Infinity"), "epsilon must be a finite number: got 'Infinity'. Write it like"),
    ("", "epsilon must be a finite number: got empty text. Write it like"),
    ("   ", "epsilon must be a finite number: got empty text. Write it like"),
    ("one", "epsilon must be a finite number: got 'one'. Write it like"),
    ("1_000", "epsilon must be a finite number: got '1_000'. Write it like"),
    ("0x10", "epsilon must be a finite number: got '0x10'. Write it like"),
    ("1/3/5", "epsilon must be a finite number: got '1/3/5'. Write it like"),
    ("1 / 3", "epsilon must be a finite number: got '1 / 3'. Write it like"),
    ("1.5/2", "epsilon must be a finite number: got '1.5/2'. Write it like"),
    ("1e", "epsilon must be a finite number: got '1e'. Write it like"),
    ("٣", "epsilon must be a finite number: got '٣'. Write it like"),
    ("1\n2", "epsilon must be a finite number: got '1\\n2'. Write it like"),
    ("1/0", "epsilon must be a number: got 1/0. A fraction needs a denominator above 0."),
    ("1e99999", "epsilon must fit in 4096 bits: got 1e99999. Round it."),
    ("1e-99999", "epsilon must fit in 4096 bits: got 1e-99999. Round it."),
    ("1e999999999", "epsilon must be a finite number: got '1e999999999'. Write it like"),
    (Decimal("1e2000"), "epsilon must fit in 4096 bits: got 1E+2000. Round it."),
    (1 << MAX_BITS, "epsilon must fit in 4096 bits above and below the fraction bar. Round it."),
    (Fraction(1, 1 << MAX_BITS), "epsilon must fit in 4096 bits above and below the fraction bar. Round it."),
    ("9" * 2049, "epsilon must be a number of at most 2048 characters. Round it."),
    ("x" * 2048, "epsilon must be a finite number: got '" + "x" * 40 + "'. Write it like"),
]


@pytest.mark.parametrize(("value", "message"), REFUSED, ids=lambda value: str(value)[:24])
def test_refused(value: object, message: str) -> None:
    for read in (number, whole, lambda value, name: positive(value, name, "It is needed.")):
        with pytest.raises(ParameterError, match="^" + re.escape(message)) as caught:
            read(value, "epsilon")
        # One sentence says what was expected, a later one what to do; long input is not repeated.
        text = str(caught.value)
        assert text.endswith(".")
        assert len(text) < 200
        assert isinstance(caught.value, ValueError)
        assert isinstance(caught.value, LastbitError)
        assert caught.value.__cause__ is None


@pytest.mark.parametrize("value", [0, -1, "0", -0.0, Fraction(-1, 3), "-1e-9", Decimal("-0.00")])
def test_zero_and_less_are_no_loss(value: object) -> None:
    shown = str(number(value, "epsilon"))
    wanted = f"epsilon must be positive: got {shown}. A release that costs nothing cannot use the data."
    for use in (Rate.from_epsilon, Eta.at_most):
        with pytest.raises(ParameterError) as caught:
            use(value)
        assert str(caught.value) == wanted


@pytest.mark.parametrize("value", [0, 1, 1.0, "-1/2", "3/2", Fraction(1), Fraction(10**9 + 1, 10**9)])
def test_a_probability_is_neither_0_nor_1_nor_beyond(value: object) -> None:
    """An account with a delta of 1 would allow everything, and an interval with a level of 1 has no end."""
    with pytest.raises(ParameterError, match="delta must be above 0 and below 1"):
        probability(value, "delta")
    for within in ("1e-300", "1/2", Fraction(10**30 - 1, 10**30)):
        assert probability(within, "delta") == Fraction(within)


@pytest.mark.parametrize("value", ["1e-155", "2049", Fraction(1, (1 << 512) + 1), 10**9])
def test_losses_out_of_range(value: object) -> None:
    for use in (Rate.from_epsilon, Eta.at_most):
        with pytest.raises(
            ParameterError, match=r"^epsilon must be between 2\^-512 and 2\^11 per step: got .*\. Choose a"
        ):
            use(value)


@pytest.mark.parametrize(
    ("value", "meant"), [(3, 3), ("3", 3), (3.0, 3), ("6/2", 3), (np.int64(3), 3), (gmpy2.mpz(3), 3)]
)
def test_whole(value: object, meant: int) -> None:
    assert type(whole(value, "n")) is int
    assert whole(value, "n") == meant


@pytest.mark.parametrize(
    ("value", "least"), [(0, 1), (-1, 0), ("1/2", 0), (2.5, 1), (-(10**50), 0), (10**50 + Fraction(1, 2), 0)]
)
def test_not_whole(value: object, least: int) -> None:
    with pytest.raises(ParameterError, match=rf"^n must be a whole number of at least {least}: got .*\.$") as caught:
        whole(value, "n", least=least)
    assert len(str(caught.value)) < 120


def test_huge_integers_are_whole() -> None:
    assert whole((1 << 64) - 1, "n") == (1 << 64) - 1
    assert whole(1 << 64, "n") == 1 << 64
    assert whole(10**1000, "n") == 10**1000
