"""The release of tables as people read it: crosswise, a row a cell, or a list of tables; or in whole numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from math import ceil
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lastbit.errors import ParameterError
from lastbit.mechanisms.tables.people import TablesOfPeople
from lastbit.output.picture import Panel
from lastbit.output.table import MOST_ROWS
from lastbit.questions.drawing import draw_two_ways
from lastbit.questions.output_options import NUMBERS_TAKEN
from lastbit.questions.report import Report, format_percent
from lastbit.questions.titles import name_groups

if TYPE_CHECKING:
    import lastbit as lb
    from lastbit.questions.people import PeopleReading
    from lastbit.questions.request import Request

_MOST_SHOWN: Final = 2000
"""Rows of a table that a command prints. Of more, it prints a list of tables."""
_WHOLE: Final = (
    "These are non-negative whole numbers that add up, made of the published ones. They are biased, and no interval "
    "holds for them."
)


@dataclass(frozen=True)
class TablesReading:
    """Published tables as a question reads them: of all people, and what is said of those whom the bound leaves out."""

    request: Request
    reading: PeopleReading
    noun: str
    """What the numbers are called."""

    @cached_property
    def release(self) -> lb.ConsistentTables:
        """The tables: of all people, where people are counted."""
        own: lb.ConsistentTables = self.reading.main
        if self.request.rows.unit is None:
            return own
        at = cache(lambda level: _CutAtLevel(self.reading.parts.read(self.reading.release, level)))
        known = at if self.reading.knows_cut else None
        people = self.request.words.people
        return TablesOfPeople(own.mechanism, self.reading.release.cost, own.steps, own.design, self.noun, people, known)

    @property
    def level(self) -> str:
        """The level of intervals, as people read it."""
        return format_percent(self.request.level)

    def describe(self) -> list[str]:
        """Return how many people have more records than count, where this is known."""
        if not self.reading.knows_cut:
            return []
        from lastbit.questions.tables import count_rule

        words, latest, (value, low, high) = self.request.words, self.request["latest_by"], self.reading.cut
        most = self.reading.most
        of_which = f" among their {words.rows} with the largest {latest}" if latest else ""
        more = f"{words.rows} in several cells" if most == 1 else "more"
        return [
            f"{count_rule(words, most)}; those with {more}{of_which}, {words.count(max(0, value))} ({low:,} to "
            f"{high:,} with probability {self.level}), count in {'one' if most == 1 else most} of them, picked at "
            f"random, and intervals of all {words.people} allow for them."
        ]

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
        own = release.to_plain_dict(request.level)
        own["exact"] = {name: texts for name, texts in own["exact"].items() if name != "level"}
        return {**own, "tables": tables, "level": request.level, **self.reading.data}

    @property
    def _is_read(self) -> bool:
        """Whether anybody reads all numbers: not where a command shows a list of many tables."""
        request = self.request
        shown = request.face != "command" or any(map(request.values.get, ("json", "html", *NUMBERS_TAKEN)))
        return shown or self.release.design.shape.cells <= _MOST_SHOWN

    def frame(self) -> dict[str, Any]:
        """Return the numbers for `to_frame`."""
        return dict(self.release.long(self.request.level)) if self._is_read else {}

    def panels(self) -> Sequence[Panel]:
        """Return the picture of all people; none where the release's own picture is of those who are named."""
        if not self.reading.knows_cut:
            return ()
        return [
            replace(panel, name=_everybody(self) if panel.name == "people" else panel.name, from_zero=True)
            for panel in self.release.panels(self.request.level)
        ]

    def panels_of(self, table: lb.ConsistentTable) -> Sequence[Panel]:
        """Return a panel for each value of the first of two columns, all on one scale."""
        request, own = self.request, table.columns()
        first, second = ([str(request.facts.label(name, item)) for item in own[name]] for name in table.names)
        intervals = next(iter(table.error_bars(request.level).values()))
        heading, below = name_groups(request, table.names)
        name = _everybody(self) if self.reading.knows_cut else self.noun
        numbers = own["value" if "value" in own else "bounded_value"]
        labels = [f"{one}, {two}" for one, two in zip(first, second, strict=True)]
        panel = Panel(name, labels, numbers, below, intervals, from_zero=True, rows=self._rows_of(table))
        return draw_two_ways(panel, (heading, below), (first, second), request.level)

    def _rows_of(self, table: lb.ConsistentTable) -> list[int]:
        """Return where the cells of a table of two columns are among all cells of all tables."""
        names = list(self.release.names)
        place = next((place for place, own in enumerate(names) if {*own} == {*table.names}), None)
        if place is None:  # a sum of a table that was asked for
            return [-1] * table.cells
        start = sum(self.release.table(*own).cells for own in names[:place])
        rows = np.arange(start, start + table.cells)
        if names[place] != table.names:
            rows = rows.reshape(*map(len, reversed(table.items))).T.ravel()
        return rows.tolist()


