"""Holds on SQLite files: all who have a file open at one time know it by one name, and whoever writes has a turn.

SQLite keeps its log, and in the log's mode its locks, beside the *name* of a file. A file with two names has two logs,
and two programs spend one budget. So each process that has a file open holds a lock on the file itself, at a place that
stands for the name. Whoever knows the file by another name finds that lock, and waits.

These locks belong to an open descriptor. Those of SQLite belong to the process, and the process loses them when it
closes any descriptor of the file. So each process has one descriptor for each file, and closes it after the last
connection.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import sqlite3
import stat
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from lastbit.errors import LedgerError
from lastbit.ledger.disks import is_local, is_mount_point
from lastbit.ledger.write_ahead_log import check_log

try:
    import fcntl
except ImportError:  # Windows: SQLite's log is not used there, and its own locks are on the file
    fcntl = None  # type: ignore[assignment]

Inode = tuple[int, int]

_FIRST_OFFSET: Final = 1 << 60
_LAST_OFFSET: Final = (1 << 61) - 1
"""The places that stand for names, far behind those that SQLite locks. A lock may lie behind the end of a file."""

_FLOCK: Final = "hhqqi4x"
"""`struct flock` of Linux: type, whence, start, length, process."""


class Hold:
    """A descriptor of one file, for all connections that this process has to the file under one name."""

    def __init__(self, path: str, offset: int | None, descriptor: int) -> None:
        self.path = path
        self.offset = offset
        """The lock that stands for the name; None where SQLite's own locks are on the file itself."""
        self.descriptors = [descriptor]
        self.users = 0
        self.inode = inode_of(os.fstat(descriptor))
        self._name_locked = self._other_name_locked = False
        self._mutex = threading.Lock()
        self._turn = threading.Lock()

    def check_one_name(self) -> None:
        """Refuse a file that has other names: whoever uses those does not see the log of this one."""
        names = os.fstat(self.descriptors[0]).st_nlink
        if names > 1:
            raise LedgerError(
                f"the ledger at {self.path} has {names} names (hard links). SQLite keeps its log beside a name, so two "
                "names can spend one budget. Keep one name and remove the others: find / -samefile FILE lists them. "
                "Nothing was drawn and nothing was charged."
            )

    def lock_name(self, deadline: float) -> None:
        """Hold the lock of the name, while nobody holds that of another name: until then, wait."""
        if self.offset is None or _wait_until(self._try_to_lock_name, deadline):
            return
        raise _another_name_error(self.path) if self._other_name_locked else sqlite_error(sqlite3.SQLITE_BUSY)

    def _try_to_lock_name(self) -> bool:
        descriptor = self.descriptors[0]
        with self._mutex:
            if self._name_locked or self.offset is None:
                return True
            # Whoever is first looks at the log before others of the same name come.
            if not _try_flock(descriptor):
                return False
            try:
                _set_lock(descriptor, fcntl.F_RDLCK, self.offset)
                ranges = (_FIRST_OFFSET, self.offset - _FIRST_OFFSET), (self.offset + 1, _LAST_OFFSET - self.offset)
                self._other_name_locked = any(_is_locked(descriptor, *offsets) for offsets in ranges)
                if not self._other_name_locked:
                    if not _is_locked(descriptor, self.offset, 1):
                        check_log(self.path, descriptor)
                    self._name_locked = True
            finally:
                if not self._name_locked:
                    _set_lock(descriptor, fcntl.F_UNLCK, self.offset)
                fcntl.flock(descriptor, fcntl.LOCK_UN)
            return self._name_locked

    @contextmanager
    def turn(self, seconds: float) -> Iterator[None]:
        """Hold the turn to write, one thread and one process after the other: SQLite alone lets some wait for long."""
        if self.offset is None:
            yield
            return
        deadline = time.monotonic() + seconds
        if not self._turn.acquire(timeout=seconds):
            raise sqlite_error(sqlite3.SQLITE_BUSY)
        try:
            if not _wait_until(lambda: _try_flock(self.descriptors[0]), deadline):
                raise sqlite_error(sqlite3.SQLITE_BUSY)
            try:
                yield
            finally:
                fcntl.flock(self.descriptors[0], fcntl.LOCK_UN)
        finally:
            self._turn.release()


