"""What is done to published numbers before they are shown: hidden, rounded, sorted. It costs nothing, and is said.

Every function takes a report and returns another one. They look at published numbers only, so they protect nobody.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from lastbit.errors import ParameterError
from lastbit.exact.numbers import number
from lastbit.output.numbers import are_intervals, are_numbers, is_interval, is_number
from lastbit.output.words import plural
from lastbit.questions.report import Report, format_value

Step = Callable[[Report], Report]
"""Something that is done to a report."""


_WORDS: Final = ("shown", "why", "kind")


def as_floats(table: Mapping[str, Sequence[Any]], labels: Collection[str]) -> dict[str, Sequence[Any]]:
    """Return the columns of `to_frame` with floats for numbers, nan where one is missing; labels stay as they are.

    >>> as_floats({"item": ["flu"], "rank": [1], "value": [Fraction(5)], "high": [None]}, ["item", "rank"])
    {'item': ['flu'], 'rank': [1], 'value': [5.0], 'high': [nan]}
    """
    return {
        name: column
        if name in labels or name in _WORDS
        else [math.nan if cell is None else float(cell) for cell in column]
        for name, column in table.items()
    }


def hide_numbers(below: Any = None, wider: Any = None) -> Step:
    """Hide the numbers of groups with fewer people than `below`, or with an interval wider than `wider`.

    `wider` is a width, or a share of the number such as 50%.
    """
    if below is None and wider is None:
        raise ParameterError("hide needs below, a number of people, or wider, such as 50%. Write hide(below=10).")
    least = None if below is None else number(below, "below")
    share = str(wider).strip().endswith("%")
    widest = None if wider is None else number(str(wider).strip().removesuffix("%"), "wider") / (100 if share else 1)

    def step(report: Report) -> Report:
        table = report.table
        values = _numbers_of(table)
        sizes = table.get("people", values)
        fewer = "fewer than" if counts_somebody(report) else "below"
        widths = interval_widths(table)
        if widest is not None and widths is None:
            raise ParameterError("--hide-wider needs intervals, and this answer has none. Leave it out.")
        reasons = []
        earlier = table.get("why", [""] * len(values))
        for place, value in enumerate(values):
            why = ""
            if earlier[place]:  # nothing is said of it already
                reasons.append(why)
                continue
            if least is not None and sizes[place] is not None and sizes[place] < least:
                why = f"{fewer} {format_value(least)}"
            if not why and widest is not None and widths is not None:
                limit, width = widest * abs(value or 0) if share else widest, widths[place]
                if width is None or width > limit:
                    why = "not accurate enough"
            reasons.append(why)
        return _blank(report, reasons, _hide_sentence(reasons, least, wider))

    return step


def counts_somebody(report: Report) -> bool:
    """Return whether the size of a row is known: its number counts people or rows, or another column says how many."""
    return "people" in report.table or bool(report.whole_columns) or "counted" in report.data


def _numbers_of(table: Mapping[str, Sequence[Any]]) -> Sequence[Any]:
    numbers = table.get("value", table.get("bounded_value"))
    if numbers is None:
        raise ParameterError("this answer has no number for each row: hiding, rounding and sorting need one.")
    return numbers


def interval_widths(table: Mapping[str, Sequence[Any]]) -> list[Any] | None:
    """Return how wide each interval is; None where an end is missing, or for all where there are no intervals.

    Where nothing bounds the number of all rows, the interval is that of the rows counted, as it is in the table.
    """
    kinds = [
        [None if low is None or high is None else high - low for low, high in zip(table[low], table[high], strict=True)]
        for low, high in (("low", "high"), ("bounded_low", "bounded_high"))
        if low in table and high in table
    ]
    return next((widths for widths in kinds if any(width is not None for width in widths)), kinds[0] if kinds else None)


def _hide_sentence(reasons: Sequence[str], least: Fraction | None, wider: Any) -> str:
    rules = [] if least is None else [f"numbers below {format_value(least)}"]
    rules += (
        []
        if wider is None
        else [f"numbers with an interval wider than {wider}{' of the number' * str(wider).endswith('%')}"]
    )
    hidden = sum(map(bool, reasons))
    return (
        f"Hidden: {' and '.join(rules)}, {hidden:,} of {plural(len(reasons), 'row')}. This looks at published numbers "
        "only, and protects nobody."
    )


def _blank(report: Report, reasons: Sequence[str], sentence: str) -> Report:
    table = dict(report.table)
    shown = [not why for why in reasons]
    why = [own or before for own, before in zip(reasons, table.get("why", [""] * len(reasons)), strict=True)]
    frame = {
        name: [cell if shown[place] else None for place, cell in enumerate(column)]
        if not report.is_label(name)
        else column
        for name, column in table.items()
    }
    frame |= {"shown": [not text for text in why], "why": why}
    columns = {
        name: [cell if shown[place] else None for place, cell in enumerate(column)]
        if are_numbers(column) or are_intervals(column)
        else column
        for name, column in _columns_of(report).items()
    }
    labels = {name: column for name, column in _columns_of(report).items() if name in table and report.is_label(name)}
    columns |= labels
    if any(why):
        columns["why"] = why
    return finish_report(report, columns, frame, sentence)


def cut_below_zero(report: Report) -> Report:
    """Show negative numbers as 0, and cut intervals at 0."""
    sentence = "Numbers below 0 are shown as 0, which makes sums of them too high."
    return finish_report(report, *_map_numbers(report, lambda value, _: max(value, Fraction(0))), sentence)


def cut_intervals(report: Report) -> Report:
    """Cut intervals of people and rows at 0, below which there are none; numbers stay as they were drawn.

    >>> report = Report("", {"people": [-3], "interval": [(-9, 3)]}, data={"interval": [(-9, 3)], "low": [-9]})
    >>> cut_intervals(report).columns, cut_intervals(report).data["low"]
    ({'people': [-3], 'interval': [(0, 3)]}, [0])
    """

    labels = {name for name in report.table if report.is_label(name)}
    own = {name: report.data[name] for name in ("interval", "low", "high") if name in report.data}
    cut: dict[tuple[int, bool], Any] = {}
    frame = _cut_ends(report.table, cut, {*labels, *_WORDS, "variance"}) if report.frame else report.frame
    columns = _cut_ends(_columns_of(report), cut, labels)
    return replace(report, columns=columns, frame=frame, data={**report.data, **_cut_ends(own, cut)})


def _cut_ends(
    table: Mapping[str, Sequence[Any]], cut: dict[tuple[int, bool], Any], names: Collection[str] = ()
) -> dict[str, Any]:
    """Return a table with all ends of intervals cut at 0 but those of the columns in `names`.

    `cut` has the columns that were cut before: several tables show the same ones.
    """
    changed = {}
    for name, column in table.items():
        place = id(column), bool(_end_of(name))
        if name not in names and place not in cut:
            cut[place] = [_cut_end(cell) for cell in column] if place[1] else [_cut_interval(cell) for cell in column]
        changed[name] = column if name in names else cut[place]
    return changed


def _cut_interval(cell: Any) -> Any:
    return tuple(map(_cut_end, cell)) if type(cell) is tuple and is_interval(cell) else cell


def _cut_end(value: Any) -> Any:
    if type(value) is Fraction:  # its sign, without what a comparison of fractions takes
        return 0 if value.numerator < 0 else value
    return 0 if is_number(value) and value < 0 else value


def round_numbers(step: Any) -> Step:
    """Round numbers to multiples of `step`, and the ends of intervals outwards."""
    unit = number(step, "--round")
    if unit <= 0:
        raise ParameterError(f"--round must be above 0: got {step}. Write --round 10 for multiples of 10.")

    def round_one(value: Any, end: str) -> Fraction:
        # A whole number of NumPy would overflow beside a large step.
        steps = Fraction(int(value) if isinstance(value, np.integer) else value) / unit
        whole = round(steps) if not end else steps.__floor__() if end == "low" else steps.__ceil__()
        return whole * unit

    def apply(report: Report) -> Report:
        sentence = f"Numbers are rounded to multiples of {format_value(unit)}, and intervals outwards."
        return finish_report(report, *_map_numbers(report, round_one), sentence)

    return apply


def _map_numbers(report: Report, change: Callable[[Any, str], Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the printed columns and the frame with all numbers changed; `change` is told which end one is."""
    labels = {name for name in report.table if report.is_label(name)}
    frame = _map_cells(report.table, change, {*labels, *_WORDS, "variance"})
    return _map_cells(_columns_of(report), change, labels), frame


