"""Operations on all rows of one person, as SQL that cannot raise, whatever the order of the rows in a file.

Sums are exact: of whole numbers of 64 bits in 128, and of others in millionths. Where an order leaves two rows alike,
the other columns that the question reads decide between them, so only rows that are the same in all of them are
interchangeable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from lastbit.data.query.operations import require_condition, translate
from lastbit.data.query.refusals import refusal
from lastbit.data.query.tree import Column, Order, PersonOperation, column_names
from lastbit.data.query.values import NUMBERS, SqlType, Value, convert, make_value
from lastbit.data.sql import quote_identifier

_MILLIONTHS: Final = 10**6
_BARE: Final = (SqlType.INTEGER, SqlType.DATE, SqlType.TIMESTAMP, SqlType.BOOLEAN)
"""Types that the engine orders without a second form of any value."""
_LARGEST: Final = 10**15
"""A number that is not whole and lies beyond this is missing in a sum."""


@dataclass(frozen=True)
class PersonRows:
    """The rows of one person in SQL: the columns of one of them, and what puts them together."""

    columns: Mapping[str, Value]
    people: Sequence[str]
    """The normal form of whom a row belongs to, in SQL."""
    ties: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What decides between rows that an order leaves alike: every column in its normal form, in SQL."""
    read_once: bool = False
    """Whether the rows can be read once only, as those of a stream."""
    grouped: bool = False
    """Whether rows are grouped by person, so that each person has one: no order and no place among rows then."""

    def value(self, operation: PersonOperation) -> Value:
        """Return the value of an operation."""
        if operation.name in ("lag", "lead"):
            (part,) = self._parts(operation)
            over = self._over(operation.orders, self._break_ties(operation))
            return make_value(f"{operation.name}({part.sql}, {operation.offset}){over}", part.type, part)
        if operation.name in ("row_number", "rank", "dense_rank"):
            ties = self._break_ties(operation) if operation.name == "row_number" else ()
            over = self._over(operation.orders, ties)
            return make_value(f"CAST({operation.name}(){over} AS HUGEINT)", SqlType.INTEGER)
        write: Callable[[PersonOperation], Value] = getattr(self, f"_{operation.name}")
        return write(operation)

    def _count(self, operation: PersonOperation) -> Value:
        inner = "*" if not operation.parts else _plain(translate(operation.parts[0], self.columns))
        distinct = "DISTINCT " if operation.distinct else ""
        return make_value(
            f"CAST({self._aggregate(f'count({distinct}{inner})', operation)} AS HUGEINT)", SqlType.INTEGER
        )

    def _sum(self, operation: PersonOperation) -> Value:
        part, term = self._term(operation)
        total = self._aggregate(f"sum({term})", operation)
        if part.type is SqlType.INTEGER:
            return make_value(total, SqlType.INTEGER)
        return make_value(f"(CAST({total} AS DOUBLE) / {_MILLIONTHS})", SqlType.FLOAT)

    def _avg(self, operation: PersonOperation) -> Value:
        part, term = self._term(operation)
        total, count = (self._aggregate(f"{name}({term})", operation) for name in ("sum", "count"))
        unit = 1 if part.type is SqlType.INTEGER else _MILLIONTHS
        # Without a term the sum is null, and so is the mean.
        return make_value(f"(CAST({total} AS DOUBLE) / greatest({count} * {unit}, 1))", SqlType.FLOAT)

    def _term(self, operation: PersonOperation) -> tuple[Value, str]:
        """Return a number, and the whole number that it adds to an exact sum."""
        part = translate(operation.parts[0], self.columns)
        if part.type not in (*NUMBERS, SqlType.TEXT, SqlType.NULL):
            reason = f"{operation.name} takes numbers, and this is {part.type.value}"
            raise refusal(reason, "--let", "Cast it to double")
        if part.type is SqlType.INTEGER:
            return part, f"TRY_CAST({part.sql} AS BIGINT)"
        part = convert(part, SqlType.FLOAT)
        steps = f"TRY_CAST(round({part.sql} * {_MILLIONTHS}) AS HUGEINT)"
        return part, f"CASE WHEN abs({part.sql}) <= {_LARGEST} THEN {steps} END"

    def _min(self, operation: PersonOperation) -> Value:
        return self._extreme("min", operation)

    def _max(self, operation: PersonOperation) -> Value:
        return self._extreme("max", operation)

    def _extreme(self, name: str, operation: PersonOperation) -> Value:
        (part,) = self._parts(operation)
        if part.type is not SqlType.TEXT:
            return make_value(self._aggregate(f"{name}({_plain(part)})", operation), part.type, part)
        best = self._aggregate(f"{name}({_struct(_order_keys(part))})", operation, f"{part.sql} IS NOT NULL")
        return make_value(f"struct_extract({best}, 'k2')", part.type, part)

    def _any(self, operation: PersonOperation) -> Value:
        return self._truth("bool_or", "false", operation)

    def _all(self, operation: PersonOperation) -> Value:
        return self._truth("bool_and", "true", operation)

    def _truth(self, name: str, empty: str, operation: PersonOperation) -> Value:
        """Return whether something is true of any row, or of all: what is not known of a row is not true of it."""
        condition = require_condition(translate(operation.parts[0], self.columns)).sql
        truth = self._aggregate(f"{name}(coalesce({condition}, false))", operation)
        return make_value(f"coalesce({truth}, {empty})", SqlType.BOOLEAN)

    def _first(self, operation: PersonOperation) -> Value:
        return self._at_end("min", operation)

    def _latest(self, operation: PersonOperation) -> Value:
        return self._at_end("max", operation)

    def _at_end(self, name: str, operation: PersonOperation) -> Value:
        """Return the value of the row at an end of an order. Of several such rows, the smallest or largest value."""
        (part,) = self._parts(operation)
        order = translate(operation.orders[0].tree, self.columns)
        # A missing value counts as larger than others inside a struct: it is the answer where nothing else is.
        known = f"{part.sql} IS {'NOT ' if name == 'max' else ''}NULL"
        keys = [*_order_keys(order), known, *_order_keys(part)]
        row = f"{{{_fields(keys)}, 'value': {_plain(part)}}}"
        best = self._aggregate(f"{name}({row})", operation, f"{order.sql} IS NOT NULL", ordered=False)
        return make_value(f"struct_extract({best}, 'value')", part.type, part)

    def _parts(self, operation: PersonOperation) -> list[Value]:
        """Return the values that an operation takes, of types that can be put in order."""
        parts = [translate(part, self.columns) for part in operation.parts]
        for part in parts:
            if part.type is SqlType.OTHER:
                raise refusal("a column of this type can be asked only whether it is null", "--let")
        return [convert(part, SqlType.TEXT) if part.type is SqlType.NULL else part for part in parts]

    def _aggregate(self, call: str, operation: PersonOperation, needed: str = "", *, ordered: bool = True) -> str:
        """Return an aggregate over all rows of the person, or over those up to this one."""
        conditions = [needed] if needed else []
        if operation.condition is not None:
            conditions.append(require_condition(translate(operation.condition, self.columns)).sql)
        kept = f" FILTER (WHERE {' AND '.join(conditions)})" if conditions else ""
        return f"{call}{kept}{self._over(operation.orders if ordered else ())}"

    def _break_ties(self, operation: PersonOperation) -> list[str]:
        """Return all columns: those of the operation first, so that two questions break ties alike where they can."""
        own = set(column_names(operation))
        ordered = {self._bare_column(order) for order in operation.orders}
        names = sorted(self.ties.keys() - ordered, key=lambda name: (name not in own, name))
        return [key for name in names for key in self.ties[name]]

    def _bare_column(self, order: Order) -> str | None:
        """Return the column by which rows are ordered as it is: then it decides nothing more."""
        tree = order.tree
        return tree.name if isinstance(tree, Column) and self.columns[tree.name].type in _BARE else None

    def _order_keys(self, order: Order) -> list[str]:
        column = self._bare_column(order)
        return _order_keys(translate(order.tree, self.columns)) if column is None else [quote_identifier(column)]

    def _over(self, orders: Sequence[Order], ties: Sequence[str] = ()) -> str:
        if self.grouped:
            return ""
        keys = [
            f"{key} {'DESC' if order.descending else 'ASC'} NULLS {'FIRST' if order.nulls_first else 'LAST'}"
            for order in orders
            for key in self._order_keys(order)
        ]
        keys += [f"{key} ASC NULLS LAST" for key in ties]
        ordered = f" ORDER BY {', '.join(keys)}" if orders else ""
        if not orders and self.read_once:
            # Without an order, the engine would read the rows twice: once to aggregate them, and once to join.
            frame = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
            ordered = f" ORDER BY {', '.join(self.people)} {frame}"
        return f" OVER (PARTITION BY {', '.join(self.people)}{ordered})"


def _plain(value: Value) -> str:
    """Return a value of which equals are the same: there are two zeros among floats."""
    return f"({value.sql} + CAST('0' AS DOUBLE))" if value.type is SqlType.FLOAT else value.sql


def _order_keys(value: Value) -> list[str]:
    """Return what a value is ordered by. Text is ordered as a number where it is one, and by its bytes."""
    if value.type is SqlType.OTHER:
        raise refusal("a column of this type has no order here", "--let", "Order by another column")
    if value.type is SqlType.TEXT:
        # A text that the query states is the same in every row.
        number = "CAST(NULL AS DOUBLE)" if value.stated is not None else convert(value, SqlType.FLOAT).sql
        return [number, value.sql]
    return [_plain(value)]


def _fields(keys: Sequence[str]) -> str:
    return ", ".join(f"'k{number}': {key}" for number, key in enumerate(keys, 1))


def _struct(keys: Sequence[str]) -> str:
    return f"{{{_fields(keys)}}}"
