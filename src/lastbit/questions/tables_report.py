"""The release of tables as people read it: crosswise, a row a cell, or a list of tables; or in whole numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from math import ceil, prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lastbit.errors import ParameterError
from lastbit.output.picture import Panel
from lastbit.output.table import MOST_ROWS
from lastbit.questions.drawing import split_panel
from lastbit.questions.output_options import NUMBERS_TAKEN
from lastbit.questions.report import Report, format_percent
from lastbit.questions.titles import name_groups

if TYPE_CHECKING:
    import lastbit as lb
    from lastbit.data.table import Integers
    from lastbit.questions.people import PeopleReading
    from lastbit.questions.request import Request

_MOST_SHOWN: Final = 2000
"""Rows of a table that a command prints. Of more, it prints a list of tables."""
_PANELS: Final = 8
_NUMBERS: Final = ("value", "low", "high")
_ROUNDING: Final = 2.0**-40
"""Floats of tables are nearer to the exact numbers than this part of them."""
_WHOLE: Final = (
    "These are non-negative whole numbers that add up, made of the published ones. They are biased, and no interval "
    "holds for them."
)


@dataclass(frozen=True)
class TablesOfPeople:
    """Published tables, and what they say of all people where some are counted in fewer cells than they have."""

    request: Request
    reading: PeopleReading
    noun: str
    """What the numbers are called."""

    @property
    def release(self) -> lb.ConsistentTables:
        """The tables of those counted."""
        tables: lb.ConsistentTables = self.reading.main
        return tables

    @property
    def knows_people(self) -> bool:
        """Whether it is known how many people the bound leaves out."""
        return self.reading.knows_cut

    @property
    def level(self) -> str:
        """The level of intervals, as people read it."""
        return format_percent(self.request.level)

    def people_of(self, table: lb.ConsistentTable) -> tuple[Integers, Integers]:
        """Return the fewest people of each cell, and the most.

        Whoever has a record in a cell that counts is there. A person with several records is in a sum at least once,
        and whoever has more records than count may be missing, by a lot that the spread is known for. From the total
        nobody is missing.
        """
        numbers, within = table.to_numpy().ravel(), float(table.within(self.reading.counted_level))
        slack = _ROUNDING * (np.abs(numbers) + within)
        others = prod(self.release.design.shape.sizes) // table.cells
        times = min(self.release.design.most_records, others)
        fewest = np.maximum(np.ceil((numbers - within - slack) / times), 0).astype(np.int64)
        counted, places = np.unique(np.maximum(np.floor(numbers + within + slack), 0), return_inverse=True)
        highest = self._highest if table.names else int
        most = np.array([highest(int(number)) for number in counted], np.int64)[places]
        return fewest, np.maximum(fewest, most)

    def intervals_of(self, table: lb.ConsistentTable) -> list[tuple[Fraction, Fraction]]:
        """Return the interval of all people, for each cell."""
        fewest, most = self.people_of(table)
        return [*zip(map(Fraction, fewest.tolist()), map(Fraction, most.tolist()), strict=True)]

    @cached_property
    def _highest(self) -> Callable[[int], int]:
        """The most people of whom so many are counted: many cells have the same number."""
        return cache(self.reading.highest)

    @cached_property
    def _cut_sentence(self) -> str:
        """How many people the bound leaves out."""
        from lastbit.questions.tables import name_bound

        words, latest, (value, low, high) = self.request.words, self.request["latest_by"], self.reading.cut
        of_which = f" among their {words.rows} with the largest {latest}" if latest else ""
        return (
            f"{words.one} counts in {name_bound(self.reading.most)}, picked at random: {words.count(max(0, value))} "
            f"({low:,} to {high:,} with probability {self.level}) have more{of_which}."
        )

    def describe(self) -> list[str]:
        """Return how many people the bound leaves out, where this is known."""
        return [self._cut_sentence] if self.knows_people else []

    def describe_crosswise(self, table: lb.ConsistentTable) -> list[str]:
        """Return the same, and how far the numbers of a table, and its sums, may be from those of all people."""
        if not self.knows_people:
            return []
        cells, sums = self._distance(table), self._distance(*(self.release.table(name) for name in table.names))
        return [
            f"{self._cut_sentence} Of all {self.request.words.people}, each with probability {self.level}, a cell has "
            f"at most {cells[0]:,} fewer and at most {cells[1]:,} more than it says, and a sum of a row or column at "
            f"most {sums[0]:,} fewer and at most {sums[1]:,} more."
        ]

    def _distance(self, *tables: lb.ConsistentTable) -> tuple[int, int]:
        """Return how many people fewer, and more, a number of these tables may have than it says, as it is rounded."""
        fewer, more = 0, 0
        for table in tables:
            numbers, (fewest, most) = np.rint(table.to_numpy().ravel()).astype(np.int64), self.people_of(table)
            fewer, more = max(fewer, int((numbers - fewest).max())), max(more, int((most - numbers).max()))
        return fewer, more

    def data(self) -> dict[str, Any]:
        """Return all numbers for programs; none where a command shows a list of many tables, which nobody reads."""
        request, release = self.request, self.release
        if not self._is_read:
            return {"mechanism": release.mechanism, "cost": release.cost.text, "level": request.level}
        tables = [
            {"columns": list(table.names), "variance": table.variance, "within": table.within(request.level)}
            for table in release.tables()
        ]
        # The release itself speaks of 95%.
        own, long = release.to_plain_dict(request.level), self._long
        own["exact"] = {name: texts for name, texts in own["exact"].items() if name != "level"}
        numbers = {name: column.tolist() for name, column in long.items() if name.removeprefix("bounded_") in _NUMBERS}
        return {**own, **numbers, "tables": tables, "level": request.level, **self.reading.data}

    @property
    def _is_read(self) -> bool:
        """Whether anybody reads all numbers: not where a command shows a list of many tables."""
        request = self.request
        shown = (
            request.face != "command" or request["as_json"] or any(map(request.values.get, ("html", *NUMBERS_TAKEN)))
        )
        return shown or self.release.design.shape.cells <= _MOST_SHOWN

    def frame(self) -> dict[str, Any]:
        """Return the numbers for `to_frame`."""
        return dict(self._long) if self._is_read else {}

    @cached_property
    def _long(self) -> dict[str, Any]:
        """A row a cell. Value, low and high are of all people; those of the people counted are named so."""
        long: dict[str, Any] = dict(self.release.long(self.request.level))
        if self.request.rows.unit is None:
            return long
        bounded = {f"bounded_{name}": long.pop(name) for name in _NUMBERS}
        variance = {"variance": long.pop("variance")}
        if not self.knows_people:
            return {**long, **bounded, **variance}
        ends = [self.people_of(table) for table in self.release.tables()]
        low, high = (np.concatenate([pair[side] for pair in ends]) for side in (0, 1))
        value = np.clip(bounded["bounded_value"], low, high)
        return {**long, "value": value, "low": low, "high": high, **bounded, **variance}

    def panels(self) -> Sequence[Panel]:
        """Return the picture of all people; none where the release's own picture is of those who are named."""
        if not self.knows_people:
            return ()
        panels: list[Panel] = []
        for table in self.release.drawn_tables:
            panels += table.panels(self.request.level, self.intervals_of(table))
        return [
            replace(panel, name=_everybody(self) if panel.name == "people" else panel.name, from_zero=True)
            for panel in panels
        ]

    def panels_of(self, table: lb.ConsistentTable) -> Sequence[Panel]:
        """Return a panel for each value of the first of two columns, all on one scale."""
        request, own = self.request, table.columns()
        first, second = ([str(request.facts.label(name, item)) for item in own[name]] for name in table.names)
        intervals = self.intervals_of(table) if self.knows_people else table.error_bars(request.level)["value"]
        heading, below = name_groups(request, table.names)
        panel = Panel(_everybody(self) if self.knows_people else self.noun, second, own["value"], below, intervals)
        return split_panel(replace(panel, from_zero=True), [f"{heading}: {text}" for text in first], second)[:_PANELS]


