"""The public items of a column, read once: what is counted and what the books keep come from one object."""

from __future__ import annotations

import csv
import datetime
import io
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import Any, Final

import numpy as np

from lastbit.errors import ParameterError
from lastbit.output.words import plural
from lastbit.questions.option import Face
from lastbit.questions.value_types import LONGEST, Text, describe

_EXPECTED: Final = "a file with one item per line, a range such as 1..12 or 2026-01..2026-12, or items such as a,b,c"
_ENDINGS: Final = (".txt", ".csv", ".tsv", ".list")
_NAMED: Final = re.compile(r"(?s)([^=/,]+)=(.*)")
"""The name of a column before its items, as `region=north,south`."""
_OTHER_RANGE: Final = re.compile(r"[^,.]+(\.\d+)?\.\.[^,]+")
_PERIODS: Final = {
    "month": re.compile(r"\d{4}-\d\d"),
    "week": re.compile(r"\d{4}-W\d\d"),
    "day": re.compile(r"\d{4}-\d\d-\d\d"),
}
"""How months, weeks and days are written."""


@dataclass(frozen=True, eq=False)
class Domain:
    """The items of one column.

    >>> Domain.parse("1..3").items, Domain.parse(["flu", "cold"]).items
    (range(1, 4), ('flu', 'cold'))
    >>> Domain.parse("1..3").digest == Domain.parse("1,2,3").digest
    True
    """

    items: Sequence[Any]
    text: str = ""
    """What a person typed: a range, the name of a file, or items with commas; "" for a list."""
    column: str = ""
    """The column that the items are of, where it is known."""
    others: bool = False
    """Whether the last item but one, or the last, is all groups that are not listed."""
    missing: bool = False
    """Whether the last item is the rows without a group."""
    complete: bool = False
    """Whether every value is in one of the groups, as every hour is in a day."""
    columns: tuple[str, ...] = ()
    """The columns, where the items are combinations of several; "" for names that nobody gave."""
    repeats: bool = False
    """Whether the file lists an item twice."""

    def show(self, *, others: bool, missing: bool) -> Domain:
        """Return the same groups, and one for the groups that are not listed, or for the rows without a group.

        >>> Domain(("north", "south")).show(others=True, missing=True).items
        ('north', 'south', '(others)', '(missing)')
        """
        from lastbit.data.duckdb.labels import OTHERS
        from lastbit.data.table_counting import MISSING_VALUE

        more = [OTHERS] * others + [MISSING_VALUE] * missing
        if not more:
            return self
        listed = [str(item) for item in self.items]
        twice = next((label for label in more if label in listed), None)
        if twice is not None:
            raise ParameterError(f"--domain must not list {twice}: rows of no other group have this name. Rename it.")
        return Domain((*listed, *more), "", self.column, others, missing, self.complete)

    @property
    def period(self) -> str | None:
        """What times the items are, by how they are written: month, week or day; None for others.

        >>> [Domain.parse(text).period for text in ("2024-01..2024-12", "2024-W01,2024-W02", "a,b")]
        ['month', 'week', None]
        """
        items = () if isinstance(self.items, range) else self.typed_items
        return next(
            (
                period
                for period, form in _PERIODS.items()
                if items and all(isinstance(item, str) and form.fullmatch(item) for item in items)
            ),
            None,
        )

    @property
    def typed_items(self) -> Sequence[Any]:
        """The items that somebody listed."""
        return self.items[: len(self.items) - self.others - self.missing]

    @classmethod
    def parse(cls, value: Any, flag: str = "--domain", face: Face = "command") -> Domain:
        """Read the items that a text or a list names. Whoever asks a server cannot name its files."""
        from lastbit.data.domain import parse_range, read_items

        if isinstance(value, Domain):
            return value
        if isinstance(value, str) and face == "page":
            value = split_lines(value)
        if isinstance(value, os.PathLike):
            value = os.fspath(value)
            if not isinstance(value, str):
                raise ParameterError(f"{flag} must be {_EXPECTED}: got a path of bytes.")
            return cls._read(_validate_text(value, flag, face))
        if isinstance(value, str):
            text = _validate_text(value, flag, face).strip()
            items = parse_range(text)
            if items is None and face == "service":
                raise ParameterError(f"{flag} must be a list of items, or a range such as 1..12: got {describe(text)}.")
            if items is None and not _names_a_file(text):
                _refuse_other_ranges(text, flag)
                items = read_items([item for item in map(str.strip, text.split(",")) if item])
            return cls._read(text) if items is None else cls(items, text)
        if isinstance(value, range):
            value = list(value) if len(value) <= 1000 else value
            return cls(read_items(value))
        if not isinstance(value, list | tuple):
            if isinstance(value, Mapping | set | frozenset | bytes | bool | Real | Decimal) or value is None:
                raise ParameterError(f"{flag} must be {_EXPECTED}, or a list of items: got {describe(value)}.")
            return cls(read_items(value))  # a column of a table
        if len(value) == 1 and isinstance(value[0], str) and parse_range(value[0]) is not None:
            return cls(parse_range(value[0]), value[0])
        if len(value) == 1 and isinstance(value[0], str):
            _refuse_other_ranges(value[0], flag)
        for item in value:
            if not isinstance(item, str | Real | Decimal | datetime.date | datetime.time | None) or _is_nan(item):
                raise ParameterError(
                    f"{flag} must be a list of items such as text, numbers or dates: got {describe(item)} inside it."
                )
            if isinstance(item, str):
                Text(empty=True).parse(item, flag, face)
        return cls(read_items(list(value)))

    @classmethod
    def _read(cls, file: str) -> Domain:
        """Read the items of a file, once: a pipe has them no second time."""
        from lastbit.data.domain import read_items, read_lines

        lines = read_lines(Path(file))
        items = read_items(lines)
        return cls(items, _reusable_name(file), repeats=len(items) != len(lines))

    def split(self) -> dict[str, Domain]:
        """Return the values that each column has in listed combinations.

        >>> pairs = Domain((("north", "f"), ("south", "f")), columns=("region", "sex"))
        >>> {column: domain.items for column, domain in pairs.split().items()}
        {'region': ('north', 'south'), 'sex': ('f',)}
        """
        return {
            column: Domain(tuple(dict.fromkeys(item[place] for item in self.items)), column=column)
            for place, column in enumerate(self.columns)
        }

    @property
    def lines(self) -> list[str]:
        """The lines of a file with these items: of combinations, one of comma-separated values with a header."""
        if not self.columns:
            return list(map(str, self.items))
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.columns, *self.items])
        return text.getvalue().splitlines()

    @cached_property
    def digest(self) -> str:
        """The digest of the items, by which the books know them."""
        import hashlib

        digest = hashlib.sha256()
        for item in self.items:
            text = [*map(str, item)] if self.columns else str(item)
            digest.update(json.dumps(text).encode("ascii") + b"\n")
        return f"sha256:{digest.hexdigest()}"

    @property
    def word(self) -> str | None:
        """The items as --domain takes them; None where that needs a file."""
        from lastbit.data.domain import parse_range

        if self.text or self.columns:
            return self.text or None
        items = [str(item) for item in self.items]
        plain = all(item and item == item.strip() and "," not in item and "\n" not in item for item in items)
        word = ",".join(items) if plain else ""
        taken = _names_a_file(word) or _NAMED.match(word) or parse_range(word) is not None or word.startswith("--")
        return word if word and len(word) <= LONGEST and not taken else None

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, Domain) and self.columns == other.columns
        return same and list(map(str, self.items)) == list(map(str, other.items))  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]


