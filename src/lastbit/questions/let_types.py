"""The type of `--let`: columns of a person's rows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from lastbit.errors import ParameterError
from lastbit.questions.option import Face
from lastbit.questions.value_types import Text, describe

_NAME: Final = re.compile(r"[^\W\d]\w{0,99}")
_EXAMPLE: Final = "Write --let 'visits = count(*)'."
_MOST: Final = 100

Let = tuple[str, str]
"""The name of a column, and its expression."""


@dataclass(frozen=True)
class Lets:
    """Columns of the rows of one person: `visits = count(*)`, several times, or a mapping.

    >>> Lets().parse(["visits = count(*)"], "--let", "command")
    (('visits', 'count(*)'),)
    >>> Lets().parse({"late": "any(hour(day) >= 22)"}, "--let", "python")
    (('late', 'any(hour(day) >= 22)'),)
    """

    metavar: str = "NAME=EXPR"
    words: int = 1
    repeats: bool = True

    def parse(self, value: Any, flag: str, face: Face) -> tuple[Let, ...] | None:
        """Return each name with its expression."""
        lets = [self._parse_one(name, text, flag, face) for name, text in self._split(value, flag)]
        names = [name.lower() for name, _ in lets]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ParameterError(f"{flag} must name each column once: got {describe(twice)} twice.")
        if len(lets) > _MOST:
            raise ParameterError(f"{flag} makes at most {_MOST} columns: got {len(lets):,}. Leave some out.")
        return tuple(lets) or None

    def _split(self, value: Any, flag: str) -> list[tuple[Any, Any]]:
        if isinstance(value, Mapping):
            return list(value.items())
        words = [value] if isinstance(value, str) else value
        if not isinstance(words, list | tuple):
            raise ParameterError(f"{flag} must be {self.metavar}, or a mapping: got {describe(value)}. {_EXAMPLE}")
        pairs = []
        for word in words:
            name, sign, text = word.partition("=") if isinstance(word, str) else ("", "", "")
            if not sign:
                raise ParameterError(f"{flag} must be {self.metavar}: got {describe(word)}. {_EXAMPLE}")
            pairs.append((name.strip(), text.strip()))
        return pairs

    def _parse_one(self, name: Any, text: Any, flag: str, face: Face) -> Let:
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name.lower().startswith("lastbit_"):
            raise ParameterError(
                f"{flag} must name its column with letters, digits and _, and not begin with a digit or lastbit_: got "
                f"{describe(name)}. {_EXAMPLE}"
            )
        return name, Text("EXPR").parse(text, f"{flag} {name}", face).strip()

    def arguments(self, value: tuple[Let, ...]) -> list[list[str]]:
        """Return one word for each column."""
        return [[f"{name}={text}"] for name, text in value]

    def plain(self, value: tuple[Let, ...]) -> Any:
        """Return a mapping."""
        return dict(value)

    def fact(self, value: tuple[Let, ...]) -> Any:
        """Return the mapping in one order: columns are made each after those that it is made of."""
        return dict(sorted(value))

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of a mapping from names to expressions."""
        return {"type": ["object", "array", "string"]}
