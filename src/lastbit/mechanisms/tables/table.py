"""`ConsistentTable`: one table of a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import ceil
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from lastbit.errors import ParameterError
from lastbit.estimate.tables.scheme import Axes
from lastbit.exact.numbers import Number, probability
from lastbit.mechanisms.tables.total import TableTotal, union_total
from lastbit.output.numbers import Format, Interval, format_percent
from lastbit.output.picture import Panel
from lastbit.output.table import MOST_ROWS, html_section, text_table
from lastbit.output.words import plural
from lastbit.release import Release, build_frame

if TYPE_CHECKING:
    from lastbit.mechanisms.tables.release import ConsistentTables

ALL: Final = "(all)"
"""The name of the totals of a table."""
_PANELS: Final = 6


@dataclass(frozen=True, eq=False, repr=False)
class ConsistentTable(Release):
    """One table: its values, with one variance and one half width for all of its numbers.

    >>> import lastbit as lb
    >>> release = lb.Tables(domain={"a": "xy", "b": "uvw"}, tables=[("a", "b")], rho=2000).release([[9, 8, 7]] * 2)
    >>> print(release.table("a", "b"))
    Tables that agree, rho 2000: a by b
        a   u   v   w  (all)
        x   9   8   7     24
        y   9   8   7     24
    (all)  18  16  14     48
    Each number is within 0, each sum of a row or column within 1, and the total within 1, each with probability 95%. \
