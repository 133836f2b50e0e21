"""A table of fifty units, then one more unit with any rows: every count moves by 0 or 1, every sum within the bounds.

The rows come from a stock of hostile values for each type of column. Nothing may raise: the tables are made first.
"""

from __future__ import annotations

import datetime
import struct
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lastbit as lb
from tests.data.test_hostile_rows import ENGINES, OBJECTS, bits, stored, text

LOW, HIGH = -(1 << 63), (1 << 63) - 1
NANS = bits(0x7FF8000000000000, 0x7FF0000000000001, 0xFFFFFFFFFFFFFFFF)
WIDE = [Decimal(0), Decimal(2), Decimal("-" + "9" * 38), Decimal("9" * 38), None]
DAY = 86_400 * 10**9


def times(dtype: Any, values: list[int]) -> tuple[Any, list[Any], Any]:
    return dtype, [0, *values, 1, -1, None], lambda values: stored(values, dtype)


def exactly(values: list[float | None]) -> Any:
    """Floats with their bits as they are."""
    known = pa.array([value is not None for value in values]).buffers()[1]
    packed = b"".join(struct.pack("<d", 0.0 if value is None else value) for value in values)
    return pa.Array.from_buffers(pa.float64(), len(values), [known, pa.py_buffer(packed)])


