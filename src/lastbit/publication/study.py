"""A study: what a publication declares, read from one TOML file. Nothing in it comes from a row."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from lastbit.errors import StudyError

SECTIONS: Final[dict[str, frozenset[str]]] = {
    "study": frozenset(("title", "by", "contact", "edition", "why")),
    "data": frozenset(
        ("files", "table", "unit", "most_units", "where", "noun", "row", "about", "sql", "read_as", "separator",
         "encoding", "decimal_comma", "split", "join", "on")
    ),
    "budget": frozenset(("epsilon", "delta", "rho", "ledger", "dataset", "witness")),
    "output": frozenset(
        ("folder", "formats", "level", "hide_below", "hide_wider", "round", "non_negative", "registry")
    ),
}  # fmt: skip
"""The keys of each section that is one table."""
_NOT_TEXTS: Final = frozenset(
    (
        "files",
        "unit",
        "most_units",
        "noun",
        "row",
        "about",
        "decimal_comma",
        "split",
        "join",
        "on",
        "epsilon",
        "delta",
        "rho",
        "formats",
        "level",
        "hide_below",
        "hide_wider",
        "round",
        "non_negative",
        "registry",
    )
)
"""The keys whose values are numbers or lists. Whoever uses them checks them; all others are texts."""
FORMATS: Final = ("html", "csv", "parquet", "svg", "png")
_NAMES: Final = frozenset(("folder", "ledger", "dataset", "witness", "table"))
"""Texts that name something, and so are not empty."""
_LISTS: Final = ("question", "compare")
_OPEN: Final = ("columns", "let")
"""Sections whose keys are names of columns."""
_COMPARE: Final = frozenset(("name", "title", "of", "with", "as"))
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}")
_HEADER: Final = re.compile(r"^\s*(\[\[?)\s*([A-Za-z0-9_.\"-]+?)\s*\]\]?\s*(?:#.*)?$")


@dataclass(frozen=True)
class Problem:
    """Something that a study file says and that cannot be."""

    key: str
    """Where, such as `question[3].bounds`. Questions are counted from 1."""
    message: str
    line: int | None = None

    def __str__(self) -> str:
        where = self.key if self.line is None else f"{self.key} (line {self.line})"
        return f"{where}: {self.message}" if where else self.message


@dataclass(frozen=True)
class Study:
    """The sections of a study file, with the place of each key.

    >>> study = Study.parse('[data]\\nfiles = "v.csv"\\n[budget]\\nepsilon = 1\\n[[question]]\\nask = "count"\\n')
    >>> study.data["files"], study.line("question[1].ask")
    ('v.csv', 6)
    """

    sections: Mapping[str, Any]
    text: str = field(repr=False)
    folder: Path = Path()
    """Paths in the file are relative to this folder."""
    path: Path | None = None

    @classmethod
    def read(cls, path: str | Path) -> Study:
        """Read a study file."""
        place = Path(path)
        try:
            text = place.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
            raise StudyError(
                [Problem("", f"{place} cannot be read: {reason}. Name a file, such as study.toml.")]
            ) from None
        return cls.parse(text, place.resolve().parent, place)

    @classmethod
    def parse(cls, text: str, folder: Path | None = None, path: Path | None = None) -> Study:
        """Read the text of a study file, and refuse what is no TOML or has sections that nobody knows."""
        try:
            sections = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise StudyError([Problem("", f"the file is no TOML: {error}. Nothing was read.")]) from None
        study = cls(sections, text, folder or Path(), path)
        problems = list(study._shape_problems())
        if problems:
            raise StudyError(problems)
        return study

    def _shape_problems(self) -> Iterator[Problem]:
        known = (*SECTIONS, *_OPEN, *_LISTS)
        for name, content in self.sections.items():
            if name not in known:
                yield self.problem(name, f"there is no section of this name. Use some of {', '.join(known)}.")
            elif name in _LISTS:
                if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
                    yield self.problem(name, f"write [[{name}]] for each of them.")
            elif not isinstance(content, dict):
                yield self.problem(name, f"write [{name}], and its keys below.")
            else:
                yield from self._section_problems(name, content)
        for name, header in (("data", "[data]"), ("budget", "[budget]"), ("question", "[[question]]")):
            if not self.sections.get(name):
                yield Problem(name, f"a study needs {header}.")

    def _section_problems(self, name: str, content: Mapping[str, Any]) -> Iterator[Problem]:
        for key, value in content.items():
            place = f"{name}.{key}"
            if name in SECTIONS and key not in SECTIONS[name]:
                yield self.problem(place, f"there is no such key. Use some of {', '.join(sorted(SECTIONS[name]))}.")
            elif name in SECTIONS and key not in _NOT_TEXTS and not _is_text(value, key):
                yield self.problem(place, f"it must be a text in quotes: got {shorten(repr(value))}.")
        if name == "data" and not _are_files(content.get("files")):
            yield self.problem("data.files", 'name the table, such as files = "visits.csv", or several as a list.')

    @property
    def words(self) -> Mapping[str, Any]:
        """The texts about the study: its title, who publishes it, its edition."""
        return self._section("study")

    @property
    def data(self) -> Mapping[str, Any]:
        """Where the rows are, and whom they belong to."""
        return self._section("data")

    @property
    def budget(self) -> Mapping[str, Any]:
        """What the whole may cost, and who pays."""
        return self._section("budget")

    @property
    def output(self) -> Mapping[str, Any]:
        """What is written, and how."""
        return self._section("output")

    @property
    def columns(self) -> Mapping[str, Any]:
        """Public facts about columns."""
        return self._section("columns")

    @property
    def let(self) -> Mapping[str, Any]:
        """Columns that are made of one person's own rows."""
        return self._section("let")

    @property
    def questions(self) -> Sequence[Mapping[str, Any]]:
        """The questions, as they are typed."""
        questions: Sequence[Mapping[str, Any]] = self.sections.get("question", [])
        return questions

    @property
    def comparisons(self) -> Sequence[Mapping[str, Any]]:
        """What is compared of published numbers."""
        comparisons: Sequence[Mapping[str, Any]] = self.sections.get("compare", [])
        return comparisons

    def _section(self, name: str) -> Mapping[str, Any]:
        content = self.sections.get(name, {})
        return content if isinstance(content, dict) else {}

    @property
    def sources(self) -> list[str]:
        """The files of the table, from the folder of the study file."""
        files = self.data.get("files", [])
        return [self.place(name) for name in ([files] if isinstance(files, str) else files)]

    def place(self, name: str) -> str:
        """Return a path of the file as this process finds it; addresses of databases stay as they are."""
        if "://" in name or name == "-":
            return name
        return str(self.folder / name) if self.folder != Path() else name

    @property
    def title(self) -> str:
        """The title of the study."""
        return str(self.words.get("title") or "A study")

    def problem(self, key: str, message: str) -> Problem:
        """Return a problem with the line of its key."""
        return Problem(key, message, self.line(key))

    def line(self, key: str) -> int | None:
        """Return the line of a key, or of its section; None where it is written in a way that only TOML knows."""
        while key:
            if key in self._lines:
                return self._lines[key]
            key = key.rpartition(".")[0]
        return None

    @cached_property
    def _lines(self) -> dict[str, int]:
        """The lines of sections and keys, found by their shape. TOML's own parser keeps no lines."""
        lines: dict[str, int] = {}
        section, counts = "", dict.fromkeys(_LISTS, 0)
        for number, line in enumerate(self.text.splitlines(), 1):
            header = _HEADER.match(line)
            if header is not None:
                section = header[2].replace('"', "")
                if header[1] == "[[" and section in counts:
                    counts[section] += 1
                    section = f"{section}[{counts[section]}]"
                lines.setdefault(section, number)
            elif key := re.match(r"\s*\"?([A-Za-z0-9_-]+)\"?\s*=", line):
                lines.setdefault(f"{section}.{key[1]}" if section else key[1], number)
        return lines


