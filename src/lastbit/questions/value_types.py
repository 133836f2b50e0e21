"""The types of the values of options. Each reads text, Python values and JSON values into one normal form.

A refusal is one line. It names the option, says what was expected, what came, and what to write.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any, Final

import numpy as np

from lastbit.errors import ParameterError
from lastbit.exact.numbers import number, probability
from lastbit.questions.option import Face

LONGEST: Final = 10_000
"""No name, condition or note has more characters than this."""


def describe(value: object) -> str:
    """Return a value of a parameter as a message shows it: short, on one line.

    >>> describe("a" * 100), describe([1]), describe(True)
    ("'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…'", 'a list', 'True')
    """
    if isinstance(value, bool | np.bool_ | int | float | Fraction | Decimal):
        parts = (value.numerator, value.denominator) if isinstance(value, int | Fraction) else ()
        text = "a huge number" if any(part.bit_length() >= 200 for part in parts) else str(value)
        return text if len(text) <= 40 else f"{text[:40]}…"
    if isinstance(value, str):
        return repr(value) if len(value) <= 40 else f"{repr(value[:40])[:-1]}…'"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def wrong_value(flag: str, expected: str, value: object, advice: str = "") -> ParameterError:
    """Return the error that says what was expected, what came, and what to write."""
    return ParameterError(f"{flag} must be {expected}: got {describe(value)}.{' ' if advice else ''}{advice}")


def is_number(value: object) -> bool:
    """Return whether a value is a number of Python: no text, and no truth value."""
    return isinstance(value, Real | Decimal) and not isinstance(value, bool | np.bool_)


@dataclass(frozen=True)
class Text:
    """A name or a sentence: text, and nothing else."""

    metavar: str = "TEXT"
    empty: bool = False
    """Whether empty text is a value."""
    words: int = 1
    repeats: bool = False

    def parse(self, value: Any, flag: str, face: Face) -> str:
        """Return the text."""
        if not isinstance(value, str):
            raise wrong_value(flag, "text", value)
        if not value and not self.empty:
            raise ParameterError(f"{flag} must not be empty. Write {flag} {self.metavar}, or leave it out.")
        if len(value) > LONGEST:
            raise ParameterError(f"{flag} must have at most {LONGEST:,} characters: got {len(value):,}. Shorten it.")
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise ParameterError(f"{flag} must be text that UTF-8 can write: got {describe(value)}.") from None
        if "\0" in value:
            raise ParameterError(f"{flag} must have no character of code 0: got {describe(value)}.")
        return str(value)

    def arguments(self, value: str) -> list[list[str]]:
        """Return the text as one word."""
        return [[value]]

    def plain(self, value: str) -> Any:
        """Return the text."""
        return value

    def fact(self, value: str) -> Any:
        """Return the text."""
        return value

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of a text."""
        return {"type": "string"}


@dataclass(frozen=True)
class Place(Text):
    """A file or an address: text, or a path."""

    metavar: str = "FILE"

    def parse(self, value: Any, flag: str, face: Face) -> str:
        """Return the path as text."""
        return super().parse(path_text(value), flag, face)


def path_text(value: Any) -> Any:
    """Return a path as text, and any other value as it is."""
    if isinstance(value, os.PathLike):
        path = os.fspath(value)
        return os.fsdecode(path) if isinstance(path, bytes) else path
    return value


