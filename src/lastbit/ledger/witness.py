"""A witness: a small file outside the ledger that remembers the last entries, so that an older copy is noticed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from lastbit.errors import LedgerError

try:
    import fcntl
except ImportError:  # Windows: of two who write at once, one may be forgotten until the next time
    fcntl = None  # type: ignore[assignment]

LastEntry = tuple[int, str]
"""The id and the digest of the last entry of an account."""


class Witness:
    """The file of a witness. Many programs may write to it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(os.path.abspath(path))  # the program may go to another folder
        self._label = os.fspath(path)

    def __str__(self) -> str:
        return self._label

    def read(self) -> dict[str, LastEntry]:
        """Read the last entries that the witness remembers, by account; none where the file is not there yet."""
        try:
            text = self.path.read_text(encoding="utf-8") or "{}"
            return {str(name): (int(last["entry"]), str(last["digest"])) for name, last in json.loads(text).items()}
        except FileNotFoundError:
            return {}
        except (OSError, AttributeError, KeyError, TypeError, ValueError):
            pass
        raise LedgerError(
            f"the witness {self} cannot be read, or is no file that a ledger wrote. Restore it, or name a new file: a "
            "new witness knows nothing of the past."
        )

    def add(self, last: Mapping[str, LastEntry]) -> None:
        """Write later entries into the witness, all or nothing. When this returns, they are on disk."""
        new_file = Path(f"{self.path}.new")
        with suppress(OSError), self._lock():
            known = self.read()
            known |= {name: later for name, later in last.items() if later[0] >= known.get(name, later)[0]}
            data = {name: {"entry": entry, "digest": digest} for name, (entry, digest) in sorted(known.items())}
            with new_file.open("w", encoding="utf-8") as file:
                file.write(json.dumps(data, indent=1) + "\n")
                file.flush()
                os.fsync(file.fileno())
            new_file.replace(self.path)
            return
        raise LedgerError(
            f"the witness {self} cannot be written. What the books say stands, and nothing was drawn. Check the folder "
            "of the witness."
        )

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Hold the file, so that nobody else writes meanwhile what would be forgotten."""
        while True:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CREAT, 0o644)
            try:
                if fcntl is not None:
                    fcntl.flock(descriptor, fcntl.LOCK_EX)
                    if not os.path.samestat(os.fstat(descriptor), os.stat(self.path)):
                        continue  # somebody has put a newer file in place
                yield
                return
            finally:
                os.close(descriptor)


def witness_problem(witness: Witness, dataset: str, last: LastEntry) -> str:
    """Return the sentence for books that do not have an entry as the witness has seen it."""
    return (
        f"the witness {witness} has seen entry {last[0]} of {dataset!r}, and the books do not have it as it was: an "
        "older copy of the ledger was put in its place, or the entry was changed or removed."
    )


def two_histories_problem(dataset: str, last: LastEntry) -> str:
    """Return the sentence for books that do not have an entry that this very program has written or verified."""
    return (
        f"this program has seen entry {last[0]} of {dataset!r}, and the books do not have it as it was: they have two "
        "histories. An older copy of the ledger was put in its place, or the file was used under two names."
    )
