"""Items that nobody listed: every engine finds the same items in the same order, and fetches no more than asked for."""

from __future__ import annotations

import datetime
import sqlite3
import uuid
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import lastbit as lb
from lastbit.data.duckdb.relation import ColumnSelection, OpenTable
from lastbit.data.files.open_table import open_table
from lastbit.values.contribution_bound import one_key
from lastbit.values.unlisted import sort_key

ENGINES: dict[str, Callable[[pa.Table], Any]] = {
    "pandas": lambda table: table.to_pandas(),
    "pandas on Arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "Polars": pl.from_arrow,
    "Polars, lazy": lambda table: pl.from_arrow(table).lazy(),
    "PyArrow": lambda table: table,
    "DuckDB on Arrow": lambda table: duckdb.connect().from_arrow(table),
    "DuckDB on Arrow, read again": lambda table: read_again(lambda engine: engine.from_arrow(table)),
    "DuckDB": lambda table: in_duckdb(table, duckdb.connect()),
    "DuckDB, read again": lambda table: read_again(lambda engine: in_duckdb(table, engine)),
    "DuckDB, collated": lambda table: in_duckdb(
        table, duckdb.connect(config={"default_collation": "nocase.noaccent", "default_order": "desc"})
    ),
}


def in_duckdb(table: pa.Table, connection: Any) -> Any:
    connection.register("given", table)
    connection.execute("create table kept as select * from given")
    return connection.table("kept")


def read_again(made: Callable[[Any], Any]) -> OpenTable:
    engine = duckdb.connect()
    relation = made(engine)
    return OpenTable(relation, engine, again=lambda: relation)


def stored(kind: pa.DataType) -> Callable[[list[Any]], pa.Array]:
    whole = pa.int32() if kind.bit_width == 32 else pa.int64()
    return lambda values: pa.array(values, whole).view(kind)


def plain(kind: pa.DataType) -> Callable[[list[Any]], pa.Array]:
    return lambda values: pa.array(values, kind)


def bytes_as_text(values: list[Any]) -> pa.Array:
    return pa.Array.from_buffers(pa.string(), len(values), pa.array(values, pa.binary()).buffers())


def uuids(values: list[Any]) -> pa.Array:
    return pa.ExtensionArray.from_storage(pa.uuid(), pa.array(values, pa.binary(16)))


NIGHT = 1_761_438_600
"""Half past two in Berlin for the first time of that night, in seconds."""
FIRST_DAY, LAST_DAY = -719_162, 2_932_896
DAY = 86_400 * 10**6


def instant(seconds: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC)


