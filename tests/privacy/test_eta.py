"""Eta: validation, the best one for a bit budget, and a report that is never below the truth."""

import math
from fractions import Fraction

import gmpy2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastbit import Eta, ParameterError
from lastbit.privacy.dyadic import MAX_RATE_BITS

LOSSES = ["1e-12", "1e-6", "1/1000", "0.01", "0.1", "1/3", "0.5", "0.69", "0.7", "1", "2", "3.5", "10", "100"]


def log_bounds(eta: Eta, precision: int = 2000) -> tuple[Fraction, Fraction]:
    """eta·ln 2 = z·ln(2^y/x), between two roundings of MPFR."""
    bounds = []
    for mode in (gmpy2.RoundDown, gmpy2.RoundUp):
        with gmpy2.context(precision=precision, round=mode):
            log = gmpy2.log(gmpy2.mpfr(gmpy2.mpq(1 << eta.y, eta.x)))
        bounds.append(Fraction(gmpy2.mpq(log)) * eta.z)
    return bounds[0], bounds[1]


def exp_bounds(loss: Fraction, precision: int = 2000) -> tuple[Fraction, Fraction]:
    """e^-loss, between two roundings of MPFR."""
    bounds = []
    for mode in (gmpy2.RoundDown, gmpy2.RoundUp):
        with gmpy2.context(precision=precision, round=mode):
            bounds.append(Fraction(gmpy2.mpq(gmpy2.exp(gmpy2.mpfr(gmpy2.mpq(-loss))))))
    return bounds[0], bounds[1]


@st.composite
def etas(draw: st.DrawFn) -> Eta:
    y = draw(st.integers(1, 12) | st.integers(1, 700))
    x = draw(st.integers(1, (1 << y) - 1) | st.sampled_from([1, (1 << y) - 1, max(1, (1 << y) - 2)]))
    return Eta(x, y, draw(st.integers(1, 9) | st.integers(1, MAX_RATE_BITS // y)))


@given(etas())
def test_epsilon_upper_is_the_nearest_float_at_or_above(eta: Eta) -> None:
    lower, upper = log_bounds(eta)
    assert lower < upper
    assert Fraction(eta.epsilon_upper) >= upper
    assert Fraction(math.nextafter(eta.epsilon_upper, 0)) < lower


def test_epsilon_upper_where_floats_end() -> None:
    tiny = Eta((1 << 4000) - 1, 4000, 1)
    assert tiny.epsilon_upper == math.ulp(0.0)
    assert Eta(1, MAX_RATE_BITS, 1).epsilon_upper == Eta(1, 1, MAX_RATE_BITS).epsilon_upper
    assert Fraction(Eta(1, MAX_RATE_BITS, 1).epsilon_upper) >= log_bounds(Eta(1, 1, 1))[1] * MAX_RATE_BITS


@given(etas())
def test_fraction_is_exact(eta: Eta) -> None:
    if eta.y * eta.z <= 2000:
        assert eta.fraction == Fraction(eta.x, 2**eta.y) ** eta.z


@pytest.mark.parametrize("bits", range(1, 9))
@pytest.mark.parametrize("epsilon", LOSSES)
def test_at_most_is_the_best_of_its_budget(epsilon: str, bits: int) -> None:
    # All (x, y, z) with y·z <= bits; the largest eta is the smallest 2^-eta at or above e^-epsilon.
    lower, upper = exp_bounds(Fraction(epsilon), 200)
    every = {
        Fraction(x, 1 << y) ** z for y in range(1, bits + 1) for z in range(1, bits // y + 1) for x in range(1, 1 << y)
    }
    assert not any(lower < each < upper for each in every)
    allowed = [each for each in every if each >= upper]
    if not allowed:
        with pytest.raises(
            ParameterError, match=rf"^bits must be enough to tell 2\^-eta from 1: got {bits}\. Use bits="
        ):
            Eta.at_most(epsilon, bits=bits)
    else:
        assert Eta.at_most(epsilon, bits=bits).fraction == min(allowed)


@pytest.mark.parametrize("epsilon", [*LOSSES, "2048", Fraction(1, 1 << 512), 0.1, 1e-9])
def test_at_most_wastes_next_to_nothing(epsilon: str | float | Fraction) -> None:
    eta = Eta.at_most(epsilon)
    asked = Fraction(str(epsilon)) if isinstance(epsilon, float) else Fraction(epsilon)
    lower, upper = log_bounds(eta, 9000)
    assert upper <= asked
    assert asked - lower < asked / 2**50
    assert eta.epsilon_upper <= float(asked) or Fraction(eta.epsilon_upper) - asked < math.ulp(float(asked))


@given(st.fractions(Fraction(1, 10**15), 40), st.integers(1, 200))
def test_at_most_is_never_above(epsilon: Fraction, bits: int) -> None:
    if epsilon == 0:
        return
    try:
        eta = Eta.at_most(epsilon, bits=bits)
    except ParameterError:
        # Refused only where the best of the budget would be a loss of 0.
        assert exp_bounds(epsilon)[1] > 1 - Fraction(1, 1 << bits)
        return
    assert log_bounds(eta)[1] <= epsilon
    assert eta.y * eta.z <= bits
    # One step further would be too far.
    further = eta.fraction - Fraction(1, 1 << bits)
    assert further < exp_bounds(epsilon)[0]


@pytest.mark.parametrize(
    ("x", "y", "z", "message"),
    [
        (0, 1, 1, "eta's x must be a whole number of at least 1: got 0."),
        (-1, 1, 1, "eta's x must be a whole number of at least 1: got -1."),
        (1, 0, 1, "eta's y must be a whole number of at least 1: got 0."),
        (1, 1, 0, "eta's z must be a whole number of at least 1: got 0."),
        (1, 1, "1/2", "eta's z must be a whole number of at least 1: got 1/2."),
        (True, 1, 1, "eta's x must be a number: got True. Pass 1 if one is meant."),
        (None, 1, 1, "eta's x must be a number: got NoneType. Pass an int"),
        (2, 1, 1, "eta must be positive, so x must be below 2^y: got x=2, y=1. A release that costs nothing"),
        (3, 1, 1, "eta must be positive, so x must be below 2^y: got x=3, y=1. A release that costs nothing"),
        (1, 256, 257, "eta's y*z must be at most 65536: got y=256, z=257. Use a smaller y or z."),
        (1, 10**30, 1, "eta's y*z must be at most 65536: got y="),
    ],
)
def test_refused(x: object, y: object, z: object, message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Eta(x, y, z)
    assert str(caught.value).startswith(message)


def test_fields_become_ints_and_stay() -> None:
    eta = Eta("3", 2.0, Fraction(1))
    assert (eta.x, eta.y, eta.z) == (3, 2, 1)
    assert all(type(field) is int for field in (eta.x, eta.y, eta.z))
    assert eta == Eta(3, 2, 1)
    assert hash(eta) == hash(Eta(3, 2, 1))
    with pytest.raises(AttributeError):
        eta.x = 4


@pytest.mark.parametrize("bits", [0, -1, 4097, "1/2", True])
def test_budgets_refused(bits: object) -> None:
    with pytest.raises(ParameterError, match=r"^bits must be "):
        Eta.at_most(1, bits=bits)
