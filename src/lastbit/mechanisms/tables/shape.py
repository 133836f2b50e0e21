"""Which tables are asked for, of which columns: the public shape of a release, checked before anything is read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb, prod
from typing import Any, Final

from lastbit.errors import ParameterError
from lastbit.estimate.tables.scheme import Axes, subsets
from lastbit.exact.numbers import positive, whole
from lastbit.output.words import plural

MOST_CELLS: Final = 10**7
"""Cells of all tables together: each takes some 30 bytes, and a few microseconds to be written down."""
_MOST_TABLES: Final = 2_000
"""Tables that are asked for, or are sums of these: the shares of so many are found in seconds."""
_LONGEST: Final = 12
"""Columns of one table: it can be summed down in 2^12 ways."""

_FURTHEST: Final = 10**9
"""How far weights may be apart: floats find the shares."""

Names = tuple[str, ...]
"""The columns of a table."""


@dataclass(frozen=True)
class Shape:
    """The public values of each column, and the tables asked for, as axes in ascending order.

    >>> shape = Shape.of({"sex": ["f", "m"], "age": range(5)}, ways=2)
    >>> shape.names, shape.sizes, shape.tables
    (('sex', 'age'), (2, 5), ((0,), (1,), (0, 1)))
    >>> shape.cells
    17
    """

    domain: tuple[tuple[str, tuple[Any, ...]], ...]
    tables: tuple[Axes, ...]

    @classmethod
    def of(cls, domain: Any, *, ways: Any = None, tables: Any = None) -> Shape:
        """Return the shape that a person asks for: all tables of at most
        so many columns, or the tables that are listed.
        """
        columns = _parse_domain(domain)
        names = [name for name, _ in columns]
        if (ways is None) == (tables is None):
            raise ParameterError(
                "exactly one of ways and tables must be given. Write ways=2 for all tables of one or two columns, or "
                "tables=[('region', 'age')]."
            )
        asked = _all_tables(len(names), ways) if tables is None else _parse_tables(names, tables)
        shape = cls(columns, tuple(asked))
        shape._check_cells()
        return shape

    @property
    def names(self) -> Names:
        """The names of the columns, in their order."""
        return tuple(name for name, _ in self.domain)

    @cached_property
    def items(self) -> tuple[tuple[Any, ...], ...]:
        """The values of each column."""
        return tuple(items for _, items in self.domain)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many values each column has."""
        return tuple(map(len, self.items))

    @property
    def cells(self) -> int:
        """How many cells all tables have."""
        return sum(prod(self.sizes[axis] for axis in table) for table in self.tables)

    @property
    def largest(self) -> tuple[Axes, ...]:
        """The tables that are no sum of another one."""
        return tuple(table for table in self.tables if not any(set(table) < set(other) for other in self.tables))

    def columns_of(self, table: Axes) -> Names:
        """Return the columns of a table."""
        return tuple(self.names[axis] for axis in table)

    def axes(self, names: Sequence[str]) -> Axes:
        """Return the axes of these columns, in ascending order."""
        unknown = [name for name in names if name not in self.names]
        if unknown or len(set(names)) != len(names):
            raise ParameterError(
                f"a table must be of different columns among {', '.join(self.names)}: got {', '.join(map(str, names))}."
            )
        return tuple(sorted(self.names.index(name) for name in names))

    def places(self, cell: Mapping[str, Any]) -> tuple[Axes, tuple[int, ...]]:
        """Return the table of a cell, and the places of its values. A cell names the value of each of its columns."""
        table = self.axes(list(cell))
        return table, tuple(self.place(axis, cell[self.names[axis]]) for axis in table)

    def place(self, axis: int, item: Any) -> int:
        """Return the place of a value of a column."""
        try:
            return self._index[axis][item]
        except (KeyError, TypeError):
            some = ", ".join(map(str, self.items[axis][:8]))
            raise ParameterError(
                f"{self.names[axis]} must be one of its {plural(self.sizes[axis], 'value')}, {some}"
                f"{', …' if self.sizes[axis] > 8 else ''}: got {str(item)[:40]!r}."
            ) from None

    @cached_property
    def _index(self) -> list[dict[Any, int]]:
        return [{item: place for place, item in enumerate(items)} for items in self.items]

    @cached_property
    def digest(self) -> str:
        """A digest of all values, by which a ledger tells two domains apart."""
        text = json.dumps([[name, list(map(str, items))] for name, items in self.domain])
        return f"sha256:{hashlib.sha256(text.encode('ascii')).hexdigest()}"

    def _check_cells(self) -> None:
        closed = {part for table in self.tables for part in subsets(table)}
        if len(closed) > _MOST_TABLES:
            raise ParameterError(
                f"there must be at most {_MOST_TABLES:,} tables, with those that are sums of others: got "
                f"{len(closed):,}. Ask for fewer columns, or for fewer ways."
            )
        if self.cells <= MOST_CELLS:
            return
        widest = max(range(len(self.names)), key=lambda axis: self.sizes[axis])
        rest = sum(prod(self.sizes[axis] for axis in table) for table in self.tables if widest not in table)
        largest = max(self.tables, key=lambda table: prod(self.sizes[axis] for axis in table))
        raise ParameterError(
            f"all tables together must have at most {MOST_CELLS:,} cells: got {self.cells:,}. The largest table is "
            f"{' by '.join(self.columns_of(largest))} with {prod(self.sizes[axis] for axis in largest):,}. Without "
            f"{self.names[widest]} there would be {rest:,}; or use fewer values, or fewer ways. Nothing was read."
        )


