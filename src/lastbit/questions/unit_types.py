"""Of whom: the column that says whom a row belongs to, or several, whose combination is protected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lastbit.errors import ParameterError
from lastbit.output.words import Words, capitalize, plural, pluralize
from lastbit.privacy.cost import Cost
from lastbit.questions.group_types import GroupColumn, GroupList, NamedExpression
from lastbit.questions.option import Face

UnitColumn = GroupColumn


@dataclass(frozen=True)
class UnitColumns(GroupList):
    """The column of a unit; or a list of columns, or of expressions of a row, whose combination is the unit.

    >>> UnitColumns().parse("patient", "--unit", "python"), UnitColumns().parse(["user", "day"], "--unit", "python")
    ('patient', ('user', 'day'))
    """

    def parse(self, value: Any, flag: str, face: Face) -> Any:
        """Return the one name, or the parts of the combination."""
        if isinstance(value, list | tuple):
            # A comma belongs to the name of a column here.
            words = [part if isinstance(part, NamedExpression) else self._parse_one(part, flag, face) for part in value]
        else:
            words = [self._parse_one(value, flag, face)]
        parts = tuple(dict.fromkeys(words))
        if not parts or len({_name_of(part) for part in parts}) < len(parts):
            raise ParameterError(f"{flag} must name columns, each by a name of its own: got two of one name, or none.")
        if len(parts) == 1 and not isinstance(parts[0], str):
            raise ParameterError(f"{flag} must name a column: an expression stands beside one, as --unit user --unit "
                                 f"{str(parts[0])!r}.")  # fmt: skip
        return parts[0] if len(parts) == 1 else parts

    def arguments(self, value: Any) -> list[list[str]]:
        """Return one word for each column."""
        return super().arguments((value,) if isinstance(value, str) else value)

    def plain(self, value: Any) -> Any:
        """Return the one name, or the list."""
        return super().plain((value,) if isinstance(value, str) else value)

    def fact(self, value: Any) -> Any:
        """Return the one name, or the list. `parse` reads it back."""
        return value if isinstance(value, str) else super().fact(value)


def _name_of(part: UnitColumn) -> str:
    return part.name if isinstance(part, NamedExpression) else part


def read_unit_names(value: Any) -> tuple[str, ...]:
    """Return the names of the columns of a unit, as JSON or a file has it.

    >>> read_unit_names("patient"), read_unit_names(["user", "cast(time as date) as day"])
    (('patient',), ('user', 'day'))
    """
    unit = UnitColumns().parse(value, "unit", "python")
    return (unit,) if isinstance(unit, str) else tuple(map(_name_of, unit))


def name_key(parts: Sequence[UnitColumn]) -> str:
    """Return the name of the key that is made of the columns of a unit, as sentences name it.

    >>> name_key(["user", NamedExpression("day", "cast(time as date)")])
    'user and day'
    """
    return join_names([_name_of(part) for part in parts])


def find_protected(options: Mapping[str, Any], nouns: Sequence[str]) -> tuple[str, str]:
    """Return what the one is called, and what several are, whose rows are protected together, as JSON has a question.

    >>> find_protected({"unit": ["user", "day"], "most_units": 9}, ("user-day", "user-days"))
    ('user', 'users')
    >>> find_protected({"unit": ["user", "day"]}, ("user-day", "user-days"))
    ('user-day', 'user-days')
    """
    if options.get("most_units") is None:
        return nouns[0], nouns[1]
    one = read_unit_names(options["unit"])[0]
    return one, pluralize(one)


def join_names(names: Sequence[str], word: str = "and") -> str:
    """Return several names as a sentence lists them.

    >>> join_names(["user", "device", "day"])
    'user, device and day'
    >>> join_names(["user"])
    'user'
    """
    return f" {word} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def name_combination(names: Sequence[str], rows: tuple[str, str]) -> Words:
    """Return what one combination is called where nobody says it: counts are of these, and not of people.

    >>> name_combination(["user", "day"], ("edit", "edits")).people
    'user-days'
    """
    one = "-".join(names)
    return Words(one, pluralize(one), *rows)


def describe_combination(names: Sequence[str], words: Words, most: int | None = None, *costs: Cost) -> list[str]:
    """Return what counts as one and is protected together where several columns are the unit, and what is not.

    most: how many combinations one person has at most. costs: that of a release for one of them that comes or goes. One
    that comes may take the place of another in the lot: these are two.

    >>> describe_combination(["user", "day"], Words("user-day", "user-days", "edit", "edits"))
    ['A user-day is all edits with the same user and day: these are protected together, and not all edits with the \
same user.', 'Edits without user or day are left out.']
    >>> describe_combination(["user", "day"], Words("user-day", "user-days", "edit", "edits"), 3, Cost.of("1/2"))[2]
    'epsilon 3/2 protects all edits with the same user, and epsilon 1 any one user-day.'
    """
    rows = words.rows
    without = f"{capitalize(rows)} without {join_names(names, 'or')} are left out."
    what = f"{words.one} is all {rows} with the same {join_names(names)}"
    if most is None:
        return [f"{what}: these are protected together, and not all {rows} with the same {names[0]}.", without]
    promise = [
        f"{cost.of_group(most).text} protects all {rows} with the same {names[0]}, and {cost.of_two().text} any one "
        f"{words.person}."
        for cost in costs
    ]
    return [
        f"{what}. Of one {names[0]}, at most {plural(most, words.person, words.people)} count, picked at random: every "
        f"number and interval is of these. How many {pluralize(names[0])} have more, and how many {words.people} that "
        "leaves out, is not measured.",
        without,
        *promise,
    ]
