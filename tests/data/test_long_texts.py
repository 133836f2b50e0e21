"""One person's long texts cannot stop a count: they are counted in little memory, and two of them stay two.

A text of a megabyte in 2,200 rows is more than two gigabytes once it is written out, which no array of text holds.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lastbit as lb
from lastbit.data import object_keys
from lastbit.data.files import parquet, parquet_texts
from lastbit.data.long_texts import DIGEST_LENGTH, LONGEST_TEXT, PREFIX, shorten, shorten_array, shorten_text
from tests.table_readers import count_rows, make_items, make_rows

MANY = 2_200
LONG = "x" * 1_000_000
OTHER = "x" * 999_999 + "y"
FORM = shorten(LONG.encode()).decode()

COUNT: dict[str, Any] = {"by": "item", "unit": "unit", "domain": [LONG, "flu", OTHER]}


def repeated(values: list[str], codes: list[int], kind: pa.DataType | None = None) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(values, kind or pa.string()))


def view(values: list[str], codes: list[int]) -> pa.Array:
    """Rows that look at a few texts, which lie in memory once."""
    base = pa.array(values, pa.string_view())
    views = np.frombuffer(base.buffers()[1], "V16")[: len(values)][codes].copy()
    return pa.Array.from_buffers(pa.string_view(), len(codes), [None, pa.py_buffer(views), *base.buffers()[2:]])


def runs(values: list[str], codes: list[int]) -> pa.Array:
    ends, kept = [], []
    for place, code in enumerate(codes):
        if place + 1 == len(codes) or codes[place + 1] != code:
            ends.append(place + 1)
            kept.append(values[code])
    return pa.RunEndEncodedArray.from_arrays(pa.array(ends, pa.int32()), pa.array(kept, pa.string()))


CODES = [0] * MANY + [1, 2, 2]
TEXTS = [LONG, OTHER, "flu"]
UNITS = [*[7] * MANY, 8, 9, 10]

SHARED: dict[str, Callable[[], Any]] = {
    "dictionary": lambda: repeated(TEXTS, CODES),
    "dictionaries of several chunks": lambda: pa.chunked_array(
        [repeated(TEXTS, CODES[:2000]), repeated([*TEXTS, "flu"], CODES[2000:])]
    ),
    "dictionary of views": lambda: repeated(TEXTS, CODES, pa.string_view()),
    "dictionary of bytes": lambda: repeated([text.encode() for text in TEXTS], CODES, pa.binary()),
    "views": lambda: view(TEXTS, CODES),
    "runs": lambda: runs(TEXTS, CODES),
}


@pytest.mark.parametrize("shape", SHARED)
def test_a_text_that_lies_in_memory_once_is_never_written_out(shape: str) -> None:
    table = pa.table({"unit": UNITS, "item": SHARED[shape]()})
    domain = [text.encode() for text in COUNT["domain"]] if "bytes" in shape else COUNT["domain"]
    before = pa.total_allocated_bytes()
    assert lb.count(table, **{**COUNT, "domain": domain}).values.tolist() == [1, 2, 1]
    found = lb.count(table, by="item", unit="unit", domain=lb.UNKNOWN)
    names = [shorten(text.encode()) for text in (LONG, OTHER)]
    expected = names if "bytes" in shape else [name.decode() for name in names]
    assert {*found.highest()[0][1:]} == {*expected}
    # As units: the two long texts are two, whoever has rows of them.
    people = pa.table({"unit": table["item"], "item": ["gout"] * len(UNITS)})
    assert lb.count(people, by="item", unit="unit", domain=["gout"]).values.tolist() == [3]
    few = lb.count(people, by="item", unit="unit", domain=["gout"], most_items=1)
    assert few.values.tolist() == [3]
    assert pa.default_memory_pool().max_memory() - before < 1 << 29


def in_polars(values: list[str], codes: list[int]) -> pl.Series:
    return pl.Series("item", values).gather(codes)


def test_texts_of_polars_and_categories_of_pandas() -> None:
    frame = pl.DataFrame({"unit": UNITS, "item": in_polars(TEXTS, CODES)})
    categories = pd.DataFrame({"unit": UNITS, "item": pd.Categorical.from_codes(CODES, categories=TEXTS)})
    objects_of = pd.DataFrame({"unit": UNITS, "item": pd.Series([TEXTS[code] for code in CODES], dtype=object)})
    for table in (frame, frame.lazy(), frame.with_columns(pl.col("item").cast(pl.Categorical)), categories, objects_of):
        assert lb.count(table, **COUNT).values.tolist() == [1, 2, 1]
        found = lb.count(table, by="item", unit="unit", domain=lb.UNKNOWN).highest()
        assert [*found[0]] == ["flu", *sorted(shorten_text(text) for text in (LONG, OTHER))]


def test_a_table_of_duckdb() -> None:
    with duckdb.connect() as connection:
        connection.execute("create table visits (unit int, item varchar, raw blob)")
        connection.execute("insert into visits select 7, repeat('x', 1000000), null from range(200)")
        connection.execute("insert into visits values (8, repeat('x', 999999) || 'y', null), (9, 'flu', null)")
        connection.execute("update visits set raw = encode(item)")
        visits = connection.table("visits")
        assert lb.count(visits, **COUNT).values.tolist() == [1, 1, 1]
        raw = {**COUNT, "by": "raw", "domain": [text.encode() for text in COUNT["domain"]]}
        assert lb.count(visits, **raw).values.tolist() == [1, 1, 1]
        people = lb.count(visits, by="unit", unit="item", domain=[7, 8, 9])
        assert people.values.tolist() == [1, 1, 1]


PARQUET: dict[str, dict[str, Any]] = {
    "a dictionary": {"use_dictionary": True},
    "plain text": {"use_dictionary": False, "compression": "zstd"},
    "prefixes": {"use_dictionary": False, "column_encoding": {"item": "DELTA_BYTE_ARRAY"}, "compression": "zstd"},
}
SHAPES = [(written, coded) for written in PARQUET for coded in (False, True)][:-1]
"""PyArrow does not read prefixes into a column that is declared as a dictionary."""


def ask(path: Path, domain: list[str], unit: str = "unit", by: str = "item", **more: Any) -> list[int]:
    listed = path.parent / "items.txt"
    listed.write_text("\n".join(domain))
    rows = make_rows(str(path), unit=unit, **more)
    return [*map(int, count_rows(rows, make_items(by=[by], domain=[str(listed)])).values)]


@pytest.mark.parametrize(("written", "dictionary"), SHAPES)
def test_a_small_parquet_file_of_long_texts(written: str, dictionary: bool, tmp_path: Path) -> None:
    path, kind = tmp_path / "visits.parquet", pa.dictionary(pa.int32(), pa.string()) if dictionary else pa.string()
    schema = pa.schema([("unit", pa.int64()), ("item", kind)])
    with pq.ParquetWriter(path, schema, **PARQUET[written]) as writer:
        for start in range(0, len(CODES), 500):
            items = repeated(TEXTS, CODES[start : start + 500])
            items = items if dictionary else items.dictionary_decode()
            writer.write_batch(pa.record_batch([pa.array(UNITS[start : start + 500]), items], schema=schema))
    assert path.stat().st_size < 10**6
    assert ask(path, [LONG, "flu", OTHER]) == [1, 2, 1]
    if written == "a dictionary":  # both questions read both columns: the file's form has no say in which is the unit
        assert ask(path, ["7", "8", "9"], unit="item", by="unit") == [1, 1, 1]


def test_batches_of_parquet_are_bounded_by_their_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row group that is larger than memory shall hold is read a few rows at a time, whatever is in it."""
    monkeypatch.setattr(parquet_texts, "_ROOM", 1 << 20)
    monkeypatch.setattr(parquet_texts, "_FEW_ROWS", 16)
    path = tmp_path / "visits.parquet"
    texts = [f"{number:08}" * 12_500 for number in range(400)]
    pq.write_table(pa.table({"item": texts, "unit": range(400)}), path, use_dictionary=False, write_batch_size=4)
    schema = pq.read_schema(path)
    before, held, seen = pa.total_allocated_bytes(), [0], []
    for batch in parquet._batches(duckdb.connect(), path, ["item", "unit"], schema)[1]:
        held.append(pa.total_allocated_bytes() - before)
        seen += batch.column(0).to_pylist()
    assert seen == [shorten_text(text) for text in texts]
    assert max(held) < 16 * 4 * 100_000


