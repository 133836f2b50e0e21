"""Columns of a person's rows, texts of several items, other tables: a person still moves only what is theirs."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import lastbit as lb
from lastbit.audit import hostile, stability
from lastbit.data.query import pairing
from tests.stability.judge import UNITS, Files, duckdb_file, judge, parquet_file, some
from tests.stability.test_files import NAMES, TABLES, text_counter
from tests.stability.test_queries import FAR

LETS = {
    "visits": "count(*)",
    "total": "sum(days) + avg(days) * count(distinct item) - sum(cast(days as bigint))",
    "before": "lag(days) over (order by item) + row_number() over (order by days desc)",
    "late": "coalesce(latest(item order by days), first(item order by days), min(item), max(days))",
    "often": "any(days > 0) or all(item = 'flu') or rank() over (order by days) > visits or total > 0",
}
"""Every function, of columns that may hold anything."""
WHERE = "visits > 0 and (total is null or total <= 0 or total > 0 or before > 0) and (often or not often)"
NEAR = ["P1,flu,1", "p1 ,flu,1", " p1,flu,1", '"p1",cold,7', "p1,,", ",flu,1", "é,flu,1", "e\u0301,flu,1"]
"""Rows of units that look like others, each of its own."""


@pytest.mark.parametrize("name", ["visits.csv", "visits.jsonl"])
def test_columns_of_lines(name: str, tmp_path: Path) -> None:
    kind = "csv" if name.endswith("csv") else "json"
    stock = some(list(hostile.lines(kind, NAMES, "patient", "item")), 2)
    if kind == "csv":
        stock += [[line.encode()] for line in NEAR]
    judge(text_counter(Files(tmp_path), name, let=LETS, where=WHERE), TABLES[kind], stock, unit=None)


def test_values_that_every_function_meets(tmp_path: Path) -> None:
    strange = ["nan", "-inf", "1e400", "9" * 50, str(-(2**63)), "0x1", "2026-02-30", "infinity", "", "-0", "1e308", "é"]
    lines = [f'q,"{item}","{days}"'.encode() for item in (*strange, "flu") for days in strange]
    judge(text_counter(Files(tmp_path), "visits.csv", let=LETS, where=WHERE), TABLES["csv"], [lines], unit=None)


TYPED = {
    "whole": (pa.int64(), [*FAR, -(2**63)]),
    "real": (pa.float64(), [float("nan"), float("inf"), -float("inf"), 1e308, -0.0, None]),
    "moments": (pa.timestamp("us"), FAR),
    "decimal": (pa.decimal128(38, 2), [None, 0]),
    "truth": (pa.bool_(), [True, None]),
}


def test_parquet(tmp_path: Path) -> None:
    files = Files(tmp_path)
    lets = {
        "a": "sum(whole) + avg(real) * sum(decimal) - min(whole)",
        "b": "date_diff('day', lag(moments) over (order by real), max(moments)) + count(*) over (order by moments)",
        "c": "any(truth) and all(real > 0) or first(whole order by real) > latest(real order by whole)",
        "d": "lead(truth, 2) over (order by decimal, whole desc nulls first)",
        "e": "count(distinct real) + count(distinct moments) + dense_rank() over (order by truth)",
    }
    where = "(a > 0 or a is null or a <= 0) and coalesce(b > 0, true) and (c or not c) and coalesce(d, true) and e > 0"

    def count(rows: list[Any]) -> lb.Counts:
        columns = {name: pa.array([row[name] for row in rows], pa.string()) for name in ("patient", "item")}
        for case, (kind, _) in TYPED.items():
            values = [row[case] for row in rows]
            columns[case] = pa.array(values, pa.int64()).view(kind) if case == "moments" else pa.array(values, kind)
        write = lambda path: parquet_file(path, pa.table(columns))  # noqa: E731
        return files.count("visits.parquet", write, let=lets, where=f"({where}) or patient <> 'q'")

    usual = {"item": "flu", "whole": 1, "real": 1.0, "moments": 1, "decimal": 1, "truth": True}
    table = [{"patient": f"p{number}", **usual} for number in range(UNITS)]
    odd = [{"patient": "q", **usual, case: value} for case, (_, strange) in TYPED.items() for value in strange]
    judge(count, table, [odd])


def test_texts_of_several_items(tmp_path: Path) -> None:
    table = [f'p{number},"flu;cold;x",{number % 3}'.encode() for number in range(UNITS)]
    texts = [";" * 1000, "flu;" * 3000, "flu ; cold", ";;flu", " ", "cold;" * 50, "flu", "FLU;Cold", "\0;flu"]
    lines = [f'q,"{text}",1'.encode() for text in texts]
    count = text_counter(Files(tmp_path), "visits.csv", split=("item", ";"), let={"n": "count(item)"}, where="n > 0")
    judge(count, table, [lines, *([line.encode()] for line in NEAR)], unit=None)


def test_public_facts(tmp_path: Path) -> None:
    """Of whole rows that are people, too: a key stands once, so a row stays one."""
    (tmp_path / "facts.csv").write_text("days,item\n0,flu\n1,cold\n2,flu\n", encoding="utf-8")
    files = Files(tmp_path)

    def count(lines: list[bytes], unit: str | None) -> lb.Counts:
        raw = b"".join(line + b"\n" for line in [b"patient,days", *lines])
        write = lambda path: (path.write_bytes(raw), None)[1]  # noqa: E731
        return files.count("visits.csv", write, join=str(tmp_path / "facts.csv"), on="days", unit=unit)

    table = [f"p{number},{number % 4}".encode() for number in range(UNITS)]
    odd = [b"q,1", b"q,1", b"q,01", b"q,", b"q,1 ", b'q,"', b"q,nan", b",1"]
    judge(lambda lines: count(lines, "patient"), table, [odd, [b"P1,1"]], unit=None)
    judge(lambda lines: count(lines, None), table, [[line] for line in odd], unit=None)


def test_another_table_of_the_same_people(tmp_path: Path) -> None:
    """Both tables' rows belong to the person: all of them come and go together."""
    files = Files(tmp_path)

    def count(rows: list[Any]) -> lb.Counts:
        other = b"".join(row["line"] + b"\n" for row in rows if row["other"])
        (tmp_path / "other.csv").write_bytes(b"patient,item\n" + other)
        own = b"".join(row["line"] + b"\n" for row in rows if not row["other"])
        write = lambda path: (path.write_bytes(b"patient,days\n" + own), None)[1]  # noqa: E731
        lets = {"n": "count(*)", "kinds": "count(distinct item)"}
        options = {"join": str(tmp_path / "other.csv"), "on": "patient", "let": lets}
        return files.count("visits.csv", write, where="n > 0 and kinds >= 0", **options)

    lines = [(False, b"q,1"), (False, b"q,"), (False, b"q,x"), (True, b"q,flu"), (True, b"q,cold"), (True, b"q,flu")]
    odd = [{"patient": "q", "other": other, "line": line} for other, line in [*lines, (True, b'q,"'), (False, b",1")]]
    judge(count, BOTH, [odd, odd[3:], odd[:3]])


