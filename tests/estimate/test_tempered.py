"""Estimates between measurements and gaps: the best linear ones where the two agree, the measurements where not."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastbit.estimate.blue import blue
from lastbit.estimate.tempered import tempered

numbers = st.fractions(-1000, 1000, max_denominator=10)
RATIO, VARIANCE = Fraction(1, 2), Fraction(200)


def weight_of(measurements: list[Fraction], gaps: list[Fraction]) -> tuple[Fraction, Fraction]:
    """The weight of the measurements that the estimates show, and the sum of squares it was made of."""
    line = blue(measurements, gaps, Fraction(0))
    apart = [m - t for m, t in zip(measurements, line, strict=True)]
    estimates = tempered(measurements, gaps, RATIO, VARIANCE)
    weights = {(e - t) / a for e, t, a in zip(estimates, line, apart, strict=True) if a}
    assert len(weights) == 1
    return weights.pop(), sum(a * a for a in apart)


@given(st.lists(st.tuples(numbers, numbers.map(abs)), min_size=2, max_size=8))
def test_the_weight_is_that_of_the_best_linear_estimate_or_more(given: list[tuple[Fraction, Fraction]]) -> None:
    measurements, gaps = [each for each, _ in given], [each for _, each in given[1:]]
    k = len(measurements)
    if blue(measurements, gaps, Fraction(0)) == tuple(measurements):
        assert tempered(measurements, gaps, RATIO, VARIANCE) == tuple(measurements)
        return
    weight, square = weight_of(measurements, gaps)
    assert weight == max(Fraction(1, 3), 1 - max(0, 2 * k - 6) * VARIANCE / square)
    assert Fraction(1, 3) <= weight <= 1
    # In r = (1 - w)·S/v of Baranchik's theorem: it does not fall as S rises, and ends at 2·(k - 1 - 2).
    assert (1 - weight) * square / VARIANCE == min(square * Fraction(2, 3) / VARIANCE, max(0, 2 * k - 6))


@pytest.mark.parametrize("k", [5, 10, 50])
def test_gaps_that_agree_are_used_in_full_and_gaps_that_do_not_are_not(k: int) -> None:
    values = [Fraction(100 * (k - i)) for i in range(k)]
    noisy = [value + (7, -7)[i % 2] for i, value in enumerate(values)]
    agreeing, bent = [Fraction(100)] * (k - 1), [Fraction(5000)] * (k - 1)
    assert tempered(noisy, agreeing, RATIO, VARIANCE) == blue(noisy, agreeing, RATIO)
    assert all(abs(e - m) < 1 for e, m in zip(tempered(noisy, bent, RATIO, VARIANCE), noisy, strict=True))


def test_up_to_three_values_are_left_as_measured() -> None:
    three = [Fraction(9), Fraction(5), Fraction(0)]
    assert tempered(three, [Fraction(1), Fraction(7)], RATIO, VARIANCE) == (9, 5, 0)
    assert tempered([Fraction(5)], [], RATIO, VARIANCE) == (5,)
    assert tempered([Fraction(9), Fraction(5)], [Fraction(1)], RATIO, VARIANCE) == (9, 5)
    assert tempered([Fraction(9), Fraction(5)], [Fraction(4)], RATIO, VARIANCE) == (9, 5)
