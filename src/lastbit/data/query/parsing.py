"""From the text of a query to its tree, by DuckDB's own parser.

The parser hands its tree over as JSON. Only parts that are on a list (`expressions`) become parts of our tree, and only
the tree becomes SQL: text of the query itself never reaches the engine that has the rows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from lastbit.data.query.expressions import ExpressionParser, refuse_more
from lastbit.data.query.person_expressions import PersonExpressionParser, quote_words
from lastbit.data.query.refusals import REASONS, refusal
from lastbit.data.query.tree import Column, Tree
from lastbit.data.sql import quote_text
from lastbit.errors import ParameterError

if TYPE_CHECKING:
    import duckdb

_LONGEST: Final = 10_000


@dataclass(frozen=True)
class ParsedQuery:
    """A parsed query: a condition, and the columns that it names, in order. A star takes all others as they are."""

    where: Tree | None
    columns: tuple[tuple[str, Tree], ...]
    star: bool


def parse_condition(text: str, option: str = "--where") -> Tree:
    """Return the tree of a condition.

    >>> parse_condition("age >= 18")
    Operation(name='>=', parts=(Column(name='age'), Constant(value=Fraction(18, 1))))
    """
    # On lines of its own, so that a comment at its end ends there. Without the brackets too, so that none of its own
    # closes them: "true) or (true" is no condition, and must not undo one that stands before it.
    lines = f"\n{_check_length(text, option)}\n"
    queries = f"SELECT * FROM data WHERE ({lines})", f"SELECT * FROM data WHERE {lines}"  # noqa: S608
    query, bare = (_read_select(_parse_sql(text, option), option, ["data"]) for text in queries)
    if query.where is None or not query.star or query.columns or bare != query:
        raise refusal("it must be one condition, such as age >= 18", option)
    return query.where


def parse_expression(text: str, option: str = "--by") -> Tree:
    """Return the tree of one expression.

    >>> parse_expression("age // 10")
    Operation(name='//', parts=(Column(name='age'), Constant(value=Fraction(10, 1))))
    """
    lines = f"\n{_check_length(text, option)}\n"  # as in a condition
    queries = f"SELECT ({lines}) AS made FROM data", f"SELECT {lines} AS made FROM data"  # noqa: S608
    query, bare = (_read_select(_parse_sql(text, option), option, ["data"]) for text in queries)
    if query.where is not None or query.star or len(query.columns) != 1 or bare != query:
        raise refusal("it must be one expression, such as hour(arrival)", option)
    return query.columns[0][1]


def parse_person_expression(text: str, unit: Sequence[str], option: str = "--let") -> Tree:
    """Return the tree of an expression of the rows of one person, whom these columns tell apart.

    >>> parse_person_expression("count(*) > 3", ["patient"]).parts[0]
    PersonOperation(name='count', parts=(), orders=(), condition=None, distinct=False, offset=1)
    """
    lines = f"\n{quote_words(_check_length(text, option))}\n"  # as in a condition
    queries = f"SELECT ({lines}) AS made FROM data", f"SELECT {lines} AS made FROM data"  # noqa: S608
    parser = PersonExpressionParser(option, ["data"], tuple(unit))
    query, bare = (_read_select(_parse_sql(text, option), option, ["data"], parser) for text in queries)
    if query.where is not None or query.star or len(query.columns) != 1 or bare != query:
        raise refusal("it must be one expression, such as count(*)", option, "Write one --let for each column")
    return query.columns[0][1]


def check_name(name: str, option: str = "--let") -> None:
    """Refuse a name that no expression can call a column by, as it is a word of SQL.

    >>> check_name("visits")
    """
    try:
        tree = parse_expression(name, option)
    except ParameterError:
        tree = None
    if tree != Column(name):
        raise ParameterError(f"{option} must have another name than {name!r}, which is a word of SQL: {name}_ will do.")


def join_conditions(*texts: str) -> str:
    """Return the condition that each of these conditions is true. Each must be one by itself.

    >>> join_conditions("age >= 18"), join_conditions("age >= 18", "sex = 'f' or age > 60")
    ('age >= 18', "(age >= 18) and (sex = 'f' or age > 60)")
    """
    for text in texts:
        parse_condition(text)
    # A comment at the end of one ends with its line.
    closed = [f"({text}\n)" if "--" in text else f"({text})" for text in texts]
    return " and ".join(closed) if len(texts) > 1 else texts[0]


def parse_select(text: str, tables: Sequence[str], option: str = "--sql") -> ParsedQuery:
    """Return a whole query on one of these names of the table.

    >>> parse_select("select upper(item) as item from visits", ["visits"]).columns[0][0]
    'item'
    """
    return _read_select(_parse_sql(_check_length(text, option), option), option, tables)


def _check_length(text: str, option: str) -> str:
    if len(text) > _LONGEST or "\0" in text:
        raise ParameterError(f"{option} must be at most {_LONGEST:,} characters of text. Make it shorter.")
    return text


@cache
def _parser() -> duckdb.DuckDBPyConnection:
    """Return an engine that has no rows, and can read no files."""
    import duckdb

    return duckdb.connect(config={"enable_external_access": "false", "lock_configuration": "true"})


def _parse_sql(text: str, option: str) -> Mapping[str, Any]:
    """Return the parser's tree of one SELECT."""
    import duckdb

    try:
        with _parser().cursor() as connection:
            # Quoted, and no parameter: DuckDB would load pandas to see whether the text is one of its types.
            answer = connection.execute(f"SELECT json_serialize_sql({quote_text(text)})").fetchone()
        tree = json.loads(answer[0] if answer else "{}")
    except (duckdb.Error, ValueError, RecursionError, UnicodeError):
        tree = {"error": True}
    if tree.get("error", True) or len(tree["statements"]) != 1:
        raise ParameterError(
            f"{option} must be SQL that can be read. Text stands in single quotes, and a column's name stands alone or "
            "in double quotes, as in: country = 'DE'"
        )
    node: Mapping[str, Any] = tree["statements"][0]["node"]
    return node


