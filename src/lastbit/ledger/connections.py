"""Connections to the books: one is kept for the next transaction, and none is open while a process forks.

A fork copies open files and the memory that says who holds which lock. SQLite and PostgreSQL are lost then: two
processes believe that they are one. So whoever forks waits here until no transaction is under way, and every kept
connection is closed first.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Final
from weakref import finalize

import sqlalchemy as sa

from lastbit.errors import LastbitError
from lastbit.ledger.disks import is_local
from lastbit.ledger.forks import GATE
from lastbit.ledger.holds import Hold, Inode, inode_of, release, take
from lastbit.ledger.statement import driver_of
from lastbit.ledger.tables import SCHEMA

BUSY_SECONDS: Final = 60
"""How long a transaction waits for others that hold the books."""


class Connections:
    """The connections of one ledger in this process."""

    def __init__(self, url: sa.URL) -> None:
        self._file = _SQLiteFile(url.database or "") if url.get_backend_name() == "sqlite" else None
        try:
            self.engine = sa.create_engine(
                url,
                poolclass=sa.pool.NullPool,  # `_idle` is a pool of one, without the work of a large one
                hide_parameters=True,
                connect_args=connect_args(url),
                # A server whose default is stricter would end most of two transactions at once; row locks are enough.
                isolation_level="READ COMMITTED" if self._file is None else None,
            )
        except ImportError:
            raise LastbitError("this ledger needs psycopg. Install it with: pip install 'lastbit[postgres]'") from None
        if self._file is not None:
            sa.event.listen(self.engine, "connect", self._file.prepare)
        self._idle: list[sa.Connection] = []
        self.error: Final[type[Exception]] = self.engine.dialect.loaded_dbapi.Error
        GATE.register(self)
        # At the end of the program too: whoever closes a SQLite file last leaves one file and no log beside it.
        finalize(self, _close, self._idle)

    @contextmanager
    def begin(self, *, write: bool, durable: bool = True, settle: bool = True) -> Iterator[sa.Connection]:
        """Run a transaction that reads or writes. It is on disk when it ends (`durable`), or soon after.

        With `settle` everything is in SQLite's main file then, and the log beside it is empty: people copy, move and
        restore the file alone.
        """
        with GATE.transaction():
            connection, turn = self._open(write, durable, settle)
            usable = False
            try:
                with turn:
                    try:
                        yield connection
                        self._commit(driver_of(connection))
                        if settle:
                            self._settle(driver_of(connection))
                    finally:
                        usable = _roll_back(connection)
            finally:
                self._keep_idle(connection, usable)

    def settle(self) -> None:
        """Bring what a transaction without `settle` wrote into SQLite's main file."""
        with self.begin(write=False):
            pass

    def _open(self, write: bool, durable: bool, settle: bool) -> tuple[sa.Connection, ExitStack]:
        """Return a connection in a new transaction, and its turn: the idle connection, or a new one."""
        while True:
            idle = None
            with suppress(IndexError):
                idle = self._idle.pop()
            connection, turn = self.engine.connect() if idle is None else idle, ExitStack()
            # The driver begins and ends transactions: SQLAlchemy takes longer for that than a transaction takes.
            try:
                if self._file is None:
                    _begin_postgres(driver_of(connection), durable)
                    return connection, turn
                self._file.enter(connection, turn, write or settle)
                if driver_of(connection).inode == self._file.inode():
                    _begin_sqlite(driver_of(connection), write, durable or not connection.info["wal"])
                    return connection, turn
            except self.error:
                turn.close()
                _discard(connection)
                if idle is None or self._file is not None:
                    raise
                continue  # the server may have been restarted since the last transaction
            except BaseException:
                turn.close()
                _discard(connection)
                raise
            turn.close()
            _discard(connection)  # another file, or none, has the name now

    def _commit(self, driver: Any) -> None:
        driver.commit()

    def _keep_idle(self, connection: sa.Connection, usable: bool) -> None:
        """Keep the connection for the next transaction unless it is lost."""
        if usable and not self._idle:
            self._idle.append(connection)
        else:
            _discard(connection)

    def _settle(self, driver: Any) -> None:
        """Bring the log into the file, unless others are at it: they, or the next transaction, will."""
        if self._file is not None:
            driver.execute("PRAGMA busy_timeout = 0")
            with suppress(sqlite3.Error):  # what was committed is on disk in any case
                driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            driver.execute(f"PRAGMA busy_timeout = {1000 * BUSY_SECONDS}")

    def close_idle(self) -> None:
        """Close the kept connection."""
        _close(self._idle)