def test_another_table_of_the_same_people_on_the_same_day(tmp_path: Path) -> None:
    """Joined by the unit and more: near-equal people and days, and keys of which a part is missing."""
    files = Files(tmp_path)

    def count(rows: list[Any]) -> lb.Counts:
        other = b"".join(row["line"] + b",flu\n" for row in rows if row["other"])
        (tmp_path / "other.csv").write_bytes(b"patient,days,item\n" + other)
        own = b"".join(row["line"] + b"\n" for row in rows if not row["other"])
        write = lambda path: (path.write_bytes(b"patient,days\n" + own), None)[1]  # noqa: E731
        options = {"join": str(tmp_path / "other.csv"), "on": "days,patient", "let": {"n": "count(*)"}}
        return files.count("visits.csv", write, where="n > 0", **options)

    table = [
        {"patient": f"p{number}", "other": other, "line": f"p{number},{number % 3}".encode()}
        for number in range(UNITS)
        for other in (False, True)
    ]
    lines = [b"q,1", b"q,1", b"q,01", b"q,", b",1", b"q,1 ", b'q,"']
    odd = [{"patient": "q", "other": other, "line": line} for other in (False, True) for line in lines]
    near = [{"patient": "P1", "other": other, "line": b"P1,1"} for other in (False, True)]
    judge(count, table, [odd, odd[7:], odd[:7], near])


