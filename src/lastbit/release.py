"""The result of a mechanism: published values only, frozen, and easy to show.

Releases are compared and hashed by their published values, so that the auditor can tell outcomes apart.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from lastbit._outcomes import Compared
from lastbit.errors import LastbitError
from lastbit.exact.numbers import Number
from lastbit.output import picture
from lastbit.output.json_values import SCHEMA, to_json_value, write_json
from lastbit.output.json_values import json_text as json_text
from lastbit.output.methods import cite, describe_privacy, find_method
from lastbit.output.numbers import Interval as Interval
from lastbit.output.numbers import Multiples, are_numbers
from lastbit.output.picture import Panel
from lastbit.output.table import MOST_ROWS as MOST_ROWS
from lastbit.output.table import PEOPLE, format_cells, html_section, is_name, join_columns
from lastbit.output.table import one_line as one_line
from lastbit.output.table import text_table as text_table
from lastbit.output.words import plural
from lastbit.privacy.cost import Cost

EACH_ROW: Final = "Each row was taken for one person."
"""What is said of a release of a column of numbers: nobody named whose they are."""
_FRAMES: Final = "pandas", "polars"
_PLACES: Final = "index", "rank"
"""Columns of whole numbers that are places in a list, and no amounts to draw."""


@dataclass(frozen=True, eq=False, repr=False)
class Release(Compared, ABC):
    """The base of all releases. A subclass adds its published fields, and `columns`, the table that people see.

    >>> import lastbit as lb
    >>> release = lb.DiscreteLaplace(epsilon=1).release([900, 3])
    >>> release.title, list(release.columns())
    ('Numbers with noise, epsilon 1', ['value'])
    """

    mechanism: str
    cost: Cost = field(hash=False)

    of_whom: ClassVar[str] = ""
    """Whom the values were about, where a bound left people out: `say_of_whom` says it of a release."""

    @abstractmethod
    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the table that people see, column by column. All columns have one length."""

    @property
    def title(self) -> str:
        """The line above the table: what was released, and its cost."""
        return f"{find_method(self._main_mechanism).result}, {self.cost.text}"

    @property
    def _main_mechanism(self) -> str:
        """The name of the mechanism; of a release of parts, of the part that is the answer."""
        return self.mechanism.rpartition(" + ")[2]

    @property
    def notes(self) -> tuple[str, ...]:
        """What is said of the values below the table, in sentences."""
        return (EACH_ROW,) if getattr(self, "of_rows", False) else ()

    def methods(self) -> str:
        """Return the paragraph for a paper: how it was released, whom it protects, and whom to cite.

        >>> import lastbit as lb
        >>> lb.DiscreteLaplace(epsilon=1).release([900, 3]).methods().split(". ")[0]
        'Numbers with noise: discrete Laplace noise, exact sampling'
        """
        import lastbit

        method = find_method(self._main_mechanism)
        privacy = describe_privacy(self.cost.text, "any one person", together=False)
        sentences = [
            f"{method.result}: {method.noise}, exact sampling.",
            f"{privacy}, where one person moves the values by no more than was stated.",
            *self.notes,
            cite(self.mechanism.split(" + "), lastbit.__version__),
        ]
        return " ".join(sentences)

    def __str__(self) -> str:
        names, columns = self._text_columns()
        table = join_columns([[name, *column] for name, column in zip(names, columns, strict=True)])
        return "\n".join([self.title, table, *self._footnotes(), *self._of_whom()])

    def __repr__(self) -> str:
        return str(self)

    def to_html(self) -> str:
        """Return the table as HTML, as notebooks show it."""
        return html_section(self.title, *self._cells(), [*self._footnotes(), *self._of_whom()])

    def _repr_html_(self) -> str:
        # The chart is in the page, because a notebook shows one form only, and takes a page before a picture.
        # A cell that shows a release must show it, whatever a chart does.
        with suppress(Exception):
            return f"{self.to_html()}{self.to_svg()}"
        return self.to_html()

    def to_svg(self, level: Number = "0.95") -> str:
        """Return the numbers with their intervals as an SVG element, for a page; "" where there is nothing to draw.

        >>> import lastbit as lb
        >>> lb.DiscreteLaplace(epsilon=1).release([10, 20]).to_svg().count('class="bar"')
        2
        """
        try:
            panels = self.panels(level)
        except LastbitError:  # the release publishes names
            return ""
        if not any(len(panel.heights) for panel in panels):
            return ""
        from lastbit.output.chart import chart

        return chart(panels, self.title)

    def _repr_png_(self) -> bytes | None:
        """Return the picture, for notebooks; None where there is no matplotlib, or nothing to draw."""
        # A cell that shows a release must show it, whatever a library for pictures does.
        with suppress(Exception):
            if picture.is_installed():
                return picture.png(self.plot())
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return all published values, ready for JSON: numbers are
        numbers, and "exact" has the fractions among them as text.

        Every release follows one schema, docs/output.md.

        >>> import lastbit as lb
        >>> release = lb.NoisyMax(epsilon="1/3", resolution=1).release([0, 5000]).to_dict()
        >>> release["columns"], release["index"], release["costs"]["exact"]["epsilon"]
        (['index', 'gap'], [1], '1/3')
        """
        return self._build_document(self.columns())

    def _build_document(self, columns: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        """Return these columns and all facts of the release, ready for JSON."""
        costs = {"epsilon": self.cost.amount, "rho": self.cost.rho, "delta": self.cost.delta}
        facts = {"mechanism": self.mechanism, "cost": self.cost.text, "schema": SCHEMA, "costs": costs, **self.facts()}
        facts |= {"notes": list(self.notes)} if self.notes else {}
        document: dict[str, Any] = to_json_value({**facts, "columns": list(columns), **columns})
        return document

    def to_json(self) -> str:
        """Return `to_dict` as JSON, in characters that every file can hold.

        >>> import lastbit as lb
        >>> items = lb.Counts(items=["caf\\u00e9", "\\ud800"], values=[0, 500])
        >>> '"item": ["\\\\ud800"]' in lb.NoisyMax.of(items, epsilon=1).release(items).to_json()
        True
        """
        return write_json(self.to_dict())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the table as an array for each column: whole numbers, the
        nearest floats of fractions, items as objects.

        >>> import lastbit as lb
        >>> {name: str(array.dtype) for name, array in lb.NoisyMax(epsilon=1).release([0, 500]).arrays().items()}
        {'index': 'int64', 'gap': 'float64'}
        """
        return {name: as_array(column) for name, column in self.columns().items()}

    def to_numpy(self) -> NDArray[Any]:
        """Return the table as an array with a field for each column. Fractions are the nearest floats."""
        columns = self.arrays()
        table = np.empty(len(next(iter(columns.values()))), [(name, column.dtype) for name, column in columns.items()])
        for name, column in columns.items():
            table[name] = column
        return table

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.to_numpy(), dtype)

    def to_frame(self) -> Any:
        """Return the table as a DataFrame of pandas or Polars: of the library that is loaded, or else is installed.

        >>> import pandas, lastbit as lb
        >>> list(lb.NoisyTopK(k=1, epsilon=1).release([0, 500]).to_frame().columns)
        ['index', 'gap']
        """
        return build_frame(self.arrays())

    def facts(self) -> dict[str, Any]:
        """Return the facts that are published beside the table."""
        return {}

    def error_bars(self, level: Number = "0.95", most: int | None = None) -> Mapping[str, Sequence[Interval | None]]:
        """Return the intervals that the release has for its columns, by the
        name of the column: for the first rows, or all.

        >>> import lastbit as lb
        >>> bars = lb.DiscreteLaplace(epsilon=1).release([10, 20]).error_bars()
        >>> [high - low for low, high in bars["value"]]
        [Fraction(6, 1), Fraction(6, 1)]
        """
        return {}

    def panels(self, level: Number = "0.95") -> Sequence[Panel]:
        """Return what a picture shows: the last column as bars, with the first column as labels."""
        columns = self.columns()
        names = list(columns)
        label, name = names[0] if len(names) > 1 else "place", names[-1]
        labels: Sequence[object] = columns.get(label, range(len(columns[name])))
        if is_name(name) or name in _PLACES or not are_numbers(columns[name]):
            raise LastbitError(
                f"plot needs a last column of numbers: {self.mechanism} publishes names. Print it, or use to_json()."
            )
        return [Panel(name.replace("_", " "), labels, columns[name], label, self.error_bars(level).get(name, ()))]

    def plot(self, path: str | None = None, *, level: Number = "0.95") -> Any:
        """Draw the numbers with their intervals; `path` writes a picture. Needs matplotlib.

        Labels are shown as they are, in any script. Where no font has a character, its number is shown.

        >>> import lastbit as lb
        >>> figure = lb.DiscreteLaplace(epsilon=1).release([10, 20]).plot()
        >>> len(figure.axes[0].patches)
        2
        """
        figure = picture.draw_figure(self.panels(level), self.title)
        if path is not None:
            figure.savefig(path, dpi=picture.DOTS)
        return figure

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        names, columns = self._text_columns()
        return names, [list(row) for row in zip(*columns, strict=True)]

    def _text_columns(self) -> tuple[list[str], list[list[str]]]:
        columns, intervals = self._first_rows(MOST_ROWS)
        texts = format_cells(columns, intervals, whole=PEOPLE)
        return [name.replace("_", " ") for name in columns], texts

    def _first_rows(
        self, most: int
    ) -> tuple[Mapping[str, Sequence[Any] | Multiples], Mapping[str, Sequence[Interval | None]]]:
        """Return the first rows of the table, and the intervals of its columns that do not have their own."""
        return {name: column[:most] for name, column in self.columns().items()}, self.error_bars(most=most)

    def _count_rows(self) -> int:
        """Return the number of rows of the table."""
        return len(next(iter(self.columns().values())))

    def _of_whom(self) -> list[str]:
        return [self.of_whom] if self.of_whom else []

    def _footnotes(self) -> list[str]:
        rows = self._count_rows()
        return [*([f"… and {plural(rows - MOST_ROWS, 'more row')}"] if rows > MOST_ROWS else []), *self.notes]


