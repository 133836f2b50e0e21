"""The normal form of any Python object that a cell may hold.

Text stands for itself, anything else for its family and an exact value: so True is not 1, while 1, 1.0 and Decimal(1)
are one number. What is missing, not a number, or of no family known here has no normal form: its row is left out.
Nothing a class overrides is asked but for the offset of a time zone, and whatever that raises stays here.
"""

from __future__ import annotations

import datetime
import math
import uuid
from collections.abc import Callable, Hashable
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np

from lastbit.data.long_texts import shorten, shorten_text
from lastbit.values.raw import is_missing

NAIVE: Final = "moment"
AWARE: Final = "instant"
DURATION: Final = "span"
TIME: Final = "time"

_EPOCH: Final = datetime.datetime(1970, 1, 1)
_EPOCH_UTC: Final = _EPOCH.replace(tzinfo=datetime.UTC)
_MICROSECOND: Final = datetime.timedelta(microseconds=1)
_FIRST_DAY: Final = datetime.date(1970, 1, 1).toordinal()
_SHORT: Final = 400
"""A decimal has at most this many digits and zeros."""

_BITS: Final = 1400
"""A number has at most this many bits above and below its line: more than any float."""

_SMALL: Final = 1 << 60
"""The hashes of whole numbers below this are different."""

_NANOSECONDS: Final = {
    "D": 86_400 * 10**9, "h": 3600 * 10**9, "m": 60 * 10**9, "s": 10**9, "ms": 10**6, "us": 1000, "ns": 1,
}  # fmt: skip


def key(value: Any) -> Hashable | None:
    """Return the normal form of an object; None where it has none.

    >>> key("flu"), key(1.0) == key(1), key(True) == key(1), key(float("nan")), key(["flu"])
    ('flu', True, False, None, None)
    """
    if type(value) is str:
        return shorten_text(value)
    try:
        return _key(value)
    except Exception:
        return None


def encode_key(form: Any) -> bytes:
    """Return a normal form as bytes, the same for forms that are equal."""
    if isinstance(form, str):
        return b"text " + form.encode("utf-8", "surrogatepass")
    family, value = form
    if family == "number" and value not in (math.inf, -math.inf):
        value = Fraction(value)
    if family == "tuple":
        value = [encode_key(member) for member in value]
    return f"{family} {value!r}".encode("utf-8", "surrogatepass")


def _key(value: Any) -> Hashable | None:
    cls = type(value)
    if is_missing(value):
        return None
    for base, form in _FORMS:
        if issubclass(cls, base):
            return form(value)
    return None


def _tuple(value: tuple[Any, ...]) -> Hashable | None:
    members = tuple(None if type(member) is tuple else key(member) for member in tuple.__iter__(value))
    return None if None in members else ("tuple", members)


def _number(value: int | Fraction) -> Hashable | None:
    """Return a number in a form whose hash few others have.

    Python's hash of a number is a remainder, and anybody can make numbers that share it. The form is a small
    whole number, or the float that is equal to the number, or a text.
    """
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _BITS:
        return None
    if -_SMALL < value < _SMALL and value.denominator == 1:
        return "number", int(value)
    try:
        near = float(value)
    except OverflowError:
        near = math.inf
    return "number", near if near == value else f"{value.numerator}/{value.denominator}"


def _float(value: float) -> Hashable | None:
    real = float.__add__(value, 0.0)
    return None if real != real else ("number", real)


def _floating(value: Any) -> Hashable | None:
    if np.isnan(value):
        return None
    return ("number", float(value)) if np.isinf(value) else _number(Fraction(*value.as_integer_ratio()))


def _decimal(value: Decimal) -> Hashable | None:
    sign, digits, exponent = Decimal.as_tuple(value)
    if not isinstance(exponent, int):
        return ("number", float("-inf" if sign else "inf")) if exponent == "F" else None
    text = "".join(map(str, digits)).lstrip("0")
    short = text.rstrip("0")
    if not short:
        return ("number", 0)
    exponent += len(text) - len(short)
    if len(short) + abs(exponent) > _SHORT:
        return None  # written out it might not fit in memory
    return _number((-1) ** sign * int(short) * Fraction(10) ** exponent)


def _datetime(value: datetime.datetime) -> Hashable | None:
    exact = getattr(value, "asm8", None)  # a Timestamp of pandas, which is finer than microseconds
    aware = value.tzinfo is not None and value.utcoffset() is not None
    if exact is not None:
        nanoseconds = _numpy_time(exact)
    else:
        since = _EPOCH_UTC if aware else _EPOCH
        elapsed = datetime.datetime.__sub__(value if aware else value.replace(tzinfo=None), since)
        nanoseconds = elapsed // _MICROSECOND * 1000
    return None if nanoseconds is None else (AWARE if aware else NAIVE, nanoseconds)


def _numpy_time(value: Any) -> int | None:
    unit, number = np.datetime_data(value.dtype)
    if np.isnat(value) or unit not in _NANOSECONDS:
        return None
    return int(value.view(np.int64)) * number * _NANOSECONDS[unit]


def _timedelta(value: datetime.timedelta) -> Hashable | None:
    exact = getattr(value, "asm8", None)
    nanoseconds = _numpy_time(exact) if exact is not None else value // _MICROSECOND * 1000
    return None if nanoseconds is None else (DURATION, nanoseconds)


def _time(value: datetime.time) -> Hashable | None:
    if value.tzinfo is not None:
        return None
    seconds = (value.hour * 60 + value.minute) * 60 + value.second
    return (TIME, (seconds * 10**6 + value.microsecond) * 1000)


def _tag(family: str, number: int | None) -> Hashable | None:
    return None if number is None else (family, number)


_FORMS: Final[tuple[tuple[type, Callable[[Any], Hashable | None]], ...]] = (
    (bool, lambda value: ("truth", bool(value))),
    (np.bool_, lambda value: ("truth", bool(value))),
    (int, lambda value: _number(int.__add__(value, 0))),
    (float, _float),
    (str, lambda value: shorten_text(str.__str__(value))),
    (bytes, lambda value: ("bytes", shorten(bytes.__add__(value, b"")))),
    (Decimal, _decimal),
    (Fraction, lambda value: _number(Fraction(int(value.numerator), int(value.denominator)))),
    (datetime.datetime, _datetime),
    (datetime.date, lambda value: ("date", datetime.date.toordinal(value) - _FIRST_DAY)),
    (datetime.timedelta, _timedelta),
    (datetime.time, _time),
    (uuid.UUID, lambda value: ("uuid", int.__add__(value.int, 0).to_bytes(16, "big"))),
    # NumPy calls a span of time a whole number.
    (np.timedelta64, lambda value: _tag(DURATION, _numpy_time(value))),
    (np.datetime64, lambda value: _tag(NAIVE, _numpy_time(value))),
    (np.integer, lambda value: _number(int(value))),
    (np.floating, _floating),
    (tuple, _tuple),
)