def parse_weights(shape: Shape, weights: Any) -> dict[Axes, Fraction]:
    """Return the importance of each table, 1 where nobody says.

    >>> parse_weights(Shape.of({"sex": "fm", "age": range(5)}, ways=1), {("age",): 3})
    {(0,): Fraction(1, 1), (1,): Fraction(3, 1)}
    """
    result = dict.fromkeys(shape.tables, Fraction(1))
    pairs = weights.items() if isinstance(weights, Mapping) else weights or ()
    for names, weight in pairs:
        table = shape.axes((names,) if isinstance(names, str) else tuple(names))
        if table not in result:
            raise ParameterError(f"weights must be of tables asked for: got {' by '.join(shape.columns_of(table))}.")
        result[table] = positive(weight, "a weight", "It says how important a table is beside the others.")
    if max(result.values()) > _FURTHEST * min(result.values()):
        raise ParameterError(
            f"weights must be within a factor of {_FURTHEST:,} of each other, where a table that is not named has 1. "
            "Leave a table out that does not matter."
        )
    return result


def _parse_domain(domain: Any) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    pairs = list(domain.items()) if isinstance(domain, Mapping) else domain
    if not pairs or not isinstance(pairs, list | tuple) or not all(_is_pair(pair) for pair in pairs):
        raise ParameterError(
            "domain must list the public values of each column. Write domain={'region': ['north', 'south'], 'sex': "
            "['f', 'm']}."
        )
    columns = []
    for name, items in pairs:
        try:
            values = tuple(items)
            different = len(set(values)) == len(values)
        except TypeError:
            different, values = False, ()
        if not different:
            raise ParameterError(f"the values of {name} must be a list of different values, such as ['f', 'm'].")
        if len(values) < 2:
            raise ParameterError(
                f"{name} must have two values or more: got {plural(len(values), 'value')}. A column with one value "
                "divides nothing: leave it out."
            )
        columns.append((name, values))
    if len({name for name, _ in columns}) != len(columns):
        raise ParameterError("columns must be different: one is named twice.")
    return tuple(columns)


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str) and pair[1] is not None


def _all_tables(columns: int, ways: Any) -> list[Axes]:
    most = min(whole(ways, "ways"), columns)
    if sum(comb(columns, size) for size in range(1, most + 1)) > _MOST_TABLES:
        raise ParameterError(
            f"there must be at most {_MOST_TABLES:,} tables: got more, of up to {most} of {columns} columns. Use a "
            "smaller ways, or list the tables."
        )
    return [table for size in range(1, most + 1) for table in combinations(range(columns), size)]


def _parse_tables(names: list[str], tables: Any) -> list[Axes]:
    if isinstance(tables, str) or not isinstance(tables, Sequence) or not tables:
        raise ParameterError(
            "tables must be a list of tables, each with its columns. Write tables=[('region', 'age')]."
        )
    asked: dict[Axes, None] = {}
    for table in tables:
        columns = (table,) if isinstance(table, str) else tuple(table)
        if not columns or len(set(columns)) != len(columns) or not set(columns) <= set(names):
            raise ParameterError(
                f"each of tables must name different columns of the domain, {', '.join(names)}: got "
                f"{', '.join(map(str, columns)) or 'none'}."
            )
        if len(columns) > _LONGEST:
            raise ParameterError(f"a table must have at most {_LONGEST} columns: got {len(columns)}. Leave some out.")
        asked[tuple(sorted(names.index(name) for name in columns))] = None
    return sorted(asked, key=lambda table: (len(table), table))
