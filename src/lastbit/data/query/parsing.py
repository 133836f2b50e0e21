"""From the text of a query to its tree, by DuckDB's own parser.

The parser hands its tree over as JSON. Only parts that are on a list here become parts of our tree, and only the tree
becomes SQL: text of the query itself never reaches the engine that has the rows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from lastbit.data.query.operations import CASTS, FUNCTIONS
from lastbit.data.query.refusals import KINDS, of_function, refused
from lastbit.data.query.tree import Column, Constant, Operation, Tree
from lastbit.errors import ParameterError

if TYPE_CHECKING:
    import duckdb

_LONGEST: Final = 10_000
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


@dataclass(frozen=True)
class Selected:
    """A parsed query: a condition, and the columns that it names, in order. A star takes all others as they are."""

    where: Tree | None
    columns: tuple[tuple[str, Tree], ...]
    star: bool


def condition(text: str, option: str = "--where") -> Tree:
    """The tree of a condition.

    >>> condition("age >= 18")
    Operation(name='>=', parts=(Column(name='age'), Constant(value=Fraction(18, 1))))
    """
    # On lines of its own, so that a comment at its end ends there. Without the brackets too, so that none of its own
    # closes them: "true) or (true" is no condition, and must not undo one that stands before it.
    asked = f"\n{_short(text, option)}\n"
    queries = f"SELECT * FROM data WHERE ({asked})", f"SELECT * FROM data WHERE {asked}"  # noqa: S608
    found, bare = (_selected(_parsed(each, option), option, ["data"]) for each in queries)
    if found.where is None or not found.star or found.columns or bare != found:
        raise refused("it must be one condition, such as age >= 18", option)
    return found.where


def joined(*texts: str) -> str:
    """The condition that each of these conditions is true. Each must be one by itself.

    >>> joined("age >= 18"), joined("age >= 18", "sex = 'f' or age > 60")
    ('age >= 18', "(age >= 18) and (sex = 'f' or age > 60)")
    """
    for text in texts:
        condition(text)
    # A comment at the end of one ends with its line.
    closed = [f"({text}\n)" if "--" in text else f"({text})" for text in texts]
    return " and ".join(closed) if len(texts) > 1 else texts[0]


def selection(text: str, tables: Sequence[str], option: str = "--sql") -> Selected:
    """A whole query on one of these names of the table.

    >>> selection("select upper(item) as item from visits", ["visits"]).columns[0][0]
    'item'
    """
    return _selected(_parsed(_short(text, option), option), option, tables)


def _short(text: str, option: str) -> str:
    if len(text) > _LONGEST or "\0" in text:
        raise ParameterError(f"{option} must be at most {_LONGEST:,} characters of text. Make it shorter.")
    return text


@cache
def _parser() -> duckdb.DuckDBPyConnection:
    """An engine that has no rows, and can read no files."""
    import duckdb

    return duckdb.connect(config={"enable_external_access": "false", "lock_configuration": "true"})


def _parsed(text: str, option: str) -> Mapping[str, Any]:
    """The parser's tree of one SELECT."""
    import duckdb

    try:
        with _parser().cursor() as connection:
            answer = connection.execute("SELECT json_serialize_sql(CAST($1 AS VARCHAR))", [text]).fetchone()
        found = json.loads(answer[0] if answer else "{}")
    except (duckdb.Error, ValueError, RecursionError, UnicodeError):
        found = {"error": True}
    if found.get("error", True) or len(found["statements"]) != 1:
        raise ParameterError(
            f"{option} must be SQL that can be read. Text stands in single quotes, and a column's name stands alone or "
            "in double quotes, as in: country = 'DE'"
        )
    node: Mapping[str, Any] = found["statements"][0]["node"]
    return node