Columns = dict[str, tuple[Callable[[list[Any]], Any], list[tuple[Any, Any]], list[Any], tuple[str, ...]]]
COLUMNS: Columns = {
    # How it is made; values and their items, in order; values that are no item, or another form of the first; engines.
    "text": (
        plain(pa.string()),
        [(text, text) for text in ("", " a", "B", "a", "a ", "z", "Ä", "ä", "\ufffd", "\U0001f9a0")],
        [None],
        tuple(ENGINES),
    ),
    "text that is no UTF-8": (
        bytes_as_text,
        [(b"B", "B"), (b"a", "a"), ("ä".encode(), "ä")],
        [b"\xff", b"a\xff", b"\xed\xa0\x80", None],
        ("PyArrow", "DuckDB on Arrow"),
    ),
    "dictionaries": (
        lambda values: pa.array(values, pa.string()).dictionary_encode(),
        [("", ""), ("B", "B"), ("a", "a"), ("ä", "ä")],
        [None],
        tuple(engine for engine in ENGINES if not engine.startswith("Polars")),
    ),
    "bytes": (plain(pa.binary()), [(b, b) for b in (b"", b"\0", b"a", b"\xff")], [None], tuple(ENGINES)),
    "whole": (plain(pa.int64()), [(n, n) for n in (-(2**63), -1, 0, 7, 2**63 - 1)], [None], tuple(ENGINES)[1:]),
    "unsigned": (plain(pa.uint64()), [(n, n) for n in (0, 1, 2**63, 2**64 - 1)], [None], tuple(ENGINES)[1:]),
    "floats": (
        plain(pa.float64()),
        [(x, x) for x in (float("-inf"), -1.5, -5e-324, 0.0, 5e-324, 1e300, float("inf"))],
        [float("nan"), None],
        tuple(ENGINES),
    ),
    "short floats": (plain(pa.float32()), [(x, x) for x in (-1.5, 0.0, 0.25)], [float("nan"), None], tuple(ENGINES)),
    "decimals": (
        plain(pa.decimal128(38, 3)),
        [(Decimal(text), Decimal(text)) for text in ("-1.005", "0", "1.5", "10", "9" * 35)],
        [None],
        tuple(ENGINES)[1:],
    ),
    "truths": (plain(pa.bool_()), [(False, False), (True, True)], [None], tuple(ENGINES)),
    "dates": (
        stored(pa.date32()),
        [
            (FIRST_DAY, datetime.date(1, 1, 1)),
            (-1, datetime.date(1969, 12, 31)),
            (0, datetime.date(1970, 1, 1)),
            (LAST_DAY, datetime.date(9999, 12, 31)),
        ],
        [FIRST_DAY - 1, LAST_DAY + 1, 2**30, None],
        tuple(ENGINES)[1:],
    ),
    "moments": (
        stored(pa.timestamp("us")),
        [
            (FIRST_DAY * DAY, datetime.datetime(1, 1, 1)),
            (-1, datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999)),
            (1, datetime.datetime(1970, 1, 1, 0, 0, 0, 1)),
            ((LAST_DAY + 1) * DAY - 1, datetime.datetime.max),
        ],
        [FIRST_DAY * DAY - 1, (LAST_DAY + 1) * DAY, None],
        tuple(ENGINES),
    ),
    "moments in nanoseconds": (
        stored(pa.timestamp("ns")),
        [
            (-1000, datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999)),
            (0, datetime.datetime(1970, 1, 1)),
            (10**18, datetime.datetime(2001, 9, 9, 1, 46, 40)),
        ],
        [1, -1, 999, None],
        tuple(ENGINES),
    ),
    "instants": (
        stored(pa.timestamp("us", "Europe/Berlin")),
        [
            (FIRST_DAY * DAY, datetime.datetime(1, 1, 1, tzinfo=datetime.UTC)),
            (NIGHT * 10**6, instant(NIGHT)),
            (NIGHT * 10**6 + 1, instant(NIGHT) + datetime.timedelta(microseconds=1)),
            ((NIGHT + 3600) * 10**6, instant(NIGHT + 3600)),
        ],
        [FIRST_DAY * DAY - 1, (LAST_DAY + 1) * DAY, None],
        tuple(ENGINES),
    ),
    "times of the day": (
        stored(pa.time64("us")),
        [
            (0, datetime.time(0)),
            (1, datetime.time(0, 0, 0, 1)),
            (DAY - 1, datetime.time(23, 59, 59, 999_999)),
        ],
        [None],
        tuple(ENGINES),
    ),
    "spans": (
        stored(pa.duration("us")),
        [(n, datetime.timedelta(microseconds=n)) for n in (-(10**15), -1, 0, 1, 10**15)],
        [None],
        tuple(engine for engine in ENGINES if not engine.startswith("DuckDB on Arrow")),
    ),
    "UUIDs": (
        uuids,
        [(uuid.UUID(int=n).bytes, uuid.UUID(int=n)) for n in (0, 1, 1 << 127, (1 << 128) - 1)],
        [None],
        ("PyArrow",),
    ),
}


def rows_of(name: str) -> tuple[pa.Table, list[Any], list[int]]:
    """Units in items, last item first; every third item has one unit more. What must be found, in order."""
    make, items, strange, _ = COLUMNS[name]
    twice = [place % 3 == 1 for place in range(len(items))]
    values, units = [], []
    for place, (value, _) in reversed(list(enumerate(items))):
        for unit in range(2 + twice[place]):
            values += [value, value]
            units += [unit, unit]
    values += strange
    units += [9] * len(strange)
    found = [(item, 3) for (_, item), more in zip(items, twice, strict=True) if more]
    found += [(item, 2) for (_, item), more in zip(items, twice, strict=True) if not more]
    table = pa.table({"unit": pa.array(units, pa.int64()), "item": make(values)})
    return table, [item for item, _ in found], [count for _, count in found]