class _SQLiteFile:
    """A SQLite file, and how a connection to it is made ready."""

    def __init__(self, path: str) -> None:
        self._path = os.path.abspath(path)  # the program may go to another folder

    def inode(self) -> Inode | None:
        """Return the inode of the file that has the name now; None where there is no file."""
        with suppress(OSError):
            return inode_of(os.stat(self._path))
        return None

    def enter(self, connection: sa.Connection, turn: ExitStack, write: bool) -> None:
        """Refuse a file that has got other names since it was opened, and wait for the turn to write."""
        hold = driver_of(connection).hold
        if hold is not None:
            hold.check_one_name()
            if write:
                turn.enter_context(hold.turn(BUSY_SECONDS))

    def prepare(self, driver: Any, record: Any) -> None:
        # Python's driver must not begin transactions of its own.
        driver.isolation_level = None
        driver.execute("PRAGMA foreign_keys = ON")
        (mode,) = driver.execute("PRAGMA journal_mode").fetchone()
        journal = "wal" if is_local(self._path) else "delete"
        ledgers = driver.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (SCHEMA.name,)).fetchall()
        if mode != journal and ledgers:
            # A file that is read-only, or that others hold, stays as it is.
            with suppress(sqlite3.OperationalError):
                (mode,) = driver.execute(f"PRAGMA journal_mode = {journal}").fetchone()
        if mode == "wal" and journal != "wal":
            raise sqlite3.OperationalError("a log in memory that other machines do not share")
        record.info["wal"] = mode == "wal"


class _HeldConnection(sqlite3.Connection):
    """A connection to a file, and the hold on the file for as long as it is open."""

    def __init__(self, path: str, *arguments: Any, **options: Any) -> None:
        self.hold: Hold | None = take(path, BUSY_SECONDS)
        try:
            super().__init__(path, *arguments, **options)
        except BaseException:
            self._release_hold()
            raise

    @property
    def inode(self) -> Inode | None:
        """Which file this is a connection to; None for what is no file."""
        return None if self.hold is None else self.hold.inode

    def close(self) -> None:
        super().close()
        self._release_hold()

    def _release_hold(self) -> None:
        hold, self.hold = self.hold, None
        if hold is not None:
            release(hold)


def _roll_back(connection: sa.Connection) -> bool:
    """Undo what was not committed, and say whether the connection is whole."""
    with suppress(Exception):
        if not connection.invalidated:
            driver_of(connection).rollback()
            connection.rollback()  # SQLAlchemy has begun, in its own view, with the first statement that it ran
            return True
    return False


def _close(idle: list[sa.Connection]) -> None:
    while idle:
        idle.pop().close()


def _discard(connection: sa.Connection) -> None:
    """Close a connection that may be lost already."""
    with suppress(Exception):
        connection.invalidate()
    connection.close()


def connect_args(url: sa.URL) -> dict[str, Any]:
    """Return the arguments that the driver takes besides the address."""
    if url.get_backend_name() == "sqlite":
        return {"timeout": BUSY_SECONDS, "factory": _HeldConnection}
    # What the address says stays: its options may name the schema that holds the books.
    return {} if "connect_timeout" in url.query else {"connect_timeout": BUSY_SECONDS}


def _begin_sqlite(driver: Any, write: bool, synced: bool) -> None:
    if write:
        # A commit must be on the disk before noise is drawn. Without the log, a commit that is not synced can leave a
        # torn file: then all are synced.
        driver.execute(f"PRAGMA synchronous = {'EXTRA' if synced else 'NORMAL'}")
    # Somebody may have copied another ledger over the file: no page of before is believed.
    driver.execute("PRAGMA shrink_memory")
    driver.execute("BEGIN IMMEDIATE" if write else "BEGIN")


_SETTINGS: Final = (
    "SELECT set_config(name, new, true) FROM (VALUES (%s, %s, %s), (%s, %s, %s), (%s, %s, %s)) "
    "AS wanted (name, old, new) WHERE current_setting(name) = old"
)
"""What this transaction has instead of a value that the server gave."""
_COMMIT_SETTINGS: Final = ("synchronous_commit", "off", "on", "synchronous_commit", "local", "on")


def _begin_postgres(driver: Any, durable: bool) -> None:
    # A commit must be on the disk before noise is drawn, and on that of a synchronous standby, whatever the server's
    # default is. Stricter settings stay, and so does a time to wait for locks that somebody chose.
    driver.execute(_SETTINGS, (*_COMMIT_SETTINGS, "lock_timeout", "0", f"{BUSY_SECONDS}s"))
    if not durable:
        driver.execute("SET LOCAL synchronous_commit = off")
