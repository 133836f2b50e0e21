"""Exact parameters: the number a person types becomes a fraction, once.

After this module no parameter is a float.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Final

import numpy as np

from lastbit.errors import ParameterError

Number = int | float | str | Fraction | Decimal

MAX_BITS: Final = 4096
"""A numerator or denominator with more bits is a mistake, not a parameter."""

_DECIMAL: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,5})?", re.ASCII)
_RATIO: Final = re.compile(r"[+-]?\d+/\d+", re.ASCII)
_MAX_TEXT: Final = 2048


def number(value: object, name: str) -> Fraction:
    """Return the exact value of a parameter. A float means the decimal it prints as.

    >>> number(0.1, "epsilon"), number("1/3", "epsilon")
    (Fraction(1, 10), Fraction(1, 3))
    """
    if type(value) is Fraction:
        result = value
    elif isinstance(value, bool | np.bool_):
        raise ParameterError(f"{name} must be a number: got {value}. Pass 1 if one is meant.")
    elif isinstance(value, Rational):
        result = Fraction(int(value.numerator), int(value.denominator))
    else:
        result = _parse_text(_text_of(value, name), name)
    if max(abs(result.numerator), result.denominator).bit_length() > MAX_BITS:
        raise ParameterError(f"{name} must fit in {MAX_BITS} bits above and below the fraction bar. Round it.")
    return result


def _text_of(value: object, name: str) -> str:
    # Decimal and every float type print a decimal that reads back as the same number.
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, Real | Decimal):
        return str(value)
    raise ParameterError(
        f"{name} must be a number: got {type(value).__name__}. "
        "Pass an int, a Fraction, a Decimal, a float, or text such as '0.1' or '1/3'."
    )


def _parse_text(text: str, name: str) -> Fraction:
    if len(text) > _MAX_TEXT:
        raise ParameterError(f"{name} must be a number of at most {_MAX_TEXT} characters. Round it.")
    if _RATIO.fullmatch(text):
        above, below = text.split("/")
        if int(below) == 0:
            raise ParameterError(f"{name} must be a number: got {text}. A fraction needs a denominator above 0.")
        return Fraction(int(above), int(below))
    match = _DECIMAL.fullmatch(text)
    if match is None:
        excerpt = repr(text[:40]) if text else "empty text"
        raise ParameterError(f"{name} must be a finite number: got {excerpt}. Write it like '0.1', '1e-3' or '1/3'.")
    if match[2] and abs(int(match[2][1:])) * 3 > MAX_BITS:
        raise ParameterError(f"{name} must fit in {MAX_BITS} bits: got {text}. Round it.")
    return Fraction(text)


def positive(value: object, name: str, why: str) -> Fraction:
    """Return `number`, refused unless above zero; `why` is the last sentence of the refusal."""
    result = number(value, name)
    if result <= 0:
        raise ParameterError(f"{name} must be positive: got {shorten(result)}. {why}")
    return result


def whole(value: object, name: str, *, least: int = 1) -> int:
    """Return an integer parameter of at least `least`; a number that is not exactly an integer is refused."""
    if type(value) is int and value >= least and value.bit_length() <= MAX_BITS:
        return value
    result = number(value, name)
    if result.denominator != 1 or result < least:
        raise ParameterError(f"{name} must be a whole number of at least {least}: got {shorten(result)}.")
    return result.numerator


def flag(value: object, name: str) -> bool:
    """Return a parameter that is True or False. Any other value could count as true and halve the noise by mistake."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{name} must be True or False: got {type(value).__name__}.")
    return bool(value)


def probability(value: object, name: str) -> Fraction:
    """Return a probability strictly between 0 and 1, such as the level of an interval.

    >>> probability("0.95", "level")
    Fraction(19, 20)
    """
    exact = number(value, name)
    if not 0 < exact < 1:
        raise ParameterError(f"{name} must be above 0 and below 1: got {shorten(exact)}. It is a probability.")
    return exact


def shorten(value: Fraction) -> str:
    """Write a parameter as an error message shows it: short, however long the number is.

    >>> shorten(Fraction(1, 3)), shorten(Fraction(10) ** 400)
    ('1/3', 'a huge number')
    """
    text = str(value)
    return text if len(text) <= 40 else f"about {float(value):.3g}" if abs(value) < 1e300 else "a huge number"