def report_tables(request: Request, reading: PeopleReading, noun: str) -> Report:
    """Return the release as one table: crosswise where one table of two columns is asked for, or else a row a cell."""
    people = TablesOfPeople(request, reading, noun)
    release, title, level = people.release, reading.release.title, people.level
    asked, shape = request.values.get("pivot"), release.design.shape
    crosswise = [name.strip() for name in asked.split(",")] if asked else None
    if crosswise is None and len(shape.largest) == 1 and len(shape.largest[0]) == 2:
        names = list(shape.columns_of(shape.largest[0]))
        crosswise = names if max(map(len, release.table(*names).items)) <= MOST_ROWS else None
    if crosswise is not None and len(crosswise) != 2:
        raise ParameterError(f"--pivot takes two columns, such as region,age: got {asked}. The release stands.")
    data = people.data()
    more: dict[str, Any] = {"frame": people.frame(), "panels": people.panels()}
    if request.values.get("whole"):
        columns, notes = _whole_columns(release, crosswise, noun)
        data |= {"whole": {" by ".join(names): array.tolist() for names, array in release.whole().items()}}
        return Report(f"{title}: whole numbers", columns, [*notes, *people.describe()], data, **more)
    if crosswise is not None:
        table = release.table(*crosswise)
        sums = [release.table(name) for name in crosswise]
        notes = [
            f"Each number is within {ceil(table.within(request.level)):,}, each sum of a row or column within "
            f"{max(ceil(member.within(request.level)) for member in sums):,}, and the total within "
            f"{ceil(release.table().within(request.level)):,}, each with probability {level}, of {noun}. The exact "
            "numbers add up; they are rounded here.",
            *people.describe_crosswise(table),
        ]
        more["panels"] = people.panels_of(table)
        return Report(f"{title}: {' by '.join(crosswise)}", table.crosswise(), notes, data, **more)
    if sum(map(release.design.scheme.cells, shape.tables)) > _MOST_SHOWN:
        errors = {table.names: table.within(request.level) for table in release.tables()}
        columns = {
            "table": [" by ".join(names) for names in errors],
            "cells": [release.table(*names).cells for names in errors],
            "each number within": [ceil(error) for error in errors.values()],
        }
        note = f"Each with probability {level}, of {noun}. --pivot A,B shows one table, and --json all numbers."
        return Report(title, columns, [note, *people.describe()], data, **more)
    long, notes = (
        _long_columns(people),
        [
            f"Each interval holds with probability {level} or more. The exact numbers of all tables add up.",
            *people.describe(),
        ],
    )
    return Report(title, long, notes, data, (noun, "interval", _everybody(people)), **more)