def _read_select(
    node: Mapping[str, Any], option: str, tables: Sequence[str], parser: ExpressionParser | None = None
) -> ParsedQuery:
    if node["type"] != "SELECT_NODE":
        raise refusal(REASONS.get(node["type"], "it is no plain select"), option)
    for modifier in node["modifiers"]:
        raise refusal(REASONS.get(modifier["type"], "it does more than select"), option)
    rest = {**node, "cte_map": node["cte_map"]["map"]}
    if node["aggregate_handling"] != "STANDARD_HANDLING" or node["group_expressions"] or node["group_sets"]:
        raise refusal("a group looks at other rows", option)
    for part, reason in _PARTS.items():
        if rest.get(part):
            raise refusal(reason, option)
    refuse_more(rest, {"select_list", "from_table", "where_clause", "aggregate_handling", *_PARTS}, option)
    names = _table(node["from_table"], option, tables)
    reading = ExpressionParser(option, names) if parser is None else parser
    star, columns = False, []
    for expression in node["select_list"]:
        if expression["class"] == "STAR":
            refuse_more(expression, {"relation_name"}, option, REASONS["STAR"])
            if expression["relation_name"] and expression["relation_name"] not in names:
                raise refusal(f"there is no table {expression['relation_name']}", option)
            star = True
            continue
        tree = reading.tree(expression)
        name = expression["alias"] or (tree.name if isinstance(tree, Column) else "")
        if not name:
            raise refusal("a column that is computed needs a name, as in year(date) as year", option, "Name it with as")
        columns.append((name, tree))
    if len({name.lower() for name, _ in columns}) != len(columns):
        raise refusal("two columns have one name", option, "Name them apart with as")
    where = None if node["where_clause"] is None else reading.tree(node["where_clause"])
    return ParsedQuery(where, tuple(columns), star)


_PARTS: Final = {
    "cte_map": "a query inside a query looks at other rows",
    "modifiers": "it does more than select",
    "group_expressions": "a group looks at other rows",
    "group_sets": "a group looks at other rows",
    "having": "a group looks at other rows",
    "qualify": "a window looks at other rows",
    "sample": "a sample depends on chance",
}


def _table(node: Mapping[str, Any], option: str, tables: Sequence[str]) -> list[str]:
    """Return the names by which columns may be called."""
    if node["type"] != "BASE_TABLE":
        raise refusal(REASONS.get(node["type"], "it must read one table"), option)
    if node["sample"]:
        raise refusal(_PARTS["sample"], option)
    refuse_more(node, {"table_name"}, option, "the table stands alone, without a schema or a time")
    if node["table_name"] not in tables:
        known = " or ".join(tables)
        raise refusal(f"there is no table {node['table_name']}", option, f"The table is called {known} here")
    return [node["alias"] or node["table_name"]]
