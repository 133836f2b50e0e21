"""Units that are whole numbers: each keeps the number that Python's own whole numbers say, whatever rows come."""

from __future__ import annotations

import gc
import math
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from random import Random
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from lastbit.data._units import Units
from lastbit.data.duckdb import units as words
from lastbit.data.duckdb.table import DuckDBTable
from lastbit.data.number_grid import bounded_grid
from lastbit.data.per_unit import per_unit
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


def laid_out(random: Random, values: Sequence[int | None]) -> pa.Array:
    """The values behind some rows of another array, over noise where one is missing, as any writer may lay them out."""
    start, end = random.choice((0, 1, 7, 8, 9, 64)), random.choice((0, 3))
    noise = [random.choice((0, 5, FIRST, LAST)) for _ in range(start + len(values) + end)]
    words = np.array([*noise[:start], *(noise[0] if v is None else v for v in values), *noise[:end]], np.int64)
    missing = values.count(None)
    bits = None
    if missing or random.random() < 0.3:
        known = [random.random() < 0.5 for _ in range(start)] + [v is not None for v in values] + [True] * end
        bits = pa.py_buffer(np.packbits(known, bitorder="little"))
    nulls = random.choice((-1, missing))
    return pa.Array.from_buffers(pa.int64(), len(values), [bits, pa.py_buffer(words)], nulls, start)


def hostile_stream(random: Random, batches: Sequence[Rows]) -> Any:
    """Rows as slices of arrays in slices of a batch, where writers may know how many are missing, or not."""
    slices = []
    for batch in batches:
        start, end = random.choice((0, 1, 8, 300)), random.choice((0, 2))
        rows = [*[(1, None)] * start, *batch, *[(0, 5)] * end]
        columns = [laid_out(random, [row[i] for row in rows]) for i in range(2)]
        slices.append(pa.StructArray.from_arrays(columns, names=["unit", "step"]).slice(start, len(batch)))
    kind = pa.struct([("unit", pa.int64()), ("step", pa.int64())])
    return pa.chunked_array(slices, type=kind).__arrow_c_stream__()


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
    return answers_of(stream(batches), way, low, high, lowest)


def answers_of(capsule: Any, way: str, low: int, high: int, lowest: int) -> list[tuple[int, int]]:
    units = Units(way, *KEYS, 1 << 20)
    units.set_ends(low, high, lowest)
    assert units.add(capsule)
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


@pytest.mark.parametrize("seed", range(40))
def test_rows_are_the_same_however_they_are_laid_out(seed: int) -> None:
    random = Random(seed)
    way, wide = random.choice(("mean", "total", "any")), 1 << random.choice((1, 3, 41, 60))
    low = random.randrange(-wide, wide)
    high, lowest = random.randrange(low + 1, wide + 1), low - random.choice((0, 1))
    names = random.choice((NAMES[:2], NAMES, [random.getrandbits(64) + FIRST for _ in range(900)]))
    steps = [lowest - 1, lowest, low, high, high + 1, 0, WIDE, -WIDE, *([FIRST, LAST] if way == "any" else [])]
    rare = random.choice((0, 0.01, 0.5, 1))

    def row() -> tuple[int | None, int | None]:
        unit, step = (None if random.random() < rare else random.choice(own) for own in (names, steps))
        return unit, step

    sizes = [random.choice((0, 1, 255, 256, 257, 600)) for _ in range(random.randrange(5))]
    batches = [[row() for _ in range(size)] for size in sizes]
    rows = [row for batch in batches for row in batch]
    got = answers_of(hostile_stream(random, batches), way, low, high, lowest)
    assert got == expected(rows, way, low, high, lowest)


