"""Advice is in the words of the face that shows it: flags, keywords, keys of JSON, labels; a report has none."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from lastbit.questions.kinds import KINDS
from lastbit.questions.plan import make_plan
from lastbit.questions.rendering import sample_view

LISTED: dict[str, Any] = {"by": "item", "domain": [f"item {place}" for place in range(30)]}
NUMBERS: dict[str, Any] = {"of": "cost", "bounds": [0, 10]}
ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "count": ("count", LISTED),
    "months": ("count", {"by": "day", "domain": "2024-01..2024-12"}),
    "bounded count": ("count", {**LISTED, "most_items": 2}),
    "named count": ("count", {**LISTED, "most_items": 2, "people_share": 0}),
    "top": ("top", {**LISTED, "k": 3}),
    "in each": ("top", {"by": "item", "in_each": "ward", "domain": {"item": ["a", "b"], "ward": ["c", "d"]}, "k": 1}),
    "mean": ("mean", {**NUMBERS, **LISTED}),
    "bounded mean": ("mean", {**NUMBERS, **LISTED, "most_items": 3}),
    "share": ("share", {"of": "cost > 3", **LISTED}),
    "median": ("median", {**NUMBERS, **LISTED}),
    "bounded median": ("median", {**NUMBERS, **LISTED, "most_items": 2}),
    "histogram": ("histogram", {**NUMBERS, "bins": 5}),
    "discovery": ("histogram", {"by": "item", "most_items": 2, "delta": "1e-6"}),
    "found": ("top", {"by": "item", "discover": True, "k": 2000, "delta": "1e-6"}),
    "tables": ("tables", {"by": ["a", "b"], "domain": [["x", "y"], ["z", "w"]], "delta": "1e-6"}),
    "many cells": ("tables", {"by": ["a", "b"], "domain": [list(range(60)), list(range(60))], "delta": "1e-6"}),
}


def answer(name: str, face: Any) -> list[str]:
    kind, options = ASKED[name]
    request = KINDS[kind].parse({"source": "visits.csv", "unit": "patient", "epsilon": 1, **options})
    request = replace(request, face=face)
    notes = sample_view(request).shown_report.notes
    return [*notes, *(make_plan(request).notes if face != "report" else [])]


@pytest.mark.parametrize("name", ASKED)
def test_no_face_but_the_command_shows_flags(name: str) -> None:
    for face in ("python", "service", "page", "report"):
        for note in answer(name, face):
            assert not re.search(r"(?<!\w)--?[a-z]", note), (face, note)


def test_each_face_says_it_its_way() -> None:
    advice = {
        "command": "With --one-each it would be ",
        "python": "With one_each=True it would be ",
        "service": 'With "one_each": true it would be ',
        "page": "With “One group for each person” it would be ",
    }
    for face, words in advice.items():
        notes = answer("count", face)
        assert any(words in note for note in notes), notes
    assert any('month="day" reads them as months' in note for note in answer("months", "python"))
    assert any("“Column of months”: day reads them as months" in note for note in answer("months", "page"))


@pytest.mark.parametrize("name", ASKED)
def test_a_report_keeps_all_facts_and_no_advice(name: str) -> None:
    kind, options = ASKED[name]
    request = KINDS[kind].parse({"source": "visits.csv", "unit": "patient", "epsilon": 1, **options})
    request = replace(request, face="command", values={**request.values, "html": "report.html"})
    view = sample_view(request)
    kept = " ".join(view.for_readers().shown_report.notes)
    for note in view.shown_report.notes:
        for sentence in re.split(r"(?<=[.!?]) (?=[A-Z(-])", note):
            assert re.search(r"(?<!\w)--?[a-z]", sentence) or sentence in kept


def test_a_whole_command_stays_whole_where_somebody_can_run_it() -> None:
    from lastbit.questions.spelling import spell_notes

    note = "With --most-items all nobody is left out. To ask that: lastbit count v.csv --where 'x = 1. A' --one-each"
    options = KINDS["count"].options
    assert spell_notes([note], options, "python") == [
        "With most_items=\"all\" nobody is left out. To ask that: lastbit count v.csv --where 'x = 1. A' --one-each"
    ]
    assert spell_notes([note], options, "page") == ["With “Items of one person that count”: all nobody is left out."]
    assert spell_notes([note], options, "report") == []


def test_what_somebody_typed_stays_as_it_is() -> None:
    from lastbit.questions.spelling import spell_options

    options = KINDS["top"].options
    assert spell_options("-k must be whole: got '--by x'. Write -k 3.", options, "page") == (
        "“How many items” must be whole: got '--by x'. Write “How many items”: 3."
    )
    assert spell_options("Write --domain ward=a,b.", options, "python") == 'Write domain="ward=a,b".'
