"""The types of options that name tables and their importance: lists with commas on a command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lastbit.errors import ParameterError
from lastbit.exact.numbers import number
from lastbit.questions.option import Face
from lastbit.questions.value_types import Number, Text, describe


@dataclass(frozen=True)
class TableList:
    """Tables, each by its columns: `region,age`. The option may be repeated."""

    metavar: str = "A,B"
    words: int = 1
    repeats: bool = True

    def parse(self, value: Any, flag: str, face: Face) -> tuple[tuple[str, ...], ...]:
        """Return the columns of each table."""
        listed = [value] if isinstance(value, str) else value
        if isinstance(value, str) and face == "page":
            listed = [part.strip() for part in value.split(";")]
        if not isinstance(listed, list | tuple):
            raise ParameterError(f"{flag} must be a list of tables such as [['region', 'age']]: got {describe(value)}.")
        return tuple(_columns(table, flag, face) for table in listed)

    def arguments(self, value: tuple[tuple[str, ...], ...]) -> list[list[str]]:
        """Return one word for each table."""
        return [[",".join(table)] for table in value]

    def plain(self, value: tuple[tuple[str, ...], ...]) -> Any:
        """Return a list of lists."""
        return [list(table) for table in value]

    def fact(self, value: tuple[tuple[str, ...], ...]) -> Any:
        """Return the tables and their columns in one order."""
        return sorted(sorted(table) for table in value)

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of a list of tables."""
        return {"type": ["array", "string"], "items": {"type": ["array", "string"], "items": {"type": "string"}}}


@dataclass(frozen=True)
class TableWeights:
    """The importance of tables: `region,age=3`, or a mapping from tables to numbers. The option may be repeated."""

    metavar: str = "A,B=NUMBER"
    words: int = 1
    repeats: bool = True

    def parse(self, value: Any, flag: str, face: Face) -> tuple[tuple[tuple[str, ...], str], ...]:
        """Return each table with its weight."""
        pairs = list(value.items()) if isinstance(value, Mapping) else _split_words(value, flag, self.metavar)
        return tuple((_columns(table, flag, face), Number().parse(weight, flag, face)) for table, weight in pairs)

    def arguments(self, value: tuple[tuple[tuple[str, ...], str], ...]) -> list[list[str]]:
        """Return one word for each table."""
        return [[f"{','.join(table)}={weight}"] for table, weight in value]

    def plain(self, value: tuple[tuple[tuple[str, ...], str], ...]) -> Any:
        """Return the words."""
        return [word for (word,) in self.arguments(value)]

    def fact(self, value: tuple[tuple[tuple[str, ...], str], ...]) -> Any:
        """Return the tables in one order, with their weights in lowest terms."""
        return sorted([sorted(table), str(number(weight, "weight"))] for table, weight in value)

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of words such as `region,age=3`."""
        return {"type": ["array", "string", "object"], "items": {"type": "string"}}


def _columns(table: Any, flag: str, face: Face) -> tuple[str, ...]:
    """Return the columns of a table: a list of names, or names with commas."""
    names = [name.strip() for name in table.split(",")] if isinstance(table, str) else table
    if not isinstance(names, list | tuple) or not names:
        raise ParameterError(f"{flag} must name the columns of a table, such as region,age: got {describe(table)}.")
    return tuple(Text("COLUMN").parse(name, flag, face) for name in names)


def _split_words(value: Any, flag: str, metavar: str) -> list[tuple[Any, Any]]:
    """Return words such as a=1, one or a list of them; in one text with semicolons between them."""
    words = [part.strip() for part in value.split(";")] if isinstance(value, str) else value
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) and "=" in word for word in words):
        raise ParameterError(f"{flag} must be written as {metavar}: got {describe(value)}.")
    return [(before, behind) for before, _, behind in (word.rpartition("=") for word in words)]
