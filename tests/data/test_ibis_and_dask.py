"""Tables of Ibis and Dask: the same numbers as in memory, and no row leaves an engine that can count."""

from __future__ import annotations

import datetime
import math
import sqlite3
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final
from zoneinfo import ZoneInfo

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lastbit as lb
from lastbit.data.per_unit import per_unit
from tests.data.cases import CASES, DIAGNOSES, TABLE

# Two large libraries: one worker imports them, when a test begins.
pytestmark = pytest.mark.xdist_group("ibis and dask")


def in_duckdb(table: pa.Table) -> Any:
    import ibis

    backend = ibis.duckdb.connect(threads=1)
    backend.con.register("rows", table)
    backend.con.execute("CREATE TABLE visits AS FROM rows")
    return backend.table("visits")


def in_polars(table: pa.Table) -> Any:
    import ibis

    return ibis.polars.connect({"visits": pl.from_arrow(table)}).table("visits")


def in_this_process(table: pa.Table) -> Any:
    import ibis

    return ibis.memtable(table)


def in_dask(table: pa.Table) -> Any:
    import dask.dataframe

    whole = table.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
    return dask.dataframe.from_pandas(whole, npartitions=2)


MADE: Final[dict[str, Callable[[pa.Table], Any]]] = {
    "Ibis on DuckDB": in_duckdb,
    "Ibis on Polars": in_polars,
    "Ibis, memtable": in_this_process,
    "Dask": in_dask,
}

TEXTS: Final = ["flu", "FLU", "flu ", "", None, "a'b", 'a"b', "ä", "a\u0308", "\0", "NaN", "flu", "\U0001f600", "null"]
FLOATS: Final = [0.0, -0.0, math.nan, None, 1.5, math.inf, -math.inf, 5e-324, 1e308, 0.1, -0.0, math.nan, 2.0, 1.5]
UTC: Final = datetime.datetime(2025, 10, 26, 0, 30, tzinfo=datetime.UTC)
HOSTILE: Final = pa.table(
    {
        "text": TEXTS,
        "real": FLOATS,
        "unit": [1, 1, 2, 3, None, 5, 6, 7, 8, 9, 10, 11, 12, 1],
        # Two hours of the night when clocks are set back have one name.
        "instant": pa.array(
            [UTC + datetime.timedelta(hours=n % 3) if n % 5 else None for n in range(14)],
            pa.timestamp("us", "Europe/Berlin"),
        ),
        "moment": pa.array([datetime.datetime(2026, 1, 1, n % 3) for n in range(14)], pa.timestamp("us")),
        "truth": [n % 3 == 0 for n in range(14)],
        "day": [datetime.date(2026, 1, 1 + n % 3) for n in range(14)],
        "price": pa.array([Decimal("1.50") if n % 2 else Decimal("-0.01") for n in range(14)], pa.decimal128(10, 2)),
    }
)
DOMAINS: Final[dict[str, list[Any]]] = {
    "text": [text for text in dict.fromkeys(TEXTS) if text is not None],
    "real": [0.0, 1.5, math.inf, 5e-324, 0.1],
    "instant": [datetime.datetime(2025, 10, 26, 2, 30, fold=fold, tzinfo=ZoneInfo("Europe/Berlin")) for fold in (0, 1)],
    "moment": [datetime.datetime(2026, 1, 1, hour) for hour in range(3)],
    "truth": [True, False],
    "day": ["2026-01-01", "2026-01-02"],
    "price": ["1.5", "-0.01"],
}


@pytest.mark.parametrize("made", MADE)
def test_the_same_numbers_as_in_memory(made: str) -> None:
    table = MADE[made](TABLE)
    for name, (arguments, values, sensitivity, monotone) in CASES.items():
        counts = lb.count(table, **arguments)
        assert (name, list(counts.values)) == (name, values)
        assert (counts.sensitivity, counts.monotone) == (sensitivity, monotone)
    options: dict[str, Any] = {"of": "score", "unit": "patient", "bounds": (0, 1), "resolution": "1/4"}
    found, expected = (sorted(per_unit(each, **options).values) for each in (table, TABLE))
    assert found == expected
    hostile = MADE[made](HOSTILE)
    for by, domain in DOMAINS.items():
        if made == "Dask" and by in ("day", "price"):
            continue  # objects to pandas, of which Dask makes text
        listed, expected = ([lb.count(each, by=by, unit="unit", domain=domain)] for each in (hostile, HOSTILE))
        assert (by, listed[0].values.tolist()) == (by, expected[0].values.tolist())
        found, expected = (lb.count(each, by=by, domain=lb.UNKNOWN).highest() for each in (hostile, HOSTILE))
        assert (by, found[0], found[1].tolist()) == (by, expected[0], expected[1].tolist())


