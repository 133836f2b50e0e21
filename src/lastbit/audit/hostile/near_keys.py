"""Pairs of different keys that are nearly equal. Code that counts must take each pair for two units and two items."""

from __future__ import annotations

import datetime
import uuid
from decimal import Decimal
from fractions import Fraction
from math import nextafter
from typing import Any, Final

import numpy as np

Pair = tuple[Any, Any]

_DAY: Final = datetime.date(2024, 10, 27)
_HOUR: Final = datetime.datetime(2024, 10, 27, 2, 30)
_STEP: Final = datetime.timedelta(microseconds=1)
_LONG: Final = "x" * 70_000

NEAR: Final[dict[str, tuple[Pair, ...]]] = {
    "text": (
        ("p", "P"),
        ("p", "p "),
        ("é", "e\u0301"),
        ("Å", "\u212b"),
        ("p", "\ufeffp"),
        ("1", "1.0"),
        ("1", "01"),
        ("1234567890123456.0", "1234567890123457.0"),
        (_LONG + "a", _LONG + "b"),
        (_LONG, _LONG + "x"),
    ),
    "text with a zero byte": (("p", "p\x00"), ("p\x00", "p\x00\x00"), ("p\x00a", "p\x00b")),
    "bytes": ((b"p", b"p\x00"), (b"\xff", b"\xfe"), (b"\xc3", b"\xc3\xa9"), (b"x" * 70_000, b"x" * 69_999 + b"y")),
    "whole": (
        (1 << 53, (1 << 53) + 1),
        ((1 << 63) - 1, (1 << 63) - 2),
        (-(1 << 63), -(1 << 63) + 1),
        (7, 7 + (1 << 32)),
        (7, -7),
        (0, -(1 << 63)),
        (0, (1 << 61) - 1),
    ),
    "unsigned": (((1 << 64) - 1, (1 << 64) - 2), (1 << 63, (1 << 63) + 1), (7, 7 + (1 << 63))),
    "huge": (
        ((1 << 127) - 1, (1 << 127) - 2),
        (7, 7 + (1 << 64)),
        (-1, (1 << 64) - 1),
        (0, -(1 << 127)),
        (1 << 64, (1 << 64) + 1),
    ),
    "float": (
        (1234567890123456.0, 1234567890123457.0),
        (0.1, nextafter(0.1, 1)),
        (5e-324, 1e-323),
        (1.0, nextafter(1.0, 2)),
        (2.0**24, 2.0**24 + 1),
        (2.0**53, 2.0**53 + 2),
        (1.7976931348623157e308, nextafter(1.7976931348623157e308, 0)),
        (1.0, -1.0),
        (float("inf"), 1.7976931348623157e308),
    ),
    "decimal": (
        (Decimal("12345678901234567890.123"), Decimal("12345678901234567890.124")),
        (Decimal("0.001"), Decimal("-0.001")),
        (Decimal("9" * 20 + ".999"), Decimal("9" * 20 + ".998")),
    ),
    "long decimal": (
        (Decimal("1" * 60 + ".001"), Decimal("1" * 60 + ".002")),
        (Decimal("1" * 60), Decimal("-" + "1" * 60)),
        (Decimal("1" + "0" * 40), Decimal("1" + "0" * 41)),
        (Decimal("1" + "0" * 59 + "1"), Decimal("1" + "0" * 59 + "2")),
    ),
    "truth": ((True, False),),
    "date": ((_DAY, _DAY + datetime.timedelta(days=1)), (datetime.date.min, datetime.date.max)),
    "moment": (
        (_HOUR, _HOUR + _STEP),
        (datetime.datetime.max, datetime.datetime.max - _STEP),
        (datetime.datetime.min, datetime.datetime.min + _STEP),
    ),
    "fine moment": (  # in nanoseconds since 1970
        (1, 2),
        (999, 1000),
        (1_729_996_200_000_000_000, 1_729_996_200_000_000_001),
    ),
    "length": ((_STEP, 2 * _STEP), (datetime.timedelta(days=30), datetime.timedelta(days=31))),
    "clock": ((datetime.time(12), datetime.time(12, 0, 0, 1)),),
    "object": (
        (1, True),
        (1, "1"),
        (b"1", "1"),
        (1, (1,)),
        (_DAY, datetime.datetime(2024, 10, 27)),
        (_HOUR, _HOUR.replace(tzinfo=datetime.UTC)),
        (Fraction(1, 3), 1 / 3),
        (Decimal("0.1"), 0.1),
        (2**1000, 2**1000 + 1),
        ((1 << 64) + 1, float(1 << 64)),
        (uuid.UUID(int=1), 1),
        (uuid.UUID(int=1), uuid.UUID(int=1 << 64)),
        (np.datetime64(1, "ns"), np.datetime64(2, "ns")),
        (np.timedelta64(1, "ns"), np.datetime64(1, "ns")),
        (np.longdouble(1) / 3, 1 / 3),
    ),
}
"""Pairs by the kind of the column that holds them."""
