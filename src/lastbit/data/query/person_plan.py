"""Columns made of the rows of one person: the `--let` of a question.

What a person's rows are turned into depends on that person's rows and on nothing else. No row is added or left out, but
those that belong to nobody, which no question counts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lastbit.data.duckdb.columns import DuckDBColumns
from lastbit.data.duckdb.relation import ColumnSelection, OpenTable
from lastbit.data.query.operations import translate
from lastbit.data.query.parsing import check_name, parse_person_expression
from lastbit.data.query.person_operations import PersonRows
from lastbit.data.query.plan import write_column
from lastbit.data.query.steps import run_step
from lastbit.data.query.tree import Column, Constant, Operation, PersonOperation, Tree, column_names
from lastbit.data.query.values import SqlType, Value, column_value
from lastbit.data.sql import quote_identifier
from lastbit.errors import ParameterError


@dataclass(frozen=True)
class PersonPlan:
    """Columns of the rows of one person. Built from public words only.

    >>> plan = PersonPlan.of({"visits": "count(*)", "often": "visits > 3"}, ("patient",))
    >>> plan.source_columns(ColumnSelection(("often", "ward"))).names
    ('ward', 'patient')
    """

    unit: tuple[str, ...]
    """The columns that tell people apart."""
    lets: tuple[tuple[str, Tree], ...]
    """The columns that are made, each after those that it is made of."""
    comma: bool = False
    """Whether numbers in text have a comma before their fraction."""

    @classmethod
    def of(cls, lets: Mapping[str, str], unit: Sequence[str], *, comma: bool = False) -> PersonPlan:
        """Read the expressions; refuse what looks at rows of other people. Nothing else is read for this."""
        trees = {name: parse_person_expression(text, unit, f"--let {name}") for name, text in lets.items()}
        for name in trees:
            check_name(name)
        for name in unit:
            if name.lower() in map(str.lower, trees):
                raise ParameterError(f"--let must not make the column of --unit: got {name!r}. Name it differently.")
        return cls(tuple(unit), tuple(_sort(trees)), comma)

    @property
    def new_columns(self) -> tuple[str, ...]:
        """The names of the columns that are made."""
        return tuple(name for name, _ in self.lets)

    @property
    def columns_of_person(self) -> frozenset[str]:
        """The columns that are the same in all rows of a person, whatever the rows are.

        >>> plan = PersonPlan.of({"visits": "count(*)", "often": "visits > 3", "dear": "cost > 9"}, ("patient",))
        >>> sorted(plan.columns_of_person)
        ['often', 'visits']
        """
        known: set[str] = set()
        for name, tree in self.lets:
            if _is_same_in_all_rows(tree, known):
                known.add(name)
        return frozenset(known)

    def source_columns(self, columns: ColumnSelection) -> ColumnSelection:
        """Return the columns that the table must have for the columns wanted."""
        needed = self._find_trees(columns)
        read = [name for tree in needed.values() for name in column_names(tree) if name not in needed]
        weights = columns.weights if columns.weights not in {*needed, *read, *self.unit} else None
        own = [name for name in columns.names if name not in needed and name != weights]
        names = tuple(dict.fromkeys([*own, *read, *self.unit]))
        ColumnSelection((*names, *needed))  # refuses two that differ in capitals only
        conditions = tuple(name for name in columns.conditions if name not in needed)
        # Rows that are alike are several visits of one person.
        return replace(columns, columns=names, weights=weights, conditions=conditions, distinct=False)

    def made_for(self, columns: ColumnSelection) -> list[str]:
        """Return the names of the columns that are made for those wanted."""
        return list(self._find_trees(columns))

    def apply(self, table: OpenTable, selection: ColumnSelection) -> OpenTable:
        """Return the rows with the columns wanted."""
        one_row_each = self.unit if self._is_grouped(selection) else ()
        return run_step(table, lambda rows: self._make(rows, table, selection), one_row_each)

    def _is_grouped(self, selection: ColumnSelection) -> bool:
        """Return whether nothing wanted differs between the rows of a person: then each person has one."""
        needed = self._find_trees(selection)
        names = {name for name in selection.names if name not in needed}
        return selection.distinct and names <= {*self.unit} and _is_of_person(needed)

    def _find_trees(self, columns: ColumnSelection) -> dict[str, Tree]:
        """Return the columns to make for those wanted, in their order."""
        trees, needed = dict(self.lets), set[str]()
        waiting = [*columns.names]
        while waiting:
            name = waiting.pop()
            if name in trees and name not in needed:
                needed.add(name)
                waiting += column_names(trees[name])
        return {name: tree for name, tree in self.lets if name in needed}

    def _make(self, relation: Any, table: OpenTable, selection: ColumnSelection) -> Any:
        needed = self._find_trees(selection)
        own = DuckDBColumns(relation, table)
        # A whole number of 64 bits is its normal form: nothing is carried besides it.
        people = [
            quote_identifier(name) if own.are_words([name]) else f"lastbit_person_{number}"
            for number, name in enumerate(self.unit)
        ]
        columns = [*map(quote_identifier, relation.columns)]
        pairs = zip(self.unit, people, strict=True)
        keys = [f"{own.key(name)} AS {person}" for name, person in pairs if person not in columns]
        rows = relation.project(", ".join([*_join_zeros(relation), *keys]))
        rows = rows.filter(" AND ".join(f"{person} IS NOT NULL" for person in people))
        if self._is_grouped(selection):
            return self._group(rows, people, needed, selection)
        kept = list(relation.columns)
        for layer in _layers(needed):
            rows = self._add_layer(rows, kept, people, layer, table)
            kept += layer
        return rows.project(", ".join(map(quote_identifier, dict.fromkeys(selection.names))))

    def _add_layer(
        self, rows: Any, kept: Sequence[str], people: Sequence[str], layer: Mapping[str, Tree], table: OpenTable
    ) -> Any:
        """Return the rows with columns that need no more than those that are there."""
        own, columns = DuckDBColumns(rows, table), self._values(rows, kept)
        # The rows of a person have one unit, if not in one form.
        alike = own.are_words(list(self.unit)) or all(columns[name].type is SqlType.TEXT for name in self.unit)
        differing = [name for name in kept if not (alike and name in self.unit)]
        person = PersonRows(columns, people, write_ties(rows, table, differing, one_zero=True), own.is_stream)
        operations, trees = _take_out(layer)
        same = [*dict.fromkeys([*map(quote_identifier, kept), *people])]
        if operations:
            values = {name: person.value(operation) for name, operation in operations.items()}
            rows = rows.project(", ".join([*same, *(f"{value.sql} AS {name}" for name, value in values.items())]))
            columns = {**columns, **_refer(values)}
        made = [f"{_write(tree, columns)} AS {quote_identifier(name)}" for name, tree in trees.items()]
        return rows.project(", ".join([*same, *made]))

    def _group(self, rows: Any, people: Sequence[str], needed: Mapping[str, Tree], selection: ColumnSelection) -> Any:
        """Return one row for each person, where nothing wanted differs between the rows of a person."""
        columns = self._values(rows, [name for name in rows.columns if name not in people])
        person = PersonRows(columns, people, grouped=True)
        operations, trees = _take_out(needed)
        values = {name: person.value(operation) for name, operation in operations.items()}
        names = [quote_identifier(name) for name in self.unit]
        pairs = zip(names, people, strict=True)
        unit = [name if name == person else f"any_value({name}) AS {name}" for name, person in pairs]
        chosen = [*unit, *(f"{value.sql} AS {name}" for name, value in values.items())]
        rows = rows.aggregate(", ".join(chosen), ", ".join(people))
        known = _refer(values)
        for layer in _layers(trees):
            made = [f"{_write(tree, known)} AS {quote_identifier(name)}" for name, tree in layer.items()]
            rows = rows.project(", ".join(["*", *made]))
            known |= self._values(rows, list(layer))
        return rows.project(", ".join(map(quote_identifier, dict.fromkeys(selection.names))))

    def _values(self, rows: Any, names: Sequence[str]) -> dict[str, Value]:
        types = dict(zip(rows.columns, rows.types, strict=True))
        return {name: column_value(name, types[name].id, self.comma) for name in names}


def _join_zeros(rows: Any) -> list[str]:
    """Return the columns in SQL, with one zero among floats.

    The engine orders both zeros as one, and gives back what it ordered by. With one of them a float decides between
    rows as it is, which takes a third less time than a second form beside it.
    """
    chosen = []
    for name, declared in zip(rows.columns, rows.types, strict=True):
        column = quote_identifier(name)
        is_float = declared.id in ("float", "double")
        chosen.append(f"{column} + CAST('0' AS {declared.id}) AS {column}" if is_float else column)
    return chosen


def write_ties(rows: Any, table: OpenTable, names: Sequence[str], *, one_zero: bool = False) -> dict[str, list[str]]:
    """Return what decides between rows that an order leaves alike: all columns, in their normal form.

    Two rows that are alike in this are the same in all that the question reads. one_zero: whether floats have one zero.
    """
    own = DuckDBColumns(rows, table)
    types = dict(zip(rows.columns, rows.types, strict=True))
    ties = {}
    for name in names:
        column, declared = quote_identifier(name), types[name].id
        if one_zero and declared in ("float", "double"):
            ties[name] = [column]
            continue
        # No float by itself: the engine would give back what it was ordered by, and there one zero stands for both.
        ties[name] = [column if declared == "varchar" else own.key(name)]
        if declared in ("interval", "float", "double"):  # two values may have one normal form
            ties[name].append(f"CAST({column} AS VARCHAR)" if declared == "interval" else f"signbit({column})")
    return ties


def _write(tree: Tree, columns: Mapping[str, Value]) -> str:
    if isinstance(tree, Column) and columns[tree.name].type is SqlType.OTHER:
        return columns[tree.name].sql
    value = translate(tree, columns)
    # As of the columns of the table, there is one zero.
    return f"{write_column(value)} + CAST('0' AS DOUBLE)" if value.type is SqlType.FLOAT else write_column(value)


def _refer(values: Mapping[str, Value]) -> dict[str, Value]:
    """Return the columns in which values are."""
    return {name: Value(name, value.type, comma=value.comma) for name, value in values.items()}


def _take_out(trees: Mapping[str, Tree]) -> tuple[dict[str, PersonOperation], dict[str, Tree]]:
    """Return the operations on all rows of a person by the names of new columns, and the trees of these columns."""
    operations: dict[str, PersonOperation] = {}

    def visit(tree: Tree) -> Tree:
        if isinstance(tree, PersonOperation):
            name = next((name for name, known in operations.items() if known == tree), f"lastbit_own_{len(operations)}")
            operations[name] = tree
            return Column(name)
        if isinstance(tree, Operation):
            return replace(tree, parts=tuple(map(visit, tree.parts)))
        return tree

    return operations, {name: visit(tree) for name, tree in trees.items()}


def _is_of_person(trees: Mapping[str, Tree]) -> bool:
    """Return whether columns are the same in all rows of a person, and made of columns of the table."""

    def visit(tree: Tree) -> bool:
        if isinstance(tree, PersonOperation):
            return not is_about_place(tree) and not {*column_names(tree)} & trees.keys()
        if isinstance(tree, Operation):
            return all(map(visit, tree.parts))
        return isinstance(tree, Constant) or tree.name in trees

    return all(map(visit, trees.values()))


def _is_same_in_all_rows(tree: Tree, known: Collection[str]) -> bool:
    """Return whether a column is the same in all rows of a person, where those that are known are."""
    if isinstance(tree, PersonOperation):
        return not is_about_place(tree)
    if isinstance(tree, Operation):
        return all(_is_same_in_all_rows(part, known) for part in tree.parts)
    return isinstance(tree, Constant) or tree.name in known


def is_about_place(tree: PersonOperation) -> bool:
    """Return whether an operation depends on the place of a row among the rows of the person."""
    return tree.name in ("lag", "lead") or bool(tree.orders and tree.name not in ("first", "latest"))


def _layers(trees: Mapping[str, Tree]) -> Iterator[dict[str, Tree]]:
    """Yield the columns, those first that are made of no other."""
    waiting = dict(trees)
    while waiting:
        layer = {name: tree for name, tree in waiting.items() if not {*column_names(tree)} & waiting.keys()}
        yield layer
        waiting = {name: tree for name, tree in waiting.items() if name not in layer}


def _sort(trees: Mapping[str, Tree]) -> Iterator[tuple[str, Tree]]:
    """Yield the columns, each after those that it is made of; the order in which they were typed says nothing."""
    waiting = dict(sorted(trees.items()))
    while waiting:
        ready = [name for name, tree in waiting.items() if not {*column_names(tree)} & waiting.keys()]
        if not ready:
            circle = ", ".join(waiting)
            raise ParameterError(
                f"--let must not make a column of itself: got {circle}. Name the new column differently from those "
                "that it is made of. Nothing was read."
            )
        yield from ((name, waiting.pop(name)) for name in ready)
