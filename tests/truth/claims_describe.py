"""What a description says of a table: its people, missing values, quartiles of every column, and common items."""

from __future__ import annotations

import datetime
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from lastbit.mechanisms.parts import LaterValues
from tests.truth.claims import Answer, Outcome, parse, says, within
from tests.truth.populations import Row
from tests.truth.reference import parse_number, rank_error

Places = Mapping[str, str]
QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))


def _cells(answer: Answer, column: str) -> dict[str, list[Any]]:
    """Return what each person's rows hold in a column, None where nothing: numbers, days or texts."""
    cells: dict[str, list[Any]] = defaultdict(list)
    for row in answer.truth.rows:
        cells[row.person].append(_read(row, column))
    return cells


def _read(row: Row, column: str) -> Any:
    text = getattr(row, column)
    if column == "number":
        return parse_number(text)
    if column == "day":
        try:
            return datetime.date.fromisoformat(text)
        except ValueError:
            return None
    return text or None


def _entries(answer: Answer) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = answer.report.data["described"]
    return entries


@says("There are {value} {people} ({low} to {high} with probability {level}).")
def people(answer: Answer, places: Places) -> Iterator[Outcome]:
    yield Outcome("people", parse(places["low"]) <= answer.truth.people <= parse(places["high"]))
    yield Outcome("people as data", parse(places["value"]) == answer.report.data["people"], sure=True)


@says(
    "With probability {level} each, the number of {people} is within {off}, and a number of missing values within "
    "{missing_off}."
)
def missing_values(answer: Answer, places: Places) -> Iterator[Outcome]:
    if len(answer.release.parts) == 0:
        return
    drawn = int(answer.release["people"].steps[0])
    yield Outcome("people off by", abs(drawn - answer.truth.people) <= parse(places["off"]))
    for entry in _entries(answer):
        cells = _cells(answer, entry["column"]).values()
        true = {
            "missing": sum(all(cell is None for cell in own) for own in cells),
            "sometimes": sum(any(cell is None for cell in own) and any(cell is not None for cell in own)
                             for own in cells),
        }  # fmt: skip
        steps = answer.release[f"{entry['column']}: missing"].steps.tolist()
        for (name, number), step in zip(true.items(), steps, strict=True):
            claim = f"{name} of {entry['column']}"
            yield Outcome(f"{claim} off by", abs(int(step) - number) <= parse(places["missing_off"]))
            yield Outcome(claim, within((entry[f"{name}_low"], entry[f"{name}_high"]), number))


def _near(values: Sequence[Any], numbers: Sequence[Any], ranks: Fraction) -> bool:
    """Whether all quartiles are near; nothing is said where two numbers are the same."""
    if len(set(numbers)) < len(numbers):
        return True
    return all(
        value is None or rank_error(value, q, sorted(numbers), sorted(numbers)) <= ranks
        for q, value in zip(QUARTILES, values, strict=True)
    )


_PLACES = (
    "Quartiles are within so many places, with probability {level}, where no two people have the same: {of_rows} of "
    "the rows of a person ({near_rows} where all have {most} at most)"
)
_OF_NUMBERS = ", {of_numbers} of numbers ({near} where all are from {lowest} to {highest})"
_OF_DATES = ", {of_dates} of dates"


