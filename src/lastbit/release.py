"""The result of a mechanism: published values only, frozen, and easy to show.

Releases are compared and hashed by their published values, so that the auditor can tell outcomes apart.
"""

from __future__ import annotations

import html
import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from math import isfinite
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lastbit._outcomes import Compared
from lastbit.errors import LastbitError
from lastbit.privacy.cost import Cost

MOST_ROWS: Final = 40

_FRAMES: Final = "pandas", "polars"

_NAMES: Final = "item", "outcome"
"""The columns that hold names, not numbers."""


@dataclass(frozen=True, eq=False, repr=False)
class Release(Compared, ABC):
    """The base of all releases. A subclass adds its published fields, and `columns`, the table that people see."""

    mechanism: str
    cost: Cost = field(hash=False)

    @abstractmethod
    def columns(self) -> dict[str, Sequence[Any]]:
        """The table that people see, column by column. All columns have one length."""

    @property
    def title(self) -> str:
        """The line above the table."""
        return f"{self.mechanism}, {self.cost.text}"

    def __str__(self) -> str:
        return "\n".join([self.title, text_table(*self._cells()), *self._left_out()])

    def __repr__(self) -> str:
        return str(self)

    def to_html(self) -> str:
        """The table as HTML, as notebooks show it."""
        names, rows = self._cells()
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        caption = html.escape(" ".join([self.title, *self._left_out()]))
        return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_dict(self) -> dict[str, Any]:
        """All published values, ready for JSON. Numbers that are not whole are exact fractions written as text.

        >>> import lastbit as lb
        >>> lb.NoisyMax(epsilon=1, resolution=1).release([0, 500]).to_dict()["index"]
        [1]
        """
        facts = {"mechanism": self.mechanism, "cost": self.cost.text, **self.facts()}
        return {name: plain(value) for name, value in (facts | self.columns()).items()}

    def to_json(self) -> str:
        """`to_dict` as JSON, in characters that every file can hold.

        >>> import lastbit as lb
        >>> items = lb.Counts(items=["caf\\u00e9", "\\ud800"], values=[0, 500])
        >>> '"item": ["\\\\ud800"]' in lb.NoisyMax.of(items, epsilon=1).release(items).to_json()
        True
        """
        return json_text(self.to_dict())

    def to_numpy(self) -> NDArray[Any]:
        """The table as an array with a field for each column. Fractions are the nearest floats."""
        columns = {name: _array(column) for name, column in self.columns().items()}
        table = np.empty(len(next(iter(columns.values()))), [(name, column.dtype) for name, column in columns.items()])
        for name, column in columns.items():
            table[name] = column
        return table

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.to_numpy(), dtype)

    def to_frame(self) -> Any:
        """The table as a DataFrame of pandas or Polars: of the library that is loaded, or else is installed.

        >>> import pandas, lastbit as lb
        >>> list(lb.NoisyTopK(k=1, epsilon=1).release([0, 500]).to_frame().columns)
        ['index', 'gap']
        """
        columns = {name: _array(column) for name, column in self.columns().items()}
        loaded = [name for name in _FRAMES if name in sys.modules]
        for name in [*loaded, *_FRAMES]:
            try:
                library = import_module(name)
            except ImportError:
                continue
            return library.DataFrame(columns)
        raise LastbitError("to_frame needs pandas or Polars. Install one of them, or use to_dict().")

    def facts(self) -> dict[str, Any]:
        """The facts that are published beside the table."""
        return {}

    def plot(self, path: str | None = None) -> Any:
        """Draw the last column as bars with the first column as labels; `path` writes a picture. Needs matplotlib."""
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
                f"plot needs a last column of numbers: {self.mechanism} publishes names. Print it, or use to_json()."
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
        # Two items that differ in the last digit are two items. Of published numbers, six digits are shown.
        shown = [
            [one_line(value) if name in _NAMES else _shown(value) for value in column[:MOST_ROWS]]
            for name, column in columns.items()
        ]
        return [name.replace("_", " ") for name in columns], [list(row) for row in zip(*shown, strict=True)]

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


def _shown(value: object) -> str:
    if isinstance(value, float) or (isinstance(value, Fraction) and value.denominator != 1):
        return f"{float(value):.6g}"
    return one_line(value)


def one_line(value: object) -> str:
    """A value in one line of text. Characters that would move the cursor of a terminal are written out."""
    text = "" if value is None else str(value)
    return text if text.isprintable() else "".join(each if each.isprintable() else _escaped(each) for each in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def plain(value: object) -> Any:
    """A published value ready for JSON: exact, made of numbers, text, lists and dictionaries only.

    >>> plain((Fraction(5, 2), Fraction(4), None))
    ['5/2', 4, None]
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, list | tuple | range | np.ndarray):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else str(value)
    if isinstance(value, float) and not isfinite(value):
        return str(value)  # JSON has no such numbers
    return value if isinstance(value, int | float | str | None) else str(value)


def json_text(value: object) -> str:
    """A published value as JSON, in characters that every file can hold."""
    # Half of a pair of surrogates is text for Python, and no character for anyone else: JSON writes its number.
    return json.dumps(plain(value), ensure_ascii=False).encode("utf-8", "backslashreplace").decode("utf-8")


def _array(column: Sequence[Any]) -> NDArray[Any]:
    """A column as a NumPy array: whole numbers, the nearest floats of fractions, text and other items as objects."""
    numbers = all(each is None or isinstance(each, Fraction | float | int) for each in column)
    if numbers and any(isinstance(each, Fraction | float) for each in column):
        return np.array([np.nan if each is None else float(each) for each in column], np.float64)
    if all(type(each) is int and -(1 << 63) <= each < 1 << 63 for each in column):
        return np.array(column, np.int64)
    items = np.empty(len(column), object)
    items[:] = column
    return items


Interval = tuple[Fraction | None, Fraction | None]
"""From and to; None where an interval has no end."""


@dataclass(frozen=True, eq=False, repr=False)
class Measurement(Release):
    """Published numbers, exactly as drawn.

    `single` says that the mechanism was given one number, not a list. Then int() and float() work.
    """

    single: bool

    @property
    @abstractmethod
    def values(self) -> tuple[Fraction, ...]:
        """The published values, exact."""

    def columns(self) -> dict[str, Sequence[Any]]:
        """The values."""
        return {"value": self.values}

    def to_numpy(self) -> NDArray[Any]:
        """The values as an array. Its dimension is 0 where the mechanism was given one number.

        >>> import lastbit as lb
        >>> lb.DiscreteLaplace(epsilon=1).release([3, 4]).to_numpy().dtype
        dtype('int64')
        """
        array = _array(self.columns()["value"])
        return array.reshape(()) if self.single else array

    def __float__(self) -> float:
        return float(self._only())

    def __int__(self) -> int:
        return int(self._only())

    def _only(self) -> Fraction:
        if not self.single:
            raise TypeError(f"int() and float() take a release of one number: got {len(self.values):,}. Use .values.")
        return self.values[0]