def test_different_long_texts_of_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "visits.db"
    with sqlite3.connect(path) as connection:
        connection.execute("pragma synchronous = off")
        connection.execute("create table visits (unit text, item text, raw blob)")
        rows = ((f"{number:06}" * 20_000, "flu", f"{number:06}".encode() * 20_000) for number in range(300))
        connection.executemany("insert into visits values (?, ?, ?)", rows)
        connection.execute("insert into visits values (?, ?, ?)", ("a", LONG, b"a"))
    connection.close()
    before = pa.total_allocated_bytes()
    assert ask(path, [LONG, "flu", OTHER], table="visits") == [1, 300, 0]
    assert ask(path, ["flu"], unit="raw", table="visits") == [300]
    assert pa.total_allocated_bytes() - before < 10**6


def test_a_text_that_a_query_makes_has_the_same_limit(tmp_path: Path) -> None:
    path, half = tmp_path / "visits.csv", "x" * 6_000
    path.write_text(f"unit,item\n1,{half}\n2,{half}\n3,{half[1:]}\n")
    query = {"sql": "select unit, item || item as item from visits"}
    assert ask(path, [half * 2, half[1:] * 2], **query) == [2, 1]


@pytest.mark.parametrize("name", ["visits.csv", "visits.jsonl", "visits.duckdb"])
def test_long_fields_of_other_files(name: str, tmp_path: Path) -> None:
    path, long, other = tmp_path / name, "x" * 500_000, "x" * 499_999 + "y"
    rows = [("a", long), ("b", long), ("c", other), (long, "flu"), (other, "flu")]
    if name.endswith(".csv"):
        path.write_text("\n".join(["unit,item", *(f"{unit},{item}" for unit, item in rows), ""]))
    elif name.endswith(".jsonl"):
        path.write_text("\n".join([*(f'{{"unit": "{unit}", "item": "{item}"}}' for unit, item in rows), ""]))
    else:
        with duckdb.connect(path) as connection:
            connection.execute("create table visits (unit varchar, item varchar)")
            connection.executemany("insert into visits values (?, ?)", rows)
    more: dict[str, Any] = {"table": "visits"} if name.endswith(".duckdb") else {}
    assert ask(path, [long, other, "flu"], **more) == [2, 1, 2]


