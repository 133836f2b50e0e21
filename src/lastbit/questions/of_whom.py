"""Of whom each number of an answer is, for programs: of all people, or of those counted after a bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lastbit.questions.titles import name_different

if TYPE_CHECKING:
    from lastbit.questions.report import Report
    from lastbit.questions.request import Request

_ENDS: Final = ("", "_low", "_high")
_VALUE: Final = ("value", "low", "high")
_BOUNDED: Final = tuple(f"bounded_{name}" for name in _VALUE)
_PEOPLE: Final = tuple(f"people{end}" for end in _ENDS)
_OTHERS: Final = (*(f"{name}{end}" for name in ("total", "mean", "sd") for end in _ENDS), "gap", "estimate")


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
    if request.items.each_in_one:
        return False
    if request.kind.name == "tables":
        return request.rows.unit is not None
    return bool(get("one_each")) or get("most_items") is not None
