"""`count` on every engine that runs in this process: the same exact numbers from all."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lastbit as lb
from tests.data.cases import CASES, DIAGNOSES, TABLE, count_pair_by_pair


def duckdb_relation(table: pa.Table) -> Any:
    return duckdb.connect().from_arrow(table)


def pandas_frame(table: pa.Table) -> pd.DataFrame:
    return table.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)


ENGINES: dict[str, Callable[[pa.Table], Any]] = {
    "pandas": pandas_frame,
    "polars": pl.from_arrow,
    "polars lazy": lambda table: pl.from_arrow(table).lazy(),
    "pyarrow": lambda table: table,
    "duckdb": duckdb_relation,
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("engine", ENGINES)
def test_the_same_numbers_on_every_engine(engine: str, case: str) -> None:
    arguments, values, sensitivity, monotone = CASES[case]
    counts = lb.count(ENGINES[engine](TABLE), **arguments)
    assert list(counts.values) == values
    assert (counts.sensitivity, counts.monotone) == (sensitivity, monotone)


@pytest.mark.parametrize("case", CASES)
def test_the_same_numbers_pair_by_pair(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Units with few items, and units that are whole numbers, are counted in faster ways. Others need this one."""
    count_pair_by_pair(monkeypatch)
    arguments, values, *_ = CASES[case]
    assert list(lb.count(duckdb_relation(TABLE), **arguments).values) == values


def test_items_keep_the_order_of_the_domain() -> None:
    assert lb.count(TABLE, by="diagnosis", domain=DIAGNOSES).items == tuple(DIAGNOSES)
    product = lb.count(TABLE, by=["ward", "diagnosis"], domain=[range(2), ["b", "a"]])
    assert product.items == ((0, "b"), (0, "a"), (1, "b"), (1, "a"))


def test_a_domain_from_a_file_and_from_a_column(tmp_path: Any) -> None:
    path = tmp_path / "diagnoses.txt"
    path.write_text("gout\nflu\n\ncold\nflu\n", encoding="utf-8")
    column = ["gout", "flu", None, "cold", "flu"]
    domains = [
        path,
        str(path),
        pd.Series(column),
        pl.Series(column),
        pa.chunked_array([column]),
        pl.DataFrame({"name": column}),
        pl.LazyFrame({"name": column}),
        duckdb_relation(pa.table({"name": column})),
    ]
    for domain in domains:
        counts = lb.count(TABLE, by="diagnosis", unit="patient", domain=domain)
        assert (counts.items, counts.values.tolist()) == (tuple(DIAGNOSES), [0, 2, 2])


def test_dates_and_truths_from_text() -> None:
    table = pl.DataFrame({"day": ["2026-01-01", "2026-01-02"], "well": [True, False]}).with_columns(
        pl.col("day").str.to_date()
    )
    assert lb.count(table, by="day", domain=["2026-01-02", "2026-01-03"]).values.tolist() == [1, 0]
    assert lb.count(table, by="well", domain=["true", "false"]).values.tolist() == [1, 1]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no domain": ({"by": "diagnosis"}, "domain must be given: the items .* have to be public"),
    "empty domain": ({"by": "diagnosis", "domain": []}, "at least one item"),
    "a set": ({"by": "diagnosis", "domain": {"flu"}}, "must have an order"),
    "missing file": ({"by": "diagnosis", "domain": "nowhere.txt"}, "nowhere.txt: No such file"),
    "wrong type": ({"by": "diagnosis", "domain": range(3)}, "domain must hold text, as the column 'diagnosis' does"),
    "text for numbers": ({"by": "ward", "domain": ["one"]}, "domain must hold whole numbers"),
    "no such column": ({"by": "diagnose", "domain": ["flu"]}, "no column 'diagnose': the table has patient, diagnosis"),
    "twice": ({"by": "ward", "unit": "ward", "domain": [1]}, "must be different columns"),
    "one domain for two": ({"by": ["ward", "diagnosis"], "domain": [[1]]}, "a list of 2 domains"),
    "other columns": ({"by": ["ward", "diagnosis"], "domain": {"ward": [1]}}, "one entry for each of ward, diagnosis"),
    "bounds alone": ({"by": "ward", "domain": [1], "bounds": (0, 1)}, "bounds and missing are for weights"),
    "weights alone": ({"by": "ward", "domain": [1], "weights": "days"}, "weights need public bounds"),
    "bounds off the grid": (
        {"by": "ward", "domain": [1], "weights": "days", "bounds": (0, "1/2")},
        "resolution must divide",
    ),
    "bounds reversed": ({"by": "ward", "domain": [1], "weights": "days", "bounds": (2, 1)}, "a lower and an upper one"),
    "bounds of nothing": (
        {"by": "ward", "domain": [1], "weights": "days", "bounds": (0, 0)},
        "a lower and an upper one",
    ),
    "bounds too wide": (
        {"by": "ward", "domain": [1], "weights": "days", "bounds": (0, 2**31 + 1)},
        "at most 2\\^31 steps",
    ),
    "weights of text": (
        {"by": "ward", "domain": [1], "weights": "diagnosis", "bounds": (0, 1)},
        "weights must be numbers",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_says_what_to_do(case: str) -> None:
    arguments, message = REFUSED[case]
    with pytest.raises(lb.ParameterError, match=message):
        lb.count(TABLE, **arguments)


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(lb.ParameterError, match="must be a table that Narwhals knows: got int"):
        lb.count(5, by="ward", domain=[1])


def test_an_engine_that_fails_does_not_quote_the_rows() -> None:
    broken = duckdb.sql("select cast(name as integer) as ward from (values ('1'), ('secret')) as t(name)")
    with pytest.raises(lb.DataError) as caught:
        lb.count(broken, by="ward", domain=[1])
    assert "ConversionException" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None


ROWS = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from(["flu", "cold", "other", None]), st.integers(-9, 9)), max_size=30
)


