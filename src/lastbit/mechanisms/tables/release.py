"""`ConsistentTables`: the tables of one release. Every sum of a table agrees exactly with every other table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

import gmpy2
import numpy as np
from numpy.typing import NDArray

from lastbit.chance.draw import Samples
from lastbit.errors import ParameterError
from lastbit.estimate.tables.reconstruction import Array, Reconstruction
from lastbit.estimate.tables.scheme import Axes
from lastbit.estimate.tables.whole_numbers import whole_tables
from lastbit.exact.numbers import Number, probability
from lastbit.mechanisms.tables.table import ConsistentTable
from lastbit.mechanisms.tables.total import TableTotal, union_total
from lastbit.output.picture import Panel
from lastbit.output.table import html_section, text_table
from lastbit.output.words import plural
from lastbit.release import Release, build_frame

if TYPE_CHECKING:
    from lastbit.mechanisms.tables.mechanism import Tables
    from lastbit.mechanisms.tables.people import TablesOfPeople
    from lastbit.mechanisms.tables.shape import Shape

_SHOWN_CELLS: Final = 400
"""Tables of so many cells together are printed whole. Of more, a list of tables is printed."""
_PANELS: Final = 4


@dataclass(frozen=True, eq=False, repr=False)
class ConsistentTables(Release):
    """All tables of one release: ask for one by its columns.

    >>> import lastbit as lb
    >>> mechanism = lb.Tables(domain={"sex": ["f", "m"], "age": ["young", "old"]}, ways=2, rho=500)
    >>> release = mechanism.release([[500, 300], [400, 100]])
    >>> release.names
    (('sex',), ('age',), ('sex', 'age'))
    >>> release.table("age").to_numpy().round(-1)
    array([900., 400.])
    """

    steps: Samples
    """The noisy counts of all measured tables, exactly as drawn, one behind the other."""
    design: Tables = field(compare=False)
    """The mechanism, which knows the domain, the tables and the noise."""

    @property
    def of_people(self) -> TablesOfPeople | None:
        """These tables, where a bound leaves people out of them; None where each number is what it says."""
        return None

    @property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """The columns of each table asked for."""
        return tuple(map(self._shape.columns_of, self._shape.tables))

    @property
    def measured(self) -> dict[tuple[str, ...], Samples]:
        """The tables as they were measured, before they were made to agree."""
        return {self._shape.columns_of(table): array for table, array in self._measure.items()}

    def table(self, *columns: str, exact: bool = False) -> ConsistentTable:
        """Return one table, in this order of its columns: one that was
        asked for, or any sum of one. No columns: the total.

        Values are fractions on a fine grid, and all sums of all tables agree exactly. They are nearer to the exact
        least squares estimate than any interval tells; `exact=True` computes that estimate itself, in fractions.

        >>> import lastbit as lb
        >>> release = lb.Tables(domain={"a": "xy", "b": "xyz"}, ways=2, rho=2).release([[9, 8, 7], [6, 5, 4]])
        >>> release.table("b", "a").values.sum() == release.table("a").values.sum() == release.table().values.sum()
        True
        """
        self._check(columns)
        return ConsistentTable(self.mechanism, self.cost, columns, self, exact)

    def tables(self) -> Iterator[ConsistentTable]:
        """Return every table asked for."""
        return (self.table(*names) for names in self.names)

    def pivot(self, rows: str, columns: str, *, numbers: str = "value", level: Number = "0.95") -> Any:
        """Return the table of two columns as a DataFrame, crosswise, with its totals.

        `numbers` is what stands in it: a column of `to_frame`, such as low or high.

        >>> import lastbit as lb
        >>> release = lb.Tables(domain={"a": "xy", "b": "uvw"}, ways=2, rho=2).release([[9, 8, 7], [6, 5, 4]])
        >>> list(release.pivot("a", "b").columns)
        ['a', 'u', 'v', 'w', '(all)']
        """
        return self.table(rows, columns).pivot(numbers, level)

    def covariance(self, cell: Mapping[str, Any], other: Mapping[str, Any]) -> Fraction:
        """Return the covariance of two numbers, each a cell that names
        its values by column: of the same table, or of two.

        >>> import lastbit as lb
        >>> release = lb.Tables(domain={"a": "xy", "b": "uvw"}, tables=[("a", "b")], rho="1/8").release([[9] * 3] * 2)
        >>> round(float(release.covariance({"a": "x"}, {"a": "x", "b": "u"})), 6)
        4.0
        """
        (table, places), (other_table, other_places) = map(self._shape.places, (cell, other))
        self._check(self._shape.columns_of(table))
        self._check(self._shape.columns_of(other_table))
        return self.design.scheme.covariance(table, places, other_table, other_places)

    def total(self, cells: Mapping[str, Any]) -> TableTotal:
        """Return the total of all cells with these values, and its interval: a column has one value, or a list of them.

        Columns that are not named are summed up. `table(...).total([...])` takes any cells of one table.

        >>> import lastbit as lb
        >>> release = lb.Tables(domain={"a": "xy", "b": "uvw"}, ways=2, rho=2).release([[9, 8, 7], [6, 5, 4]])
        >>> low, high = release.total({"b": ["u", "v"]}).interval("0.99")
        >>> low < 28 < high
        True
        """
        shape = self._shape
        table = shape.axes(list(cells))
        self._check(shape.columns_of(table))
        kept = []
        for axis in table:
            wanted = cells[shape.names[axis]]
            listed = list(wanted) if isinstance(wanted, list | tuple | set | range | np.ndarray) else [wanted]
            own = np.zeros(shape.sizes[axis], np.bool_)
            own[[shape.place(axis, item) for item in listed]] = True
            kept.append(own)
        chosen = np.ones((), np.bool_)
        for own in kept:
            chosen = np.logical_and.outer(chosen, own)
        return union_total(self, table, chosen)

    def whole(self) -> dict[tuple[str, ...], NDArray[np.int64]]:
        """Return a second view, for reports: every table in non-negative whole numbers, which still add up.

        These numbers are biased, and no interval holds for them: use the tables themselves for everything else. They
        are made of published numbers alone, so that they cost nothing.

        >>> import lastbit as lb
        >>> release = lb.Tables(domain={"a": "xy", "b": "uvw"}, ways=2, rho=2).release([[9, 8, 7], [0, 0, 0]])
        >>> view = release.whole()
        >>> (view["a", "b"].sum(axis=1) == view["a",]).all(), view["b",].min() >= 0
        (np.True_, np.True_)
        """
        tables = whole_tables(self._shape.sizes, self._shape.tables, self._reconstruction.floats)
        return {self._shape.columns_of(table): tables[table] for table in ((), *self._shape.tables)}

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return a row for each cell of each table asked for, with an interval that holds with probability 95%.

        A column is empty where a table does not have it.
        """
        long = {name: column.tolist() for name, column in self.long().items()}
        exact: dict[str, list[Any]] = {}
        for table in self.tables():
            for name, column in table.columns().items():
                exact.setdefault(name, []).extend(column)
        return {**long, **{name: exact[name] for name in ("value", "bounded_value") if name in exact}}

    def to_dict(self) -> dict[str, Any]:
        """Return all published values, ready for JSON: see `Release.to_dict`.

        Numbers are written exactly as whole numbers over the denominator of their table, in a fraction of the time.

        >>> import lastbit as lb
        >>> release = lb.Tables(domain={"a": "xy"}, ways=1, rho=2).release([9, 8]).to_dict()
        >>> release["columns"], [type(text) for text in release["exact"]["value"]]
        (['table', 'a', 'value', 'low', 'high', 'variance'], [<class 'str'>, <class 'str'>])
        """
        document = self.to_plain_dict()
        texts: list[str] = []
        for table in self._shape.tables:
            below = self._reconstruction.denominator(table)
            texts += [str(gmpy2.mpq(above, below)) for above in self._reconstruction.numerators(table).ravel().tolist()]
        name = "value" if self.of_people is None else "bounded_value"
        return {**document, "exact": {**document["exact"], name: texts}}

    def to_plain_dict(self, level: Number = "0.95") -> dict[str, Any]:
        """Return the same without the exact numbers of cells: floats, with intervals that hold with this probability.

        >>> import lastbit as lb
        >>> release = lb.Tables(domain={"a": "xy"}, ways=1, rho=2).release([9, 8])
        >>> "value" in release.to_plain_dict()["exact"]
        False
        """
        return self._build_document({name: column.tolist() for name, column in self.long(level).items()})

    def facts(self) -> dict[str, Any]:
        """Return the tables with the variance of each number and the
        half width of its interval, and what was measured.
        """
        tables = [
            {"columns": list(table.names), "variance": table.variance, "within": table.within()}
            for table in self.tables()
        ]
        parts = {" by ".join(self._shape.columns_of(table)): n for table, n in self.design.shares.parts.items()}
        return {"tables": tables, "level": Fraction(19, 20), "shares": parts}

    def error_bars(self, level: Number = "0.95", most: int | None = None) -> Mapping[str, Sequence[Any]]:
        """Return the interval of each number, in the order of `columns`."""
        bars: dict[str, list[Any]] = {}
        for table, cells in zip(self.tables(), accumulate(map(self._cells_of, self._shape.tables)), strict=True):
            for name, own in table.error_bars(level).items():
                bars.setdefault(name, []).extend(own)
            if most is not None and cells >= most:
                break
        return {name: own[:most] for name, own in bars.items()}

    def to_frame(self, level: Number = "0.95") -> Any:
        """Return one row a cell as a DataFrame of pandas or Polars: its
        table, its values, the number, interval and variance.

        >>> import pandas, lastbit as lb
        >>> release = lb.Tables(domain={"a": "xy", "b": "uvw"}, ways=2, rho=2).release([[9, 8, 7], [6, 5, 4]])
        >>> release.to_frame().shape, list(release.to_frame().columns)
        ((11, 7), ['table', 'a', 'b', 'value', 'low', 'high', 'variance'])
        """
        return build_frame(self.long(level))

    def long(self, level: Number = "0.95") -> dict[str, NDArray[Any]]:
        """Return what `to_frame` has, as arrays: numbers are floats, and intervals hold with this probability."""
        long: dict[str, list[Any]] = {name: [] for name in ("table", *self._shape.names)}
        for table in self.tables():
            own, rows = table.long(level), table.cells
            own |= {name: _repeat(None, rows) for name in self._shape.names if name not in own}
            for name, column in ({"table": _repeat(" by ".join(table.names), rows)} | own).items():
                long.setdefault(name, []).append(column)
        return {name: np.concatenate(parts) for name, parts in long.items()}

    def panels(self, level: Number = "0.95") -> Sequence[Panel]:
        """Return the tables of one column as bars, or else the first table."""
        return [panel for table in self.drawn_tables for panel in table.panels(level)][:_PANELS]

    @property
    def drawn_tables(self) -> list[ConsistentTable]:
        """The tables that a picture shows: those of one column, or else the first one."""
        return [table for table in self.tables() if len(table.names) == 1][:_PANELS] or [next(self.tables())]

    def __str__(self) -> str:
        if sum(self._cells_of(table) for table in self._shape.largest) <= _SHOWN_CELLS:
            texts = [self.table(*self._shape.columns_of(table)).body() for table in self._shape.largest]
            return "\n\n".join([self.title, *texts])
        return "\n".join([self.title, text_table(*self._overview()), *self._more()])

    def to_html(self) -> str:
        """Return the tables as HTML, as notebooks show them."""
        if sum(self._cells_of(table) for table in self._shape.largest) <= _SHOWN_CELLS:
            return "".join(self.table(*self._shape.columns_of(table)).to_html() for table in self._shape.largest)
        return html_section(self.title, *self._overview(), self._more())

    def _overview(self) -> tuple[list[str], list[list[str]]]:
        from lastbit.output.table import MOST_ROWS

        rows = [
            [" by ".join(table.names), f"{table.cells:,}", table.within_text()]
            for table, _ in zip(self.tables(), range(MOST_ROWS), strict=False)
        ]
        return ["table", "cells", "each number within"], rows

    def _more(self) -> list[str]:
        from lastbit.output.table import MOST_ROWS

        left = len(self._shape.tables) - MOST_ROWS
        more = [f"… and {plural(left, 'more table')}"] if left > 0 else []
        names = ", ".join(map(repr, self._shape.columns_of(self._shape.largest[0])))
        return [*more, f"Each with probability 95%. One table: release.table({names})."]

    def _cells_of(self, table: Axes) -> int:
        return self.design.scheme.cells(table)

    def _check(self, columns: Sequence[str]) -> None:
        if not self.design.scheme.covers(self._shape.axes(columns)):
            asked = "; ".join(", ".join(names) for names in self.names[:20])
            raise ParameterError(
                f"a table must have been asked for, or be a sum of one: got {', '.join(columns)}, and asked for were "
                f"{asked}."
            )

    @property
    def _shape(self) -> Shape:
        return self.design.shape

    @cached_property
    def _measure(self) -> dict[Axes, Array]:
        result, begin = {}, 0
        for table in self.design.shares.parts:
            sizes = tuple(self._shape.sizes[axis] for axis in table)
            end = begin + self._cells_of(table)
            result[table] = self.steps[begin:end].reshape(sizes)
            begin = end
        return result

    @cached_property
    def _reconstruction(self) -> Reconstruction:
        return Reconstruction(self.design.scheme, self._measure)

    @cached_property
    def _exact(self) -> Reconstruction:
        return Reconstruction(self.design.scheme, self._measure, exact=True)

    def half_width(self, table: Axes, level: Number = "0.95") -> Fraction:
        """Return how far each number of a table is off at most, with at least this probability."""
        return self.design._accuracy(table, probability(level, "level")) + self._reconstruction.error(table)


def _repeat(value: Any, rows: int) -> NDArray[Any]:
    result = np.empty(rows, object)
    result[:] = value
    return result
