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

MOST_AUTOMATIC: Final = 10**6
"""No bound that is found automatically is larger."""


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


def _wrong_value(flag: str, expected: str, value: object, advice: str = "") -> ParameterError:
    """Return the error that says what was expected, what came, and what to write."""
    return ParameterError(f"{flag} must be {expected}: got {describe(value)}.{' ' if advice else ''}{advice}")


def _is_number(value: object) -> bool:
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
            raise _wrong_value(flag, "text", value)
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
        return super().parse(_path_text(value), flag, face)


def _path_text(value: Any) -> Any:
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
            raise _wrong_value(flag, f"{', '.join(others)} or {last}", value)
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
        if not isinstance(value, str) and not _is_number(value):
            raise _wrong_value(flag, "a number", value, "Write it like 0.1, 1e-3 or 1/3.")
        if isinstance(value, str) and (value.startswith("--") or len(value) > 2048):
            raise _wrong_value(flag, "a number", value, "Write it like 0.1, 1e-3 or 1/3.")
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
        if _is_number(value):
            return super().parse(value, flag, face)
        text = Text.parse(self, value, flag, face).strip()
        if text.startswith("--"):
            raise _wrong_value(flag, "a value", value)
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
            raise _wrong_value(flag, f"{', '.join(map(repr, self.rules))} or a number", value) from None
        return text


@dataclass(frozen=True)
class WholeNumber:
    """A whole number from `least` on, below 2^63 or up to `most`."""

    metavar: str = "NUMBER"
    least: int = 1
    words: int = 1
    repeats: bool = False
    most: int = (1 << 63) - 1

    def parse(self, value: Any, flag: str, face: Face) -> int:
        """Return the number."""
        advice = f"Write {flag} {max(self.least, 3)}."
        expected = f"a whole number of at least {self.least}"
        if isinstance(value, str):
            text = value.strip()
            if not text.removeprefix("-").isascii() or not text.removeprefix("-").isdigit() or len(text) > 4000:
                raise _wrong_value(flag, expected, value, advice)
            value = int(text)
        whole = _to_whole(value)
        if whole is None:
            raise _wrong_value(flag, expected, value, advice)
        if whole < self.least:
            raise _wrong_value(flag, expected, whole, advice)
        if whole >= 1 << 63:
            raise ParameterError(f"{flag} must be below 2^63: got {describe(whole)}. Choose a smaller number.")
        if whole > self.most:
            raise ParameterError(f"{flag} must be at most {self.most:,}: got {whole:,}. Choose a smaller number.")
        return whole

    def arguments(self, value: int) -> list[list[str]]:
        """Return the digits."""
        return [[str(value)]]

    def plain(self, value: int) -> Any:
        """Return the number."""
        return value

    def fact(self, value: int) -> Any:
        """Return the number."""
        return value

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of a whole number."""
        return {"type": "integer", "minimum": self.least}


def _to_whole(value: Any) -> int | None:
    """Return a whole number as Python's own; None for anything else, and for a Decimal that memory may not hold."""
    if not _is_number(value) or (isinstance(value, Decimal) and not (value.is_finite() and value.adjusted() < 5000)):
        return None
    if value != value or value in (float("inf"), float("-inf")):
        return None
    whole = int(value)
    return whole if whole == value else None


@dataclass(frozen=True)
class WholeNumberOrAll(WholeNumber):
    """A whole number, or `all`, which is the same as nothing said, or `auto`, or `auto:200` for at most 200."""

    metavar: str = "NUMBER|all|auto"

    def parse(self, value: Any, flag: str, face: Face) -> Any:
        """Return the number, `auto` or `auto:200`; None for all.

        >>> WholeNumberOrAll().parse("auto: 0200", "--most-items", "command")
        'auto:200'
        """
        word = value.strip() if isinstance(value, str) else ""
        if word in ("all", "auto"):
            return None if word == "all" else word
        if not word.startswith("auto:"):
            return super().parse(value, flag, face)
        digits = word.removeprefix("auto:").strip()
        if not (digits.isascii() and digits.isdigit() and len(digits) < 20 and 2 <= int(digits) <= MOST_AUTOMATIC):
            expected = f"auto:NUMBER with a number from 2 to {MOST_AUTOMATIC:,}, the largest that may be found"
            raise _wrong_value(flag, expected, value, f"Write {flag} auto:200.")
        return f"auto:{int(digits)}"

    def plain(self, value: Any) -> Any:
        """Return the number, or the word."""
        return value

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of a whole number or one of the words."""
        return {"anyOf": [super().schema, {"type": "string", "pattern": r"^(all|auto(:[0-9]+)?)$"}]}


@dataclass(frozen=True)
class Flag:
    """True or false. Text is refused, because "false" is not empty."""

    metavar: str = ""
    words: int = 0
    repeats: bool = False

    def parse(self, value: Any, flag: str, face: Face) -> bool:
        """Return the truth value."""
        if not isinstance(value, bool | np.bool_):
            raise _wrong_value(flag, "true or false, without quotes", value)
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


@dataclass(frozen=True)
class TextList:
    """Names: one, or a list of them. The option may be repeated."""

    of: Text = Text("COLUMN")
    words: int = 1
    repeats: bool = True

    @property
    def metavar(self) -> str:
        """How the help writes one of them."""
        return self.of.metavar

    def parse(self, value: Any, flag: str, face: Face) -> tuple[str, ...]:
        """Return the names."""
        value = _path_text(value)
        values = [value] if isinstance(value, str) else _list_items(value)
        if values is None:
            raise _wrong_value(flag, "text, or a list of texts", value)
        return tuple(self.of.parse(item, flag, face) for item in values)

    def arguments(self, value: tuple[str, ...]) -> list[list[str]]:
        """Return one word for each time that the flag is given."""
        return [[name] for name in value]

    def plain(self, value: tuple[str, ...]) -> Any:
        """Return the one name, or the list."""
        return value[0] if len(value) == 1 else list(value)

    def fact(self, value: tuple[str, ...]) -> Any:
        """Return the list."""
        return list(value)

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of a name or a list of names."""
        return {"type": ["string", "array"], "items": self.of.schema}


