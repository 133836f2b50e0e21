"""Expressions of a query, from the tree of DuckDB's parser to ours: only parts that are on a list here are taken."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from lastbit.data.query.operations import UNITS
from lastbit.data.query.refusals import REASONS, function_refusal, refusal
from lastbit.data.query.tree import Column, Constant, Operation, Tree

_DEEPEST: Final = 100

_COMPARISONS: Final = {
    "COMPARE_EQUAL": "=",
    "COMPARE_NOTEQUAL": "<>",
    "COMPARE_LESSTHAN": "<",
    "COMPARE_GREATERTHAN": ">",
    "COMPARE_LESSTHANOREQUALTO": "<=",
    "COMPARE_GREATERTHANOREQUALTO": ">=",
    "COMPARE_DISTINCT_FROM": "is distinct from",
    "COMPARE_NOT_DISTINCT_FROM": "is not distinct from",
}

_OPERATORS: Final = {
    "OPERATOR_NOT": "not",
    "OPERATOR_IS_NULL": "is null",
    "OPERATOR_IS_NOT_NULL": "is not null",
    "OPERATOR_COALESCE": "coalesce",
}

_WHOLE: Final = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")

_PLAIN: Final = frozenset({"class", "type", "alias", "query_location"})


FUNCTIONS: Final[dict[str, tuple[str, tuple[int, int]]]] = {
    "+": ("+", (1, 2)),
    "-": ("-", (1, 2)),
    **{sign: (sign, (2, 2)) for sign in ("*", "/", "//", "%", "||", "nullif", "date_trunc", "date_part")},
    "mod": ("%", (2, 2)),
    "~~": ("like", (2, 2)),
    "!~~": ("not like", (2, 2)),
    "~~*": ("ilike", (2, 2)),
    "!~~*": ("not ilike", (2, 2)),
    **{name: (name, (1, 1)) for name in ("abs", "floor", "ceil", "round", "lower", "upper", "length", *UNITS)},
    "ceiling": ("ceil", (1, 1)),
    **{name: (name, (1, 2)) for name in ("trim", "ltrim", "rtrim")},
    "substring": ("substring", (2, 3)),
    "substr": ("substring", (2, 3)),
    **{name: (name, (2, 2)) for name in ("left", "right", "contains", "starts_with", "ends_with")},
    "prefix": ("starts_with", (2, 2)),
    "suffix": ("ends_with", (2, 2)),
    "date_diff": ("date_diff", (3, 3)),
    "datediff": ("date_diff", (3, 3)),
    "datepart": ("date_part", (2, 2)),
    "datetrunc": ("date_trunc", (2, 2)),
}
"""The functions that a query may call: the name of each operation, and how few and how many arguments it takes."""

CASTS: Final = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"), "as whole"),
    **dict.fromkeys(("FLOAT", "DOUBLE", "DECIMAL"), "as number"),
    "VARCHAR": "as text",
    "DATE": "as date",
    "TIMESTAMP": "as moment",
    "BOOLEAN": "as truth",
}


def refuse_more(node: Mapping[str, Any], known: set[str], option: str, reason: str = "") -> None:
    """Refuse a part of the parser's tree that says more than is read here, also one of a later version."""
    for name, value in node.items():
        if value and name not in known and name not in _PLAIN:
            raise refusal(reason or "it says more than a plain query", option)


