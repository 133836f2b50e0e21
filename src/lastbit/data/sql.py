"""Names, texts and items as SQL has them: everything that is quoted is quoted here.

The items of a domain are texts of their normal forms, which the engine casts: no value is quoted, and an item that the
column's type cannot hold becomes null, which equals nothing. In an engine that is not ours they go into the query: one
text of all items and one of their positions, which the engine splits. So no table has to be registered.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any, Final

from lastbit.data import column_types
from lastbit.data.column_types import ColumnType
from lastbit.data.table import Keys

_DAY: Final = 86_400 * 10**9
_FIRST_DAY: Final = datetime.date(1970, 1, 1).toordinal()
WIDEST: Final = 1 << 127
"""Whole numbers below this fit in 128 bits with a sign."""


def quote_text(text: str) -> str:
    """Return a text as SQL has it.

    >>> quote_text("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def quote_identifier(name: str) -> str:
    """Return a column's name as SQL has it, for any characters in it."""
    return '"' + name.replace('"', '""') + '"'


def quote_spark_identifier(name: str) -> str:
    """Return a column's name as Spark's SQL has it, for any characters in it."""
    return "`" + name.replace("`", "``") + "`"


def item_texts(keys: Keys, column_type: ColumnType, unit: int = 1, scale: int = 0) -> Iterator[str | None]:
    """Return the normal form of each item as a text; None where a column with this unit or scale has none.

    >>> list(item_texts([b"a", None, b"bc"], column_types.TEXT))
    ['61', None, '6263']
    """
    for key in keys:
        yield None if key is None else _text(key, column_type, unit, scale)


def join_items(texts: Iterable[str | None]) -> tuple[str, str]:
    """Return the texts of items, and their positions, each as one text.

    >>> join_items(item_texts([b"a", None, b"bc"], column_types.TEXT))
    ('61,6263', '0,2')
    """
    pairs = [(text, str(position)) for position, text in enumerate(texts) if text is not None]
    return ",".join(text for text, _ in pairs), ",".join(position for _, position in pairs)


def _text(key: Any, column_type: ColumnType, unit: int, scale: int) -> str | None:
    if column_type is column_types.DECIMAL:
        whole = key * Fraction(10) ** scale
        digits = str(abs(int(whole))).rjust(scale + 1, "0")
        point = len(digits) - scale
        return f"{'-' if key < 0 else ''}{digits[:point]}.{digits[point:]}" if whole.denominator == 1 else None
    if column_type in (column_types.TIMESTAMP, column_types.ZONED_TIMESTAMP, column_types.TIME, column_types.DURATION):
        return None if key % unit else _TIMES[column_type](key)
    return _TEXTS[column_type](key)


def _clock(nanoseconds: int) -> str:
    seconds, rest = divmod(nanoseconds, 10**9)
    fraction = f".{rest:09}".rstrip("0").rstrip(".")
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"


def _date(days: int) -> str:
    """Return a day as the engine writes it, also outside of Python's calendar, where an instant may be.

    >>> _date(0), _date(2_932_897), _date(-719_163)
    ('1970-01-01', '10000-01-01', '0001-12-31 (BC)')
    """
    # After so many days, which are 400 years, the calendar is the same again.
    cycles, rest = divmod(days + _FIRST_DAY - 1, 146_097)
    date = datetime.date.fromordinal(rest + 1)
    year = date.year + 400 * cycles
    return f"{date:{max(year, 1 - year):04}-%m-%d}{' (BC)' if year < 1 else ''}"


def _timestamp(nanoseconds: int) -> str:
    days, rest = divmod(nanoseconds, _DAY)
    return f"{_date(days)} {_clock(rest)}"


def _zoned_timestamp(nanoseconds: int) -> str:
    return f"{_timestamp(nanoseconds)}+00:00"


def _uuid(number: int) -> str:
    digits = f"{number:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


_TEXTS: Final[dict[ColumnType, Callable[[Any], str | None]]] = {
    column_types.TEXT: bytes.hex,
    column_types.BINARY: bytes.hex,
    column_types.INTEGER: lambda number: str(number) if abs(number) < 2 * WIDEST else None,
    column_types.FLOAT: repr,
    column_types.BOOLEAN: lambda truth: "true" if truth else "false",
    column_types.DATE: _date,
    column_types.UUID: _uuid,
    column_types.NULL: lambda key: None,
}
_TIMES: Final[dict[ColumnType, Callable[[int], str | None]]] = {
    column_types.TIMESTAMP: _timestamp,
    column_types.ZONED_TIMESTAMP: _zoned_timestamp,
    column_types.TIME: _clock,
    column_types.DURATION: lambda nanoseconds: str(nanoseconds // 1000),
}


def float_key(column: str) -> str:
    """Return a float in its normal form: one zero, and no NaN."""
    value = f"CAST({column} AS DOUBLE)"
    return f"CASE WHEN isnan({value}) THEN NULL WHEN {value} = 0 THEN CAST('0' AS DOUBLE) ELSE {value} END"
