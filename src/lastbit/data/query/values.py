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

from lastbit.data.duckdb.texts import parse_number, parse_timestamp
from lastbit.data.query.refusals import refusal
from lastbit.data.sql import quote_identifier, quote_text
from lastbit.errors import ParameterError
from lastbit.exact.numbers import number

_LONGEST: Final = 1_000_000
"""Characters of the longest SQL that is made of a query."""

_EXACT: Final = 1 << 53
"""Whole numbers up to this are floats."""

_WIDEST: Final = 1 << 127


class SqlType(Enum):
    """The types of values that a query tells apart."""

    TEXT = "text"
    INTEGER = "a whole number"
    FLOAT = "a number"
    DATE = "a date"
    TIMESTAMP = "a time"
    BOOLEAN = "true or false"
    NULL = "null"
    OTHER = "a value of another type"


NUMBERS: Final = (SqlType.INTEGER, SqlType.FLOAT)
TIMES: Final = (SqlType.DATE, SqlType.TIMESTAMP)

_TYPES: Final = {
    **dict.fromkeys(("tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger"), SqlType.INTEGER),
    **dict.fromkeys(("ubigint", "hugeint", "uhugeint"), SqlType.INTEGER),
    **dict.fromkeys(("float", "double", "decimal"), SqlType.FLOAT),
    **dict.fromkeys(("timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"), SqlType.TIMESTAMP),
    "timestamp with time zone": SqlType.TIMESTAMP,
    "varchar": SqlType.TEXT,
    "enum": SqlType.TEXT,
    "date": SqlType.DATE,
    "boolean": SqlType.BOOLEAN,
}


@dataclass(frozen=True)
class Value:
    """An expression of SQL, and the type of its values."""

    sql: str
    type: SqlType
    stated: Any = None
    """The value itself, where the query states it."""
    comma: bool = False
    """Whether a comma in a text is the point of a number."""
    computed: str | None = None
    """Of a computed float, the same with NaN in place of null: what is computed of it is NaN again, and null once.

    A check for NaN holds its value twice, so checks inside checks would double the query each time.
    """


def make_value(sql: str, value_type: SqlType, *parts: Value) -> Value:
    """Return a value that is made of others."""
    if len(sql) > _LONGEST:
        raise refusal("it becomes too long", "the query", "Make it shorter")
    return Value(sql, value_type, comma=any(part.comma for part in parts))


def column_value(name: str, declared: str, comma: bool = False) -> Value:
    """Return a column of this type, in the form that its type has in a query.

    >>> column_value("age", "varchar").sql
    '"age"'
    """
    column, value_type = quote_identifier(name), _TYPES.get(declared, SqlType.OTHER)
    if value_type is SqlType.TEXT:
        return Value(column if declared == "varchar" else f"CAST({column} AS VARCHAR)", value_type, comma=comma)
    if value_type is SqlType.INTEGER:
        return Value(f"TRY_CAST({column} AS HUGEINT)", value_type)
    if value_type is SqlType.FLOAT:
        return Value(null_if_nan(f"TRY_CAST({column} AS DOUBLE)"), value_type)
    if declared == "timestamp with time zone":
        return Value(_limit_years(f"TRY(make_timestamp(epoch_us({column})))", SqlType.TIMESTAMP), value_type)
    if value_type is SqlType.TIMESTAMP:
        return Value(_limit_years(f"TRY_CAST({column} AS TIMESTAMP)", value_type), value_type)
    return Value(_limit_years(column, value_type) if value_type is SqlType.DATE else column, value_type)


def constant_value(value: str | Fraction | bool | None) -> Value:
    """Return a value that the query states."""
    if value is None:
        return Value("NULL", SqlType.NULL)
    if isinstance(value, bool):
        return Value(str(value).lower(), SqlType.BOOLEAN, value)
    if isinstance(value, str):
        return Value(quote_text(value), SqlType.TEXT, value)
    if value.denominator == 1 and abs(value) < _WIDEST:
        return Value(f"CAST('{value.numerator}' AS HUGEINT)", SqlType.INTEGER, value)
    try:
        near = float(value)
    except OverflowError:
        raise refusal("a number is too large", "the query", "Numbers are floats here, or whole") from None
    return Value(f"CAST('{near!r}' AS DOUBLE)", SqlType.FLOAT, value)


def convert(value: Value, value_type: SqlType) -> Value:
    """Return the same value as another type; null where the row has none."""
    if value.type is value_type:
        return value
    if value.type is SqlType.NULL:
        return Value(f"CAST(NULL AS {_SQL_TYPES[value_type]})", value_type)
    if isinstance(value.stated, str) and value.type is SqlType.TEXT:
        return _parse_text(value.stated, value_type)
    made_of = _CONVERSIONS.get((value.type, value_type))
    if made_of is None:
        raise refusal(
            f"{value.type.value} is not {value_type.value}", "the query", "Cast it, or compare like with like"
        )
    # A comma is a matter of the text that was read: a number that becomes text has a point.
    return make_value(made_of(value), value_type)


def _parse_text(text: str, value_type: SqlType) -> Value:
    """Return a text that the query states, as another type; refused where it is none."""
    try:
        if value_type in NUMBERS:
            exact = number(text, "number")
            if value_type is SqlType.FLOAT or exact.denominator == 1:
                return constant_value(exact)
        elif value_type is SqlType.DATE:
            day = datetime.date.fromisoformat(text)
            return Value(f"CAST('{day.isoformat()}' AS DATE)", value_type, day)
        elif value_type is SqlType.TIMESTAMP:
            moment = datetime.datetime.fromisoformat(text)
            # Of a text the zone is passed over, a column with zones is in UTC: nobody can say which is meant here.
            if moment.tzinfo is None:
                return Value(f"CAST('{moment.isoformat(' ')}' AS TIMESTAMP)", value_type, moment)
        elif value_type is SqlType.BOOLEAN and text.lower() in ("true", "false"):
            return constant_value(text.lower() == "true")
    except (ValueError, OverflowError, ParameterError):
        pass
    example = {
        SqlType.DATE: "2026-01-31",
        SqlType.TIMESTAMP: "2026-01-31 08:30 (no zone)",
        SqlType.BOOLEAN: "true",
    }.get(value_type, "12")
    raise refusal(f"{text!r} is not {value_type.value}", "the query", f"Write it as {example}")


