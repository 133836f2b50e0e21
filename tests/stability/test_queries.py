"""Filters, columns made of a row, other separators and encodings: one person's rows still move only what is theirs."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import lastbit as lb
from lastbit.audit import hostile, stability
from lastbit.questions.kinds import KINDS
from lastbit.values.counts import Counts
from tests.stability.judge import UNITS, Files, duckdb_file, judge, parquet_file, some, sqlite_file
from tests.stability.test_files import NAMES, TABLES, WEIGHTS, text_counter, usual

WHERE = (
    "(days > 0 or days < 1e300 or days is null or days * days // 3 % 7 >= 0) and "
    "(date_trunc('month', item) is null or year(item) / days > 0) and "
    "coalesce(lower(trim(item)) <> 'nobody' and length(item) >= 0 and left(item, 3) || 'x' like '%', true) and "
    "(cast(cast(item as bigint) as double) is null or cast(days as timestamp) is null or patient <> item)"
)
"""True for the usual rows, and made of every operation that could fail for another."""

ROWS: dict[str, dict[str, Any]] = {
    "a filter": {"where": WHERE},
    "columns of a query": {
        "sql": "select patient, case when year(item) * days // 0 > 0 then 'cold' else lower(item) end as item, "
        f"abs(days) * 2 - days as days from data where {WHERE}"
    },
}


@pytest.mark.parametrize(("name", "rows"), [("visits.csv", "columns of a query"), ("visits.jsonl", "a filter")])
def test_lines(name: str, rows: str, tmp_path: Path) -> None:
    kind = {"visits.csv": "csv", "visits.jsonl": "json"}[name]
    stock = some(list(hostile.lines(kind, NAMES, "patient", "item")), 2)
    weights = WEIGHTS["weights" if kind == "csv" else "units"]
    judge(text_counter(Files(tmp_path), name, **weights, **ROWS[rows]), TABLES[kind], stock, unit=None)


@pytest.mark.parametrize("rows", ROWS)
def test_values_that_every_conversion_meets(rows: str, tmp_path: Path) -> None:
    numbers = ["nan", "-inf", "1e400", "9" * 50, str(-(2**63)), "0x1", "1_0", "2026-02-30", "infinity", "epoch", "0"]
    times = ["290000-01-01", "0001-01-01 (BC)", "-infinity", "9999-12-31T23:59:60", "2026-01-01 00:00 Nowhere", "1,5"]
    lines = [f'q,"{item}","{days}"'.encode() for item in (*times, "flu") for days in (*numbers, *times)]
    judge(text_counter(Files(tmp_path), "visits.csv", **ROWS[rows]), TABLES["csv"], [lines], unit=None)


@pytest.mark.parametrize("rows", [{"month": "item"}, {"week": "item"}, {"bin": ("item", "7")}], ids=["m", "w", "b"])
def test_dates_and_bins(rows: dict[str, Any], tmp_path: Path) -> None:
    items = {"month": ["2026-01"], "week": ["2026-W05"], "bin": [str(number) for number in (-7, 0, 7)]}[
        next(iter(rows))
    ]
    table = [f"p{number},{'2026-01-31' if 'bin' not in rows else number % 14},1".encode() for number in range(UNITS)]
    strange = [
        "infinity",
        "-infinity",
        "9999-12-31",
        "10000-01-01",
        "0000-01-01",
        "nan",
        "inf",
        "-1e400",
        "9" * 40,
        "-0",
    ]
    lines = [f"q,{each},1".encode() for each in (*strange, "2026-01-30", "-1", "1e18", "-9223372036854775808")]
    judge(text_counter(Files(tmp_path, items), "visits.csv", **rows), table, [lines], unit=None)


FORMS: dict[str, dict[str, Any]] = {
    "latin-1": {"encoding": "latin-1"},
    "shift_jis": {"encoding": "shift_jis"},
    "gb18030": {"encoding": "gb18030", "decimal_comma": True, "weights": "days", "bounds": ("-3", "2")},
}


PARTS: dict[str, Any] = {
    "bins": lambda values: values["answer"].make(CHOSEN),
    "people beyond": lambda values: values["clamped"].make(CHOSEN),
    "choice": lambda values: Counts(
        items=range(6),
        values=np.array([sum(abs(values["bounds"].steps) > 10**power * 1000) for power in range(6)], np.int64),
        monotone=True,
    ),
}
CHOSEN = {"bounds": SimpleNamespace(bounds=(Fraction(-10), Fraction(100)))}
"""Bounds as a part publishes them."""
HOSTILE = ["nan", "inf", "-1e400", "9" * 40, "-9223372036854775808", "0x1", "é", "", "1e308", "-0", "100", "55.5"]


@pytest.mark.parametrize("part", PARTS)
def test_automatic_bins(part: str, tmp_path: Path) -> None:
    """One person with any numbers moves each bin by one at most, one end by one, and the choice by one number."""

    def count(rows: list[Any]) -> Any:
        path = tmp_path / "visits.csv"
        path.write_bytes(b"\n".join([b"patient,days", *rows]))
        options = {"source": str(path), "unit": "patient", "edges": {"days": "auto:4"}, "epsilon": 1}
        reading = KINDS["count"].parse(options).question.reading
        assert reading is not None
        return PARTS[part](reading.run())

    table = [f"p{number},{number * 3 - 20}".encode() for number in range(UNITS)]
    judge(count, table, [[f"q,{number}".encode() for number in HOSTILE]], unit=None)


@pytest.mark.parametrize("form", FORMS)
def test_lines_of_other_forms(form: str, tmp_path: Path) -> None:
    lead = [bytes([byte]) for byte in (0x80, 0x81, 0x8E, 0x90, 0xA0, 0xE0, 0xFC, 0xFD, 0xFF)]
    # Bytes that begin a longer character, at the end of a line and before what separates fields.
    lines = [start + byte + end for byte in lead for start, end in ENDS]
    judge(text_counter(Files(tmp_path), "visits.csv", **FORMS[form]), TABLES["csv"], [lines], unit=None)


ENDS = [
    (b"q,flu", b""),
    (b"q,", b",1"),
    (b'q,"', b'",1'),
    (b"q,flu,", b""),
    (b"", b""),
    (b'q,"flu', b""),
    (b"q\r", b"\0"),
]


def test_lines_with_another_separator(tmp_path: Path) -> None:
    files = Files(tmp_path)

    def count(lines: list[bytes]) -> lb.Counts:
        raw = b"".join(line + b"\n" for line in [b"patient|item|days", *lines])
        return files.count("visits.csv", lambda path: (path.write_bytes(raw), None)[1], separator="|")

    table = [usual("csv", number).replace(b",", b"|") for number in range(UNITS)]
    stock = [[each.replace(b",", b"|") for each in lines] for lines in hostile.lines("csv", NAMES, "patient", "item")]
    judge(count, table, [*some(stock, 2), [b'q|"fl|u"|1', b'q|"flu|1', b"q|flu,1", b"q|flu|1|", b"|||||"]], unit=None)


def test_a_line_changes_nothing_in_another_file(tmp_path: Path) -> None:
    files = Files(tmp_path)
    (tmp_path / "other.csv").write_bytes(b"days,item,patient\n1,flu,p1\n1,cold,p7\n")

    def count(lines: list[bytes]) -> lb.Counts:
        raw = b"".join(line + b"\n" for line in [",".join(NAMES).encode(), *lines])
        (tmp_path / "visits.csv").write_bytes(raw)
        given: Any = [str(tmp_path / "visits.csv"), str(tmp_path / "other.csv")]
        return files.stored(given, None, where="days > 0 or days is null")

    judge(count, TABLES["csv"], [[b'q,"flu,1', b"q,\xff\0,1", b'q,cold,"', b"q,flu,x"]], unit=None)


FAR = [2**63 - 1, -(2**63) + 1, 2**62, 0, None]
TYPED: dict[str, tuple[pa.DataType, list[Any], str]] = {
    "whole": (pa.int64(), [*FAR, -(2**63)], "days * days + days - days // 7 >= days % 5 or abs(-days) > 1"),
    "unsigned": (pa.uint64(), [2**64 - 1, 2**63, 0, None], "days * 2 > 0 or days > 9223372036854775807 or days < 5"),
    "real": (pa.float64(), [float("nan"), float("inf"), 1e308, -0.0, None], "days * days / days > 0 or days // 1 < 5"),
    "decimal": (pa.decimal128(38, 2), [None, 0], "days > 1.555 or days * 3 < 7"),
    "dates": (pa.date32(), [2**31 - 1, -(2**31), 0, None], "year(days) > 0 or days < '2026-01-01' or days is null"),
    "moments": (pa.timestamp("us"), FAR, "date_diff('second', days, '2026-01-01') < 0"),
    "instants": (pa.timestamp("ns", "Asia/Kolkata"), FAR, "days > '2020-01-01' or hour(days) < 9"),
    "text": (
        pa.string(),
        hostile.values("text")[:40],
        "cast(days as double) > 3 or upper(days) like '%' or month(days) is null",
    ),
}


def test_parquet(tmp_path: Path) -> None:
    files = Files(tmp_path)
    # Each condition asks for its own column.
    where = " and ".join(f"({each.replace('days', case)})" for case, (_, _, each) in TYPED.items())

    def column(values: list[Any], kind: pa.DataType) -> pa.Array:
        if pa.types.is_temporal(kind):
            return pa.array(values, pa.int32() if pa.types.is_date32(kind) else pa.int64()).view(kind)
        return pa.array(values, kind)

    def count(rows: list[Any]) -> lb.Counts:
        columns = {name: pa.array([row[name] for row in rows], pa.string()) for name in ("patient", "item")}
        columns |= {case: column([row[case] for row in rows], kind) for case, (kind, _, _) in TYPED.items()}
        rows_of = f"({where}) or patient <> 'q'"
        return files.count("visits.parquet", lambda path: parquet_file(path, pa.table(columns)), where=rows_of)

    usual = {"item": "flu", **{case: "1" if case == "text" else 1 for case in TYPED}}
    table = [{"patient": f"p{number}", **usual} for number in range(UNITS)]
    odd = [{"patient": "q", **usual, case: each} for case, (_, strange, _) in TYPED.items() for each in strange]
    judge(count, table, [odd])


def test_databases(tmp_path: Path) -> None:
    files = Files(tmp_path)
    strange = [None, "x", "nan", "1e400", "infinity", "9" * 60, "2026-02-30", "\U0001f468", "'", "%"]
    table = [{"patient": f"p{number}", "item": "flu", "days": "3"} for number in range(UNITS)]
    units = [[{"patient": "q", "item": item, "days": days} for item in ("flu", "x") for days in strange]]

    def in_sqlite(rows: list[Any]) -> lb.Counts:
        write = partial(sqlite_file, rows=rows, schema="patient, item, days", names=NAMES)
        return files.count("visits.db", write, table="visits", where=WHERE)

    def in_duckdb(rows: list[Any]) -> lb.Counts:
        write = partial(duckdb_file, rows=rows, schema=dict.fromkeys(NAMES, "VARCHAR"))
        # The column is declared as text, and a number is not compared with it by itself.
        where = re.sub(r"\bdays (?=[<>]|between)", "cast(days as double) ", WHERE)
        return files.count("visits.duckdb", write, table="visits", where=where)

    for count in (in_sqlite, in_duckdb):
        judge(count, table, units)


def test_the_harness_convicts_a_filter_that_looks_at_other_rows() -> None:
    """A filter by the mean of a column, as no query here can be: so the verdicts above say something."""

    def above_half_of_the_mean(lines: list[bytes]) -> list[int]:
        days = [float(line.split(b",")[2]) for line in lines]
        return [sum(2 * each > sum(days) / len(days) for each in days)]

    verdict = stability(above_half_of_the_mean, TABLES["csv"], unit=None, hostile=[[b"q,flu,1e9"]])
    assert not verdict.holds
    assert verdict.witness is not None
