"""Counts of a list are those of an array only where each value is an int: no other type is changed on the way."""

from array import array
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import lastbit as lb
from lastbit.values.raw import unwrap
from tests.fixed_words import FixedWords


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


class Whole(int):
    """Another type, which may mean something else."""


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([], "int64"),
        ([3, -(2**63), 2**63 - 1], "int64"),
        ((0.1, -0.0, float("inf"), 5e-324), "float64"),
        ([1, 0.5], None),
        ([0.5, 1], None),
        ([1, True], None),
        ([True], None),
        ([1, 2**63], None),
        ([-(2**63) - 1], None),
        ([1, Whole(2)], None),
        ([np.float64(0.5)], None),
        ([0.5, None], None),
    ],
)
def test_a_list_is_an_array_where_all_of_it_is_of_one_type(values: Any, dtype: str | None) -> None:
    found = unwrap(values)
    if dtype is None:
        assert found is values
    else:
        assert found.dtype == dtype
        assert [value.hex() if dtype == "float64" else value for value in found.tolist()] == [
            each.hex() if dtype == "float64" else each for each in values
        ]


@pytest.mark.parametrize("resolution", ["1", "1/10", "7/10", "1/8"])
def test_sums_and_steps_of_a_list_are_those_of_an_array(resolution: str) -> None:
    for values in ([0.1 * i for i in range(-40, 40)], [7 * i for i in range(-40, 40)]):
        stated = {"bounds": (Fraction(-7), Fraction(7)), "resolution": resolution}
        one, other = lb.exact_sum(values, **stated), lb.exact_sum(np.array(values), **stated)
        assert (one.values, one.above, one.sensitivity) == (other.values, other.above, other.sensitivity)
        assert one.values == lb.exact_sum([*values, None], **stated).values
        mechanism = lb.NoisyTopK(k=3, epsilon=1, resolution=resolution, sensitivity=7)
        drawn = [mechanism.release(each, lb.Sampler(FixedWords("lists"))) for each in (values, np.array(values))]
        assert drawn[0] == drawn[1]
