"""Units that are whole numbers: each keeps the number that Python's own whole numbers say, whatever rows come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from lastbit.data._units import Units
from lastbit.data.duckdb import units as words
from lastbit.data.duckdb.table import DuckDBTable
from lastbit.data.per_unit import _grid
from lastbit.data.table import Task
from lastbit.data.weights import Weights

FIRST, LAST = -(1 << 63), (1 << 63) - 1
WIDE = 1 << 60
NAMES = (0, 1, -1, FIRST, LAST, 7, 1 << 32, 1 << 31, FIRST + 1)
KEYS = (11_400_714_819_323_198_485, 7_046_029_254_386_353_131)

Rows = Sequence[tuple[int | None, int | None]]


def stream(batches: Sequence[Rows], columns: int = 2) -> Any:
    schema = pa.schema([("unit", pa.int64()), ("step", pa.int64())][:columns])
    arrays = [[pa.array([row[i] for row in batch], pa.int64()) for i in range(columns)] for batch in batches]
    own = [pa.record_batch(list(arrays), schema=schema) for arrays in arrays]
    return pa.RecordBatchReader.from_batches(schema, own).__arrow_c_stream__()


def expected(rows: Rows, way: str, low: int, high: int, lowest: int) -> list[tuple[int, int]]:
    """The number and the side of each unit, in Python's whole numbers."""
    numbers: dict[int, list[int]] = {}
    for unit, step in rows:
        if unit is not None and step is not None:
            numbers.setdefault(unit, []).append(step)
    answers = []
    for own in numbers.values():
        if way == "mean":
            number = low + sum(min(max(step, low), high) - low for step in own) // len(own)
            side = 1 if max(own) > high else -1 if min(own) < lowest else 0
        else:
            whole = max(own) if way == "any" else sum(own)
            number, side = min(max(whole, low), high), 1 if whole > high else -1 if whole < lowest else 0
        answers.append((number, side))
    return sorted(answers)


def answers(batches: Sequence[Rows], way: str, low: int, high: int, lowest: int) -> list[tuple[int, int]]:
    units = Units(way, *KEYS, 1 << 20)
    units.set_ends(low, high, lowest)
    assert units.add(stream(batches))
    steps, sides = units.numbers()
    assert len(units) == len(steps)
    return sorted(zip(steps.tolist(), sides.tolist(), strict=True))


@pytest.mark.parametrize("way", ["mean", "total", "any"])
@pytest.mark.parametrize(
    ("low", "high", "lowest"), [(0, 10, 0), (-5, 7, -6), (-WIDE, WIDE, -WIDE), (3, 9, 2), (-9, -3, -9)]
)
def test_every_unit_has_the_number_of_its_rows(way: str, low: int, high: int, lowest: int) -> None:
    random = Random(7)
    steps = [*range(-12, 13), WIDE, -WIDE, WIDE - 1, 1 - WIDE, None]
    batches = [
        [(random.choice((*NAMES, None)), random.choice(steps)) for _ in range(size)]
        for size in (1, 0, 700, 255, 257, 3)
    ]
    rows = [row for batch in batches for row in batch]
    assert answers(batches, way, low, high, lowest) == expected(rows, way, low, high, lowest)


@pytest.mark.parametrize("way", ["mean", "total", "any"])
@pytest.mark.parametrize(("low", "high", "lowest"), [(-5, 7, -6), (3, 9, 2), (-9, -3, -9)])
def test_a_number_at_a_bound_is_not_beyond_it(way: str, low: int, high: int, lowest: int) -> None:
    near = [lowest - 1, lowest, low, high, high + 1]
    rows = [(unit, step) for unit, step in enumerate(near)]
    rows += [
        (10 + 5 * i + k, step)
        for i, first in enumerate(near)
        for k, second in enumerate(near)
        for step in (first, second)
    ]
    assert answers([rows], way, low, high, lowest) == expected(rows, way, low, high, lowest)


@pytest.mark.parametrize("way", ["mean", "total", "any"])
def test_tables_grow_with_their_units(way: str) -> None:
    random = Random(8)
    names = [random.getrandbits(64) + FIRST for _ in range(5_000)] + [*range(-2_000, 2_000)]
    rows = [(random.choice(names), random.randrange(-50, 50)) for _ in range(30_000)]
    batches = [rows[at : at + 1_000] for at in range(0, len(rows), 1_000)]
    assert answers(batches, way, -20, 30, -21) == expected(rows, way, -20, 30, -21)


