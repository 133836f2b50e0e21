"""Public candidates: the items that a table may be counted by.

The items come from a list, a range, a file with one item per line, or a column of another, public table. Nothing here
looks at the private table but for the type of its columns.
"""

from __future__ import annotations

import datetime
import os
import re
import stat
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, Final

from lastbit.data.column_types import TEXT, ColumnType
from lastbit.errors import ParameterError


class Items(tuple[Any, ...]):
    """Items of one column, each once: whoever gets them need not look at them again."""

    __slots__ = ()


NO_DOMAIN: Final = (
    "domain must be given: the items that can be released have to be public, and which items occur in the data is "
    "not. Pass a list, a range, a file with one item per line, or a column of another table. If nobody can list the "
    "items, pass domain=lastbit.UNKNOWN, and use a mechanism that pays a delta, such as DiscoverTopK."
)


_EMPTY: Final = "domain must hold at least one item: got none. There would be nothing to release."

_MOST_ITEMS: Final = 2 * 10**7
"""A domain is no longer than this: its items are held in memory, some 300 bytes for each until they are counted."""

_LARGEST_FILE: Final = 1 << 31
"""Bytes of a file with items."""

_MOST_COMBINATIONS: Final = 10**7
"""Combinations of items of several columns: each is a tuple in memory, of some 200 bytes with what is kept about it."""

_NUMBERS: Final = re.compile(r"(-?\d{1,400})\.\.(-?\d{1,400})(?::(\d{1,400}))?", re.ASCII)
_TIMES: Final = {
    "%Y-%m-%d": re.compile(r"(\d{4}-\d\d-\d\d)\.\.(\d{4}-\d\d-\d\d)", re.ASCII),
    "%G-W%V": re.compile(r"(\d{4}-W\d\d)\.\.(\d{4}-W\d\d)", re.ASCII),
    "%Y-%m": re.compile(r"(\d{4}-\d\d)\.\.(\d{4}-\d\d)", re.ASCII),
}

_FIRST_MONTH: Final = 12 * 1000
"""Years have four digits: strftime writes earlier ones with fewer."""


def read_items(domain: object) -> Items:
    """Return the items of one column: nulls and blank lines left out, each item once, in the order given.

    An item in a file has no spaces or tabs around it. Give items with spaces as a list.

    >>> read_items(["flu", "cold", None, "flu"]), read_items(range(3))
    (('flu', 'cold'), (0, 1, 2))
    """
    if domain is None:
        raise ParameterError(NO_DOMAIN)
    if isinstance(domain, Items):
        return domain
    try:
        once = dict.fromkeys(_list_items(domain))
    except TypeError:
        raise ParameterError(
            "domain must be a list of items such as text, numbers or dates: got a list or another container inside it. "
            "For one column write domain=['flu', 'cold']."
        ) from None
    once.pop(None, None)
    if not once:
        raise ParameterError(_EMPTY)
    _check_size(len(once))
    return Items(once)


def _check_size(size: int) -> None:
    if size > _MOST_ITEMS:
        raise ParameterError(
            f"domain must hold at most {_MOST_ITEMS:,} items: got {size:,}. List fewer, or pass the items as a Spark "
            "table, which is joined where it is."
        )


def _resolve_fold(item: Any) -> Any:
    """Return the item; in UTC where Python takes it for the hour before, as clocks are set back."""
    if type(item) is datetime.datetime and item.fold and item.tzinfo is not None:
        return item.astimezone(datetime.UTC)
    return item


