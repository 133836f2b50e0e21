"""Hostile values by kind. Each value once made a reader or an engine raise, or take two values for one."""

from __future__ import annotations

import datetime
import struct
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np

from lastbit.errors import ParameterError


def _double(bits: int) -> float:
    """Return the float with these 64 bits: the only way to write a NaN with a payload."""
    number: float = struct.unpack("<d", struct.pack("<Q", bits))[0]
    return number


NANS: Final = tuple(
    map(_double, (0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000000001, 0xFFFFFFFFFFFFFFFF, 0x7FF0000000000001))
)
"""Quiet and signalling NaNs, with both signs and several payloads."""

FORMS: Final[tuple[tuple[Any, ...], ...]] = ((0.0, -0.0), NANS)
"""Forms of one key: code that counts units must take each of these groups for a single unit."""


def _text() -> list[Any]:
    marks = [
        "",
        " ",
        "\t",
        "flu ",
        " flu",
        "FLU",
        "Flu",
        "ﬂu",
        "fl\u00adu",
        "f\u200blu",
        "flu\u0000",
        "\u0000flu",
        "\x00",
    ]
    quotes = [
        '"',
        '"flu',
        'flu"',
        '""',
        '"flu"',
        '"fl"u',
        'f"l"u',
        "'",
        "'; --",
        "\\",
        '\\"',
        "\\N",
        "\\x00",
        "`",
        "$$",
    ]
    breaks = [
        "\r",
        "\n",
        "\r\n",
        "\n\r",
        "flu\r",
        "flu\n",
        "fl\ru",
        "\x0b",
        "\x0c",
        "\x1a",
        "\x1c",
        "\x85",
        "\u2028",
        "\u2029",
    ]
    unicode = [
        "\ufeff",
        "\ufeffflu",
        "é",
        "e\u0301",
        "ﬁ",
        "İ",
        "ı",
        "ß",
        "ẞ",
        "Å",
        "\u212b",
        "K",
        "\u1e9b\u0323",
        "\u0301",
        "\u202eulf",
    ]
    planes = ["\U0001f9a0", "\U0010ffff", "\ufffd", "\uffff", "\ufdd0", "가", "\u1100\u1161", "a" + "\u0301" * 300]
    words = [
        "null",
        "NULL",
        "None",
        "NaN",
        "nan",
        "NA",
        "N/A",
        "true",
        "True",
        "inf",
        "-",
        "#REF!",
        "=1+1",
        "%s",
        "{}",
        "[]",
    ]
    numbers = [
        "0",
        "-0",
        "00",
        "1",
        "1.0",
        "01",
        "1e0",
        "１",
        "+1",
        "1_0",
        "0x1",
        "9" * 400,
        "1e400",
        "2024-10-27",
        "infinity",
    ]
    separators = [",", ";", "|", ",,", "flu,flu", "flu\tflu", "a,b,c,d,e", "*", "a.b", "lastbit_0"]
    return [*marks, *quotes, *breaks, *unicode, *planes, *words, *numbers, *separators, "x" * 70_000]


def _broken_text() -> list[Any]:
    return ["\ud800", "flu\udfff", "\udcff", "\udfff\ud800", "a\ud83d"]


def _whole() -> list[Any]:
    powers = [sign * (1 << bits) + step for bits in (31, 32, 53, 62) for sign in (1, -1) for step in (-1, 0, 1)]
    return [0, 1, -1, *powers, (1 << 63) - 1, -(1 << 63), -(1 << 63) + 1]


def _huge() -> list[Any]:
    return [1 << 63, (1 << 64) - 1, 1 << 64, -(1 << 63) - 1, (1 << 127) - 1, -(1 << 127), 1 << 128, 10**400, -(10**400)]


def _float() -> list[Any]:
    small = [
        0.0,
        -0.0,
        5e-324,
        -5e-324,
        2.2250738585072014e-308,
        1e-300,
        0.1,
        1.0,
        1.0000000000000002,
        0.9999999999999999,
    ]
    large = [
        2.0**53,
        2.0**53 + 2,
        2.0**62,
        2.0**63,
        -(2.0**63),
        2.0**64,
        1.7976931348623157e308,
        -1.7976931348623157e308,
    ]
    return [*small, *large, float("inf"), float("-inf"), *NANS]


def _decimal() -> list[Any]:
    plain = ["0", "-0", "0.00", "1", "1.0", "1.00", "0.1", "-1", "9" * 38, "1E-28", "12345678901234567890.123"]
    return [Decimal(text) for text in plain]