def say_of_whom(release: Any, *values: Any) -> None:
    """Say of a release whom it is about, where its values were counted under a bound that may leave people out.

    >>> import lastbit as lb
    >>> counts = lb.Counts(items=["flu", "cold"], values=[900, 80], monotone=True, most_items=1)
    >>> lb.NoisyMax.of(counts, epsilon=1).release(counts).of_whom
    'A person counts in 1 item at most. Whoever has more is missing from the others: an item may have more people.'
    """
    for known in values:
        most, items = getattr(known, "most_items", None), getattr(known, "items", None)
        if most is not None and (items is None or most < len(items)) and isinstance(release, Release):
            text = f"A person counts in {plural(most, 'item')} at most. Whoever has more is missing from the others: "
            object.__setattr__(release, "of_whom", f"{text}an item may have more people.")


def build_frame(table: Mapping[str, Sequence[Any] | NDArray[Any]]) -> Any:
    """Return columns as a DataFrame of pandas or Polars: of the library that is loaded, or else is installed.

    >>> import pandas
    >>> build_frame({"item": ["flu"], "value": [Fraction(1, 2)]}).values.tolist()
    [['flu', 0.5]]
    """
    columns = {name: as_array(column) for name, column in table.items()}
    in_use = [name for name in _FRAMES if name in sys.modules]
    for name in [*in_use, *_FRAMES]:
        try:
            library = import_module(name)
        except ImportError:
            continue
        # An array of objects that begins with a missing one has no type in Polars; a list has.
        lists = {title: _list_of(column) if name == "polars" else column for title, column in columns.items()}
        try:
            return library.DataFrame(lists)
        except (UnicodeEncodeError, TypeError):
            # Half a character is no text for Arrow, and text and numbers are no column of Polars. Items stay objects.
            kind = getattr(library, "Object", object)
            objects = {
                column_name: library.Series(column.tolist(), dtype=kind) if column.dtype == object else column
                for column_name, column in columns.items()
            }
            return library.DataFrame(objects)
    raise LastbitError("to_frame needs pandas or Polars. Install one of them, or use to_dict().")


