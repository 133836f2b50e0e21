"""One line, or one row, changes only itself: what each kind of place does with rows that once reached into others."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lastbit as lb
from lastbit.data.duckdb.relation import ColumnSelection
from lastbit.data.files import lines
from lastbit.data.files.open_table import list_columns, open_table
from lastbit.data.long_texts import shorten
from lastbit.data.query.plan import RowPlan
from tests.machine import has_postgres

PEOPLE = [(f"person-{i}", ("flu", "cold", "gout")[i % 3], i / 4) for i in range(50)]
WANTED = ColumnSelection(("unit", "item"), weights="weight")
NAMES = list(WANTED.names)


def rows(place: str | Path, table: str | None = None, wanted: ColumnSelection = WANTED) -> Counter[tuple[Any, ...]]:
    return Counter(open_table(str(place), wanted, table).relation.fetchall())


def separated(separator: str) -> list[bytes]:
    return [separator.join(map(str, person)).encode() for person in [NAMES, *PEOPLE]]


def objects() -> list[bytes]:
    return [json.dumps(dict(zip(NAMES, person, strict=True))).encode() for person in PEOPLE]


FILES: dict[str, Callable[[], list[bytes]]] = {
    "rows.csv": lambda: separated(","),
    "rows.tsv": lambda: separated("\t"),
    "rows.csv.gz": lambda: separated(","),
    "rows.jsonl": objects,
    "rows.ndjson.gz": objects,
}
"""The lines of the people in each kind of text file."""


def write(path: Path, content: Sequence[bytes]) -> None:
    text = b"".join(line + b"\n" for line in content)
    path.write_bytes(gzip.compress(text, 1) if path.suffix == ".gz" else text)


HOSTILE = {
    "text after a quote": b'900,"co"ld,1',
    "a quote never closed": b'900,"cold,1',
    "a quote alone": b'"',
    "a quote that begins last": b'900,cold,"',
    "three quotes": b'900,""",1',
    "a lone carriage return": b"900,cold\r901,flu,1",
    "carriage returns only": b"\r\r\r",
    "another line end": b"900,cold,1\r",
    "too many fields": b"900,cold,1,2",
    "too few fields": b"900",
    "nothing": b"",
    "no UTF-8": b"900,\xff\xfe,1",
    "half a character": b"900,cold,1\xe2\x82",
    "a surrogate in bytes": b"900,\xed\xa0\x80,1",
    "a NUL": b"900,co\0ld,1",
    "the end of a file in DOS": b"\x1a",
    "a mark of byte order": b"\xef\xbb\xbf900,cold,1",
    "a long line": b"900," + b"x" * 3_000_000 + b",1",
    "another separator": b"900;cold;1",
    "a comment": b"# 900,cold,1",
    "an escape": b'900,"co\\"ld",1',
    "a weight that is no number": b"900,cold,1e999999x",
    "a weight without end": b"900,cold," + b"9" * 5000,
    "a scalar": b"5",
    "a text": b'"cold"',
    "null": b"null",
    "a list": b'[{"unit":"900","item":"cold","weight":1}]',
    "other keys": b'{"secret":1,"UNIT":"900"}',
    "many keys": json.dumps({f"key{i}": i for i in range(500)}).encode(),
    "no keys": b"{}",
    "keys twice": b'{"unit":"900","unit":[],"item":"cold","item":{}}',
    "a surrogate": b'{"unit":"\\ud800","item":"\\udfff","weight":1}',
    "a NUL escaped": b'{"unit":"9\\u000000","item":"\\u0000","weight":1}',
    "depth": b'{"unit":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    "depth never closed": b'{"unit":' * 50_000,
    "large numbers": b'{"unit":1e400,"item":' + b"9" * 5000 + b',"weight":-1e400}',
    "not a number": b'{"unit":NaN,"item":Infinity,"weight":-Infinity}',
    "lists as values": b'{"unit":[1],"item":{"a":2},"weight":[3]}',
    "truth as values": b'{"unit":true,"item":false,"weight":true}',
    "two objects": b'{"unit":"900"} {"unit":"901"}',
    "a brace never closed": b'{"unit":"900","item":"cold',
    "another kind of file": b"PAR1",
    "and another": b'{"unit":DUCK',
}


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_line_changes_only_itself(name: str, tmp_path: Path) -> None:
    good, path = FILES[name](), tmp_path / name
    write(path, good)
    types = open_table(str(path), WANTED).relation.types
    alone = Counter(PEOPLE)
    assert rows(path) == alone
    head = good[: len(good) - len(PEOPLE)]
    for hostile in HOSTILE.values():
        line = hostile.replace(b",", b"\t") if name.endswith("tsv") else hostile
        write(path, [*head, line, *good[len(head) : 25], line, *good[25:], line])
        relation = open_table(str(path), WANTED).relation
        assert relation.types == types
        found = Counter(relation.fetchall())
        assert Counter({row: n for row, n in found.items() if str(row[0]).startswith("person-")}) == alone
        # The three of them are the same line, and so the same row or none.
        assert set((found - alone).values()) <= {3}


