"""The tree of a query: columns, constants and operations on them. Nothing else can be said in it.

Only `--let` has operations on several rows, and these are always the rows of one person.
"""

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


@dataclass(frozen=True)
class Order:
    """A part of the order of a person's rows."""

    tree: Tree
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True)
class PersonOperation:
    """An operation on all rows of one person. Its name is a key of `person_operations`."""

    name: str
    parts: tuple[Tree, ...] = ()
    orders: tuple[Order, ...] = ()
    condition: Tree | None = None
    """Only rows of the person for which this is true take part."""
    distinct: bool = False
    offset: int = 1
    """How many rows before or behind this one."""

    @property
    def inner(self) -> tuple[Tree, ...]:
        """Everything that it is made of."""
        condition = () if self.condition is None else (self.condition,)
        return (*self.parts, *(order.tree for order in self.orders), *condition)


Tree = Column | Constant | Operation | PersonOperation


def column_names(tree: Tree) -> Iterator[str]:
    """Return the names of the columns in a tree.

    >>> list(column_names(Operation("=", (Column("age"), Constant(Fraction(3))))))
    ['age']
    """
    if isinstance(tree, Column):
        yield tree.name
    elif not isinstance(tree, Constant):
        for part in tree.parts if isinstance(tree, Operation) else tree.inner:
            yield from column_names(part)
