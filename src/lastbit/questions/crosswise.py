"""Answers crosswise: the groups of one column below each other, and those of another beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lastbit.errors import ParameterError

ALL = "(all)"


def pivot_table(
    table: Mapping[str, Sequence[Any]], labels: Sequence[str], names: Sequence[str] = (), *, adds_up: bool
) -> tuple[dict[str, list[Any]], bool]:
    """Return the numbers of two columns of groups crosswise, and whether sums are among them.

    Sums are there only where `adds_up` says that nobody is counted twice, and where no number is hidden.

    >>> long = {"sex": ["f", "f", "m", "m"], "age": ["0", "9", "0", "9"], "value": [1, 2, 3, 4]}
    >>> pivot_table(long, ["sex", "age"], adds_up=True)[0]
    {'sex': ['f', 'm', '(all)'], '0': [1, 3, 4], '9': [2, 4, 6], '(all)': [3, 7, 10]}
    """
    names = tuple(names) or tuple(labels)
    values = table.get("value", table.get("bounded_value"))
    if len(names) != 2 or len(set(names)) != 2 or not set(names) <= set(labels) or values is None:
        raise ParameterError(
            f"pivot takes two columns of groups and a number for each pair: got {', '.join(names) or 'none'}, of "
            f"{', '.join(labels) or 'none'}. Ask with --by twice."
        )
    if len(labels) != 2:
        raise ParameterError(f"pivot takes an answer by two columns: got {', '.join(labels)}. The release stands.")
    down, across = (list(dict.fromkeys(table[name])) for name in names)
    cells = {(a, b): value for a, b, value in zip(table[names[0]], table[names[1]], values, strict=True)}
    rows: list[list[Any]] = [[cells.get((a, b)) for b in across] for a in down]
    heads = _headings(names[0], [*map(str, across)])
    with_sums = adds_up and all(cell is not None for row in rows for cell in row)
    if with_sums:
        rows = [[*row, sum(row)] for row in rows]
        rows.append([sum(column) for column in zip(*rows, strict=True)])
        heads.append(_headings(names[0], [*heads, ALL])[-1])
    first = [*down, ALL] if with_sums else down
    columns = zip(*rows, strict=True) if rows else [()] * len(heads)
    return {names[0]: first, **{head: list(column) for head, column in zip(heads, columns, strict=True)}}, with_sums


def split_names(text: str) -> list[str]:
    """Return the names of two columns that stand in one text.

    >>> split_names("region, age")
    ['region', 'age']
    """
    return [name.strip() for name in text.split(",")]


def _headings(first: str, labels: Sequence[str]) -> list[str]:
    """Return headings that are different from each other, as different groups may be written alike."""
    heads: list[str] = []
    for label in labels:
        head = label
        while head == first or head in heads:
            head += " "
        heads.append(head)
    return heads
