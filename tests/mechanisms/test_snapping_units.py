"""Snapping in whole numbers: where a value is, exactly, and that noise is whole."""

import math
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import lastbit as lb
from lastbit.exact.rounding import fraction
from lastbit.mechanisms.snapping_units import _ORIGIN

MECHANISMS = [
    lb.Snapping(epsilon=1, bounds=(-100, 100)),
    lb.Snapping(epsilon="7/10", bounds=("1/3", 7), sensitivity="1/2"),
    lb.Snapping(epsilon="1/10", bounds=(0, 10**6), sensitivity="3/7", gamma="1/100"),
    lb.Snapping(epsilon=40, bounds=(-1, 10**30)),
]


@pytest.mark.parametrize("mechanism", MECHANISMS)
@given(value=st.floats() | st.fractions() | st.integers())
@example(value=0.0)
@example(value=-0.0)
@example(value=5e-324)
@example(value=-5e-324)
@example(value=-(2.0**-270))
@example(value=1.7e308)
@example(value=-1.7e308)
@example(value=math.inf)
@example(value=math.nan)
@example(value=7.0)
@example(value=100.0)
@example(value=-100.0)
def test_a_value_is_floored_to_where_it_is(mechanism: lb.Snapping, value: float | Fraction | int) -> None:
    start, cells = mechanism._start(value), mechanism._units
    exact = (start / mechanism._snap + Fraction(1, 2) + _ORIGIN) * (1 << cells.bits)
    assert cells.place(value) == math.floor(exact)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_all_noise_is_whole(mechanism: lb.Snapping) -> None:
    further, unit = mechanism._further, mechanism._snap / (1 << mechanism._units.bits)
    for index in (-1, -2, -3, -(1 << further), -(1 << further) - 1, -(5 << further) + 12345, -(300 << further)):
        noise = fraction(mechanism._noise(index))
        assert noise > 0
        assert (noise / unit).denominator == 1
