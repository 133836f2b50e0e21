"""One person's rows change only that person's contribution: each case was broken once.

Fifty units have an item, then one more unit comes with strange rows. Its rows may move the count by as much as it says,
0 or 1, and raise nothing.
"""

from __future__ import annotations

import datetime
import decimal
import struct
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lastbit as lb

UNITS = list(range(50))
BERLIN = ZoneInfo("Europe/Berlin")
TWICE = datetime.datetime(2025, 10, 26, 2, 30, tzinfo=BERLIN)
"""The first of the two half past two of that night."""
FIRST = int(TWICE.timestamp()) * 10**6
HOUR = 3600 * 10**6

ENGINES: dict[str, Callable[[pa.Table], Any]] = {
    "pyarrow": lambda table: table,
    "polars": pl.from_arrow,
    "polars lazy": lambda table: pl.from_arrow(table).lazy(),
    "pandas": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "duckdb": lambda table: duckdb.connect().from_arrow(table),
}


def stored(values: list[Any], dtype: Any) -> Any:
    """An array of a type from the whole numbers it is stored as."""
    return pa.array(values, pa.int64()).view(dtype)


def bits(*words: int) -> list[float]:
    return [struct.unpack("<d", struct.pack("<Q", word))[0] for word in words]


def text(values: list[bytes]) -> Any:
    """Text, whether it is or not."""
    ends = np.cumsum([0, *map(len, values)], dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), len(values), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(values))])


NANOSECOND = datetime.datetime(2026, 1, 1)
NS = 1_767_225_600 * 10**9
ITEMS: dict[str, tuple[Any, Any, list[Any], int]] = {
    # Fifty items and the item of one more unit; the domain; the count of its last item.
    "repeated hour": (stored([FIRST] * 50 + [FIRST + HOUR], pa.timestamp("us", "Europe/Berlin")), TWICE, [], 50),
    "nanoseconds": (stored([NS] * 50 + [NS + 1], pa.timestamp("ns")), NANOSECOND, [], 50),
    "nanoseconds with a zone": (
        stored([NS] * 50 + [NS + 1], pa.timestamp("ns", "UTC")),
        NANOSECOND.replace(tzinfo=datetime.UTC),
        ["duckdb"],
        50,
    ),
    "spans in nanoseconds": (stored([0] * 50 + [1], pa.duration("ns")), datetime.timedelta(0), ["duckdb"], 50),
    "times in nanoseconds": (stored([0] * 50 + [1], pa.time64("ns")), datetime.time(0), [], 50),
    "minus zero": (pa.array([0.0] * 50 + [-0.0]), 0.0, [], 51),
    "plus zero": (pa.array([-0.0] * 50 + [0.0], pa.float32()), -0.0, [], 51),
    "not a number": (pa.array([0.5] * 50 + bits(0x7FF0000000000001)), 0.5, [], 50),
    "equal entries": (
        pa.DictionaryArray.from_arrays(pa.array([0] * 50 + [1]), pa.array(["flu", "flu"])),
        "flu",
        ["polars", "polars lazy"],
        51,
    ),
    "no text": (text([b"flu"] * 50 + [b"fl\xff"]), "flu", [], 50),
    "far dates": (pa.array([0] * 50 + [2**31 - 1], pa.int32()).view(pa.date32()), datetime.date(1970, 1, 1), [], 50),
    "far moments": (
        stored([0] * 50 + [2**62], pa.timestamp("s")),
        datetime.datetime(1970, 1, 1),
        ["duckdb", "polars", "polars lazy"],
        50,
    ),
    "farther moments": (stored([0] * 50 + [2**63 - 1], pa.timestamp("us")), datetime.datetime(1970, 1, 1), [], 50),
    "large": (pa.array([1] * 50 + [2**64 - 1], pa.uint64()), 1, [], 50),
    "decimal": (pa.array([Decimal("1.5")] * 50 + [Decimal(10) ** 30], pa.decimal128(38, 2)), "1.5", [], 50),
}