def test_an_ibis_table_is_counted_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    told = [(TABLE["ward"][i].as_py(), TABLE["diagnosis"][i].as_py()) for i in range(len(TABLE))]
    for made in (in_duckdb, in_polars):
        table = made(TABLE)
        chosen = table.filter(table.ward == 1)
        # Whoever fetches rows by Ibis comes through one of these.
        for fetching in ("to_pyarrow", "to_pyarrow_batches", "execute", "to_pandas", "to_polars"):
            monkeypatch.setattr(type(chosen), fetching, None)
        counts = lb.count(chosen, by="diagnosis", domain=DIAGNOSES)
        assert list(counts.values) == [told.count((1, item)) for item in DIAGNOSES]
        items, _ = lb.count(chosen, by="diagnosis", domain=lb.UNKNOWN).highest(1)
        assert items[0] in DIAGNOSES


def test_a_table_that_the_engine_has_a_part_of_is_fetched() -> None:
    import ibis

    table = in_duckdb(TABLE)
    told = [(TABLE["ward"][i].as_py() == 1, TABLE["diagnosis"][i].as_py()) for i in range(len(TABLE))]
    expected = [told.count((True, item)) for item in DIAGNOSES]
    joined = table.semi_join(ibis.memtable(pa.table({"ward": [1]})), "ward")
    assert list(lb.count(joined, by="diagnosis", domain=DIAGNOSES).values) == expected

    @ibis.udf.scalar.python
    def one_more(ward: int) -> int:
        return ward + 1

    made = table.filter(one_more(table.ward) == 2)
    assert list(lb.count(made, by="diagnosis", domain=DIAGNOSES).values) == expected


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Ibis to pandas
def test_of_other_engines_only_the_columns_named_are_fetched() -> None:
    import dask.dataframe
    import ibis

    asked: list[Any] = []

    def read(part: int, columns: Any = None) -> pd.DataFrame:
        asked.append(columns)
        whole = pd.DataFrame({"item": ["flu", "cold"], "unit": [part, part], "secret": ["a", "b"]})
        return whole if columns is None else whole[columns]

    meta = read(0).iloc[:0]
    asked.clear()
    frame = dask.dataframe.from_map(read, [0, 1, 2], meta=meta)
    assert lb.count(frame, by="item", unit="unit", domain=["flu", "gout"]).values.tolist() == [3, 0]
    assert asked == [["item", "unit"]] * 3

    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE visits (item TEXT, unit INTEGER, secret TEXT)")
    connection.executemany("INSERT INTO visits VALUES (?, ?, 'a')", [("flu", 1), ("flu", 1), ("Flu", 2), (None, 3)])
    backend = ibis.sqlite.from_connection(connection)
    said: list[str] = []
    connection.set_trace_callback(said.append)
    table = backend.table("visits")
    said.clear()
    assert lb.count(table, by="item", unit="unit", domain=["flu", "Flu"]).values.tolist() == [1, 1]
    assert said
    assert not [text for text in said if "secret" in text]
    connection.close()


def test_rows_of_another_type_than_dask_declares_are_refused() -> None:
    import dask.dataframe

    wards = dask.dataframe.from_pandas(pd.DataFrame({"unit": [1], "ward": [7]}), npartitions=1)
    units = dask.dataframe.from_pandas(pd.DataFrame({"unit": [1, 2], "item": ["a", "b"]}), npartitions=1)
    # Declared as whole numbers; the unit without a ward makes floats of them.
    joined = units.merge(wards, on="unit", how="left")
    with pytest.raises(lb.DataError, match=r"'ward' is declared as int64.*frame.astype\(\{'ward': \.\.\.\}\)"):
        lb.count(joined, by="ward", domain=[7])
    with pytest.raises(lb.DataError, match="'ward' is declared as int64"):
        lb.ask("count", joined, by={"ward": [7]}, unit="unit", epsilon=1)
    assert lb.count(joined.astype({"ward": "Int64"}), by="ward", domain=[7]).values.tolist() == [1]


def test_no_error_quotes_a_row() -> None:
    import dask.dataframe

    text = pa.table({"text": ["1", "a secret"]})
    broken = in_duckdb(text).mutate(ward=lambda table: table.text.cast("int64"))

    def number(part: pd.DataFrame) -> pd.DataFrame:
        return part.assign(ward=part["text"].astype(int))

    frame = dask.dataframe.from_pandas(text.to_pandas(), npartitions=1)
    meta = pd.DataFrame({"text": pd.Series(dtype="str"), "ward": pd.Series(dtype="int64")})
    for table, kind in ((broken, "ConversionException"), (frame.map_partitions(number, meta=meta), "ValueError")):
        with pytest.raises(lb.DataError) as caught:
            lb.count(table, by="ward", domain=[1])
        assert kind in str(caught.value)
        assert "secret" not in str(caught.value)
        assert caught.value.__cause__ is caught.value.__context__ is None


def test_a_domain_is_a_table_of_one_column() -> None:
    listed = pa.table({"name": ["gout", "flu", None, "flu"]})
    for made in (in_duckdb, in_this_process, in_dask):
        counts = lb.count(TABLE, by="diagnosis", unit="patient", domain=made(listed))
        assert (counts.items, counts.values.tolist()) == (("gout", "flu"), [0, 2])
        with pytest.raises(lb.ParameterError, match=r"as a table of one column: table\[\['name'\]\]"):
            lb.count(TABLE, by="diagnosis", unit="patient", domain=made(listed)["name"])
