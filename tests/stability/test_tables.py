"""Each way in which one person's row once changed what others count for, or raised, on a table in an engine.

Fifty units have an item, and one more comes. Each case says how its column is made, of which values, and which domain
it is counted by; the contract is the same for all: tests/stability/judge.py.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lastbit as lb
from lastbit.audit import hostile
from tests.stability.judge import ENGINES, LONG, UNITS, batches, judge, load, refusal, some

BERLIN = ZoneInfo("Europe/Berlin")
HOUR = datetime.datetime(2024, 10, 27, 2, 30)
FIRST = int(HOUR.replace(tzinfo=BERLIN).timestamp())
"""The hour that comes twice; its second coming is 3,600 seconds later."""

NAIVE = int(HOUR.replace(tzinfo=datetime.UTC).timestamp())
DAY = datetime.timedelta(days=1)


def view(kind: pa.DataType) -> Callable[[list[Any]], pa.Array]:
    whole = pa.int32() if kind.bit_width == 32 else pa.int64()
    return lambda values: pa.array(values, whole).view(kind)


def floats(values: list[Any]) -> pa.Array:
    """Bit by bit: a NaN keeps its payload."""
    return pa.array(np.array([float("nan") if value is None else value for value in values], np.float64))


def dictionary(values: list[Any]) -> pa.Array:
    """Places in a dictionary whose first two entries are alike."""
    return pa.DictionaryArray.from_arrays(pa.array(values, pa.int32()), pa.array(["flu", "flu", "cold", None, ""]))


def chunks(values: list[Any]) -> pa.ChunkedArray:
    """Each value in a chunk with a dictionary of its own."""
    kind = pa.dictionary(pa.int32(), pa.string())
    pieces = [pa.array([value], pa.string()).dictionary_encode() for value in values]
    return pa.chunked_array([piece.cast(kind) for piece in pieces], kind)


def undecodable(values: list[Any]) -> pa.Array:
    """Bytes in a column that says it is text."""
    return pa.Array.from_buffers(pa.string(), len(values), pa.array(values, pa.binary()).buffers())


@dataclass(frozen=True)
class Case:
    """A column of items: how it is made, the item of fifty units, the values of one more, and the domain."""

    make: Callable[[list[Any]], Any]
    usual: Any
    strange: list[Any]
    domain: Callable[[int], Any]
    """A value of the domain by number: the first is the usual one."""
    engines: tuple[str, ...] = ("pandas on Arrow", "Polars", "Polars, lazy", "PyArrow", "DuckDB")
    refusable: bool = False


ALL = tuple(ENGINES)

CASES: dict[str, Case] = {
    "the repeated hour": Case(
        view(pa.timestamp("us", tz="Europe/Berlin")),
        FIRST * 10**6,
        [(FIRST + 3600) * 10**6],
        lambda number: HOUR.replace(tzinfo=BERLIN) + number * DAY,
        ALL,
    ),
    "moments a nanosecond apart": Case(
        view(pa.timestamp("ns")), NAIVE * 10**9, [NAIVE * 10**9 + 1], lambda number: HOUR + number * DAY, ALL
    ),
    "lengths a nanosecond apart": Case(
        view(pa.duration("ns")),
        10**9,
        [10**9 + 1],
        lambda number: datetime.timedelta(seconds=number + 1),
        ALL[:5],
        True,
    ),
    "clocks a nanosecond apart": Case(
        view(pa.time64("ns")),
        0,
        [1],
        lambda number: datetime.time(number // 3600, number // 60 % 60, number % 60),
        refusable=True,
    ),
    "zero and minus zero": Case(floats, 0.0, [-0.0, *hostile.values("float")], float, ALL),
    "dictionaries with equal entries": Case(
        dictionary, 0, [1, 2, 3, 4, None], lambda number: f"{number}" if number else "flu", ("PyArrow",)
    ),
    "dictionaries that differ by chunk": Case(
        chunks,
        "flu",
        ["cold", "FLU", "", None],
        lambda number: f"{number}" if number else "flu",
        ("PyArrow", "Polars", "DuckDB", "pandas on Arrow"),
    ),
    "days beyond the calendar": Case(
        view(pa.date32()),
        20_000,
        [3_000_000, -800_000, 2**31 - 1, -(2**31)],
        lambda number: datetime.date(1970, 1, 1) + (20_000 + number) * DAY,
        ("pandas on Arrow", "Polars", "Polars, lazy", "PyArrow"),
    ),
    "moments beyond the calendar": Case(
        view(pa.timestamp("us")),
        NAIVE * 10**6,
        [300_000_000_000 * 10**6, -70_000_000_000 * 10**6, 2**63 - 1, -(2**63) + 1],
        lambda number: HOUR + number * DAY,
        ("pandas on Arrow", "Polars", "Polars, lazy", "PyArrow"),
    ),
    "text that is no UTF-8": Case(
        undecodable,
        b"flu",
        [b"\xff", b"flu\xff", b"\xed\xa0\x80"],
        lambda number: f"{number}" if number else "flu",
        ("PyArrow",),
    ),
}
SIZES = {"a small domain": 3, "a large domain": 1_100}


TRIED_SIZES = [
    (name, engine, size)
    for name, case in CASES.items()
    for engine in case.engines
    for size in SIZES
    if LONG or engine in ("DuckDB", "PyArrow") or size == "a small domain"
]


@pytest.mark.parametrize(("name", "engine", "size"), TRIED_SIZES)
def test_items(name: str, engine: str, size: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # DuckDB looks a large domain up after it has grouped the rows; the others take all in the same way.
    monkeypatch.setattr("lastbit.data.duckdb.table._FILTERED", 1_000)
    case = CASES[name]
    domain = [case.domain(number) for number in range(SIZES[size])]

    def count(rows: list[Any]) -> lb.Counts:
        patients = pa.array([row["patient"] for row in rows], pa.int64())
        table = pa.table({"patient": patients, "item": case.make([row["item"] for row in rows])})
        return lb.count(ENGINES[engine](table), by="item", unit="patient", domain=domain)

    table = [{"patient": number, "item": case.usual} for number in range(UNITS)]
    strange = [{"patient": 900, "item": value} for value in case.strange]
    judge(count, table, batches(strange), refusable=case.refusable)


@pytest.mark.parametrize("items", ["flu", 0.0, 1])
@pytest.mark.parametrize("forms", hostile.FORMS, ids=["zeros", "NaNs"])
@pytest.mark.parametrize("engine", ENGINES)
def test_one_unit_whose_key_has_two_forms(engine: str, forms: tuple[float, ...], items: Any) -> None:
    def count(rows: list[Any]) -> lb.Counts:
        columns = {"patient": floats([row["patient"] for row in rows]), "item": pa.array([items] * len(rows))}
        table = pa.table(columns).cast(pa.schema([("patient", pa.float64()), ("item", pa.array([items]).type)]))
        return lb.count(ENGINES[engine](table), by="item", unit="patient", domain=[items])

    table = [{"patient": float(number)} for number in range(1, UNITS)]
    judge(count, table, [[{"patient": form} for form in forms], [{"patient": form} for form in forms[::-1]]])


COLLATED = {
    "a column that ignores case": ("", "VARCHAR COLLATE NOCASE"),
    "a column that ignores accents": ("", "VARCHAR COLLATE NOACCENT"),
    "a default that ignores case": ("SET default_collation = 'nocase'", "VARCHAR"),
    "a default that ignores both": ("SET default_collation = 'nocase.noaccent'", "VARCHAR"),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("unit", ["BIGINT", "the same"])
@pytest.mark.parametrize("collation", COLLATED)
def test_text_that_duckdb_takes_for_one(collation: str, unit: str, size: str) -> None:
    before, kind = COLLATED[collation]
    domain = ["flu", *map(str, range(SIZES[size]))]

    connection = duckdb.connect(config={"threads": 1})
    connection.execute(before) if before else None

    def count(rows: list[Any]) -> lb.Counts:
        load(connection, rows, {"patient": kind if unit == "the same" else unit, "item": kind})
        return lb.count(connection.table("visits"), by="item", unit="patient", domain=domain)

    letters = unit == "the same"
    table = [{"patient": f"p{number}" if letters else number, "item": "flu"} for number in range(UNITS)]
    keys = ["P1", "p\u00b9", "q"] if letters else [900]
    strange = ["FLU", "Flu", "flü", "FLÜ", "flu "]
    units = [batches([{"patient": key, "item": item} for item in strange]) for key in keys]
    judge(count, table, [batch for unit in units for batch in unit])


SQL_ITEMS: dict[str, tuple[str, list[Any], list[str]]] = {
    "dates beyond the calendar": (
        "DATE",
        ["2024-10-27", "2024-10-28"],
        ["10000-01-01", "5000000-01-01", "0044-03-15 (BC)", "infinity", "-infinity"],
    ),
    "infinite moments": (
        "TIMESTAMP",
        ["2024-10-27 02:30:00", "2024-10-28 02:30:00"],
        ["infinity", "-infinity", "10000-01-01", "290000-01-01 00:00:00", "0044-03-15 (BC) 00:00:00"],
    ),
    "infinite moments in a zone": (
        "TIMESTAMPTZ",
        ["2024-10-27 00:30:00+00", "2024-10-28 00:30:00+00"],
        ["2024-10-27 01:30:00+00", "infinity", "-infinity", "10000-01-01 00:00:00+00"],
    ),
    "whole numbers of 128 bits": ("HUGEINT", ["1", "2"], [str(2**64 + 1), str(2**127 - 1), str(-(2**127)), str(2**63)]),
    "unsigned numbers": ("UBIGINT", ["1", "2"], [str(2**64 - 1), str(2**63), str(2**63 + 1)]),
    "floats": ("DOUBLE", ["0.0", "1.5"], ["-0.0", "nan", "-nan", "inf", "-inf", "5e-324"]),
    "small floats": ("FLOAT", ["0.0", "1.5"], ["-0.0", "nan", "inf", "-inf"]),
    "text": ("VARCHAR", ["flu", "cold"], ["FLU", "flu ", "", "\x00", "flu\x00", "e\u0301"]),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", SQL_ITEMS)
def test_items_of_duckdb(name: str, size: str) -> None:
    kind, usual, strange = SQL_ITEMS[name]
    start: dict[str, Callable[[int], Any]] = {
        "DATE": lambda number: HOUR.date() + number * DAY,
        "TIMESTAMP": lambda number: HOUR + number * DAY,
        "TIMESTAMPTZ": lambda number: datetime.datetime.fromtimestamp(FIRST, datetime.UTC) + number * DAY,
        "VARCHAR": lambda number: f"{number}" if number else "flu",
        "DOUBLE": float,
        "FLOAT": float,
    }
    domain = [start.get(kind, lambda number: number + 1)(number) for number in range(SIZES[size])]

    connection = duckdb.connect(config={"threads": 1})

    def count(rows: list[Any]) -> lb.Counts:
        load(connection, rows, {"patient": "BIGINT", "item": kind})
        return lb.count(connection.table("visits"), by="item", unit="patient", domain=domain)

    table = [{"patient": number, "item": usual[number % 2]} for number in range(UNITS)]
    judge(count, table, batches([{"patient": 900, "item": value} for value in [*strange, None]]))


HEAVY = [2**63 - 1, 2**63, 2**64 - 1, -(2**63), 2**100, -(2**127), 2**127 - 1, None, 0, 3]
FLOATING = [*hostile.values("float"), None]
WEIGHTS: dict[str, tuple[Callable[[list[Any]], Any], list[Any]]] = {
    "unsigned numbers of Arrow": (lambda values: pa.array(values, pa.uint64()), [2**63 - 1, 2**63, 2**64 - 1, None, 0]),
    "whole numbers of Arrow": (lambda values: pa.array(values, pa.int64()), [2**63 - 1, -(2**63), None, 0]),
    "floats of Arrow": (lambda values: pa.array(values, pa.float64()), FLOATING),
}
BOUNDS = {"from zero": (0, 5), "both ways": (-3, 2), "below zero": (-4, 0), "wide": (-(2**31), 2**31)}
TRIED = list(BOUNDS) if LONG else ["from zero", "both ways"]


@pytest.mark.parametrize("bounds", TRIED)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_beyond_every_bound(name: str, engine: str, bounds: str) -> None:
    make, strange = WEIGHTS[name]

    def count(rows: list[Any]) -> lb.Counts:
        columns = {"patient": pa.array([row["patient"] for row in rows], pa.int64())}
        columns |= {"item": pa.array(["flu"] * len(rows), pa.string()), "days": make([row["days"] for row in rows])}
        options: dict[str, Any] = {"domain": ["flu", "cold"], "weights": "days", "bounds": BOUNDS[bounds]}
        return lb.count(ENGINES[engine](pa.table(columns)), by="item", unit="patient", **options)

    weighed(count, strange, 2**31 if bounds == "wide" else 9)


def weighed(count: Callable[[list[Any]], Any], strange: list[Any], usual: Any) -> None:
    # One unit of the table reaches the bound, so that the counts move as far as they may.
    table = [{"patient": number, "days": usual if number else None} for number in range(UNITS)]
    strange_rows = [{"patient": 900, "days": value} for value in strange]
    judge(count, table, [strange_rows * 20, *batches(strange_rows)[1:]])


@pytest.mark.parametrize("bounds", TRIED)
@pytest.mark.parametrize("name", ["HUGEINT", "UHUGEINT", "UBIGINT", "DECIMAL(38, 0)", "Int128", "UInt64", "Decimal"])
def test_weights_of_more_than_64_bits(name: str, bounds: str) -> None:
    low = 0 if name.startswith("U") else -(2**127)
    high = {"HUGEINT": 2**127 - 1, "UHUGEINT": 2**128 - 1, "UBIGINT": 2**64 - 1, "UInt64": 2**64 - 1}.get(name)
    high = high or (2**127 - 1 if name == "Int128" else 10**38 - 1)
    low = low if name in ("HUGEINT", "Int128") or low == 0 else -high
    strange = [value for value in [*HEAVY, low, high] if value is None or low <= value <= high]
    connection = duckdb.connect(config={"threads": 1})
    kinds: dict[str, Any] = {"Int128": pl.Int128, "UInt64": pl.UInt64, "Decimal": pl.Decimal(38, 0)}

    def count(rows: list[Any]) -> lb.Counts:
        options: dict[str, Any] = {"domain": ["flu", "cold"], "weights": "days", "bounds": BOUNDS[bounds]}
        rows = [{**row, "item": "flu"} for row in rows]
        frame: Any
        if name in kinds:
            schema = {"patient": pl.Int64, "item": pl.String, "days": kinds[name]}
            if name == "Decimal":
                rows = [{**row, "days": None if row["days"] is None else Decimal(row["days"])} for row in rows]
            frame = pl.DataFrame([[row[each] for row in rows] for each in schema], schema=schema, orient="col")
        else:
            load(connection, rows, {"patient": "BIGINT", "item": "VARCHAR", "days": name})
            frame = connection.table("visits")
        return lb.count(frame, by="item", unit="patient", **options)

    weighed(count, strange, 9)


def pandas_objects(rows: list[Any]) -> pd.DataFrame:
    # Cell by cell: pandas would take a list of lists for a table.
    frame = pd.DataFrame({name: pd.Series([None] * len(rows), dtype=object) for name in ("patient", "item")})
    for name in frame.columns:
        cells = np.empty(len(rows), dtype=object)
        for place, row in enumerate(rows):
            cells[place] = row[name]
        frame[name] = pd.Series(cells, dtype=object)
    return frame


@pytest.mark.parametrize(
    ("column", "size"), [("item", "a small domain"), ("item", "a large domain"), ("patient", "a small domain")]
)
@pytest.mark.parametrize("kind", hostile.KINDS)
def test_python_objects_in_pandas(kind: str, column: str, size: str) -> None:
    domain = ["flu", *map(str, range(SIZES[size]))]

    def count(rows: list[Any]) -> lb.Counts:
        return lb.count(pandas_objects(rows), by="item", unit="patient", domain=domain)

    table = [{"patient": f"p{number}", "item": "flu"} for number in range(UNITS)]
    strange = [{"patient": "q", "item": "flu", column: value} for value in hostile.values(kind)]
    # Each key is another unit, and comes alone; items may come together.
    judge(count, table, batches(strange) if column == "item" else [[row] for row in some(strange)])


def test_the_types_of_rows_do_not_decide_whether_a_domain_is_refused() -> None:
    """A column of objects that are all text is none of text: one more row may hold a number."""
    flu = [{"patient": f"p{number}", "item": "flu"} for number in range(5)]
    for strange in (1, None, 1.5, b"flu", "cold"):
        for domain in (["flu", 1], [1, 2], ["flu", "cold"], [1.5], [True, "flu"]):

            def count(rows: list[Any]) -> lb.Counts:
                return lb.count(pandas_objects(rows), by="item", unit="patient", domain=domain)

            said = {refusal(count, rows) for rows in (flu, [*flu, {"patient": "q", "item": strange}], [])}
            assert len(said) == 1, (strange, domain)
