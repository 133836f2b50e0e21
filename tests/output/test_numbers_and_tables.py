"""Numbers and tables as people read them: one format a column, digits that the interval justifies."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lastbit as lb
from lastbit.output.numbers import Format, format_column
from lastbit.output.table import format_cells, text_table

THIRD = Fraction(1, 3)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([1_230_000, 1_230], ["1,230,000", "1,230"]),
        ([1.23e6, 1230.5], ["1,230,000", "1,230"]),  # six digits of the largest
        ([1230.5, 2], ["1,230.5", "2.0"]),
        ([THIRD, 2 * THIRD], ["0.333333", "0.666667"]),
        ([0.5, None, Fraction(1, 4)], ["0.50", "", "0.25"]),
        ([10**15, 1], ["1e+15", "1e+0"]),
        ([10**15 - 1, 1], ["999,999,999,999,999", "1"]),
        ([Fraction(1, 10**4)], ["0.0001"]),
        ([Fraction(99, 10**6)], ["9.9e-5"]),
        ([1, Fraction(1, 10**7)], ["1e+0", "1e-7"]),  # fixed decimals would show nothing of the second
        ([0, 0], ["0", "0"]),
        ([-0.2, 12345678.9], ["0", "12,345,679"]),
        ([np.int64(5), np.float64(2.5)], ["5.0", "2.5"]),
        ([np.int8(3), np.uint64(2**63), 10**14], ["3e+0", "9.22337e+18", "1e+14"]),
        ([np.float32(1.1), 2], ["1.1", "2.0"]),
        ([float("inf"), 3], ["inf", "3"]),
        ([Fraction(10) ** 5000], ["1e+5000"]),
        ([1 / Fraction(10) ** 5000], ["1e-5000"]),
    ],
)
def test_a_column_has_one_format(column: list[object], expected: list[str]) -> None:
    assert format_column(column) == expected


@pytest.mark.parametrize(
    ("half", "expected"),
    [(1000, "1,235"), (100, "1,235"), (30, "1,235"), (10, "1,235"), (9, "1,234.6"), (1, "1,234.6"),
     (Fraction(9, 10), "1,234.57"), (Fraction(1, 100), "1,234.568"), (Fraction(1, 10**9), "1,234.5678000000")],
)  # fmt: skip
def test_an_interval_justifies_two_digits_of_half_its_width(half: Fraction, expected: str) -> None:
    value = Fraction(12345678, 10**4)
    assert format_column([value], [(value - half, value + half)]) == [expected]


def test_no_number_has_more_decimals_than_the_numbers_need() -> None:
    assert format_column([Fraction(5, 2)], [(Fraction(2), Fraction(3))]) == ["2.5"]
    assert format_column([Fraction(5)], [(Fraction(4), Fraction(6))]) == ["5"]
    assert format_column([Fraction(5)], [(Fraction(5), Fraction(5))]) == ["5"]


ENDS = st.fractions(-(10**6), 10**6, max_denominator=10**6)


@given(ENDS, ENDS, st.booleans())
def test_an_interval_that_people_read_holds_the_exact_one(one: Fraction, other: Fraction, whole: bool) -> None:
    low, high = sorted((one, other))
    (text,) = format_column([(low, high)], whole=whole)
    first, last = (Fraction(part.replace(",", "")) for part in text.split(" to "))
    assert first <= low <= high <= last
    assert not whole or (first.denominator, last.denominator) == (1, 1)


def test_intervals_without_an_end() -> None:
    column = [(None, Fraction(7, 2)), (Fraction(1), None), (None, None), None]
    assert format_column(column) == ["3.5 or less", "1.0 or more", "any number", ""]


def test_people_are_whole_and_items_are_names() -> None:
    columns: dict[str, list[object]] = {
        "item": [2026, 12.0],
        "people": [Fraction(36016, 10), 5],
        "interval": [(Fraction(1, 2), Fraction(9, 2))] * 2,
    }
    assert format_cells(columns, whole=["people", "interval"]) == [
        ["2026", "12.0"],
        ["3,602", "5"],
        ["0 to 5", "0 to 5"],
    ]
    assert format_cells({"at least": [Fraction(299, 100), 10**4]}) == [["2.9", "10,000.0"]]
    assert format_cells({"at least": [THIRD * 2, 10**5]}) == [["0", "100,000"]]  # rounded down: the bound stays true
    assert format_cells({"above": [True, False]}) == [["True", "False"]]


def test_a_mean_shows_the_digits_of_its_interval_and_whole_people() -> None:
    mechanism = lb.NoisyMean(epsilon=1, bounds=(0, 10))
    release = mechanism.release([3] * 1000, lb.Sampler(lb.Tape([1 << 62, 1 << 61])))
    mean, people = str(release).splitlines()[-2].split()
    low, high = release.interval()
    assert low is not None
    assert high is not None
    assert Fraction(1, 100) < (high - low) / 2 < Fraction(1, 10)
    assert len(mean.split(".")[1]) == 3
    assert "." not in people


def test_wide_characters_keep_columns_aligned() -> None:
    first, second = text_table(["item", "gap"], [["流感", "12"]]).splitlines()
    assert first == "item  gap"
    assert second == "流感   12"


def test_a_format_says_how_it_rounds() -> None:
    half = Fraction(5, 2)
    assert [Format(0).text(half, way) for way in ("down", "nearest", "up")] == ["2", "2", "3"]
    assert [Format(None, 1).text(Fraction(25), way) for way in ("down", "up")] == ["2e+1", "3e+1"]


@pytest.mark.parametrize("resolution", [1, 5, "1/10"])
def test_frames_hold_what_the_columns_say(resolution: Any) -> None:
    items = lb.Counts(items=["flu", "cold"], values=[500, 5], sensitivity=10, resolution=5)
    unlisted = lb.Unlisted.of({"flu": 5000, "cold": 4000}, most_items=1, sensitivity=10, resolution=5)
    for release in (
        lb.DiscreteLaplace(epsilon=1, sensitivity=20, resolution=resolution).release(items),
        lb.DiscoverHistogram.of(unlisted, epsilon=1, delta="1e-6", resolution=resolution).release(unlisted),
    ):
        frame = release.to_frame()
        for name, column in release.columns().items():
            exact = list(column) if name == "item" or resolution != "1/10" else [float(value) for value in column]
            assert frame[name].tolist() == exact


@pytest.mark.parametrize("rounding", ["nearest", "down", "up"])
def test_numbers_are_rounded_as_fractions_are(rounding: Any) -> None:
    exact = {"nearest": round, "down": math.floor, "up": math.ceil}[rounding]
    for above in range(-25, 26):
        for below in (1, 2, 3, 4, 10):
            assert Format(0).text(Fraction(above, below), rounding) == str(exact(Fraction(above, below)))
