"""Values of one row in SQL, and the public rules by which a value of one kind becomes one of another.

No expression here raises, whatever the row holds: what cannot be converted is null. Which rule applies follows from the
query and the declared types of the columns, never from a row.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, Final

from lastbit.data.query.refusals import refused
from lastbit.data.relation import literal, moment_of, number_of
from lastbit.data.sorting import quoted
from lastbit.errors import ParameterError
from lastbit.exact.numbers import number

_LONGEST: Final = 1_000_000
"""Characters of the longest SQL that is made of a query."""

_EXACT: Final = 1 << 53
"""Whole numbers up to this are floats."""

_WIDEST: Final = 1 << 127


class Kind(Enum):
    """The kinds of values that a query tells apart."""

    TEXT = "text"
    WHOLE = "a whole number"
    NUMBER = "a number"
    DATE = "a date"
    MOMENT = "a time"
    TRUTH = "true or false"
    NOTHING = "null"
    OTHER = "a value of another type"


NUMBERS: Final = (Kind.WHOLE, Kind.NUMBER)
TIMES: Final = (Kind.DATE, Kind.MOMENT)

_TYPES: Final = {
    **dict.fromkeys(("tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger"), Kind.WHOLE),
    **dict.fromkeys(("ubigint", "hugeint", "uhugeint"), Kind.WHOLE),
    **dict.fromkeys(("float", "double", "decimal"), Kind.NUMBER),
    **dict.fromkeys(("timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"), Kind.MOMENT),
    "timestamp with time zone": Kind.MOMENT,
    "varchar": Kind.TEXT,
    "enum": Kind.TEXT,
    "date": Kind.DATE,
    "boolean": Kind.TRUTH,
}


@dataclass(frozen=True)
class Value:
    """An expression of SQL, and the kind of its values."""

    sql: str
    kind: Kind
    stated: Any = None
    """The value itself, where the query states it."""
    comma: bool = False
    """Whether a comma in a text is the point of a number."""
    computed: str | None = None
    """Of a computed float, the same with NaN in place of null: what is computed of it is NaN again, and null once.

    A check for NaN holds its value twice, so checks inside checks would double the query each time.
    """


def made(sql: str, kind: Kind, *parts: Value) -> Value:
    """A value that is made of others."""
    if len(sql) > _LONGEST:
        raise refused("it becomes too long", "the query", "Make it shorter")
    return Value(sql, kind, comma=any(part.comma for part in parts))


def of_column(name: str, declared: str, comma: bool = False) -> Value:
    """A column of this type, in the form that its kind has in a query.

    >>> of_column("age", "varchar").sql
    '"age"'
    """
    column, kind = quoted(name), _TYPES.get(declared, Kind.OTHER)
    if kind is Kind.TEXT:
        return Value(column if declared == "varchar" else f"CAST({column} AS VARCHAR)", kind, comma=comma)
    if kind is Kind.WHOLE:
        return Value(f"TRY_CAST({column} AS HUGEINT)", kind)
    if kind is Kind.NUMBER:
        return Value(no_nan(f"TRY_CAST({column} AS DOUBLE)"), kind)
    if declared == "timestamp with time zone":
        return Value(_in_years(f"TRY(make_timestamp(epoch_us({column})))", Kind.MOMENT), kind)
    if kind is Kind.MOMENT:
        return Value(_in_years(f"TRY_CAST({column} AS TIMESTAMP)", kind), kind)
    return Value(_in_years(column, kind) if kind is Kind.DATE else column, kind)


def of_constant(value: str | Fraction | bool | None) -> Value:
    """A value that the query states."""
    if value is None:
        return Value("NULL", Kind.NOTHING)
    if isinstance(value, bool):
        return Value(str(value).lower(), Kind.TRUTH, value)
    if isinstance(value, str):
        return Value(literal(value), Kind.TEXT, value)
    if value.denominator == 1 and abs(value) < _WIDEST:
        return Value(f"CAST('{value.numerator}' AS HUGEINT)", Kind.WHOLE, value)
    try:
        near = float(value)
    except OverflowError:
        raise refused("a number is too large", "the query", "Numbers are floats here, or whole") from None
    return Value(f"CAST('{near!r}' AS DOUBLE)", Kind.NUMBER, value)


def converted(value: Value, kind: Kind) -> Value:
    """The same value as another kind; null where the row has none."""
    if value.kind is kind:
        return value
    if value.kind is Kind.NOTHING:
        return Value(f"CAST(NULL AS {_SQL_TYPES[kind]})", kind)
    if isinstance(value.stated, str) and value.kind is Kind.TEXT:
        return _read(value.stated, kind)
    made_of = _WAYS.get((value.kind, kind))
    if made_of is None:
        raise refused(f"{value.kind.value} is not {kind.value}", "the query", "Cast it, or compare like with like")
    # A comma is a matter of the text that was read: a number that becomes text has a point.
    return made(made_of(value), kind)


def _read(text: str, kind: Kind) -> Value:
    """A text that the query states, as another kind; refused where it is none."""
    try:
        if kind in NUMBERS:
            exact = number(text, "number")
            if kind is Kind.NUMBER or exact.denominator == 1:
                return of_constant(exact)
        elif kind is Kind.DATE:
            day = datetime.date.fromisoformat(text)
            return Value(f"CAST('{day.isoformat()}' AS DATE)", kind, day)
        elif kind is Kind.MOMENT:
            moment = datetime.datetime.fromisoformat(text)
            # Of a text the zone is passed over, a column with zones is in UTC: nobody can say which is meant here.
            if moment.tzinfo is None:
                return Value(f"CAST('{moment.isoformat(' ')}' AS TIMESTAMP)", kind, moment)
        elif kind is Kind.TRUTH and text.lower() in ("true", "false"):
            return of_constant(text.lower() == "true")
    except (ValueError, OverflowError, ParameterError):
        pass
    example = {Kind.DATE: "2026-01-31", Kind.MOMENT: "2026-01-31 08:30 (no zone)", Kind.TRUTH: "true"}.get(kind, "12")
    raise refused(f"{text!r} is not {kind.value}", "the query", f"Write it as {example}")


def no_nan(number: str) -> str:
    """A float, null where it is NaN, which equals itself to this engine."""
    return f"nullif({number}, CAST('nan' AS DOUBLE))"


def _in_years(time: str, kind: Kind) -> str:
    """Null beyond the years 1 to 9999, where functions of times are odd: nothing is infinite then."""
    name, end = ("DATE", "") if kind is Kind.DATE else ("TIMESTAMP", " 23:59:59.999999")
    return f"CASE WHEN {time} BETWEEN {name} '0001-01-01' AND {name} '9999-12-31{end}' THEN {time} END"


def _digits(value: Value) -> str:
    """A text that the engine reads as a whole number: exact however long, where no comma is meant."""
    return number_of(value.sql, comma=True) if value.comma else value.sql


def _moment_of(text: str) -> str:
    return _in_years(moment_of(text), Kind.MOMENT)


_SQL_TYPES: Final = {
    Kind.TEXT: "VARCHAR",
    Kind.WHOLE: "HUGEINT",
    Kind.NUMBER: "DOUBLE",
    Kind.DATE: "DATE",
    Kind.MOMENT: "TIMESTAMP",
    Kind.TRUTH: "BOOLEAN",
    Kind.NOTHING: "VARCHAR",
    Kind.OTHER: "VARCHAR",
}

_WAYS: Final[dict[tuple[Kind, Kind], Callable[[Value], str]]] = {
    (Kind.WHOLE, Kind.NUMBER): lambda value: f"CAST({value.sql} AS DOUBLE)",
    (Kind.NUMBER, Kind.WHOLE): lambda value: f"TRY_CAST({value.sql} AS HUGEINT)",
    (Kind.TEXT, Kind.NUMBER): lambda value: no_nan(number_of(value.sql, comma=value.comma)),
    (Kind.TEXT, Kind.WHOLE): lambda value: f"TRY_CAST({_digits(value)} AS HUGEINT)",
    (Kind.TEXT, Kind.DATE): lambda value: f"TRY_CAST({_moment_of(value.sql)} AS DATE)",
    (Kind.TEXT, Kind.MOMENT): lambda value: _moment_of(value.sql),
    (Kind.TEXT, Kind.TRUTH): lambda value: f"CASE lower({value.sql}) WHEN 'true' THEN true WHEN 'false' THEN false END",
    (Kind.MOMENT, Kind.DATE): lambda value: f"TRY_CAST({value.sql} AS DATE)",
    (Kind.DATE, Kind.MOMENT): lambda value: f"TRY_CAST({value.sql} AS TIMESTAMP)",
    **{
        (kind, Kind.TEXT): lambda value: f"CAST({value.sql} AS VARCHAR)"
        for kind in (Kind.WHOLE, Kind.NUMBER, Kind.DATE, Kind.MOMENT, Kind.TRUTH)
    },
}


def alike(left: Value, right: Value) -> tuple[Value, Value]:
    """Two values as one kind, by which they are compared.

    Text that meets a number is read as a number, and text that meets a date as a date.
    """
    kinds = {left.kind, right.kind} - {Kind.NOTHING}
    if Kind.OTHER in kinds:
        raise refused("a column of this type can be asked only whether it is null", "the query")
    if len(kinds) <= 1:
        kind = next(iter(kinds), Kind.TEXT)
    elif kinds & {Kind.TRUTH} and kinds <= {Kind.TRUTH, Kind.TEXT}:
        kind = Kind.TRUTH
    elif kinds <= {Kind.TEXT, *NUMBERS}:
        kind = Kind.NUMBER
        for each in (left, right):
            if each.kind is Kind.WHOLE and isinstance(each.stated, Fraction) and abs(each.stated) > _EXACT:
                reason = f"{each.stated} is beyond the floats that text is read as"
                raise refused(reason, "the query", "Write it in quotes, as text")
            if isinstance(each.stated, str) and Kind.WHOLE in kinds and Kind.NUMBER not in kinds:
                kind = _kind_of(each.stated)
    elif kinds <= {Kind.TEXT, *TIMES}:
        # A date alone, where the query states one: so a day is compared with days.
        days = all(
            each.kind is Kind.DATE or (isinstance(each.stated, str) and _is_day(each.stated)) for each in (left, right)
        )
        kind = Kind.DATE if days else Kind.MOMENT
    else:
        names = " with ".join(each.kind.value for each in (left, right))
        raise refused(f"it compares {names}", "the query", "Cast one of them")
    return converted(left, kind), converted(right, kind)


def _kind_of(text: str) -> Kind:
    """A number that the query states as text: whole, where it is whole."""
    return _read(text, Kind.NUMBER).kind


def _is_day(text: str) -> bool:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True
