"""The types of options that take a whole number, or a word for one."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from lastbit.errors import ParameterError
from lastbit.questions.option import Face
from lastbit.questions.value_types import describe, is_number, wrong_value

MOST_AUTOMATIC: Final = 10**6
"""No bound that is found automatically is larger."""


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
                raise wrong_value(flag, expected, value, advice)
            value = int(text)
        whole = _to_whole(value)
        if whole is None:
            raise wrong_value(flag, expected, value, advice)
        if whole < self.least:
            raise wrong_value(flag, expected, whole, advice)
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
    if not is_number(value) or (isinstance(value, Decimal) and not (value.is_finite() and value.adjusted() < 5000)):
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
            raise wrong_value(flag, expected, value, f"Write {flag} auto:200.")
        return f"auto:{int(digits)}"

    def plain(self, value: Any) -> Any:
        """Return the number, or the word."""
        return value

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of a whole number or one of the words."""
        return {"anyOf": [super().schema, {"type": "string", "pattern": r"^(all|auto(:[0-9]+)?)$"}]}