@pytest.mark.parametrize("many", [0, 2000])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", ITEMS)
def test_one_more_unit_moves_an_item_by_one(case: str, engine: str, many: int) -> None:
    column, item, without, count = ITEMS[case]
    if engine in without:
        pytest.skip("this engine has no such column")
    table = pa.table({"unit": [*UNITS, 50], "item": column})
    days: Callable[[int], Any] = lambda i: item + datetime.timedelta(days=i + 1)  # noqa: E731
    more: dict[type, Callable[[int], Any]] = {
        str: str, int: lambda i: i + 5, float: lambda i: i + 0.25, datetime.datetime: days, datetime.date: days,
        datetime.timedelta: days, datetime.time: lambda i: datetime.time(1, 0, 0, i),
    }  # fmt: skip
    domain = [*map(more[type(item)], range(many)), item]
    for rows, expected in ((table.slice(0, 50), 50), (table, count)):
        counts = lb.count(ENGINES[engine](rows), by="item", unit="unit", domain=domain)
        assert counts.values.tolist() == [*[0] * (len(domain) - 1), expected]
        assert lb.count(ENGINES[engine](rows), by="item", domain=domain).values[-1] == expected


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "units",
    [
        [0.0, -0.0],
        bits(0x7FF8000000000000, 0x7FF8000000000001, 0xFFF8000000000000, 0x7FF0000000000001),
        [float("inf"), float("inf")],
    ],
)
def test_a_unit_with_two_forms_is_one_unit(engine: str, units: list[float]) -> None:
    everyone = [float(unit + 1) for unit in UNITS]
    for dtype in (pa.float64(), pa.float32()):
        table = pa.table({"unit": pa.array(everyone + units).cast(dtype), "item": ["flu"] * (50 + len(units))})
        frame = ENGINES[engine](table)
        expected = 50 if units[0] != units[0] else 51
        assert lb.count(frame, by="item", unit="unit", domain=["flu"]).values.tolist() == [expected]


def test_a_unit_of_equal_entries_is_one_unit() -> None:
    units = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None, 3]), pa.array(["a", "b", "b", None]))
    for frame in (pa.table({"unit": units, "item": ["flu"] * 5}),):
        for engine in ("pyarrow", "duckdb", "pandas"):
            assert lb.count(ENGINES[engine](frame), by="item", unit="unit", domain=["flu"]).values.tolist() == [2]


@pytest.mark.parametrize("engine", ["pyarrow", "pandas"])
def test_dictionaries_that_differ_from_chunk_to_chunk(engine: str) -> None:
    chunks = [pa.array(each).dictionary_encode() for each in (["flu", "cold"], ["cold", "flu"], ["gout", None])]
    table = pa.table({"item": pa.chunked_array(chunks), "unit": pa.chunked_array(chunks)})
    counts = lb.count(ENGINES[engine](table), by="item", unit="unit", domain=["cold", "flu"])
    assert counts.values.tolist() == [1, 1]
    assert lb.count(ENGINES[engine](table), by="item", domain=["cold", "flu"]).values.tolist() == [2, 2]


def test_an_index_outside_of_its_dictionary_is_no_item() -> None:
    wrong = pa.DictionaryArray.from_arrays(pa.array([0, 0, 7, -3]), pa.array(["flu"]), safe=False)
    assert lb.count(pa.table({"item": wrong}), by="item", domain=["flu"]).values.tolist() == [2]


@pytest.mark.parametrize("default", [False, True])
def test_capitals_differ_whatever_the_collation(default: bool) -> None:
    connection = duckdb.connect()
    collated = "" if default else "collate nocase"
    if default:
        connection.execute("set default_collation = 'nocase'")
    connection.execute(f"create table visits (unit varchar {collated}, item varchar {collated})")
    connection.execute("insert into visits select 'p' || i, 'flu' from range(50) t(i)")
    arguments: dict[str, Any] = {"by": "item", "unit": "unit", "domain": ["flu", "cold"]}
    assert lb.count(connection.table("visits"), **arguments).values.tolist() == [50, 0]
    connection.execute("insert into visits values ('x', 'FLU'), ('X', 'cold'), ('x', 'cold')")
    for domain in (["flu", "cold"], ["flu", "cold", *map(str, range(2000))]):
        counts = lb.count(connection.table("visits"), **{**arguments, "domain": domain})
        assert counts.values.tolist()[:2] == [50, 2]


