"""Counts: public items and promises, private values that show nowhere."""

from fractions import Fraction

import numpy as np
import pytest

from lastbit import (
    DiscreteLaplace,
    NoisyMax,
    ParameterError,
    Statistic,
    exact_mean,
    exact_sum,
    exact_variance,
    histogram,
    mean_sums,
)
from lastbit.values.counts import Counts
from lastbit.values.known import unpack_values


def test_whole_values_become_a_read_only_array() -> None:
    for values in ([1, 2], (1, 2), np.array([1, 2], np.int8), np.array([1, 2], np.uint64), np.array([True, False])):
        counts = Counts(items="ab", values=values)
        assert counts.values.dtype == np.int64
        assert counts.values.tolist() == [int(value) for value in values]
        with pytest.raises(ValueError, match="read-only"):
            counts.values[0] = 5


def test_an_array_stays_writable_for_its_owner() -> None:
    mine = np.array([1, 2], np.int64)
    Counts(items="ab", values=mine)
    mine[0] = 5


def test_a_count_beyond_int64_stays_large() -> None:
    assert Counts(items="a", values=np.array([(1 << 64) - 1], np.uint64)).values.tolist() == [(1 << 63) - 1]
    assert Counts(items="a", values=[1 << 70]).values == (Fraction(1 << 70),)


def test_sums_stay_exact() -> None:
    assert Counts(items="ab", values=[Fraction(1, 3), 2]).values == (Fraction(1, 3), Fraction(2))


def test_the_values_show_nowhere() -> None:
    counts = Counts(items=["x", "y"], values=[4242, 7], sensitivity="1/2")
    assert repr(counts) == str(counts) == "<Counts: 2 items, sensitivity 1/2, not monotone>"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"items": "abc"}, "3 items and 2 values"),
        ({"items": "ab", "sensitivity": 0}, "sensitivity must be positive"),
        ({"items": "ab", "monotone": 1}, "monotone must be True or False"),
        ({"items": "ab", "values": [4242.5, 1]}, "must be exact"),
        ({"items": "ab", "values": np.array([4242.5, 1])}, "must be exact"),
    ],
)
def test_what_cannot_be_counts_is_refused_without_showing_values(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message) as refusal:
        Counts(**({"values": [4242, 1]} | parameters))
    assert "4242" not in str(refusal.value)


def test_counts_that_move_further_than_promised_are_refused() -> None:
    counts = Counts(items="ab", values=[1, 2], sensitivity=3)
    with pytest.raises(ParameterError, match="sensitivity=3"):
        unpack_values(counts, Fraction(2), monotone=False)
    with pytest.raises(ParameterError, match="without monotone=True"):
        unpack_values(counts, Fraction(3), monotone=True)
    values, items = unpack_values(counts, Fraction(3), monotone=False)
    assert (values.tolist(), items) == ([1, 2], ("a", "b"))
    assert unpack_values(["x", 2], Fraction(2), monotone=True) == (["x", 2], None)


def test_counts_name_their_neighbours() -> None:
    assert Counts(items="ab", values=[1, 2], monotone=True).adjacency == "add-remove"
    replaced = Counts(items="ab", values=[1, 2], adjacency="replace")
    assert replaced.adjacency == "replace"
    assert repr(replaced) == "<Counts: 2 items, sensitivity 1, not monotone, replace>"
    for wrong in ("Replace", "add", None, 1, ["replace"]):
        with pytest.raises(ParameterError, match="adjacency must be 'add-remove' or 'replace'"):
            Counts(items="ab", values=[1, 2], adjacency=wrong)  # type: ignore[arg-type]


def test_values_with_replace_cannot_be_monotone() -> None:
    with pytest.raises(ParameterError, match="cannot be monotone where one person replaces"):
        Counts(items="ab", values=[1, 2], monotone=True, adjacency="replace")
    with pytest.raises(ParameterError, match="cannot be monotone where one person replaces"):
        Statistic(Fraction(1), Fraction(1), Fraction(1), True, "replace")


def test_each_statistic_names_its_neighbours() -> None:
    bounds = (0, 10)
    stated = {
        "add-remove": [
            exact_sum([1, 2], bounds=bounds),
            histogram([1, 2], bounds=bounds, bins=2),
            mean_sums([1, 2], bounds=bounds),
        ],
        "replace": [
            exact_sum([1, 2], bounds=bounds, replaces=True),
            histogram([1, 2], bounds=bounds, bins=2, replaces=True),
            exact_mean([1, 2], bounds=bounds, missing=0),
            exact_variance([1, 2], bounds=bounds, missing=0),
        ],
    }
    for adjacency, statistics in stated.items():
        assert [statistic.adjacency for statistic in statistics] == [adjacency] * len(statistics)
    assert not any(each.monotone for each in stated["replace"])


def test_a_mechanism_for_monotone_values_means_people_who_come_or_go() -> None:
    assert NoisyMax(epsilon=1, monotone=True).adjacency == "add-remove"
    assert NoisyMax(epsilon=1).adjacency is DiscreteLaplace(epsilon=1).adjacency is None
