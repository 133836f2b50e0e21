"""Tables in memory are read as files are, whatever objects they hold, and two units stay two."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lastbit as lb
from lastbit.data.duckdb.relation import ColumnSelection
from lastbit.data.duckdb.table import DuckDBTable
from lastbit.data.files.frames import open_frame_rows
from lastbit.data.object_keys import key
from lastbit.data.per_unit import rank_per_unit

LARGE: dict[str, Any] = {"unit": "patient", "epsilon": 1000}
ROWS = {"patient": ["a", "a", "b", "c"], "item": ["flu", "cold", "flu", None], "cost": [1.5, 2.0, None, 4.0]}


class Hostile:
    """It raises whatever is asked of it."""

    def __str__(self) -> str:
        raise RuntimeError("secret")

    __repr__ = __hash__ = __eq__ = __str__  # type: ignore[assignment]


HOSTILE = [
    "1", 1, 1.0, True, np.int64(1), Decimal(1), Decimal("NaN"), float("nan"), None, pd.NA, pd.NaT, "", "\0", "\x00ab",
    "\ud800", "x" * 20_000, b"1", (1, 2), [1], {}, Hostile(), datetime.date(2024, 1, 1), "2024-01-01",
    datetime.datetime(2024, 1, 1), np.datetime64("2024-01-01"), 10**400, -0.0, 0, float("inf"), 2**70,
]  # fmt: skip


FRAMES: dict[str, Callable[[Any], Any]] = {
    "pandas": lambda arrow: pd.DataFrame(ROWS),
    "pandas objects": lambda arrow: pd.DataFrame(ROWS).astype({"patient": object, "item": object}),
    "pandas categories": lambda arrow: pd.DataFrame(ROWS).astype({"patient": "category", "item": "category"}),
    "polars": lambda arrow: pl.DataFrame(ROWS),
    "polars lazy": lambda arrow: pl.DataFrame(ROWS).lazy(),
    "arrow": lambda arrow: arrow,
    "arrow dictionaries": lambda arrow: arrow.set_column(1, "item", arrow["item"].dictionary_encode()),
    "duckdb": lambda arrow: duckdb.connect().from_arrow(arrow),
    "ibis": lambda arrow: ibis.memtable(arrow),
}


@pytest.mark.parametrize("name", FRAMES)
def test_every_engine_gives_the_answer_of_a_file(name: str) -> None:
    frame = FRAMES[name](pa.table(ROWS))
    counts = lb.ask("count", frame, by={"item": ["flu", "cold"]}, **LARGE).to_frame()
    assert [round(value) for value in counts["value"]] == [2, 1]
    mean = lb.ask("mean", frame, of="cost", bounds=(0, 10), where="item = 'flu' or item is null", **LARGE)
    assert float(mean.to_frame()["value"][0]) == pytest.approx(2.75, abs=0.1)


def test_no_object_raises_and_units_are_one_where_their_normal_form_is() -> None:
    frame = pd.DataFrame({"patient": pd.Series(HOSTILE, dtype=object), "item": pd.Series(HOSTILE[::-1], dtype=object)})
    table = open_frame_rows(frame, ColumnSelection(("patient", "item")), units=["patient"])
    units = [unit for unit, _ in table.relation.fetchall()]
    forms = [key(value) for value in HOSTILE]
    # What is no UTF-8 is left out with what is missing. A long text is its digest in both.
    known = [place for place, form in enumerate(forms) if form is not None and HOSTILE[place] != "\ud800"]
    assert {place for place, unit in enumerate(units) if unit is not None} == set(known)
    for one in known:
        for other in known:
            assert (units[one] == units[other]) == (forms[one] == forms[other]), (one, other)
    # Text and a number are two people, and 1, 1.0 and Decimal(1) are one.
    assert len({units[0], units[1], units[3]}) == 3
    answer = lb.ask("count", frame, **LARGE)
    assert round(float(answer.to_frame()["value"][0])) == len({forms[place] for place in known})


@pytest.mark.parametrize("rows", [[], [1], [Hostile()], ["a", 1], [datetime.datetime(9999, 12, 31)]])
def test_a_column_of_objects_is_read_as_text_whatever_it_holds(rows: list[Any]) -> None:
    objects = pd.Series(rows, dtype=object)
    frame = pd.DataFrame({"patient": range(len(rows)), "item": objects, "day": objects})
    for options in ({"by": {"item": ["a", "1"]}}, {"month": "day", "domain": "2024-01..2024-02"}):
        lb.ask("count", frame, **options, **LARGE)
    lb.ask("sum", frame, of="item", bounds=(0, 1), **LARGE)


def test_times_too_far_away_are_missing() -> None:
    days = np.array(["2024-01-05", "200000-01-01", "NaT"], dtype="datetime64[s]")
    frame = pa.table({"patient": pa.array([1, 2, 3]), "day": pa.array(days)})
    counts = lb.ask("count", frame, month="day", domain="2024-01..2024-01", **LARGE).to_frame()
    assert [round(value) for value in counts["value"]] == [1]


def test_text_that_is_no_text_is_missing() -> None:
    wrong = pa.array([b"\xff", b"flu"], pa.binary()).view(pa.string())
    counts = lb.ask("count", pa.table({"patient": [1, 2], "item": wrong}), by={"item": ["flu"]}, **LARGE).to_frame()
    assert [round(value) for value in counts["value"]] == [1]


def test_refusals() -> None:
    frame = pd.DataFrame({"patient": [1], "item": ["flu"], "parts": [[1]]})
    with pytest.raises(lb.LastbitError, match="nothing"):
        lb.ask("count", frame, by={"nothing": ["flu"]}, **LARGE)
    with pytest.raises(lb.ParameterError, match="table names a table of a database"):
        lb.ask("count", frame, table="visits", **LARGE)
    with pytest.raises(lb.ParameterError, match="single values"):
        lb.ask("count", pl.DataFrame({"patient": [1], "parts": [[1]]}), by={"parts": ["1"]}, **LARGE)
    periods = pd.DataFrame({"patient": [1], "day": pd.period_range("2024", periods=1, freq="D")})
    with pytest.raises(lb.ParameterError, match="single values"):
        lb.ask("count", periods, by={"day": ["1"]}, **LARGE)
    with pytest.raises(lb.ParameterError, match="Narwhals knows"):
        lb.ask("count", 7, **LARGE)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"])
@pytest.mark.parametrize("weight", ["float32", "float64", "int64", "object"])
def test_rows_in_memory_are_added_up_as_in_the_engine(kind: str, weight: str) -> None:
    """Rows go straight to the sum where the engine would only hand them on, and to the engine where it changes them."""
    name = kind.replace("uint", "UInt").replace("int", "Int")  # which may be missing
    units = pd.array([1, 2, None, 1, 0, 100, 2] * 40, name)
    numbers = pd.Series([1.5, -3.0, 7.0, None, 1e9, 2.25, 0.0] * 40)
    if weight == "int64":
        numbers = numbers.fillna(4).astype(weight)
    elif weight == "object":
        numbers = numbers.map(lambda value: "many" if value == 2.25 else str(value)).astype(object)
    else:
        numbers = numbers.astype(weight)
    table = open_frame_rows(pd.DataFrame({"unit": units, "cost": numbers}), ColumnSelection(("unit",), "cost"))
    assert (table.held is None) == (weight == "object")
    ways: tuple[tuple[Any, int | None], ...] = (("mean", None), ("total", 3), ("any", 2))
    for per, missing in ways:
        rule: Any = "leave-out" if missing is None else missing
        both = [
            rank_per_unit(each, of="cost", unit="unit", per=per, bounds=(-1, 5), resolution="1/4", missing=rule)
            for each in (table, replace(table, held=None))
        ]
        assert sorted(both[0].values) == sorted(both[1].values)
        assert len(both[0]) == 4 - (weight == "object" and missing is None)
    narrow = table.transform(lambda rows: rows.filter("unit < 2"))
    assert DuckDBTable(table.relation, table).count_units("unit") == 4
    assert DuckDBTable(narrow.relation, narrow).count_units("unit") == 2
