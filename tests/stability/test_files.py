"""Each way in which one person's line once changed how others are read, or raised, in every file of the command."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pytest

import lastbit as lb
from lastbit.audit import hostile
from tests.machine import has_postgres
from tests.stability.judge import (
    LONG,
    UNITS,
    Files,
    batches,
    duckdb_file,
    judge,
    parquet_file,
    refusal,
    some,
    sqlite_file,
)

NAMES = ["patient", "item", "days"]
SEPARATORS = {"csv": ",", "tsv": "\t"}


def written(kind: str, name: str, lines: list[bytes], path: Path) -> None:
    """A text file of these lines, under the header that its kind has."""
    header = [SEPARATORS[kind].join(NAMES).encode()] if kind in SEPARATORS else []
    raw = b"".join(line + b"\n" for line in [*header, *lines])
    path.write_bytes(gzip.compress(raw, 1) if name.endswith(".gz") else raw)


def usual(kind: str, number: int) -> bytes:
    row = [f"p{number}", "cold" if number % 5 == 0 else "flu", "1"]
    if kind == "json":
        return json.dumps(dict(zip(NAMES, row, strict=True))).encode()
    return SEPARATORS[kind].join(row).encode()


WEIGHTS: dict[str, dict[str, Any]] = {"units": {}, "weights": {"weights": "days", "bounds": ("-3", "2")}}
PLACES = {
    "visits.csv": "csv",
    "visits.tsv": "tsv",
    "visits.csv.gz": "csv",
    "visits.jsonl": "json",
    "v.jsonl.gz": "json",
}
TABLES = {kind: [usual(kind, number) for number in range(UNITS)] for kind in ("csv", "tsv", "json")}

FAR = json.dumps({f"key {number}": number for number in range(500)}).encode()
NAMED: dict[str, tuple[str, list[bytes]]] = {
    "a quote that ends too early": ("csv", [b'900,"co"ld,1']),
    "a quote that ends too early, in the last column": ("csv", [b'900,flu,"1"1']),
    "a quote that is never closed": ("csv", [b'900,"flu,1']),
    "a quote that is never closed, twice": ("csv", [b'900,"flu,1', b'900,"flu,1']),
    "a quote that is never closed, in the key": ("csv", [b'"900,flu,1']),
    "a lone carriage return": ("csv", [b"900,fl\ru,1"]),
    "a line that is a carriage return": ("csv", [b"\r"]),
    "another line end": ("csv", [b"900,flu,1\r"]),
    "a zero byte": ("csv", [b"900,fl\x00u,1"]),
    "no UTF-8": ("csv", [b"900,\xff,1"]),
    "a long line": ("csv", [b"900," + b"x" * 3_000_000 + b",1"]),
    "a line that is a number": ("json", [b"5"]),
    "a line that is null": ("json", [b"null"]),
    "a line that is a text": ("json", [b'"flu"']),
    "a line that is a list": ("json", [b"[1]"]),
    "a row with other keys": ("json", [b'{"other": 1}']),
    "a row with 500 keys": ("json", [FAR]),
    "a row with 500 more keys": ("json", [b'{"patient": "900", "item": "flu", ' + FAR[1:]]),
    "half a surrogate": ("json", [b'{"patient": "900", "item": "\\ud800", "days": 1}']),
    "half a surrogate as a key": ("json", [b'{"patient": "\\udfff", "item": "flu", "days": 1}']),
    "half a surrogate in a name": ("json", [b'{"patient": "900", "\\ud800": "flu", "days": 1}']),
    "no UTF-8 in JSON": ("json", [b'{"patient": "900", "item": "\xff", "days": 1}']),
    "a name twice": ("json", [b'{"patient": "900", "item": "flu", "item": "cold", "days": 1}']),
    "names in capitals": ("json", [b'{"PATIENT": "900", "ITEM": "flu", "patient": "900", "item": "cold"}']),
    "an item that is a list": ("json", [b'{"patient": "900", "item": ["flu"], "days": 1}']),
    "very deep JSON": ("json", [b"[" * 50_000]),
    "a carriage return in JSON": ("json", [b'{"patient": "900",\r"item": "flu"}']),
    "a long line of JSON": ("json", [b'{"patient": "900", "item": "' + b"x" * 17_000_000 + b'"}']),
}


def text_counter(files: Files, name: str, **options: Any) -> Callable[[list[Any]], lb.Counts]:
    return lambda lines: files.count(name, partial(written, PLACES[name], name, lines), **options)


@pytest.mark.parametrize("weights", WEIGHTS if LONG else ["units"])
@pytest.mark.parametrize("case", NAMED)
def test_lines(case: str, weights: str, tmp_path: Path) -> None:
    kind, lines = NAMED[case]
    if len(lines[0]) > 10**6 and weights != "units":
        return  # long to read, and no different
    for name in ("visits.csv", "visits.jsonl") if weights == "units" else ("visits.csv.gz", "v.jsonl.gz"):
        if PLACES[name] == kind:
            judge(text_counter(Files(tmp_path), name, **WEIGHTS[weights]), TABLES[kind], [lines], unit=None)


@pytest.mark.parametrize("weights", WEIGHTS if LONG else ["weights"])
@pytest.mark.parametrize("name", PLACES)
def test_lines_of_the_stock(name: str, weights: str, tmp_path: Path) -> None:
    kind = PLACES[name]
    stock = list(hostile.lines(kind, NAMES, "patient", "item"))
    count = text_counter(Files(tmp_path), name, **WEIGHTS[weights])
    judge(count, TABLES[kind], some(stock, 14 if name in ("visits.csv", "visits.jsonl") else 5), unit=None)


def test_a_file_of_json_lines_may_be_empty_or_hold_no_row_with_the_columns(tmp_path: Path) -> None:
    count = text_counter(Files(tmp_path), "visits.jsonl")
    for lines in ([], [b'{"patient": "1"}'], [b'{"item": "flu"}'], [b"{}"]):
        assert count(lines).values.tolist() == [0, 0]


def test_no_message_shows_a_key_that_is_found_in_a_row(tmp_path: Path) -> None:
    files = Files(tmp_path, by=("diagnosis",))
    for lines in ([b'{"secret": 1}'], [b'{"patient": 1, "secret": 2}']):
        count = text_counter(files, "visits.jsonl")
        assert "secret" not in (refusal(count, lines) or "")


# Typed files: what a column can hold is wider than what Python reads back.

WORDS = ["flu", "cold"]


def undecodable(values: list[Any]) -> pa.Array:
    raw = pa.array([value.encode() if isinstance(value, str) else value for value in values], pa.binary())
    return pa.Array.from_buffers(pa.string(), len(values), raw.buffers())


def as_dictionary(values: list[Any]) -> pa.Array:
    return pa.array(values, pa.string()).dictionary_encode()


PARQUET: dict[str, tuple[Callable[[list[Any]], Any], list[Any], Callable[[list[Any]], Any], list[Any]]] = {
    "text that is no UTF-8": (undecodable, [b"\xff", b"flu\xff", b"\xed\xa0\x80"], pa.array, [1]),
    "text": (lambda values: pa.array(values, pa.string()), hostile.values("text"), pa.array, [1]),
    "dictionaries": (as_dictionary, ["FLU", "", None], pa.array, [1]),
    "unsigned weights": (as_dictionary, WORDS, lambda values: pa.array(values, pa.uint64()), [2**64 - 1, 2**63, None]),
    "floating weights": (as_dictionary, WORDS, lambda values: pa.array(values, pa.float64()), hostile.values("float")),
    "decimal weights": (
        as_dictionary,
        WORDS,
        lambda values: pa.array(values, pa.decimal128(38, 0)),
        [10**38 - 1, -(10**38) + 1, None],
    ),
}


@pytest.mark.parametrize("weights", WEIGHTS if LONG else ["weights"])
@pytest.mark.parametrize("case", PARQUET)
def test_parquet(case: str, weights: str, tmp_path: Path) -> None:
    items, strange, days, heavy = PARQUET[case]
    files = Files(tmp_path)

    def count(rows: list[Any]) -> lb.Counts:
        columns = {"patient": pa.array([row["patient"] for row in rows], pa.string())}
        columns |= {"item": items([row["item"] for row in rows])}
        days_of = days([row["days"] for row in rows])
        columns |= {"days": days_of.cast(pa.int64()) if pa.types.is_null(days_of.type) else days_of}
        return files.count("visits.parquet", lambda path: parquet_file(path, pa.table(columns)), **WEIGHTS[weights])

    table = [
        {"patient": f"p{number}", "item": WORDS[number % 2], "days": 3 if number else None} for number in range(UNITS)
    ]
    judge(count, table, batches([{"patient": "q", "item": item, "days": each} for item in strange for each in heavy]))


SQLITE: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "no case in the items": (
        "patient integer, item text collate nocase, days real",
        [{"item": "FLU"}, {"item": "Flu"}],
    ),
    "no case in keys and items": (
        "patient text collate nocase, item text collate nocase, days real",
        [{"patient": "P1", "item": item} for item in ("FLU", "Flu", "cold")],
    ),
    "trailing spaces": (
        "patient text collate rtrim, item text collate rtrim, days real",
        [{"patient": "p1  ", "item": item} for item in ("flu ", "flu  ", "cold")],
    ),
    "any type": (
        "patient, item, days",
        [
            {"item": item, "days": days}
            for item in (b"flu", b"\xff", 1, 1.5, float("inf"), "", "\x00", "flu\x00", None)
            for days in (
                "x",
                b"\xff",
                2**63 - 1,
                -(2**63),
                1e308,
                float("inf"),
                float("-inf"),
                "9" * 400,
                None,
                "1e400",
            )
        ],
    ),
    "text": ("patient text, item text, days real", [{"item": item} for item in hostile.values("text")]),
}


@pytest.mark.parametrize("weights", WEIGHTS if LONG else ["weights"])
@pytest.mark.parametrize("case", SQLITE)
def test_sqlite(case: str, weights: str, tmp_path: Path) -> None:
    schema, strange = SQLITE[case]
    files = Files(tmp_path)

    def count(rows: list[Any]) -> lb.Counts:
        write = partial(sqlite_file, rows=rows, schema=schema, names=NAMES)
        return files.count("visits.db", write, table="visits", **WEIGHTS[weights])

    table = [{"patient": f"p{number}", "item": "flu", "days": 3 if number else None} for number in range(UNITS)]
    judge(count, table, batches([{"patient": "q", "item": "flu", "days": 1, **row} for row in strange]))


DUCKDB: dict[str, tuple[str, dict[str, str], list[dict[str, Any]]]] = {
    "no case in the items": (
        "",
        {"patient": "VARCHAR", "item": "VARCHAR COLLATE NOCASE", "days": "BIGINT"},
        [{"item": "FLU"}, {"item": "Flu"}],
    ),
    "no case in keys and items": (
        "",
        {"patient": "VARCHAR COLLATE NOCASE", "item": "VARCHAR COLLATE NOCASE", "days": "BIGINT"},
        [{"patient": "P1", "item": "FLU"}],
    ),
    "heavy weights": (
        "",
        {"patient": "VARCHAR", "item": "VARCHAR", "days": "HUGEINT"},
        [{"days": days} for days in (2**63, 2**127 - 1, -(2**127), None)],
    ),
    "floating weights": (
        "",
        {"patient": "VARCHAR", "item": "VARCHAR", "days": "DOUBLE"},
        [{"days": days} for days in ("nan", "-nan", "inf", "-inf", "1e308", None)],
    ),
    "infinite moments as keys": (
        "",
        {"patient": "TIMESTAMP", "item": "VARCHAR", "days": "BIGINT"},
        [{"patient": "infinity"}],
    ),
}


@pytest.mark.parametrize("weights", WEIGHTS if LONG else ["weights"])
@pytest.mark.parametrize("case", DUCKDB)
def test_duckdb(case: str, weights: str, tmp_path: Path) -> None:
    before, schema, strange = DUCKDB[case]
    files = Files(tmp_path, [*WORDS, *map(str, range(1_100))] if case.startswith("no case") else WORDS)
    moments = schema["patient"] == "TIMESTAMP"

    def count(rows: list[Any]) -> lb.Counts:
        write = partial(duckdb_file, rows=rows, schema=schema, before=before)
        return files.count("visits.duckdb", write, table="visits", **WEIGHTS[weights])

    keys = [f"2024-01-01 00:{number:02}:00" if moments else f"p{number}" for number in range(UNITS)]
    table = [{"patient": key, "item": "flu", "days": None if key == keys[0] else 3} for key in keys]
    stranger = "2025-01-01 00:00:00" if moments else "q"
    judge(count, table, batches([{"patient": stranger, "item": "flu", "days": 1, **row} for row in strange]))


POSTGRES: dict[str, tuple[dict[str, str], list[dict[str, Any]]]] = {
    "numbers that no float holds": (
        {"patient": "text", "item": "text", "days": "numeric"},
        [{"days": days} for days in ("1e400", "-1e400", "NaN", "Infinity", "-Infinity", "1e-400", None)],
    ),
    "floats": (
        {"patient": "double precision", "item": "text", "days": "double precision"},
        [{"patient": key, "days": days} for key in ("0", "-0") for days in ("NaN", "Infinity", "-0", "5e-324", None)],
    ),
    "moments beyond the calendar": (
        {"patient": "timestamptz", "item": "text", "days": "bigint"},
        [{"patient": "infinity"}],
    ),
    "moments before the calendar": (
        {"patient": "timestamp", "item": "text", "days": "bigint"},
        [{"patient": "4713-01-01 00:00:00 BC"}],
    ),
    "text": (
        {"patient": "text", "item": "text", "days": "bigint"},
        [{"item": item} for item in hostile.values("text") if "\x00" not in item],
    ),
}

if has_postgres():

    @pytest.mark.parametrize("weights", WEIGHTS if LONG else ["weights"])
    @pytest.mark.parametrize("case", POSTGRES)
    def test_postgresql(case: str, weights: str, server: str, tmp_path: Path) -> None:
        schema, strange = POSTGRES[case]
        judge(*postgres_case(schema, strange, server, tmp_path, WEIGHTS[weights]))

    def postgres_case(
        schema: dict[str, str], strange: list[dict[str, Any]], server: str, folder: Path, weights: dict[str, Any]
    ) -> tuple[Callable[[list[Any]], lb.Counts], list[Any], list[list[Any]]]:
        place, files = f"postgresql://lastbit@/postgres?host={server}", Files(folder)
        columns = ", ".join(f"{name} {kind}" for name, kind in schema.items())
        casts = ", ".join(f"%s::text::{kind}" for kind in schema.values())

        def count(rows: list[Any]) -> lb.Counts:
            with psycopg.connect(place, autocommit=True) as connection, connection.cursor() as cursor:
                cursor.execute("drop table if exists stable_visits")
                cursor.execute(f"create table stable_visits ({columns})".encode())
                values = [tuple(None if row[name] is None else str(row[name]) for name in schema) for row in rows]
                cursor.executemany(f"insert into stable_visits values ({casts})".encode(), values)
            return files.stored(place, "stable_visits", **weights)

        usual: Callable[[int], Any] = {"text": lambda number: f"p{number}", "double precision": float}.get(
            schema["patient"], lambda number: f"2024-01-01 00:{number % 60:02}:00"
        )
        table = [
            {"patient": usual(number + 1), "item": "flu", "days": 3 if number else None} for number in range(UNITS)
        ]
        key = {"text": "q", "double precision": "900"}.get(schema["patient"], "2025-01-01")
        return count, table, batches([{"patient": key, "item": "flu", "days": 1, **row} for row in strange])