@pytest.mark.parametrize("sign", [1, -1])
def test_sums_beyond_64_bits_are_exact(sign: int) -> None:
    rows = [(3, sign * WIDE)] * 1_000 + [(3, -sign * WIDE)] * 999 + [(4, sign * WIDE)] * 1_000
    assert answers([rows], "total", -(2 * WIDE), 2 * WIDE, -(2 * WIDE)) == sorted(
        [(sign * WIDE, 0), (sign * 2 * WIDE, sign)]
    )
    rows = [(0, sign * WIDE)] * 1_000 + [(0, -sign * WIDE)] * 334
    assert answers([rows], "mean", -WIDE, WIDE, -WIDE) == [(sign * WIDE * 666 // 1_334, 0)]


def test_units_are_counted_once_each() -> None:
    rows = [(name, None) for name in [*NAMES, *NAMES, None, *range(3_000)]]
    units = Units("count", *KEYS, 1 << 20)
    assert units.add(stream([rows[:1_500], [], rows[1_500:]], 1))
    assert len(units) == len({*NAMES, *range(3_000)})


@pytest.mark.parametrize("way", ["count", "mean"])
def test_too_many_units_are_given_up(way: str) -> None:
    rows = [(name, 1) for name in range(5_000)]
    assert not Units(way, *KEYS, 4_999).add(stream([rows], 1 if way == "count" else 2))
    assert Units(way, *KEYS, 5_000).add(stream([rows], 1 if way == "count" else 2))


def test_slices_of_arrays_begin_where_they_begin() -> None:
    table = pa.table(
        {"unit": pa.array([9, 9, 1, 2, None, 1], pa.int64()), "step": pa.array([5, 5, 3, 4, 8, None], pa.int64())}
    )
    units = Units("total", *KEYS, 100)
    units.set_ends(0, 100, 0)
    assert units.add(table.slice(2).__arrow_c_stream__())
    assert sorted(units.numbers()[0].tolist()) == [3, 4]


@pytest.mark.parametrize(
    "query",
    ["SELECT 1, 2", "SELECT 1::BIGINT", "SELECT 1::BIGINT, 2::DOUBLE", "SELECT 1::BIGINT, 2::BIGINT, 3::BIGINT"],
)
def test_other_columns_are_refused(query: str) -> None:
    with pytest.raises(ValueError, match="whole numbers of 64 bits"):
        Units("mean", *KEYS, 100).add(duckdb.sql(query).__arrow_c_stream__())


def test_a_stream_that_fails_says_nothing_of_its_rows() -> None:
    schema = pa.schema([("unit", pa.int64())])

    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch([pa.array([1, 2], pa.int64())], schema=schema)
        raise ValueError("secret")

    failing = pa.RecordBatchReader.from_batches(schema, batches())
    with pytest.raises(RuntimeError) as caught:
        Units("count", *KEYS, 1 << 20).add(failing.__arrow_c_stream__())
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("kind", ["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"])
def test_the_engine_and_the_stream_find_the_same_numbers(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = duckdb.sql(
        f"SELECT (i % 97)::{kind} AS unit, CASE WHEN i % 11 > 0 THEN i % 41 - 9 END AS step FROM range(999) t(i)"
    )
    grid, low, high, _ = _grid((0, 20), 1)
    answers_of_both = []
    for most in (1 << 27, 3):
        monkeypatch.setattr(words, "_MOST_UNITS", most)
        table = DuckDBTable(rows)
        people = table.count_units("unit")
        for per in ("mean", "total", "any"):
            far = WIDE if per == "total" else high + 1
            amount = Weights(grid, -far, far, None)
            task = Task((), "unit", "step", amount, None, per, None, (low, high), True, low)  # type: ignore[arg-type]
            positions, steps, ranks, beyond = table.compute_numbers(task, [])
            assert set(positions) == {0}
            assert set(ranks) == {1}
            answers_of_both.append((people, per, sorted(zip(steps.tolist(), np.asarray(beyond).tolist(), strict=True))))
    assert answers_of_both[:3] == answers_of_both[3:]
