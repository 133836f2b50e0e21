"""The public items of a column, read once: what is counted and what the books keep come from one object."""

from __future__ import annotations

import csv
import datetime
import io
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import Any, Final

from lastbit.errors import ParameterError
from lastbit.questions.option import Face
from lastbit.questions.value_types import LONGEST, Text, describe

_EXPECTED: Final = "a file with one item per line, a range such as 1..12 or 2026-01..2026-12, or items such as a,b,c"
_ENDINGS: Final = (".txt", ".csv", ".tsv", ".list")
NAMED: Final = re.compile(r"(?s)([^=/,]+)=(.*)")
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
        taken = _names_a_file(word) or NAMED.match(word) or parse_range(word) is not None or word.startswith("--")
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