def _map_cells(
    table: Mapping[str, Sequence[Any]], change: Callable[[Any, str], Any], names: Collection[str] = ()
) -> dict[str, Any]:
    """Return a table with all numbers changed but those of the columns in `names`."""

    def one(cell: Any, end: str) -> Any:
        if is_interval(cell):
            return tuple(
                None if part is None else change(part, name) for part, name in zip(cell, ("low", "high"), strict=True)
            )
        return change(cell, end) if is_number(cell) and cell == cell else cell

    return {
        name: column if name in names else [one(cell, end) for end in [_end_of(name)] for cell in column]
        for name, column in table.items()
    }


def _end_of(name: str) -> str:
    """Return which end of intervals a column of `to_frame` has; "" where it has none."""
    return next((end for end in ("low", "high") if name.endswith(end)), "")


def sort_rows(report: Report) -> Report:
    """Put the rows with the largest published numbers first."""
    values = _numbers_of(report.table)
    order = sorted(range(len(values)), key=lambda place: (values[place] is None, -(values[place] or 0)))
    sentence = (
        "Sorted by the published numbers. Noise takes part in the order, and makes the first numbers too high on "
        "average."
    )
    return _pick(report, order, sentence)


def keep_first(most: int) -> Step:
    """Show the first rows only."""

    def apply(report: Report) -> Report:
        rows = len(next(iter(report.table.values())))
        kept = min(most, rows)
        sentence = f"The first {kept:,} of {plural(rows, 'row')} {'is' if kept == 1 else 'are'} shown."
        return _pick(report, range(kept), sentence) if kept < rows else report

    return apply


