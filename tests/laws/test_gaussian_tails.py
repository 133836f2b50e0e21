"""The tails of the discrete Gaussian between MPFR numbers, against the cells that the samplers draw from."""

from fractions import Fraction

import gmpy2
import pytest

import lastbit as lb
from lastbit.chance.gaussian import Gaussian
from lastbit.estimate import gaussian_accuracy
from lastbit.exact.gaussian_tails import tail_at_most, tail_bounds
from lastbit.exact.rounding import any_upper, fraction, one_lower

BITS = 3000
TINY = Fraction(1, 1 << 4000)


def cell_bounds(rate: lb.Rate, first: int) -> tuple[Fraction, Fraction]:
    lower, upper = Gaussian(rate).bounds(first, BITS)
    return Fraction(lower, 1 << BITS), Fraction(upper, 1 << BITS)


@pytest.mark.parametrize("loss", ["100", "4", "22/7", "3", "1", "1/10", "1/200", "1/20000"])
def test_a_tail_lies_between_its_bounds(loss: str) -> None:
    rate = lb.Rate.from_epsilon(loss)
    for first in (1, 2, 3, 10, 30, 100, 400):
        lower, upper = cell_bounds(rate, first)
        widths = []
        for terms, bits in ((1, 64), (16, 128), (1000, 256)):
            below, above = map(fraction, tail_bounds(rate.fraction, first, terms, bits))
            # So narrow are the cells that a bound on the wrong side would be outside of them.
            assert below <= upper
            assert above >= lower
            widths.append(above - below)
        assert widths[0] > widths[1] > widths[2] > 0
        if upper - lower < lower / 10**30:
            assert widths[2] < lower / 10**12


@pytest.mark.parametrize("loss", ["3", "1/2", "1/200", "1/20000"])
def test_a_comparison_with_a_tail_is_exact(loss: str) -> None:
    rate = lb.Rate.from_epsilon(loss)
    for first in (1, 2, 7):
        lower, upper = cell_bounds(rate, first)
        hair = lower / (1 << 200)
        assert upper - lower < hair
        assert tail_at_most(rate.fraction, first, upper + hair)
        assert not tail_at_most(rate.fraction, first, lower - hair)


def test_the_context_of_the_program_changes_nothing() -> None:
    rate = lb.Rate.from_epsilon("1/200").fraction
    before = tail_bounds(rate, 30)
    with gmpy2.context(precision=20, round=gmpy2.RoundUp):
        assert tail_bounds(rate, 30) == before
        assert any_upper(Fraction(1, 3), 5, 200) < Fraction(212, 243)


@pytest.mark.parametrize("deviation", [50, 5000])
def test_the_accuracy_is_the_least_at_every_level(deviation: int) -> None:
    rate = lb.Rate.from_epsilon(Fraction(1, 2 * deviation**2))
    for level in (Fraction(1, 100), Fraction(1, 2), Fraction(95, 100), 1 - Fraction(1, 10**40), 1 - TINY):
        steps = gaussian_accuracy(rate, level)
        assert tail_at_most(rate.fraction, steps + 1, (1 - level) / 2)
        assert steps == 0 or not tail_at_most(rate.fraction, steps, (1 - level) / 2)


@pytest.mark.parametrize("chance", [Fraction(1, 3), Fraction(1, 10**9), TINY, Fraction(999, 1000)])
@pytest.mark.parametrize("times", [1, 2, 7])
def test_any_of_several_events_is_rounded_up_and_one_of_them_down(chance: Fraction, times: int) -> None:
    exact = 1 - (1 - chance) ** times
    upper = any_upper(chance, times, 128)
    assert exact <= upper <= exact * (1 + Fraction(1, 1 << 120))
    assert one_lower(exact, times, 128) <= chance <= one_lower(exact, times, 128) * (1 + Fraction(1, 1 << 120))
    assert any_upper(Fraction(1), times, 128) == 1
