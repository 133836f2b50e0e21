"""Counting by sorting gives what the engine gives, whatever the rows are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lastbit as lb
from lastbit.data.duckdb import sorting, table

LOW, HIGH = -(1 << 63), (1 << 63) - 1
NUMBERS = st.one_of(st.integers(-3, 6), st.sampled_from([LOW, LOW + 1, HIGH, None]))
UNITS = st.one_of(st.integers(-3, 6), st.sampled_from([-(1 << 39), (1 << 39) - 1, None]))
ROWS = st.lists(st.tuples(NUMBERS, NUMBERS, UNITS), max_size=40)


def relation(rows: list[Any]) -> Any:
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    arrays = [pa.array(column, pa.int64()) for column in columns]
    table = pa.table(dict(zip(("item", 'wa"rd', "unit"), arrays, strict=True)))
    connection = duckdb.connect()
    # A table of the engine's own: what comes from Arrow may be a stream, and is not sorted.
    connection.from_arrow(table).create("visits")
    return connection.table("visits")


def truth(rows: list[Any], items: list[tuple[int, ...]], width: int) -> list[int]:
    pairs = {(row[:width], row[2]) for row in rows if row[2] is not None}
    return [sum(key == item for key, _ in pairs) for item in items]


@pytest.fixture
def only_sorted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the engine count nothing, and short lists be counted by sorting too: something must have been."""
    counted = []

    def count(*arguments: Any) -> Any:
        counted.append(sorting.count_by_sorting(*arguments))
        return counted[-1]

    monkeypatch.delattr(table.DuckDBTable, "_group")
    monkeypatch.setattr(table, "can_mask", lambda *_: False)
    monkeypatch.setattr(table, "count_by_sorting", count)
    yield
    assert counted, "nothing was counted by sorting"
    assert all(each is not None for each in counted)


@pytest.mark.usefixtures("only_sorted")
@pytest.mark.parametrize("pending", [1, 3, 1 << 24])
def test_sorting_counts_distinct_units(pending: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "_BATCH", 2)
    monkeypatch.setattr(sorting, "_PENDING", pending)

    @settings(max_examples=30)
    @given(ROWS, st.lists(NUMBERS.filter(lambda item: item in range(-9, 9)), min_size=1, unique=True))
    def agrees(rows: list[Any], domain: list[int]) -> None:
        counts = lb.count(relation(rows), by="item", unit="unit", domain=domain)
        assert counts.values.tolist() == truth(rows, [(item,) for item in domain], 1)
        both = lb.count(relation(rows), by=["item", 'wa"rd'], unit="unit", domain=[domain, [4, -2]])
        assert both.values.tolist() == truth(rows, list(both.items), 2)

    agrees()


@pytest.mark.usefixtures("only_sorted")
def test_items_at_the_ends_of_64_bits() -> None:
    rows = [(HIGH, 0, 1), (HIGH, 0, 2), (HIGH - 9, 0, 2), (LOW, 0, 2)]
    assert lb.count(relation(rows), by="item", unit="unit", domain=[HIGH - 1, HIGH]).values.tolist() == [0, 2]
    assert lb.count(relation(rows), by="item", unit="unit", domain=[LOW]).values.tolist() == [1]


@pytest.mark.usefixtures("only_sorted")
@pytest.mark.parametrize("kind", ["tinyint", "smallint", "integer", "utinyint", "usmallint", "uinteger"])
def test_every_width_of_whole_numbers(kind: str) -> None:
    rows = duckdb.sql(f"select (i % 5)::{kind} as item, (i % 100)::{kind} as unit from range(1000) as t(i)")
    assert lb.count(rows, by="item", unit="unit", domain=range(-1, 6)).values.tolist() == [0, 20, 20, 20, 20, 20, 0]


@pytest.mark.parametrize("kind", ["ubigint", "hugeint", "double", "varchar", "decimal(9, 2)"])
def test_what_is_not_sorted_is_counted_by_the_engine(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(table, "count_by_sorting")
    rows = duckdb.sql(f"select i % 5 as item, (i % 100)::{kind} as unit from range(1000) as t(i)")
    assert lb.count(rows, by="item", unit="unit", domain=range(6)).values.tolist() == [20, 20, 20, 20, 20, 0]


def test_a_domain_too_wide_and_pairs_too_many_are_for_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(item, 0, unit) for item in (1, 10**6) for unit in range(9)]
    assert lb.count(relation(rows), by="item", unit="unit", domain=[10**6, 1, 2]).values.tolist() == [9, 9, 0]
    beyond = lb.count(relation(rows), by="item", unit="unit", domain=[1 << 64, 1])
    assert beyond.values.tolist() == [0, 9]
    monkeypatch.setattr(sorting, "_BATCH", 2)
    monkeypatch.setattr(sorting, "_PENDING", 4)
    monkeypatch.setattr(sorting, "_MOST_PAIRS", 5)
    assert sorting.count_by_sorting(relation(rows), ["item"], "unit", [[1]]) is None
    assert lb.count(relation(rows), by="item", unit="unit", domain=[1, 2]).values.tolist() == [9, 0]


@pytest.mark.parametrize("items", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_unit_too_long_for_its_word_is_for_the_engine(items: int, sign: int) -> None:
    half = 1 << (63 - max(1, (items - 1).bit_length()))
    last = half - 1 if sign > 0 else -half
    for unit, fits in ((last, True), (last + sign, False)):
        rows = [(item, 0, each) for item in range(items) for each in (unit, 0, unit, sign)]
        found = sorting.count_by_sorting(relation(rows), ["item"], "unit", [range(items)])
        assert (found is not None) == fits
        assert lb.count(relation(rows), by="item", unit="unit", domain=range(items)).values.tolist() == [3] * items


def test_an_engine_that_fails_while_its_rows_are_sorted_is_not_quoted() -> None:
    broken = duckdb.sql("select cast(name as integer) as item, 1 as unit from (values ('1'), ('secret')) as t(name)")
    with pytest.raises(lb.DataError) as caught:
        lb.count(broken, by="item", unit="unit", domain=[1])
    assert "ConversionException" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None
