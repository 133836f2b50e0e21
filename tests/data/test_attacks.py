"""Ways of counting that one person's row once changed, found by an attack."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lastbit as lb
from lastbit.data.duckdb.relation import ColumnSelection
from lastbit.data.files.open_table import open_table


@pytest.mark.parametrize("unit", [3, 1 << 62, -(1 << 62)])
def test_a_stream_is_read_once_whoever_is_in_it(unit: int) -> None:
    table = pa.table({"u": pa.array([1, 2, unit], pa.int64()), "i": pa.array([1] * 3, pa.int64())})
    connection = duckdb.connect()
    relation = connection.from_arrow(pa.RecordBatchReader.from_batches(table.schema, table.to_batches()))
    assert lb.count(relation, by="i", unit="u", domain=[1, 2]).values.tolist() == [3, 0]


@pytest.mark.parametrize("rows", [[None, None], [None, "flu"], [1, 2], [1, "flu"], ["flu", b"x"]])
def test_the_categories_of_rows_decide_nothing(rows: list[Any]) -> None:
    frame = pd.DataFrame({"i": pd.Series(rows, dtype=object).astype("category"), "u": [1, 2]})
    assert lb.count(frame, by="i", unit="u", domain=["flu"]).values.tolist() == [rows.count("flu")]


@pytest.mark.parametrize("rows", [[1, 2], [1, 2.5]])
def test_weights_are_no_categories(rows: list[Any]) -> None:
    frame = pd.DataFrame({"i": ["a", "a"], "w": pd.Series(rows, dtype=object).astype("category")})
    with pytest.raises(lb.ParameterError, match="weights must be numbers"):
        lb.count(frame, by="i", domain=["a"], weights="w", bounds=(0, 9))


@pytest.mark.parametrize("long", [2, 1 << 62])
def test_durations_of_arrow_are_refused_by_duckdb_whatever_they_are(long: int) -> None:
    table = pa.table({"u": pa.array([1, long], pa.duration("s")), "i": ["a"] * 2})
    with pytest.raises(lb.ParameterError):
        lb.count(duckdb.connect().from_arrow(table), by="i", unit="u", domain=["a"])


@pytest.mark.parametrize("resolution", ["1", "1/4", "2"])
def test_sums_of_weights_know_their_grid(resolution: str) -> None:
    frame = pd.DataFrame({"i": ["a", "a"], "u": [1, 2], "w": [3, 4]})
    sums = lb.count(frame, by="i", unit="u", domain=["a"], weights="w", bounds=(0, 8), resolution=resolution)
    mechanism = lb.DiscreteLaplace.of(sums, epsilon=1)
    assert mechanism.resolution == Fraction(resolution)
    noisy = mechanism.release(sums)
    assert noisy.rate == mechanism.rate
    assert noisy.above == (1 if resolution == "2" else 0)


def test_a_parquet_file_is_that_file_and_no_pattern(tmp_path: Path) -> None:
    folder = tmp_path / "u=5"
    folder.mkdir()
    for name, first in (("v.parquet", 1), ("w*.parquet", 10), ("wx.parquet", 20), ("[a].parquet", 30)):
        pq.write_table(pa.table({"u": [first, first + 1, first + 2], "i": [1, 1, 1]}), folder / name)
        rows = open_table(str(folder / name), ColumnSelection(("i", "u"))).relation.project("u").fetchall()
        assert sorted(rows) == [(first,), (first + 1,), (first + 2,)]