The exact numbers add up; they are rounded here.
    """

    names: tuple[str, ...]
    source: ConsistentTables
    exact: bool = field(default=False)

    @property
    def title(self) -> str:
        """The line above the table."""
        return f"{super().title}: {' by '.join(self.names) or 'everybody'}"

    @property
    def values(self) -> NDArray[Any]:
        """The values as exact fractions, in an array with an axis for each column."""
        source = self.source._exact if self.exact else self.source._reconstruction
        return source.values(self._axes).transpose(self._order)

    def to_numpy(self) -> NDArray[np.float64]:
        """Return the values as floats, in an array with an axis for each column."""
        source = self.source._exact if self.exact else self.source._reconstruction
        return source.floats(self._axes).transpose(self._order)

    @property
    def items(self) -> tuple[tuple[Any, ...], ...]:
        """The values of each column."""
        return tuple(self.source._shape.items[self.source._shape.names.index(name)] for name in self.names)

    @property
    def cells(self) -> int:
        """How many cells the table has."""
        return self.source._cells_of(self._axes)

    @property
    def variance(self) -> Fraction:
        """The variance of each number, or slightly more."""
        return self.source.design.scheme.variance(self._axes)

    def within(self, level: Number = "0.95") -> Fraction:
        """Return how far each number is off at most, with at least this probability: each for itself.

        Where a bound leaves people out, this is about the numbers of the people counted.
        """
        return self.source.half_width(self._axes, level)

    def interval(self, level: Number = "0.95") -> NDArray[Any]:
        """Return from and to of each number, as pairs in an array with
        an axis for each column. No number is below 0.

        They hold for all people; no end above is known where nobody measured how many a bound leaves out.
        """
        result = np.empty(self.cells, object)
        result[:] = self._intervals(level)
        return result.reshape(tuple(map(len, self.items)))

    def _intervals(self, level: Number) -> list[Interval]:
        """Return the interval of each number: of all people, where a bound leaves some out."""
        if self.source.of_people is None:
            return self.bounded_intervals(level)
        fewest, most = self._people(level)
        ends = [None] * len(fewest) if most is None else [*map(Fraction, most.tolist())]
        return [*zip(map(Fraction, fewest.tolist()), ends, strict=True)]

    def bounded_intervals(self, level: Number = "0.95", most: int | None = None) -> list[Interval]:
        """Return the intervals of the machine's own table: of the people counted, where a bound leaves some out."""
        within, zero = self.within(level), Fraction(0)
        first = self.values.ravel()[:most].tolist()
        return [(max(zero, value - within), max(zero, value + within)) for value in first]

    def _people(self, level: Number) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
        """Return the fewest and the most people of each cell."""
        people = self.source.of_people
        assert people is not None  # noqa: S101
        return people.between(self.to_numpy().ravel(), (1, self.cells), probability(level, "level"), self.within)

    def covariance(self, cell: Sequence[Any], other: Sequence[Any]) -> Fraction:
        """Return the covariance of two cells of this table, each with a value for each column."""
        named = [dict(zip(self.names, member, strict=True)) for member in (cell, other)]
        return self.source.covariance(*named)

    def total(self, cells: Sequence[Sequence[Any]] | Mapping[str, Any]) -> TableTotal:
        """Return the total of any cells, each with a value for each column, or of all that a mapping names."""
        if isinstance(cells, Mapping):
            return self.source.total(cells)
        shape, chosen = self.source._shape, np.zeros(tuple(map(len, self.items)), np.bool_).transpose(self._back)
        for cell in cells:
            if isinstance(cell, str) or len(cell) != len(self.names):
                raise ParameterError(f"a cell must have a value for each of {', '.join(self.names)}: got {cell!r}.")
            _, places = shape.places(dict(zip(self.names, cell, strict=True)))
            chosen[places] = True
        return union_total(self.source, self._axes, chosen)

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return a row for each cell: the values of its columns, and its number; of all people with an interval."""
        named: dict[str, Sequence[Any]] = {name: column.tolist() for name, column in self.labels.items()}
        people, values = self.source.of_people, self.values.ravel().tolist()
        if people is None:
            return {**named, "value": values}
        if people.cut_at is None:
            return {**named, "bounded_value": values}
        low, high = ([*map(Fraction, ends.tolist())] for ends in self._people("0.95") if ends is not None)
        near = [min(max(fewest, value), most) for fewest, value, most in zip(low, values, high, strict=True)]
        return {**named, "value": near, "low": low, "high": high, "bounded_value": values}

    def facts(self) -> dict[str, Any]:
        """Return the variance of each number, and the half width of its interval."""
        return {"variance": self.variance, "within": self.within(), "level": Fraction(19, 20)}

    def error_bars(self, level: Number = "0.95", most: int | None = None) -> dict[str, Sequence[Interval]]:
        """Return the interval of each number. Counts are not negative, so no interval goes below 0."""
        people, bounded = self.source.of_people, self.bounded_intervals(level, most)
        if people is None:
            return {"value": bounded}
        more = {"value": self._intervals(level)[:most]} if people.cut_at is not None else {}
        return {**more, "bounded_value": bounded}

    def long(self, level: Number = "0.95") -> dict[str, NDArray[Any]]:
        """Return a row for each cell: its values, the number with its interval, and the variance, as arrays.

        Where a bound leaves people out, the number and its interval are of all people, if it is known how many have
        more records than count; those of the people counted are named so.
        """
        numbers, people = self.to_numpy().ravel(), self.source.of_people
        # Outwards, by more than the rounding of floats.
        within = float(self.within(level)) * (1 + 2.0**-50)
        own = {"value": numbers, "low": np.maximum(numbers - within, 0.0), "high": np.maximum(numbers + within, 0.0)}
        variance = {"variance": np.full(len(numbers), float(self.variance))}
        if people is None:
            return {**self.labels, **own, **variance}
        bounded = {f"bounded_{name}": column for name, column in own.items()}
        if people.cut_at is None:
            return {**self.labels, **bounded, **variance}
        low, high = self._people(level)
        assert high is not None  # noqa: S101
        return {**self.labels, "value": np.clip(numbers, low, high), "low": low, "high": high, **bounded, **variance}

    def to_frame(self, level: Number = "0.95") -> Any:
        """Return one row a cell, and one for each total of a row or column, as a DataFrame of pandas or Polars.

        Where a bound leaves people out, value, low and high are of all people, and bounded_value, bounded_low and
        bounded_high of those counted.

        >>> import pandas, lastbit as lb
        >>> release = lb.Tables(domain={"a": "xy", "b": "uvw"}, ways=2, rho=2).release([[9, 8, 7], [6, 5, 4]])
        >>> frame = release.table("a", "b").to_frame()
        >>> list(frame.columns), (frame.kind == "total").sum()
        (['a', 'b', 'value', 'low', 'high', 'variance', 'kind'], np.int64(6))
        """
        parts = []
        for kept in sorted(product((True, False), repeat=len(self.names)), key=sum, reverse=True):
            smaller = self.source.table(*(name for name, keep in zip(self.names, kept, strict=True) if keep))
            own, rows = smaller.long(level), smaller.cells
            for name in self.names:
                own.setdefault(name, _repeat(None, rows))
            own["kind"] = _repeat("cell" if all(kept) else "total", rows)
            parts.append(own)
        names = [*self.names, *(name for name in parts[0] if name not in self.names)]
        return build_frame({name: np.concatenate([part[name] for part in parts]) for name in names})

    def pivot(self, numbers: str = "value", level: Number = "0.95") -> Any:
        """Return a table of two columns crosswise, with its totals, as a DataFrame of pandas or Polars.

        `numbers` is a column of `to_frame`: value, or an end of an interval such as low or bounded_high. Where nobody
        measured how many people a bound leaves out, there are the numbers of the people counted alone.
        """
        if len(self.names) != 2:
            raise ParameterError(f"pivot takes a table of two columns: got {plural(len(self.names), 'column')}.")
        own, *sums = ([*table.long(level).items()] for table in (self, *self._sums))
        known = [name for name, _ in own[len(self.names) :]]
        name = f"bounded_{numbers}" if numbers == "value" and numbers not in known else numbers
        if name not in known:
            raise ParameterError(f"numbers must be one of {', '.join(known)}: got {numbers!r}.")
        rows_sum, columns_sum, everything = (dict(part)[name] for part in sums)
        shape = tuple(map(len, self.items))
        values = np.vstack(
            [
                np.column_stack([dict(own)[name].reshape(shape), rows_sum]),
                np.append(columns_sum, everything),
            ]
        )
        rows, columns = ([*map(str, items), ALL] for items in self.items)
        first: dict[str, Any] = {self.names[0]: np.array(rows, object)}
        return build_frame(first | {name: values[:, place] for place, name in enumerate(columns)})

    def panels(self, level: Number = "0.95") -> Sequence[Panel]:
        """Return one panel of bars; of two columns one panel for each value of the first, side by side."""
        bars = next(iter(self.error_bars(level).values()))
        values = self.values.ravel().tolist()
        if len(self.names) != 2:
            labels = [", ".join(map(str, cell)) for cell in product(*self.items)]
            return [Panel("people", labels, values, ", ".join(self.names), bars)]
        rows, columns = self.items
        width = len(columns)
        return [
            Panel(
                f"{self.names[0]}: {row}", columns, values[place * width : (place + 1) * width], self.names[1],
                bars[place * width : (place + 1) * width],
            )
            for place, row in enumerate(rows[:_PANELS])
        ]  # fmt: skip

    def within_text(self, level: Number = "0.95") -> str:
        """Return the half width as people read it, rounded up."""
        return f"{ceil(self.within(level)):,}"

    def body(self) -> str:
        """Return the table as text, with a sentence about its errors, and without a title."""
        if len(self.names) == 2 and max(map(len, self.items)) <= MOST_ROWS:
            return "\n".join([text_table(*self._crosswise()), *self.describe()])
        return "\n".join([text_table(*self._cells()), *self._footnotes(), *self.describe()])

    def __str__(self) -> str:
        return "\n".join([self.title, self.body()])

    def to_html(self) -> str:
        """Return the table as HTML, as notebooks show it."""
        crosswise = len(self.names) == 2 and max(map(len, self.items)) <= MOST_ROWS
        notes = [*([] if crosswise else self._footnotes()), *self.describe()]
        return html_section(self.title, *(self._crosswise() if crosswise else self._cells()), notes)

    def crosswise(self) -> dict[str, list[Any]]:
        """Return a table of two columns as columns, with its totals: numbers
        of people, rounded, under the second's values.
        """
        exact = self._with_totals([table.values for table in self._sums])
        rows, columns = ([*map(str, items), ALL] for items in self.items)
        return {self.names[0]: rows} | {
            name: [round(value) for value in exact[:, place].tolist()] for place, name in enumerate(columns)
        }

    def describe(self, level: Number = "0.95") -> list[str]:
        """Return how far the numbers may be off, in sentences: of the people counted, and of all people."""
        people, percent = self.source.of_people, f"with probability {format_percent(level)}"
        of_whom = f", of {people.counted}" if people else ""
        if len(self.names) != 2:
            sentence = f"Each number is within {self.within_text(level)} {percent}{of_whom}."
            return [sentence, *self._describe_people(level)]
        *sums, total = (ceil(table.within(level)) for table in self._sums)
        return [
            f"Each number is within {self.within_text(level)}, each sum of a row or column within {max(sums):,}, and "
            f"the total within {total:,}, each {percent}{of_whom}. The exact numbers add up; they are rounded here.",
            *self._describe_people(level),
        ]

    def _describe_people(self, level: Number) -> list[str]:
        """Return how far the numbers, and their sums, may be from those of all people, where this is known."""
        people = self.source.of_people
        if people is None or people.cut_at is None or not self.names:
            return []
        fewer, more = self._distance(level)
        sentence = (
            f"Of all {people.everybody}, each with probability {format_percent(level)}, a cell has at most {fewer:,} "
            f"fewer and at most {more:,} more than it says"
        )
        if len(self.names) != 2:
            return [f"{sentence}."]
        *sums, _ = (table._distance(level) for table in self._sums)
        fewer, more = (max(ends) for ends in zip(*sums, strict=True))
        return [f"{sentence}, and a sum of a row or column at most {fewer:,} fewer and at most {more:,} more."]

    def _distance(self, level: Number) -> tuple[int, int]:
        """Return how many people fewer, and more, a number may have than it says, as it is rounded."""
        numbers, (fewest, most) = np.rint(self.to_numpy().ravel()).astype(np.int64), self._people(level)
        assert most is not None  # noqa: S101
        return max(0, int((numbers - fewest).max())), max(0, int((most - numbers).max()))

    def _crosswise(self) -> tuple[list[str], list[list[str]]]:
        exact = self._with_totals([table.values for table in self._sums])
        form = Format(0)
        rows, columns = ([*map(str, items), ALL] for items in self.items)
        texts = [[name, *(form.text(value) for value in line)] for name, line in zip(rows, exact.tolist(), strict=True)]
        return [self.names[0], *columns], texts

    def _with_totals(self, sums: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Return a table of two columns with the sums of its rows, of its columns, and of everything."""
        rows, columns, everything = sums
        own = self.values if rows.dtype == object else self.to_numpy()
        below = np.append(columns, everything.reshape(1))
        return np.vstack([np.column_stack([own, rows]), below])

    @cached_property
    def _sums(self) -> tuple[ConsistentTable, ...]:
        first, second = self.names
        return tuple(self.source.table(*names, exact=self.exact) for names in ((first,), (second,), ()))

    @cached_property
    def labels(self) -> dict[str, NDArray[Any]]:
        """The value of each column, for each cell: an array for each column."""
        shape, result = tuple(map(len, self.items)), {}
        for place, (name, items) in enumerate(zip(self.names, self.items, strict=True)):
            column = np.empty(len(items), object)
            column[:] = items
            wide = column.reshape([len(items) if other == place else 1 for other in range(len(shape))])
            result[name] = np.broadcast_to(wide, shape).ravel()
        return result

    @property
    def _axes(self) -> Axes:
        return self.source._shape.axes(self.names)

    @property
    def _order(self) -> list[int]:
        """Which axis of the table each column is."""
        ascending = self.source._shape.columns_of(self._axes)
        return [ascending.index(name) for name in self.names]

    @property
    def _back(self) -> list[int]:
        """The inverse of `_order`."""
        return [self.names.index(name) for name in self.source._shape.columns_of(self._axes)]


def _repeat(value: Any, rows: int) -> NDArray[Any]:
    result = np.empty(rows, object)
    result[:] = value
    return result