def _wild_decimal() -> list[Any]:
    texts = [
        "1E+400",
        "-1E+400",
        "1E-400",
        "0E+999",
        "NaN",
        "-NaN",
        "NaN123",
        "sNaN",
        "-sNaN7",
        "Infinity",
        "-Infinity",
    ]
    return [Decimal(text) for text in texts]


def _date() -> list[Any]:
    return [datetime.date(*day) for day in ((1, 1, 1), (1582, 10, 10), (1970, 1, 1), (2024, 2, 29), (9999, 12, 31))]


def _moment() -> list[Any]:
    at = datetime.datetime
    ends = [at(1, 1, 1), at(1677, 9, 21, 0, 12, 43), at(1970, 1, 1), at(2262, 4, 11, 23, 47, 17), at.max]
    hour = at(2024, 10, 27, 2, 30)
    return [*ends, hour, hour.replace(fold=1), hour.replace(microsecond=1), at(2024, 3, 31, 2, 30)]


def _moment_with_zone() -> list[Any]:
    berlin, kiev = ZoneInfo("Europe/Berlin"), datetime.timezone(datetime.timedelta(hours=2, seconds=1))
    hour = datetime.datetime(2024, 10, 27, 2, 30, tzinfo=berlin)
    repeated = [
        hour,
        hour.replace(fold=1),
        hour.astimezone(datetime.UTC),
        hour.replace(fold=1).astimezone(datetime.UTC),
    ]
    missing = datetime.datetime(2024, 3, 31, 2, 30, tzinfo=berlin)
    return [*repeated, missing, missing.replace(fold=1), hour.replace(tzinfo=kiev), hour.replace(microsecond=1)]


def _length() -> list[Any]:
    step = datetime.timedelta(microseconds=1)
    return [0 * step, step, -step, datetime.timedelta(days=106_751), datetime.timedelta.max, datetime.timedelta.min]


def _clock() -> list[Any]:
    noon = datetime.time(12)
    return [datetime.time.min, datetime.time.max, noon, noon.replace(fold=1), noon.replace(tzinfo=datetime.UTC)]


def _fine_time() -> list[Any]:
    """Return times that Python's own types cannot tell apart, nanoseconds apart, and times that they cannot hold."""
    near = [np.datetime64("2024-10-27T02:30:00", "ns") + np.timedelta64(step, "ns") for step in (0, 1, 999)]
    far = [np.datetime64("10000-01-01", "s"), np.datetime64("-290000000", "Y"), np.datetime64("NaT", "s")]
    return [*near, *far, np.timedelta64(1, "ns"), np.timedelta64((1 << 63) - 1, "ns"), np.timedelta64("NaT", "s")]


def _truth() -> list[Any]:
    return [True, False]


def _null() -> list[Any]:
    nulls = [None, float("nan"), np.datetime64("NaT", "s")]
    # Imported here, so that a program without hostile values does not load pandas.
    if find_spec("pandas") is not None:
        pandas = import_module("pandas")
        nulls += [pandas.NA, pandas.NaT]
    return nulls


def _object() -> list[Any]:
    deep: Any = "flu"
    for _ in range(200):
        deep = [deep]
    nested = [
        [],
        [1],
        ["flu"],
        {},
        {"flu": 1},
        {"a": {"b": []}},
        set(),
        {"flu"},
        frozenset({"flu"}),
        (),
        ("flu",),
        deep,
    ]
    raw = [
        b"",
        b"flu",
        b"\xff\xfe",
        bytearray(b"flu"),
        memoryview(b"flu"),
        np.array([1, 2]),
        np.array("flu"),
        np.str_("flu"),
    ]
    return [*nested, *raw, np.float64("nan"), np.int64(1), 1j, Fraction(1, 3), object(), str, len, Ellipsis, range(3)]


KINDS: Final[dict[str, Callable[[], list[Any]]]] = {
    "text": _text,
    "broken text": _broken_text,
    "whole": _whole,
    "huge": _huge,
    "float": _float,
    "decimal": _decimal,
    "wild decimal": _wild_decimal,
    "truth": _truth,
    "date": _date,
    "moment": _moment,
    "zoned": _moment_with_zone,
    "length": _length,
    "clock": _clock,
    "fine time": _fine_time,
    "null": _null,
    "object": _object,
}
"""The values of each kind. A typed column holds one kind and "null"; a column of Python objects holds all kinds."""


def values(*kinds: str) -> list[Any]:
    """Return the hostile values of these kinds; without a kind, all hostile values.

    >>> values("truth", "broken text")[:3]
    [True, False, '\\ud800']
    >>> len(values()) > 200
    True
    """
    for kind in kinds:
        if kind not in KINDS:
            raise ParameterError(f"kind must be one of {', '.join(KINDS)}: got {kind!r}.")
    return [value for kind in kinds or KINDS for value in KINDS[kind]()]