@pytest.mark.parametrize("ending", ["all", "too many", "no memory", "other columns", "a failure"])
def test_what_was_read_is_given_back_once(ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = np.arange(5_000)
    owners = sys.getrefcount(words)
    names = ["unit"] if ending == "other columns" else ["unit", "step"]
    schema = pa.schema([(name, pa.int64()) for name in names])

    def batches() -> Iterator[pa.RecordBatch]:
        for _ in range(3):
            column = pa.Array.from_buffers(pa.int64(), len(words), [None, pa.py_buffer(words)])
            yield pa.record_batch([column] * len(names), schema=schema)
        if ending == "a failure":
            raise ValueError

    units = Units("total", *KEYS, 4_000 if ending == "too many" else 5_000)
    if ending == "no memory":
        monkeypatch.setattr("lastbit.data._units.zeros", fail)
    capsule = pa.RecordBatchReader.from_batches(schema, batches()).__arrow_c_stream__()
    problems = {"no memory": MemoryError, "other columns": ValueError, "a failure": RuntimeError}
    if ending in problems:
        with pytest.raises(problems[ending]):
            units.add(capsule)
    else:
        assert units.add(capsule) == (ending == "all")
    del capsule
    gc.collect()
    assert sys.getrefcount(words) == owners


def fail(*_: object) -> None:
    raise MemoryError


def test_a_stream_is_read_once() -> None:
    capsule = stream([[(1, 2)]])
    pa.RecordBatchReader._import_from_c_capsule(capsule)
    with pytest.raises(RuntimeError, match="could not be read"):
        Units("total", *KEYS, 10).add(capsule)


def test_units_that_are_counted_have_no_numbers() -> None:
    units = Units("count", *KEYS, 10)
    assert units.add(stream([[(1, None)]], 1))
    with pytest.raises(ValueError, match="no numbers"):
        units.numbers()


def test_words_of_a_dictionary_are_refused() -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int64()), ["a", "b"])
    with pytest.raises(ValueError, match="whole numbers of 64 bits"):
        Units("count", *KEYS, 10).add(pa.table({"unit": column}).__arrow_c_stream__())


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
    grid, low, high, _ = bounded_grid((0, 20), 1)
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


FLOATS = ("0.0", "-0.0", "nan", "inf", "-inf", "1e-300", "-1e-300", "2.999999999", "0.5", "-7.25", "1e300")
"""What a column of floats may hold."""


@pytest.mark.parametrize("per", ["mean", "total", "any"])
@pytest.mark.parametrize("missing", ["leave-out", "lowest", 5])
def test_hostile_floats_are_the_same_numbers_on_both_ways(
    per: Any, missing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(f"{per} {missing}")
    pairs = [(random.choice(NAMES), random.choice((*FLOATS, None))) for _ in range(300)]
    values = ", ".join(f"({unit}, {'NULL' if text is None else repr(text)})" for unit, text in pairs)
    rows = duckdb.sql(f"SELECT unit::BIGINT AS unit, text::DOUBLE AS step FROM (VALUES {values}) AS t(unit, text)")
    own = defaultdict[int, list[Fraction]](list)
    low, high, step, far = Fraction(-5), Fraction(7), Fraction(1, 4), Fraction(1 << 58)
    least, most = (-far, far) if per == "total" else (low, high)
    for unit, text in pairs:
        number = math.nan if text is None else float(text)
        if not math.isnan(number):
            exact = Fraction(number) if math.isfinite(number) else most if number > 0 else least
            own[unit].append(math.floor(max(least, min(most, exact)) / step) * step)
        elif missing != "leave-out":
            own[unit].append(low if missing == "lowest" else Fraction(missing))
    numbers = []
    for all_steps in own.values():
        if per == "mean":
            numbers.append(math.floor(sum(all_steps) / len(all_steps) / step) * step)
        else:
            numbers.append(max(low, min(high, max(all_steps) if per == "any" else sum(all_steps))))
    for limit in (1 << 27, 0):
        monkeypatch.setattr(words, "_MOST_UNITS", limit)
        both = per_unit(rows, of="step", unit="unit", per=per, bounds=(-5, 7), resolution="1/4", missing=missing)
        assert sorted(both.values) == sorted(numbers)


def test_where_memory_is_short_the_engine_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = duckdb.sql("SELECT i % 7 AS unit, i AS step FROM range(50) t(i)")
    monkeypatch.setattr("lastbit.data._units.zeros", fail)
    assert DuckDBTable(rows).count_units("unit") == 7
    assert len(per_unit(rows, of="step", unit="unit", bounds=(0, 9))) == 7
