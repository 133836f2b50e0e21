"""The release of tables as people read it: crosswise, a row a cell, or a list of tables; or in whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lastbit.errors import ParameterError
from lastbit.questions.report import Report

if TYPE_CHECKING:
    import lastbit as lb
    from lastbit.questions.request import Request

_MOST_SHOWN: Final = 2000
"""Rows of a table that a command prints. Of more, it prints a list of tables."""
_NUMBERS: Final = ("value", "low", "high")
_WHOLE: Final = (
    "These are non-negative whole numbers that add up, made of the published ones. They are biased, and no interval "
    "holds for them."
)


def report_tables(request: Request, release: lb.ConsistentTables, people: str, level: str) -> Report:
    """Return the release as one table: crosswise where one table of
    two columns is asked for, otherwise a row a cell.
    """
    asked, shape = request.values.get("pivot"), release.design.shape
    crosswise = [name.strip() for name in asked.split(",")] if asked else None
    if crosswise is None and len(shape.largest) == 1 and len(shape.largest[0]) == 2:
        crosswise = list(shape.columns_of(shape.largest[0]))
    if crosswise is not None and len(crosswise) != 2:
        raise ParameterError(f"--pivot takes two columns, such as region,age: got {asked}. The release stands.")
    data, frame = _data(request, release), _frame(request, release)
    if request.values.get("whole"):
        columns, notes = _whole_columns(release, crosswise)
        data |= {"whole": {" by ".join(names): array.tolist() for names, array in release.whole().items()}}
        return Report(f"{release.title}: whole numbers", columns, notes, data, frame=frame)
    if crosswise is not None:
        table = release.table(*crosswise)
        sums = [release.table(name) for name in crosswise]
        notes = [
            f"Each number is within {ceil(table.within(request.level)):,}, each sum of a row or column within "
            f"{max(ceil(member.within(request.level)) for member in sums):,}, and the total within "
            f"{ceil(release.table().within(request.level)):,}, each with probability {level}. The exact numbers add "
            "up; they are rounded here."
        ]
        return Report(f"{release.title}: {' by '.join(crosswise)}", table.crosswise(), notes, data, frame=frame)
    if sum(map(release.design.scheme.cells, shape.tables)) > _MOST_SHOWN:
        errors = {table.names: table.within(request.level) for table in release.tables()}
        columns = {
            "table": [" by ".join(names) for names in errors],
            "cells": [release.table(*names).cells for names in errors],
            "each number within": [ceil(error) for error in errors.values()],
        }
        note = f"Each with probability {level}. --pivot A,B shows one table, and --json all numbers."
        return Report(release.title, columns, [note], data, frame=frame)
    long: dict[str, list[Any]] = {"table": [], **{name: [] for name in shape.names}, people: [], "interval": []}
    for table in release.tables():
        own = table.columns()
        rows = len(own["value"])
        long["table"] += [" by ".join(table.names)] * rows
        for name in shape.names:
            long[name] += own.get(name, [""] * rows)
        long[people] += own["value"]
        long["interval"] += table.error_bars(request.level)["value"]
    notes = [f"Each interval holds with probability {level} or more. The exact numbers of all tables add up."]
    return Report(release.title, long, notes, data, (people, "interval"), frame=frame)


def _data(request: Request, release: lb.ConsistentTables) -> dict[str, Any]:
    """Return all numbers for programs; none where a command shows a list of many tables, as nobody reads them there."""
    shown = request.face != "command" or request["as_json"] or request["html"] is not None
    if not shown and release.design.shape.cells > _MOST_SHOWN:
        return {"mechanism": release.mechanism, "cost": release.cost.text, "level": request.level}
    tables = [
        {"columns": list(table.names), "variance": table.variance, "within": table.within(request.level)}
        for table in release.tables()
    ]
    # The release itself speaks of 95%.
    own, long = release.to_dict(), release.long(request.level)
    own["exact"] = {name: texts for name, texts in own["exact"].items() if name != "level"}
    data = {**own, "tables": tables, "low": long["low"].tolist(), "high": long["high"].tolist(), "level": request.level}
    bounded = {} if request.rows.unit is None else {f"bounded_{name}": data[name] for name in _NUMBERS}
    return data | bounded


def _frame(request: Request, release: lb.ConsistentTables) -> dict[str, Any]:
    """Return the numbers for `to_frame`, which only Python has. Of
    people they are numbers after a bound, and named so.
    """
    if request.face != "python":
        return {}
    prefix = "" if request.rows.unit is None else "bounded_"
    return {f"{prefix}{name}" if name in _NUMBERS else name: own for name, own in release.long(request.level).items()}


def _whole_columns(
    release: lb.ConsistentTables, crosswise: Sequence[str] | None
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
    long: dict[str, list[Any]] = {"table": [], "cell": [], "people": []}
    for table in release.tables():
        own = [
            ", ".join(map(str, cell))
            for cell in zip(*(column.tolist() for column in table._labels.values()), strict=True)
        ]
        long["table"] += [" by ".join(table.names)] * len(own)
        long["cell"] += own
        long["people"] += view[table.names].ravel().tolist()
    return {**long}, [_WHOLE]