def tabulated(rows: list[Any]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    types = {"patient": pa.int64(), "diagnosis": pa.string(), "days": pa.int64()}
    return pa.table({name: pa.array(c, t) for (name, t), c in zip(types.items(), columns, strict=True)})


@given(ROWS, st.integers(0, 4), st.sampled_from([(0, 5), (-3, 4), (-6, -1)]))
def test_one_unit_moves_each_number_by_no_more_than_the_sensitivity(
    rows: list[Any], leaver: int, bounds: tuple[int, int]
) -> None:
    stayed = [row for row in rows if row[0] != leaver]
    for extra in ({}, {"weights": "days", "bounds": bounds}):
        arguments = {"by": "diagnosis", "unit": "patient", "domain": ["flu", "cold"], **extra}
        before, after = (lb.count(tabulated(each), **arguments) for each in (rows, stayed))
        moves = [int(a) - int(b) for a, b in zip(before.values, after.values, strict=True)]
        assert max(map(abs, moves)) <= before.sensitivity
        assert not before.monotone or min(moves) >= 0 or max(moves) <= 0


def test_units_that_cannot_be_told_apart_are_left_out() -> None:
    visits = pd.DataFrame({"patient": [["secret"], ["other"], "a"], "diagnosis": ["flu", "flu", "flu"]})
    assert lb.count(visits, by="diagnosis", unit="patient", domain=["flu"]).values.tolist() == [1]


def test_the_smallest_weight_below_zero_is_a_step_below_zero() -> None:
    # Divided first it would become zero.
    visits = pd.DataFrame({"diagnosis": ["flu"], "cost": [-5e-324]})
    counts = lb.count(visits, by="diagnosis", domain=["flu"], weights="cost", bounds=(-4, 4), resolution=2)
    assert counts.values == (-2,)


def test_a_column_that_is_there_twice_is_refused() -> None:
    frame = pd.DataFrame([["flu", "cold"]], columns=["diagnosis", "diagnosis"])
    table = pa.table([["flu"], ["cold"]], names=["diagnosis", "diagnosis"])
    for visits in (frame, table):
        with pytest.raises(lb.ParameterError, match="columns must have different names"):
            lb.count(visits, by="diagnosis", domain=["flu"])


def test_columns_of_polars_may_look_like_patterns() -> None:
    visits = pl.DataFrame({"^a.*$": ["flu"], "ab": ["cold"], "*": [1]})
    for frame in (visits, visits.lazy()):
        assert lb.count(frame, by="^a.*$", unit="*", domain=["flu", "cold"]).values.tolist() == [1, 0]


def test_an_extra_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    visits = pl.DataFrame({"diagnosis": ["flu"]})
    monkeypatch.setitem(sys.modules, "lastbit.data.memory.arrow", None)
    with pytest.raises(lb.LastbitError, match="pip install 'lastbit\\[data\\]'"):
        lb.count(visits, by="diagnosis", domain=["flu"])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"by": 0}, "by must be the name of a column"),
        ({"by": []}, "by must be the name of a column"),
        ({"by": ["item", 3]}, "by must be the name of a column"),
        ({"domain": [["a"]]}, "domain must be a list of items"),
        ({"weights": "weight", "bounds": 5}, "bounds must be a pair"),
        ({"weights": "weight", "bounds": (1, 2, 3)}, "bounds must be a pair"),
    ],
)
def test_what_a_person_may_write_wrong_is_told_in_words(wrong: dict[str, object], message: str) -> None:
    frame = pd.DataFrame({"item": ["a"], "unit": [1], "weight": [1]})
    with pytest.raises(lb.ParameterError, match=message):
        lb.count(frame, **({"by": "item", "unit": "unit", "domain": ["a"]} | wrong))