def _pick(report: Report, order: Sequence[int], sentence: str) -> Report:
    def pick(table: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        return {name: [column[place] for place in order] for name, column in table.items()}

    return finish_report(report, pick(_columns_of(report)), pick(report.table), sentence)


def _columns_of(report: Report) -> Mapping[str, Sequence[Any]]:
    """Return the columns that people read, with one row for each row of `to_frame`."""
    rows = len(next(iter(report.table.values())))
    same = all(len(column) == rows for column in report.columns.values())
    return report.columns if same else join_ends(report.table)


def join_ends(table: Mapping[str, Sequence[Any]], heading: str = "value") -> dict[str, Sequence[Any]]:
    """Return the columns of `to_frame` as people read them: an interval is one column.

    >>> join_ends({"item": ["flu"], "value": [5], "low": [3], "high": [None]}, "patients")
    {'item': ['flu'], 'patients': [5], 'interval': [(3, None)]}
    >>> [*join_ends({"value": [5], "bounded_value": [5], "bounded_low": [3], "bounded_high": [7]}, "per 1,000")]
    ['per 1,000', 'per 1,000, of those counted', 'interval of those counted']
    """
    names = {"value": heading, "bounded_value": f"{heading}, of those counted"}
    columns: dict[str, Sequence[Any]] = {}
    for name, column in table.items():
        if name in ("high", "shown") or name.endswith("_high"):
            continue
        if name == "low" or name.endswith("_low"):
            ends = zip(column, table[f"{name[:-3]}high"], strict=True)
            own = "those counted" if name == "bounded_low" else name[:-4].replace("_", " ")
            intervals = [None if pair == (None, None) else pair for pair in ends]
            columns[f"interval of {own}" if own else "interval"] = intervals
        else:
            columns[names.get(name, name)] = column
    return columns


_KEPT: Final = ("schema", "mechanism", "cost", "costs", "level", "counted", "of", "per", "noun", "never_negative")


def finish_report(report: Report, columns: Mapping[str, Any], frame: Mapping[str, Any], sentence: str) -> Report:
    """Return the report with these numbers. Programs get the numbers that are shown, and no others."""
    labels = {name: column for name, column in frame.items() if report.is_label(name)}
    numbers = {name: column for name, column in frame.items() if name not in labels}
    kept = {name: report.data[name] for name in _KEPT if name in report.data}
    data = {**kept, "columns": list(numbers), **numbers, "groups": labels}
    return replace(report, columns=columns, frame=frame, data=data, post_processing=[*report.post_processing, sentence])
