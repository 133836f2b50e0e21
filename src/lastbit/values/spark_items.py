"""Items of a column of Spark: which of them Python has, and how Python reads them, with no zone of a session."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

_EPOCH: Final = datetime.datetime(1970, 1, 1)
_EPOCH_UTC: Final = _EPOCH.replace(tzinfo=datetime.UTC)
_TEXT: Final = r"string.*|char\(.*|varchar\(.*"
_SPAN: Final = r"interval day.*|interval hour.*|interval minute.*|interval second"
_ITEMS: Final = (
    rf"{_TEXT}|binary|tinyint|smallint|int|bigint|float|double|decimal\(.*|boolean|date|timestamp|timestamp_ntz|{_SPAN}"
)
_PARTS: Final = ("DAY", "HOUR", "MINUTE", "SECOND")


def can_be_items(dtype: str) -> bool:
    """Return whether the values of a column of this type can be items.

    >>> can_be_items("string"), can_be_items("interval year to month"), can_be_items("array<int>")
    (True, False, False)
    """
    return re.fullmatch(_ITEMS, dtype) is not None


def readable_condition(dtype: str, key: str) -> str:
    """Return whether Python has an item for a value, in SQL; true for null, which is an item here."""
    if re.fullmatch(_TEXT, dtype):
        from pyspark.sql import functions as f

        if hasattr(f, "is_valid_utf8"):
            return f"{key} IS NULL OR is_valid_utf8({key})"
        data = f"CAST({key} AS BINARY)"  # Spark 3 puts another character for a wrong one
        return f"{key} IS NULL OR encode(decode({data}, 'UTF-8'), 'UTF-8') = {data}"
    if dtype == "date":
        return f"{key} IS NULL OR {key} BETWEEN DATE'0001-01-01' AND DATE'9999-12-31'"
    if dtype in ("timestamp", "timestamp_ntz"):
        of, zone = ("TIMESTAMP", "Z") if dtype == "timestamp" else ("TIMESTAMP_NTZ", "")
        first, last = f"{of}'0001-01-01 00:00:00{zone}'", f"{of}'9999-12-31 23:59:59.999999{zone}'"
        return f"{key} IS NULL OR {key} BETWEEN {first} AND {last}"
    return "true"


def item_reader(dtype: str, key: str) -> tuple[str, Callable[[Any], Any]]:
    """Return a value as Python reads it, in SQL, and the item of what Python reads: times with a zone are in UTC."""
    if dtype == "timestamp":
        return f"unix_micros({key})", _after(_EPOCH_UTC)
    if dtype == "timestamp_ntz":
        # As a length of time from 1970 in its parts: no zone has a say in these.
        span = f"({key} - TIMESTAMP_NTZ'1970-01-01 00:00:00')"
        parts = {part: f"CAST(extract({part} FROM {span}) AS DECIMAL(38,6))" for part in _PARTS}
        minutes = f"({parts['DAY']} * 24 + {parts['HOUR']}) * 60 + {parts['MINUTE']}"
        return f"({minutes}) * 60 + {parts['SECOND']}", _seconds_after(_EPOCH)
    if dtype == "binary":
        return key, lambda value: None if value is None else bytes(value)
    return key, lambda value: value


def _after(start: datetime.datetime) -> Callable[[int | None], datetime.datetime | None]:
    return lambda micros: None if micros is None else start + datetime.timedelta(microseconds=micros)


def _seconds_after(start: datetime.datetime) -> Callable[[Decimal | None], datetime.datetime | None]:
    return lambda seconds: None if seconds is None else start + datetime.timedelta(microseconds=int(seconds * 10**6))
