"""The types of options that take several values: names, numbers, or the two ends of a range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from lastbit.questions.option import Face
from lastbit.questions.value_types import Number, Scalar, Text, is_number, path_text, wrong_value


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
        value = path_text(value)
        values = [value] if isinstance(value, str) else _list_items(value)
        if values is None:
            raise wrong_value(flag, "text, or a list of texts", value)
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
        values = value.split(",") if isinstance(value, str) else [value] if is_number(value) else _list_items(value)
        if values is None or not values:
            raise wrong_value(flag, "numbers with commas between them, or a list of numbers", value)
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
            raise wrong_value(flag, f"two values, {self.metavar}", value)
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