def split_lines(text: str) -> list[str]:
    """Return the items that a person typed: one a line, or with commas in a single line.

    >>> split_lines("flu\\ncold, bad\\n"), split_lines("flu, cold")
    (['flu', 'cold, bad'], ['flu', 'cold'])
    """
    lines = [line.strip() for line in text.splitlines()]
    if len(lines) == 1:
        lines = [item.strip() for item in lines[0].split(",")]
    return [line for line in lines if line]


def _refuse_other_ranges(text: str, flag: str) -> None:
    """Refuse what is written as a range and is none: as an item of this name it would be paid for, and find nobody."""
    if _OTHER_RANGE.fullmatch(text):
        raise ParameterError(
            f"{flag} has ranges of whole numbers, days, weeks and months, such as 1..12 or 2026-01..2026-12: got "
            f"{describe(text)}. Write all items: a,b,c, or a file with one item per line. Nothing was read."
        )


def _names_a_file(text: str) -> bool:
    """Return whether a word is the name of a file: it has a slash, or one of the endings of lists. Others are items."""
    return "/" in text or os.sep in text or text.lower().endswith(_ENDINGS)


def _parse_word(word: str, flag: str, face: Face) -> Domain:
    """Read one word of a command: items, perhaps with the name of their column before them."""
    named = _NAMED.fullmatch(word)
    if named is None:
        return Domain.parse(word, flag, face)
    return replace(Domain.parse(named[2], flag, face), column=Text().parse(named[1].strip(), flag, face))


