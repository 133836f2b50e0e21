"""What a person asks of the rows before they are counted: a filter, columns of their own, months, bins.

A plan says which columns it needs of the table, and makes the columns wanted of them, row by row. It never looks at
two rows at once, so one person's rows change only what that person contributes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from lastbit.data.long_texts import duckdb_text
from lastbit.data.query.operations import truth_of, value_of
from lastbit.data.query.parsing import Selected, condition, selection
from lastbit.data.query.tree import Column, Constant, Operation, Tree, columns_of
from lastbit.data.query.values import Kind, Value, of_column
from lastbit.data.relation import Opened, Wanted, number_of
from lastbit.data.sorting import quoted
from lastbit.errors import DataError, LastbitError, ParameterError
from lastbit.exact.numbers import number

TABLE: Final = "data"
"""The name that the table always has in a query."""

_WIDEST: Final = 10**12


@dataclass(frozen=True)
class Plan:
    """A filter and columns that are made of one row. Built from public words only.

    >>> plan = Plan.of(where="age >= 18", times={"date": "month"})
    >>> plan.source(Wanted(("date", "patient"))).names
    ('date', 'patient', 'age')
    """

    where: tuple[Tree, ...] = ()
    selected: Selected | None = None
    cut: tuple[tuple[str, Operation], ...] = ()
    """Columns that stand for their months, or for bins."""
    comma: bool = False
    """Whether numbers in text have a comma before their fraction."""

    @classmethod
    def of(
        cls,
        *,
        where: str | None = None,
        sql: str | None = None,
        tables: Sequence[str] = (),
        times: Mapping[str, str] | None = None,
        bins: tuple[str, str] | None = None,
        comma: bool = False,
    ) -> Plan:
        """Read the words of a plan; refuse what looks at more than one row. Nothing else is read for this.

        times: for a column, "day", "week", "month" or "year", in whose place it stands.
        """
        selected = None if sql is None else selection(sql, [*dict.fromkeys([*tables, TABLE])])
        conditions = [] if where is None else [condition(where)]
        if selected is not None and selected.where is not None:
            conditions.append(selected.where)
        cut: dict[str, Operation] = {}
        for name, unit in (times or {}).items():
            cut[name] = Operation(f"text of {unit}", (Column(name),))
        if bins is not None:
            name, width = bins[0], number(bins[1], "--bin")
            if width.denominator != 1 or not 1 <= width <= _WIDEST:
                raise ParameterError(f"--bin must have a whole width from 1 on: got {bins[1]}. Write --bin age 10.")
            if name in cut:
                raise ParameterError(f"--bin and a unit of time must be for different columns: got {name!r} for both.")
            cut[name] = Operation("bin", (Column(name), Constant(Fraction(width))))
        return cls(tuple(conditions), selected, tuple(cut.items()), comma)

    @property
    def does_nothing(self) -> bool:
        """Whether the rows stay as they are."""
        return not self.where and self.selected is None and not self.cut

    def source(self, wanted: Wanted) -> Wanted:
        """The columns that the table must have for the columns wanted."""
        for name, _ in self.cut:
            if name not in wanted.names:
                raise ParameterError(
                    f"there is no use for the column {name!r} in days, weeks, months, years or bins: the columns that "
                    f"are read are {', '.join(wanted.names)}. Name one of these."
                )
        made = self._made(wanted)
        weights = None
        plain = [name for each, tree in made.items() if each != wanted.weights for name in columns_of(tree)]
        if wanted.weights is not None:
            tree = made[wanted.weights]
            # Read as weights are, where nothing is computed with it.
            if isinstance(tree, Column) and tree.name not in plain:
                weights = tree.name
            else:
                plain += columns_of(tree)
        conditions = [name for tree in self.where for name in columns_of(tree)]
        plain += [name for name in conditions if name != weights]
        names = tuple(dict.fromkeys(plain))
        return replace(wanted, columns=names, weights=weights, conditions=tuple(conditions))

    def check_counts(self, counts: str, wanted: Wanted) -> None:
        """Refuse to look at a column of counts: a row that enters or leaves with its count moves by all of it."""
        made = self._made(wanted)
        tree = made.pop(counts)
        used = {name for each in (*self.where, *made.values()) for name in columns_of(each)}
        if not isinstance(tree, Column) or tree.name in used:
            raise ParameterError(
                f"a filter or a query must not use the column of --counts: {counts!r} is counted as it is. Otherwise "
                "one person could move a count by more than --sensitivity says. Nothing was read."
            )

    def applied(self, opened: Opened, wanted: Wanted) -> Opened:
        """The rows that the filter keeps, with the columns wanted."""
        relation = opened.relation
        kinds = dict(zip(relation.columns, relation.types, strict=True))
        columns = {name: of_column(name, kind.id, self.comma) for name, kind in kinds.items()}
        chosen = [
            f"{self._final(tree, columns, kinds, name == wanted.weights)} AS {quoted(name)}"
            for name, tree in self._made(wanted).items()
        ]
        conditions = [truth_of(value_of(tree, columns)).sql for tree in self.where]
        # Nothing in it raises. If it did, the row would be left out.
        kept = f"TRY({' AND '.join(conditions)})" if conditions else "true"
        try:
            return opened.changed(lambda rows: rows.filter(kept).project(", ".join(chosen)))
        except LastbitError:
            raise
        except Exception as error:
            problem = type(error).__name__
        raise DataError(f"the engine does not take this query: {problem}. Make it plainer.")

    def _made(self, wanted: Wanted) -> dict[str, Tree]:
        """For each column wanted, what it is made of."""
        if self.selected is None:
            made: dict[str, Tree] = {name: Column(name) for name in wanted.names}
        else:
            given = dict(self.selected.columns)
            if not self.selected.star:
                wanted.check(list(given))
            made = {name: given.get(name, Column(name)) for name in wanted.names}
        cuts = dict(self.cut)
        return {name: _inserted(cuts[name], tree) if name in cuts else tree for name, tree in made.items()}

    def _final(self, tree: Tree, columns: Mapping[str, Value], kinds: Mapping[str, Any], weights: bool) -> str:
        if isinstance(tree, Column) and not (weights and columns[tree.name].kind is Kind.TEXT):
            return quoted(tree.name)
        value = value_of(tree, columns)
        if weights and value.kind is Kind.TEXT:
            return f"TRY({number_of(value.sql, comma=value.comma)})"
        if value.kind is Kind.OTHER:
            return value.sql
        made = f"TRY(TRY_CAST({value.sql} AS {_FINAL[value.kind]}))"
        return duckdb_text(made) if value.kind is Kind.TEXT else made


_FINAL: Final = {
    Kind.TEXT: "VARCHAR",
    Kind.WHOLE: "BIGINT",
    Kind.NUMBER: "DOUBLE",
    Kind.DATE: "DATE",
    Kind.MOMENT: "TIMESTAMP",
    Kind.TRUTH: "BOOLEAN",
    Kind.NOTHING: "VARCHAR",
}


def _inserted(cut: Operation, tree: Tree) -> Operation:
    """A cut of a column that is itself made of others."""
    return replace(cut, parts=(tree, *cut.parts[1:]))