def _list_items(value: Any) -> list[Any] | None:
    """Return the items of a list or an array; None for anything else, a mapping and a set included."""
    if isinstance(value, list | tuple | range | np.ndarray):
        return list(value.tolist() if isinstance(value, np.ndarray) else value)
    return None


@dataclass(frozen=True)
class NumberList(Number):
    """One number or several: a list, or text with commas between them."""

    metavar: str = "A,B,C"

    def parse(self, value: Any, flag: str, face: Face) -> Any:
        """Return the numbers as texts."""
        values = value.split(",") if isinstance(value, str) else [value] if _is_number(value) else _list_items(value)
        if values is None or not values:
            raise _wrong_value(flag, "numbers with commas between them, or a list of numbers", value)
        return tuple(Number.parse(self, item, flag, face) for item in values)

    def arguments(self, value: Any) -> list[list[str]]:
        """Return the numbers with commas between them."""
        return [[",".join(value)]]

    def plain(self, value: Any) -> Any:
        """Return the list."""
        return list(value)

    def fact(self, value: Any) -> Any:
        """Return the fractions in lowest terms."""
        return [Number.fact(self, text) for text in value]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of a list of numbers."""
        return {"type": ["array", "number", "string"], "items": {"type": ["number", "string"]}}


@dataclass(frozen=True)
class Pair:
    """Two values: the lower and the upper bound, or a column and a width."""

    metavar: str = "LOW HIGH"
    first: Text = Scalar()
    second: Text = Scalar()
    words: int = 2
    repeats: bool = False

    def parse(self, value: Any, flag: str, face: Face) -> tuple[str, str]:
        """Return both values."""
        values = _list_items(value)
        if values is None or len(values) != 2:
            raise _wrong_value(flag, f"two values, {self.metavar}", value)
        return self.first.parse(values[0], flag, face), self.second.parse(values[1], flag, face)

    def arguments(self, value: tuple[str, str]) -> list[list[str]]:
        """Return both words."""
        return [list(value)]

    def plain(self, value: tuple[str, str]) -> Any:
        """Return the list of both."""
        return list(value)

    def fact(self, value: tuple[str, str]) -> Any:
        """Return the list of both in their normal forms."""
        return [self.first.fact(value[0]), self.second.fact(value[1])]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of a list of two."""
        return {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": ["number", "string"]}}


AUTO: Final = "auto"
"""The bounds that a share of the cost chooses."""


@dataclass(frozen=True)
class PairOrAuto(Pair):
    """Two values, or `auto`. A command takes two words for every option of this kind, so it may be written twice."""

    metavar: str = "LOW HIGH"

    def parse(self, value: Any, flag: str, face: Face) -> Any:
        """Return both values, or auto."""
        words = [value] if isinstance(value, str) else _list_items(value)
        if words in ([AUTO], [AUTO, AUTO], [AUTO, ""]):
            return AUTO
        return super().parse(value, flag, face)

    def arguments(self, value: Any) -> list[list[str]]:
        """Return the words."""
        return [[AUTO]] if value == AUTO else super().arguments(value)

    def plain(self, value: Any) -> Any:
        """Return the list of both, or auto."""
        return value if value == AUTO else super().plain(value)

    def fact(self, value: Any) -> Any:
        """Return the list of both in their normal forms, or auto."""
        return value if value == AUTO else super().fact(value)

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of a list of two, or auto."""
        return {**super().schema, "type": ["array", "string"]}


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
