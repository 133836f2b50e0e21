"""The values of options that say how an answer is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from lastbit.errors import ParameterError
from lastbit.output.words import singular_and_plural
from lastbit.questions.option import Face
from lastbit.questions.value_types import Place, describe

PRINTED: Final = "-"
"""What stands for standard output in the place of a file."""


@dataclass(frozen=True)
class NounPair:
    """A noun for one and for more, such as patient,patients. One word alone, patient or patients, brings the other."""

    metavar: str = "ONE,MORE"
    words: int = 1
    repeats: bool = False

    def parse(self, value: Any, flag: str, face: Face) -> tuple[str, str]:
        """Return both forms of the noun.

        >>> NounPair().parse("child,children", "--noun", "command"), NounPair().parse("visits", "--noun", "command")
        (('child', 'children'), ('visit', 'visits'))
        """
        parts = value.split(",") if isinstance(value, str) else value
        nouns = [*parts] if isinstance(parts, list | tuple) else []
        nouns = [noun.strip() if isinstance(noun, str) else "" for noun in nouns]
        if len(nouns) == 1 and _is_noun(nouns[0]):
            nouns = [*singular_and_plural(nouns[0])]
        if len(nouns) != 2 or not all(map(_is_noun, nouns)):
            raise ParameterError(
                f"{flag} must be a noun for one and for more, such as patient,patients: got {describe(value)}. Nothing "
                "was read."
            )
        return nouns[0], nouns[1]

    def arguments(self, value: tuple[str, str]) -> list[list[str]]:
        """Return both forms as one word."""
        return [[",".join(value)]]

    def plain(self, value: tuple[str, str]) -> Any:
        """Return both forms as one text."""
        return ",".join(value)

    def fact(self, value: tuple[str, str]) -> Any:
        """Return both forms: they are no part of a question's identity."""
        return list(value)

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of a text."""
        return {"type": "string"}


@dataclass(frozen=True)
class JsonPlace(Place):
    """A file for JSON, or - for standard output, which a command says by naming no file."""

    metavar: str = "[FILE.json]"

    def parse(self, value: Any, flag: str, face: Face) -> str:
        """Return the path as text.

        >>> JsonPlace().parse("answer.json", "--json", "command")
        'answer.json'
        """
        path = super().parse(value, flag, face)
        if path != PRINTED and not path.lower().endswith(".json"):
            raise ParameterError(f"{flag} must be a file whose name ends with .json: got {describe(path)}. Rename it.")
        return path

    def arguments(self, value: str) -> list[list[str]]:
        """Return the path as one word, and no word where JSON is printed."""
        return [[] if value == PRINTED else [value]]


def prints_json(value: object) -> bool:
    """Return whether what an option says of JSON is that it is printed: a stream has a flag for it.

    >>> prints_json("-"), prints_json(True), prints_json("answer.json"), prints_json(None)
    (True, True, False, False)
    """
    return value is True or value == PRINTED


def _is_noun(text: str) -> bool:
    """Return whether a text can stand in a sentence: one line of at most 40 printable characters."""
    return 0 < len(text) <= 40 and text.isprintable()
