"""Where a ledger keeps its books: versions and transactions, the same on SQLite and on PostgreSQL.

Every transaction that writes holds the only right to write: in SQLite it begins IMMEDIATE, in PostgreSQL it locks the
account's row.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

import sqlalchemy as sa

from lastbit.errors import LedgerError, LedgerNotFound
from lastbit.ledger.connections import Connections
from lastbit.ledger.statement import Statement
from lastbit.ledger.tables import METADATA, SCHEMA
from lastbit.output.addresses import public_address

VERSION: Final = 1
"""The version of the tables."""

MIGRATIONS: Final[dict[int, Callable[[sa.Connection], None]]] = {}
"""MIGRATIONS[v] turns the tables of version v into those of version v + 1, in the transaction that finds them old.

The first version has none before it. Whoever changes the tables raises VERSION and adds a function here.
"""

_REASONS: Final = {
    sqlite3.SQLITE_NOTADB: "it is no SQLite file. Name another one",
    sqlite3.SQLITE_READONLY: "it is read-only. Make it writable",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened. Check that its folder exists and may be written",
    sqlite3.SQLITE_BUSY: "another program has held it for too long. Try again",
    sqlite3.SQLITE_FULL: "the disk is full. Make room",
    sqlite3.SQLITE_IOERR: "the disk refused to read or write: it may be full, or fail. Check the disk",
    sqlite3.SQLITE_CORRUPT: "the file is damaged. Restore it from a copy",
}
_VERSION: Final = Statement(sa.select(SCHEMA.c.version))
_LOCK: Final = 0x6C617374626974  # "lastbit": whoever makes tables or accounts in PostgreSQL holds this


class Store:
    """The database of a ledger, and its transactions."""

    def __init__(self, place: str | os.PathLike[str]) -> None:
        self.url = _url(place)
        self._sqlite = self.url.get_backend_name() == "sqlite"
        self._label = self.url.database or "" if self._sqlite else public_address(os.fspath(place))
        self._file = os.path.abspath(self.url.database or "")  # the program may go to another folder
        self._connections = Connections(self.url)

    def __repr__(self) -> str:
        return self._label

    @property
    def is_missing(self) -> bool:
        """Whether there is no file yet."""
        return self._sqlite and not os.path.exists(self._file)

    @contextmanager
    def transaction(
        self, *, create: bool = False, durable: bool = True, settle: bool = True
    ) -> Iterator[sa.Connection]:
        """Run a transaction that writes, with all tables up to date: see `Connections.begin` for the options."""
        with self._translate_errors():
            if self.is_missing and not create:
                raise self._not_found_error()
            with self._connections.begin(write=True, durable=durable, settle=settle) as connection:
                self._update(connection, create)
                yield connection
            if create:
                self._connections.close_idle()  # the next connection finds a ledger, for which it may use SQLite's log

    def settle(self) -> None:
        """Bring what a transaction without `settle` wrote into SQLite's main file, if that can be done."""
        with suppress(LedgerError), self._translate_errors():
            self._connections.settle()

    @contextmanager
    def read_transaction(self) -> Iterator[sa.Connection]:
        """Run a transaction that reads. In SQLite it sees one moment; in PostgreSQL each of its statements does."""
        with self._translate_errors():
            if self.is_missing:
                raise self._not_found_error()
            with self._connections.begin(write=False, settle=False) as connection:
                if self._version(connection) == VERSION:
                    yield connection
                    return
            with self._connections.begin(write=True) as connection:
                self._update(connection, create=False)
                yield connection

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Raise a LedgerError instead of an error of the database, whose message goes no further."""
        problem = ""
        try:
            yield
        except (sa.exc.SQLAlchemyError, self._connections.error) as error:
            # The message may hold a password or a note: only the kind is passed on, without the chain.
            driver = getattr(error, "orig", None) or error
            # The lowest byte is the kind; the file itself must not be looked at, since closing it would free its locks.
            code = getattr(driver, "sqlite_errorcode", 0) & 0xFF
            problem = _REASONS.get(code) or type(driver).__name__
        if problem:
            try:
                raise LedgerError(
                    f"the ledger at {self!r} could not be used: {problem}. Nothing was drawn; if a charge was under "
                    "way, look at the history to see whether it counts."
                )
            except LedgerError as refusal:
                # Python has attached the error that ended the block of whoever uses this.
                refusal.__context__ = None
                raise

    def _not_found_error(self) -> LedgerNotFound:
        return LedgerNotFound(
            f"there is no ledger at {self!r}. Make one by creating an account in it: lastbit budget create NAME "
            "--ledger FILE --epsilon 3, or ledger.create(NAME, epsilon=3). Nothing was drawn."
        )

    def lock(self, connection: sa.Connection) -> None:
        """Wait until nobody else makes tables or accounts, and keep it so to the end of the transaction."""
        if not self._sqlite:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))

    def file_problems(self, connection: sa.Connection) -> list[str]:
        """Return what SQLite finds wrong with its file. A server has its own checks: `pg_checksums`, `pg_amcheck`."""
        if not self._sqlite or connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar() == "ok":
            return []
        return ["the file is damaged: SQLite's own check fails (PRAGMA integrity_check). Restore it from a copy."]

    def _update(self, connection: sa.Connection, create: bool) -> None:
        version = self._version(connection)
        if version == VERSION:
            return
        self.lock(connection)
        version = self._version(connection)
        if version is None:
            if self._sqlite and sa.inspect(connection).get_table_names():
                raise LedgerError(
                    f"{self!r} holds other tables and no ledger: it may be data. A ledger is a file of its own. Name "
                    "another file; the first account makes it."
                )
            if not create:
                raise self._not_found_error()
            METADATA.create_all(connection)
            connection.execute(SCHEMA.insert().values(version=VERSION))
            return
        steps = [MIGRATIONS.get(old) for old in range(version, VERSION)]
        if version > VERSION or None in steps:
            raise LedgerError(
                f"the ledger at {self!r} has version {version}, and this lastbit reads version {VERSION}. Open it with "
                "the lastbit that wrote it. Nothing was drawn."
            )
        for step in steps:
            if step is not None:
                step(connection)
        connection.execute(SCHEMA.update().values(version=VERSION))

    def _version(self, connection: sa.Connection) -> int | None:
        if "tables" not in connection.info:
            if not sa.inspect(connection).has_table(SCHEMA.name):
                return None
            connection.info["tables"] = True
        return int(_VERSION.first(connection, {}).version)


def _url(place: str | os.PathLike[str]) -> sa.URL:
    text = os.fspath(place)
    if "://" not in text:
        if not text or text == ":memory:":
            raise LedgerError("a ledger must outlive the program: give it a file, or the URL of a PostgreSQL database.")
        return sa.URL.create("sqlite", database=text)
    url = None
    with suppress(sa.exc.ArgumentError, ValueError):
        url = sa.make_url(text)
    if url is None:
        raise LedgerError("a ledger's URL must look like postgresql://user@host/database.")
    name = url.get_backend_name()
    if name in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if name == "sqlite" and url.database and not url.query:
        return url
    raise LedgerError(f"a ledger lives in SQLite or PostgreSQL: got {name}. Give it a file or a postgresql:// URL.")
