"""Every kind of question can be tried on made-up values: no table is there, and none is read."""

from __future__ import annotations

from typing import Any

import pytest

from lastbit.mechanisms.mechanism import resolve_draw
from lastbit.questions.kinds import KINDS

LISTED = {"by": ["item"], "domain": ["a,b,c,d"]}
NUMBERS = {"of": "cost", "bounds": ("0", "1000")}
TABLES = {"by": ["item", "sex"], "domain": ["a,b,c", "f,m"], "edges": ["cost=0,10,20"], "delta": "1e-6"}
ASKED: list[tuple[str, dict[str, Any]]] = [
    ("top", {**LISTED, "k": 2}),
    ("top", {**LISTED, "k": 2, "weights": "cost", "bounds": ("0", "10")}),
    ("top", {"by": ["item"], "k": 3, "delta": "1e-6"}),
    ("above", {**LISTED, "threshold": "50"}),
    ("choose", {**LISTED, "k": 2}),
    ("choose", {"by": ["item"], "k": 3, "delta": "1e-6"}),
    ("measure", {**LISTED, "k": 2}),
    ("histogram", {**LISTED, "most_items": 2}),
    ("histogram", {"by": ["item"], "most_items": 2, "delta": "1e-6"}),
    ("histogram", {"of": "cost", "bounds": ("0", "100"), "bins": 5}),
    ("histogram", {"of": "date", "every": "month", "bounds": ("2026-01", "2026-06")}),
    ("count", {}),
    ("count", {**LISTED, "one_each": True}),
    ("sum", NUMBERS),
    ("mean", NUMBERS),
    ("mean", {**NUMBERS, "per": "row", "most_rows": 3}),
    ("median", NUMBERS),
    ("quantile", {**NUMBERS, "at": "0.25,0.5"}),
    ("quantile", {**NUMBERS, "at": "0.5,0.9", **LISTED, "one_each": True}),
    ("share", {"of": "cost > 3"}),
    ("share", {**LISTED, "of": "cost > 3", "one_each": True}),
    ("tables", {**TABLES}),
    ("tables", {**TABLES, "by": ["item", "sex"], "edges": []}),
    ("tables", {**TABLES, "pivot": "cost,sex"}),
    ("tables", {**TABLES, "whole": True}),
    ("tables", {**TABLES, "whole": True, "pivot": "sex,item"}),
    ("tables", {**TABLES, "edges": ["cost=" + ",".join(map(str, range(900)))]}),
]


@pytest.mark.parametrize(("kind", "asked"), ASKED, ids=lambda each: each if isinstance(each, str) else " ".join(each))
def test_a_sample_of_a_table_that_is_not_there(kind: str, asked: dict[str, Any]) -> None:
    request = KINDS[kind].parse({"source": "no such file.csv", "unit": "patient", "epsilon": 1, **asked}, "command")
    question = request.question
    release = question.prepare(question.sample(2000))(resolve_draw(None))
    report = question.report(release)
    assert release.cost == question.mechanism.cost
    assert {len(column) for column in report.columns.values()} == {len(next(iter(report.columns.values())))}
    assert len(next(iter(report.columns.values()))) > 0


def test_the_kinds_are_the_ones_that_are_tried() -> None:
    # A description looks up the columns of its table first.
    assert {kind for kind, _ in ASKED} == set(KINDS) - {"describe"}