@pytest.mark.parametrize(
    ("kind", "item", "strange"),
    [
        ("date", datetime.date(2026, 1, 1), ["infinity", "-infinity", "12026-01-01", "0044-03-15 (BC)"]),
        ("timestamp", datetime.datetime(2026, 1, 1), ["infinity", "-infinity", "12026-01-01", "290308-12-21 (BC)"]),
        ("timestamptz", datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), ["infinity", "-infinity", "12026-01-01"]),
        ("timestamp_s", datetime.datetime(2026, 1, 1), ["infinity", "12026-01-01"]),
        ("timestamp_ns", datetime.datetime(2026, 1, 1), ["infinity", "2026-01-01 00:00:00.000000001"]),
        ("time", datetime.time(1), ["24:00:00"]),
        ("interval", datetime.timedelta(days=30), ["178956970 years", "-178956970 years", "1 month -1 microsecond"]),
        ("uuid", "00000000-0000-0000-0000-000000000001", ["ffffffff-ffff-ffff-ffff-ffffffffffff"]),
        ("hugeint", 1 << 100, ["-170141183460469231731687303715884105728"]),
        ("uhugeint", 1, ["340282366920938463463374607431768211455"]),
        ("double", 1.5, ["nan", "-inf", "-0.0"]),
        ("decimal(38, 10)", "1.5", ["-9999999999999999999999999999.9999999999"]),
        ("blob", b"\xff", ["\\xFF\\xFF"]),
        ("enum('flu', 'Flu')", "flu", ["Flu"]),
        ("boolean", True, ["false"]),
    ],
)
def test_no_value_of_duckdb_leaves_it(kind: str, item: Any, strange: list[str]) -> None:
    connection = duckdb.connect()
    connection.execute(f"create table visits (unit {kind}, item {kind}, who bigint)")
    given = item if not isinstance(item, bytes) else "\\xFF"
    given = "30 days" if kind == "interval" else str(given)
    connection.execute("insert into visits select ?, ?, i from range(50) t(i)", [given, given])
    arguments: dict[str, Any] = {"by": "item", "domain": [item]}
    for number, each in enumerate(strange):
        connection.execute(f"insert into visits values ('{each}', '{given}', {number + 50})")
        assert lb.count(connection.table("visits"), **arguments).values.tolist() == [51]
        assert lb.count(connection.table("visits"), unit="who", **arguments).values.tolist() == [51]
        units = lb.count(connection.table("visits"), unit="unit", **arguments).values.tolist()
        assert units == [1 if each == "nan" else 2]
        connection.execute(f"update visits set item = '{each}' where who = {number + 50}")
        assert lb.count(connection.table("visits"), **arguments).values.tolist() == [50]
        assert lb.count(connection.table("visits"), unit="who", **arguments).values.tolist() == [50]


