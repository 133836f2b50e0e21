"""The release of `describe` as people read it: a row for each column, small pictures, and what the numbers mean."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, Final, cast

from lastbit.exact.numbers import number, probability
from lastbit.mechanisms.noisy_values import accuracy_of
from lastbit.output.picture import Panel
from lastbit.output.words import capitalize
from lastbit.questions.describe import (
    FIRST_DAY,
    LAST_DAY,
    MOST_ROWS,
    PEOPLE,
    QUARTILES,
    ROWS,
    Description,
    part_of,
)
from lastbit.questions.published_groups import TOO_FEW
from lastbit.questions.report import Report, format_percent, format_value

if TYPE_CHECKING:
    from lastbit.questions.described_columns import DescribedColumn

_EPOCH: Final = datetime.date(1970, 1, 1)
_NEAR: Final = 10**5
"""So many steps from zero: how near quartiles of numbers come is said for such numbers too."""
_NEAR_ROWS: Final = 100
"""The same for rows: so many of a person."""
_HEADINGS: Final = ("lower quartile", "median", "upper quartile")
_MEASURED: Final = ("numbers", "dates")
_LABELS: Final = ("25%", "50%", "75%")


def report_description(description: Description, published: Any) -> Report:
    """Return the release as a table with a row for each column, after one for the rows of a person."""
    request, words = description.request, description.request.words
    level = format_percent(request.level)
    people = published[PEOPLE]
    low, high = _whole_interval(people.error_bars(request.level)["value"][0])
    count = max(0, int(people.steps[0]))
    notes = [
        f"There are {words.count(count)} ({low:,} to {high:,} with probability {level}).",
        *description.promise[0],
    ]
    entries = [_read_column(description, published, column, low) for column in description.columns]
    rows = show_quartiles(published[ROWS].values, _row_ranks(description), low)
    first = {"column": f"({words.rows} of {words.a_person})", "holds": "", "quartiles": rows}
    if any(None in row.get("quartiles", ()) for row in (first, *entries)):
        notes.append(
            f"{capitalize(TOO_FEW)}: perhaps no more {words.people} have a value than the places it may be off."
        )
    shown = [{"missing": None, "sometimes": None, "items": (), **row} for row in (first, *entries)]
    table: dict[str, Sequence[Any]] = {
        "column": [row["column"] for row in shown],
        "holds": [row["holds"] for row in shown],
        "missing": [_show(row["missing"]) for row in shown],
        f"missing in some {words.rows}": [_show(row["sometimes"]) for row in shown],
    }
    for place, heading in enumerate(_HEADINGS):
        table[heading] = [_show(row["quartiles"][place]) or TOO_FEW if row.get("quartiles") else "" for row in shown]
    if description.texts:
        table["most common"] = [_show_items(row["items"][: request["k"]]) for row in shown]
    numbers = {PEOPLE: count, "people_low": low, "people_high": high}
    data = {
        **numbers,
        "rows_per_person": dict(zip(QUARTILES, rows, strict=True)),
        "described": entries,
        "shares": description.shares,
        "cost": published.cost.text,
        "costs": published.to_dict()["costs"],
        "mechanism": published.mechanism,
        "level": request.level,
    }
    # As it was asked for: an epsilon and a delta may be paid as a rho.
    costs = {name: request[name] for name in ("epsilon", "rho", "delta") if request[name] is not None}
    title = ", ".join(["About the table", *(f"{name} {number(cost, name)}" for name, cost in costs.items())])
    everybody = Panel(words.people, [f"all {words.people}"], [count], "", [(Fraction(low), Fraction(high))])
    panels = _panels(description, rows, entries) or [everybody]  # where there are too few to say more
    return Report(title, table, notes, data, frame=_frame(entries), panels=panels)


def show_quartiles(values: Sequence[Any], ranks: Sequence[Fraction], fewest: int) -> list[Any]:
    """Return quartiles; None where one may be off by as many places as there are people, or by more.

    >>> show_quartiles([1, 2, 9], [Fraction(9), Fraction(5), Fraction(9)], 6)
    [None, 2, None]
    """
    return [value if fewest > own else None for value, own in zip(values, ranks, strict=True)]


def _row_ranks(description: Description) -> tuple[Fraction, ...]:
    rows: Any = description.parts[ROWS]
    ranks: tuple[Fraction, ...] = rows.accuracy(description.request.level, magnitude=_NEAR_ROWS)
    return ranks


def _read_column(description: Description, published: Any, column: DescribedColumn, fewest: int) -> dict[str, Any]:
    """Return what is published of a column, for programs; there are so many people or more."""
    level = description.request.level
    missing = published[part_of(column, "missing")]
    intervals = missing.error_bars(level)["value"]
    entry: dict[str, Any] = {"column": column.name, "holds": column.holds}
    for name, step, interval in zip(("missing", "sometimes"), missing.steps.tolist(), intervals, strict=True):
        low, high = _whole_interval(interval)
        entry |= {name: max(0, int(step)), f"{name}_low": low, f"{name}_high": high}
    if column in description.measured:
        values = published[part_of(column, "quartiles")].values
        days = column.holds == "dates"
        ranks = description.ranks[column.name] if days else _ranks_near_zero(description, column)
        values = [_as_day(value) for value in values] if days else list(values)
        entry["quartiles"] = show_quartiles(values, ranks, fewest - entry["missing_high"])
        entry["within_ranks"] = list(description.ranks[column.name])
    if column in description.texts:
        items = published[part_of(column, "items")]
        pairs = zip(items.items, items.columns()["value"], items.intervals(level), strict=True)
        entry["items"] = [(item, value, *_whole_interval(interval)) for item, value, interval in pairs]
    return entry


def describe_promise(description: Description) -> tuple[list[str], Fraction]:
    """Return how near all numbers are, in sentences, and the ranks that the worst quartile may be off."""
    request, words, parts = description.request, description.request.words, description.parts
    level = format_percent(request.level)

    people: Any = parts[PEOPLE]
    noises: list[Any] = [parts[part_of(column, "missing")] for column in description.columns]
    off = max((ceil(noise.accuracy(request.level)) for noise in noises), default=0)
    worst = [max(cast(Any, parts[ROWS]).accuracy(request.level))]
    sentences = [
        f"With probability {level} each, the number of {words.people} is within "
        f"{ceil(people.accuracy(request.level)):,}, and a number of missing values within {off:,}.",
    ]
    near = max(_row_ranks(description))
    places = [
        f"{ceil(worst[0]):,} of the {words.rows} of {words.a_person} "
        f"({ceil(near):,} where all have {_NEAR_ROWS} at most)"
    ]
    by_kind = {holds: [column for column in description.columns if column.holds == holds] for holds in _MEASURED}
    if columns := by_kind["numbers"]:
        worst.append(max(max(description.ranks[column.name]) for column in columns))
        near = max(max(_ranks_near_zero(description, column)) for column in columns)
        places.append(f"{ceil(worst[-1]):,} of numbers ({ceil(near):,} where all are {_name_near(columns)})")
    if columns := by_kind["dates"]:
        worst.append(max(max(description.ranks[column.name]) for column in columns))
        places.append(f"{ceil(worst[-1]):,} of dates")
    quartiles = [
        f"Quartiles are within so many places, with probability {level}, where no two {words.people} have the same: "
        f"{', '.join(places)}.",
        f"Places are in the order of the {words.people} who have a value.",
    ]
    sentences += [" ".join(quartiles), *_describe_items(description)]
    return sentences, max(worst)


def _describe_items(description: Description) -> list[str]:
    """Return how many people an item needs, and how near its number is: one sentence for columns that are alike."""
    request, columns = description.request, defaultdict[tuple[str, int], list[str]](list)
    level = probability(request.level, "level")
    for column in description.texts:
        part = cast(Any, description.parts[part_of(column, "items")])
        needed = format_value(part.needed(request.level, 0), "up")
        columns[needed, accuracy_of(part.noise, part.rate, level)].append(column.name)
    return [
        f"An item of {' or '.join(names)} is listed with probability {format_percent(level)} if {needed} are counted. "
        f"It is listed with a number more than {off:,} off with probability {format_percent(1 - level)} at most."
        for (needed, off), names in columns.items()
    ]


def describe_rules(description: Description) -> list[str]:
    """Return by which rules the rows are read."""
    words, request = description.request.words, description.request
    steps = sorted({column.step for column in description.columns if column.holds == "numbers"})
    notes = [
        f"Missing is {words.a_person} without a value in any of their {words.rows}. Of several {words.rows} the number "
        f"of {words.a_person} is the mean, and the date the latest. Text that is no number, or no date, is missing."
    ]
    rules = []
    if steps:
        rules.append(f"Numbers are floored to steps of {' or '.join(format_value(step) for step in steps)}.")
    if any(column.holds == "dates" for column in description.columns):
        rules.append(f"Dates count as {_as_day(FIRST_DAY)} at least and {_as_day(LAST_DAY)} at most.")
    rules.append(f"More than {MOST_ROWS:,} {words.rows} of {words.a_person} count as so many.")
    notes.append(" ".join(rules))
    if description.texts:
        notes.append(
            f"{words.one} counts in one of their items of a column, drawn by lot; the numbers of items are of those "
            "counted."
        )
    elif any(column.holds == "text" for column in description.columns):
        notes.append("The common items of columns of text are listed where a --delta pays for them.")
    if request.rows.decimal_comma:
        notes.append("Numbers in text are written as 1.234,5.")
    return notes


def plan_columns(description: Description) -> Mapping[str, Sequence[Any]]:
    """Return what each part will cost, and how near it will be."""
    rows: list[tuple[str, str, str]] = []
    level = description.request.level
    for name, part in description.parts.items():
        mechanism: Any = part
        if name == ROWS or name.endswith(": quartiles"):
            within = f"{ceil(max(mechanism.accuracy(level))):,} places"
        elif name.endswith(": items"):
            within = f"listed from {format_value(mechanism.threshold)} on"
        else:
            within = f"{ceil(mechanism.accuracy(level)):,} {description.request.words.people}"
        rows.append((name, f"{float(100 * description.shares[name]):.3g}%", within))
    return {
        "part": [row[0] for row in rows],
        "share of the cost": [row[1] for row in rows],
        "within": [row[2] for row in rows],
    }


def _ranks_near_zero(description: Description, column: DescribedColumn) -> tuple[Fraction, ...]:
    part = cast(Any, description.parts[part_of(column, "quartiles")])
    ranks: tuple[Fraction, ...] = part.accuracy(description.request.level, magnitude=_NEAR * column.step)
    return ranks


def _name_near(columns: Sequence[DescribedColumn]) -> str:
    """Return how near zero numbers are for which fewer places are stated."""
    steps = {column.step for column in columns}
    if len(steps) > 1:
        return f"within {_NEAR:,} steps of 0"
    end = format_value(_NEAR * steps.pop())
    return f"from -{end} to {end}"


def _whole_interval(interval: Any) -> tuple[int, int]:
    low, high = interval
    return max(0, ceil(low)), max(0, int(high))


def _as_day(day: Any) -> datetime.date:
    return _EPOCH + datetime.timedelta(days=int(number(day, "a day")))


def _show(value: Any) -> str:
    return "" if value is None else value.isoformat() if isinstance(value, datetime.date) else format_value(value)


def _show_items(items: Sequence[tuple[Any, ...]]) -> str:
    return ", ".join(f"{item} ({max(0, int(value)):,})" for item, value, *_ in items)


def _frame(entries: Sequence[Mapping[str, Any]]) -> dict[str, Sequence[Any]]:
    """Return a row for each column, with the numbers of the table and their intervals."""
    names = ["column", "holds"]
    names += [f"{name}{end}" for name in ("missing", "sometimes") for end in ("", "_low", "_high")]
    frame: dict[str, Sequence[Any]] = {name: [entry[name] for entry in entries] for name in names}
    for place, heading in enumerate(("lower_quartile", "median", "upper_quartile")):
        frame[heading] = [entry["quartiles"][place] if "quartiles" in entry else None for entry in entries]
    return frame


def _panels(description: Description, rows: Sequence[Any], entries: Sequence[Mapping[str, Any]]) -> list[Panel]:
    """Return a small picture for each column: quartiles of numbers, or the numbers of the most common items."""
    words = description.request.words
    panels: list[Panel] = []
    first = {"column": f"{words.rows} of {words.a_person}", "holds": "numbers", "quartiles": rows}
    for entry in (first, *entries):
        if entry["holds"] == "numbers":
            pairs = [
                (label, value) for label, value in zip(_LABELS, entry["quartiles"], strict=True) if value is not None
            ]
            labels, values = [label for label, _ in pairs], [value for _, value in pairs]
            panels += [Panel(entry["column"], labels, values, "quartile")] if pairs else []
        elif entry.get("items"):
            shown = entry["items"][: description.request["k"]]
            intervals = [(Fraction(low), Fraction(high)) for *_, low, high in shown]
            items = [str(item) for item, *_ in shown]
            numbers, column = [row[1] for row in shown], entry["column"]
            panels.append(Panel(words.people, items, numbers, column, intervals, heading=column))
    return panels