def _everybody(people: TablesOfPeople) -> str:
    return f"all {people.request.words.people}"


def _long_columns(people: TablesOfPeople) -> dict[str, list[Any]]:
    """Return a row for each cell of each table."""
    request, release = people.request, people.release
    names = release.design.shape.names
    extra = [_everybody(people)] if people.knows_people else []
    columns = ["table", *names, people.noun, "interval", *extra]
    long: dict[str, list[Any]] = {name: [] for name in columns}
    for table in release.tables():
        own = table.columns()
        rows = len(own["value"])
        long["table"] += [" by ".join(table.names)] * rows
        for name in names:
            long[name] += [request.facts.label(name, item) for item in own.get(name, [""] * rows)]
        long[people.noun] += own["value"]
        long["interval"] += table.error_bars(request.level)["value"]
        for name in extra:
            long[name] += people.intervals_of(table)
    return long


def _whole_columns(
    release: lb.ConsistentTables, crosswise: Sequence[str] | None, noun: str
) -> tuple[dict[str, Sequence[Any]], list[str]]:
    view = release.whole()
    if crosswise is not None:
        table = release.table(*crosswise)
        ordered = view[release.design.shape.columns_of(release.design.shape.axes(crosswise))].transpose(table._order)
        rows = [*map(str, table.items[0]), "(all)"]
        full = np.vstack([ordered, ordered.sum(axis=0)])
        full = np.column_stack([full, full.sum(axis=1)])
        names = [*map(str, table.items[1]), "(all)"]
        return {crosswise[0]: rows} | {name: full[:, place].tolist() for place, name in enumerate(names)}, [_WHOLE]
    long: dict[str, list[Any]] = {"table": [], "cell": [], noun: []}
    for table in release.tables():
        own = [
            ", ".join(map(str, cell))
            for cell in zip(*(column.tolist() for column in table._labels.values()), strict=True)
        ]
        long["table"] += [" by ".join(table.names)] * len(own)
        long["cell"] += own
        long[noun] += view[table.names].ravel().tolist()
    return {**long}, [_WHOLE]
