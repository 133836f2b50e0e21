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

from lastbit.data.query.refusals import refused
from lastbit.data.query.tree import Column, Constant, Tree
from lastbit.data.query.values import NUMBERS, TIMES, Kind, Value, alike, converted, made, no_nan, of_constant

Values = Sequence[Value]

_UNITS: Final = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
_FIELDS: Final = (*_UNITS, "dow", "isodow", "doy")


def value_of(tree: Tree, columns: Mapping[str, Value]) -> Value:
    """A tree as SQL, over columns of known kinds."""
    if isinstance(tree, Column):
        return columns[tree.name]
    if isinstance(tree, Constant):
        return of_constant(tree.value)
    return OPERATIONS[tree.name]([value_of(part, columns) for part in tree.parts])


def truth_of(value: Value) -> Value:
    """A value that is a condition."""
    if value.kind not in (Kind.TRUTH, Kind.NOTHING):
        raise refused(f"a condition is true or false, and this is {value.kind.value}", "the query", "Compare it")
    return converted(value, Kind.TRUTH)


def _compared(sign: str, parts: Values) -> Value:
    left, right = alike(*parts)
    return made(f"({left.sql} {sign} {right.sql})", Kind.TRUTH)


def _joined(word: str, parts: Values) -> Value:
    return made("(" + f" {word} ".join(truth_of(part).sql for part in parts) + ")", Kind.TRUTH)


def _negated(parts: Values) -> Value:
    return made(f"(NOT {truth_of(parts[0]).sql})", Kind.TRUTH)


def _is_null(test: str, parts: Values) -> Value:
    return made(f"({parts[0].sql} {test})", Kind.TRUTH)


def _unified(parts: Values) -> list[Value]:
    """Several values as one kind."""
    kinds = {part.kind for part in parts} - {Kind.NOTHING}
    if Kind.OTHER in kinds:
        raise refused("a column of this type can be asked only whether it is null", "the query")
    for wide in (set(NUMBERS), set(TIMES)):
        if len(kinds) > 1 and kinds <= wide:
            kinds = {Kind.NUMBER if Kind.NUMBER in wide else Kind.MOMENT}
    if len(kinds) > 1:
        raise refused("it gives values of several kinds", "the query", "Cast them to one")
    kind = next(iter(kinds), Kind.TEXT)
    return [converted(part, kind) for part in parts]


def _first_known(parts: Values) -> Value:
    found = _unified(parts)
    return made(f"coalesce({', '.join(each.sql for each in found)})", found[0].kind, *found)


def _unless_equal(parts: Values) -> Value:
    value, _ = parts
    return made(f"CASE WHEN {_compared('=', parts).sql} THEN NULL ELSE {value.sql} END", value.kind, value)


def _case(parts: Values) -> Value:
    *checks, last = parts
    conditions = [truth_of(each).sql for each in checks[::2]]
    *results, otherwise = _unified([*checks[1::2], last])
    cases = " ".join(f"WHEN {when} THEN {each.sql}" for when, each in zip(conditions, results, strict=True))
    return made(f"(CASE {cases} ELSE {otherwise.sql} END)", otherwise.kind, *results, otherwise)


def _as(kind: Kind, parts: Values) -> Value:
    return converted(parts[0], kind)


def _computed(sign: str, parts: Values) -> Value:
    """Arithmetic: of whole numbers in whole numbers, of others in floats. Text is read as a number."""
    if any(part.kind not in (*NUMBERS, Kind.TEXT, Kind.NOTHING) for part in parts):
        raise refused("only numbers are computed with", "the query", "For times there are date_diff and date_trunc")
    if sign != "/" and all(part.kind is Kind.WHOLE for part in parts):
        terms = [f"CAST(TRY_CAST({part.sql} AS BIGINT) AS HUGEINT)" for part in parts]
        return made(f"({terms[0]} {sign} {terms[1]})", Kind.WHOLE)
    left, right = (_unchecked(converted(part, Kind.NUMBER)) for part in parts)
    if sign in ("/", "//", "%"):
        right = f"nullif({right}, CAST('0' AS DOUBLE))"
    quotient = f"trunc({left} / {right})" if sign == "//" else f"({left} {sign} {right})"
    return _float(quotient)