WEIGHTS: dict[str, tuple[Any, list[Any]]] = {
    "uint64": (pa.uint64(), [2**64 - 1, 2**63, 0]),
    "int64": (pa.int64(), [2**63 - 1, -(2**63), None]),
    "float32": (pa.float32(), [float("nan"), float("inf"), -3e38, None]),
    "float64": (pa.float64(), [*bits(0x7FF0000000000001, 0xFFF8000000000001), 1e308, -5e-324]),
    "decimal": (pa.decimal128(38, 5), [Decimal("9" * 33), Decimal("-" + "9" * 33), Decimal("-0.00001"), None]),
    "small decimal": (pa.decimal128(9, 2), [Decimal("9999999.99"), Decimal("-0.01")]),
    "large decimal": (pa.decimal256(76, 2), [Decimal("9" * 74), Decimal("-" + "9" * 74)]),
    "long decimal": (pa.decimal128(38, 37), [Decimal("1." + "9" * 37), Decimal("-0." + "9" * 37)]),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", WEIGHTS)
def test_a_weight_counts_as_the_bound_it_is_beyond(case: str, engine: str) -> None:
    dtype, strange = WEIGHTS[case]
    if case == "large decimal" and engine not in ("pyarrow", "pandas"):
        pytest.skip("this engine has no such column")
    ones = [Decimal(1) if pa.types.is_decimal(dtype) else 1] * 50
    for bounds in ((0, 5), (-3, 3)):
        for value in strange:
            table = pa.table({"u": [*UNITS, 50], "i": ["flu"] * 51, "w": pa.array([*ones, value], dtype)})
            for unit, missing in (("u", "leave-out"), (None, "leave-out"), ("u", "lowest")):
                unknown = bounds[0] if missing == "lowest" else 0  # left out
                exact = unknown if value is None or value != value else value
                expected = 50 + max(bounds[0], min(bounds[1], exact if abs(exact) > 9 else _floor(exact)))
                arguments: dict[str, Any] = {"by": "i", "unit": unit, "domain": ["flu"], "weights": "w"}
                counts = lb.count(ENGINES[engine](table), **arguments, bounds=bounds, missing=missing)
                assert counts.values.tolist() == [expected]


def _floor(value: Any) -> int:
    return Fraction(value).__floor__()


@pytest.mark.parametrize("kind", ["hugeint", "uhugeint", "decimal(38, 0)"])
def test_weights_of_duckdb_beyond_64_bits(kind: str) -> None:
    ends = {"hugeint": [2**127 - 1, -(2**127)], "uhugeint": [2**128 - 1, 0], "decimal(38, 0)": [10**38 - 1, 1 - 10**38]}
    for value in ends[kind]:
        rows = duckdb.sql(f"select i as u, 'flu' as i, '1'::{kind} as w from range(50) t(i) union all "
                          f"select 50, 'flu', '{value}'::{kind} union all select 51, 'flu', null")  # fmt: skip
        for bounds, resolution in (((0, 6), 1), ((-6, 6), 2), ((0, 6), "1/2")):
            given: dict[str, Any] = {"weights": "w", "bounds": bounds, "resolution": resolution}
            for missing, unknown in (("leave-out", 0), ("lowest", bounds[0])):
                counts = lb.count(rows, by="i", unit="u", domain=["flu"], missing=missing, **given)
                assert counts.values[0] == 50 + max(bounds[0], min(6, value)) + unknown


@pytest.mark.parametrize("dtype", [pl.Int128, pl.UInt128])
def test_numbers_of_polars_beyond_64_bits(dtype: Any) -> None:
    low, high = (0, 2**128 - 1) if dtype == pl.UInt128 else (-(2**127), 2**127 - 1)
    column = pl.Series("w", [low, high, 2**64, 5, 2**63, None, high], dtype=dtype)
    frame = pl.DataFrame({"u": range(7), "i": ["flu"] * 7}).with_columns(column)
    sums = lb.count(frame, by="i", unit="u", domain=["flu"], weights="w", bounds=(0, 9))
    assert sums.values.tolist() == [9 * 4 + 5]
    for each in (frame, frame.lazy()):
        counts = lb.count(each, by="w", unit="u", domain=[5, high, low, 2**64, 2**63, 2**130, -(2**130)])
        assert counts.values.tolist() == [1, 2, 1, 1, 1, 0, 0]
        assert lb.count(each, by="i", unit="w", domain=["flu"]).values.tolist() == [5]


class Strange:
    """An object that does not let itself be asked."""

    def __hash__(self) -> int:
        raise RuntimeError("secret")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("secret")


class Pretender(str):
    """Text that calls itself other text's equal."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash("flu")

    def __eq__(self, other: object) -> bool:
        return True


OBJECTS = [
    ["flu"], {"flu": 1}, {1, 2}, Decimal("sNaN"), Decimal("NaN"), Decimal("1e999999999"), -Decimal("1e-999999999"),
    float("nan"), None, pd.NA, pd.NaT, np.nan, np.datetime64("NaT", "s"), np.array([1]), Strange(), Pretender("other"),
    1, 1.0, True, b"flu", "\ud800", "\0", "Flu", "flu ", 10**5000, complex(1, 1), lambda: None, object(), type,
    (1, [2]), slice(1),
    datetime.date(1, 1, 1), datetime.datetime.max.replace(tzinfo=datetime.UTC), np.longdouble(1) / 3, pd.Timestamp.max,
    np.timedelta64(1, "Y"), pd.Interval(0, 1), pd.Period("2026"), range(3), memoryview(b"flu"),
    Fraction(1, 3),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(OBJECTS)))
def test_no_object_raises_or_changes_the_count_of_another(number: int) -> None:
    strange = OBJECTS[number]
    items, units = np.empty(53, object), np.empty(53, object)
    items[:], units[:] = "flu", [*UNITS, "x", "x", "x"]
    items[51], units[52] = strange, strange
    frame = pd.DataFrame({"item": items, "unit": units}, dtype=object)
    for engine in (frame, frame.astype({"item": "category"}) if _category(frame) else frame):
        found = lb.count(engine, by="item", unit="unit", domain=["flu"]).values.tolist()
        assert found in ([51], [52])  # the strange unit may be one, or 1 that is there
    one = frame.iloc[:52]
    assert lb.count(one, by="item", unit="unit", domain=["flu"]).values.tolist() == [51]
    alone = pd.DataFrame({"item": items[:50], "unit": units[:50]}, dtype=object)
    both = pl.DataFrame({"unit": range(52)}).with_columns(pl.Series("item", list(items[:52]), dtype=pl.Object))
    assert lb.count(alone, by="item", unit="unit", domain=["flu"]).values.tolist() == [50]
    assert lb.count(both, by="item", unit="unit", domain=["flu"]).values.tolist() == [51]


def _category(frame: pd.DataFrame) -> bool:
    try:
        frame.astype({"item": "category"})
    except Exception:
        return False
    return True


def test_a_value_meets_items_of_its_own_family_only() -> None:
    values = [True, 1, 1.0, "1", np.int8(1), np.float32(1), Decimal("1.0"), Fraction(1), b"1", np.bool_(True), (1, "a")]
    frame = pd.DataFrame({"item": pd.Series(values, dtype=object)})
    for item, count in ((True, 2), (1, 6), (1.0, 6), ("1", 1), (Decimal(1), 6), (b"1", 1), ((1, "a"), 1)):
        assert lb.count(frame, by="item", domain=[item]).values.tolist() == [count]


@pytest.mark.parametrize("rows", [[], ["a"], [1], [None], ["a", 1], [b"a"], [datetime.date(2026, 1, 1)]])
def test_the_rows_of_an_object_column_do_not_decide_what_a_domain_may_be(rows: list[Any]) -> None:
    frame = pd.DataFrame({"item": pd.Series(rows, dtype=object), "w": pd.Series([1] * len(rows), dtype=object)})
    for domain in (["a"], [1], [True], [b"a"], [datetime.date(2026, 1, 1)], ["a", 1]):
        assert lb.count(frame, by="item", domain=domain).values.tolist() == [
            sum(type(row) is type(item) and row == item for row in rows) for item in domain
        ]
    with pytest.raises(lb.ParameterError, match="weights must be numbers: the column 'w'"):
        lb.count(frame, by="item", domain=["a"], weights="w", bounds=(0, 1))
    with pytest.raises(lb.ParameterError, match="domain must hold text, numbers, dates"):
        lb.count(frame, by="item", domain=[object()])


def test_both_hours_of_a_repeated_one_have_a_count_of_their_own() -> None:
    moments = stored([FIRST] * 3 + [FIRST + HOUR] * 2, pa.timestamp("us", "Europe/Berlin"))
    second = TWICE.replace(fold=1)
    for engine in ENGINES.values():
        counts = lb.count(engine(pa.table({"item": moments})), by="item", domain=[TWICE, second])
        assert counts.values.tolist() == [3, 2]
        assert counts.items[1].utcoffset() == datetime.timedelta(0)
    same = [TWICE, TWICE.astimezone(datetime.UTC), second]
    assert lb.count(pa.table({"item": moments}), by="item", domain=same).values.tolist() == [3, 2]


def test_times_of_a_domain_have_a_zone_where_the_column_has_one() -> None:
    aware = pa.table({"item": stored([0], pa.timestamp("us", "UTC"))})
    naive = pa.table({"item": stored([0], pa.timestamp("us"))})
    with pytest.raises(lb.ParameterError, match="dates with times and a zone"):
        lb.count(aware, by="item", domain=["1970-01-01T00:00:00"])
    with pytest.raises(lb.ParameterError, match="dates with times and no zone"):
        lb.count(naive, by="item", domain=["1970-01-01T00:00:00+00:00"])
    assert lb.count(aware, by="item", domain=["1970-01-01T01:00:00+01:00"]).values.tolist() == [1]
    assert lb.count(naive, by="item", domain=[pd.Timestamp(1), np.datetime64(0, "ms")]).values.tolist() == [0, 1]


def test_columns_that_hold_more_than_one_value_are_refused_by_their_type() -> None:
    nested = pa.table({"item": pa.array([], pa.list_(pa.int64())), "unit": pa.array([], pa.struct([("a", pa.int8())]))})
    for engine in ("pyarrow", "polars", "duckdb"):
        for arguments in ({"by": "item", "domain": ["a"]}, {"by": "item", "unit": "unit", "domain": ["a"]}):
            with pytest.raises(lb.ParameterError, match="the column 'item' must hold single values"):
                lb.count(ENGINES[engine](nested), **arguments)


def test_traps_of_decimals_are_not_asked() -> None:
    frame = pd.DataFrame({"item": pd.Series([Decimal("1.10"), Decimal("sNaN"), 1.1], dtype=object)})
    with decimal.localcontext() as context:
        context.traps[decimal.FloatOperation] = True
        context.prec = 1
        assert lb.count(frame, by="item", domain=[Decimal("1.1")]).values.tolist() == [1]
