"""The item that a normal form stands for: one Python value, whatever form the rows had.

So two engines call an item the same, and nobody's way to write a value (1 or 1.0, one time zone or another) shows in
what is published. A value that Python has no item for leaves its row out: text that is not UTF-8, dates outside the
years 1 to 9999, times finer than a microsecond.
"""

from __future__ import annotations

import datetime
import math
import uuid
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from lastbit.data.object_keys import AWARE, DURATION, NAIVE, TIME

_EPOCH: Final = datetime.datetime(1970, 1, 1)
_EPOCH_UTC: Final = _EPOCH.replace(tzinfo=datetime.UTC)
_FIRST_DAY: Final = datetime.date(1970, 1, 1).toordinal()
_DAY: Final = 86_400 * 10**9


def item_of_key(form: Any) -> Any:
    """Return the item that has a normal form, the same for all objects that have it; None where Python has none.

    A number is an int if it is whole, a float if a float holds it exactly, otherwise a Decimal or a Fraction.

    >>> from lastbit.data.object_keys import key
    >>> [item_of_key(key(value)) for value in (1.0, Decimal("0.1"), datetime.date(2026, 1, 1))], item_of_key("\\ud800")
    ([1, Decimal('0.1'), datetime.date(2026, 1, 1)], None)
    """
    if isinstance(form, str):
        return form if is_utf8(form) else None
    family, value = form
    return _ITEMS[family](value)


def is_utf8(text: str) -> bool:
    """Tell whether a text can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _number_item(value: Any) -> Any:
    if value in (math.inf, -math.inf):
        return float(value)
    exact = Fraction(value)
    if exact.denominator == 1:
        return int(exact)
    try:
        near = float(exact)
    except OverflowError:
        near = math.inf
    return near if near == exact else decimal_item(exact) or exact


def decimal_item(value: Fraction) -> Decimal | None:
    """Return the decimal of a fraction, without zeros at its end; None where it has no end.

    >>> decimal_item(Fraction(-3, 200)), decimal_item(Fraction(1500)), decimal_item(Fraction(1, 3))
    (Decimal('-0.015'), Decimal('1500'), None)
    """
    twos = (value.denominator & -value.denominator).bit_length() - 1
    rest, fives = value.denominator >> twos, 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return None
    scale = max(twos, fives)
    digits = abs(value.numerator) * 10**scale // value.denominator
    # From its digits: arithmetic with decimals would round as somebody set it up to.
    return Decimal((int(value < 0), tuple(map(int, str(digits))), -scale))


def timestamp_item(nanoseconds: int, start: datetime.datetime = _EPOCH) -> datetime.datetime | None:
    """Return the time so long after an epoch; None where Python's times are too coarse, or do not reach."""
    elapsed = duration_item(nanoseconds)
    try:
        return None if elapsed is None else start + elapsed
    except OverflowError:
        return None


def zoned_item(nanoseconds: int) -> datetime.datetime | None:
    """Return the same with a zone, UTC."""
    return timestamp_item(nanoseconds, _EPOCH_UTC)


def duration_item(nanoseconds: int) -> datetime.timedelta | None:
    """Return the span of time of this length; None where Python's are too coarse or too short."""
    microseconds, rest = divmod(nanoseconds, 1000)
    try:
        return None if rest else datetime.timedelta(microseconds=microseconds)
    except OverflowError:
        return None


def time_item(nanoseconds: int) -> datetime.time | None:
    """Return the time of the day so long after midnight; None where there is none."""
    moment = timestamp_item(nanoseconds) if 0 <= nanoseconds < _DAY else None
    return None if moment is None else moment.time()


def date_item(days: int) -> datetime.date | None:
    """Return the date so many days after 1970 began; None where Python's calendar does not reach."""
    try:
        return datetime.date.fromordinal(days + _FIRST_DAY)
    except (ValueError, OverflowError):
        return None


def _tuple_item(members: tuple[Any, ...]) -> tuple[Any, ...] | None:
    items = tuple(map(item_of_key, members))
    return None if None in items else items


_ITEMS: Final[dict[str, Callable[[Any], Any]]] = {
    "truth": bool,
    "number": _number_item,
    "bytes": bytes,
    "date": date_item,
    NAIVE: timestamp_item,
    AWARE: zoned_item,
    DURATION: duration_item,
    TIME: time_item,
    "uuid": lambda data: uuid.UUID(bytes=data),
    "tuple": _tuple_item,
}
