"""A witness: a small file outside the ledger that remembers the last entries, so that an older copy is noticed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from lastbit.errors import LedgerError

Last = tuple[int, str]
"""The id and the digest of the last entry of an account."""


def seen_by(witness: str | os.PathLike[str]) -> dict[str, Last]:
    """The last entries that a witness remembers, by account; none where the file is not there yet."""
    try:
        text = Path(witness).read_text(encoding="utf-8")
        return {str(name): (int(last["entry"]), str(last["digest"])) for name, last in json.loads(text).items()}
    except FileNotFoundError:
        return {}
    except (OSError, AttributeError, KeyError, TypeError, ValueError):
        pass
    raise LedgerError(
        f"the witness {os.fspath(witness)} cannot be read, or is no file that verify wrote. Restore it, or name a new "
        "file: a new witness knows nothing of the past."
    )


def keep(witness: str | os.PathLike[str], last: Mapping[str, Last]) -> None:
    """Write the last entries into the witness, all or nothing."""
    beside = Path(f"{os.fspath(witness)}.new")
    data = {name: {"entry": entry, "digest": digest} for name, (entry, digest) in sorted(last.items())}
    try:
        beside.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        beside.replace(witness)
        return
    except OSError:
        pass
    raise LedgerError(
        f"the witness {os.fspath(witness)} cannot be written. The books add up; check the folder of the witness."
    )


def not_as_seen(witness: str | os.PathLike[str] | None, dataset: str, last: Last) -> str:
    """What to say where the books do not have an entry as the witness has seen it."""
    return (
        f"the witness {witness} has seen entry {last[0]} of {dataset!r}, and the books do not have it as it was: an "
        "older copy of the ledger was put in its place, or the entry was changed or removed."
    )
