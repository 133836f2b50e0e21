"""By what: columns of groups, by their names or as expressions of one row; and how each of them is read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lastbit.errors import ParameterError
from lastbit.questions.domain import Domain
from lastbit.questions.edge_types import count_bins
from lastbit.questions.group_values import GroupEdges, GroupMonths
from lastbit.questions.list_types import TextList
from lastbit.questions.option import Face
from lastbit.questions.value_types import Text

_COLUMN: Final = Text("COLUMN")
_NAMED: Final = re.compile(r"(?s)(?P<expression>.*\S)\s+as\s+(?P<name>\w+|\"(?:[^\"]|\"\")+\")\s*", re.IGNORECASE)
_QUOTED: Final = re.compile(r"\"(?:[^\"]|\"\")+\"")

PERIODS: Final = ("day", "week", "month", "year")
"""Options that read the dates of a column as their periods."""
TIMES: Final = (*PERIODS, "hour", "weekday")
"""Options that read the times of a column as a part of them."""
READINGS: Final = ("edges", "bin", *TIMES)
"""Options that say how a column is read. Each adds its column to --by."""
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_OWN: Final = "lastbit_"
"""Columns that lastbit makes for itself begin so."""


@dataclass(frozen=True)
class NamedExpression:
    """A column that is made of one row: `hour(arrival) as hour`."""

    name: str
    expression: str

    def __str__(self) -> str:
        return f"{self.expression} as {_quote_name(self.name)}"


GroupColumn = str | NamedExpression


@dataclass(frozen=True)
class GroupList(TextList):
    """Columns of groups. A text may name several with commas; a name with a comma stands in double quotes.

    >>> GroupList().parse("region, age", "--by", "python")
    ('region', 'age')
    >>> GroupList().parse(["a,b", "age // 10 as decade"], "--by", "python")
    ('a,b', NamedExpression(name='decade', expression='age // 10'))
    >>> GroupList().parse(['"a,b",coalesce(x, y) as z'], "--by", "command")
    ('a,b', NamedExpression(name='z', expression='coalesce(x, y)'))
    """

    of: Text = _COLUMN

    def parse(self, value: Any, flag: str, face: Face) -> Any:
        """Return the names and the expressions."""
        if isinstance(value, NamedExpression):
            value = [value]
        if isinstance(value, str):
            value = list(_split(value))
        elif face == "command" and isinstance(value, list | tuple):
            value = [part for word in value for part in (_split(word) if isinstance(word, str) else [word])]
        if isinstance(value, list | tuple):
            return tuple(part if isinstance(part, NamedExpression) else self._parse_one(part, flag, face)
                         for part in value)  # fmt: skip
        return super().parse(value, flag, face)

    def _parse_one(self, value: Any, flag: str, face: Face) -> GroupColumn:
        text = self.of.parse(value, flag, face)
        if _QUOTED.fullmatch(text):
            return text[1:-1].replace('""', '"')
        named = _NAMED.fullmatch(text)
        if named is None:
            return text
        name = named["name"]
        name = name[1:-1].replace('""', '"') if name.startswith('"') else name
        if name.lower().startswith(_OWN):
            raise ParameterError(f"{flag} must not name a column {name!r}: lastbit's own begin so. Rename it.")
        return NamedExpression(name, named["expression"].strip())

    def arguments(self, value: Any) -> list[list[str]]:
        """Return one word for each column."""
        return [[_write(column)] for column in value]

    def plain(self, value: Any) -> Any:
        """Return the one name, or the list."""
        words = [_write(column) for column in value]
        return words[0] if len(words) == 1 else words

    def fact(self, value: Any) -> Any:
        """Return the list. `parse` reads it back."""
        return [_write(column) for column in value]


@dataclass(frozen=True)
class DiscoverList(GroupList):
    """Columns whose groups nobody listed; True, or the flag alone, for all columns without a list.

    >>> DiscoverList().parse(True, "--discover", "python"), DiscoverList().parse([""], "--discover", "command")
    (True, True)
    >>> DiscoverList().parse("diagnosis", "--discover", "python")
    ('diagnosis',)
    """

    def parse(self, value: Any, flag: str, face: Face) -> Any:
        """Return True, or the names."""
        alone = value[0] if isinstance(value, list | tuple) and len(value) == 1 else value
        if isinstance(alone, bool | str) and alone in ("", True, False):
            return True if alone in ("", True) else None
        names = super().parse(value, flag, face)
        if not names or not all(isinstance(name, str) for name in names):
            raise ParameterError(f"{flag} must name columns of --by, or stand alone for all without a list.")
        return names

    def arguments(self, value: Any) -> list[list[str]]:
        """Return the flag alone, or one word for each column."""
        return [[]] if value is True else super().arguments(value)

    def plain(self, value: Any) -> Any:
        """Return True, or the names."""
        return True if value is True else super().plain(value)

    def fact(self, value: Any) -> Any:
        """Return True, or the names."""
        return True if value is True else super().fact(value)

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of true, a name or a list of names."""
        return {"type": ["boolean", "string", "array"], "items": self.of.schema}