def test_fields_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(
        b'\xef\xbb\xbfunit,"it""em",weight\r\n'
        b'1,"a ""b"", c",2.50\r\n2, "x" ,1e3\n"",,\n3,5" disk,"-0.5"\n4,\xe2\x82\xac,nan\n5,\r\r,\n'
        b'6,"\r",0x10\n7,z,1_000'
    )
    wanted = ColumnSelection(('it"em', "unit"), weights="weight")
    found = open_table(str(path), wanted).relation.fetchall()
    assert [row[:2] for row in found] == [
        ('a "b", c', "1"), (' "x" ', "2"), (None, None), ('5" disk', "3"), ("€", "4"), ("\r\r", "5"), ("\r", "6"),
        ("z", "7"),
    ]  # fmt: skip
    assert str([row[2] for row in found]) == "[2.5, 1000.0, None, -0.5, nan, None, None, 1000.0]"


def test_values_of_json_as_text(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    values = ['"1"', "1", "-0", "1.0", "1e2", "0.10", "true", "null", '[1, {"a": "b"}]', '"\\u00e9\\n"', "1e400", '""']
    path.write_text("\ufeff" + "".join(f'  {{ "k/~" : {value} , "K/~": 0 }}\r\n' for value in values))
    found = open_table(str(path), ColumnSelection(("k/~", "nobody"))).relation.fetchall()
    texts = ["1", "1", "0", "1.0", "100.0", "0.1", "true", None, '[1,{"a":"b"}]', "é\n", "1e400", ""]
    assert found == [(text, None) for text in texts]


def test_no_key_found_in_rows_is_ever_said(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    write(path, [b'{"secret":1}', b'{"unit":"1","item":"flu"}'])
    for name in ("nobody", "secret's", '"'):
        assert open_table(str(path), ColumnSelection((name,))).relation.fetchall() == [(None,), (None,)]
    with pytest.raises(lb.ParameterError, match="there is no column '': the table has item"):
        open_table(str(path), ColumnSelection(("item", "")))


@pytest.mark.parametrize("content", [b"", b"[", b'[{"unit": 1}]', b'{"unit": 1}\n', b"PAR1"])
def test_one_long_document_is_refused_by_its_name(content: bytes, tmp_path: Path) -> None:
    for path, packed in ((tmp_path / "rows.json", content), (tmp_path / "rows.JSON.gz", gzip.compress(content))):
        path.write_bytes(packed)
        with pytest.raises(lb.ParameterError, match=r"must be JSON lines.*name the file \.jsonl"):
            open_table(str(path), WANTED)


HEADERS = {
    "nothing": b"",
    "no UTF-8": b"unit,it\xffem\n",
    "a NUL": b"unit,it\0em\n",
    "a quote never closed": b'unit,"item\nsecret,"\n',
    "text after a quote": b'unit,"it"em\n',
    "carriage returns as line ends": b"unit,item\rsecret,flu\r",
    "too long": b"unit,item," + b"x" * 2_000_000 + b"\n",
}


@pytest.mark.parametrize("case", HEADERS)
def test_a_first_line_that_names_no_columns(case: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(HEADERS[case])
    with pytest.raises(lb.ParameterError, match=r"the first line of .* must name its columns") as caught:
        open_table(str(path), ColumnSelection(("item",)))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("block", [1, 2, 3, 7, 64, 1 << 20])
def test_where_a_block_ends_means_nothing(block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LONGEST_LINE", 9)
    path = tmp_path / "rows.csv"
    texts = ["", "123456789", "1234567890", "123456789\r", "1234567890\r", "12345678\r\r", "é" * 4 + "x", "é" * 5]
    schema = pa.schema([("c0", pa.string())])
    for end in ("", "\n", "\r", "\n\n", "x" * 99, "x" * 99 + "\n"):
        path.write_bytes(("header\n" + "\n".join(texts) + "\n" + end).encode())
        reader = lines.Lines(path, header=True, block=block)
        found = [str(value) for batch in lines.batches(reader, schema, [0], ",", quotes=True) for value in batch[0]]
        rest = {"\n": [""], "\r": [""], "\n\n": ["", ""]}.get(end, [])
        assert found == ["", "123456789", "123456789", "12345678\r", "é" * 4 + "x", *rest]
        assert reader.percent_read() == 100


def sqlite_file(path: Path, declared: str, values: Sequence[tuple[Any, ...]], encoding: str = "UTF-8") -> Path:
    connection = sqlite3.connect(path)
    connection.execute(f"pragma encoding = '{encoding}'")
    connection.execute(f"create table visits ({declared})")
    connection.executemany("insert into visits values (?, ?, ?)", values)
    connection.commit()
    connection.close()
    return path


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16le", "UTF-16be"])
def test_values_of_sqlite(encoding: str, tmp_path: Path) -> None:
    broken = {"UTF-8": b"\xff", "UTF-16le": b"\x00\xd8", "UTF-16be": b"\xd8\x00"}[encoding]
    hostile = [
        (1, 2.5, "2.5"), ("1", 10**18, b"\xff"), (1.0, broken, "12abc"), (9e999, -9e999, 9e999),
        (None, None, None), ("a\0b", "é\U0001f600", -(2**63)), ("", b"", "1e400"), (broken * 2, "x", b"7"),
        ("x" * 1_000_001, "x" * 500_000, "1" * 1_000_001),
    ]  # fmt: skip
    path = sqlite_file(tmp_path / "rows.db", "unit, item, weight", [*PEOPLE, *hostile], encoding)
    found = open_table(str(path), WANTED, "visits").relation.fetchall()
    assert found[:50] == PEOPLE
    inf = float("inf")
    text = 7.0 if encoding == "UTF-8" else None  # a blob is text in the encoding of its file
    assert found[50:57] == [
        ("1", "2.5", 2.5), ("1", str(10**18), None), ("1", f"\0{broken.hex().upper()}", None), ("inf", "-inf", inf),
        (None, None, None), (None, "é\U0001f600", -(2.0**63)), ("", "\0", found[56][2]),
    ]  # fmt: skip
    assert found[56][2] in (None, inf)
    long = [shorten(b"x" * length).decode() for length in (1_000_001, 500_000)]
    assert found[57:] == [(f"\0{broken.hex().upper() * 2}", "x", text), (*long, None)]


@pytest.mark.parametrize("distinct", [False, True])
def test_collations_of_sqlite_take_no_two_rows_for_one(distinct: bool, tmp_path: Path) -> None:
    values = [("a", "flu", 1), ("A", "flu", 1), ("a ", "FLU", 1), ("a", "flu", 1)]
    declared = "unit text collate nocase, item text collate rtrim, weight"
    path = sqlite_file(tmp_path / "rows.db", declared, values)
    found = rows(path, "visits", ColumnSelection(("unit", "item"), distinct=distinct))
    assert set(found) == {("a", "flu"), ("A", "flu"), ("a ", "FLU")}
    assert found["a", "flu"] == (1 if distinct else 2)


def test_collations_of_duckdb_take_no_two_rows_for_one(tmp_path: Path) -> None:
    path = tmp_path / "rows.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("create table visits (unit varchar collate nocase, item varchar collate nocase.noaccent)")
        connection.execute("insert into visits values ('a', 'é'), ('A', 'e'), ('b', 'E')")
    relation = open_table(str(path), ColumnSelection(("unit", "item")), "visits").relation
    assert relation.filter("unit = 'a'").fetchall() == [("a", "é")]
    assert relation.filter("item in ('e')").fetchall() == [("A", "e")]
    assert relation.aggregate("count(distinct unit), count(distinct item)").fetchall() == [(3, 3)]


def text_array(values: Sequence[bytes]) -> pa.Array:
    """Text as a careless writer has it: whatever bytes."""
    binary = pa.array(values, pa.binary())
    return pa.Array.from_buffers(pa.string(), len(values), binary.buffers())


@pytest.mark.parametrize("dictionary", [False, True])
def test_text_of_parquet_that_is_no_utf8_is_null(dictionary: bool, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    items = text_array([*(item.encode() for _, item, _ in PEOPLE), b"\xff", b"co\0ld", b"\xed\xa0\x80", b"\xc3\xa9"])
    units = pa.array([*(unit for unit, _, _ in PEOPLE), *"abcd"])
    weights = pa.array([*(weight for _, _, weight in PEOPLE), float("nan"), float("inf"), -0.0, None])
    if dictionary:
        units = units.dictionary_encode()
    table = pa.table({"unit": units, "it.em": items, "weight": weights, "it": [0] * 54})
    pq.write_table(table, path, use_dictionary=dictionary, row_group_size=51)
    found = open_table(str(path), ColumnSelection(("unit", "it.em"), weights="weight")).relation.fetchall()
    assert found[:50] == PEOPLE
    assert [row[:2] for row in found[50:]] == [("a", None), ("b", "co\0ld"), ("c", None), ("d", "é")]
    assert str([row[2] for row in found[50:]]) == "[nan, inf, -0.0, None]"


FAR = (1 << 63) - 1
PARQUET_TYPES = [
    *(pa.timestamp(unit, zone) for unit in ("s", "ms", "us", "ns") for zone in (None, "UTC", "Europe/Berlin")),
    *(pa.duration(unit) for unit in ("s", "ms", "us", "ns")), pa.time64("us"), pa.time64("ns"), pa.uint64(),
]  # fmt: skip


@pytest.mark.parametrize("kind", PARQUET_TYPES, ids=str)
@pytest.mark.parametrize("text", [False, True])
def test_times_of_parquet_as_far_away_as_they_like(kind: pa.DataType, text: bool, tmp_path: Path) -> None:
    # Seconds are milliseconds in such a file.
    far = FAR // 1000 if getattr(kind, "unit", "") == "s" else FAR
    values = pa.array([0, far, -far, far - 1, 86_400_000_000, -1], pa.int64()).view(kind)
    path = tmp_path / "rows.parquet"
    item: Any = ["flu"] * 6 if text else [7] * 6
    pq.write_table(pa.table({"unit": values, "item": item}), path)
    both = ColumnSelection(("unit", "item"))
    assert open_table(str(path), both).relation.aggregate("count(item), count(*)").fetchall() == [(6, 6)]
    assert (
        open_table(str(path), both).relation.project("CAST(unit AS VARCHAR)").fetchall()[0]
        == open_table(str(path), ColumnSelection(("unit",))).relation.project("CAST(unit AS VARCHAR)").fetchone()
    )


def test_types_of_parquet_are_the_same_beside_text_and_alone(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    columns = {
        "uuid": pa.array([b"\0" * 16, None], pa.uuid()),
        "json": pa.array(["{}", None], pa.json_()),
        "category": pa.array(["a", None]).dictionary_encode(),
        "view": pa.array(["a", None], pa.string_view()),
        "large": pa.array(["a", None], pa.large_string()),
        "half": pa.array([1.5, None], pa.float16()),
        "decimal": pa.array([Decimal("1.25"), None], pa.decimal128(5, 2)),
        "wide": pa.array([Decimal("1.25"), None], pa.decimal256(50, 2)),
        "date": pa.array([date(2020, 1, 1), None], pa.date64()),
        "binary": pa.array([b"\xff", None]),
        "truth": pa.array([True, None]),
        "number": pa.array([1, None], pa.uint64()),
    }
    pq.write_table(pa.table({**columns, "text": ["x", "y"]}), path)
    kinds = ("UUID", *["VARCHAR"] * 4, "FLOAT", "DECIMAL(5,2)", "VARCHAR", "DATE", "BLOB", "BOOLEAN", "UBIGINT")
    for name, kind in zip(columns, kinds, strict=True):
        alone = open_table(str(path), ColumnSelection((name,))).relation
        beside = open_table(str(path), ColumnSelection((name, "text"))).relation
        assert [*map(str, alone.types)] == [kind]
        assert [*map(str, beside.types)] == [kind, "VARCHAR"]
        assert [row[:1] for row in beside.fetchall()] == alone.fetchall()


@pytest.mark.parametrize("other", [7, "x"])
def test_columns_of_parquet_that_differ_in_capitals_only(other: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"unit": [1], "UNIT": [2], "other": [other]}), path)
    assert open_table(str(path), ColumnSelection(("UNIT", "other"))).relation.fetchall() == [(2, other)]
    # Of two of them the engine would read one, and count other units than were named.
    with pytest.raises(lb.ParameterError, match="differ in more than capitals"):
        open_table(str(path), ColumnSelection(("UNIT", "other", "unit")))
    with pytest.raises(lb.ParameterError, match="differ in more than capitals"):
        open_table(
            str(path), ColumnSelection(("A", "a")), plan=RowPlan.of(sql="select unit as A, other as a from data")
        )
    twice = pa.Table.from_arrays([pa.array([1]), pa.array(["x"])], ["unit", "unit"])
    pq.write_table(twice, path)
    with pytest.raises(lb.ParameterError, match="must have different names"):
        open_table(str(path), ColumnSelection(("unit",)))


def test_a_column_of_parquet_holds_single_values(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(
        pa.table({"unit": [["a"]], "item": [{"x": "y"}], "map": pa.array([[("a", 1)]], pa.map_("string", "int8"))}),
        path,
    )
    for name in ("unit", "item", "map"):
        with pytest.raises(lb.ParameterError, match=f"the column '{name}' must hold single values"):
            open_table(str(path), ColumnSelection((name,)))


if has_postgres():

    @pytest.fixture(scope="module")
    def place(server: str) -> str:
        return f"postgresql://lastbit@/postgres?host={server}"

    def run(place: str, *statements: str) -> None:
        with psycopg.connect(place, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def test_values_of_postgresql(place: str) -> None:
        run(
            place,
            "create table far (unit timestamptz, item date, weight numeric)",
            "insert into far select now(), '2020-01-01', 1 from generate_series(1, 50)",
            """insert into far values ('infinity', '-infinity', 1e400), ('-infinity', 'infinity', -1e400),
            ('294276-12-31', '5874897-12-31', 'NaN'), ('4713-01-01 BC', '4713-01-01 BC', 'Infinity'),
            (null, null, null), (now(), '9999-12-31', 1e-400), (now(), '10000-01-01', 9e16383 * 10)""",
        )
        found = open_table(place, WANTED, "far").relation.fetchall()
        assert [row[1:] for row in found[:50]] == [("2020-01-01", 1.0)] * 50
        inf = float("inf")
        assert found[50][:3] == ("infinity", "-infinity", inf)
        assert found[51][:3] == ("-infinity", "infinity", -inf)
        assert found[52][1] == "5874897-12-31"
        assert str(found[52][2]) == "nan"
        assert [row[1:] for row in found[53:]] == [
            ("4713-01-01 BC", inf), (None, None), ("9999-12-31", 0.0), ("10000-01-01", inf),
        ]  # fmt: skip

    def test_equal_numbers_of_postgresql_are_the_same_text(place: str) -> None:
        run(place, "create table forms (r real, d double precision, n numeric, two numeric(5, 2))")
        run(place, "insert into forms values (0, 0, 1, 1.5), ('-0', '-0', 1.00, 1.50), (0.1, 1e300, 'NaN', null)")
        found = open_table(place, ColumnSelection(("r", "d", "n", "two")), "forms").relation.fetchall()
        assert found == [("0", "0", "1", "1.50"), ("0", "0", "1", "1.50"), ("0.1", "1e+300", "NaN", None)]

    def test_a_long_value_of_postgresql_is_its_digest(place: str) -> None:
        run(
            place,
            "create table long (item text)",
            "insert into long select repeat('é', n) from (values (5000), (5001)) as t(n)",
        )
        short = shorten(("é" * 5001).encode()).decode()
        assert open_table(place, ColumnSelection(("item",)), "long").relation.fetchall() == [("é" * 5000,), (short,)]

    @pytest.mark.parametrize("kind", ["smallint", "bigint", "real", "double precision"])
    def test_numbers_of_postgresql(kind: str, place: str) -> None:
        run(place, "drop table if exists n", f"create table n (item text, weight {kind})")
        run(place, "insert into n values ('a', 12345), ('b', null), ('c', -1)")
        if kind in ("real", "double precision"):
            run(place, "insert into n values ('d', 'NaN'), ('e', 'infinity'), ('f', 0.1)")
        found = open_table(place, ColumnSelection(("item",), weights="weight"), "n").relation.fetchall()
        assert found[:3] == [("a", 12345.0), ("b", None), ("c", -1.0)]
        tenth = {"real": 0.10000000149011612, "double precision": 0.1}.get(kind)
        assert str(found[3:]) == ("[]" if tenth is None else f"[('d', nan), ('e', inf), ('f', {tenth})]")

    @pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1", "EUC_JP", "UTF8"])
    def test_encodings_of_postgresql(encoding: str, place: str, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
        # What the user's environment asks for changes nothing.
        monkeypatch.setenv("PGCLIENTENCODING", "LATIN2")
        name = f"encoded_{encoding.lower()}"
        run(place, f"create database {name} encoding '{encoding}' template template0 locale 'C'")
        there = f"postgresql://lastbit@/{name}?host={server}&client_encoding={encoding}"
        run(there, "create table t (item text)", "insert into t values ('flu'), ('cold')")
        strange = {
            "SQL_ASCII": (r"E'\xff', E'\xc3\xa9'", [None, "é"]),
            "LATIN1": (r"E'\xe9', E'\x80'", ["é", "\x80"]),
            "EUC_JP": (r"E'\xb0\xa1', E'\x8f\xf5\xa1'", ["亜", None]),
            "UTF8": (r"E'\u00e9', ''", ["é", ""]),
        }
        values, expected = strange[encoding]
        run(there, f"insert into t select unnest(array[{values}])")
        found = [row[0] for row in open_table(there, ColumnSelection(("item",)), "t").relation.fetchall()]
        assert found == ["flu", "cold", *expected]
        with pytest.raises(lb.DataError, match="UndefinedTable"):
            open_table(there, ColumnSelection(("item",)), "表")

    @pytest.mark.parametrize("distinct", [False, True])
    def test_collations_of_postgresql_take_no_two_rows_for_one(distinct: bool, place: str) -> None:
        with suppress(psycopg.errors.DuplicateObject):
            run(place, "create collation blind (provider = icu, locale = 'und-u-ks-level1', deterministic = false)")
        run(place, "drop table if exists c", "create table c (unit text collate blind, item text collate blind)")
        run(place, "insert into c values ('a', 'flu'), ('A', 'flu'), ('á', 'FLU'), ('a', 'flu')")
        found = rows(place, "c", ColumnSelection(("unit", "item"), distinct=distinct))
        assert set(found) == {("a", "flu"), ("A", "flu"), ("á", "FLU")}
        assert found["a", "flu"] == (1 if distinct else 2)


def test_lines_of_json_may_have_what_python_writes_and_a_last_comma(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(
        '{"unit": 1, "item": "a",}\n{"unit": 2, "item": NaN}\n{"unit": 3, "item": Infinity}\n'
        '{"unit": 4, "item": "a"} x\n{"unit": 5, "item": a}\n{"unit": 06, "item": "a"}\n',
        encoding="utf-8",
    )
    rows = open_table(str(path), ColumnSelection(("unit", "item"))).relation.fetchall()
    assert rows == [("1", "a"), ("2", "NaN"), ("3", "Infinity")]


def test_an_error_keeps_nothing_of_the_error_of_its_engine(tmp_path: Path) -> None:
    path = tmp_path / "visits.db"
    path.write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 40)
    for work in (
        lambda: open_table(str(path), ColumnSelection(("item",)), "visits"),
        lambda: list_columns(str(path), "visits"),
    ):
        with pytest.raises(lb.DataError, match="could not be read: DatabaseError") as caught:
            work()
        assert caught.value.__cause__ is caught.value.__context__ is None
