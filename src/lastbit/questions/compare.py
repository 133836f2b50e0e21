"""Two published answers compared: the difference, the ratio or the change in percent, with intervals. It is free.

The interval of a comparison holds where both intervals hold, so it misses with at most the sum of their probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal, get_args

from lastbit.errors import LastbitError, ParameterError
from lastbit.exact.numbers import number, probability
from lastbit.output.json_values import COMPARISON_SCHEMA
from lastbit.output.numbers import Interval
from lastbit.output.picture import Panel
from lastbit.output.words import plural
from lastbit.questions.answer_report import complete, describe_answer
from lastbit.questions.answer_view import AnswerView
from lastbit.questions.presentation import join_ends
from lastbit.questions.report import Report, format_percent
from lastbit.questions.stored_answers import read_document

Way = Literal["difference", "ratio", "percent"]
_HEADINGS: Final[dict[str, str]] = {"difference": "difference", "ratio": "ratio", "percent": "change in percent"}


@dataclass(frozen=True)
class Side:
    """One of two published answers: the labels of its rows, its numbers, and their intervals."""

    title: str
    labels: Mapping[str, Sequence[Any]]
    values: Sequence[Any]
    intervals: Sequence[Interval]
    misses: Fraction
    """The probability at which an interval may miss."""
    is_positive: bool
    """Whether the true numbers cannot be below 0, as numbers of people."""
    people: str
    """What the people are called."""

    @property
    def rows(self) -> dict[tuple[str, ...], tuple[Any, Interval]]:
        """The number and the interval of each row, by its labels as text."""
        keys = [tuple(map(str, key)) for key in zip(*self.labels.values(), strict=True)] or [()] * len(self.values)
        return dict(zip(keys, zip(self.values, self.intervals, strict=True), strict=True))


@dataclass(frozen=True)
class Comparison:
    """What a comparison publishes: its table, and how it was made."""

    table: Mapping[str, Sequence[Any]]
    method: str

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the table, column by column."""
        return self.table

    def methods(self) -> str:
        """Return how it was made, for a paper."""
        return self.method

    def panels(self, _level: Any = None) -> Sequence[Panel]:
        """Refuse a picture of what has no groups."""
        raise LastbitError("plot needs groups: this comparison has a single number. Print it, or use to_frame().")


def compare(
    first: Any, second: Any, *, as_: Way = "difference", of: str | None = None, level: object = "0.95"
) -> AnswerView:
    """Compare two published answers, group by group: what the second has more than the first. It costs nothing.

    Answers are releases of `ask`, or the JSON of a command or of a publication, as a path or as a dict; `of` names the
    question of a publication. A ratio whose first number may be 0 has no upper limit, and says so.

    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> import lastbit as lb
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "visits.csv")
    ...     _ = file.write_text("patient\\n" + "".join(f"{patient}\\n" for patient in range(500)))
    ...     counts = [lb.ask("count", file, unit="patient", epsilon=1) for _ in range(2)]
    ...     lb.compare(*counts, as_="ratio").title
    'People: the second against the first, as a ratio'
    """
    if as_ not in get_args(Way):
        raise ParameterError(f"as_ must be difference, ratio or percent: got {str(as_)[:40]!r}. Nothing was compared.")
    wanted = (1 - probability(level, "level")) / 2
    sides = [read_side(side, of, wanted) for side in (first, second)]
    one, two = sides
    if list(one.labels) != list(two.labels):
        raise ParameterError(
            f"both answers must have the same groups: got {_list(one.labels)} and {_list(two.labels)}. Ask both by the "
            "same columns."
        )
    combine = _WAYS[as_]
    mine, theirs = one.rows, two.rows
    keys = [key for key in mine if key in theirs]
    places = {key: place for place, key in enumerate(mine)}
    pairs = [combine(mine[key], theirs[key], one.is_positive and two.is_positive) for key in keys]
    table: dict[str, Sequence[Any]] = {
        name: [column[places[key]] for key in keys] for name, column in one.labels.items()
    }
    table |= {"first": [mine[key][0] for key in keys], "second": [theirs[key][0] for key in keys]}
    table |= {"value": [value for value, _ in pairs], "low": [ends[0] for _, ends in pairs]}
    table |= {"high": [ends[1] for _, ends in pairs]}
    columns = join_ends(table, _HEADINGS[as_])
    notes = _describe(one, two, pairs, len(mine) + len(theirs) - 2 * len(keys))
    title = one.title if one.title == two.title else f"{one.title}, and {two.title}"
    how = {"difference": "as a difference", "ratio": "as a ratio", "percent": "change in percent"}[as_]
    title = f"{title}: the second against the first, {how}"
    data = {
        "schema": COMPARISON_SCHEMA,
        "title": title,
        "as": as_,
        "level": 1 - one.misses - two.misses,
        "notes": notes,
    }
    data |= {"groups": {name: table[name] for name in one.labels}}
    data |= {name: column for name, column in table.items() if name not in one.labels}
    report = Report(title, columns, notes, data, frame=table, labels=[*one.labels])
    return AnswerView(None, Comparison(table, f"{title}. {' '.join(notes)}"), report, ())


