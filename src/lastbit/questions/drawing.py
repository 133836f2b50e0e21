"""What a picture of an answer shows: one panel, or one for each group of the first of two columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Any, Final

from lastbit.output.numbers import are_intervals
from lastbit.output.picture import Panel
from lastbit.output.words import capitalize
from lastbit.questions.group_types import group_names
from lastbit.questions.report import format_percent, format_value
from lastbit.questions.stored_answers import is_never_negative
from lastbit.questions.titles import name_groups, name_number

if TYPE_CHECKING:
    from lastbit.output.numbers import Interval
    from lastbit.questions.report import Report
    from lastbit.questions.request import Request

_TIME: Final = re.compile(r"\d{4}(-W?\d\d(-\d\d)?)?")
"""A year, a month, a week or a day."""
_MOST_PANELS: Final = 8
_LARGE: Final = 5
"""From here on the fraction of a reach tells nothing."""
_POINTS: Final = ("mean", "median", "quantile", "share", "top", "measure", "above")
"""Kinds of questions whose numbers are no amounts that stand on 0, or are in an order."""
_TOO_FEW: Final = {"too few to say": "too few"}
_NO_GROUPS: Final = ("rank", "measurement", "above_by")
"""Columns that stand beside the groups in `to_frame`."""


def draw_answer(request: Request | None, report: Report) -> Sequence[Panel]:
    """Return the panels of an answer with a number for each group; none where the release draws itself."""
    table = report.table
    if request is not None and request.asks_several:
        return _draw_numbers(request, report)
    labels = [name for name in report.label_names if name not in _NO_GROUPS]
    if request is None or not labels or "value" not in table:
        return ()
    kind, groups = request.kind.name, [name for name in labels if name != "quantile"] or labels
    columns = [[_write_label(cell) for cell in table[name]] for name in groups]
    intervals, noise = _find_intervals(table)
    name = _name_axis(request, report)
    if noise and not name.startswith("all ") and all(high is None for _, high in filter(None, intervals)):
        # Nobody knows how many there are at most: the picture is of those counted, as its heading says.
        intervals, noise = noise, []
    headings = name_groups(request, groups)
    panel = Panel(
        name,
        [", ".join(row) for row in zip(*columns, strict=True)],
        table["value"],
        ", ".join(headings),
        intervals,
        noise=noise,
        is_points=kind in _POINTS,
        reasons=[_TOO_FEW.get(why, why) for why in table.get("why", ())],
        sizes=table.get("people", ()),
        size_name=request.words.people if "people" in table else "",
        from_zero=kind != "watch" and is_never_negative(kind, request.values),
    )
    if groups != labels and len(set(table["quantile"])) > 1:
        return split_panel(panel, [f"quantile {_write_label(cell)}" for cell in table["quantile"]], panel.labels)
    if len(groups) == 2 and len(set(columns[0])) > 1 < len(set(columns[1])):
        return draw_two_ways(panel, headings, columns, request.level)
    is_series = len(groups) == 1 and len(panel.labels) > 2 and all(map(_TIME.fullmatch, columns[0]))
    return [replace(panel, is_series=is_series, doubts=_find_doubts(table))]


def _draw_numbers(request: Request, report: Report) -> Sequence[Panel]:
    """Return the panels of each of several columns of numbers, which have scales of their own."""
    from lastbit.questions.several_numbers import OF, split_request

    table, panels = report.table, []
    for column, part in split_request(request).items():
        rows = [row for row, name in enumerate(table[OF]) if name == column]
        # Without groups, the one number of a column stands under the column's name.
        kept = [name for name in table if name != OF or report.label_names == [OF]]
        own = replace(report, frame={name: [table[name][row] for row in rows] for name in kept})
        for panel in draw_answer(part, own):
            panels.append(replace(panel, heading=f"{column}, {panel.heading}" if panel.heading else column))
    return panels


def draw_two_ways(
    panel: Panel, headings: Sequence[str], columns: Sequence[Sequence[str]], level: str
) -> Sequence[Panel]:
    """Return the groups of two columns: a panel for each group of the first, or one grid where these are many."""
    if len(set(columns[0])) <= _MOST_PANELS:
        first = [f"{headings[0]}: {text}" for text in columns[0]]
        return split_panel(replace(panel, label_name=headings[1]), first, columns[1])
    cells = list(zip(*columns, strict=True))
    return [replace(panel, cells=cells, legend=_describe_grid(panel, level), noise=(), doubts=())]


def _describe_grid(panel: Panel, level: str) -> list[str]:
    """Return how far the numbers of a grid may be off, and why some of its cells have none."""
    spots = zip(panel.heights, panel.intervals, strict=False)
    ends = [(height, pair) for height, pair in spots if height is not None and pair is not None]
    legend = ["A darker cell has a larger number."]
    below = [height - low for height, (low, _) in ends if low is not None]
    above = [high - height for height, (_, high) in ends if high is not None]
    if ends and len(below) == len(above) == len(ends):
        fewer, more = (_round_up(max(0, *sides, 0)) for sides in (below, above))
        reach = f"{fewer} or less to each side" if fewer == more else f"{fewer} or less below it and {more} above it"
        chance = format_percent(level)
        legend.append(f"The interval of every number reaches {reach}; each holds with probability {chance}.")
    elif ends:
        legend.append("Some intervals have one end only: the table has them.")
    reasons = list(dict.fromkeys(filter(None, panel.reasons)))
    return [*legend, *([f"–: {', '.join(reasons)}."] if reasons else [])]


def _round_up(reach: Any) -> str:
    """Return how far an interval reaches, not below it: a large one as a whole number."""
    return format_value(ceil(reach) if reach >= _LARGE else reach, "up")


def split_panel(panel: Panel, first: Sequence[str], second: Sequence[object]) -> list[Panel]:
    """Return a panel for each text of `first`, all on one scale; `second` are the labels of their rows.

    >>> panels = split_panel(Panel("people", ["", "", ""], [5, 7, 9]), ["north", "north", "south"], ["f", "m", "f"])
    >>> [(panel.heading, panel.labels, panel.heights, panel.reach) for panel in panels]
    [('north', ['f', 'm'], [5, 7], 9), ('south', ['f'], [9], 9)]
    """
    spots = [value for value in panel.heights if value is not None]
    spots += [pair[1] for pair in panel.intervals if pair is not None and pair[1] is not None]
    reach = max(spots, default=None)
    panels = []
    for heading in dict.fromkeys(first):
        rows = [row for row, text in enumerate(first) if text == heading]

        def pick(column: Sequence[Any], rows: Sequence[int] = rows) -> list[Any]:
            return [column[row] for row in rows] if len(column) else []

        own: dict[str, Any] = {
            name: pick(getattr(panel, name)) for name in ("heights", "intervals", "noise", "reasons", "sizes", "rows")
        }
        panels.append(replace(panel, heading=heading, labels=pick(second), reach=reach, **own))
    return panels


def draw_gaps(request: Request | None, panels: Sequence[Panel]) -> Sequence[Panel]:
    """Return the gaps of ranked items in the words of the question, with a line where the order is not certain."""
    if request is None or request.kind.name not in ("top", "measure") or not request.values.get("by"):
        return panels
    people = "" if request.values.get("of") or request.values.get("weights") else f", in {request.words.people}"
    heading = ", ".join(name_groups(request, group_names(request.values["by"])))
    return [
        replace(
            panel,
            name=f"ahead of the next{people}",
            label_name=heading,
            doubts=[row for row, ends in enumerate(panel.intervals) if ends is not None and (ends[0] or 0) <= 0],
        )
        for panel in panels
    ]


def _find_intervals(table: Mapping[str, Sequence[Any]]) -> tuple[list[Interval | None], list[Interval | None]]:
    """Return the intervals of the numbers, and those of the noise alone where they are others."""

    def read(prefix: str) -> list[Interval | None]:
        if f"{prefix}low" not in table:
            return []
        pairs = zip(table["value"], table[f"{prefix}low"], table[f"{prefix}high"], strict=True)
        return [None if value is None or (low is None and high is None) else (low, high) for value, low, high in pairs]

    intervals, noise = read(""), read("bounded_")
    return intervals, [] if noise == intervals else noise


def _find_doubts(table: Mapping[str, Sequence[Any]]) -> list[int]:
    """Return the places of ranked rows whose interval overlaps with that of the next row."""
    if "rank" not in table or "low" not in table:
        return []
    ends = list(zip(table["low"], table["high"], strict=True))
    pairs = enumerate(pairwise(ends))
    return [place for place, ((low, _), (_, high)) in pairs if low is None or high is None or low <= high]


def _name_axis(request: Request, report: Report) -> str:
    """Return what the numbers are, for the axis: in the words of the title, or of the heading above them."""
    own = "" if request.values.get("rate") else name_number(request)
    if own:
        return capitalize(own)
    columns = {
        name: column
        for name, column in report.columns.items()
        if not name.startswith("interval") and name not in ("shown", "why")
    }
    # Of people after a bound the last column has intervals, and they are what is drawn.
    *_, last = columns
    drawn = [name for name, column in columns.items() if list(column) == list(report.table["value"])]
    name = last if are_intervals(columns[last]) or not drawn else drawn[0]
    return request.words.people if name == "estimate" and not request.values.get("of") else name


def _write_label(cell: Any) -> str:
    """Return a label as people read it: a quantile of 1/2 is 0.5."""
    if isinstance(cell, Fraction) and Fraction(f"{float(cell):g}") == cell:
        return f"{float(cell):g}"
    return str(cell)
