"""What a mechanism hands back: published values only, frozen, and easy to show.

Equality and hashing go by the published values, so that the auditor can tell outcomes apart.
"""

from __future__ import annotations

import html
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from lastbit._outcomes import Compared
from lastbit.errors import LastbitError
from lastbit.exact.numbers import Cost, Eta

MOST_ROWS = 40


@dataclass(frozen=True, eq=False)
class Release(Compared, ABC):
    """The base of all releases: a subclass adds its published fields and says which columns people see."""

    mechanism: str
    cost: Cost = field(hash=False)

    @abstractmethod
    def columns(self) -> dict[str, Sequence[Any]]:
        """The table people see, column by column, all of one length."""

    @property
    def title(self) -> str:
        """The line above the table."""
        return f"{self.mechanism}, {cost_text(self.cost)}"

    def __str__(self) -> str:
        return "\n".join([self.title, text_table(*self._cells()), *self._left_out()])

    def _repr_html_(self) -> str:
        names, rows = self._cells()
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        caption = html.escape(" ".join([self.title, *self._left_out()]))
        return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def to_json(self) -> str:
        """Everything published, as JSON. Numbers that are not whole are exact fractions written as text."""
        facts: dict[str, object] = {"mechanism": self.mechanism, "cost": cost_text(self.cost)}
        facts |= {name: _plain(value) for name, value in self.facts().items()}
        columns = {name: [_plain(value) for value in column] for name, column in self.columns().items()}
        return json.dumps(facts | columns, ensure_ascii=False)

    def facts(self) -> dict[str, Any]:
        """What is published beside the table."""
        return {}

    def plot(self, path: str | None = None) -> Any:
        """Draw the last column as bars, named by the first; write a picture when given a path. Needs matplotlib."""
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise LastbitError("plot needs matplotlib. Install it with: pip install 'lastbit[plot]'") from None
        columns = self.columns()
        names = list(columns)
        label, name = names[0] if len(names) > 1 else "place", names[-1]
        labels: Sequence[object] = columns.get(label, range(len(columns[name])))
        try:
            heights = [float(height or 0) for height in columns[name]]
        except (TypeError, ValueError):
            raise LastbitError(
                f"{self.mechanism} publishes names, of which there is nothing to draw. Print it, or use to_json()."
            ) from None
        figure = Figure(figsize=(6, 4), layout="constrained")
        axes = figure.subplots()
        axes.bar([_shown(place) for place in labels], heights)
        axes.set(xlabel=label, ylabel=name, title=self.title)
        axes.tick_params(axis="x", rotation=45)
        if path is not None:
            figure.savefig(path)
        return figure

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        columns = self.columns()
        shown = [[_shown(value) for value in column[:MOST_ROWS]] for column in columns.values()]
        return list(columns), [list(row) for row in zip(*shown, strict=True)]

    def _left_out(self) -> list[str]:
        rows = len(next(iter(self.columns().values())))
        return [f"… and {rows - MOST_ROWS:,} more rows"] if rows > MOST_ROWS else []


def text_table(names: list[str], rows: list[list[str]]) -> str:
    """Columns aligned to the right, for a terminal.

    >>> print(text_table(["item", "gap"], [["flu", "12"]]))
    item  gap
     flu   12
    """
    widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    lines = [[cell.rjust(width) for cell, width in zip(row, widths, strict=True)] for row in (names, *rows)]
    return "\n".join("  ".join(line) for line in lines)


def cost_text(cost: Cost) -> str:
    """A cost as people write it.

    >>> cost_text(Fraction(1, 10)), cost_text(Eta(1, 1, 1))
    ('epsilon 1/10', 'eta (1, 1, 1)')
    """
    return f"eta ({cost.x}, {cost.y}, {cost.z})" if isinstance(cost, Eta) else f"epsilon {cost}"


def _shown(value: object) -> str:
    if isinstance(value, float) or (isinstance(value, Fraction) and value.denominator != 1):
        return f"{float(value):.6g}"
    return "" if value is None else str(value)


def _plain(value: object) -> object:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else str(value)
    return value if isinstance(value, int | float | str | None) else str(value)
