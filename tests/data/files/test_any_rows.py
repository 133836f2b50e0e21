"""Rows of one person, whatever they are: those of everyone else are read as if they were not there."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastbit.data.files.lines import Lines, batches
from lastbit.data.files.open_table import open_table
from tests.data.files.test_open_table import FILES, PEOPLE, WANTED, rows, text_array, write
from tests.machine import has_postgres

few = settings(max_examples=25)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rows")


def same(found: Counter[tuple[Any, ...]]) -> bool:
    """Whether the people are there, once each; nobody else is called a person."""
    return Counter({row: n for row, n in found.items() if str(row[0]).startswith("person-")}) == Counter(PEOPLE)


pieces = st.one_of(
    st.sampled_from(
        [b'"', b'""', b",", b"\t", b"\r", b"\n", b"\r\n", b"\0", b"\\", b" ", b"{", b"}", b"[", b"]", b":"]
    ),
    st.sampled_from([b"900", b"cold", b"1e400", b"-0", b"nan", b'"unit":', b'"item":', b'"weight":', b"\\ud800"]),
    st.sampled_from([b"\xff", b"\xc3\xa9", b"\xe2\x82", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xf4\x90\x80\x80"]),
    st.binary(max_size=4),
)
wild = st.lists(pieces, max_size=14).map(b"".join)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
keys = st.sampled_from(["unit", "item", "weight"]) | st.text(max_size=3)
records = st.dictionaries(keys, values, max_size=5).map(lambda record: json.dumps(record).encode())
hostile = st.lists(st.tuples(st.integers(0, 50), wild | records), min_size=1, max_size=6)


def field(separator: bytes) -> re.Pattern[bytes]:
    return re.compile(b'"((?:[^"]|"")*)"|((?!")[^' + separator + b"]*)")


def spelled(line: bytes, separator: bytes, fields: int) -> tuple[str, ...] | None:
    """The rule for one line of fields, written down once more."""
    if b"\0" in line:
        return None
    found, at = [], 0
    line = line.removesuffix(b"\r")
    while True:
        match = field(separator).match(line, at)
        if match is None:
            return None
        found.append(match[2] if match[1] is None else match[1].replace(b'""', b'"'))
        at = match.end()
        if at == len(line):
            break
        if line[at : at + 1] != separator:
            return None
        at += 1
    try:
        line.decode()
        return tuple(each.decode() for each in found) if len(found) == fields else None
    except UnicodeDecodeError:
        return None


@few
@pytest.mark.parametrize("name", FILES)
@given(lines=hostile)
def test_lines(name: str, folder: Path, lines: list[tuple[int, bytes]]) -> None:
    good, path = FILES[name](), folder / name
    head = len(good) - len(PEOPLE)
    content = list(good)
    for place, line in lines:
        content.insert(head + place, line)
    write(path, content)
    together = rows(path)
    assert same(together)
    # Each of them is read as it is read alone.
    write(path, [*good[:head], *(line for _, line in lines)])
    alone = rows(path)
    assert together.total() == alone.total() + len(PEOPLE)
    assert {row[:2] for row in together} == {row[:2] for row in alone} | {row[:2] for row in PEOPLE}


@given(content=st.lists(wild, max_size=8), separator=st.sampled_from([",", "\t"]), block=st.integers(1, 40))
def test_fields_are_split_as_the_rule_says(folder: Path, content: list[bytes], separator: str, block: int) -> None:
    path = folder / "fields.csv"
    path.write_bytes(b"header\n" + b"\n".join(content))
    schema = pa.schema([("c0", pa.string()), ("c1", pa.string())])
    read = batches(Lines(path, header=True, block=block), schema, [1, -1, 0], separator, quotes=True)
    found = [(row["c1"], row["c0"]) for batch in read for row in batch.to_pylist()]
    pieces = b"\n".join(content).split(b"\n")
    texts = [spelled(line, separator.encode(), 3) for line in (pieces if pieces[-1] else pieces[:-1])]
    assert found == [(text[0], text[2]) for text in texts if text is not None]


cells = st.one_of(
    st.none(), st.integers(-(2**63), 2**63 - 1), st.floats(), st.text(max_size=6), st.binary(max_size=6),
    st.sampled_from(["1e400", "12abc", b"\xff", "a\0b", "FLU", "flu ", 9e999]),
)  # fmt: skip


@few
@given(
    strange=st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=5),
    distinct=st.booleans(),
    encoding=st.sampled_from(["UTF-8", "UTF-16le"]),
)
def test_rows_of_sqlite(folder: Path, strange: list[tuple[Any, ...]], distinct: bool, encoding: str) -> None:
    path = folder / "rows.db"
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.execute(f"pragma encoding = '{encoding}'")
    connection.execute("pragma synchronous = off")
    connection.execute("create table t (unit text collate nocase, item collate rtrim, weight numeric)")
    connection.executemany("insert into t values (?, ?, ?)", [*PEOPLE[:25], *strange, *PEOPLE[25:]])
    connection.commit()
    connection.close()
    found = rows(path, "t")
    assert same(found)
    assert found.total() == len(PEOPLE) + len(strange)


times = st.integers(-(2**63), 2**63 - 1) | st.sampled_from([2**63 - 1, -(2**63), 253_402_300_800_000_000])


@few
@given(
    strange=st.lists(st.tuples(wild, times, st.floats(width=32)), min_size=1, max_size=5),
    zone=st.sampled_from([None, "UTC", "America/New_York"]),
    unit=st.sampled_from(["ms", "us", "ns"]),
    group=st.integers(1, 60),
    dictionary=st.booleans(),
)
def test_rows_of_parquet(
    folder: Path,
    strange: list[tuple[bytes, int, float]],
    zone: str | None,
    unit: str,
    group: int,
    dictionary: bool,
) -> None:
    path = folder / "rows.parquet"
    more = len(strange)
    table = pa.table(
        {
            "unit": text_array([*(name.encode() for name, _, _ in PEOPLE), *(text for text, _, _ in strange)]),
            "item": text_array([*(item.encode() for _, item, _ in PEOPLE), *(text for text, _, _ in strange)]),
            "weight": pa.array([*(weight for _, _, weight in PEOPLE), *(number for _, _, number in strange)]),
            "time": pa.array([0] * 50 + [time for _, time, _ in strange], pa.int64()).view(pa.timestamp(unit, zone)),
        }
    )
    pq.write_table(table, path, row_group_size=group, use_dictionary=dictionary, store_schema=group % 2 == 0)
    found = rows(path)
    assert same(found)
    assert found.total() == 50 + more
    for columns in (("time",), ("time", "item")):
        relation = open_table(str(path), type(WANTED)(columns)).relation
        # As text: Python has no times so far away.
        found = Counter(relation.project("CAST(time AS VARCHAR), CAST(CAST(time AS TIMESTAMP) AS DATE)").fetchall())
        assert found.total() == 50 + more
        assert found.most_common(1)[0][1] >= 50


if has_postgres():
    numbers = st.one_of(
        st.none(),
        st.sampled_from(["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1e-400", "1e131071", "0"]),
        st.decimals(allow_nan=False, allow_infinity=False).map(str),
    )
    moments = st.sampled_from([None, "infinity", "-infinity", "294276-12-31", "4713-01-01 BC", "2020-03-29 02:30"])
    words = st.none() | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6)

    @few
    @given(strange=st.lists(st.tuples(words, words, numbers, moments), min_size=1, max_size=5), distinct=st.booleans())
    def test_rows_of_postgresql(server: str, strange: list[tuple[Any, ...]], distinct: bool) -> None:
        place = f"postgresql://lastbit@/postgres?host={server}"
        with psycopg.connect(place, autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute("set synchronous_commit = off")
            cursor.execute("create table if not exists anything (unit text, item text, weight numeric, at timestamptz)")
            cursor.execute("truncate anything")
            people = [(*person, "2020-01-01") for person in PEOPLE]
            insert = "insert into anything values (%s, %s, %s::text::numeric, %s::text::timestamptz)"
            cursor.executemany(insert, [*people[:25], *strange, *people[25:]])
        found = rows(place, "anything")
        assert same(found)
        assert found.total() == 50 + len(strange)
        columns = ("unit", "item", "at")
        found = rows(place, "anything", type(WANTED)(columns, distinct=distinct))
        assert {row[:2] for row in found} >= {person[:2] for person in PEOPLE}
        assert found.total() == 50 + len({(u, i, a) for u, i, _, a in strange} if distinct else strange)
