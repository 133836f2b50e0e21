"""The types of `--join` and `--on`: other tables beside the table, and the columns by which they are joined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import ParameterError
from lastbit.output.addresses import public_address
from lastbit.output.words import Words
from lastbit.questions.group_types import GroupList
from lastbit.questions.list_types import TextList
from lastbit.questions.option import Face
from lastbit.questions.value_types import Place, Text, describe

if TYPE_CHECKING:
    from lastbit.data.files.joining import JoinedTable

NO_NAME: Final = "-"
"""What stands for a table of a library, which has no name."""


_FILE: Final = Place("FILE")


@dataclass(frozen=True)
class JoinedFrame:
    """A table of a library that is joined. Two are the same where they are one object."""

    frame: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JoinedFrame) and other.frame is self.frame

    def __hash__(self) -> int:
        return id(self.frame)

    def __repr__(self) -> str:
        return f"JoinedFrame({type(self.frame).__name__})"


@dataclass(frozen=True)
class OneOrMore(TextList):
    """Texts, of which the books keep a single one as it is.

    >>> OneOrMore().fact(("zip",)), OneOrMore().fact(("zip", "region"))
    ('zip', ['zip', 'region'])
    """

    def fact(self, value: Sequence[Any]) -> Any:
        """Return the one text, or the list."""
        facts = [self._fact_of(part) for part in value]
        return facts[0] if len(facts) == 1 else facts

    def _fact_of(self, value: Any) -> str:
        return str(value)


@dataclass(frozen=True)
class JoinColumns(OneOrMore):
    """For each table that is joined its column, or several with commas; a name with a comma has double quotes.

    >>> JoinColumns().parse(["zip", "year , month"], "--on", "command")
    ('zip', 'month,year')
    >>> JoinColumns().parse(["zip", ["year", "a,b"]], "--on", "python")
    ('zip', '"a,b",year')
    """

    def parse(self, value: Any, flag: str, face: Face) -> tuple[str, ...]:
        """Return the columns of each table as one text."""
        return tuple(
            self._parse_one(part, flag, face) for part in (value if isinstance(value, list | tuple) else [value])
        )

    def _parse_one(self, value: Any, flag: str, face: Face) -> str:
        columns = GroupList().parse(value, flag, face)
        expression = next((part for part in columns if not isinstance(part, str)), None)
        if expression is not None or not columns or len({*columns}) < len(columns):
            problem = "nothing" if not columns else "an expression" if expression is not None else "one column twice"
            raise ParameterError(f"{flag} must name columns of both tables: got {problem}. Write --on postcode,year.")
        # In one order: a key is the same whichever column of it comes first.
        return ",".join(GroupList().arguments([column])[0][0] for column in sorted(columns))


def read_key(on: str) -> tuple[str, ...]:
    """Return the columns by which one table is joined.

    >>> read_key('year,"a,b"')
    ('year', 'a,b')
    """
    return tuple(GroupList().parse(on, "--on", "python"))


@dataclass(frozen=True)
class JoinedTables(OneOrMore):
    """Tables that are joined: files, DATABASE#TABLE, or tables of a library.

    A plan knows a file by its name; the books know its place too, as that of the rows.

    >>> JoinedTables().parse("old/regions.csv", "--join", "command")
    ('old/regions.csv',)
    >>> JoinedTables().fact(("old/regions.csv", "postgresql://bob:secret@db/clinic#drugs"))
    ['regions.csv', 'clinic#drugs']
    """

    of: Text = _FILE

    def parse(self, value: Any, flag: str, face: Face) -> Any:
        """Return the tables, in the order in which they are joined."""
        return tuple(
            self._parse_one(part, flag, face) for part in (value if isinstance(value, list | tuple) else [value])
        )

    def _parse_one(self, value: Any, flag: str, face: Face) -> str | JoinedFrame:
        if isinstance(value, JoinedFrame):
            return value
        if hasattr(value, "columns") and face == "python":
            return JoinedFrame(value)
        if hasattr(value, "columns") or isinstance(value, int | float | dict | bool):
            raise ParameterError(
                f"{flag} must be a file, DATABASE#TABLE or a table of a library: got {describe(value)}."
            )
        return self.of.parse(value, flag, face)

    def arguments(self, value: Sequence[Any]) -> list[list[str]]:
        """Return one word for each table, without passwords."""
        return [[_name_of(joined)] for joined in value]

    def plain(self, value: Sequence[Any]) -> Any:
        """Return the one name, or the list, without passwords."""
        return super().plain(tuple(map(_name_of, value)))

    def _fact_of(self, value: Any) -> str:
        return name_of_file(value)


def read_joined(joined: str | JoinedFrame) -> JoinedTable:
    """Return the table that is joined."""
    from lastbit.data.files.joining import JoinedTable

    return JoinedTable.of(joined.frame if isinstance(joined, JoinedFrame) else joined)


def name_of_file(joined: str | JoinedFrame) -> str:
    """Return the name of a table that is joined, without its place. That of a table of a database is whole.

    >>> name_of_file("old/regions.csv"), name_of_file("old/clinic.db#a/b")
    ('regions.csv', 'clinic.db#a/b')
    """
    if isinstance(joined, JoinedFrame):
        return NO_NAME
    table = read_joined(joined)
    name = PurePath(public_address(table.place)).name
    return name if table.table is None else f"{name}#{table.table}"


def describe_joins(
    joined: Sequence[str | JoinedFrame], on: Sequence[str], unit: Sequence[str], words: Words
) -> Iterator[str]:
    """Yield what is public of tables that are joined, and how rows of the same people meet.

    >>> [*describe_joins(["old/regions.csv"], ["zip"], ["patient"], Words())]
    ['What regions.csv holds is public: only the rows of the table are protected.']
    """
    for other, columns in zip(joined, map(read_key, on), strict=True):
        name = "the joined table" if isinstance(other, JoinedFrame) else name_of_file(other)
        if not unit or not {*unit} <= {*columns}:
            yield f"What {name} holds is public: only the {words.rows} of the table are protected."
            continue
        from lastbit.data.query.pairing import MOST_PAIRS

        more = [column for column in columns if column not in unit]
        same = f" with the same {' and '.join(more)}" if more else ""
        yield (
            f"Each {words.row} of {words.a_person} meets each of their {words.rows} in {name}{same}, and counts once "
            f"for each of them, in sums, totals and numbers of {words.rows} too. Of more than {MOST_PAIRS:,} such "
            f"pairs of one {words.person}{same}, no more than these are read, picked at random: how many "
            f"{words.people} have more is not measured."
        )


def _name_of(joined: str | JoinedFrame) -> str:
    if isinstance(joined, JoinedFrame):
        return NO_NAME
    table = read_joined(joined)
    return public_address(table.place) + ("" if table.table is None else f"#{table.table}")