def null_if_nan(number: str) -> str:
    """Return a float, null where it is NaN, which equals itself to this engine.

    A comparison with NaN will not do: where a Parquet file says between which numbers a column lies, the engine takes
    for granted that none is NaN, so that the numbers of some rows would decide about NaN in others.
    """
    return f"CASE WHEN NOT isnan({number}) THEN {number} END"


def _limit_years(time: str, value_type: SqlType) -> str:
    """Return null beyond the years 1 to 9999, where functions of times are odd: nothing is infinite then."""
    name, end = ("DATE", "") if value_type is SqlType.DATE else ("TIMESTAMP", " 23:59:59.999999")
    return f"CASE WHEN {time} BETWEEN {name} '0001-01-01' AND {name} '9999-12-31{end}' THEN {time} END"


def _digits(value: Value) -> str:
    """Return a text that the engine reads as a whole number: exact however long, where no comma is meant."""
    return parse_number(value.sql, comma=True) if value.comma else value.sql


def _timestamp_of(text: str) -> str:
    return _limit_years(parse_timestamp(text), SqlType.TIMESTAMP)


_SQL_TYPES: Final = {
    SqlType.TEXT: "VARCHAR",
    SqlType.INTEGER: "HUGEINT",
    SqlType.FLOAT: "DOUBLE",
    SqlType.DATE: "DATE",
    SqlType.TIMESTAMP: "TIMESTAMP",
    SqlType.BOOLEAN: "BOOLEAN",
    SqlType.NULL: "VARCHAR",
    SqlType.OTHER: "VARCHAR",
}

_CONVERSIONS: Final[dict[tuple[SqlType, SqlType], Callable[[Value], str]]] = {
    (SqlType.INTEGER, SqlType.FLOAT): lambda value: f"CAST({value.sql} AS DOUBLE)",
    (SqlType.FLOAT, SqlType.INTEGER): lambda value: f"TRY_CAST({value.sql} AS HUGEINT)",
    (SqlType.TEXT, SqlType.FLOAT): lambda value: null_if_nan(parse_number(value.sql, comma=value.comma)),
    (SqlType.TEXT, SqlType.INTEGER): lambda value: f"TRY_CAST({_digits(value)} AS HUGEINT)",
    (SqlType.TEXT, SqlType.DATE): lambda value: f"TRY_CAST({_timestamp_of(value.sql)} AS DATE)",
    (SqlType.TEXT, SqlType.TIMESTAMP): lambda value: _timestamp_of(value.sql),
    (SqlType.TEXT, SqlType.BOOLEAN): lambda value: (
        f"CASE lower({value.sql}) WHEN 'true' THEN true WHEN 'false' THEN false END"
    ),
    (SqlType.TIMESTAMP, SqlType.DATE): lambda value: f"TRY_CAST({value.sql} AS DATE)",
    (SqlType.DATE, SqlType.TIMESTAMP): lambda value: f"TRY_CAST({value.sql} AS TIMESTAMP)",
    **{
        (value_type, SqlType.TEXT): lambda value: f"CAST({value.sql} AS VARCHAR)"
        for value_type in (SqlType.INTEGER, SqlType.FLOAT, SqlType.DATE, SqlType.TIMESTAMP, SqlType.BOOLEAN)
    },
}


def match_types(left: Value, right: Value) -> tuple[Value, Value]:
    """Return two values as one type, by which they are compared.

    Text that meets a number is read as a number, and text that meets a date as a date.
    """
    types = {left.type, right.type} - {SqlType.NULL}
    if SqlType.OTHER in types:
        raise refusal("a column of this type can be asked only whether it is null", "the query")
    if len(types) <= 1:
        value_type = next(iter(types), SqlType.TEXT)
    elif types & {SqlType.BOOLEAN} and types <= {SqlType.BOOLEAN, SqlType.TEXT}:
        value_type = SqlType.BOOLEAN
    elif types <= {SqlType.TEXT, *NUMBERS}:
        value_type = SqlType.FLOAT
        for value in (left, right):
            if value.type is SqlType.INTEGER and isinstance(value.stated, Fraction) and abs(value.stated) > _EXACT:
                reason = f"{value.stated} is beyond the floats that text is read as"
                raise refusal(reason, "the query", "Write it in quotes, as text")
            if isinstance(value.stated, str) and SqlType.INTEGER in types and SqlType.FLOAT not in types:
                value_type = _number_type(value.stated)
    elif types <= {SqlType.TEXT, *TIMES}:
        # A date alone, where the query states one: so a day is compared with days.
        days = all(
            value.type is SqlType.DATE or (isinstance(value.stated, str) and _is_day(value.stated))
            for value in (left, right)
        )
        value_type = SqlType.DATE if days else SqlType.TIMESTAMP
    else:
        names = " with ".join(value.type.value for value in (left, right))
        raise refusal(f"it compares {names}", "the query", "Cast one of them")
    return convert(left, value_type), convert(right, value_type)


def _number_type(text: str) -> SqlType:
    """Return a number that the query states as text: whole, where it is whole."""
    return _parse_text(text, SqlType.FLOAT).type


def _is_day(text: str) -> bool:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True