def check_range(domain: range) -> range:
    """Return a range of whole numbers that can be a domain: neither empty nor longer than memory holds.

    >>> check_range(range(1, 13))
    range(1, 13)
    """
    if not domain:
        raise ParameterError(_EMPTY)
    # A length beyond 64 bits is none to Python.
    _check_size((domain[-1] - domain[0]) // domain.step + 1)
    return domain


def _list_items(domain: object) -> Iterable[Any]:
    if isinstance(domain, str | os.PathLike):
        return read_lines(Path(domain))
    if isinstance(domain, range):
        return check_range(domain)
    if isinstance(domain, list | tuple):
        return map(_resolve_fold, domain)
    if isinstance(domain, set | frozenset):
        raise ParameterError("domain must have an order: got a set. Pass sorted(domain).")
    import narwhals as nw

    table = nw.from_native(domain, allow_series=True, pass_through=True)
    if isinstance(table, nw.LazyFrame):
        table = table.collect()
    if isinstance(table, nw.DataFrame):
        if len(table.columns) != 1:
            raise ParameterError(
                f"domain must be one column: got a table with {len(table.columns)}. Select the one with the items."
            )
        table = table[table.columns[0]]
    if isinstance(table, nw.Series):
        return map(_resolve_fold, table.drop_nulls().to_list())
    raise ParameterError(
        f"domain must be a list, a range, a file or a column: got {type(domain).__name__}. Pass a column of a "
        "lazy table as a table of one column: table[['name']]."
    )


def read_lines(path: Path) -> list[str]:
    """Return the lines of a file of public items, without blanks at their ends."""
    try:
        facts = path.stat()
        if stat.S_ISCHR(facts.st_mode):  # a device may never end
            raise ParameterError(f"domain must be a file with one item per line: {path} is a device.")
        if facts.st_size > _LARGEST_FILE:
            raise ParameterError(f"domain must be a file of at most {_LARGEST_FILE:,} bytes: {path} is larger.")
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ParameterError(
            f"domain must be a file with one item per line: {path}: {reason}. Items themselves are written as a list, "
            "['a', 'b'], or for the command with commas, a,b."
        ) from None
    # Spaces at the ends are never meant; other separators than the line's end belong to an item.
    return [item for line in text.split("\n") if (item := line.strip(" \t"))]


def read_domains(domain: object, columns: Sequence[str]) -> list[Items]:
    """Read one domain for each column: for one column the domain itself, for several a list or a mapping."""
    if len(columns) == 1 and not isinstance(domain, Mapping):
        return [read_items(domain)]
    if domain is None:
        raise ParameterError(NO_DOMAIN)
    if isinstance(domain, Mapping):
        if set(domain) != set(columns):
            raise ParameterError(
                f"domain must have one entry for each of {', '.join(columns)}: got {', '.join(domain)}."
            )
        return [read_items(domain[column]) for column in columns]
    if not isinstance(domain, list | tuple) or len(domain) != len(columns):
        raise ParameterError(
            f"domain must be a list of {len(columns)} domains, one for each of {', '.join(columns)}. "
            "The items are all their combinations."
        )
    return [read_items(items) for items in domain]


def check_combinations(sizes: Iterable[int]) -> None:
    """Refuse a product domain with more items than memory holds, before any of them is made.

    >>> check_combinations([400, 400])
    """
    lengths = list(sizes)
    if len(lengths) > 1 and prod(lengths) > _MOST_COMBINATIONS:
        product = " x ".join(f"{size:,}" for size in lengths)
        raise ParameterError(
            f"domain must have at most {_MOST_COMBINATIONS:,} combinations: got {product}. Name fewer items, or fewer "
            "columns."
        )


def combine_domains(domains: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return the items of a product domain: bare for one column, tuples for several.

    >>> combine_domains([("a", "b"), (1, 2)])
    (('a', 1), ('a', 2), ('b', 1), ('b', 2))
    """
    check_combinations(map(len, domains))
    return domains[0] if len(domains) == 1 else tuple(product(*domains))


@dataclass(frozen=True)
class ColumnDomain:
    """Items, and the normal form of each: None where no row can have it."""

    items: Items
    keys: Sequence[Hashable | None]


def convert_items(items: Items, column_type: ColumnType, column: str) -> ColumnDomain:
    """Return the items as the column has them, so that text from a file meets whole numbers or dates.

    Two items with one normal form are one item given twice: the first of them stays.
    """
    try:
        converted = list(map(column_type.parse, items))
    except (ValueError, TypeError, OverflowError, LookupError, ArithmeticError, AttributeError):
        raise ParameterError(
            f"domain must hold {column_type.description}, as the column {column!r} does. "
            "Give its items in that form, or change the type of the column."
        ) from None
    if column_type is TEXT and set(map(type, items)) == {str}:
        return ColumnDomain(items, _Encoded(items))
    items_by_key: dict[Any, Any] = {}
    for item, key in zip(converted, map(column_type.key, converted), strict=True):
        items_by_key.setdefault(_Never(item) if key is None else key, item)
    return ColumnDomain(Items(items_by_key.values()), [None if type(key) is _Never else key for key in items_by_key])


class _Encoded(Sequence[Hashable | None]):
    """The normal forms of texts, made one at a time: no two texts have one in common, and there may be many."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, index: Any) -> Any:
        return TEXT.key(self._texts[index])

    def __iter__(self) -> Iterator[Hashable | None]:
        return map(TEXT.key, self._texts)


@dataclass(frozen=True)
class _Never:
    """In the place of a normal form: an item that no row can have."""

    item: Any


def parse_range(text: str) -> Any:
    """Return the items from one end to the other, both in; None where the text is no range.

    >>> parse_range("1..3"), list(parse_range("0..90:30")), parse_range("2025-11..2026-01")
    (range(1, 4), [0, 30, 60, 90], ('2025-11', '2025-12', '2026-01'))
    >>> parse_range("2026-W01..2026-W03"), parse_range("diagnoses.txt")
    (('2026-W01', '2026-W02', '2026-W03'), None)
    """
    ends = _NUMBERS.fullmatch(text)
    if ends:
        step = int(ends[3] or 1)
        if step < 1:
            raise ParameterError(f"--domain must have a step from 1 on: got {text}. Write 0..90:10.")
        return check_range(range(int(ends[1]), int(ends[2]) + 1, step))
    for form, pattern in _TIMES.items():
        ends = pattern.fullmatch(text)
        if ends:
            return _periods(ends[1], ends[2], form)
    return None


def _periods(first: str, last: str, form: str) -> tuple[str, ...]:
    start, end = (_day(text, form) for text in (first, last))
    if form == "%Y-%m":
        months = range(12 * start.year + start.month - 1, 12 * end.year + end.month)
        labels = tuple(f"{month // 12}-{month % 12 + 1:02}" if month >= _FIRST_MONTH else "" for month in months)
    else:  # the first of a week is its Monday
        step = 7 if form == "%G-W%V" else 1
        days = map(datetime.date.fromordinal, range(start.toordinal(), end.toordinal() + 1, step))
        labels = tuple(day.strftime(form) if day.year > 999 else "" for day in days)
    if not labels or "" in labels:
        raise ParameterError(f"--domain must be a range from an earlier to a later time: got {first}..{last}.")
    return labels


def _day(text: str, form: str) -> datetime.date:
    try:
        if form == "%G-W%V":
            return datetime.date.fromisocalendar(int(text[:4]), int(text[6:]), 1)
        return datetime.date.fromisoformat(text if form == "%Y-%m-%d" else f"{text}-01")
    except ValueError:
        raise ParameterError(f"--domain must be a range of times that there are: got {text}.") from None
