"""Counts of a list are those of an array only where each value is an int: no other type is changed on the way."""

from array import array
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import lastbit as lb


@pytest.mark.parametrize("values", [[3, -4], (3, -4), range(3, -5, -7), array("q", [3, -4]), np.array([3, -4], "i2")])
def test_whole_numbers_are_an_array(values: Any) -> None:
    counts = lb.Counts(items="ab", values=values)
    assert isinstance(counts.values, np.ndarray)
    assert counts.values.tolist() == [3, -4]
    assert counts.values.dtype == np.int64
    assert not counts.values.flags.writeable


def test_nothing_at_all_is_an_array_of_whole_numbers() -> None:
    assert lb.Counts(items=[], values=[]).values.tolist() == []


@pytest.mark.parametrize("one", [True, 2**63, 2**70, -(2**63) - 1, Fraction(1, 3), np.int64(5)])
def test_a_value_of_another_type_stays_exact(one: Any) -> None:
    counts = lb.Counts(items="ab", values=[7, one])
    assert counts.values == (7, Fraction(int(one.numerator), int(one.denominator)))


@pytest.mark.parametrize("values", [[1, 0.5], [1, float("nan")], [1, None], [1, "2"], [[1], [2]], "12", b"12", {1, 2}])
def test_other_values_are_refused(values: Any) -> None:
    with pytest.raises(lb.ParameterError, match="values of Counts must be"):
        lb.Counts(items="ab", values=values)