def _reusable_name(file: str) -> str:
    """Return the name of a file that can be read again; "" for a pipe, whose items are gone once they are read."""
    return file if os.path.isfile(file) else ""


def _is_nan(item: Any) -> bool:
    return item.is_nan() if isinstance(item, Decimal) else bool(item != item)


def _validate_text(value: str, flag: str, face: Face) -> str:
    text = Text("FILE").parse(value, flag, face)
    if text.startswith("--"):
        raise ParameterError(f"{flag} must be {_EXPECTED}: got the option {describe(text)}. Nothing was read.")
    return text


@dataclass(frozen=True)
class Domains:
    """The items of each column: one domain, a list of domains, or a mapping from columns to domains."""

    metavar: str = "FILE"
    words: int = 1
    repeats: bool = True

    def parse(self, value: Any, flag: str, face: Face) -> tuple[Domain, ...]:
        """Return the domains, each read once."""
        if isinstance(value, Mapping):
            if not value:
                raise ParameterError(f"{flag} must name a column and its items: got an empty mapping.")
            return tuple(
                replace(Domain.parse(items, flag, face), column=Text().parse(column, flag, face))
                for column, items in value.items()
            )
        if isinstance(value, str) and face in ("command", "python"):
            value = [value] if _NAMED.fullmatch(value) else value
        if (
            isinstance(value, list | tuple)
            and face in ("command", "python")
            and value
            and all(isinstance(word, str) and (face == "command" or _NAMED.fullmatch(word)) for word in value)
        ):
            return tuple(_parse_word(word, flag, face) for word in value)
        if isinstance(value, list | tuple) and value and all(isinstance(item, Mapping) for item in value):
            return (_parse_records(value, flag, face),)
        if isinstance(value, list) and face == "python" and _are_combinations(value):
            places = range(len(value[0]))
            parsed = [Domain.parse([item[place] for item in value], flag, face) for place in places]  # refuses odd ones
            return (Domain(tuple(value), columns=("",) * len(parsed)),)
        if isinstance(value, list | tuple) and (
            face == "command" or any(isinstance(item, list | tuple | range | os.PathLike | Domain) for item in value)
        ):
            return tuple(Domain.parse(item, flag, face) for item in value)
        return (Domain.parse(value, flag, face),)

    def arguments(self, value: tuple[Domain, ...]) -> list[list[str]]:
        """Return each domain as one word; a request that must write a file does so itself."""
        return [[domain.word or ""] for domain in value]

    def plain(self, value: tuple[Domain, ...]) -> Any:
        """Return the text or the items of one domain; of several, by their columns."""
        if len(value) == 1 and value[0].columns:
            (pairs,) = value
            rows = [_plain_values(item) for item in pairs.items]
            return pairs.text or [dict(zip(pairs.columns, row, strict=True)) for row in rows]
        items = [domain.text or _plain_values(domain.items) for domain in value]
        if len(items) == 1:
            return items[0]
        if all(domain.column for domain in value):
            return dict(zip((domain.column for domain in value), items, strict=True))
        return [[text] if isinstance(text, str) else text for text in items]

    def fact(self, value: tuple[Domain, ...]) -> Any:
        """Return the digests."""
        return [domain.digest for domain in value]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of a list of items, or of one list for each column."""
        return {"type": ["array", "object", "string"], "items": {}}


def _are_combinations(value: Sequence[Any]) -> bool:
    """Return whether a list is one of tuples of one length, as combinations of several columns are."""
    lengths = {len(item) if type(item) is tuple else 0 for item in value}
    return len(lengths) == 1 and lengths.pop() > 1


def _parse_records(value: Sequence[Mapping[Any, Any]], flag: str, face: Face) -> Domain:
    """Return the combinations that mappings from columns to values name."""
    columns = tuple(Text().parse(name, flag, face) for name in value[0])
    if not columns or any(set(row) != set(columns) for row in value):
        raise ParameterError(f"{flag} must have a value for the same columns in each combination. Nothing was read.")
    for column in columns:
        Domain.parse([row[column] for row in value], flag, face)  # refuses what is no item
    return Domain(tuple(tuple(row[column] for column in columns) for row in value), columns=columns)


def list_combinations(typed: Sequence[Domain], columns: Sequence[str]) -> tuple[Domain, ...]:
    """Return what was typed as combinations of these columns, where it lists some; as it is otherwise.

    A file of combinations has a header that names the columns.

    >>> lines = Domain(("sex,region", "f,north", "m,south"))
    >>> list_combinations([lines], ["region", "sex"])[0].items
    (('north', 'f'), ('south', 'm'))
    """
    if len(typed) != 1 or len(columns) < 2:
        return tuple(typed)
    (domain,) = typed
    if domain.columns and not any(domain.columns):
        if len(domain.columns) != len(columns):  # a list for each column
            return tuple(Domain.parse(list(items), face="python") for items in domain.items)
        domain = replace(domain, columns=tuple(columns))
    elif not domain.columns:
        if isinstance(domain.items, range) or not all(isinstance(item, str) for item in domain.items):
            return tuple(typed)
        tabs = domain.text.lower().endswith(".tsv")
        header, *rows = csv.reader(domain.items, delimiter="\t" if tabs else ",", skipinitialspace=True)
        is_table = domain.text.lower().endswith((".csv", ".tsv")) and len(header) == len(columns)
        if set(header) != set(columns):
            if is_table:
                raise ParameterError(
                    f"--domain {domain.text} must have a header that names the columns of --by, "
                    f"{', '.join(columns)}: got {', '.join(header)[:80]}. Nothing was read."
                )
            return tuple(typed)
        odd = next((number for number, row in enumerate(rows, 2) if len(row) != len(header)), None)
        if odd is not None or not rows or domain.repeats:
            what = "a combination once in each line" if odd is None else f"a value of each column in line {odd}"
            raise ParameterError(f"--domain must have {what}, below its header. Nothing was read.")
        domain = Domain(tuple(map(tuple, rows)), domain.text, columns=tuple(header))
    if set(domain.columns) != set(columns):
        raise ParameterError(
            f"--domain must list combinations of the columns of --by, {', '.join(columns)}: got "
            f"{', '.join(domain.columns)}. Nothing was read."
        )
    places = [domain.columns.index(column) for column in columns]
    items = tuple(tuple(item[place] for place in places) for item in domain.items)
    if len({tuple(map(str, item)) for item in items}) != len(items):
        raise ParameterError("--domain must list each combination once: one is there twice. Nothing was read.")
    return (Domain(items, domain.text, columns=tuple(columns)),)


def _plain_values(items: Sequence[Any]) -> list[Any]:
    """Return items as Python and JSON write them: an infinite number is text, and NumPy's are Python's own."""
    plain = [item.item() if isinstance(item, np.generic) else item for item in items]
    return [
        item if isinstance(item, str | int) or (isinstance(item, float) and isfinite(item)) else str(item)
        for item in plain
    ]


def assign_domains(
    columns: Sequence[str], typed: Sequence[Domain], implied: Mapping[str, Domain] | None = None
) -> dict[str, Domain]:
    """Return the domain of each column: those with a name go to their column, the others to the rest in order.

    `implied` are domains that need not be typed, such as the hours of a day.

    >>> sexes, regions = replace(Domain(("f", "m")), column="sex"), Domain(("north", "south"))
    >>> {name: domain.items for name, domain in assign_domains(["region", "sex"], [sexes, regions]).items()}
    {'region': ('north', 'south'), 'sex': ('f', 'm')}
    """
    known = implied or {}
    if len(typed) == 1 and typed[0].columns:
        return typed[0].split()
    named = {domain.column: domain for domain in typed if domain.column}
    rest = [domain for domain in typed if not domain.column]
    unknown = sorted(set(named) - set(columns))
    if unknown or len(named) + len(rest) != len(typed):
        raise ParameterError(
            f"--domain must name columns of --by, {', '.join(columns)}, each once: got "
            f"{', '.join(domain.column for domain in typed if domain.column)}. Nothing was read."
        )
    without = [column for column in columns if column not in named and column not in known]
    open_places = [*without, *(column for column in columns if column in known and column not in named)]
    if len(rest) > len(open_places):
        raise ParameterError(
            f"--domain must be given once for each --by: got {len(typed)} for {plural(len(columns), 'column')}. Leave "
            "those out that no column needs. Nothing was read."
        )
    assigned = {**known, **named, **dict(zip(open_places, rest, strict=False))}
    return {column: replace(assigned[column], column=column) for column in columns if column in assigned}


def missing_domains(columns: Sequence[str], typed: Sequence[Domain], without: Sequence[str]) -> ParameterError:
    """Return the error for columns whose groups nobody listed."""
    return ParameterError(
        f"--domain must be given once for each --by: got {len(typed)} for {plural(len(columns), 'column')}; "
        f"without one: {', '.join(without)}. The items must be public: which of them occur is not. Write --domain "
        "a,b,c, or --domain FILE, or NAME=a,b,c. Nothing was read."
    )