def _is_text(value: object, key: str) -> bool:
    """Return whether a value is a text, not empty where it names something. An edition may be a year, a number."""
    if key == "edition" and type(value) is int:
        return True
    return isinstance(value, str) and "\0" not in value and (key not in _NAMES or bool(value.strip()))


def _are_files(value: object) -> bool:
    files = [value] if isinstance(value, str) else value
    return isinstance(files, list) and bool(files) and all(isinstance(name, str) and name.strip() for name in files)


def shorten(text: str, most: int = 60) -> str:
    """Return a text that is short enough to stand in a sentence.

    >>> shorten("abcdef", 4), shorten("abcd", 4)
    ('abcd…', 'abcd')
    """
    return text if len(text) <= most else f"{text[:most]}…"


def check_name(name: object, names: set[str]) -> str | None:
    """Return what is wrong with the name of a question or comparison; None where nothing is.

    >>> check_name("by_month", {"people"}), check_name("by month", set())
    (None, "it must be letters, digits, '_' and '-', as it names files: got 'by month'.")
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return f"it must be letters, digits, '_' and '-', as it names files: got {shorten(repr(name))}."
    if name.lower() in {other.lower() for other in names}:
        return f"two have the name {name!r}. Name one of them differently."
    return None


def check_comparison(comparison: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the keys of a comparison that cannot be, and why."""
    for key in comparison:
        if key not in _COMPARE:
            yield key, f"there is no such key. Use some of {', '.join(sorted(_COMPARE))}."
    for key in ("name", "of", "with"):
        if not isinstance(comparison.get(key), str) or not comparison[key].strip():
            yield key, "a comparison needs this text."
    if not isinstance(comparison.get("title", ""), str):
        yield "title", "it must be a text in quotes."
    if comparison.get("as", "difference") not in ("difference", "ratio", "percent"):
        yield "as", "it must be difference, ratio or percent."
