"""Which private values a release takes: the sentence on the page of limits, tried on every mechanism."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lastbit as lb
from tests.mechanisms.test_mechanism import BUILT

Color = IntEnum("Color", ["RED"])
NUMBERS: list[Any] = [
    *(0, -3, 10**400, -(10**400), True, Color.RED),
    *(1.5, -0.0, 5e-324, 1.7e308, math.inf, -math.inf),
    *(Fraction(1, 3), Fraction(10**400, 7), Fraction(1, 10**400)),
    *(Decimal("0.1"), Decimal("1e999999"), Decimal("-1e-999999"), Decimal("Infinity")),
    *(np.int8(-128), np.uint64(2**64 - 1), np.bool_(True), np.float16(1), np.float32("inf"), np.longdouble("1e4000")),
]
MISSING: list[Any] = [
    *(None, math.nan, Decimal("NaN"), Decimal("sNaN"), np.float32("nan"), pd.NA, pd.NaT, np.ma.masked),
]
NO_NUMBERS: list[Any] = [
    *("3", "", b"3", 1j, np.complex64(1), np.str_("3"), np.void(b"ab"), bytearray(b"3"), memoryview(b"3")),
    *(np.datetime64("2020-01-01"), np.timedelta64(3, "s"), pd.Timestamp("2020-01-01"), pd.Timedelta("1s")),
    *(datetime.date(2020, 1, 1), datetime.timedelta(1), [], [1], (1, 2), {}, {1}, range(3), object(), int, len, ...),
    *(np.array(3), np.array([1, 2]), pd.Series([1])),
]
HELD: dict[str, Callable[[Any], Any]] = {
    "list": lambda value: [5, value, 7],
    "tuple": lambda value: (5, value, 7),
    "array of objects": lambda value: _objects(value),
}
RECORDS = {"AutomaticBounds", "NoisyMean", "Quantile", "Quantiles", "GroupMeans", "GroupQuantiles"}
"""They take records, of which any may be missing."""
STATISTICS: dict[str, Callable[[Any], Any]] = {
    "exact_sum": lambda values: lb.exact_sum(values, bounds=(0, 10)),
    "exact_mean": lambda values: lb.exact_mean(values, bounds=(0, 10), missing="lowest"),
    "exact_variance": lambda values: lb.exact_variance(values, bounds=(0, 10), missing="lowest"),
    "histogram": lambda values: lb.histogram(values, bounds=(0, 10), bins=3),
    "mean_sums": lambda values: lb.mean_sums(values, bounds=(0, 10)),
}
OF_PARTS = {"Parts": ("people", "top"), "GroupTopK": ("a", "b")}
SCORES: dict[str, Callable[[Any], Any]] = {
    "Statistic": lambda values: lb.Statistic(values, 1, 1),  # type: ignore[arg-type]
    "ask": lambda values: lb.SparseVector(threshold=3, limit=1, epsilon=1).start().ask(values[1]),
    "ask_many": lambda values: lb.SparseVector(threshold=3, limit=1, epsilon=1).start().ask_many(values),
    **{
        name: lambda values, name=name: BUILT[name](epsilon=1).release(
            dict.fromkeys(OF_PARTS[name], values) if name in OF_PARTS else values
        )
        for name in BUILT
        if name not in RECORDS | {"Snapping"} and not name.startswith("Discover")
    },
}
TAKES_RECORDS: dict[str, Callable[[Any], Any]] = {
    **STATISTICS,
    **{
        name: lambda values, name=name: BUILT[name](epsilon=1).release(
            {"a": values} if name.startswith("Group") else values
        )
        for name in sorted(RECORDS)
    },
}


def _objects(value: Any) -> np.ndarray[Any, Any]:
    array = np.empty(3, object)
    array[0], array[1], array[2] = 5, value, 7
    return array


@pytest.mark.parametrize("name", [*SCORES, *TAKES_RECORDS])
def test_no_number_raises(name: str) -> None:
    take = {**SCORES, **TAKES_RECORDS}[name]
    for value in NUMBERS + MISSING:
        for hold in HELD.values():
            take(hold(value))


@pytest.mark.parametrize("name", TAKES_RECORDS)
def test_a_record_that_is_no_number_is_missing(name: str) -> None:
    for value in NO_NUMBERS:
        for hold in HELD.values():
            TAKES_RECORDS[name](hold(value))
    for value in NO_NUMBERS[:3]:
        assert lb.exact_sum([5, value, 7], bounds=(0, 10)).values == 12


@pytest.mark.parametrize("name", SCORES)
def test_a_score_that_is_no_number_is_refused_and_not_shown(name: str) -> None:
    for value in NO_NUMBERS:
        for hold in HELD.values():
            with pytest.raises(lb.ParameterError, match="number") as refused:
                SCORES[name](hold(value))
            assert repr(value) not in str(refused.value)
            assert refused.value.__cause__ is None


def test_one_value_of_snapping_is_a_number_or_missing() -> None:
    for value in NUMBERS + MISSING:
        BUILT["Snapping"](epsilon=1).release(value)


def test_counts_are_exact_numbers() -> None:
    for value in [*MISSING, *NO_NUMBERS, 1.5, Decimal(1)]:
        for hold in HELD.values():
            with pytest.raises(lb.ParameterError, match="values of Counts must be"):
                lb.Counts(items=["a", "b", "c"], values=hold(value))