def _float(sql: str) -> Value:
    return replace(made(no_nan(sql), Kind.NUMBER), computed=sql)


def _unchecked(value: Value) -> str:
    return value.computed or value.sql


def _signed(sign: str, parts: Values) -> Value:
    """A sign before a number, or an operation on two."""
    if len(parts) == 2:
        return _computed(sign, parts)
    stated = parts[0].stated
    if isinstance(stated, Fraction):
        return of_constant(-stated if sign == "-" else stated)
    return _computed(sign, [of_constant(Fraction(0)), parts[0]])


def _rounded(name: str, parts: Values) -> Value:
    value = parts[0]
    if value.kind is Kind.WHOLE and name != "abs":
        return value
    if value.kind is Kind.WHOLE:
        return made(f"abs(CAST(TRY_CAST({value.sql} AS BIGINT) AS HUGEINT))", Kind.WHOLE)
    return _float(f"{name}({_unchecked(_number(value))})")


def _number(value: Value) -> Value:
    return value if value.kind in NUMBERS else converted(value, Kind.NUMBER)


def _text(name: str, kind: Kind, parts: Values) -> Value:
    """A function of a text. All but the first argument are stated: a row decides about itself only by its own text."""
    first, *others = parts
    for each in others:
        if each.stated is None:
            raise refused(f"all but the first argument of {name} must be constants", "the query")
    if first.kind is not Kind.TEXT:
        raise refused(f"{name} takes text, and this is {first.kind.value}", "the query", "Cast it to varchar")
    given = ", ".join([first.sql, *(_stated(each) for each in others)])
    sql = f"{name}({given})"
    return made(f"CAST({sql} AS HUGEINT)" if kind is Kind.WHOLE else sql, kind, first)


def _stated(value: Value) -> str:
    if value.kind is Kind.WHOLE and abs(value.stated) <= 1_000_000:
        return str(value.stated)
    if value.kind is Kind.TEXT:
        return value.sql
    raise refused("arguments must be text, or whole numbers up to a million", "the query")


def _like(sign: str, parts: Values) -> Value:
    text, pattern = parts
    if text.kind is not Kind.TEXT or not isinstance(pattern.stated, str):
        raise refused("like takes a text and a pattern in quotes", "the query")
    return made(f"({text.sql} {sign} {pattern.sql})", Kind.TRUTH)


def _concatenated(parts: Values) -> Value:
    if any(part.kind not in (Kind.TEXT, Kind.NOTHING) for part in parts):
        raise refused("only texts are put together", "the query", "Cast others to varchar")
    return made("(" + " || ".join(converted(part, Kind.TEXT).sql for part in parts) + ")", Kind.TEXT, *parts)


def _time(value: Value) -> Value:
    if value.kind not in (*TIMES, Kind.TEXT, Kind.NOTHING):
        raise refused(f"this takes a date, and got {value.kind.value}", "the query", "Cast it to date")
    return value if value.kind in TIMES else converted(value, Kind.MOMENT)


def _field(name: str, parts: Values) -> Value:
    return made(f"CAST(date_part('{name}', {_time(parts[-1]).sql}) AS HUGEINT)", Kind.WHOLE)


def _named_field(parts: Values) -> Value:
    return _field(_unit(parts[0], _FIELDS), parts)


def _unit(value: Value, known: Sequence[str]) -> str:
    if value.stated not in known:
        raise refused("the first argument must name a unit of time", "the query", f"Use one of {', '.join(known)}")
    return str(value.stated)


def _truncated(parts: Values) -> Value:
    unit = _unit(parts[0], _UNITS)
    cut = f"date_trunc('{unit}', {_time(parts[1]).sql})"
    days = unit in ("year", "quarter", "month", "week", "day")
    return made(f"CAST({cut} AS {'DATE' if days else 'TIMESTAMP'})", Kind.DATE if days else Kind.MOMENT)


