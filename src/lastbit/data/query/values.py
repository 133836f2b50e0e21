"""Values of one row in SQL, and the public rules by which a value of one type becomes one of another.

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

from lastbit.data.duckdb.sql import parse_number, parse_timestamp
from lastbit.data.query.refusals import refusal
from lastbit.data.sql import quote_identifier, quote_text
from lastbit.errors import ParameterError
from lastbit.exact.numbers import number

_LONGEST: Final = 1_000_000
"""Characters of the longest SQL that is made of a query."""

_EXACT: Final = 1 << 53
"""Whole numbers up to this are floats."""

_WIDEST: Final = 1 << 127


class ValueType(Enum):
    """The types of values that a query tells apart."""

    TEXT = "text"
    INTEGER = "a whole number"
    FLOAT = "a number"
    DATE = "a date"
    TIMESTAMP = "a time"
    BOOLEAN = "true or false"
    NULL = "null"
    OTHER = "a value of another type"


NUMBERS: Final = (ValueType.INTEGER, ValueType.FLOAT)
TIMES: Final = (ValueType.DATE, ValueType.TIMESTAMP)

_TYPES: Final = {
    **dict.fromkeys(
        ("tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger"), ValueType.INTEGER
    ),
    **dict.fromkeys(("ubigint", "hugeint", "uhugeint"), ValueType.INTEGER),
    **dict.fromkeys(("float", "double", "decimal"), ValueType.FLOAT),
    **dict.fromkeys(("timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"), ValueType.TIMESTAMP),
    "timestamp with time zone": ValueType.TIMESTAMP,
    "varchar": ValueType.TEXT,
    "enum": ValueType.TEXT,
    "date": ValueType.DATE,
    "boolean": ValueType.BOOLEAN,
}


@dataclass(frozen=True)
class Value:
    """An expression of SQL, and the type of its values."""

    sql: str
    type: ValueType
    stated: Any = None
    """The value itself, where the query states it."""
    comma: bool = False
    """Whether a comma in a text is the point of a number."""
    computed: str | None = None
    """Of a computed float, the same with NaN in place of null: what is computed of it is NaN again, and null once.

    A check for NaN holds its value twice, so checks inside checks would double the query each time.
    """


def make_value(sql: str, value_type: ValueType, *parts: Value) -> Value:
    """Return a value that is made of others."""
    if len(sql) > _LONGEST:
        raise refusal("it becomes too long", "the query", "Make it shorter")
    return Value(sql, value_type, comma=any(part.comma for part in parts))


def column_value(name: str, declared: str, comma: bool = False) -> Value:
    """Return a column of this type, in the form that its type has in a query.

    >>> column_value("age", "varchar").sql
    '"age"'
    """
    column, value_type = quote_identifier(name), _TYPES.get(declared, ValueType.OTHER)
    if value_type is ValueType.TEXT:
        return Value(column if declared == "varchar" else f"CAST({column} AS VARCHAR)", value_type, comma=comma)
    if value_type is ValueType.INTEGER:
        return Value(f"TRY_CAST({column} AS HUGEINT)", value_type)
    if value_type is ValueType.FLOAT:
        return Value(null_if_nan(f"TRY_CAST({column} AS DOUBLE)"), value_type)
    if declared == "timestamp with time zone":
        return Value(_limit_years(f"TRY(make_timestamp(epoch_us({column})))", ValueType.TIMESTAMP), value_type)
    if value_type is ValueType.TIMESTAMP:
        return Value(_limit_years(f"TRY_CAST({column} AS TIMESTAMP)", value_type), value_type)
    return Value(_limit_years(column, value_type) if value_type is ValueType.DATE else column, value_type)


def constant_value(value: str | Fraction | bool | None) -> Value:
    """Return a value that the query states."""
    if value is None:
        return Value("NULL", ValueType.NULL)
    if isinstance(value, bool):
        return Value(str(value).lower(), ValueType.BOOLEAN, value)
    if isinstance(value, str):
        return Value(quote_text(value), ValueType.TEXT, value)
    if value.denominator == 1 and abs(value) < _WIDEST:
        return Value(f"CAST('{value.numerator}' AS HUGEINT)", ValueType.INTEGER, value)
    try:
        near = float(value)
    except OverflowError:
        raise refusal("a number is too large", "the query", "Numbers are floats here, or whole") from None
    return Value(f"CAST('{near!r}' AS DOUBLE)", ValueType.FLOAT, value)


def convert(value: Value, value_type: ValueType) -> Value:
    """Return the same value as another type; null where the row has none."""
    if value.type is value_type:
        return value
    if value.type is ValueType.NULL:
        return Value(f"CAST(NULL AS {_SQL_TYPES[value_type]})", value_type)
    if isinstance(value.stated, str) and value.type is ValueType.TEXT:
        return _parse_text(value.stated, value_type)
    made_of = _CONVERSIONS.get((value.type, value_type))
    if made_of is None:
        raise refusal(
            f"{value.type.value} is not {value_type.value}", "the query", "Cast it, or compare like with like"
        )
    # A comma is a matter of the text that was read: a number that becomes text has a point.
    return make_value(made_of(value), value_type)


def _parse_text(text: str, value_type: ValueType) -> Value:
    """Return a text that the query states, as another type; refused where it is none."""
    try:
        if value_type in NUMBERS:
            exact = number(text, "number")
            if value_type is ValueType.FLOAT or exact.denominator == 1:
                return constant_value(exact)
        elif value_type is ValueType.DATE:
            day = datetime.date.fromisoformat(text)
            return Value(f"CAST('{day.isoformat()}' AS DATE)", value_type, day)
        elif value_type is ValueType.TIMESTAMP:
            moment = datetime.datetime.fromisoformat(text)
            # Of a text the zone is passed over, a column with zones is in UTC: nobody can say which is meant here.
            if moment.tzinfo is None:
                return Value(f"CAST('{moment.isoformat(' ')}' AS TIMESTAMP)", value_type, moment)
        elif value_type is ValueType.BOOLEAN and text.lower() in ("true", "false"):
            return constant_value(text.lower() == "true")
    except (ValueError, OverflowError, ParameterError):
        pass
    example = {
        ValueType.DATE: "2026-01-31",
        ValueType.TIMESTAMP: "2026-01-31 08:30 (no zone)",
        ValueType.BOOLEAN: "true",
    }.get(value_type, "12")
    raise refusal(f"{text!r} is not {value_type.value}", "the query", f"Write it as {example}")


def null_if_nan(number: str) -> str:
    """Return a float, null where it is NaN, which equals itself to this engine."""
    return f"nullif({number}, CAST('nan' AS DOUBLE))"


def _limit_years(time: str, value_type: ValueType) -> str:
    """Return null beyond the years 1 to 9999, where functions of times are odd: nothing is infinite then."""
    name, end = ("DATE", "") if value_type is ValueType.DATE else ("TIMESTAMP", " 23:59:59.999999")
    return f"CASE WHEN {time} BETWEEN {name} '0001-01-01' AND {name} '9999-12-31{end}' THEN {time} END"


def _digits(value: Value) -> str:
    """Return a text that the engine reads as a whole number: exact however long, where no comma is meant."""
    return parse_number(value.sql, comma=True) if value.comma else value.sql


def _timestamp_of(text: str) -> str:
    return _limit_years(parse_timestamp(text), ValueType.TIMESTAMP)


_SQL_TYPES: Final = {
    ValueType.TEXT: "VARCHAR",
    ValueType.INTEGER: "HUGEINT",
    ValueType.FLOAT: "DOUBLE",
    ValueType.DATE: "DATE",
    ValueType.TIMESTAMP: "TIMESTAMP",
    ValueType.BOOLEAN: "BOOLEAN",
    ValueType.NULL: "VARCHAR",
    ValueType.OTHER: "VARCHAR",
}

_CONVERSIONS: Final[dict[tuple[ValueType, ValueType], Callable[[Value], str]]] = {
    (ValueType.INTEGER, ValueType.FLOAT): lambda value: f"CAST({value.sql} AS DOUBLE)",
    (ValueType.FLOAT, ValueType.INTEGER): lambda value: f"TRY_CAST({value.sql} AS HUGEINT)",
    (ValueType.TEXT, ValueType.FLOAT): lambda value: null_if_nan(parse_number(value.sql, comma=value.comma)),
    (ValueType.TEXT, ValueType.INTEGER): lambda value: f"TRY_CAST({_digits(value)} AS HUGEINT)",
    (ValueType.TEXT, ValueType.DATE): lambda value: f"TRY_CAST({_timestamp_of(value.sql)} AS DATE)",
    (ValueType.TEXT, ValueType.TIMESTAMP): lambda value: _timestamp_of(value.sql),
    (ValueType.TEXT, ValueType.BOOLEAN): lambda value: (
        f"CASE lower({value.sql}) WHEN 'true' THEN true WHEN 'false' THEN false END"
    ),
    (ValueType.TIMESTAMP, ValueType.DATE): lambda value: f"TRY_CAST({value.sql} AS DATE)",
    (ValueType.DATE, ValueType.TIMESTAMP): lambda value: f"TRY_CAST({value.sql} AS TIMESTAMP)",
    **{
        (value_type, ValueType.TEXT): lambda value: f"CAST({value.sql} AS VARCHAR)"
        for value_type in (ValueType.INTEGER, ValueType.FLOAT, ValueType.DATE, ValueType.TIMESTAMP, ValueType.BOOLEAN)
    },
}


def match_types(left: Value, right: Value) -> tuple[Value, Value]:
    """Return two values as one type, by which they are compared.

    Text that meets a number is read as a number, and text that meets a date as a date.
    """
    types = {left.type, right.type} - {ValueType.NULL}
    if ValueType.OTHER in types:
        raise refusal("a column of this type can be asked only whether it is null", "the query")
    if len(types) <= 1:
        value_type = next(iter(types), ValueType.TEXT)
    elif types & {ValueType.BOOLEAN} and types <= {ValueType.BOOLEAN, ValueType.TEXT}:
        value_type = ValueType.BOOLEAN
    elif types <= {ValueType.TEXT, *NUMBERS}:
        value_type = ValueType.FLOAT
        for value in (left, right):
            if value.type is ValueType.INTEGER and isinstance(value.stated, Fraction) and abs(value.stated) > _EXACT:
                reason = f"{value.stated} is beyond the floats that text is read as"
                raise refusal(reason, "the query", "Write it in quotes, as text")
            if isinstance(value.stated, str) and ValueType.INTEGER in types and ValueType.FLOAT not in types:
                value_type = _number_type(value.stated)
    elif types <= {ValueType.TEXT, *TIMES}:
        # A date alone, where the query states one: so a day is compared with days.
        days = all(
            value.type is ValueType.DATE or (isinstance(value.stated, str) and _is_day(value.stated))
            for value in (left, right)
        )
        value_type = ValueType.DATE if days else ValueType.TIMESTAMP
    else:
        names = " with ".join(value.type.value for value in (left, right))
        raise refusal(f"it compares {names}", "the query", "Cast one of them")
    return convert(left, value_type), convert(right, value_type)


def _number_type(text: str) -> ValueType:
    """Return a number that the query states as text: whole, where it is whole."""
    return _parse_text(text, ValueType.FLOAT).type


def _is_day(text: str) -> bool:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True
