"""What a person asks of the rows before they are counted: a filter, columns of their own, months, bins.

A plan says which columns it needs of the table, and makes columns of them, row by row. It never looks at
two rows at once, so one person's rows change only what that person contributes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from lastbit.data.duckdb.bins import bin_label
from lastbit.data.duckdb.columns import DuckDBColumns
from lastbit.data.duckdb.relation import ColumnSelection, OpenTable
from lastbit.data.duckdb.texts import parse_number, shorten_varchar
from lastbit.data.query.operations import require_condition, translate
from lastbit.data.query.parsing import ParsedQuery, parse_condition, parse_expression, parse_select
from lastbit.data.query.steps import run_step
from lastbit.data.query.tree import Column, Constant, Operation, Tree, column_names
from lastbit.data.query.values import SqlType, Value, column_value
from lastbit.data.sql import quote_identifier
from lastbit.errors import ParameterError
from lastbit.exact.numbers import number
from lastbit.values.bins import Bins
from lastbit.values.contribution_bound import ContributionBound

TABLE: Final = "data"
"""The name that the table always has in a query."""

_WIDEST: Final = 10**12

_KEY: Final = "key of"
"""The operation that makes one key of several columns. No query can write it."""
_PART: Final = "lastbit_part_"
_PERSON: Final = "lastbit_person"

_OWN_OPERATIONS: Final = {"hour": "hour"}
"""Units of time that are numbers, and no texts."""


@dataclass(frozen=True)
class RowPlan:
    """A filter and columns that are made of one row. Built from public words only.

    >>> plan = RowPlan.of(where="age >= 18", times={"date": "month"})
    >>> plan.source_columns(ColumnSelection(("date", "patient"))).names
    ('date', 'patient', 'age')
    """

    where: tuple[Tree, ...] = ()
    selected: ParsedQuery | None = None
    cut: tuple[tuple[str, Operation], ...] = ()
    """Columns that stand for their months, or for bins."""
    made: tuple[tuple[str, Tree], ...] = ()
    """Columns that are made of one row, besides those that a query selects."""
    binned: tuple[tuple[str, Bins, str], ...] = ()
    """Columns of numbers that stand for the labels of bins, each with what a missing number counts as."""
    comma: bool = False
    """Whether numbers in text have a comma before their fraction."""
    unit: tuple[str, Operation] | None = None
    """Where a unit has several columns: the column that is one key of them, and what it is made of."""
    most_units: int | None = None
    """How many keys stay of the rows that are alike in the first column of a unit, which names a person."""

    @classmethod
    def of(
        cls,
        *,
        where: str | None = None,
        sql: str | None = None,
        tables: Sequence[str] = (),
        times: Mapping[str, str] | None = None,
        bins: tuple[str, str] | None = None,
        made: Mapping[str, str] | None = None,
        binned: Mapping[str, tuple[Bins, str]] | None = None,
        comma: bool = False,
        unit: tuple[str, Sequence[tuple[str, str | None]]] | None = None,
        most_units: int | None = None,
    ) -> RowPlan:
        """Read the words of a plan; refuse what looks at more than one row. Nothing else is read for this.

        times: for a column, "day", "week", "month", "year", "hour" or "weekday", in whose place it stands.
        made: columns, and the expression of one row that each is. binned: columns of numbers that are read as bins.
        unit: the name of a key of several columns, and these, each with its expression where it has one.
        most_units: how many such keys of one person are read, where the first of these columns names a person.
        """
        selected = None if sql is None else parse_select(sql, [*dict.fromkeys([*tables, TABLE])])
        conditions = [] if where is None else [parse_condition(where)]
        if selected is not None and selected.where is not None:
            conditions.append(selected.where)
        cut: dict[str, Operation] = {}
        for name, period in (times or {}).items():
            cut[name] = Operation(_OWN_OPERATIONS.get(period, f"text of {period}"), (Column(name),))
        if bins is not None:
            name, width = bins[0], number(bins[1], "--bin")
            if width.denominator != 1 or not 1 <= width <= _WIDEST:
                raise ParameterError(f"--bin must have a whole width from 1 on: got {bins[1]}. Write --bin age 10.")
            if name in cut:
                raise ParameterError(f"--bin and a unit of time must be for different columns: got {name!r} for both.")
            cut[name] = Operation("bin", (Column(name), Constant(Fraction(width))))
        twice = next((name for name in binned or () if name in cut), None)
        if twice is not None:
            raise ParameterError(f"--edges must be for another column than --bin and units of time: got {twice!r}.")
        expressions = {name: parse_expression(text) for name, text in (made or {}).items()}
        labels = tuple((name, bins, missing) for name, (bins, missing) in (binned or {}).items())
        key = None
        if unit is not None:
            parts = (Column(name) if text is None else parse_expression(text, "--unit") for name, text in unit[1])
            key = (unit[0], Operation(_KEY, tuple(parts)))
        made_of = tuple(cut.items()), tuple(expressions.items())
        return cls(tuple(conditions), selected, *made_of, labels, comma, key, most_units)

    @property
    def does_nothing(self) -> bool:
        """Whether the rows stay as they are."""
        makes = self.cut or self.made or self.binned or self.unit
        return not self.where and self.selected is None and not makes

    def source_columns(self, columns: ColumnSelection) -> ColumnSelection:
        """Return the columns that the table must have for the columns wanted."""
        for name in (*dict(self.cut), *(name for name, _, _ in self.binned)):
            if name not in columns.names:
                raise ParameterError(
                    f"there is no use for the column {name!r} in days, weeks, months, years, hours, weekdays or bins: "
                    f"the columns that are read are {', '.join(columns.names)}. Name one of these."
                )
        trees = self._column_trees(columns)
        weights = None
        plain = [name for own, tree in trees.items() if own != columns.weights for name in column_names(tree)]
        if columns.weights is not None:
            tree = trees[columns.weights]
            # Read as weights are, where nothing is computed with it.
            if isinstance(tree, Column) and tree.name not in plain:
                weights = tree.name
            else:
                plain += column_names(tree)
        conditions = [name for tree in self.where for name in column_names(tree)]
        plain += [name for name in conditions if name != weights]
        names = tuple(dict.fromkeys(plain))
        return replace(columns, columns=names, weights=weights, conditions=tuple(conditions))

    def check_counts(self, counts: str, columns: ColumnSelection) -> None:
        """Refuse to look at a column of counts: a row that enters or leaves with its count moves by all of it."""
        trees = self._column_trees(columns)
        tree = trees.pop(counts)
        used = {name for part in (*self.where, *trees.values()) for name in column_names(part)}
        if not isinstance(tree, Column) or tree.name in used:
            raise ParameterError(
                f"a filter or a query must not use the column of --counts: {counts!r} is counted as it is. Otherwise "
                "one person could move a count by more than --sensitivity says. Nothing was read."
            )

    def apply(self, table: OpenTable, selection: ColumnSelection) -> OpenTable:
        """Return the rows that the filter keeps, with the columns wanted."""
        relation, trees = table.relation, self._column_trees(selection)
        for tree in self.where:
            _refuse_numbers(tree, table.text_columns)
        bins = {name: (edges, missing) for name, edges, missing in self.binned}
        numbers = [*bins, *([] if selection.weights is None else [selection.weights])]
        for name in numbers:
            if getattr(trees[name], "name", None) in table.text_columns:
                raise ParameterError(
                    f"the column {name!r} must hold numbers: the table declares it as text. Name a column of numbers, "
                    "or make one with --sql and cast. Nothing was charged."
                )
        types = dict(zip(relation.columns, relation.types, strict=True))
        columns = {name: column_value(name, declared.id, self.comma) for name, declared in types.items()}
        parts = {name: _parts_of(tree) for name, tree in trees.items()}
        chosen = [
            f"{self._column_sql(part, columns, name in numbers)} AS {quote_identifier(own)}"
            for name, tree in trees.items()
            for own, part in parts[name].items() or [(name, tree)]
        ]
        conditions = [require_condition(translate(tree, columns)).sql for tree in self.where]
        # Nothing in it raises. If it did, the row would be left out.
        condition = f"TRY({' AND '.join(conditions)})" if conditions else "true"

        lot = None if self.most_units is None else ContributionBound.draw(self.most_units)

        def finish(rows: Any) -> Any:
            if not bins and not any(parts.values()):
                return rows
            made = {name: bin_label(rows, name, *bins[name]) for name in bins}
            made |= {name: _combine(DuckDBColumns(rows, table), own) for name, own in parts.items() if own}
            finished = [
                f"{made[name]} AS {quote_identifier(name)}" if name in made else quote_identifier(name)
                for name in trees
            ]
            if lot is None or self.unit is None:
                return rows.project(", ".join(finished))
            person = DuckDBColumns(rows, table).key(f"{_PART}0")
            rows = rows.project(", ".join([*finished, f"{person} AS {_PERSON}"]))
            return _keep_units(rows, quote_identifier(self.unit[0]), lot).project(
                ", ".join(map(quote_identifier, trees))
            )

        more = self._keep_one_row(table.one_row_each, trees)
        return run_step(table, lambda rows: finish(rows.filter(condition).project(", ".join(chosen))), more)

    def _keep_one_row(self, names: tuple[str, ...], trees: Mapping[str, Tree]) -> tuple[str, ...]:
        """Return the columns that no two rows have alike: those that stay as they are, or the key of all of them."""
        if self.unit is not None and names and {*map(Column, names)} <= {*self.unit[1].parts}:
            return (self.unit[0],)
        binned = {name for name, _, _ in self.binned}
        return names if all(trees.get(name) == Column(name) and name not in binned for name in names) else ()

    def _column_trees(self, columns: ColumnSelection) -> dict[str, Tree]:
        """Return for each column what it is made of."""
        made = dict(self.made if self.unit is None else (*self.made, self.unit))
        trees: dict[str, Tree] = {name: made.get(name, Column(name)) for name in columns.names}
        if self.selected is not None:
            expressions = dict(self.selected.columns)
            if not self.selected.star:
                used = tuple(dict.fromkeys(name for tree in trees.values() for name in column_names(tree)))
                replace(columns, columns=used, weights=None).check(list(expressions))
            trees = {name: _inline(tree, expressions) for name, tree in trees.items()}
        cuts = dict(self.cut)
        return {name: _substitute(cuts[name], tree) if name in cuts else tree for name, tree in trees.items()}

    def _column_sql(self, tree: Tree, columns: Mapping[str, Value], weights: bool) -> str:
        if isinstance(tree, Column) and not (weights and columns[tree.name].type is SqlType.TEXT):
            return quote_identifier(tree.name)
        value = translate(tree, columns)
        if weights and value.type is SqlType.TEXT:
            return f"TRY({parse_number(value.sql, comma=value.comma)})"
        return write_column(value)


def write_column(value: Value) -> str:
    """Return the SQL of a column that is made, in the type that it has in the table."""
    if value.type is SqlType.OTHER:
        return value.sql
    cast = f"TRY(TRY_CAST({value.sql} AS {_FINAL[value.type]}))"
    return shorten_varchar(cast) if value.type is SqlType.TEXT else cast


_FINAL: Final = {
    SqlType.TEXT: "VARCHAR",
    SqlType.INTEGER: "BIGINT",
    SqlType.FLOAT: "DOUBLE",
    SqlType.DATE: "DATE",
    SqlType.TIMESTAMP: "TIMESTAMP",
    SqlType.BOOLEAN: "BOOLEAN",
    SqlType.NULL: "VARCHAR",
}


def _parts_of(tree: Tree) -> dict[str, Tree]:
    """Return the parts of a key by names of their own; nothing for a column that is no key."""
    if not isinstance(tree, Operation) or tree.name != _KEY:
        return {}
    return {f"{_PART}{number}": part for number, part in enumerate(tree.parts)}


def _combine(columns: DuckDBColumns, parts: Mapping[str, Tree]) -> str:
    for name, part in parts.items():
        if columns.column_type(name) is None:
            what = f"the column {part.name!r}" if isinstance(part, Column) else "an expression"
            raise ParameterError(f"{what} of --unit must hold single values, such as text, numbers or dates.")
    return columns.combined_key(list(parts))


def _keep_units(rows: Any, unit: str, lot: ContributionBound) -> Any:
    """Return the rows of so many units of each person: those with the smallest hashes of person, unit and key.

    Whoever has no more keeps all. The rows of one person alone decide which of them stay.
    """
    mark = f"hash(xor(hash({_PERSON}, {unit}), CAST({lot.key} AS UBIGINT)))"
    rank = f"dense_rank() OVER (PARTITION BY {_PERSON} ORDER BY {mark} ASC, {unit} ASC)"
    rows = rows.filter(f"{unit} IS NOT NULL").project(f"*, {rank} AS lastbit_rank")
    return rows.filter(f"lastbit_rank <= {lot.most}")


_COMPARISONS: Final = ("=", "<>", "<", ">", "<=", ">=", "is distinct from", "is not distinct from")


def _refuse_numbers(tree: Tree, texts: frozenset[str]) -> None:
    """Refuse a condition that compares a column with a number, where the table declares the column as text.

    The types are public, and whoever writes so has mistaken the column: no row would match as was meant.
    """
    if not isinstance(tree, Operation):
        return
    if tree.name in _COMPARISONS:
        names = [part.name for part in tree.parts if isinstance(part, Column) and part.name in texts]
        if names and any(isinstance(part, Constant) and isinstance(part.value, Fraction) for part in tree.parts):
            raise ParameterError(
                f"the column {names[0]!r} is declared as text, and --where compares it with a number. Put the number "
                f"in single quotes, or compare cast({names[0]} as double). Nothing was charged."
            )
    for part in tree.parts:
        _refuse_numbers(part, texts)


def _inline(tree: Tree, expressions: Mapping[str, Tree]) -> Tree:
    """Return a tree in which columns that a query makes stand for what they are made of."""
    if isinstance(tree, Column):
        return expressions.get(tree.name, tree)
    if isinstance(tree, Operation):
        return replace(tree, parts=tuple(_inline(part, expressions) for part in tree.parts))
    return tree


def _substitute(cut: Operation, tree: Tree) -> Operation:
    """Return a cut of a column that is itself made of others."""
    return replace(cut, parts=(tree, *cut.parts[1:]))