def _difference(parts: Values) -> Value:
    unit = _unit(parts[0], _UNITS)
    start, end = (converted(_time(part), Kind.MOMENT).sql for part in parts[1:])
    return made(f"CAST(date_diff('{unit}', {start}, {end}) AS HUGEINT)", Kind.WHOLE)


def _written(form: str, parts: Values) -> Value:
    """A time as text: its day, week, month or year."""
    return made(f"strftime({converted(_time(parts[0]), Kind.MOMENT).sql}, '{form}')", Kind.TEXT)


def _bin(parts: Values) -> Value:
    """The lower end of the bin that a number is in."""
    value, width = parts
    value = _number(value)
    whole = value.sql if value.kind is Kind.WHOLE else f"TRY_CAST(floor({value.sql}) AS HUGEINT)"
    # The engine's division is towards zero: floored where a remainder is negative.
    floor = f"({whole} // {width.stated} - CASE WHEN {whole} % {width.stated} < 0 THEN 1 ELSE 0 END)"
    return made(f"CAST(TRY_CAST({floor} AS BIGINT) AS HUGEINT) * {width.stated}", Kind.WHOLE)


OPERATIONS: Final[dict[str, Callable[[Values], Value]]] = {
    **{sign: partial(_compared, sign.upper()) for sign in ("=", "<>", "<", ">", "<=", ">=")},
    "is distinct from": partial(_compared, "IS DISTINCT FROM"),
    "is not distinct from": partial(_compared, "IS NOT DISTINCT FROM"),
    "and": partial(_joined, "AND"),
    "or": partial(_joined, "OR"),
    "not": _negated,
    "is null": partial(_is_null, "IS NULL"),
    "is not null": partial(_is_null, "IS NOT NULL"),
    "coalesce": _first_known,
    "nullif": _unless_equal,
    "case": _case,
    "as text": partial(_as, Kind.TEXT),
    "as whole": partial(_as, Kind.WHOLE),
    "as number": partial(_as, Kind.NUMBER),
    "as date": partial(_as, Kind.DATE),
    "as moment": partial(_as, Kind.MOMENT),
    "as truth": partial(_as, Kind.TRUTH),
    **{sign: partial(_signed, sign) for sign in ("+", "-")},
    **{sign: partial(_computed, sign) for sign in ("*", "/", "//", "%")},
    **{name: partial(_rounded, name) for name in ("abs", "floor", "ceil", "round")},
    **{name: partial(_text, name, Kind.TEXT) for name in ("lower", "upper", "trim", "ltrim", "rtrim")},
    **{name: partial(_text, name, Kind.TEXT) for name in ("substring", "left", "right")},
    "length": partial(_text, "length", Kind.WHOLE),
    **{name: partial(_text, name, Kind.TRUTH) for name in ("contains", "starts_with", "ends_with")},
    "like": partial(_like, "LIKE"),
    "not like": partial(_like, "NOT LIKE"),
    "ilike": partial(_like, "ILIKE"),
    "not ilike": partial(_like, "NOT ILIKE"),
    "||": _concatenated,
    **{name: partial(_field, name) for name in _UNITS},
    "date_part": _named_field,
    "date_trunc": _truncated,
    "date_diff": _difference,
    "text of day": partial(_written, "%Y-%m-%d"),
    "text of week": partial(_written, "%G-W%V"),
    "text of month": partial(_written, "%Y-%m"),
    "text of year": partial(_written, "%Y"),
    "bin": _bin,
}

FUNCTIONS: Final[dict[str, tuple[str, tuple[int, int]]]] = {
    "+": ("+", (1, 2)),
    "-": ("-", (1, 2)),
    **{sign: (sign, (2, 2)) for sign in ("*", "/", "//", "%", "||", "nullif", "date_trunc", "date_part")},
    "mod": ("%", (2, 2)),
    "~~": ("like", (2, 2)),
    "!~~": ("not like", (2, 2)),
    "~~*": ("ilike", (2, 2)),
    "!~~*": ("not ilike", (2, 2)),
    **{name: (name, (1, 1)) for name in ("abs", "floor", "ceil", "round", "lower", "upper", "length", *_UNITS)},
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
