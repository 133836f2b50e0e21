"""Counts of many tables in one reading: the same on every engine, and one unit moves only its own records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product
from random import Random
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lastbit as lb
from lastbit.data.records import Records
from lastbit.data.table_counting import sum_records
from lastbit.values.contribution_bound import one_key
from tests.machine import has_java

Row = tuple[Any, ...]
NAMES = ("who", "sex", "age", "place", "day")
LISTS: dict[str, list[Any]] = {"sex": ["f", "m"], "age": [10, 20, 30], "place": ["north", "süd", "it's"]}
BY = list(LISTS)


def rows_of(seed: int, units: int = 30, missing: bool = True) -> list[Row]:
    """Rows of people with several records, values that nobody listed, and values that are missing."""
    chance = Random(seed)
    rows = []
    for _ in range(units * 4):
        sex = chance.choice(["f", "m", "m", "other", *([None] if missing else [])])
        age = chance.choice([10, 20, 30, 30, 99, *([None] if missing else [])])
        who = chance.choice([*range(units), *([None] if missing else [])])
        place = chance.choice([*LISTS["place"], *([None] if missing else [])])
        rows.append((who, sex, age, place, chance.choice([1, 2, 3, *([None] if missing else [])])))
    return rows


def arrow(rows: list[Row]) -> pa.Table:
    types = (pa.int64(), pa.string(), pa.int32(), pa.string(), pa.int64())
    columns = list(zip(*rows, strict=True)) or [()] * 5
    return pa.table(
        {name: pa.array(list(column), kind) for name, column, kind in zip(NAMES, columns, types, strict=True)}
    )


ENGINES: dict[str, Callable[[list[Row]], Any]] = {
    "arrow": arrow,
    "pandas": lambda rows: pd.DataFrame(rows, columns=list(NAMES)).astype(
        {"who": "Int64", "age": "Int32", "day": "Int64"}
    ),
    "objects": lambda rows: pd.DataFrame(rows, columns=list(NAMES), dtype=object),
    "categories": lambda rows: pd.DataFrame(rows, columns=list(NAMES)).astype(
        {"who": "Int64", "age": "Int32", "day": "Int64", "sex": "category", "place": "category"}
    ),
    "polars": lambda rows: pl.from_arrow(arrow(rows)),
    "lazy": lambda rows: pl.from_arrow(arrow(rows)).lazy(),  # type: ignore[union-attr]
    "duckdb": lambda rows: duckdb.connect().from_arrow(arrow(rows)),
}


def records_of(rows: list[Row], shown: bool = False) -> dict[Any, set[tuple[int, ...]]]:
    """The records of each unit, as places: the definition."""
    found: dict[Any, set[tuple[int, ...]]] = {}
    for who, *values, _ in rows:
        places = [
            len(LISTS[name]) if value is None and shown else LISTS[name].index(value) if value in LISTS[name] else -1
            for name, value in zip(BY, values, strict=True)
        ]
        if who is not None and min(places) >= 0:
            found.setdefault(who, set()).add(tuple(places))
    return found


def tables_of(records: list[tuple[int, ...]], shown: bool = False) -> dict[tuple[str, ...], list[Any]]:
    sizes = [len(LISTS[name]) + shown for name in BY]
    found = {}
    for one, other in ((0, 1), (0, 2), (1, 2)):
        table = np.zeros((sizes[one], sizes[other]), np.int64)
        for record in records:
            table[record[one], record[other]] += 1
        found[BY[one], BY[other]] = table.tolist()
    return found


def listed(counts: lb.TableCounts) -> dict[tuple[str, ...], list[Any]]:
    return {names: array.tolist() for names, array in counts.counts.items()}


def people_by_records(counts: lb.TableCounts) -> dict[int, int]:
    numbers = counts.numbers_of_records
    assert numbers is not None
    return {size: int(number) for size, number in enumerate(numbers.tolist()) if number}


def sizes_of(records: dict[Any, set[tuple[int, ...]]]) -> dict[int, int]:
    return dict(Counter(map(len, records.values())))


OPTIONS: dict[str, Any] = {"by": BY, "domain": LISTS, "ways": 2}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("missing", ["leave-out", "show"])
def test_every_record_counts_where_there_is_room(engine: str, missing: str) -> None:
    shown = missing == "show"
    for seed in range(3):
        rows = rows_of(seed)
        counts = lb.count_tables(ENGINES[engine](rows), unit="who", most_records=99, missing=missing, **OPTIONS)
        every = [record for own in records_of(rows, shown).values() for record in own]
        assert listed(counts) == tables_of(every, shown)
        assert counts.most_records == 99
        assert people_by_records(counts) == sizes_of(records_of(rows, shown))
        assert counts.domain["sex"] == (("f", "m", "(missing)") if shown else ("f", "m"))
        alone = lb.count_tables(ENGINES[engine](rows), missing=missing, **OPTIONS)
        own = [[*records_of([(0, *row[1:])], shown).values()] for row in rows]
        assert listed(alone) == tables_of([record for sets in own for each in sets for record in each], shown)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("latest", [None, "day"])
def test_one_unit_moves_only_its_own_records(engine: str, most: int, latest: str | None) -> None:
    """The tables without a unit are the tables less some records of this unit: as many as may count, each its own."""
    rows = rows_of(7, units=12)
    make = ENGINES[engine]

    def count(some: list[Row]) -> dict[tuple[str, ...], list[Any]]:
        with one_key():
            return listed(lb.count_tables(make(some), unit="who", most_records=most, latest_by=latest, **OPTIONS))

    everyone = count(rows)
    shuffled = rows[:]
    Random(3).shuffle(shuffled)
    assert count(shuffled) == everyone
    assert count([*rows, *rows]) == everyone
    for who in range(12):
        own = [row for row in rows if row[0] == who]
        if latest is not None:
            own = [row for row in own if row[4] is not None and records_of([row])]
            last = max((row[4] for row in own), default=None)
            own = [row for row in own if row[4] == last]
        possible = sorted(records_of(own).get(who, set()))
        rest = count([row for row in rows if row[0] != who])
        moved = {names: (np.array(everyone[names]) - np.array(rest[names])).tolist() for names in rest}
        chosen = [
            pick
            for pick in product(possible, repeat=min(most, len(possible)))
            if len(set(pick)) == len(pick) and tables_of(list(pick)) == moved
        ]
        assert chosen, f"unit {who}"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("most", [1, 2, 3])
def test_it_is_known_how_many_people_have_more_records_than_count(engine: str, most: int) -> None:
    """Exactly how many; and of these, an engine may say more records than they have, and never fewer."""
    for seed in range(3):
        rows = rows_of(seed)
        counts = lb.count_tables(ENGINES[engine]([*rows, *rows]), unit="who", most_records=most, **OPTIONS)
        sizes = sizes_of(records_of(rows))
        true = [sum(n for size, n in sizes.items() if size >= least) for least in range(1, 12)]
        said = [sum(n for size, n in people_by_records(counts).items() if size >= least) for least in range(1, 12)]
        assert said[: most + 1] == true[: most + 1]
        assert all(own >= other for own, other in zip(said, true, strict=True))
        assert counts.spread([(1, most), (most + 1, None)]).values.tolist() == [true[0] - true[most], true[most]]


def test_whoever_has_a_great_many_records_is_cut() -> None:
    lots = Records(np.array([0, 1]), np.array([70000, 3]), np.array([140000, 3]))
    assert lots.numbers_of_records(70000, 10**6).tolist()[70001:] == [1]


@pytest.mark.parametrize("engine", ENGINES)
def test_nobody_has_more_records_than_there_are_combinations(engine: str) -> None:
    """Whoever has more rows than that is still among those who have as many as can be."""
    rows = [(who, sex, 10, "north", 1) for who in range(40) for sex in ("f", "m", "m", "f", "f")]
    for most in (1, 2):
        facts = {"by": ["sex"], "domain": {"sex": ["f", "m"]}, "ways": 1, "unit": "who", "most_records": most}
        counts = lb.count_tables(ENGINES[engine](rows), **facts)
        assert people_by_records(counts) == {2: 40}
        assert counts.spread([(1, 1), (2, 2)]).values.tolist() == [0, 40]


@pytest.mark.parametrize("engine", ENGINES)
def test_which_record_counts_is_a_lot(engine: str) -> None:
    rows = [(who, sex, 10, "north", 1) for who in range(400) for sex in ("f", "m")]
    shares = set()
    for key in range(3):
        with one_key(key * 1_000_003 + 17):
            counts = lb.count_tables(ENGINES[engine](rows), unit="who", **OPTIONS).counts["sex", "age"]
        assert counts.sum() == 400
        assert 120 < counts[0, 0] < 280
        shares.add(int(counts[0, 0]))
    assert len(shares) > 1


def test_many_combinations_take_two_words_and_are_the_same() -> None:
    wide = {f"c{i}": [f"v{j}" for j in range(40)] for i in range(9)}  # 2^47 combinations
    chance = Random(1)
    rows = {
        "who": [i % 50 for i in range(200)],
        **{name: [chance.choice(v) for _ in range(200)] for name, v in wide.items()},
    }
    frames = [pa.table(rows), duckdb.connect().from_arrow(pa.table(rows))]
    for most in (1, 4):
        options: dict[str, Any] = {"by": list(wide), "domain": wide, "ways": 1, "unit": "who", "most_records": most}
        memory, engine = (lb.count_tables(frame, **options) for frame in frames)
        assert {int(array.sum()) for array in (*memory.counts.values(), *engine.counts.values())} == {50 * most}
        if most == 4:
            assert listed(memory) == listed(engine)
    too_many = {f"c{i}": list(range(100)) for i in range(10)}
    with pytest.raises(lb.ParameterError, match=r"fewer than 2\^62 combinations"):
        lb.count_tables(pa.table({name: [1] for name in too_many}), by=list(too_many), domain=too_many, ways=1)


def test_what_cannot_be_counted_is_refused_in_public_words() -> None:
    frame = arrow(rows_of(1))
    with pytest.raises(lb.ParameterError, match="missing must be 'leave-out' or 'show'"):
        lb.count_tables(frame, missing="drop", **OPTIONS)
    with pytest.raises(lb.ParameterError, match="need a unit"):
        lb.count_tables(frame, most_records=2, **OPTIONS)
    with pytest.raises(lb.ParameterError, match="domain must be given"):
        lb.count_tables(frame, by=BY, domain=None, ways=2)
    with pytest.raises(lb.ParameterError, match="sex must have two values or more: got 1 value"):
        lb.count_tables(frame, by=BY, domain={**LISTS, "sex": ["f"]}, ways=2)
    with pytest.raises(lb.ParameterError, match="takes two of its values for one"):
        lb.count_tables(frame, by=BY, domain={**LISTS, "age": ["1", "01"]}, ways=2)


def test_sums_of_records_are_taken_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lastbit.data.table_counting._CHUNK", 3)
    places, times = np.arange(12), np.arange(12) % 3 + 1
    whole = times.reshape(2, 3, 2)
    found = sum_records(Records(places, times, np.ones(12, np.int64)), (2, 3, 2), [(0, 1), (2,), (0, 1, 2)])
    assert np.array_equal(found[0, 1], whole.sum(axis=2))
    assert np.array_equal(found[2,], whole.sum(axis=(0, 1)))
    assert np.array_equal(found[0, 1, 2], whole)


if has_java():

    @pytest.mark.xdist_group("spark")
    @pytest.mark.filterwarnings("ignore")
    def test_spark_counts_the_same(session: Any) -> None:
        rows = rows_of(2)
        frame = session.createDataFrame(rows, "who long, sex string, age int, place string, day long")
        for missing, most, latest in (("leave-out", 99, None), ("show", 99, None), ("leave-out", 99, "day")):
            options: dict[str, Any] = {"unit": "who", "most_records": most, "missing": missing, "latest_by": latest}
            found, expected = (lb.count_tables(each, **options, **OPTIONS) for each in (frame, arrow(rows)))
            assert listed(found) == listed(expected)
            assert people_by_records(found) == people_by_records(expected)
        assert listed(lb.count_tables(frame, **OPTIONS)) == listed(lb.count_tables(arrow(rows), **OPTIONS))
        one = lb.count_tables(frame, unit="who", **OPTIONS)
        sizes = sizes_of(records_of(rows))
        assert one.spread([(1, 1), (2, None)]).values.tolist() == [sizes[1], sum(sizes.values()) - sizes[1]]
        with one_key(5):
            several = listed(lb.count_tables(frame.union(frame), unit="who", **OPTIONS))
            assert listed(lb.count_tables(frame, unit="who", **OPTIONS)) == several
        assert {int(array.sum()) for array in one.counts.values()} == {len(records_of(rows))}