class Label(str):
    """A text that is equal to no other, as far as Python knows."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


@pytest.mark.parametrize(
    ("by", "domain", "counts"),
    [
        ("name", ["a", Label("a"), "b"], {"a": 2, "b": 1}),
        ("ward", ["7", "07", 7, 7.0, "8"], {7: 2, 8: 1}),
        ("cost", ["0.5", ".5", "5e-1", 0.5, 1], {0.5: 2, 1.0: 1}),
        ("day", ["1970-01-01", "19700101"], {datetime.date(1970, 1, 1): 2}),
    ],
)
def test_an_item_that_is_written_twice_is_one_item(by: str, domain: list[object], counts: dict[object, int]) -> None:
    """Otherwise a unit would count in both, and a bound of one item would not hold."""
    days = pa.array([0, 0, 1], pa.date32())
    other = {"name": ["a", "a", "b"], "ward": [7, 7, 8], "cost": [0.5, 0.5, 1.0], "day": days}
    frame = pa.table({"unit": [1, 2, 3], **other})
    for table in (frame, duckdb.connect().from_arrow(frame)):
        found = lb.count(table, by=by, unit="unit", domain=domain)
        assert dict(zip(found.items, found.values.tolist(), strict=True)) == counts
        assert len(found) == len(counts)


def test_of_two_forms_of_one_item_the_first_stays() -> None:
    frame = pa.table({"cost": [0.0, 1.0]})
    assert str(lb.count(frame, by="cost", domain=[-0.0, "0.0", 1]).items) == "(-0.0, 1.0)"


def test_a_number_longer_than_any_column_holds_is_in_no_row() -> None:
    frame = pa.table({"ward": [1, 2, 2]})
    for table in (frame, duckdb.connect().from_arrow(frame)):
        assert lb.count(table, by="ward", domain=[10**5000, -(1 << 128), 2]).values.tolist() == [0, 0, 2]


def test_items_at_the_ends_of_pythons_calendar_and_beyond() -> None:
    """An hour east of Greenwich the year 1 begins in the year before it, of which Python has no date."""
    day, hour = 86_400 * 10**6, 3_600 * 10**6
    ends = [-719_162 * day, 2_932_897 * day - 1]
    instants = pa.array([*ends, ends[0] - hour, ends[1] + hour], pa.int64()).view(pa.timestamp("us", "UTC"))
    frame = pa.table({"at": instants, "day": pa.array([-719_163, 2_932_897, 0, 1], pa.int32()).view(pa.date32())})
    frame = frame.append_column("moment", frame["day"].cast(pa.timestamp("us")))
    zones = [datetime.timezone(datetime.timedelta(hours=hours)) for hours in (0, 1, -1)]
    first, last = datetime.datetime.min, datetime.datetime.max
    domain = [first.replace(tzinfo=zones[1]), last.replace(tzinfo=zones[2]), first.replace(tzinfo=zones[0])]
    moments = [np.datetime64(text, "us") for text in ("0000-12-31", "10000-01-01", "-0044-03-15")]
    for table in (frame, duckdb.connect().from_arrow(frame)):
        assert lb.count(table, by="at", domain=domain).values.tolist() == [1, 1, 1]
        assert lb.count(table, by="moment", domain=moments).values.tolist() == [1, 1, 0]