def _describe(one: Side, two: Side, pairs: Sequence[Any], alone: int) -> list[str]:
    """Return what the intervals of a comparison mean."""
    level = format_percent(1 - one.misses - two.misses)
    people = one.people if one.people == two.people else "people"
    notes = [
        f"Each interval holds with probability {level} or more; intervals are for these {people}, not for {people} in "
        "general."
    ]
    if any(ends[0] is not None and ends[1] is None for _, ends in pairs):
        notes.append("An interval without an upper limit: the first number may be 0.")
    if alone:
        notes.append(f"Left out: {plural(alone, 'group')} of one answer alone.")
    notes.append("Two published answers were compared. No table was read, and nothing was charged.")
    return notes


def _subtract(one: tuple[Any, Interval], two: tuple[Any, Interval], _positive: bool) -> tuple[Any, Interval]:
    (a, (a_low, a_high)), (b, (b_low, b_high)) = one, two
    if a is None or b is None:
        return None, (None, None)
    low = None if b_low is None or a_high is None else b_low - a_high
    high = None if b_high is None or a_low is None else b_high - a_low
    return b - a, (low, high)


def _divide(one: tuple[Any, Interval], two: tuple[Any, Interval], positive: bool) -> tuple[Any, Interval]:
    """Return the ratio, and every ratio of two numbers of the intervals: Fieller's set without its normal law."""
    (a, (a_low, a_high)), (b, (b_low, b_high)) = one, two
    if a is None or b is None:
        return None, (None, None)
    value = b / a if a > 0 or (a and not positive) else None
    if positive:
        zero = Fraction(0)
        least, most = max(a_low or zero, zero), max(b_high or zero, zero)
        low = zero if a_high is None or a_high <= 0 else max(b_low or zero, zero) / a_high
        return value, (low, None if least == 0 or b_high is None else most / least)
    ends = (a_low, a_high, b_low, b_high)
    if None in ends or a_low <= 0 <= a_high:  # type: ignore[operator]
        return value, (None, None)
    ratios = [above / below for above in (b_low, b_high) for below in (a_low, a_high)]  # type: ignore[operator]
    return value, (min(ratios), max(ratios))


def _change(one: tuple[Any, Interval], two: tuple[Any, Interval], positive: bool) -> tuple[Any, Interval]:
    value, (low, high) = _divide(one, two, positive)
    return _percent(value), (_percent(low), _percent(high))


def _percent(ratio: Fraction | None) -> Fraction | None:
    return None if ratio is None else 100 * (ratio - 1)


Combine = Callable[[tuple[Any, Interval], tuple[Any, Interval], bool], tuple[Any, Interval]]
_WAYS: Final[dict[str, Combine]] = {"difference": _subtract, "ratio": _divide, "percent": _change}


def read_side(answer: Any, of: str | None, misses: Fraction) -> Side:
    """Return an answer as one side of a comparison, at the probability of missing that is wanted, where it can."""
    if isinstance(answer, AnswerView):
        return _read_view(answer, misses)
    title, columns, labels, level, is_positive, people = read_document(answer, of)
    try:
        side = _build_side(title, columns, labels, 1 - probability(level, "level"), is_positive, people)
        if len(side.rows) == len(side.values):
            return side
    except (TypeError, ValueError):  # columns that are none, or of different lengths
        pass
    raise ParameterError(
        "an answer must have one row for each group, with a number in each column. Nothing was compared."
    )


def _read_view(view: AnswerView, misses: Fraction) -> Side:
    report = view.report
    if view.request is None:
        misses = 1 - probability(report.data.get("level", view.level), "level")
    else:
        request = view.request.change(level=1 - misses, together=False)
        report = complete(request, view.published, describe_answer(request, view.published), view.steps)
    names, is_positive = report.label_names, bool(report.data.get("never_negative", False))
    return _build_side(view.title, report.table, names, misses, is_positive, str(report.data.get("noun", "people")))


def _build_side(
    title: str,
    columns: Mapping[str, Sequence[Any]],
    names: Sequence[str],
    misses: Fraction,
    is_positive: bool,
    people: str,
) -> Side:
    if not {"value", "low", "high"} <= columns.keys():
        raise ParameterError(
            f"compare needs answers with numbers and intervals: {title} has none. Nothing was compared."
        )
    labels = {name: list(columns[name]) for name in names}
    ends = zip(_exact(columns["low"], -math.inf), _exact(columns["high"], math.inf), strict=True)
    return Side(title, labels, _exact(columns["value"]), [*ends], misses, is_positive, people)


def _exact(column: Sequence[Any], outwards: float | None = None) -> list[Any]:
    """Return a column as fractions. A float was rounded: as an end of an interval it goes one step outwards."""

    def one(cell: Any) -> Fraction | None:
        if cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
            return None
        if isinstance(cell, float) and outwards is not None and not cell.is_integer():
            cell = math.nextafter(cell, outwards)
            return Fraction(cell)
        return Fraction(cell) if isinstance(cell, float) else number(cell, "a number of an answer")

    return [one(cell) for cell in column]


def _list(labels: Mapping[str, Any]) -> str:
    return ", ".join(labels) or "no groups"
