"""Expressions of `--let`: what one row holds, and what all rows of the same person hold. Nothing reaches further."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from lastbit.data.query.expressions import FUNCTIONS, ExpressionParser, refuse_more
from lastbit.data.query.refusals import refusal
from lastbit.data.query.tree import Column, Constant, Order, PersonOperation, Tree

_MOST_OFFSET: Final = 1000

AGGREGATES: Final[dict[str, tuple[str, int]]] = {
    "count_star": ("count", 0),
    "count": ("count", 1),
    "sum": ("sum", 1),
    "avg": ("avg", 1),
    "mean": ("avg", 1),
    "min": ("min", 1),
    "max": ("max", 1),
    "any": ("any", 1),
    "bool_or": ("any", 1),
    "all": ("all", 1),
    "bool_and": ("all", 1),
    "first": ("first", 1),
    "latest": ("latest", 1),
    "last": ("latest", 1),
    "arg_min": ("first", 2),
    "min_by": ("first", 2),
    "arg_max": ("latest", 2),
    "max_by": ("latest", 2),
}
"""Functions of all rows of a person: the operation of each, and how many arguments it takes."""
POSITIONS: Final = {"lag": 1, "lead": 1, "row_number": 0, "rank": 0, "dense_rank": 0}
"""Functions of a row's place among the rows of its person, with how many arguments each takes."""
_SHOWN: Final = "count, sum, avg, min, max, any, all, first, latest, lag, lead, row_number, rank and dense_rank"

_WORDS: Final = re.compile(
    r"""(?isx)'(?:[^']|'')*' | "(?:[^"]|"")*" | --[^\n]* | /\*.*?\*/ | (?P<word>\b(?:any|all))(?=\s*\()"""
)


def quote_words(text: str) -> str:
    """Return an expression in which any(…) and all(…) are functions: the parser has other uses for these words.

    >>> quote_words("any(kind = 'any(x)')")
    '"any"(kind = \\'any(x)\\')'
    """
    return _WORDS.sub(lambda match: f'"{match["word"].lower()}"' if match["word"] else match[0], text)