def exactly(found: Any) -> tuple[list[Any], list[int]]:
    items, steps = found
    assert steps.dtype == np.int64
    return [(type(item), item) for item in items], steps.tolist()


@pytest.mark.parametrize(("name", "engine"), [(name, engine) for name in COLUMNS for engine in COLUMNS[name][3]])
def test_the_same_items_in_the_same_order_on_every_engine(name: str, engine: str) -> None:
    table, items, counts = rows_of(name)
    frame = ENGINES[engine](table)
    for most in (None, 0, 1, len(items) - 1, len(items) + 1):
        found = lb.count(frame, by="item", unit="unit", domain=lb.UNKNOWN).highest(most)
        assert exactly(found) == ([(type(item), item) for item in items[:most]], counts[:most])
    single = lb.count(frame, by="item", domain=lb.UNKNOWN)
    assert single.most_items == 1  # of one row
    rows = single.highest()
    assert exactly(rows) == ([(type(item), item) for item in items], [2 * count for count in counts])


TABLE = pa.table(
    {
        "unit": pa.array([1, 1, 1, 2, 2, 3, 3, None, 4, 5], pa.int64()),
        "word": pa.array(["b", "b", "a", "a", "B", "", None, "a", "ä", "c"]),
        "size": pa.array([-0.0, 0.0, 1.0, 0.0, 2.0, -0.0, 1.0, 0.0, float("nan"), None]),
        "days": pa.array([3, 4, 1, 2, 2, None, 9, 9, 2**40, -5], pa.int64()),
    }
)


@pytest.mark.parametrize("engine", ENGINES)
def test_minus_zero_nulls_and_products(engine: str) -> None:
    frame = ENGINES[engine](TABLE)
    sizes = lb.count(frame, by="size", unit="unit", domain=lb.UNKNOWN)
    assert exactly(sizes.highest()) == ([(float, 0.0), (float, 1.0), (float, 2.0)], [3, 2, 1])
    assert str(sizes.highest()[0][0]) == "0.0"
    both = lb.count(frame, by=["size", "word"], unit="unit", domain=lb.UNKNOWN)
    pairs = [(0.0, ""), (0.0, "a"), (0.0, "b"), (1.0, "a"), (2.0, "B")]
    assert exactly(both.highest()) == ([(tuple, pair) for pair in pairs], [1] * 5)
    assert both.highest(2)[0] == tuple(pairs[:2])
    turned = lb.count(frame, by=["word", "size"], unit="unit", domain=lb.UNKNOWN).highest()[0]
    assert turned == (("", 0.0), ("B", 2.0), ("a", 0.0), ("a", 1.0), ("b", 0.0))


@pytest.mark.parametrize("engine", ENGINES)
def test_sums_of_weights(engine: str) -> None:
    frame = ENGINES[engine](TABLE)
    options: dict[str, Any] = {"by": "word", "domain": lb.UNKNOWN, "weights": "days", "bounds": (0, 5)}
    # Unit 1 brings 3 + 4 -> 5 for b. A null counts 0, and an item whose sum is 0 does not occur.
    sums = lb.count(frame, unit="unit", **options)
    assert exactly(sums.highest()) == ([(str, "b"), (str, "ä"), (str, "a"), (str, "B")], [5, 5, 3, 2])
    assert (sums.sensitivity, sums.resolution, sums.most_items) == (5, 1, None)
    rows = lb.count(frame, **options).highest(2)
    assert exactly(rows) == ([(str, "a"), (str, "b")], [8, 7])
    halves = lb.count(frame, unit="unit", **{**options, "bounds": (1, 6), "resolution": "1/2"})
    assert (halves.sensitivity, str(halves.resolution)) == (6, "1/2")
    assert exactly(halves.highest(2)) == ([(str, "b"), (str, "ä")], [12, 12])
    with pytest.raises(lb.ParameterError, match="bounds must not go below zero"):
        lb.count(frame, unit="unit", **{**options, "bounds": (-1, 5)})