COLUMNS: dict[str, tuple[Any, list[Any], Any]] = {
    "whole": (pa.int64(), [0, 1, -1, LOW, HIGH, None], lambda v: pa.array(v, pa.int64())),
    "small": (pa.int8(), [0, 1, -128, 127, None], lambda v: pa.array(v, pa.int8())),
    "unsigned": (pa.uint64(), [0, 1, HIGH + 1, 2**64 - 1, None], lambda v: pa.array(v, pa.uint64())),
    "floats": (
        pa.float64(),
        [0.0, -0.0, 1.0, *NANS, float("inf"), float("-inf"), 5e-324, None],
        exactly,
    ),
    "short floats": (pa.float32(), [0.0, -0.0, 1.0, float("nan"), 3e38, None], lambda v: pa.array(v, pa.float32())),
    "text": (
        pa.string(),
        [b"0", b"1", b"", b"\xff", b"\xed\xa0\x80", b"\0", b"0 ", "é".encode(), "e\u0301".encode()],
        text,
    ),
    "truths": (pa.bool_(), [True, False, None], lambda v: pa.array(v, pa.bool_())),
    "dates": (pa.date32(), [0, 1, 2**31 - 1, -(2**31), None], lambda v: pa.array(v, pa.int32()).view(pa.date32())),
    "moments": times(pa.timestamp("us"), [LOW + 1, HIGH - 1, 3600 * 10**6]),
    "fine moments": times(pa.timestamp("ns"), [LOW + 1, HIGH - 1]),
    "instants": times(pa.timestamp("us", "Europe/Berlin"), [1761438600 * 10**6, 1761442200 * 10**6, HIGH - 1]),
    "spans": times(pa.duration("us"), [10**15, -(10**15)]),
    "clocks": (pa.time64("us"), [0, 1, DAY // 1000 - 1, None], lambda v: stored(v, pa.time64("us"))),
    "decimals": (pa.decimal128(38, 0), WIDE, lambda v: pa.array(v, pa.decimal128(38, 0))),
    "dictionaries": (
        pa.dictionary(pa.int32(), pa.string()),
        [0, 1, 2, 3, 4, None],
        lambda v: pa.DictionaryArray.from_arrays(pa.array(v, pa.int32()), pa.array(["0", "0", "1", None, "0 "])),
    ),
}
ITEMS: dict[str, list[Any]] = {
    "text": ["0", "1", "é", ""],
    "dictionaries": ["0", "1"],
    "truths": [True, False],
    "dates": [datetime.date(1970, 1, 1), datetime.date(1970, 1, 2)],
    "moments": [datetime.datetime(1970, 1, 1), datetime.datetime(1970, 1, 1, 1)],
    "fine moments": [datetime.datetime(1970, 1, 1), pd.Timestamp(1)],
    "instants": [
        datetime.datetime.fromtimestamp(1761438600, datetime.UTC),
        datetime.datetime.fromtimestamp(1761442200, datetime.UTC),
        datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC),
    ],
    "spans": [datetime.timedelta(0), datetime.timedelta(microseconds=1)],
    "clocks": [datetime.time(0), datetime.time(0, 0, 0, 1)],
    "floats": [0.0, 1.0, float("inf")],
    "short floats": [0.0, 1.0],
    "decimals": [0, 2],
}
WEIGHTS = ("whole", "small", "unsigned", "floats", "short floats", "decimals")
NAMES = st.sampled_from(sorted(COLUMNS))


@st.composite
def tables(draw: Any) -> tuple[pa.Table, int, list[Any]]:
    """Fifty units with ordinary values, then rows of one more unit; and the domain of their items."""
    item, weight = draw(NAMES), draw(st.sampled_from(WEIGHTS))
    rows = draw(st.integers(1, 6))
    columns: dict[str, Any] = {"unit": pa.array([*range(50), *[50] * rows])}
    for name, kind in (("item", item), ("weight", weight)):
        _, stock, made = COLUMNS[kind]
        strange = [draw(st.sampled_from(stock)) for _ in range(rows)]
        columns[name] = made([stock[i % 2] for i in range(50)] + strange)
    return pa.table(columns), rows, ITEMS.get(item, [0, 1])


@pytest.mark.parametrize("engine", ENGINES)
def test_one_more_unit_moves_every_count_by_at_most_one(engine: str) -> None:
    @settings(max_examples=30)
    @given(tables(), st.sampled_from([(0, 3), (-2, 3)]), st.sampled_from([0, 1500]))
    def holds(given: tuple[pa.Table, int, list[Any]], bounds: tuple[int, int], many: int) -> None:
        table, rows, domain = given
        if engine.startswith("polars") and pa.types.is_dictionary(table.schema.field("item").type):
            table = table.set_column(1, "item", table["item"].cast(pa.string()))
        if many and isinstance(domain[0], int) and not isinstance(domain[0], bool):
            domain = [*domain, *range(5, many)]
        more = [{}, {"weights": "weight", "bounds": bounds}]
        for extra in more:
            arguments: dict[str, Any] = {"by": "item", "domain": domain, **extra}
            for unit, few in (("unit", 1), (None, rows)):
                before, after = (
                    lb.count(ENGINES[engine](each), unit=unit, **arguments).values
                    for each in (table.slice(0, 50), table)
                )
                moves = [int(b) - int(a) for a, b in zip(before, after, strict=True)]
                least, most = (min(0, bounds[0]), bounds[1]) if extra else (0, 1)
                assert few * least <= min(moves)
                assert max(moves) <= few * most
                assert extra or sum(before) >= 25

    holds()


@pytest.mark.parametrize("engine", ENGINES)
def test_forms_of_a_unit_are_counted_once(engine: str) -> None:
    """Units of every type: the number of units is that of their normal forms, whatever else the rows hold."""

    @settings(max_examples=20)
    @given(NAMES, st.data())
    def holds(kind: str, data: Any) -> None:
        _, stock, made = COLUMNS[kind]
        places = data.draw(st.lists(st.integers(0, len(stock) - 1), min_size=1, max_size=20))
        chosen = [stock[place] for place in places]
        column = made(chosen)
        if pa.types.is_dictionary(column.type):
            column = column.cast(pa.string()) if engine.startswith("polars") else column
            chosen = [{0: "0", 1: "0", 2: "1", 4: "0 "}.get(each) for each in chosen]
        normal = {each for each in chosen if each is not None and each == each}
        frame = ENGINES[engine](pa.table({"unit": column, "item": ["flu"] * len(chosen)}))
        assert lb.count(frame, by="item", unit="unit", domain=["flu"]).values.tolist() == [len(normal)]

    holds()


@settings(max_examples=150)
@given(st.lists(st.tuples(*[st.integers(0, len(OBJECTS) - 1)] * 2), max_size=8), st.sampled_from(["item", "unit", ""]))
def test_any_objects_of_one_more_unit(rows: list[tuple[int, int]], category: str) -> None:
    items, units = np.empty(50 + len(rows), object), np.empty(50 + len(rows), object)
    items[:50], units[:50] = "flu", [f"p{i}" for i in range(50)]
    for place, (item, other) in enumerate(rows, 50):
        items[place], units[place] = OBJECTS[item] if item % 3 else "flu", "x" if other % 2 else ["x"]
    frame = pd.DataFrame({"item": items, "unit": units}, dtype=object)
    counts = lb.count(frame, by="item", unit="unit", domain=["flu", 1, True, b"flu"][:2]).values.tolist()
    assert counts[0] in (50, 51)
    assert counts[1] in (0, 1)
