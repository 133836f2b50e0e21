"""The operations of a query, each written as SQL that cannot raise for any row.

Whole numbers are taken to 64 bits and computed with in 128, where nothing overflows; floats end at infinity; a division
by zero is null; times are within the years 1 to 9999.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Final

from lastbit.data.query.refusals import refusal
from lastbit.data.query.tree import Column, Constant, Operation, Tree
from lastbit.data.query.values import (
    NUMBERS,
    TIMES,
    SqlType,
    Value,
    constant_value,
    convert,
    make_value,
    match_types,
    null_if_nan,
)

Values = Sequence[Value]

UNITS: Final = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
_FIELDS: Final = (*UNITS, "dow", "isodow", "doy")


def translate(tree: Tree, columns: Mapping[str, Value]) -> Value:
    """Return a tree as SQL, over columns of known types."""
    if isinstance(tree, Column):
        return columns[tree.name]
    if isinstance(tree, Constant):
        return constant_value(tree.value)
    if not isinstance(tree, Operation):  # only --let parses such, and takes them out before
        raise refusal("it looks at several rows", "the query")
    return OPERATIONS[tree.name]([translate(part, columns) for part in tree.parts])


def require_condition(value: Value) -> Value:
    """Return a value that is a condition."""
    if value.type not in (SqlType.BOOLEAN, SqlType.NULL):
        problem = f"a condition is true or false, and this is {value.type.value}"
        raise refusal(problem, "the query", "Compare it, as in x = 'yes' or x > 0")
    return convert(value, SqlType.BOOLEAN)


def _compare(sign: str, parts: Values) -> Value:
    left, right = match_types(*parts)
    return make_value(f"({left.sql} {sign} {right.sql})", SqlType.BOOLEAN)


def _conjoin(word: str, parts: Values) -> Value:
    return make_value("(" + f" {word} ".join(require_condition(part).sql for part in parts) + ")", SqlType.BOOLEAN)


def _negate(parts: Values) -> Value:
    return make_value(f"(NOT {require_condition(parts[0]).sql})", SqlType.BOOLEAN)


def _is_null(test: str, parts: Values) -> Value:
    return make_value(f"({parts[0].sql} {test})", SqlType.BOOLEAN)


def _unify(parts: Values) -> list[Value]:
    """Return several values as one type."""
    types = {part.type for part in parts} - {SqlType.NULL}
    if SqlType.OTHER in types:
        raise refusal("a column of this type can be asked only whether it is null", "the query")
    for wide in (set(NUMBERS), set(TIMES)):
        if len(types) > 1 and types <= wide:
            types = {SqlType.FLOAT if SqlType.FLOAT in wide else SqlType.TIMESTAMP}
    if len(types) > 1:
        raise refusal("it gives values of several kinds", "the query", "Cast them to one")
    value_type = next(iter(types), SqlType.TEXT)
    return [convert(part, value_type) for part in parts]


def _coalesce(parts: Values) -> Value:
    values = _unify(parts)
    return make_value(f"coalesce({', '.join(value.sql for value in values)})", values[0].type, *values)


def _nullif(parts: Values) -> Value:
    value, _ = parts
    return make_value(f"CASE WHEN {_compare('=', parts).sql} THEN NULL ELSE {value.sql} END", value.type, value)


def _case(parts: Values) -> Value:
    *checks, last = parts
    conditions = [require_condition(check).sql for check in checks[::2]]
    *results, otherwise = _unify([*checks[1::2], last])
    cases = " ".join(f"WHEN {when} THEN {result.sql}" for when, result in zip(conditions, results, strict=True))
    return make_value(f"(CASE {cases} ELSE {otherwise.sql} END)", otherwise.type, *results, otherwise)


def _cast(value_type: SqlType, parts: Values) -> Value:
    return convert(parts[0], value_type)


def _calculate(sign: str, parts: Values) -> Value:
    """Return arithmetic: of whole numbers in whole numbers, of others in floats. Text is read as a number."""
    if any(part.type not in (*NUMBERS, SqlType.TEXT, SqlType.NULL) for part in parts):
        raise refusal("only numbers are computed with", "the query", "For times there are date_diff and date_trunc")
    if sign != "/" and all(part.type is SqlType.INTEGER for part in parts):
        terms = [f"CAST(TRY_CAST({part.sql} AS BIGINT) AS HUGEINT)" for part in parts]
        return make_value(f"({terms[0]} {sign} {terms[1]})", SqlType.INTEGER)
    left, right = (_unchecked_sql(convert(part, SqlType.FLOAT)) for part in parts)
    if sign in ("/", "//", "%"):
        right = f"nullif({right}, CAST('0' AS DOUBLE))"
    quotient = f"trunc({left} / {right})" if sign == "//" else f"({left} {sign} {right})"
    return _float(quotient)


def _float(sql: str) -> Value:
    return replace(make_value(null_if_nan(sql), SqlType.FLOAT), computed=sql)


def _unchecked_sql(value: Value) -> str:
    return value.computed or value.sql


def _apply_sign(sign: str, parts: Values) -> Value:
    """Return a sign before a number, or an operation on two."""
    if len(parts) == 2:
        return _calculate(sign, parts)
    stated = parts[0].stated
    if isinstance(stated, Fraction):
        return constant_value(-stated if sign == "-" else stated)
    return _calculate(sign, [constant_value(Fraction(0)), parts[0]])


def _round(name: str, parts: Values) -> Value:
    value = parts[0]
    if value.type is SqlType.INTEGER and name != "abs":
        return value
    if value.type is SqlType.INTEGER:
        return make_value(f"abs(CAST(TRY_CAST({value.sql} AS BIGINT) AS HUGEINT))", SqlType.INTEGER)
    return _float(f"{name}({_unchecked_sql(_as_number(value))})")


def _as_number(value: Value) -> Value:
    return value if value.type in NUMBERS else convert(value, SqlType.FLOAT)


def _text_function(name: str, value_type: SqlType, parts: Values) -> Value:
    """Return a function of a text. All but the first argument are constants: a row decides only by its own text."""
    first, *others = parts
    for argument in others:
        if argument.stated is None:
            raise refusal(f"all but the first argument of {name} must be constants", "the query")
    if first.type is not SqlType.TEXT:
        raise refusal(f"{name} takes text, and this is {first.type.value}", "the query", "Cast it to varchar")
    arguments = ", ".join([first.sql, *(_argument(argument) for argument in others)])
    sql = f"{name}({arguments})"
    return make_value(f"CAST({sql} AS HUGEINT)" if value_type is SqlType.INTEGER else sql, value_type, first)


def _argument(value: Value) -> str:
    if value.type is SqlType.INTEGER and abs(value.stated) <= 1_000_000:
        return str(value.stated)
    if value.type is SqlType.TEXT:
        return value.sql
    raise refusal("arguments must be text, or whole numbers up to a million", "the query")


def _like(sign: str, parts: Values) -> Value:
    text, pattern = parts
    if text.type is not SqlType.TEXT or not isinstance(pattern.stated, str):
        raise refusal("like takes a text and a pattern in quotes", "the query")
    return make_value(f"({text.sql} {sign} {pattern.sql})", SqlType.BOOLEAN)


def _concatenate(parts: Values) -> Value:
    if any(part.type not in (SqlType.TEXT, SqlType.NULL) for part in parts):
        raise refusal("only texts are put together", "the query", "Cast others to varchar")
    return make_value("(" + " || ".join(convert(part, SqlType.TEXT).sql for part in parts) + ")", SqlType.TEXT, *parts)


def _as_time(value: Value) -> Value:
    if value.type not in (*TIMES, SqlType.TEXT, SqlType.NULL):
        raise refusal(f"this takes a date, and got {value.type.value}", "the query", "Cast it to date")
    return value if value.type in TIMES else convert(value, SqlType.TIMESTAMP)


def _time_field(name: str, parts: Values) -> Value:
    return make_value(f"CAST(date_part('{name}', {_as_time(parts[-1]).sql}) AS HUGEINT)", SqlType.INTEGER)


def _date_part(parts: Values) -> Value:
    return _time_field(_unit(parts[0], _FIELDS), parts)


def _unit(value: Value, known: Sequence[str]) -> str:
    if value.stated not in known:
        raise refusal("the first argument must name a unit of time", "the query", f"Use one of {', '.join(known)}")
    return str(value.stated)


def _date_trunc(parts: Values) -> Value:
    unit = _unit(parts[0], UNITS)
    cut = f"date_trunc('{unit}', {_as_time(parts[1]).sql})"
    days = unit in ("year", "quarter", "month", "week", "day")
    return make_value(f"CAST({cut} AS {'DATE' if days else 'TIMESTAMP'})", SqlType.DATE if days else SqlType.TIMESTAMP)


def _date_diff(parts: Values) -> Value:
    unit = _unit(parts[0], UNITS)
    start, end = (convert(_as_time(part), SqlType.TIMESTAMP).sql for part in parts[1:])
    return make_value(f"CAST(date_diff('{unit}', {start}, {end}) AS HUGEINT)", SqlType.INTEGER)


def _format_time(form: str, parts: Values) -> Value:
    """Return a time as text: its day, week, month or year."""
    return make_value(f"strftime({convert(_as_time(parts[0]), SqlType.TIMESTAMP).sql}, '{form}')", SqlType.TEXT)


def _bin(parts: Values) -> Value:
    """Return the lower end of the bin that a number is in."""
    value, width = parts
    value = _as_number(value)
    whole = value.sql if value.type is SqlType.INTEGER else f"TRY_CAST(floor({value.sql}) AS HUGEINT)"
    # The engine's division is towards zero: floored where a remainder is negative.
    floor = f"({whole} // {width.stated} - CASE WHEN {whole} % {width.stated} < 0 THEN 1 ELSE 0 END)"
    return make_value(f"CAST(TRY_CAST({floor} AS BIGINT) AS HUGEINT) * {width.stated}", SqlType.INTEGER)


OPERATIONS: Final[dict[str, Callable[[Values], Value]]] = {
    **{sign: partial(_compare, sign.upper()) for sign in ("=", "<>", "<", ">", "<=", ">=")},
    "is distinct from": partial(_compare, "IS DISTINCT FROM"),
    "is not distinct from": partial(_compare, "IS NOT DISTINCT FROM"),
    "and": partial(_conjoin, "AND"),
    "or": partial(_conjoin, "OR"),
    "not": _negate,
    "is null": partial(_is_null, "IS NULL"),
    "is not null": partial(_is_null, "IS NOT NULL"),
    "coalesce": _coalesce,
    "nullif": _nullif,
    "case": _case,
    "as text": partial(_cast, SqlType.TEXT),
    "as whole": partial(_cast, SqlType.INTEGER),
    "as number": partial(_cast, SqlType.FLOAT),
    "as date": partial(_cast, SqlType.DATE),
    "as moment": partial(_cast, SqlType.TIMESTAMP),
    "as truth": partial(_cast, SqlType.BOOLEAN),
    **{sign: partial(_apply_sign, sign) for sign in ("+", "-")},
    **{sign: partial(_calculate, sign) for sign in ("*", "/", "//", "%")},
    **{name: partial(_round, name) for name in ("abs", "floor", "ceil", "round")},
    **{name: partial(_text_function, name, SqlType.TEXT) for name in ("lower", "upper", "trim", "ltrim", "rtrim")},
    **{name: partial(_text_function, name, SqlType.TEXT) for name in ("substring", "left", "right")},
    "length": partial(_text_function, "length", SqlType.INTEGER),
    **{name: partial(_text_function, name, SqlType.BOOLEAN) for name in ("contains", "starts_with", "ends_with")},
    "like": partial(_like, "LIKE"),
    "not like": partial(_like, "NOT LIKE"),
    "ilike": partial(_like, "ILIKE"),
    "not ilike": partial(_like, "NOT ILIKE"),
    "||": _concatenate,
    **{name: partial(_time_field, name) for name in UNITS},
    "date_part": _date_part,
    "date_trunc": _date_trunc,
    "date_diff": _date_diff,
    "text of day": partial(_format_time, "%Y-%m-%d"),
    "text of week": partial(_format_time, "%G-W%V"),
    "text of month": partial(_format_time, "%Y-%m"),
    "text of year": partial(_format_time, "%Y"),
    "text of weekday": partial(_format_time, "%A"),
    "bin": _bin,
}