@pytest.mark.parametrize("engine", ENGINES)
def test_a_table_without_rows(engine: str) -> None:
    frame = ENGINES[engine](TABLE.slice(0, 0))
    for by in ("word", "size", ["word", "days"]):
        for more in ({}, {"unit": "unit"}, {"unit": "unit", "most_items": 1}):
            assert exactly(lb.count(frame, by=by, domain=lb.UNKNOWN, **more).highest(3)) == ([], [])


def units_in(rows: dict[int, str], engine: str, most: int | None, **options: Any) -> Any:
    units = [unit for unit, text in rows.items() for _ in text]
    table = pa.table({"unit": pa.array(units, pa.int64()), "item": [each for text in rows.values() for each in text]})
    return lb.count(ENGINES[engine](table), by="item", unit="unit", most_items=most, **options)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_unit_stays_in_few_items_by_a_rule_that_looks_at_nobody_else(engine: str) -> None:
    # Each unit begins with another item, so that no engine numbers the items of one alike with and without the others.
    rows = {unit: ("abcdefgh" * 2)[unit % 7 :][: unit % 8 + 1] * 2 for unit in range(9, 18)}

    def found(rows: dict[int, str], most: int | None, **options: Any) -> dict[Any, int]:
        counts = units_in(rows, engine, most, **options)
        if isinstance(counts, lb.Counts):
            return dict(zip(counts.items, counts.values.tolist(), strict=True))
        items, steps = counts.highest(99)  # a number: with it fewer units may be counted
        return dict(zip(items, steps.tolist(), strict=True))

    for options in (
        {"domain": lb.UNKNOWN},
        {"domain": list("hgfedcbaz")},
        {"domain": [*"abc", *map(str, range(1100))]},
    ):
        allowed = set("abcdefgh") if options["domain"] is lb.UNKNOWN else set(options["domain"])
        with one_key(3):
            together = found(rows, 3, **options)
            alone = [found({unit: text}, 3, **options) for unit, text in rows.items()]
        # What is there together is what each unit has alone: no unit changes the items of another.
        for item in allowed | set(together):
            assert together.get(item, 0) == sum(each.get(item, 0) for each in alone)
        # Items outside of the domain do not use up the bound.
        for (_, text), each in zip(rows.items(), alone, strict=True):
            assert sum(each.values()) == min(3, len(set(text) & allowed))
        # A bound that nobody reaches changes nothing.
        assert found(rows, 8, **options) == found(rows, None, **options)
    keys = set()
    for key in range(8):
        with one_key(key):
            keys.add(tuple(sorted(found({0: "abcdefgh"}, 3, domain=lb.UNKNOWN))))
    assert len(keys) > 1, "the key decides nothing"
    with one_key(3):
        assert len(found(dict.fromkeys(range(20), "abcdefgh"), 1, domain=lb.UNKNOWN)) > 1, "the unit decides nothing"


def test_the_key_is_drawn_for_each_count() -> None:
    rows = dict.fromkeys(range(8), "abcdefghijklmnop")
    tables = [units_in(rows, "PyArrow", 1, domain=list("abcdefghijklmnop")).values.tolist() for _ in range(20)]
    assert len(set(map(tuple, tables))) > 1  # equal with probability below 16^-100


@pytest.mark.parametrize("engine", ENGINES)
def test_weights_under_a_bound(engine: str) -> None:
    options: dict[str, Any] = {"unit": "unit", "most_items": 1, "weights": "days", "bounds": (0, 5)}
    for domain in (lb.UNKNOWN, ["b", "a", "B", "", "ä", "c"]):
        counts = lb.count(ENGINES[engine](TABLE.slice(0, 3)), by="word", domain=domain, **options)
        assert counts.most_items == 1
        values = counts.highest(9)[1] if isinstance(counts, lb.Unlisted) else counts.values
        # Unit 1 stays in b with 3 + 4 -> 5, or in a with 1.
        assert sorted(value for value in values.tolist() if value) in ([5], [1])