def test_a_text_that_looks_like_a_digest_is_another_text() -> None:
    near = [FORM, FORM[:-1] + "0", PREFIX.decode() + "é" * 32, "x" * DIGEST_LENGTH, "x" * LONGEST_TEXT]
    forms = {shorten_text(text) for text in (LONG, *near)}
    assert len(forms) == 1 + len(near)
    array = pa.array([LONG, None, *near, None])
    assert shorten_array(array).to_pylist() == [None if t is None else shorten_text(t) for t in array.to_pylist()]
    assert shorten_array(array.slice(2, 3)).to_pylist() == [shorten_text(text) for text in near[:3]]
    with duckdb.connect() as connection:
        connection.execute("create table visits (unit int, item varchar)")
        connection.executemany("insert into visits values (?, ?)", [*enumerate([LONG, *near])])
        tables = [connection.table("visits"), connection.table("visits").to_arrow_table()]
        tables += [tables[1].to_pandas(), pl.from_arrow(tables[1])]
        for table in tables:
            counts = lb.count(table, by="item", unit="unit", domain=[LONG, *near])
            assert counts.values.tolist() == [1] * (1 + len(near))
            found = lb.count(table, by="item", unit="unit", domain=lb.UNKNOWN).highest()[0]
            assert {*found} == forms


def test_no_more_than_a_few_python_objects_have_one_hash() -> None:
    """Python's hash of a number is its remainder: whoever knows this makes a dictionary look at all keys for each."""
    prime = (1 << 61) - 1
    whole: list[Any] = [number * prime for number in range(2_000)]
    ratios = [Fraction(number * prime + 1, 3) for number in range(1, 2_000)]
    identifiers = [UUID(int=number * prime) for number in range(2_000)]
    decimals = [f"{number * prime}.5" for number in range(2_000)]
    from decimal import Decimal

    for values in (whole, ratios, identifiers, [Decimal(text) for text in decimals], [(each,) for each in whole]):
        forms = [object_keys.key(value) for value in values]
        assert len({*forms}) == len(values)
        hashes = [hash(form) for form in forms]
        assert len({*hashes}) > len(values) // 2
        frame = pd.DataFrame({"item": pd.Series(values, dtype=object)})
        assert lb.count(frame, by="item", domain=values[:5]).values.tolist() == [1] * 5