def _list_of(column: NDArray[Any]) -> Any:
    return column.tolist() if column.dtype == object else column


def as_array(column: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """Return a column as a NumPy array: whole numbers, the nearest
    floats of fractions, text and other items as objects.

    >>> as_array([Fraction(1, 2), None]).tolist(), as_array([1, 2]).dtype, as_array(["flu"]).dtype
    ([0.5, nan], dtype('int64'), dtype('O'))
    """
    if isinstance(column, np.ndarray) and column.dtype != object:
        return column
    numbers = all(cell is None or isinstance(cell, Fraction | float | int) for cell in column)
    if numbers and any(isinstance(cell, Fraction | float) for cell in column):
        return np.array([np.nan if cell is None else float(cell) for cell in column], np.float64)
    if all(type(cell) is int and -(1 << 63) <= cell < 1 << 63 for cell in column):
        return np.array(column, np.int64)
    items = np.empty(len(column), object)
    items[:] = column
    return items


@dataclass(frozen=True, eq=False, repr=False)
class Measurement(Release):
    """Published numbers, exactly as drawn.

    `single` says that the mechanism was given one number, not a list. Then int() and float() work.

    >>> import lastbit as lb
    >>> 800 < float(lb.DiscreteLaplace(epsilon=1).release(900)) < 1000
    True
    """

    single: bool

    @property
    @abstractmethod
    def values(self) -> tuple[Fraction, ...]:
        """The published values, exact."""

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the values."""
        return {"value": self.values}

    def to_numpy(self) -> NDArray[Any]:
        """Return the values as an array. Its dimension is 0 where the mechanism was given one number.

        >>> import lastbit as lb
        >>> lb.DiscreteLaplace(epsilon=1).release([3, 4]).to_numpy().dtype
        dtype('int64')
        """
        array = self.arrays()["value"]
        return array.reshape(()) if self.single else array

    def __float__(self) -> float:
        return float(self._only())

    def __int__(self) -> int:
        return int(self._only())

    def _only(self) -> Fraction:
        if not self.single:
            raise TypeError(f"int() and float() take a release of one number: got {len(self.values):,}. Use .values.")
        return self.values[0]