def split_groups(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return options in which `by` is no mapping: what it says of a column is said by the option for that.

    >>> split_groups({"by": {"region": ["north", "south"], "sex": None}})
    {'by': ['region', 'sex'], 'domain': {'region': ['north', 'south']}}
    """
    by = values.get("by")
    if not isinstance(by, Mapping):
        return values
    dates = [column for column, groups in by.items() if isinstance(groups, GroupMonths)]
    if len(dates) + (values.get("month") is not None) > 1:
        raise ParameterError("by may have the months of one column only. Name the others as 'month(day) as month'.")
    edges = {column: list(groups.edges) for column, groups in by.items() if isinstance(groups, GroupEdges)}
    domain = {
        column: groups.domain if isinstance(groups, GroupMonths) else groups
        for column, groups in by.items()
        if groups is not None and not isinstance(groups, GroupEdges)
    }
    said = {"edges": edges, "domain": domain, "month": dates[0] if dates else None}
    for name in ("edges", "domain"):
        if said[name] and values.get(name) is not None:
            raise ParameterError(
                f"by has the groups of its columns here, and {name} has some too. Leave one of them out."
            )
    return {**values, "by": list(by), **{name: value for name, value in said.items() if value}}


def group_names(columns: Any) -> tuple[str, ...]:
    """Return the names of columns of groups.

    >>> group_names(("region", NamedExpression("decade", "age // 10")))
    ('region', 'decade')
    """
    return tuple(column if isinstance(column, str) else column.name for column in columns or ())


def group_columns(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of all columns of groups: those of --by, and behind them that of --in-each or --different.

    >>> group_columns({"by": ("diagnosis",), "in_each": "department"})
    ('diagnosis', 'department')
    """
    names = group_names(values.get("by"))
    more = [values[name] for name in ("in_each", "different") if values.get(name) is not None]
    return (*names, *more)


def columns_read(values: Mapping[str, Any]) -> list[str]:
    """Return the columns that options say how to read, in the order of the options.

    >>> columns_read({"edges": (("age", ("0", "18")),), "bin": ("cost", "10"), "month": "day"})
    ['age', 'cost', 'day']
    """
    columns = [name for name, _ in values.get("edges") or () if name]
    columns += [values["bin"][0]] if values.get("bin") else []
    return columns + [values[unit] for unit in TIMES if values.get(unit)]


def add_columns(values: dict[str, Any]) -> dict[str, Any]:
    """Return parsed options in which `by` names every column that another option says how to read.

    >>> add_columns({"by": ("region",), "edges": (("age", ("0", "18")),), "month": "day"})["by"]
    ('region', 'age', 'day')
    """
    by = tuple(values.get("by") or ())
    names = group_columns(values)
    more = [column for column in dict.fromkeys(columns_read(values)) if column not in names]
    return {**values, "by": (*by, *more)} if more else values


def imply_domains(values: Mapping[str, Any]) -> dict[str, Domain]:
    """Return the groups of columns that need no list: those between edges, hours and weekdays.

    Bins between automatic bounds have no labels yet: here they are numbered.

    >>> imply_domains({"edges": (("age", ("0", "18")),), "hour": "arrival"})["age"].items
    ('under 18', '18 and over')
    """
    from lastbit.values.edges import OUTSIDE

    implied = {}
    for column, bins in read_edges(values).items():
        labels = tuple(label for label in bins.labels if label != OUTSIDE)
        implied[column] = Domain(labels, column=column, complete=not values.get("closed"))
    for column, edges in values.get("edges") or ():
        if (bins := count_bins(edges)) is not None:
            implied[column] = Domain(
                tuple(f"bin {place}" for place in range(1, bins + 1)), column=column, complete=True
            )
    if values.get("hour"):
        implied[values["hour"]] = Domain(range(24), column=values["hour"], complete=True)
    if values.get("weekday"):
        implied[values["weekday"]] = Domain(_WEEKDAYS, column=values["weekday"], complete=True)
    return implied


def read_edges(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the bins of each column that is read between edges. Those between automatic bounds are not known yet."""
    from lastbit.values.edges import ClosedBins, OpenBins

    kind = ClosedBins if values.get("closed") else OpenBins
    return {
        column: kind.between(edges)
        for column, edges in values.get("edges") or ()
        if column and count_bins(edges) is None
    }


def check_names(names: tuple[str, ...], flag: str = "--by") -> None:
    """Refuse a column that is named twice."""
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ParameterError(f"{flag} must name each column once: got {twice!r} twice. Leave one of them out.")


def _write(column: GroupColumn) -> str:
    """Return a column as a person types it: a name that reads as more than a name stands in double quotes."""
    if not isinstance(column, str):
        return str(column)
    plain = (
        "," not in column and not _NAMED.fullmatch(column) and not column.startswith('"') and column.strip() == column
    )
    return column if plain else f'"{column.replace(chr(34), chr(34) * 2)}"'


def _quote_name(name: str) -> str:
    return name if re.fullmatch(r"\w+", name) else f'"{name.replace(chr(34), chr(34) * 2)}"'


def _split(text: str) -> Iterator[str]:
    """Split at commas that stand neither in quotes nor in brackets."""
    depth, quote, part = 0, "", ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == "," and depth == 0:
            yield part.strip()
            part = ""
            continue
        part += character
    yield part.strip()


def puts_each_in_one(names: Sequence[str], columns_of_person: frozenset[str] | set[str]) -> bool:
    """Return whether each person is in one group of these columns: all of them are the same in all of a person's rows.

    >>> puts_each_in_one(["visits"], {"visits"}), puts_each_in_one(["visits", "ward"], {"visits"})
    (True, False)
    """
    return bool(names) and columns_of_person.issuperset(names)
