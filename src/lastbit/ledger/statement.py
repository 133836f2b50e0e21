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
    >>> with engine.connect() as connection:
    ...     number.first(connection, {"n": 2}).number
    2
    """

    def __init__(self, clause: sa.Select[Any] | sa.Insert | sa.Update, *columns: str) -> None:
        self._clause, self._columns = clause, columns
        names = [str(column.key) for column in clause.selected_columns] if isinstance(clause, sa.Select) else []
        row: Any = namedtuple("Row", names)  # type: ignore[misc]
        self._row: Callable[[tuple[Any, ...]], Any] = row._make
        self._compiled: dict[str, tuple[str, list[str] | None]] = {}

    def first(self, connection: sa.Connection, values: Mapping[str, object]) -> Any:
        """Return the first row that a SELECT finds, with its columns as attributes; None where there is none."""
        rows = self._run(connection, values).fetchall()
        return self._row(rows[0]) if rows else None

    def all(self, connection: sa.Connection, values: Mapping[str, object]) -> list[Any]:
        """Return all rows that a SELECT finds, with their columns as attributes."""
        return [self._row(row) for row in self._run(connection, values).fetchall()]

    def insert(self, connection: sa.Connection, values: Mapping[str, object]) -> int:
        """Add a row, and give its id."""
        cursor = self._run(connection, values)
        return int(cursor.lastrowid if cursor.description is None else cursor.fetchall()[0][0])

    def change(self, connection: sa.Connection, values: Mapping[str, object]) -> None:
        """Run a statement that changes rows."""
        self._run(connection, values)

    def _run(self, connection: sa.Connection, values: Mapping[str, object]) -> Any:
        text, order = self._compiled.get(connection.dialect.name) or self._compile(connection.dialect)
        parameters = values if order is None else [values[name] for name in order]
        return driver_of(connection).execute(text, parameters)

    def _compile(self, dialect: sa.Dialect) -> tuple[str, list[str] | None]:
        compiled: Any = self._clause.compile(dialect=dialect, column_keys=self._columns or None)
        statement = compiled.string, None if compiled.positiontup is None else list(compiled.positiontup)
        self._compiled[dialect.name] = statement
        return statement


def driver_of(connection: sa.Connection) -> Any:
    """Return the driver's own connection: of sqlite3 or of psycopg."""
    return connection.connection.driver_connection