def test_a_bound_makes_the_noise_of_all_items_smaller() -> None:
    bounded = units_in({1: "abc", 2: "a"}, "PyArrow", 2, domain=list("abcde"))
    free = units_in({1: "abc", 2: "a"}, "PyArrow", None, domain=list("abcde"))
    assert (bounded.total, free.total) == (2, 5)
    assert repr(bounded) == "<Counts: 5 items, sensitivity 1, monotone, at most 2 items a unit>"
    assert lb.DiscreteLaplace.of(bounded, epsilon=1) == lb.DiscreteLaplace(epsilon=1, sensitivity=2)
    assert lb.DiscreteGaussian.of(bounded, rho=1) == lb.DiscreteGaussian(rho=1, squared_sensitivity=2)
    with pytest.raises(lb.ParameterError, match="2 in all"):
        lb.DiscreteLaplace(epsilon=1).release(bounded)
    assert units_in({1: "abc"}, "PyArrow", 9, domain=list("abcde")).total == 5
    replaced = lb.Counts(items=list("abcde"), values=[0] * 5, adjacency="replace", most_items=2)
    assert replaced.total == 4


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no unit": ({"most_items": 2, "domain": lb.UNKNOWN}, "most_items needs a unit"),
    "no items": ({"unit": "unit", "most_items": 0, "domain": lb.UNKNOWN}, "most_items must be"),
    "bounds without weights": ({"domain": lb.UNKNOWN, "bounds": (0, 1)}, "bounds and missing are for weights"),
    "half unknown": ({"by": ["word", "size"], "domain": [lb.UNKNOWN, [1.0]]}, "domain must be a list, a range"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_refused_says_what_to_do(case: str) -> None:
    options, message = WRONG[case]
    with pytest.raises(lb.ParameterError, match=message):
        lb.count(TABLE, **{"by": "word", **options})


def test_objects_are_named_by_their_value_and_not_by_a_row() -> None:
    values = [1.0, Decimal(1), 1, True, "1", b"1", Decimal("0.1"), 0.1, Decimal("0.5"), (1.0, "a"), "\ud800", [1], 1j]
    values += [pd.Timestamp(1), np.datetime64(5, "D"), pd.Timestamp(0, tz="Asia/Tokyo"), None, float("nan"), -0.0]
    for turned in (values, values[::-1]):
        cells = np.empty(len(turned), object)
        cells[:] = turned
        frame = pd.DataFrame({"unit": range(len(turned)), "item": pd.Series(cells, dtype=object)})
        found = lb.count(frame, by="item", unit="unit", domain=lb.UNKNOWN).highest()
        assert [repr(item) for item in found[0]] == [
            "1", "True", "0", "Decimal('0.1')", "0.1", "0.5", "'1'", "b'1'", "datetime.datetime(1970, 1, 6, 0, 0)",
            "datetime.datetime(1970, 1, 1, 0, 0, tzinfo=datetime.timezone.utc)", "(1, 'a')",
        ]  # fmt: skip
        assert found[1].tolist() == [3, *[1] * 10]


def test_an_item_that_is_found_is_an_item_of_the_column() -> None:
    """Counted with the items as a domain, every column gives the same counts again."""
    for name, (_, _, _, engines) in COLUMNS.items():
        table, items, counts = rows_of(name)
        listed = lb.count(ENGINES[engines[-1]](table), by="item", unit="unit", domain=items)
        assert (name, listed.items, listed.values.tolist()) == (name, tuple(items), counts)
        assert sorted(items, key=sort_key) == [item for _, item in COLUMNS[name][1]]


def test_numbers_of_128_bits() -> None:
    for kind, low in ((pl.Int128, -(2**127)), (pl.UInt128, 0)):
        numbers = [low, 1, 2**64, 2**100, 2**127 - 1]
        frame = pl.DataFrame({"unit": range(5), "item": pl.Series(numbers[::-1], dtype=kind)})
        assert lb.count(frame, by="item", unit="unit", domain=lb.UNKNOWN).highest()[0] == tuple(numbers)
    for name, low in (("hugeint", -(2**127)), ("uhugeint", 0)):
        numbers = [low, 1, 2**64, 2**100, 2**127 - 1]
        values = ", ".join(f"({n}, cast('{number}' as {name}))" for n, number in enumerate(numbers[::-1]))
        frame = duckdb.connect().sql(f"select * from (values {values}) as t(unit, item)")
        assert lb.count(frame, by="item", unit="unit", domain=lb.UNKNOWN).highest()[0] == tuple(numbers)


DUCKDB: dict[str, tuple[list[str], list[Any]]] = {
    "uuid": (
        ["f0000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000001"],
        [uuid.UUID(int=1), uuid.UUID(int=15 << 124)],
    ),
    "interval": (
        ["1 day", "24 hours", "2147483647 months", "-1 microsecond", "1 month"],
        [datetime.timedelta(days=1), datetime.timedelta(microseconds=-1), datetime.timedelta(days=30)],
    ),
    "time": (["24:00:00", "23:59:59.999999", "00:00:00"], [datetime.time(0), datetime.time(23, 59, 59, 999_999)]),
    "date": (["infinity", "-infinity", "10000-01-01", "0001-01-01"], [datetime.date(1, 1, 1)]),
    "timestamp": (["infinity", "-infinity", "2026-01-01", "290000-01-01"], [datetime.datetime(2026, 1, 1)]),
    "timestamp_s": (["infinity", "-infinity", "2026-01-01"], [datetime.datetime(2026, 1, 1)]),
    "timestamp_ms": (["infinity", "1969-12-31 23:59:59.999"], [datetime.datetime(1969, 12, 31, 23, 59, 59, 999_000)]),
    "timestamp_ns": (
        ["infinity", "-infinity", "2026-01-01 00:00:00.000000001", "1960-01-01"],
        [datetime.datetime(1960, 1, 1)],
    ),
    "timestamptz": (["infinity", "-infinity", "2026-01-01 00:00:00+01"], [instant(1_767_222_000)]),
    "enum('b', 'a', 'ä', 'B')": (["b", "a", "ä", "B"], ["B", "a", "b", "ä"]),
}


@pytest.mark.parametrize("kind", DUCKDB)
def test_types_of_duckdb(kind: str) -> None:
    texts, items = DUCKDB[kind]
    values = ", ".join(f"({n}, '{text}')" for n, text in enumerate(texts))
    query = f"select n as unit, cast(t as {kind}) as item from (values {values}) as v(n, t)"
    for most in (None, len(items)):
        found = lb.count(duckdb.connect().sql(query), by="item", unit="unit", domain=lb.UNKNOWN).highest(most)
        assert exactly(found)[0] == [(type(item), item) for item in items]
    bounded = duckdb.connect().sql(query).project("1 as unit, item")
    assert len(lb.count(bounded, by="item", unit="unit", domain=lb.UNKNOWN, most_items=1).highest()[0]) == 1


def test_an_engine_is_asked_when_items_are_wanted_and_never_twice_for_the_same() -> None:
    connection = in_duckdb(TABLE, connected := duckdb.connect()) and connected
    counts = lb.count(connection.table("kept"), by="word", unit="unit", domain=lb.UNKNOWN)
    connection.execute("insert into kept values (7, 'new', 0, 0), (8, 'new', 0, 0), (9, 'new', 0, 0)")
    first = exactly(counts.highest(2))
    assert first == ([(str, "new"), (str, "a")], [3, 2])
    connection.execute("delete from kept where word = 'new'")
    assert exactly(counts.highest(2)) == first
    assert exactly(counts.highest(1)) == ([(str, "new")], [3])
    assert exactly(counts.highest())[0][0] == (str, "a")
    connection.execute("drop table kept")
    assert len(counts.highest(99)[0]) == 6
    assert exactly(counts.highest(1))[0] == [(str, "a")]
    pandas = TABLE.to_pandas()
    counted = lb.count(pandas, by="word", unit="unit", domain=lb.UNKNOWN)
    pandas["word"] = "changed"
    assert counted.highest(1)[0] == ("a",)


def test_an_engine_that_fails_later_is_not_quoted() -> None:
    connection = duckdb.connect()
    connection.execute("create table t as select 1 as unit, 'secret' as item")
    rows = connection.sql("select unit, error(item) as item from t").project("unit, cast(item as varchar) as item")
    counts = lb.count(rows, by="item", unit="unit", domain=lb.UNKNOWN)
    with pytest.raises(lb.DataError) as raised:
        counts.highest(1)
    assert "secret" not in str(raised.value)
    assert raised.value.__cause__ is None


def test_only_the_items_that_are_asked_for_leave_the_engine() -> None:
    connection = duckdb.connect()
    connection.execute("create table t as select range as unit, 'x' || range as item from range(5000)")
    counts = lb.count(connection.table("t"), by="item", unit="unit", domain=lb.UNKNOWN)
    assert counts.highest(3)[0] == ("x0", "x1", "x10")
    assert "x0" not in repr(counts)


def test_a_bound_reads_a_stream_once_and_leaves_nothing_behind() -> None:
    for domain in (lb.UNKNOWN, ["a", "b", "c"]):
        connection = duckdb.connect()
        table = pa.table({"unit": [1, 1, 1, 2], "item": ["a", "b", "c", "a"]})
        stream = connection.from_arrow(pa.RecordBatchReader.from_batches(table.schema, table.to_batches()))
        counts: Any = lb.count(stream, by="item", unit="unit", domain=domain, most_items=2)
        values = counts.highest(9)[1] if isinstance(counts, lb.Unlisted) else counts.values
        assert sum(values.tolist()) == 3
        left = connection.execute("select view_name from duckdb_views() where not internal").fetchall()
        assert not left, "a view is left"


@pytest.mark.parametrize("name", ["words.csv", "words.tsv", "words.jsonl", "words.parquet", "words.sqlite", "words.db"])
def test_files_of_the_command(name: str, tmp_path: Path) -> None:
    path, table = tmp_path / name, None
    rows = [(unit, word) for word, many in (("ä", 2), ("z", 2), ("Ä", 1), ("a ", 2), ("B", 2)) for unit in range(many)]
    if name.endswith(".parquet"):
        columns = {"unit": [unit for unit, _ in rows], "word": [word for _, word in rows]}
        pyarrow.parquet.write_table(pa.table(columns), path)
    elif name.endswith(".sqlite"):
        with sqlite3.connect(path) as connection:
            connection.execute("create table visits (unit integer, word text collate nocase)")
            connection.executemany("insert into visits values (?, ?)", rows)
        connection.close()
        table = "visits"
    elif name.endswith(".db"):
        with duckdb.connect(path) as database:
            database.execute("create table visits (unit integer, word varchar collate nocase)")
            database.executemany("insert into visits values (?, ?)", rows)
        table = "visits"
    elif name.endswith(".jsonl"):
        path.write_text("".join(f'{{"unit": {unit}, "word": "{word}"}}\n' for unit, word in rows), "utf-8")
    else:
        mark = "," if name.endswith(".csv") else "\t"
        path.write_text("".join(f"{unit}{mark}{word}\n" for unit, word in [("unit", "word"), *rows]), "utf-8")

    def counted() -> lb.Unlisted:
        source = open_table(str(path), ColumnSelection(("word", "unit"), distinct=True), table)
        return lb.count(source.relation, by="word", unit="unit", domain=lb.UNKNOWN)

    # Fetched where nobody holds the connection any more.
    assert exactly(counted().highest(3)) == ([(str, "B"), (str, "a "), (str, "z")], [2, 2, 2])
    assert exactly(counted().highest()) == ([(str, each) for each in ("B", "a ", "z", "ä", "Ä")], [2, 2, 2, 2, 1])