@dataclass(frozen=True)
class PersonExpressionParser(ExpressionParser):
    """Reads the expressions of one `--let`, for people that these columns tell apart."""

    unit: Sequence[str] = ()
    inside: bool = False
    """Whether this is a part of an operation on all rows of a person, which has none inside."""

    def tree(self, node: Mapping[str, Any], depth: int = 0) -> Tree:
        """Return the tree of an expression."""
        is_window = node["class"] == "WINDOW"
        if not is_window and node["class"] != "FUNCTION":
            return super().tree(node, depth)
        name = node["function_name"].lower()
        is_own = node["schema"] in ("", "main") and not node.get("catalog")
        if not is_window and is_own and name in FUNCTIONS:
            return super().tree(node, depth)
        if not is_own or name not in (POSITIONS if is_window and name in POSITIONS else AGGREGATES):
            if is_own and name in POSITIONS:
                raise self._refuse(f"{name} needs an order", f"Write {name}(…) over (order by day)")
            raise self._refuse(
                f"there is no function {name[:40]} here",
                f"Those of a person's rows are {_SHOWN}; those of one row are the same as in --where",
            )
        if self.inside:
            raise self._refuse(f"{name} stands inside another function of rows", "Make it a --let of its own first")
        return self._read_window(node, name) if is_window else self._read_aggregate(node, name)

    def _refuse(self, reason: str, rule: str = "") -> Exception:
        return refusal(reason, self.option, rule)

    def _read_aggregate(self, node: Mapping[str, Any], name: str) -> Tree:
        known = {"function_name", "schema", "children", "is_operator", "order_bys", "distinct", "filter"}
        refuse_more(node, known, self.option)
        orders = node["order_bys"]["orders"] if node["order_bys"] else []
        if orders and AGGREGATES[name][0] not in ("first", "latest"):
            raise self._refuse(f"{name} has no order inside", f"Write {name}(…) over (order by …)")
        return self._build(node, name, self._orders(orders), node["filter"])

    def _read_window(self, node: Mapping[str, Any], name: str) -> Tree:
        if node["ignore_nulls"] or node["default_expr"]:
            raise self._refuse("lag and lead take the row as it is", "Use coalesce around them")
        frame = node["start"], node["end"], node["exclude_clause"]
        if frame != ("UNBOUNDED_PRECEDING", "CURRENT_ROW_RANGE", "NO_OTHER") or node["start_expr"] or node["end_expr"]:
            raise self._refuse("a window has no frame here", "It reaches from the person's first row to this one")
        known = {"function_name", "schema", "children", "partitions", "orders", "start", "end", "exclude_clause"}
        refuse_more(node, known | {"offset_expr", "filter_expr", "distinct"}, self.option)
        self._check_partitions(node["partitions"])
        orders = self._orders(node["orders"])
        if name in POSITIONS:
            if not orders:
                raise self._refuse(f"{name} needs an order", f"Write {name}(…) over (order by day)")
            if len(node["children"]) != POSITIONS[name] or node["filter_expr"] or node["distinct"]:
                raise self._refuse(f"{name} takes {POSITIONS[name] or 'no'} column, and nothing else")
            parts = self._parts(node["children"])
            return PersonOperation(name, parts, orders, offset=self._offset(node["offset_expr"]))
        if AGGREGATES[name][0] in ("first", "latest") or (node["distinct"] and orders):
            example = "Write it without over, as in first(x order by day)"
            raise self._refuse(f"{name} has no order of its own here", example)
        if not node["children"] and name == "count":
            name = "count_star"
        return self._build(node, name, orders, node["filter_expr"])

    def _build(self, node: Mapping[str, Any], name: str, orders: tuple[Order, ...], condition: Any) -> Tree:
        operation, count = AGGREGATES[name]
        parts = self._parts(node["children"])
        if len(parts) != count:
            raise self._refuse(f"{name} takes {count} argument{'' if count == 1 else 's'}")
        if count == 2:
            parts, orders = parts[:1], (Order(parts[1]), *orders)
        if operation in ("first", "latest") and (len(orders) != 1 or orders[0] != Order(orders[0].tree)):
            example = f"Write {operation}(cost order by day)"
            raise self._refuse(f"{operation} needs one order, from the smallest on", example)
        if node["distinct"] and name != "count":
            raise self._refuse(f"{name} has no distinct here", "There is count(distinct x)")
        where = None if condition is None else self._inner.tree(condition)
        return PersonOperation(operation, parts, orders, where, bool(node["distinct"]))

    @property
    def _inner(self) -> PersonExpressionParser:
        return replace(self, inside=True)

    def _parts(self, nodes: Sequence[Mapping[str, Any]]) -> tuple[Tree, ...]:
        return tuple(self._inner.tree(node) for node in nodes)

    def _orders(self, nodes: Sequence[Mapping[str, Any]]) -> tuple[Order, ...]:
        orders = []
        for node in nodes:
            refuse_more(node, {"type", "null_order", "expression"}, self.option)
            tree = self._inner.tree(node["expression"])
            if isinstance(tree, Constant):
                raise self._refuse("an order by a constant orders nothing", "Name a column")
            first = node["null_order"] in ("NULLS FIRST", "NULLS_FIRST", "ORDER_NULLS_FIRST")
            orders.append(Order(tree, node["type"] == "DESCENDING", first))
        return tuple(orders)

    def _offset(self, node: Mapping[str, Any] | None) -> int:
        if node is None:
            return 1
        tree = self._inner.tree(node)
        value = tree.value if isinstance(tree, Constant) and not isinstance(tree.value, bool | str) else None
        if value is None or value.denominator != 1 or not 1 <= value <= _MOST_OFFSET:
            reason = f"lag and lead reach a whole number of rows from 1 to {_MOST_OFFSET:,}"
            raise self._refuse(reason, "Write lag(x, 2)")
        return int(value)

    def _check_partitions(self, nodes: Sequence[Mapping[str, Any]]) -> None:
        """Refuse a window over anything but the rows of one person. To say so is allowed."""
        trees = [self._inner.tree(node) for node in nodes]
        names = {tree.name for tree in trees if isinstance(tree, Column)}
        if trees and (len(names) != len(trees) or names != set(self.unit)):
            rule = "Over is always over the rows of one person: leave partition by out"
            raise self._refuse("partition by reaches over people", rule)