class _Holds:
    """The holds of this process, by file."""

    def __init__(self) -> None:
        self.guard = threading.Lock()
        self._all: dict[Inode, Hold] = {}
        self._released: deque[Hold] = deque()

    def release(self, hold: Hold) -> None:
        """Let go of a hold. The collector of garbage may call this in the middle of anything: it waits for nobody."""
        self._released.append(hold)
        self.settle()

    def settle(self) -> None:
        """Close what was let go of, unless somebody has the guard, who does it then. So call this after the guard."""
        while self._released and self.guard.acquire(blocking=False):
            try:
                while self._released:
                    hold = self._released.popleft()
                    hold.users -= 1
                    if hold.users == 0:
                        self.close(hold)
            finally:
                self.guard.release()

    def find(self, path: str) -> Hold | None:
        """Return the hold on the file at a path, and make it where there is none yet; None for what is no file."""
        try:
            state = os.stat(path)
        except FileNotFoundError:
            pass
        except OSError:
            raise sqlite_error(sqlite3.SQLITE_CANTOPEN) from None
        else:
            if not stat.S_ISREG(state.st_mode):
                return None
            if inode_of(state) in self._all:
                return self._all[inode_of(state)]
        try:
            hold = Hold(path, lock_offset(path), os.open(path, os.O_RDONLY | os.O_CREAT | os.O_NONBLOCK, 0o644))
        except OSError:
            raise sqlite_error(sqlite3.SQLITE_CANTOPEN) from None
        if hold.inode in self._all:  # the name has just moved: to close the descriptor would free SQLite's locks
            self._all[hold.inode].descriptors += hold.descriptors
        return self._all.setdefault(hold.inode, hold)

    def close(self, hold: Hold) -> None:
        """Close the descriptors of a hold that nobody uses."""
        if self._all.get(hold.inode) is hold:
            del self._all[hold.inode]
        while hold.descriptors:
            os.close(hold.descriptors.pop())

    def close_all(self) -> None:
        """Close what a child has inherited: it would share the locks of its parent."""
        self.guard = threading.Lock()
        self._released.clear()
        for hold in [*self._all.values()]:
            self.close(hold)


_HOLDS: Final = _Holds()
close_inherited: Final = _HOLDS.close_all


def take(path: str, seconds: float) -> Hold | None:
    """Take a hold on the file at a path, which is made where there is none; return None for what is no file.

    Whoever knows the file by another name is waited for. After this time the file is refused.
    """
    deadline = time.monotonic() + seconds
    if is_mount_point(path):
        raise LedgerError(
            f"the ledger at {path} is mounted by itself, as a single file into a container or another folder. SQLite "
            "keeps its log beside it, where the others do not see it. Mount the folder that holds the ledger instead. "
            "Nothing was drawn and nothing was charged."
        )
    result: list[Hold | None] = []

    def try_to_hold() -> bool:
        with _HOLDS.guard:
            hold = _HOLDS.find(path)
            if hold is None or hold.users == 0 or hold.offset == lock_offset(path):
                result.append(hold)
                if hold is not None:
                    hold.users += 1
        _HOLDS.settle()
        return bool(result)

    if not _wait_until(try_to_hold, deadline):  # another thread has the file open by another name
        raise _another_name_error(path)
    hold = result[0]
    if hold is not None:
        try:
            hold.check_one_name()
            hold.lock_name(deadline)
        except BaseException:
            release(hold)
            raise
    return hold


def release(hold: Hold) -> None:
    """Let go of a hold, after its connection was closed. The last one closes the descriptor."""
    _HOLDS.release(hold)


def lock_offset(path: str) -> int | None:
    """Return a number for the folder and the name beside which SQLite puts the log; None where it uses no log."""
    if fcntl is None or not is_local(path):
        return None
    real = os.path.realpath(path)
    folder = os.stat(os.path.dirname(real))
    text = f"{folder.st_dev} {folder.st_ino} {os.path.basename(real)}"
    digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()
    return _FIRST_OFFSET + 1 + int.from_bytes(digest[:8], "big") % (_LAST_OFFSET - _FIRST_OFFSET - 1)


def inode_of(state: os.stat_result) -> Inode:
    """Return the numbers that say which file this is, whatever its name."""
    return state.st_dev, state.st_ino


def sqlite_error(code: int) -> sqlite3.OperationalError:
    """Return an error as SQLite would raise it."""
    error = sqlite3.OperationalError("the file is held by others, or cannot be opened")
    error.sqlite_errorcode = code
    return error


def _set_lock(descriptor: int, kind: int, offset: int) -> None:
    fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, struct.pack(_FLOCK, kind, os.SEEK_SET, offset, 1, 0))


def _is_locked(descriptor: int, start: int, length: int) -> bool:
    """Return whether another descriptor has a lock there."""
    request: Any = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)
    return bool(struct.unpack(_FLOCK, fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, request))[0] != fcntl.F_UNLCK)


def _try_flock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise LedgerError(
            f"the disk of the ledger has no locks that work ({error.strerror}). Without locks two programs spend one "
            "budget. Keep the ledger on a disk of this machine, or in PostgreSQL. Nothing was drawn and nothing was "
            "charged."
        ) from None
    return True


def _wait_until(work: Callable[[], bool], deadline: float) -> bool:
    """Try until it works or the time is over, each time after a moment that is not the same for any two."""
    while not work():
        if time.monotonic() >= deadline:
            return False
        time.sleep((1 + secrets.randbelow(9)) / 10_000)
    return True


def _another_name_error(path: str) -> LedgerError:
    return LedgerError(
        f"the ledger at {path} is open under another name: another program uses the same file by another path. SQLite "
        "keeps its log beside a name, so two names can spend one budget. Use one name everywhere, or end the other "
        "program. Nothing was drawn and nothing was charged."
    )
