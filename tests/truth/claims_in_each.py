"""What is said of the items of each group: how much an item left out may have there, gaps, and measurements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from tests.truth.claims import Answer, Outcome, parse, says, within
from tests.truth.claims_counts import groups_of, speaks_of_another_bound, true_numbers

Places = Mapping[str, str]


def _of_whom(answer: Answer, places: Places) -> Outcome:
    bounded = bool(answer.case.options.keys() & {"one_each", "most_items"})
    return Outcome("says of whom", places["in_each"].startswith("Of the people counted") == bounded, sure=True)


def _rows(answer: Answer) -> Iterator[tuple[Any, list[int]]]:
    """Yield each group with the places of its rows in the table."""
    shown = groups_of(answer)
    for group in dict.fromkeys(group for _, group in answer.truth.groups):
        yield group, [place for place, (_, own) in enumerate(shown) if own == group]


def _true_gaps(answer: Answer, group: Any, rows: list[int]) -> tuple[list[Any], Fraction | int | None]:
    """Return the true gaps of a group's items, and how much more an item that is left out has than a listed one."""
    numbers, shown = true_numbers(answer), groups_of(answer)
    values = [numbers[shown[row]] for row in rows]
    listed = {shown[row] for row in rows}
    left = max((value for pair, value in numbers.items() if pair[1] == group and pair not in listed), default=None)
    after = [*values[1:], *([] if left is None else [left])]
    return [value - following for value, following in zip(values, after, strict=False)], (
        None if left is None else left - min(values)
    )


@says(
    "{in_each}, with probability {level} all true gaps are in their ranges, and no item left out has {reach} {more} "
    "than a listed item.",
    "{in_each}, with probability {level} no item left out has {reach} {more} than a listed item, and every gap is off "
    "by less than {gaps_off}.",
)
def gaps_of_groups(answer: Answer, places: Places) -> Iterator[Outcome]:
    yield _of_whom(answer, places)
    if speaks_of_another_bound(answer, places):
        return
    shown, columns = answer.column("ahead of the next by"), answer.report.columns
    ranges = next((column for name, column in columns.items() if name.startswith("true gap")), ())
    for group, rows in _rows(answer):
        gaps, more = _true_gaps(answer, group, rows)
        held = more is None or more < parse(places["reach"])
        if "gaps_off" in places:
            off = parse(places["gaps_off"])
            near = all(abs(shown[row] - gap) < off for row, gap in zip(rows, gaps, strict=False))
            yield Outcome(f"plan: gaps in {group}", held and near)
        else:
            near = all(within(ranges[row], gap) for row, gap in zip(rows, gaps, strict=False))
            yield Outcome(f"gaps: in {group}", held and near)


@says("{in_each}, with probability {level} the measurement of a listed item is off by at most {within} {amount}.")
def measurements_of_groups(answer: Answer, places: Places) -> Iterator[Outcome]:
    yield _of_whom(answer, places)
    if speaks_of_another_bound(answer, places):
        return
    numbers, release = true_numbers(answer), getattr(answer.release, "main", answer.release)
    measurements = release.columns()["measurement"]
    for row, (pair, measurement) in enumerate(zip(groups_of(answer), measurements, strict=True)):
        yield Outcome(f"plan: measurement in row {row}", abs(measurement - numbers[pair]) <= parse(places["within"]))
