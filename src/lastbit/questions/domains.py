"""The domains of several columns: which items belong to which column, and which combinations of them are listed."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np

from lastbit.errors import ParameterError
from lastbit.output.words import plural
from lastbit.questions.domain import NAMED, Domain
from lastbit.questions.option import Face
from lastbit.questions.value_types import Text


def _parse_word(word: str, flag: str, face: Face) -> Domain:
    """Read one word of a command: items, perhaps with the name of their column before them."""
    named = NAMED.fullmatch(word)
    if named is None:
        return Domain.parse(word, flag, face)
    return replace(Domain.parse(named[2], flag, face), column=Text().parse(named[1].strip(), flag, face))


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
            value = [value] if NAMED.fullmatch(value) else value
        if (
            isinstance(value, list | tuple)
            and face in ("command", "python")
            and value
            and all(isinstance(word, str) and (face == "command" or NAMED.fullmatch(word)) for word in value)
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