def _selected(node: Mapping[str, Any], option: str, tables: Sequence[str]) -> Selected:
    if node["type"] != "SELECT_NODE":
        raise refused(KINDS.get(node["type"], "it is no plain select"), option)
    for modifier in node["modifiers"]:
        raise refused(KINDS.get(modifier["type"], "it does more than select"), option)
    rest = {**node, "cte_map": node["cte_map"]["map"]}
    if node["aggregate_handling"] != "STANDARD_HANDLING" or node["group_expressions"] or node["group_sets"]:
        raise refused("a group looks at other rows", option)
    for part, reason in _PARTS.items():
        if rest.get(part):
            raise refused(reason, option)
    _nothing_else(rest, {"select_list", "from_table", "where_clause", "aggregate_handling", *_PARTS}, option)
    names = _table(node["from_table"], option, tables)
    reading = _Reading(option, names)
    star, columns = False, []
    for each in node["select_list"]:
        if each["class"] == "STAR":
            _nothing_else(each, {"relation_name"}, option, KINDS["STAR"])
            if each["relation_name"] and each["relation_name"] not in names:
                raise refused(f"there is no table {each['relation_name']}", option)
            star = True
            continue
        tree = reading.tree(each)
        name = each["alias"] or (tree.name if isinstance(tree, Column) else "")
        if not name:
            raise refused("a column that is computed needs a name, as in year(date) as year", option, "Name it with as")
        columns.append((name, tree))
    if len({name.lower() for name, _ in columns}) != len(columns):
        raise refused("two columns have one name", option, "Name them apart with as")
    where = None if node["where_clause"] is None else reading.tree(node["where_clause"])
    return Selected(where, tuple(columns), star)


_PARTS: Final = {
    "cte_map": "a query inside a query looks at other rows",
    "modifiers": "it does more than select",
    "group_expressions": "a group looks at other rows",
    "group_sets": "a group looks at other rows",
    "having": "a group looks at other rows",
    "qualify": "a window looks at other rows",
    "sample": "a sample depends on chance",
}


def _table(place: Mapping[str, Any], option: str, tables: Sequence[str]) -> list[str]:
    """The names by which columns may be called."""
    if place["type"] != "BASE_TABLE":
        raise refused(KINDS.get(place["type"], "it must read one table"), option)
    if place["sample"]:
        raise refused(_PARTS["sample"], option)
    _nothing_else(place, {"table_name"}, option, "the table stands alone, without a schema or a time")
    if place["table_name"] not in tables:
        known = " or ".join(tables)
        raise refused(f"there is no table {place['table_name']}", option, f"The table is called {known} here")
    return [place["alias"] or place["table_name"]]


def _nothing_else(node: Mapping[str, Any], known: set[str], option: str, reason: str = "") -> None:
    """Refuse a part of the parser's tree that says more than is read here, also one of a later version."""
    for name, value in node.items():
        if value and name not in known and name not in _PLAIN:
            raise refused(reason or "it says more than a plain query", option)


