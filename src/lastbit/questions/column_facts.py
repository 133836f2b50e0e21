"""Public facts about columns, typed once: the `[columns]` of a study, which every question takes with `--columns`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lastbit.errors import ParameterError
from lastbit.questions.domain import Domain
from lastbit.questions.edge_types import EdgeLists
from lastbit.questions.group_types import TIMES
from lastbit.questions.list_types import Pair
from lastbit.questions.option import Face
from lastbit.questions.value_types import Flag, OneOf, Text, describe
from lastbit.questions.whole_number_types import WholeNumber

_TEXT: Final = Text()
_DISPLAY: Final = ("labels", "in", "label")
"""Facts that change how an answer is shown, and no question."""
_LARGEST_FILE: Final = 1 << 24


def _parse_labels(value: Any, flag: str) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise ParameterError(f'{flag} must be a table from values to labels, such as {{ f = "female" }}.')
    return {str(name): _TEXT.parse(label, flag, "python") for name, label in value.items()}


_PARSERS: Final[dict[str, Callable[[Any, str], Any]]] = {
    "values": lambda value, flag: Domain.parse(value, flag, "python"),
    "labels": _parse_labels,
    "edges": lambda value, flag: EdgeLists().parse({"x": value}, flag, "python")[0][1],
    "bounds": lambda value, flag: Pair().parse(value, flag, "python"),
    "in": lambda value, flag: _TEXT.parse(value, flag, "python"),
    "label": lambda value, flag: _TEXT.parse(value, flag, "python"),
    "one_each": lambda value, flag: Flag().parse(value, flag, "python"),
    "most_items": lambda value, flag: WholeNumber().parse(value, flag, "python"),
    "every": lambda value, flag: OneOf(choices=TIMES).parse(value, flag, "python"),
    "from": lambda value, flag: _TEXT.parse(str(value), flag, "python"),
    "to": lambda value, flag: _TEXT.parse(str(value), flag, "python"),
    "discover": lambda value, flag: Flag().parse(value, flag, "python"),
}
"""How each fact is read."""


@dataclass(frozen=True)
class ColumnFacts:
    """What is publicly known about columns.

    >>> facts = ColumnFacts.parse({"sex": {"values": ["f", "m"], "labels": {"f": "female"}, "one_each": True}})
    >>> facts["sex"]["values"].items, facts.label("sex", "f"), facts.label("sex", "m"), facts["age"]
    (('f', 'm'), 'female', 'm', {})
    """

    columns: Mapping[str, Mapping[str, Any]]

    @classmethod
    def parse(cls, value: Any, flag: str = "--columns", folder: Path | None = None) -> ColumnFacts:
        """Read a mapping from columns to facts, or a TOML file that has it under `columns`."""
        if isinstance(value, ColumnFacts):
            return value
        if isinstance(value, str | os.PathLike):
            path = Path(_TEXT.parse(os.fspath(value), flag, "python"))
            return cls.parse(_read_file(path, flag), flag, path.parent)
        if not isinstance(value, Mapping):
            raise ParameterError(f"{flag} must be a file such as study.toml, or a mapping: got {describe(value)}.")
        return cls({str(name): _parse_column(str(name), facts, flag, folder) for name, facts in value.items()})

    def __getitem__(self, column: str) -> Mapping[str, Any]:
        return self.columns.get(column, {})

    def label(self, column: str, item: Any) -> Any:
        """Return how an item of a column is shown."""
        return self[column].get("labels", {}).get(str(item), item)

    @property
    def display(self) -> dict[str, dict[str, Any]]:
        """The facts that change how an answer is shown, as JSON writes them."""
        own = {
            column: {name: facts[name] for name in _DISPLAY if name in facts} for column, facts in self.columns.items()
        }
        return {column: facts for column, facts in own.items() if facts}

    def bound(self, columns: Sequence[str]) -> int | None:
        """Return in how many combinations of groups one person counts; None where not every column says it."""
        most = 1
        for column in columns:
            facts = self[column]
            if not facts.get("one_each") and "most_items" not in facts:
                return None
            most *= 1 if facts.get("one_each") else facts["most_items"]
        return most


@dataclass(frozen=True)
class Columns:
    """The type of `--columns`."""

    metavar: str = "FILE"
    words: int = 1
    repeats: bool = False

    def parse(self, value: Any, flag: str, face: Face) -> ColumnFacts:
        """Return the facts."""
        return ColumnFacts.parse(value, flag)

    def arguments(self, value: ColumnFacts) -> list[list[str]]:
        """Return nothing: what the facts say of a question is in its other options."""
        return []

    def plain(self, value: ColumnFacts) -> Any:
        """Return what is shown: what the facts say of a question is in its other options."""
        return value.display

    def fact(self, value: ColumnFacts) -> Any:
        """Return the facts that change how an answer is shown."""
        return value.display

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the facts."""
        return {"type": ["object", "string"]}


def _read_file(path: Path, flag: str) -> Mapping[str, Any]:
    import tomllib

    try:
        if path.stat().st_size > _LARGEST_FILE or not path.is_file():
            raise ParameterError(f"{flag} must be a file of at most {_LARGEST_FILE:,} bytes: {path} is none.")
        content = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no TOML"
        raise ParameterError(f"{flag} must be a TOML file with [columns.NAME]: {path}: {reason}.") from None
    columns = content.get("columns")
    if not isinstance(columns, Mapping):
        raise ParameterError(f"{flag} must be a TOML file with [columns.NAME] for each column: {path} has none.")
    return columns


def _parse_column(column: str, facts: Any, flag: str, folder: Path | None) -> dict[str, Any]:
    where = f"{flag}: columns.{column[:40]}"
    if not isinstance(facts, Mapping):
        raise ParameterError(f"{where} must be a table of facts, such as values = [...]: got {describe(facts)}.")
    for name in facts:
        if name not in _PARSERS:
            raise ParameterError(f"{where} has no fact {str(name)[:40]!r}. Use some of {', '.join(_PARSERS)}.")
    typed = dict(facts)
    if isinstance(typed.get("values"), str) and folder is not None and (folder / typed["values"]).is_file():
        typed["values"] = folder / typed["values"]  # files are named from the folder of the file that names them
    parsed = {name: _PARSERS[str(name)](value, f"{where}.{name}") for name, value in typed.items()}
    ways = [name for name in ("values", "edges", "every", "discover") if parsed.get(name)]
    if len(ways) > 1:
        raise ParameterError(f"{where} must say its groups in one way: got {' and '.join(ways)}.")
    if parsed.get("one_each") and parsed.get("most_items", 1) != 1:
        raise ParameterError(f"{where}: one_each says most_items = 1. Leave one of them out.")
    if ("from" in parsed) != ("to" in parsed) or ("from" in parsed and "every" not in parsed):
        raise ParameterError(f"{where}: from and to go together, with every: every = 'month'.")
    return parsed
