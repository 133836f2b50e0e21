"""Ranges that a person types for a domain: whole numbers, with a step, and days, weeks or months."""

from __future__ import annotations

import datetime
import re
from typing import Any, Final

from lastbit.data.domain import check_range
from lastbit.errors import ParameterError

_NUMBERS: Final = re.compile(r"(-?\d{1,400})\.\.(-?\d{1,400})(?::(\d{1,400}))?", re.ASCII)
_TIMES: Final = {
    "%Y-%m-%d": re.compile(r"(\d{4}-\d\d-\d\d)\.\.(\d{4}-\d\d-\d\d)", re.ASCII),
    "%G-W%V": re.compile(r"(\d{4}-W\d\d)\.\.(\d{4}-W\d\d)", re.ASCII),
    "%Y-%m": re.compile(r"(\d{4}-\d\d)\.\.(\d{4}-\d\d)", re.ASCII),
}


def parse_range(text: str) -> Any:
    """Return the items from one end to the other, both in; None where the text is no range.

    >>> parse_range("1..3"), list(parse_range("0..90:30")), parse_range("2025-11..2026-01")
    (range(1, 4), [0, 30, 60, 90], ('2025-11', '2025-12', '2026-01'))
    >>> parse_range("2026-W01..2026-W03"), parse_range("diagnoses.txt")
    (('2026-W01', '2026-W02', '2026-W03'), None)
    """
    ends = _NUMBERS.fullmatch(text)
    if ends:
        step = int(ends[3] or 1)
        if step < 1:
            raise ParameterError(f"--domain must have a step from 1 on: got {text}. Write 0..90:10.")
        return check_range(range(int(ends[1]), int(ends[2]) + 1, step))
    for form, pattern in _TIMES.items():
        ends = pattern.fullmatch(text)
        if ends:
            return _periods(ends[1], ends[2], form)
    return None


def _periods(first: str, last: str, form: str) -> tuple[str, ...]:
    start, end = (_day(text, form) for text in (first, last))
    days = (datetime.date.fromordinal(text) for text in range(start.toordinal(), end.toordinal() + 1))
    labels = tuple(dict.fromkeys(day.strftime(form) if day.year > 999 else "" for day in days))
    if not labels or "" in labels:
        raise ParameterError(f"--domain must be a range from an earlier to a later time: got {first}..{last}.")
    return labels


def _day(text: str, form: str) -> datetime.date:
    try:
        if form == "%G-W%V":
            return datetime.date.fromisocalendar(int(text[:4]), int(text[6:]), 1)
        return datetime.date.fromisoformat(text if form == "%Y-%m-%d" else f"{text}-01")
    except ValueError:
        raise ParameterError(f"--domain must be a range of times that there are: got {text}.") from None