@dataclass(frozen=True)
class ExpressionParser:
    """Reads the expressions of one query. Errors name the option that the query came with."""

    option: str
    tables: Sequence[str]

    def tree(self, node: Mapping[str, Any], depth: int = 0) -> Tree:
        """Return the tree of an expression."""
        node_class = node["class"]
        if depth > _DEEPEST:
            raise refusal("it is nested too deeply", self.option, "Make it shorter")
        read = _PARSERS.get(node_class)
        if read is None:
            raise refusal(REASONS.get(node_class, "it says more than a plain query"), self.option)
        parts, known = _children(node)
        refuse_more(node, known, self.option)
        return read(self, node, [self.tree(part, depth + 1) for part in parts])

    def _column(self, node: Mapping[str, Any], _: Sequence[Tree]) -> Tree:
        names = node["column_names"]
        if len(names) == 2 and names[0] in self.tables:
            names = names[1:]
        if len(names) != 1:
            raise refusal("a column is called by its name, or by its table and its name", self.option)
        return Column(names[0])

    def _constant(self, node: Mapping[str, Any], _: Sequence[Tree]) -> Tree:
        held = node["value"]
        type_name, info = held["type"]["id"], held["type"]["type_info"]
        if held["is_null"]:
            return Constant(None)
        value = held["value"]
        if type_name in ("VARCHAR", "BOOLEAN"):
            return Constant(value)
        if type_name in _WHOLE or type_name == "DECIMAL":
            whole = value if isinstance(value, int) else (value["upper"] << 64) + value["lower"]
            return Constant(Fraction(whole, 10 ** (info["scale"] if type_name == "DECIMAL" else 0)))
        if type_name == "DOUBLE" and math.isfinite(value):
            return Constant(Fraction(value))
        raise refusal("a constant must be text, a number, a date, true, false or null", self.option)

    def _comparison(self, node: Mapping[str, Any], parts: Sequence[Tree]) -> Tree:
        if node["type"] not in _COMPARISONS:
            raise refusal("it says more than a plain query", self.option)
        return Operation(_COMPARISONS[node["type"]], tuple(parts))

    def _between(self, _: Mapping[str, Any], parts: Sequence[Tree]) -> Tree:
        value, low, high = parts
        return Operation("and", (Operation(">=", (value, low)), Operation("<=", (value, high))))

    def _conjunction(self, node: Mapping[str, Any], parts: Sequence[Tree]) -> Tree:
        return Operation("and" if node["type"] == "CONJUNCTION_AND" else "or", tuple(parts))

    def _operator(self, node: Mapping[str, Any], parts: Sequence[Tree]) -> Tree:
        node_type = node["type"]
        if node_type in ("COMPARE_IN", "COMPARE_NOT_IN"):
            value, *others = parts
            either = Operation("or", tuple(Operation("=", (value, other)) for other in others))
            return either if node_type == "COMPARE_IN" else Operation("not", (either,))
        if node_type == "OPERATOR_TRY":
            return parts[0]
        if node_type not in _OPERATORS:
            raise refusal("lists and structs are not read here", self.option)
        return Operation(_OPERATORS[node_type], tuple(parts))

    def _cast(self, node: Mapping[str, Any], parts: Sequence[Tree]) -> Tree:
        operation = CASTS.get(node["cast_type"]["id"])
        if operation is None:
            known = "bigint, double, varchar, date, timestamp and boolean"
            raise refusal(
                f"there is no cast to {node['cast_type']['id'].lower()} here", self.option, f"There is {known}"
            )
        if operation == "as truth" and parts == [Constant("t")]:  # the parser's way to say true
            return Constant(True)
        if operation == "as truth" and parts == [Constant("f")]:
            return Constant(False)
        return Operation(operation, tuple(parts))

    def _case(self, _: Mapping[str, Any], parts: Sequence[Tree]) -> Tree:
        return Operation("case", tuple(parts))

    def _function(self, node: Mapping[str, Any], parts: Sequence[Tree]) -> Tree:
        name = node["function_name"].lower()
        if node["schema"] not in ("", "main") or name not in FUNCTIONS:
            raise function_refusal(name, self.option, sorted(FUNCTIONS))
        least, most = FUNCTIONS[name][1]
        if not least <= len(parts) <= most:
            raise refusal(f"{name} takes {least if least == most else f'{least} to {most}'} arguments", self.option)
        return Operation(FUNCTIONS[name][0], tuple(parts))


def _children(node: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]], set[str]]:
    """Return the expressions inside an expression, and all that it may say."""
    node_class = node["class"]
    if node_class == "COMPARISON":
        return [node["left"], node["right"]], {"left", "right"}
    if node_class == "BETWEEN":
        return [node["input"], node["lower"], node["upper"]], {"input", "lower", "upper"}
    if node_class == "CAST":
        return [node["child"]], {"child", "cast_type", "try_cast"}
    if node_class == "CASE":
        checks = [
            expression for check in node["case_checks"] for expression in (check["when_expr"], check["then_expr"])
        ]
        return [*checks, node["else_expr"]], {"case_checks", "else_expr"}
    if node_class == "FUNCTION":
        # An empty order is said, too.
        orders = node["order_bys"]["orders"] if node["order_bys"] else []
        known = {"function_name", "schema", "children", "is_operator"} | (set() if orders else {"order_bys"})
        return node["children"], known
    return node.get("children", []), {"children", "column_names", "value"}


_PARSERS: Final = {
    "COLUMN_REF": ExpressionParser._column,
    "CONSTANT": ExpressionParser._constant,
    "COMPARISON": ExpressionParser._comparison,
    "BETWEEN": ExpressionParser._between,
    "CONJUNCTION": ExpressionParser._conjunction,
    "OPERATOR": ExpressionParser._operator,
    "CAST": ExpressionParser._cast,
    "CASE": ExpressionParser._case,
    "FUNCTION": ExpressionParser._function,
}
