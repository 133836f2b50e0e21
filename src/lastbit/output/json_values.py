"""Published values as JSON: numbers are numbers, and exact fractions stand beside them under a key of their own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from math import isfinite
from types import NoneType
from typing import Any, Final

import gmpy2
import numpy as np

EXACT: Final = "exact"
"""The key of an object under which its fractions are written exactly, as text."""

SCHEMA: Final = "lastbit-release-1"
"""The name and version of the schema in release.schema.json that every release follows."""

COMPARISON_SCHEMA: Final = "lastbit-comparison-1"
"""The name and version of the JSON of two answers that are compared."""

_AS_THEY_ARE: Final = (str, int, bool)
_PLAIN: Final = {str, int, bool, float, NoneType}
_LARGEST: Final = 1 << 1023
_NO_NUMBERS: Final = ("inf", "-inf", "nan")
_WHOLE: Final = 1 << 53
"""Many programs read a whole number from here on as a float, and round it."""


def to_json_value(value: object) -> Any:
    """Convert a published value into what JSON has: numbers, text, True, False, None, lists and dictionaries only.

    A fraction becomes the nearest number that a float holds. A dictionary that holds fractions has them exactly too, as
    text, under its key "exact". There it has infinite numbers as well, which JSON does not have (None), and whole
    numbers from 2^53 on.

    >>> to_json_value({"gap": [Fraction(5, 2), Fraction(4), None]})
    {'gap': [2.5, 4, None], 'exact': {'gap': ['5/2', '4', None]}}
    """
    if value is None or type(value) in _AS_THEY_ARE:
        return value
    if type(value) is Fraction:
        return _nearest(value)
    if type(value) is tuple or type(value) is list:
        return list(value) if _is_plain(value) else [to_json_value(element) for element in value]
    if isinstance(value, dict | Mapping):
        return _object(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, list | tuple | range | np.ndarray):
        own = value.tolist() if isinstance(value, np.ndarray) else value
        return list(own) if _is_plain(own) else [to_json_value(element) for element in own]
    if isinstance(value, Fraction):
        return _nearest(value)
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if isinstance(value, int | str | None) else str(value)


def json_text(value: object, *, ascii_only: bool = False) -> str:
    """Write a published value as JSON, in characters that every file can hold, or that every terminal can show.

    >>> json_text({"item": "caf\u00e9 \u202e\x9b"})
    '{"item": "café \\\\u202e\\\\u009b"}'
    """
    return write_json(to_json_value(value), ascii_only=ascii_only)


def write_json(document: object, *, ascii_only: bool = False) -> str:
    """Write what `to_json_value` made, in the same characters.

    >>> write_json({"gap": [2.5, None]})
    '{"gap": [2.5, null]}'
    """
    # A character that moves the cursor or turns the line of a terminal is written as its number. So is half of a pair
    # of surrogates, which is text for Python, and no character for anyone else.
    text = json.dumps(document, ensure_ascii=ascii_only, allow_nan=False)
    if not text.isprintable():
        text = "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in text)
    return text


def _object(mapping: Mapping[Any, Any]) -> dict[str, Any]:
    values = {str(name): to_json_value(value) for name, value in mapping.items() if name != EXACT}
    own = mapping.get(EXACT, {})
    if not isinstance(own, dict | Mapping):  # somebody's object, which has a key of this name
        return values | {EXACT: to_json_value(own)}
    # What a release has written exactly stays, unless another value has taken its place.
    exact = {
        name: to_json_value(text) for name, text in own.items() if name not in values or _agrees(text, values[name])
    }
    for name, value in mapping.items():
        if name != EXACT and name not in exact and _has_exact(value):
            exact[str(name)] = _exact(value)
    return values | ({EXACT: exact} if exact else {})


def _agrees(text: Any, value: Any) -> bool:
    """Return whether a number is written exactly by a text, or each number of a list by its text."""
    if isinstance(text, list):
        same = isinstance(value, list) and len(value) == len(text)
        return same and all(map(_agrees, text, value))
    if not isinstance(text, str) or not isinstance(value, int | float | None):
        return bool(text == value)
    if text in _NO_NUMBERS or value is None:
        return value is None and text in _NO_NUMBERS
    try:
        return _nearest(Fraction(text)) == value
    except (ValueError, ZeroDivisionError):
        return False


def _is_plain(values: Any) -> bool:
    """Return whether a list goes into JSON as it is, and holds nothing that is written exactly beside it.

    Told for all values at once: long lists are such lists.
    """
    kinds = set(map(type, values))
    if not kinds <= _PLAIN:
        return False
    if kinds <= {str, bool, NoneType}:
        return True
    numbers = [value for value in values if type(value) is float or type(value) is int]
    return all(-_WHOLE < value < _WHOLE for value in numbers)


def _has_exact(value: object) -> bool:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, list | tuple | np.ndarray):
        own = value.tolist() if isinstance(value, np.ndarray) else value
        return not _is_plain(own) and any(map(_has_exact, own))
    if isinstance(value, float):
        return not isfinite(value)
    return isinstance(value, Fraction) or (isinstance(value, int) and abs(value) >= _WHOLE)


def _exact(value: object) -> Any:
    if type(value) is tuple or type(value) is list:
        return [_exact(element) for element in value]
    if type(value) is Fraction:
        return _text_of(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, list | tuple | np.ndarray):
        return [_exact(element) for element in value]
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        return to_json_value(value)
    return _text_of(value) if isinstance(value, int | Fraction) else str(value)


def _text_of(value: int | Fraction) -> str:
    """Return a number as it is written exactly: not by Python, which refuses to write very long ones."""
    return str(gmpy2.mpq(value))


def _nearest(value: Fraction) -> int | float:
    if value.denominator == 1:
        return value.numerator
    # JSON has whole numbers of any length, and programs read its other numbers as floats.
    return round(value) if abs(value) >= _LARGEST else value.numerator / value.denominator