BOTH = [
    {"patient": f"p{number}", "other": other, "line": f"p{number},{'flu' if other else 1}".encode()}
    for number in range(UNITS)
    for other in (False, True)
]
"""People with a row in each of two tables."""


def test_a_person_with_more_pairs_than_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three tables of one person's rows: whom the lot leaves pairs moves nobody else's."""
    monkeypatch.setattr(pairing, "MOST_PAIRS", 20)
    monkeypatch.setattr(pairing, "_MOST_ROWS", 4)
    files, numbers = Files(tmp_path), itertools.count()

    def store(rows: list[list[str]], column: str) -> str:
        dicts = [dict(zip(("patient", column), row, strict=True)) for row in rows]
        place = tmp_path / f"{next(numbers)}"
        duckdb_file(place, dicts, {"patient": "VARCHAR", column: "VARCHAR COLLATE NOCASE"})
        return f"{place}#visits"

    def count(rows: list[Any]) -> lb.Counts:
        texts = [row["line"].decode().split(",") for row in rows if row["other"]]
        doses = [[who, f"{number % 3}"] for number, (who, _) in enumerate(texts)]
        own = b"".join(row["line"] + b"\n" for row in rows if not row["other"])
        write = lambda path: (path.write_bytes(b"patient,days\n" + own), None)[1]  # noqa: E731
        options = {"join": [store(texts, "item"), store(doses, "dose")], "on": ["patient", "patient"]}
        lets = {"n": "count(*)", "kinds": "count(distinct item || dose)"}
        return files.count("visits.csv", write, where="n > 0 and n <= 20 and kinds >= 0", let=lets, **options)

    many = [{"patient": "q", "other": False, "line": b"q,%d" % n} for n in range(30)]
    many += [{"patient": "q", "other": True, "line": b"q,%s" % (b"cold", b"flu", b"FLU")[n % 3]} for n in range(30)]
    near = [{"patient": "Q", "other": other, "line": b"Q,flu"} for other in (True, False) for _ in range(9)]
    judge(count, BOTH, [many, near])


def test_a_duckdb_file(tmp_path: Path) -> None:
    files = Files(tmp_path)
    schema = {"patient": "VARCHAR COLLATE NOCASE", "item": "VARCHAR COLLATE NOCASE.NOACCENT", "days": "DOUBLE"}

    def count(rows: list[Any]) -> lb.Counts:
        write = lambda path: duckdb_file(path, rows, schema)  # noqa: E731
        lets = {"n": "count(distinct item)", "late": "latest(item order by days)"}
        return files.count("visits.duckdb", write, table="visits", let=lets, where="n > 0 or late is null")

    table = [{"patient": f"p{number}", "item": "flu", "days": 3} for number in range(UNITS)]
    odd = [
        {"patient": who, "item": item, "days": days}
        for who in ("P1",)
        for item in ("FLU", "flu", "é")
        for days in (None, "nan", "-0.0")
    ]
    judge(count, table, [odd])


def test_the_harness_convicts_a_window_over_all_rows() -> None:
    """A place among all rows, as no --let can be: so the verdicts above say something."""

    def among_the_first_ten(lines: list[bytes]) -> list[int]:
        return [sum(line.startswith(b"p") for line in sorted(lines)[-10:])]

    verdict = stability(among_the_first_ten, TABLES["csv"], unit=None, hostile=[[b"q%d,flu,1" % n for n in range(9)]])
    assert not verdict.holds
