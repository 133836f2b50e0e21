"""Hostile rows in tables that agree: one person moves each cell of each table by at most one record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lastbit as lb
from lastbit.audit import hostile
from lastbit.questions.kinds import KINDS
from lastbit.values.contribution_bound import one_key
from tests.stability.judge import some

LISTS: dict[str, list[Any]] = {"item": ["flu", "cold"], "age": ["10", "20", "30"]}
ROWS = [{"who": str(i % 7), "item": LISTS["item"][i % 2], "age": LISTS["age"][i % 3]} for i in range(30)]


def cells(counts: lb.TableCounts) -> list[int]:
    return [int(count) for array in counts.counts.values() for count in np.ravel(array)]


@pytest.mark.parametrize("missing", ["leave-out", "show"])
def test_objects_of_any_kind(missing: str) -> None:
    def count(rows: list[Any]) -> list[int]:
        frame = pd.DataFrame(rows, columns=["who", "item", "age"], dtype=object)
        with one_key():
            return cells(lb.count_tables(frame, by=list(LISTS), domain=LISTS, ways=2, unit="who", missing=missing))

    verdict = lb.audit.stability(count, ROWS, unit="who", hostile=some(list(hostile.rows(ROWS, "who")), 3))
    assert verdict.holds, str(verdict)
    assert verdict.moved == 1


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_lines_of_a_file(kind: str, tmp_path: Path) -> None:
    """Ages are read as numbers between edges: a text that is no number has no group."""
    names = ["who", "item", "age"]
    path = tmp_path / ("visits.csv" if kind == "csv" else "visits.jsonl")

    def line(row: dict[str, Any]) -> bytes:
        if kind == "csv":
            return ",".join(row.values()).encode()
        return ("{" + ", ".join(f'"{name}": "{value}"' for name, value in row.items()) + "}").encode()

    asked = {
        "source": str(path), "unit": "who", "by": ["item"], "domain": LISTS["item"], "edges": {"age": [0, 15, 25]},
        "rho": 1,
    }  # fmt: skip
    reading: Any = KINDS["tables"].parse(asked).question.reading
    table = [line(row) for row in ROWS]
    keys = dict(zip(table, (row["who"] for row in ROWS), strict=True))

    def count(lines: list[bytes]) -> list[int]:
        path.write_bytes(b"".join([b"who,item,age\n"] * (kind == "csv") + [each + b"\n" for each in lines]))
        with one_key():
            return cells(reading.run()["answer"])

    stock = some(list(hostile.lines(kind, names, "who", "item")), 4)
    verdict = lb.audit.stability(count, table, unit=lambda each: keys.get(each, "stranger"), hostile=stock)
    assert verdict.holds, str(verdict)