@dataclass(frozen=True)
class _CutAtLevel:
    """What is known about the people cut at a level. Many cells have the same number, which is looked up."""

    reading: PeopleReading

    @property
    def counted_level(self) -> Fraction:
        return self.reading.counted_level

    @cached_property
    def highest(self) -> Callable[[int], int]:
        return cache(self.reading.highest)


def report_tables(request: Request, reading: PeopleReading, noun: str) -> Report:
    """Return the release as one table: crosswise where one table of two columns is asked for, or else a row a cell."""
    people = TablesReading(request, reading, noun)
    release, title, level = people.release, reading.release.title, people.level
    asked, shape = request.values.get("pivot"), release.design.shape
    crosswise = [name.strip() for name in asked.split(",")] if asked else None
    if crosswise is None and len(shape.largest) == 1 and len(shape.largest[0]) == 2:
        names = list(shape.columns_of(shape.largest[0]))
        crosswise = names if max(map(len, release.table(*names).items)) <= MOST_ROWS else None
    if crosswise is not None and len(crosswise) != 2:
        raise ParameterError(f"--pivot takes two columns, such as region,age: got {asked}. The release stands.")
    data = people.data()
    more: dict[str, Any] = {"frame": people.frame(), "panels": people.panels(), "release": release}
    if request.values.get("whole"):
        columns, notes = _whole_columns(release, crosswise, noun)
        data |= {"whole": {" by ".join(names): array.tolist() for names, array in release.whole().items()}}
        return Report(f"{title}: whole numbers", columns, [*notes, *people.describe()], data, **more)
    if crosswise is not None:
        table = release.table(*crosswise)
        notes = [*table.describe(request.level), *people.describe()]
        more["panels"] = people.panels_of(table)
        return Report(f"{title}: {' by '.join(crosswise)}", table.crosswise(), notes, data, (noun,), **more)
    if sum(map(release.design.scheme.cells, shape.tables)) > _MOST_SHOWN:
        errors = {table.names: table.within(request.level) for table in release.tables()}
        columns = {
            "table": [" by ".join(names) for names in errors],
            "cells": [release.table(*names).cells for names in errors],
            "each number within": [ceil(error) for error in errors.values()],
        }
        note = f"Each with probability {level}, of {noun}. --pivot A,B shows one table. --json prints all numbers."
        return Report(title, columns, [note, *people.describe()], data, (noun,), **more)
    long, notes = (
        _long_columns(people),
        [
            f"Each interval holds with probability {level} or more. The exact numbers of all tables add up.",
            *people.describe(),
        ],
    )
    return Report(title, long, notes, data, (noun, "interval", _everybody(people)), **more)


def _everybody(people: TablesReading) -> str:
    return f"all {people.request.words.people}"


def _long_columns(people: TablesReading) -> dict[str, list[Any]]:
    """Return a row for each cell of each table."""
    request, release = people.request, people.release
    names = release.design.shape.names
    extra = [_everybody(people)] if people.reading.knows_cut else []
    columns = ["table", *names, people.noun, "interval", *extra]
    long: dict[str, list[Any]] = {name: [] for name in columns}
    for table in release.tables():
        own, rows = table.labels, table.cells
        long["table"] += [" by ".join(table.names)] * rows
        for name in names:
            long[name] += [request.facts.label(name, item) for item in own.get(name, [""] * rows)]
        long[people.noun] += table.values.ravel().tolist()
        long["interval"] += table.bounded_intervals(request.level)
        for name in extra:
            long[name] += table.interval(request.level).ravel().tolist()
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
            for cell in zip(*(column.tolist() for column in table.labels.values()), strict=True)
        ]
        long["table"] += [" by ".join(table.names)] * len(own)
        long["cell"] += own
        long[noun] += view[table.names].ravel().tolist()
    return {**long}, [_WHOLE]