@says(
    f"{_PLACES}.",
    f"{_PLACES}{_OF_NUMBERS}.",
    f"{_PLACES}{_OF_DATES}.",
    f"{_PLACES}{_OF_NUMBERS}{_OF_DATES}.",
)
def quartiles(answer: Answer, places: Places) -> Iterator[Outcome]:
    rows = [Fraction(number) for number in Counter(row.person for row in answer.truth.rows).values()]
    shown = [value for _, value in answer.report.data["rows_per_person"].items()]
    yield Outcome("rows", _near(answer.release["rows"].values, rows, parse(places["of_rows"])))
    if max(rows, default=0) <= parse(places["most"]):
        yield Outcome("few rows", _near(answer.release["rows"].values, rows, parse(places["near_rows"])))
    known = [value is None or answer.report.data["people_low"] > 0 for value in shown]
    yield Outcome("quartiles of people that there are", all(known), sure=True)
    for entry in _entries(answer):
        if entry["holds"] == "numbers":
            yield from _quartiles_of_numbers(answer, entry, places)
        elif entry["holds"] == "dates":
            cells = _cells(answer, entry["column"]).values()
            latest = [max(days) for own in cells if (days := [cell for cell in own if cell is not None])]
            numbers, values = (
                [day and Fraction(day.toordinal()) for day in some] for some in (latest, entry["quartiles"])
            )  # fmt: skip
            yield Outcome("quartiles of dates", _near(values, numbers, parse(places["of_dates"])))


def _quartiles_of_numbers(answer: Answer, entry: Mapping[str, Any], places: Places) -> Iterator[Outcome]:
    step, means = Fraction(answer.case.options.get("resolution", "1/1000")), []
    for own in _cells(answer, entry["column"]).values():
        present = [cell for cell in own if cell is not None]
        if present:
            means.append(sum(present, Fraction(0)) / len(present))
    floored = [mean // step * step for mean in means]
    yield Outcome("quartiles of numbers", _near(entry["quartiles"], floored, parse(places["of_numbers"])))
    if all(parse(places["lowest"]) <= number <= parse(places["highest"]) for number in floored):
        yield Outcome("quartiles of near numbers", _near(entry["quartiles"], floored, parse(places["near"])))


@says(
    "An item of {column} is listed with probability {level} if {needed} are counted. It is listed with a number more "
    "than {off} off with probability {false} at most."
)
def items(answer: Answer, places: Places) -> Iterator[Outcome]:
    if answer.counted is None:
        return
    for name in places["column"].split(" or "):
        yield from _items_of(answer, places, name)


def _items_of(answer: Answer, places: Places, name: str) -> Iterator[Outcome]:
    assert answer.counted is not None
    counted = answer.counted[name]
    (rows,) = (entry["items"] for entry in _entries(answer) if entry["column"] == name)
    listed = {row[0]: row[1] for row in rows}
    for item, number in counted.items():
        if number >= parse(places["needed"]):
            yield Outcome(f"listed: {item}", item in listed)
        off = item in listed and abs(listed[item] - number) > parse(places["off"])
        yield Outcome(f"off by: {item}", not off)
    own = {item for cells in _cells(answer, name).values() for item in cells}
    yield Outcome("items of the table", listed.keys() <= own, sure=True)


@says(
    "Numbers are floored to steps of {step}.",
    "Dates count as {first_day} at least and {last_day} at most.",
    "More than {most} rows of a person count as so many.",
)
def rules(answer: Answer, places: Places) -> Iterator[Outcome]:
    if "step" in places:
        step = Fraction(answer.case.options.get("resolution", "1/1000"))
        yield Outcome("the step", parse(places["step"]) == step, sure=True)
    if "first_day" in places:
        first, last = (datetime.date.fromisoformat(places[name]) for name in ("first_day", "last_day"))
        for entry in _entries(answer):
            days = entry["quartiles"] if entry["holds"] == "dates" else []
            yield Outcome("days inside", all(day is None or first <= day <= last for day in days), sure=True)
    if "most" in places:
        most = max(Counter(row.person for row in answer.truth.rows).values(), default=0)
        yield Outcome("most rows", most <= parse(places["most"]), sure=True)


def count_items_of_lots(values: Mapping[str, Any]) -> dict[str, dict[Any, Fraction]]:
    """Return what the lot left of each text: the number of each item."""
    counted = {}
    for name, part in values.items():
        if name.endswith(": items") and not isinstance(part, LaterValues):
            listed, steps = part.highest(None)
            counted[name.removesuffix(": items")] = {
                item: Fraction(int(step)) for item, step in zip(listed, steps, strict=True)
            }
    return counted
