"""What is said of tables that agree: of the records counted, of all people, and of those left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

from tests.truth.claims import Answer, Outcome, between, parse, says, within

Places = Mapping[str, str]
Names = tuple[str, ...]
_MANY = "{value} {people} ({low} to {high} with probability {level}), count in"
_RANDOM = "of them, picked at random, and intervals of all people allow for them."
_ONCE = "Each person counts once, in one cell of each table; those with rows in several cells"
_ENDS = ("low", "value", "high", "bounded_low", "bounded_high")
_MORE = "A person counts in {cells} combinations of values at most; those with more"
_LATEST = "among their rows with the largest {order}"


def tables_of(answer: Answer) -> Any:
    """Return the published tables."""
    return getattr(answer.release, "main", answer.release)


def true_counts(answer: Answer, names: Names) -> dict[Any, int]:
    """Return how many records each cell has: those that a lot left, or all."""
    if answer.counted is None:
        return answer.truth.records_of_cells(names)
    larger = next(table for table in answer.counted if {*names} <= {*table})
    array = answer.counted[larger].sum(axis=tuple(place for place, name in enumerate(larger) if name not in names))
    order = [[name for name in larger if name in names].index(name) for name in names]
    return dict(zip(_cells(answer, names), array.transpose(order).ravel().tolist(), strict=True))


def _cells(answer: Answer, names: Names) -> list[Any]:
    return [*product(*(answer.truth.values_of_axis(name) for name in names))]


def _rows(answer: Answer) -> Iterator[tuple[int, Names, Any]]:
    """Yield the place, the table and the cell of each row of a long report."""
    columns, place = answer.report.columns, 0
    for title in dict.fromkeys(columns["table"]):
        names = tuple(title.split(" by "))
        for cell in _cells(answer, names):
            yield place, names, cell
            place += 1


def all_totals(answer: Answer) -> Iterator[Outcome]:
    """Yield the claims of tables and totals that are asked for afterwards: value, low and high are of all people."""
    release, level = answer.report.release, answer.level
    for names in release.names:
        table, cells = release.table(*names), _cells(answer, names)
        frame, people_of_cells, counts = (
            table.to_frame(level),
            answer.truth.people_of_cells(names),
            true_counts(answer, names),
        )
        shown = frame[frame["kind"] == "cell"]
        rows = zip(*(shown[name].tolist() for name in _ENDS), strict=True)
        for cell, (low, value, high, bounded_low, bounded_high) in zip(cells, rows, strict=True):
            yield Outcome(f"frame of {names}: {cell}", low <= people_of_cells[cell] <= high)
            yield Outcome(f"bounded frame of {names}: {cell}", bounded_low <= counts[cell] <= bounded_high)
            yield Outcome("the number is in its interval", low <= value <= high, sure=True)
        for some in (cells[: (len(cells) + 1) // 2], cells):
            total = table.total(some)
            people = answer.truth.people_of_union(names, some)
            yield Outcome(f"total of {len(some)} cells of {names}", within(total.interval(level), people))
            counted = sum(counts[cell] for cell in some)
            yield Outcome(f"bounded total of {some}", within(total.bounded_interval(level), counted))


@says("Each interval holds with probability {level} or more. The exact numbers of all tables add up.")
def long_tables(answer: Answer, _: Places) -> Iterator[Outcome]:
    columns, frame = answer.report.columns, answer.report.frame
    bounded = "unit" in answer.case.options
    yield Outcome("says of whom", any(name.endswith(" counted") for name in columns) == bounded, sure=True)
    counts = {names: true_counts(answer, names) for names in {tuple(title.split(" by ")) for title in columns["table"]}}
    for place, names, cell in _rows(answer):
        label = " ".join(map(str, cell))
        shown = tuple(str(columns[name][place]) for name in names)
        yield Outcome("the cell", shown == tuple(map(str, cell)), sure=True)
        yield Outcome(f"interval: {label}", within(columns["interval"][place], counts[names][cell]))
        people = answer.truth.people_of_cells(names)[cell]
        if answer.of_all is not None:
            yield Outcome(f"interval of all: {label}", within(answer.of_all[place], people))
            yield Outcome("frame", (frame["low"][place], frame["high"][place]) == answer.of_all[place], sure=True)
        elif bounded and frame:
            yield Outcome("the frame says of whom", "value" not in frame and "bounded_value" in frame, sure=True)
    table = tables_of(answer)
    totals = {table.table(*names).values.sum() for names in table.names}
    yield Outcome("all tables add up", len(totals) == 1, sure=True)


@says(
    "Each number is within {cell}, each sum of a row or column within {sum}, and the total within {total}, each with "
    "probability {level}, of {counted}. The exact numbers add up; they are rounded here.",
    "Each number is within {cell}, each sum of a row or column within {sum}, and the total within {total}, each with "
    "probability {level}. The exact numbers add up; they are rounded here.",
)
def crosswise(answer: Answer, places: Places) -> Iterator[Outcome]:
    first, second = _axes_of_crosswise(answer)
    release = tables_of(answer)
    for names, off in (((first, second), "cell"), ((first,), "sum"), ((second,), "sum"), ((), "total")):
        values, counts = release.table(*names).values.ravel().tolist(), true_counts(answer, names)
        for cell, value in zip(_cells(answer, names), values, strict=True):
            held = abs(value - counts[cell]) <= parse(places[off])
            yield Outcome(f"crosswise: {off} {cell}", held)
    shown = [[Fraction(cell) for cell in column] for name, column in answer.report.columns.items() if name != first]
    exact = [[round(value) for value in column] for column in release.table(first, second).values.T.tolist()]
    yield Outcome("what is shown is rounded", [column[:-1] for column in shown[:-1]] == exact, sure=True)


def _axes_of_crosswise(answer: Answer) -> Names:
    first = next(iter(answer.report.columns))
    return first, next(name for name in answer.truth.axes if name != first)


@says(
    f"{_ONCE}, {_MANY} one {_RANDOM}",
    f"{_ONCE} {_LATEST}, {_MANY} one {_RANDOM}",
    f"{_MORE}, {_MANY} {{again}} {_RANDOM}",
    f"{_MORE} {_LATEST}, {_MANY} {{again}} {_RANDOM}",
)
def records_cut(answer: Answer, places: Places) -> Iterator[Outcome]:
    most = answer.most or 1
    said = {int(parse(places.get(name, "1"))) for name in ("cells", "again")}
    yield Outcome("the bound", said == {most}, sure=True)
    yield from all_totals(answer)
    cut = sum(len(own) > most for own in answer.truth.records_of_people.values())
    yield Outcome("people with more records", between(places, cut))


@says(
    "Of all people, each with probability {level}, a cell has at most {cell_fewer} fewer and at most {cell_more} more "
    "than it says, and a sum of a row or column at most {sum_fewer} fewer and at most {sum_more} more."
)
def all_people(answer: Answer, places: Places) -> Iterator[Outcome]:
    first, second = _axes_of_crosswise(answer)
    release = tables_of(answer)
    for names, kind in (((first, second), "cell"), ((first,), "sum"), ((second,), "sum")):
        fewer, more = (parse(places[f"{kind}_{side}"]) for side in ("fewer", "more"))
        truth = answer.truth.people_of_cells(names)
        for cell, value in zip(_cells(answer, names), release.table(*names).values.ravel().tolist(), strict=True):
            yield Outcome(f"interval of all: {cell}", round(value) - fewer <= truth[cell] <= round(value) + more)


_PICK = "picked at random where there are more."
_PICK_LATEST = "picked at random among the rows with the largest {order} where there are more."


@says(
    f"Each person counts once, in one cell of each table, {_PICK}",
    f"Each person counts once, in one cell of each table, {_PICK_LATEST}",
    f"A person counts in {{cells}} combinations of values at most, {_PICK}",
    f"A person counts in {{cells}} combinations of values at most, {_PICK_LATEST}",
    "Each person counts once, in one cell of each table.",
    "A person counts in {cells} combinations of values at most.",
)
def bound_of_records(answer: Answer, places: Places) -> Iterator[Outcome]:
    yield Outcome("the bound", int(parse(places.get("cells", "1"))) == (answer.most or 1), sure=True)


@says(
    "The answer says how many people have more, of which one is picked at random, and its intervals of all people "
    "allow for them.",
    "The answer says how many people have more, of which {again} are picked at random, and its intervals of all people "
    "allow for them.",
)
def more_is_measured(answer: Answer, places: Places) -> Iterator[Outcome]:
    yield Outcome("the bound", int(parse(places.get("again", "1"))) == (answer.most or 1), sure=True)
    yield Outcome("people with more are measured", "cut" in answer.report.data, sure=True)


@says("--most-items N counts up to N combinations, with N times the noise.")
def noise_of_several(answer: Answer, _: Places) -> Iterator[Outcome]:
    design = tables_of(answer).design
    yield Outcome("noise of several", design.squared_sensitivity == (answer.most or 1) ** 2, sure=True)


@says(
    "With probability {level} each number is off by at most {worst} in the least precise table, and by {best} in the "
    "most precise one.",
    "With probability {level} each number of {counted} is off by at most {worst} in the least precise table, and by "
    "{best} in the most precise one.",
)
def tables_off_by(answer: Answer, places: Places) -> Iterator[Outcome]:
    release = tables_of(answer)
    best = min(release.names, key=lambda names: release.table(*names).within(answer.level))
    for names in release.names:
        off = parse(places["best" if names == best else "worst"])
        for cell, value in zip(_cells(answer, names), release.table(*names).values.ravel().tolist(), strict=True):
            yield Outcome(f"plan: {names} {cell}", abs(value - true_counts(answer, names)[cell]) <= off)


@says("Each with probability {level}, of {counted}.")
def list_of_tables(answer: Answer, _: Places) -> Iterator[Outcome]:
    columns, release = answer.report.columns, tables_of(answer)
    for title, within_ in zip(columns["table"], columns["each number within"], strict=True):
        names = tuple(title.split(" by "))
        for cell, value in zip(_cells(answer, names), release.table(*names).values.ravel().tolist(), strict=True):
            yield Outcome(f"list: {cell}", abs(value - true_counts(answer, names)[cell]) <= within_)
