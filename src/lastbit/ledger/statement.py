"""`Statement`: SQL of every charge, written out once for a database and run by its driver."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping
from typing import Any

import sqlalchemy as sa


class Statement:
    """A statement that SQLAlchemy compiles once for a database; the driver runs it, in a tenth of SQLAlchemy's time.

    Its values are text, whole numbers and None, which drivers take and give as they are. `columns` are those that an
    INSERT or UPDATE sets.

    >>> engine = sa.create_engine("sqlite://")
    >>> number = Statement(sa.select(sa.bindparam("n", type_=sa.Integer).label("number")))
    >>> with engine.connect() as books:
    ...     number.first(books, {"n": 2}).number
    2
    """

    def __init__(self, clause: sa.Select[Any] | sa.Insert | sa.Update, *columns: str) -> None:
        self._clause, self._columns = clause, columns
        names = [str(each.key) for each in clause.selected_columns] if isinstance(clause, sa.Select) else []
        row: Any = namedtuple("Row", names)  # type: ignore[misc]
        self._row: Callable[[tuple[Any, ...]], Any] = row._make
        self._compiled: dict[str, tuple[str, list[str] | None]] = {}

    def first(self, books: sa.Connection, values: Mapping[str, object]) -> Any:
        """The first row that a SELECT finds, with its columns as attributes; None where there is none."""
        found = self._run(books, values).fetchall()
        return self._row(found[0]) if found else None

    def insert(self, books: sa.Connection, values: Mapping[str, object]) -> int:
        """Add a row, and give its id."""
        cursor = self._run(books, values)
        return int(cursor.lastrowid if cursor.description is None else cursor.fetchall()[0][0])

    def change(self, books: sa.Connection, values: Mapping[str, object]) -> None:
        """Change rows."""
        self._run(books, values)

    def _run(self, books: sa.Connection, values: Mapping[str, object]) -> Any:
        text, order = self._compiled.get(books.dialect.name) or self._compile(books.dialect)
        given = values if order is None else [values[name] for name in order]
        return driver_of(books).execute(text, given)

    def _compile(self, dialect: sa.Dialect) -> tuple[str, list[str] | None]:
        made: Any = self._clause.compile(dialect=dialect, column_keys=self._columns or None)
        found = made.string, None if made.positiontup is None else list(made.positiontup)
        self._compiled[dialect.name] = found
        return found


def driver_of(books: sa.Connection) -> Any:
    """The driver's own connection: of sqlite3 or of psycopg."""
    return books.connection.driver_connection
