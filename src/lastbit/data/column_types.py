"""What a column holds, and the normal form of its items.

Two values are the same item when their normal forms are the same: bytes of text, exact numbers, nanoseconds since an
epoch. So no collation, no zone, no second form of zero and no dictionary decides what counts as equal. The type of a
column follows from its declared type, never from its rows.
"""

from __future__ import annotations

import datetime
import math
import uuid
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from lastbit.data import items, object_keys
from lastbit.data.long_texts import shorten

_LONGEST: Final = 100
"""Digits before or after the point that a decimal of any engine has at most."""


@dataclass(frozen=True, eq=False)
class ColumnType:
    """A type of column, as all engines have it in common."""

    description: str
    """The type in words, for messages."""
    parse: Callable[[Any], Any]
    """An item as the column has it, from what a person gave; raises where its type is wrong."""
    key: Callable[[Any], Hashable | None]
    """The normal form of such an item; None where no row can have it."""
    item: Callable[[Any], Any]
    """The item that a normal form stands for, where nobody gave one; None where Python has none."""

    def __repr__(self) -> str:
        return f"<ColumnType: {self.description}>"


def _text(item: object) -> str:
    if not isinstance(item, str):
        raise TypeError
    return item


def _utf8(item: str) -> bytes | None:
    try:
        return shorten(item.encode())
    except UnicodeEncodeError:
        return None


def _binary(item: object) -> bytes:
    if not isinstance(item, bytes):
        raise TypeError
    return item


def _whole(item: Any) -> int:
    if isinstance(item, bool) or (not isinstance(item, str) and item != int(item)):
        raise TypeError
    return int(item)


def _real(item: Any) -> float:
    return float(item)


def _float(item: float) -> float | None:
    return None if math.isnan(item) else item + 0.0


def _decimal(item: Any) -> Decimal:
    if isinstance(item, bool):
        raise TypeError
    if isinstance(item, float):
        item = repr(item)  # the decimal it prints as, as everywhere in this library
    try:
        return item if isinstance(item, Decimal) else Decimal(item)
    except ArithmeticError:
        raise ValueError from None


def _ratio(item: Decimal) -> Fraction | None:
    known = item.is_finite() and (not item or abs(item.adjusted()) <= _LONGEST)
    return Fraction(item) if known else None


def _truth(item: object) -> bool:
    return item if isinstance(item, bool) else {"true": True, "false": False}[str(item).lower()]


def _date(item: Any) -> datetime.date:
    item = datetime.date.fromisoformat(item) if isinstance(item, str) else item
    if not isinstance(item, datetime.date) or isinstance(item, datetime.datetime):
        raise TypeError
    return item


def _moment(item: Any) -> Any:
    return _in_time(item, object_keys.NAIVE)


def _instant(item: Any) -> Any:
    return _in_time(item, object_keys.AWARE)


def _in_time(item: Any, family: str) -> Any:
    item = datetime.datetime.fromisoformat(item) if isinstance(item, str) else item
    key = object_keys.key(item)
    if not isinstance(key, tuple) or key[0] != family:
        raise TypeError
    return item


def _span(item: Any) -> Any:
    return _in_time(item, object_keys.DURATION) if not isinstance(item, str) else _text(None)


def _time(item: Any) -> Any:
    item = datetime.time.fromisoformat(item) if isinstance(item, str) else item
    return _in_time(item, object_keys.TIME)


def _identifier(item: Any) -> Any:
    uuid.UUID(str(item))
    return item


def _any(item: Any) -> Any:
    if object_keys.key(item) is None:
        raise TypeError
    return item


def _bare(item: Any) -> Hashable:
    """Return the number that the normal form of a Python object ends with."""
    key = object_keys.key(item)
    return key[1] if isinstance(key, tuple) else None


def _decode(key: bytes) -> str | None:
    try:
        return key.decode()
    except UnicodeDecodeError:
        return None


TEXT: Final = ColumnType("text", _text, _utf8, _decode)
BINARY: Final = ColumnType("bytes", _binary, shorten, bytes)
INTEGER: Final = ColumnType("whole numbers", _whole, int, int)
FLOAT: Final = ColumnType("numbers", _real, _float, float)
DECIMAL: Final = ColumnType("decimals", _decimal, _ratio, items.decimal_item)
BOOLEAN: Final = ColumnType("true and false", _truth, bool, bool)
DATE: Final = ColumnType("dates", _date, _bare, items.date_item)
TIMESTAMP: Final = ColumnType("dates with times and no zone", _moment, _bare, items.timestamp_item)
ZONED_TIMESTAMP: Final = ColumnType(
    "dates with times and a zone, such as 2026-01-01T00:00:00+00:00", _instant, _bare, items.zoned_item
)
DURATION: Final = ColumnType("spans of time", _span, _bare, items.duration_item)
TIME: Final = ColumnType("times of the day", _time, _bare, items.time_item)
UUID: Final = ColumnType("UUIDs", _identifier, lambda item: uuid.UUID(str(item)).int, lambda key: uuid.UUID(int=key))
OBJECT: Final = ColumnType("text, numbers, dates or other plain items", _any, object_keys.key, items.item_of_key)
"""A column of Python objects, whose type nobody declared: a value meets items of its own family only."""
NULL: Final = ColumnType("nothing", lambda item: item, lambda item: None, lambda key: None)
"""A column that can hold nulls only."""

NUMBERS: Final = (INTEGER, FLOAT, DECIMAL)
