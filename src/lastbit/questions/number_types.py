"""Of what: one column of numbers or several, and the bounds of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from lastbit.errors import ParameterError
from lastbit.questions.group_types import GroupColumn, GroupList, check_names
from lastbit.questions.list_types import AUTO, PairOrAuto
from lastbit.questions.option import Face
from lastbit.questions.value_types import Text

_COLUMN: Final = Text("COLUMN")


@dataclass(frozen=True)
class NumberColumns(GroupList):
    """The column of numbers, or several. Commas separate them; a name with a comma stands in double quotes.

    >>> NumberColumns().parse("cost", "--of", "python"), NumberColumns().parse("cost,stay", "--of", "python")
    ('cost', ('cost', 'stay'))
    >>> NumberColumns().parse(["a,b"], "--of", "python"), NumberColumns().parse(['"a,b"'], "--of", "command")
    ('a,b', 'a,b')
    """

    def parse(self, value: Any, flag: str, face: Face) -> Any:
        """Return the one name, or several."""
        alone = isinstance(value, str) and "," not in value
        names: tuple[str, ...] = super().parse([value] if alone else value, flag, face)
        if not names:
            raise ParameterError(f"{flag} must name a column of numbers: got none. Write {flag} cost.")
        check_names(names, flag)
        return names[0] if len(names) == 1 else names

    def _parse_one(self, value: Any, flag: str, face: Face) -> GroupColumn:
        column = super()._parse_one(value, flag, face)
        return column if isinstance(column, str) else self.of.parse(value, flag, face)

    def arguments(self, value: Any) -> list[list[str]]:
        """Return the names as one word."""
        return [[",".join(word for (word,) in super().arguments(_list(value)))]]

    def plain(self, value: Any) -> Any:
        """Return the one name, or the list."""
        return super().plain(_list(value))

    def fact(self, value: Any) -> Any:
        """Return the one name, or the list in its order. `parse` reads it back."""
        return self.plain(value)


def _list(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value


@dataclass(frozen=True)
class ColumnBounds:
    """The bounds of several columns of numbers, in their order: two values for each, or auto."""

    pairs: tuple[tuple[str, Any], ...]

    def __getitem__(self, column: str) -> Any:
        return dict(self.pairs)[column]


@dataclass(frozen=True)
class BoundsByColumn(PairOrAuto):
    """Two values, or `auto`; or those of each column by its name. A command takes `cost=0,5000`, once for each column.

    >>> BoundsByColumn().parse({"cost": (0, 5000), "stay": "auto"}, "--bounds", "python")
    ColumnBounds(pairs=(('cost', ('0', '5000')), ('stay', 'auto')))
    >>> BoundsByColumn().parse(["cost=0,5000;stay=auto", ""], "--bounds", "command").pairs
    (('cost', ('0', '5000')), ('stay', 'auto'))
    """

    def parse(self, value: Any, flag: str, face: Face) -> Any:
        """Return both values, auto, or what each column has."""
        if isinstance(value, ColumnBounds):
            return value
        words = [value] if isinstance(value, str) else value
        if isinstance(value, Mapping):
            named = list(value.items())
        elif _is_named(words):
            named = list(_parse_names(words[0], flag))
        else:
            return super().parse(value, flag, face)
        columns = tuple(_COLUMN.parse(name, flag, face) for name, _ in named)
        if not columns:
            raise ParameterError(f"{flag} must have bounds for a column: got none. Write {flag} cost=0,5000.")
        check_names(columns, flag)
        pairs = (super(BoundsByColumn, self).parse(bounds, f"{flag} of {name}", face) for name, bounds in named)
        return ColumnBounds(tuple(zip(columns, pairs, strict=True)))

    def arguments(self, value: Any) -> list[list[str]]:
        """Return the words; of several columns one word for each."""
        if not isinstance(value, ColumnBounds):
            return super().arguments(value)
        return [[f"{name}={AUTO if bounds == AUTO else ','.join(bounds)}"] for name, bounds in value.pairs]

    def plain(self, value: Any) -> Any:
        """Return the list of both, auto, or a mapping from columns to these."""
        if not isinstance(value, ColumnBounds):
            return super().plain(value)
        return {name: super(BoundsByColumn, self).plain(bounds) for name, bounds in value.pairs}

    def fact(self, value: Any) -> Any:
        """Return the same in their normal forms."""
        if not isinstance(value, ColumnBounds):
            return super().fact(value)
        return {name: super(BoundsByColumn, self).fact(bounds) for name, bounds in value.pairs}

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of a list of two, of auto, or of an object of these."""
        own = super().schema
        return {**own, "type": [*own["type"], "object"], "additionalProperties": own}


def _is_named(words: Any) -> bool:
    """Return whether the words of a command, or the inputs of a page, name columns."""
    if not isinstance(words, list | tuple) or list(words[1:]) not in ([], [""]):
        return False
    return bool(words) and isinstance(words[0], str) and "=" in words[0]


def _parse_names(text: str, flag: str) -> Iterator[tuple[str, Any]]:
    """Yield each name with its bounds. A name may have the character that separates them."""
    start = ""
    for part in text.split(";"):
        name, equals, bounds = f"{start}{part}".rpartition("=")
        ends = [end.strip() for end in bounds.split(",")]
        if equals and (ends == [AUTO] or len(ends) == 2):
            yield name.strip(), ends[0] if ends == [AUTO] else ends
            start = ""
        else:
            start = f"{start}{part};"
    if start:
        raise ParameterError(
            f"{flag} must be LOW HIGH, or NAME=LOW,HIGH for each column: got {start[:-1][:40]!r}. Write {flag} "
            "cost=0,5000."
        )


def assign_bounds(of: Any, bounds: Any) -> Any:
    """Return the bounds of one column; or of each of several, to all of which a pair without a name belongs.

    >>> assign_bounds("cost", ColumnBounds((("cost", ("0", "9")),))), assign_bounds(("cost", "stay"), "auto")
    (('0', '9'), ColumnBounds(pairs=(('cost', 'auto'), ('stay', 'auto'))))
    """
    columns = _list(of)
    if not isinstance(bounds, ColumnBounds):
        return bounds if len(columns) == 1 else ColumnBounds(tuple((column, bounds) for column in columns))
    named = dict(bounds.pairs)
    for column in named:
        if column not in columns:
            raise ParameterError(
                f"--bounds must be for columns of --of: got {column!r}. Write it in --of too, or leave its bounds out."
            )
    for column in columns:
        if column not in named:
            raise ParameterError(
                f"--bounds must be for every column of --of: {column!r} has none. Write --bounds {column}=0,100 too."
            )
    pairs = tuple((column, named[column]) for column in columns)
    return pairs[0][1] if len(columns) == 1 else ColumnBounds(pairs)
