"""Rates: published numbers divided by public ones, such as patients per 1,000 residents of a region."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from lastbit.errors import LastbitError, ParameterError
from lastbit.exact.numbers import number, positive
from lastbit.output.words import plural
from lastbit.questions.presentation import Step, finish_report, join_ends
from lastbit.questions.report import Report, format_value

_EXPECTED = "a file or a table with the columns of the groups and one column of numbers"


def divide_by(table: object, per: object = 1000) -> Step:
    """Divide the numbers of groups by public numbers of the same groups, and say the result per so many of them."""
    size = positive(per, "per", "It is how many residents a rate is for, such as 1000.")
    columns = _columns_of(table)

    def step(report: Report) -> Report:
        own = report.table
        labels = report.label_names
        if not labels or "value" not in own:
            raise ParameterError(
                "a rate needs numbers of groups: ask with --by COLUMN. A release that was made stands."
            )
        heading, sizes = read_sizes(table if columns is None else columns, labels)
        keys = [tuple(map(str, key)) for key in zip(*(own[label] for label in labels), strict=True)]
        factors = [size / sizes[key] if key in sizes else None for key in keys]

        def scale(cell: Any, factor: Fraction | None) -> Any:
            return None if cell is None or factor is None else number(cell, "value") * factor

        frame = {
            name: [scale(cell, factor) for cell, factor in zip(column, factors, strict=True)]
            if name in ("value", "low", "high") or name.startswith("bounded_")
            else column
            for name, column in own.items()
        }
        unit = f"per {format_value(size)} {heading}"
        sentence = f"Each number and its interval are divided by the {heading} of the group, a public number."
        without = factors.count(None)
        if without:
            frame |= {"shown": [factor is not None for factor in factors]}
            frame["why"] = ["" if factor is not None else f"no number of {heading}" for factor in factors]
            sentence += f" {plural(without, 'group has', 'groups have')} no such number."
        changed = finish_report(report, join_ends(frame, unit), frame, sentence)
        return replace(changed, title=f"{report.title}, {unit}", whole_columns=())

    return step


def read_sizes(table: object, labels: Sequence[str]) -> tuple[str, dict[tuple[str, ...], Fraction]]:
    """Return the name of the public numbers, and the number of each group.

    >>> read_sizes({"north": 5000, "south": "7000"}, ["region"])
    ('residents', {('north',): Fraction(5000, 1), ('south',): Fraction(7000, 1)})
    >>> read_sizes({"region": ["north"], "households": [20]}, ["region"])
    ('households', {('north',): Fraction(20, 1)})
    """
    columns = _columns_of(table)
    if columns is None:
        assert isinstance(table, Mapping)  # noqa: S101
        pairs = [(key if isinstance(key, tuple) else (key,), value) for key, value in table.items()]
        heading = "residents"
    else:
        others = [name for name in columns if name not in labels]
        if len(others) != 1 or not set(labels) <= columns.keys():
            raise ParameterError(
                f"the table of a rate must have the columns {', '.join(labels)} and one of numbers: got "
                f"{', '.join(map(str, columns))}. Rename its columns. A release that was made stands."
            )
        (heading,) = others
        keys = zip(*(columns[label] for label in labels), strict=True)
        pairs = [*zip(keys, columns[heading], strict=True)]
    sizes = {}
    for key, value in pairs:
        cell = value.item() if hasattr(value, "item") else value
        own = tuple(map(str, key))
        if own in sizes:
            raise ParameterError(f"the table of a rate must have each group once: got {', '.join(own)} twice.")
        sizes[own] = positive(cell, f"{heading} of {', '.join(own)}", "A rate divides by it.")
    return str(heading), sizes


def _columns_of(table: object) -> dict[str, list[Any]] | None:
    """Return a table as columns; None for a mapping from groups to numbers."""
    if isinstance(table, str | os.PathLike):
        return _read_file(os.fspath(table))
    if isinstance(table, Mapping):
        is_table = any(isinstance(column, Sequence) and not isinstance(column, str) for column in table.values())
        return {str(name): list(column) for name, column in table.items()} if is_table else None
    if isinstance(table, Sequence) or not hasattr(table, "columns"):
        raise ParameterError(f"rate takes {_EXPECTED}, or a dict: got a {type(table).__name__}.")
    try:
        import narwhals.stable.v1 as nw

        frame = nw.from_native(table, eager_only=True)  # type: ignore[call-overload]
        return {name: frame[name].to_list() for name in frame.columns}
    except (ImportError, TypeError):
        raise ParameterError(f"rate takes {_EXPECTED}, or a dict: got a {type(table).__name__}.") from None


def _read_file(path: Any) -> dict[str, list[Any]]:
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise LastbitError(
            f"the table of a rate could not be read: {path}: {error}. Write it as CSV in UTF-8."
        ) from None
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise ParameterError(f"the table of a rate must be CSV with one line for each group: got {path}.")
    return {name: [row[place] for row in rows[1:]] for place, name in enumerate(rows[0])}
