"""The type of `--edges`: columns of numbers that are read as groups between edges."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from lastbit.errors import ParameterError
from lastbit.exact.numbers import number
from lastbit.questions.option import Face
from lastbit.questions.value_types import Number, Text, describe

NUMBERS: Final = re.compile(r"[-+0-9][-+0-9.,/eE_ ]*|auto:\S*")
"""What may be numbers with commas between them, or a number of bins whose edges nobody types."""
_AUTOMATIC: Final = "auto:"
_EXAMPLE: Final = "Write --edges age 0,18,65."
_MOST: Final = 10_000

Edges = tuple[str, tuple[str, ...]]
"""A column, and its edges; without a name where another option names the column."""


@dataclass(frozen=True)
class EdgeLists:
    """The edges of columns of numbers: `age 0,18,65`, `age=0,18,65`, or a mapping from columns to lists.

    >>> EdgeLists().parse(["age=0,18,65"], "--edges", "command")
    (('age', ('0', '18', '65')),)
    >>> EdgeLists().parse({"age": [0, 18, 65]}, "--edges", "python")
    (('age', ('0', '18', '65')),)
    """

    metavar: str = "COLUMN A,B,C"
    words: int = 1
    """One word, once the command has put the column and its edges together."""
    repeats: bool = True
    unnamed: bool = False
    """Whether the edges may stand without the name of a column."""
    automatic: bool = False
    """Whether `auto:10` may stand for the edges of ten equal bins, between bounds that a share of the cost chooses."""

    def parse(self, value: Any, flag: str, face: Face) -> tuple[Edges, ...]:
        """Return each column with its edges, which rise."""
        pairs = self._split(value, flag)
        named = [name for name, _ in pairs]
        twice = next((name for name in named if named.count(name) > 1), None)
        if twice is not None:
            raise ParameterError(f"{flag} must name each column once: got {describe(twice)} twice.")
        return tuple((_parse_name(name, flag, face), self._parse_edges(edges, flag, face)) for name, edges in pairs)

    def _parse_edges(self, edges: Any, flag: str, face: Face) -> tuple[str, ...]:
        """Return the edges, or the one word that stands for those of so many bins."""
        word = edges[0] if isinstance(edges, list | tuple) and len(edges) == 1 else edges
        if not isinstance(word, str) or not word.strip().startswith(_AUTOMATIC):
            return _parse_edges(edges, flag, face)
        if not self.automatic:
            raise ParameterError(f"{flag} takes {describe(word)} in count and histogram alone. {_EXAMPLE}")
        digits = word.strip().removeprefix(_AUTOMATIC).strip()
        bins = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 20 else 0
        if not 1 <= bins <= _MOST:
            raise ParameterError(
                f"{flag} must have {_AUTOMATIC}NUMBER with a number from 2 to {_MOST:,}, of automatic bins: got "
                f"{describe(word)}. Write --edges age {write_automatic(10)}."
            )
        return (write_automatic(bins),)

    def _split(self, value: Any, flag: str) -> list[tuple[Any, Any]]:
        if isinstance(value, Mapping):
            return list(value.items())
        words = [part.strip() for part in value.split(";")] if isinstance(value, str) else value
        if not isinstance(words, list | tuple):
            raise ParameterError(f"{flag} must be {self.metavar}, or a mapping: got {describe(value)}. {_EXAMPLE}")
        if self.unnamed and words and not any(isinstance(word, str) and not NUMBERS.fullmatch(word) for word in words):
            numbers = [part for word in words for part in (word.split(",") if isinstance(word, str) else [word])]
            return [("", numbers)]
        pairs = []
        for word in words:
            column, sign, edges = word.rpartition("=") if isinstance(word, str) else ("", "", "")
            if not sign or not column.strip():
                raise ParameterError(f"{flag} must be {self.metavar}: got {describe(word)}. {_EXAMPLE}")
            pairs.append((column.strip(), edges))
        return pairs

    def arguments(self, value: tuple[Edges, ...]) -> list[list[str]]:
        """Return the column and its edges, as the command takes them."""
        return [[*([column] if column else []), ",".join(edges)] for column, edges in value]

    def plain(self, value: tuple[Edges, ...]) -> Any:
        """Return a mapping; the list alone where no column is named."""
        unnamed = [list(edges) for column, edges in value if not column]
        return unnamed[0] if unnamed else {column: list(edges) for column, edges in value}

    def fact(self, value: tuple[Edges, ...]) -> Any:
        """Return the columns in one order, with their edges in lowest terms."""
        return {
            column: list(edges) if count_bins(edges) is not None else [str(number(edge, column)) for edge in edges]
            for column, edges in sorted(value)
        }

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of a mapping from columns to edges."""
        return {"type": ["object", "array", "string"]}


def write_automatic(bins: int) -> str:
    """Return the word for the edges of so many bins that nobody types.

    >>> write_automatic(10)
    'auto:10'
    """
    return f"{_AUTOMATIC}{bins}"


def count_bins(edges: Sequence[str]) -> int | None:
    """Return how many bins there are between bounds that a share of the cost chooses; None where edges are typed.

    >>> count_bins(("auto:10",)), count_bins(("0", "18"))
    (10, None)
    """
    is_automatic = len(edges) == 1 and edges[0].startswith(_AUTOMATIC)
    return int(edges[0].removeprefix(_AUTOMATIC)) if is_automatic else None


def _parse_name(name: Any, flag: str, face: Face) -> str:
    return "" if name == "" else Text("COLUMN").parse(name, flag, face)


def _parse_edges(listed: Any, flag: str, face: Face) -> tuple[str, ...]:
    texts = [part for part in listed.split(",") if part.strip()] if isinstance(listed, str) else listed
    if not isinstance(texts, list | tuple):
        raise ParameterError(f"{flag} must have a list of edges: got {describe(listed)}. {_EXAMPLE}")
    if len(texts) > _MOST:
        raise ParameterError(f"{flag} must have at most {_MOST:,} edges: got {len(texts):,}.")
    edges = tuple(Number().parse(text, flag, face) for text in texts)
    exact = [number(edge, flag) for edge in edges]
    if len(edges) < 2 or any(a >= b for a, b in pairwise(exact)):
        raise ParameterError(f"{flag} must rise, and there must be two edges or more. {_EXAMPLE}")
    return edges
