"""The report of an answer: its title, what was done to its numbers, whom they are of, and by which method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import ParameterError
from lastbit.exact.numbers import probability
from lastbit.questions.group_types import group_columns
from lastbit.questions.methods import method_sentence
from lastbit.questions.presentation import (
    Step,
    cut_intervals,
)
from lastbit.questions.report import Report, format_percent
from lastbit.questions.stored_answers import is_never_negative
from lastbit.questions.titles import name_different, title_of

if TYPE_CHECKING:
    from lastbit.questions.request import Request


MANY: Final = 20
"""From so many intervals on, an answer says how many of them may miss."""
_ENDS: Final = ("", "_low", "_high")
_VALUE: Final = ("value", "low", "high")
_BOUNDED: Final = tuple(f"bounded_{name}" for name in _VALUE)
_PEOPLE: Final = tuple(f"people{end}" for end in _ENDS)
_OTHERS: Final = (*(f"{name}{end}" for name in ("total", "mean", "sd") for end in _ENDS), "gap", "estimate")


def describe_answer(request: Request, published: Any) -> Report:
    """Return what the question says of a release; with --together, at a level at which all intervals hold together."""
    report = request.question.report(published)
    rows = len(next(iter(report.table.values()), ()))
    if not request.values.get("together") or rows < 2:
        return report
    if request.values.get("delta") is not None and not request.values.get("domain"):
        raise ParameterError(
            "--together needs listed groups: nobody knows beforehand how many groups will be found. Pass --domain, or "
            "leave --together out."
        )
    misses = (1 - probability(request.level, "--level")) / rows
    report = request.change(level=1 - misses).question.report(published)
    note = f"All {rows:,} hold together with probability {format_percent(request.level)} or more."
    return replace(report, notes=[*report.notes, note], level=str(1 - misses))


def complete(
    request: Request,
    published: Any,
    report: Report,
    steps: Sequence[Step],
    books: Mapping[str, Any] | None = None,
) -> Report:
    """Return a report with its title, the rules of reading, what was done to its numbers, and its method."""
    groups = [*group_columns(request.values)]
    labels = {*groups, *(f"{name} (group)" for name in groups)} & report.table.keys()
    # A group whose column has the name of a number stands under another name.
    labels -= {name for name in groups if f"{name} (group)" in report.table}
    report = replace(report, title=title_of(request, published), labels=labels)
    never_negative = is_never_negative(request.kind.name, request.values)
    if never_negative and request.canonical.kind.name == "count":
        report = cut_intervals(report)
    for step in steps:
        report = step(report)
    misses = [] if report.level else _describe_misses(request, report)
    method = method_sentence(request, published, report)
    notes = [*report.notes, *request.question.notes, *misses, *report.post_processing]
    if request.purchase is not None:
        notes.append(request.purchase.sentence)
        notes += [] if request.purchase.promise in notes else [request.purchase.promise]
    notes = request.spell([*notes, method])
    data = {**report.data, "title": report.title, "notes": list(notes), **(books or {})}
    data |= {"noun": request.words.people, "never_negative": never_negative}
    meaning = say_of_whom(request, report)
    data |= {"meaning": meaning} if meaning else {}
    return replace(report, notes=notes, data=data)


def _describe_misses(request: Request, report: Report) -> list[str]:
    """Return how many of many intervals may miss, where at least one may."""
    intervals = sum(low is not None for low in report.table.get("low", ()))
    misses = ceil(intervals * (1 - probability(request.level, "--level")))
    if not report.has_intervals or intervals < MANY or misses < 1:
        return []
    return [f"About {misses:,} of these {intervals:,} intervals may miss. --together gives intervals that all hold."]


def say_of_whom(request: Request, report: Report) -> dict[str, str]:
    """Return of whom each number of an answer is, by the key of the number.

    >>> from lastbit.questions.kinds import KINDS
    >>> from lastbit.questions.report import Report
    >>> request = KINDS["count"].parse({"source": "v.csv", "unit": "patient", "noun": "patient", "most_items": 2})
    >>> numbers = {"value": [5], "low": [4], "high": [9], "bounded_value": [5]}
    >>> say_of_whom(request, Report("", {}, data=numbers, frame=numbers))["bounded_value"]
    'patients counted'
    """
    get, words, data = request.values.get, request.words, report.data
    if get("counts") is not None:
        return {}
    by_rows = bool(get("rows")) or get("per") == "row"
    subject = words.rows if by_rows else words.people
    if get("different") is not None:
        subject = f"{name_different(request)[1]} of {words.people}"
    clamped = ", with their numbers clamped to the bounds" if get("of") is not None and get("bounds") else ""
    if request.kind.name == "histogram":
        clamped = ""
    everybody, counted = f"all {subject}{clamped}", f"{subject} counted{clamped}"
    is_known = "bounded_value" in report.table and "value" in report.table
    is_bounded = _is_bounded(request)
    is_of_all = is_known or not is_bounded
    if by_rows and request.kind.name != "count":  # rows beyond the bound take no part
        is_of_all = False
    main = everybody if is_of_all else counted
    sizes = counted if any(heading.endswith(" counted") for heading in report.columns) and not is_known else everybody
    meaning = {
        **dict.fromkeys(_VALUE, main),
        # What the release itself has, and the answer has not, is as it was drawn.
        **{name: main if name in report.table or not is_bounded else counted for name in _OTHERS},
        **dict.fromkeys(_BOUNDED, counted if is_bounded else everybody),
        **dict.fromkeys(_PEOPLE, sizes.removesuffix(clamped)),
    }
    return {name: text for name, text in meaning.items() if name in data}


def _is_bounded(request: Request) -> bool:
    """Return whether some of a person's groups or rows may not count. Of tables, one record counts unless more do."""
    get = request.values.get
    if get("most_rows") is not None:
        return True
    if request.each_in_one:
        return False
    if request.kind.name == "tables":
        return request.rows.unit is not None
    return bool(get("one_each")) or get("most_items") is not None
