"""The tree of a query: columns, constants and operations on them. Nothing else can be said in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Column:
    """A column of the table."""

    name: str


@dataclass(frozen=True)
class Constant:
    """A value that the query states: text, an exact number, true, false, or None for null."""

    value: str | Fraction | bool | None


@dataclass(frozen=True)
class Operation:
    """An operation on other parts. Its name is a key of `operations.OPERATIONS`."""

    name: str
    parts: tuple[Tree, ...]


Tree = Column | Constant | Operation


def column_names(tree: Tree) -> Iterator[str]:
    """Return the names of the columns in a tree.

    >>> list(column_names(Operation("=", (Column("age"), Constant(Fraction(3))))))
    ['age']
    """
    if isinstance(tree, Column):
        yield tree.name
    elif isinstance(tree, Operation):
        for part in tree.parts:
            yield from column_names(part)
