"""SQLite's log beside a file that nobody has open: whether the log continues the file, or another history of it.

A program that was killed leaves a log behind. Whoever opens the file next reads the log into it. If the file was used
under another name in between, or replaced, that would undo every charge since.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from lastbit.errors import LedgerError

_CHUNK: Final = 1 << 20
_LAST_ENTRIES: Final = "SELECT dataset, digest FROM lastbit_accounts"
_HAS_ENTRY: Final = "SELECT 1 FROM lastbit_entries WHERE dataset = ? AND digest = ?"


def check_log(path: str, descriptor: int) -> None:
    """Refuse a log that lacks the last entry of an account in the file. Both are looked at in copies."""
    log = Path(f"{os.path.realpath(path)}-wal")
    if not log.exists() or log.stat().st_size == 0:
        return
    with tempfile.TemporaryDirectory(prefix="lastbit-") as folder:
        alone, both = Path(folder, "alone.db"), Path(folder, "both.db")
        for copy in (alone, both):
            _copy(descriptor, copy)
        shutil.copyfile(log, f"{both}-wal")
        if _continues(alone, both):
            return
    raise LedgerError(
        f"the ledger at {path} has two histories: {log.name} beside it does not continue it. A program was killed, and "
        "since then the file was used under another name, or replaced. Keep copies of both. Then remove "
        f"{log.name} to go on with the file, and charge by hand what the file lacks. Nothing was drawn and nothing was "
        "charged."
    )


def _copy(descriptor: int, path: Path) -> None:
    """Copy a file by its descriptor: to open and close the file once more would free SQLite's locks."""
    with path.open("wb") as copy:
        while chunk := os.pread(descriptor, _CHUNK, copy.tell()):
            copy.write(chunk)


def _continues(alone: Path, both: Path) -> bool:
    last: list[tuple[str, str]] = []
    # A file in the middle of being written may be torn without its log: then it says nothing.
    with suppress(sqlite3.Error), closing(sqlite3.connect(alone)) as file:
        last = file.execute(_LAST_ENTRIES).fetchall()
    with suppress(sqlite3.Error), closing(sqlite3.connect(both)) as file:
        return all(file.execute(_HAS_ENTRY, account).fetchone() for account in last)
    return not last
