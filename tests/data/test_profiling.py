"""What each person has in the columns of a table: the same in every engine, and for one person alone."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lastbit as lb
from lastbit.data.duckdb.profile import _floor_of_mean
from lastbit.data.profiling import TableProfile, grid_of, profile_units
from lastbit.errors import LastbitError, ParameterError

ROWS: dict[str, list[Any]] = {
    "person": [1, 1, 2, 3, 3, None],
    "number": [10.5, 20.0, None, float("nan"), -3.25, 7.0],
    "whole": [1, 2, 3, 2**62, -(2**62), 6],
    "day": [datetime.datetime(2024, 1, 1), datetime.datetime(2024, 2, 1, 23, 59), None,
            datetime.datetime(1969, 12, 31, 23), datetime.datetime(1960, 1, 1), datetime.datetime(2024, 1, 1)],
    "text": ["a", None, "b", None, None, "x"],
}  # fmt: skip
ENGINES: dict[str, Callable[[pa.Table], Any]] = {
    "arrow": lambda table: table,
    "pandas": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.from_arrow,
    "polars lazy": lambda table: pl.DataFrame(pl.from_arrow(table)).lazy(),
    "duckdb": duckdb.from_arrow,
}


def profile(table: Any, **options: Any) -> TableProfile:
    return profile_units(table, unit="person", numbers={"number": 1, "whole": 1}, dates=["day"], others=["text"])


def people_of(found: TableProfile) -> list[tuple[int, ...]]:
    """Return all that is known of each person, in one order."""
    arrays = [found.rows, *(array for column in found.columns.values() for array in (column.present, column.steps))]
    return sorted(zip(*(array.tolist() for array in arrays), strict=True))


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_says_the_same(engine: str) -> None:
    found = profile(ENGINES[engine](pa.table(ROWS)))
    fine = int(1 / grid_of(1))
    assert people_of(found) == sorted([
        (2, 2, 15 * fine + fine // 4, 2, 3 * fine // 2, 2, (datetime.date(2024, 2, 1) - datetime.date(1970, 1, 1)).days,
         1, 0),
        (1, 0, 0, 1, 3 * fine, 0, 0, 1, 0),
        (2, 1, -13 * fine // 4, 2, 0, 2, -1, 0, 0),
    ])  # fmt: skip
    assert found.missing("number").values.tolist() == [1, 1]
    assert found.missing("text").values.tolist() == [1, 1]
    assert sorted((found.numbers("number") * grid_of(1)).tolist()) == [Fraction(-13, 4), Fraction(61, 4)]


HOSTILE: dict[str, list[pa.Array]] = {
    "number": [
        pa.array([float("nan"), float("inf"), float("-inf"), 1.7976931348623157e308, 5e-324, -0.0, None]),
        pa.array([2**63 - 1, -(2**63), 0, None]),
        pa.array([2**64 - 1, 0, None], pa.uint64()),
        pa.array([3.4028235e38, 1e-45, float("nan")], pa.float32()),
    ],
    "day": [
        pa.array([2**31 - 1, -(2**31), 0, None], pa.int32()).view(pa.date32()),
        pa.array([2**63 - 1, -(2**63), 0, None], pa.int64()).view(pa.timestamp("us")),
        pa.array([2**63 - 1, -(2**63), 0, None], pa.int64()).view(pa.timestamp("ns", "Europe/Berlin")),
    ],
}
"""Numbers near the ends of every type, as one more person brings them."""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_person_with_hostile_rows_changes_nothing_of_others_and_raises_nothing(kind: str, engine: str) -> None:
    for column in HOSTILE[kind]:
        calm = [value for value in (1, 0, 3) for _ in range(2)]
        zero = pa.array(calm, pa.int32() if column.type.bit_width == 32 else pa.int64())
        small = zero.view(column.type) if kind == "day" else zero.cast(column.type)
        both = pa.concat_arrays([small, column])
        people = pa.array([1, 1, 2, 2, 3, 3, *[9] * len(column)])
        options: dict[str, Any] = {"dates": [kind]} if kind == "day" else {"numbers": {kind: "1/1000"}}
        before, after = (
            people_of(profile_units(ENGINES[engine](pa.table({"person": who, kind: cells})), unit="person", **options))
            for who, cells in ((people[:6], small), (people, both))
        )
        assert len(after) == 4
        assert set(before) <= set(after)


def test_a_column_of_another_type_is_refused_and_a_profile_is_never_written_down() -> None:
    table = pa.table(ROWS)
    with pytest.raises(ParameterError, match="dates or times"):
        profile_units(table, unit="person", dates=["text"])
    with pytest.raises(ParameterError, match="must be numbers"):
        profile_units(table, unit="person", numbers={"text": 1})
    found = profile(table)
    assert "15" not in repr(found)
    with pytest.raises(LastbitError, match="private"):
        found.__reduce__()


def test_the_neighbours_of_a_profile_differ_by_one_person_in_every_part() -> None:
    """One person who comes moves the people by one, one of the two numbers of missing values, and one number."""
    table = pa.table(ROWS)
    with_all, without = profile(table), profile(table.filter(pa.compute.not_equal(table["person"], 3)))
    assert len(with_all.rows) - len(without.rows) == 1
    for name in with_all.columns:
        moved = np.abs(with_all.missing(name).values - without.missing(name).values)
        assert moved.sum() <= 1
        assert 0 <= len(with_all.numbers(name)) - len(without.numbers(name)) <= 1


def test_the_library_has_the_same_name_for_it() -> None:
    people = pd.DataFrame({"person": range(500), "age": range(500)})
    release = lb.describe(people, unit="person", epsilon=1000)
    row = release.to_frame().iloc[0]
    assert (row["column"], row["holds"], row["missing"]) == ("age", "numbers", 0)
    assert abs(row["median"] - 250) <= 2


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_a_description_of_a_frame_leaves_rows_out_as_one_of_a_file_does(engine: str) -> None:
    columns = {"who": [*range(400)] * 2, "age": [20] * 400 + [60] * 400, "word": ["a", "b"] * 400}
    frame = ENGINES[engine](pa.table(columns))
    asked: dict[str, Any] = {"unit": "who", "where": "age >= 45", "epsilon": 1000, "delta": "1e-6"}
    release = lb.describe(frame, **asked)
    assert release.to_frame()["median"].iloc[0] == 60
    items = release.published["word: items"].to_frame().sort_values("item")
    assert [*zip(items["item"], items["value"].round(), strict=True)] == [("a", 200), ("b", 200)]
    with pytest.raises(ParameterError, match="no column 'cost'"):
        lb.describe(frame, **{**asked, "where": "cost > 1"})


def test_the_mean_of_a_person_is_a_floor_in_wide_integers_and_in_short_ones() -> None:
    pairs = [(total * sign + by, count) for total in (0, 7, 2**60, 2**62, 2**62 + 1, 3 * 2**60) for sign in (-1, 1)
             for by in (-1, 0, 1) for count in (3, 5, 1000) if abs(total) < count * 2**60]  # fmt: skip
    connection = duckdb.connect()
    connection.execute("CREATE TABLE sums (total HUGEINT, count BIGINT)")
    connection.executemany("INSERT INTO sums VALUES (?, ?)", pairs)
    sql = _floor_of_mean("total", "count", -(2**60))
    assert [row[0] for row in connection.execute(f"SELECT {sql} FROM sums").fetchall()] == [
        total // count for total, count in pairs
    ]


@pytest.mark.parametrize(
    ("source", "options", "words"),
    [
        ("people.csv", {"numbers": ["age"]}, "needs --unit"),
        ("people.csv", {"unit": "who", "numbers": ["cost"]}, "no column 'cost'"),
        ("people.csv", {"unit": "cost", "numbers": ["age"]}, "no column 'cost'"),
        ("people.csv", {"unit": "who"}, "needs to know which columns hold numbers"),
        ("frame", {"unit": "who", "of": ["cost"]}, "no column 'cost'"),
    ],
)
def test_what_cannot_be_described_is_refused_and_nothing_is_charged(
    source: str, options: dict[str, Any], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("who,age\n1,5\n")
    lb.Ledger("budget.db").create("clinic", epsilon=1)
    table = pd.DataFrame({"who": [1], "age": [5]}) if source == "frame" else source
    with pytest.raises(ParameterError, match=words):
        lb.describe(table, epsilon=1, ledger="budget.db", dataset="clinic", **options)
    assert lb.Ledger("budget.db").account("clinic").spent == 0


@pytest.mark.parametrize("rows", ["", "1,5\n", "".join(f"{who},abc\n" for who in range(500))])
def test_an_empty_table_one_person_and_text_for_numbers_are_answered_and_charged(
    rows: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(f"who,age\n{rows}")
    lb.Ledger("budget.db").create("clinic", epsilon=1)
    release = lb.describe("people.csv", unit="who", numbers=["age"], epsilon=1, ledger="budget.db", dataset="clinic")
    row = release.to_frame().iloc[0]
    assert row["missing_low"] <= rows.count("abc") <= row["missing_high"]
    assert lb.Ledger("budget.db").account("clinic").spent == 1