@dataclass(frozen=True)
class _Reading:
    option: str
    tables: Sequence[str]

    def tree(self, node: Mapping[str, Any], depth: int = 0) -> Tree:
        """The tree of an expression."""
        kind = node["class"]
        if depth > _DEEPEST:
            raise refused("it is nested too deeply", self.option, "Make it shorter")
        read = _KINDS.get(kind)
        if read is None:
            raise refused(KINDS.get(kind, "it says more than a plain query"), self.option)
        parts, known = _children(node)
        _nothing_else(node, known, self.option)
        return read(self, node, [self.tree(each, depth + 1) for each in parts])

    def column(self, node: Mapping[str, Any], _: Sequence[Tree]) -> Tree:
        names = node["column_names"]
        if len(names) == 2 and names[0] in self.tables:
            names = names[1:]
        if len(names) != 1:
            raise refused("a column is called by its name, or by its table and its name", self.option)
        return Column(names[0])

    def constant(self, node: Mapping[str, Any], _: Sequence[Tree]) -> Tree:
        held = node["value"]
        kind, info = held["type"]["id"], held["type"]["type_info"]
        if held["is_null"]:
            return Constant(None)
        value = held["value"]
        if kind in ("VARCHAR", "BOOLEAN"):
            return Constant(value)
        if kind in _WHOLE or kind == "DECIMAL":
            whole = value if isinstance(value, int) else (value["upper"] << 64) + value["lower"]
            return Constant(Fraction(whole, 10 ** (info["scale"] if kind == "DECIMAL" else 0)))
        if kind == "DOUBLE" and math.isfinite(value):
            return Constant(Fraction(value))
        raise refused("a constant must be text, a number, a date, true, false or null", self.option)

    def compared(self, node: Mapping[str, Any], parts: Sequence[Tree]) -> Tree:
        if node["type"] not in _COMPARISONS:
            raise refused("it says more than a plain query", self.option)
        return Operation(_COMPARISONS[node["type"]], tuple(parts))

    def between(self, _: Mapping[str, Any], parts: Sequence[Tree]) -> Tree:
        value, low, high = parts
        return Operation("and", (Operation(">=", (value, low)), Operation("<=", (value, high))))

    def joined(self, node: Mapping[str, Any], parts: Sequence[Tree]) -> Tree:
        return Operation("and" if node["type"] == "CONJUNCTION_AND" else "or", tuple(parts))

    def operator(self, node: Mapping[str, Any], parts: Sequence[Tree]) -> Tree:
        kind = node["type"]
        if kind in ("COMPARE_IN", "COMPARE_NOT_IN"):
            value, *others = parts
            found = Operation("or", tuple(Operation("=", (value, other)) for other in others))
            return found if kind == "COMPARE_IN" else Operation("not", (found,))
        if kind == "OPERATOR_TRY":
            return parts[0]
        if kind not in _OPERATORS:
            raise refused("lists and structs are not read here", self.option)
        return Operation(_OPERATORS[kind], tuple(parts))

    def cast(self, node: Mapping[str, Any], parts: Sequence[Tree]) -> Tree:
        kind = CASTS.get(node["cast_type"]["id"])
        if kind is None:
            known = "bigint, double, varchar, date, timestamp and boolean"
            raise refused(
                f"there is no cast to {node['cast_type']['id'].lower()} here", self.option, f"There is {known}"
            )
        if kind == "as truth" and parts == [Constant("t")]:  # the parser's way to say true
            return Constant(True)
        if kind == "as truth" and parts == [Constant("f")]:
            return Constant(False)
        return Operation(kind, tuple(parts))

    def case(self, _: Mapping[str, Any], parts: Sequence[Tree]) -> Tree:
        return Operation("case", tuple(parts))

    def function(self, node: Mapping[str, Any], parts: Sequence[Tree]) -> Tree:
        name = node["function_name"].lower()
        if node["schema"] not in ("", "main") or name not in FUNCTIONS:
            raise of_function(name, self.option, sorted(FUNCTIONS))
        least, most = FUNCTIONS[name][1]
        if not least <= len(parts) <= most:
            raise refused(f"{name} takes {least if least == most else f'{least} to {most}'} arguments", self.option)
        return Operation(FUNCTIONS[name][0], tuple(parts))


def _children(node: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]], set[str]]:
    """The expressions inside an expression, and all that it may say."""
    kind = node["class"]
    if kind == "COMPARISON":
        return [node["left"], node["right"]], {"left", "right"}
    if kind == "BETWEEN":
        return [node["input"], node["lower"], node["upper"]], {"input", "lower", "upper"}
    if kind == "CAST":
        return [node["child"]], {"child", "cast_type", "try_cast"}
    if kind == "CASE":
        checks = [each for check in node["case_checks"] for each in (check["when_expr"], check["then_expr"])]
        return [*checks, node["else_expr"]], {"case_checks", "else_expr"}
    if kind == "FUNCTION":
        # An empty order is said, too.
        orders = node["order_bys"]["orders"] if node["order_bys"] else []
        known = {"function_name", "schema", "children", "is_operator"} | (set() if orders else {"order_bys"})
        return node["children"], known
    return node.get("children", []), {"children", "column_names", "value"}


_KINDS: Final = {
    "COLUMN_REF": _Reading.column,
    "CONSTANT": _Reading.constant,
    "COMPARISON": _Reading.compared,
    "BETWEEN": _Reading.between,
    "CONJUNCTION": _Reading.joined,
    "OPERATOR": _Reading.operator,
    "CAST": _Reading.cast,
    "CASE": _Reading.case,
    "FUNCTION": _Reading.function,
}