@dataclass(frozen=True)
class OneOf(Text):
    """One of a few words."""

    choices: tuple[str, ...] = ()

    def parse(self, value: Any, flag: str, face: Face) -> str:
        """Return the word."""
        if not isinstance(value, str) or value not in self.choices:
            *others, last = self.choices
            raise wrong_value(flag, f"{', '.join(others)} or {last}", value)
        return str(value)

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the words."""
        return {"enum": list(self.choices)}


@dataclass(frozen=True)
class Number(Text):
    """An exact number, kept as the text that a person types: a float means the decimal that it prints as."""

    metavar: str = "NUMBER"

    def parse(self, value: Any, flag: str, face: Face) -> str:
        """Return the number as text."""
        if not isinstance(value, str) and not is_number(value):
            raise wrong_value(flag, "a number", value, "Write it like 0.1, 1e-3 or 1/3.")
        if isinstance(value, str) and (value.startswith("--") or len(value) > 2048):
            raise wrong_value(flag, "a number", value, "Write it like 0.1, 1e-3 or 1/3.")
        exact = number(value, flag)
        if isinstance(value, str):
            return value.strip()
        return str(value) if isinstance(value, float | Decimal) else str(exact)

    def fact(self, value: str) -> Any:
        """Return the fraction in lowest terms."""
        return str(number(value, self.metavar))

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of a number, which may be text such as "1/3"."""
        return {"type": ["number", "string"]}


@dataclass(frozen=True)
class Probability(Number):
    """A number above 0 and below 1."""

    def parse(self, value: Any, flag: str, face: Face) -> str:
        """Return the probability as text."""
        text = super().parse(value, flag, face)
        probability(text, flag)
        return text


@dataclass(frozen=True)
class Share(Number):
    """A number, or a share of a whole: `50`, `2%`."""

    metavar: str = "ACCURACY"

    def parse(self, value: Any, flag: str, face: Face) -> str:
        """Return the number or the share as text."""
        text = value.strip() if isinstance(value, str) else value
        if isinstance(text, str) and text.endswith("%"):
            return f"{super().parse(text[:-1], flag, face)}%"
        return super().parse(text, flag, face)


@dataclass(frozen=True)
class Scalar(Number):
    """A number, or a word such as a date: `2024-01`, `leave-out`."""

    metavar: str = "VALUE"

    def parse(self, value: Any, flag: str, face: Face) -> str:
        """Return the number or the word as text."""
        if is_number(value):
            return super().parse(value, flag, face)
        text = Text.parse(self, value, flag, face).strip()
        if text.startswith("--"):
            raise wrong_value(flag, "a value", value)
        return text

    def fact(self, value: str) -> Any:
        """Return a number in lowest terms, and other text as it is."""
        try:
            return str(number(value, self.metavar))
        except ParameterError:
            return value


@dataclass(frozen=True)
class Rule(Scalar):
    """What a missing number counts as: one of a few words, or a number."""

    rules: tuple[str, ...] = ()

    def parse(self, value: Any, flag: str, face: Face) -> str:
        """Return the word, or the number as text."""
        text = super().parse(value, flag, face)
        try:
            if text not in self.rules:
                number(text, flag)
        except ParameterError:
            raise wrong_value(flag, f"{', '.join(map(repr, self.rules))} or a number", value) from None
        return text


@dataclass(frozen=True)
class Flag:
    """True or false. Text is refused, because "false" is not empty."""

    metavar: str = ""
    words: int = 0
    repeats: bool = False

    def parse(self, value: Any, flag: str, face: Face) -> bool:
        """Return the truth value."""
        if not isinstance(value, bool | np.bool_):
            raise wrong_value(flag, "true or false, without quotes", value)
        return bool(value)

    def arguments(self, value: bool) -> list[list[str]]:
        """Return no word behind the flag; for false no flag at all."""
        return [[]] if value else []

    def plain(self, value: bool) -> Any:
        """Return the truth value."""
        return value

    def fact(self, value: bool) -> Any:
        """Return the truth value."""
        return value

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of a truth value."""
        return {"type": "boolean"}


def quote_literal(value: Any) -> str:
    """Return a value as Python writes it, with double quotes.

    >>> quote_literal({"age": ["0", 18]})
    '{"age": ["0", 18]}'
    """
    if isinstance(value, str):
        written = repr(value)
        return f'"{written[1:-1]}"' if written[0] == "'" and '"' not in written else written
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(quote_literal, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{quote_literal(name)}: {quote_literal(item)}' for name, item in value.items())}}}"
    return repr(value)
