"""Public candidates: the items that a table may be counted by.

The items come from a list, a range, a file with one item per line, or a column of another, public table. Nothing here
looks at the private table but for the type of its columns.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, Final

from lastbit.data.kinds import Kind
from lastbit.errors import ParameterError

Items = tuple[Any, ...]

NO_DOMAIN: Final = (
    "domain must be given: the items that can be released have to be public, and which items occur in the data is "
    "not. Pass a list, a range, a file with one item per line, or a column of another table. If nobody can list the "
    "items, pass domain=lastbit.UNKNOWN, and use a mechanism that pays a delta, such as DiscoverTopK."
)


_EMPTY: Final = "domain must hold at least one item: got none. There would be nothing to release."

_MOST_ITEMS: Final = 10**8
"""A range is shorter than this: its items are held in memory."""

_MOST_COMBINATIONS: Final = 10**7
"""Combinations of items of several columns: each is a tuple in memory, of some 200 bytes with what is kept about it."""


def items_of(domain: object) -> Items:
    """The items of one column: nulls and blank lines left out, each item once, in the order given.

    An item in a file has no spaces or tabs around it. Give items with spaces as a list.

    >>> items_of(["flu", "cold", None, "flu"]), items_of(range(3))
    (('flu', 'cold'), (0, 1, 2))
    """
    if domain is None:
        raise ParameterError(NO_DOMAIN)
    try:
        items = tuple(item for item in dict.fromkeys(map(_told_apart, _listed(domain))) if item is not None)
    except TypeError:
        raise ParameterError(
            "domain must be a list of items such as text, numbers or dates: got a list or another container inside it. "
            "For one column write domain=['flu', 'cold']."
        ) from None
    if not items:
        raise ParameterError(_EMPTY)
    return items


def _told_apart(item: Any) -> Any:
    """The item; in UTC where Python takes it for the hour before, which has the same name as clocks are set back."""
    if type(item) is datetime.datetime and item.fold and item.tzinfo is not None:
        return item.astimezone(datetime.UTC)
    return item


def checked_range(domain: range) -> range:
    """A range of whole numbers that can be a domain: neither empty nor longer than memory holds.

    >>> checked_range(range(1, 13))
    range(1, 13)
    """
    if not domain:
        raise ParameterError(_EMPTY)
    if len(domain[:_MOST_ITEMS]) == _MOST_ITEMS:
        raise ParameterError(f"domain must hold fewer than {_MOST_ITEMS:,} items. Choose a shorter range.")
    return domain


def _listed(domain: object) -> Iterable[Any]:
    if isinstance(domain, str | os.PathLike):
        return _lines(Path(domain))
    if isinstance(domain, range):
        return checked_range(domain)
    if isinstance(domain, list | tuple):
        return domain
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
        return table.drop_nulls().to_list()
    raise ParameterError(
        f"domain must be a list, a range, a file or a column: got {type(domain).__name__}. Pass a column of a "
        "lazy table as a table of one column: table[['name']]."
    )


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ParameterError(
            f"domain must be a file with one item per line: {path}: {reason}. Items themselves are written as a list, "
            "['a', 'b'], or for the command with commas, a,b."
        ) from None
    # Spaces at the ends are never meant; other separators than the line's end belong to an item.
    return [line.strip(" \t") for line in text.split("\n") if line.strip(" \t")]


def domains_of(domain: object, columns: Sequence[str]) -> list[Items]:
    """One domain for each column: for one column the domain itself, for several a list or a mapping of domains."""
    if len(columns) == 1 and not isinstance(domain, Mapping):
        return [items_of(domain)]
    if domain is None:
        raise ParameterError(NO_DOMAIN)
    if isinstance(domain, Mapping):
        if set(domain) != set(columns):
            raise ParameterError(
                f"domain must have one entry for each of {', '.join(columns)}: got {', '.join(domain)}."
            )
        return [items_of(domain[column]) for column in columns]
    if not isinstance(domain, list | tuple) or len(domain) != len(columns):
        raise ParameterError(
            f"domain must be a list of {len(columns)} domains, one for each of {', '.join(columns)}. "
            "The items are all their combinations."
        )
    return [items_of(each) for each in domain]


def check_combinations(sizes: Iterable[int]) -> None:
    """Refuse a product domain with more items than memory holds, before any of them is made.

    >>> check_combinations([400, 400])
    """
    listed = list(sizes)
    if len(listed) > 1 and prod(listed) > _MOST_COMBINATIONS:
        each = " x ".join(f"{size:,}" for size in listed)
        raise ParameterError(
            f"domain must have at most {_MOST_COMBINATIONS:,} combinations: got {each}. Name fewer items, or fewer "
            "columns."
        )


def combined(domains: Sequence[Items]) -> Items:
    """The items of a product domain: bare for one column, tuples for several.

    >>> combined([("a", "b"), (1, 2)])
    (('a', 1), ('a', 2), ('b', 1), ('b', 2))
    """
    check_combinations(map(len, domains))
    return domains[0] if len(domains) == 1 else tuple(product(*domains))


@dataclass(frozen=True)
class Domain:
    """Items, and the normal form of each: None where no row can have it."""

    items: Items
    keys: list[Hashable | None]


def typed(items: Items, kind: Kind, column: str) -> Domain:
    """The items as the column has them, so that text from a file meets whole numbers or dates.

    Two items with one normal form are one item given twice: the first of them stays.
    """
    try:
        converted = list(map(kind.item, items))
    except (ValueError, TypeError, OverflowError, LookupError, ArithmeticError, AttributeError):
        raise ParameterError(
            f"domain must hold {kind.holds}, as the column {column!r} does. "
            "Give its items in that form, or change the type of the column."
        ) from None
    kept: dict[Any, tuple[Any, Hashable | None]] = {}
    for item, key in zip(converted, map(kind.key, converted), strict=True):
        kept.setdefault(("never", item) if key is None else key, (item, key))
    return Domain(tuple(item for item, _ in kept.values()), [key for _, key in kept.values()])
