"""Ledgers that nobody uses any more close whenever the collector of garbage runs: also in the middle of an opening."""

from __future__ import annotations

import gc
import threading
from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit.ledger import holds


def test_a_ledger_that_is_collected_while_another_opens_waits_for_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The opening has the guard of all holds, and the same thread closes the other ledger."""
    first = lb.Ledger(tmp_path / "first.db")
    first.create("clinic", epsilon=1)
    first.account("clinic")  # a connection is kept
    garbage: list[Any] = [first]
    del first
    find = holds.lock_offset

    def collect(path: str) -> int | None:
        garbage.clear()
        gc.collect()
        return find(path)

    monkeypatch.setattr(holds, "lock_offset", collect)
    opened = []
    thread = threading.Thread(target=lambda: opened.append(_open(tmp_path / "second.db")), daemon=True)
    thread.start()
    thread.join(600)
    assert opened == [1], "the opening waits for itself"
    monkeypatch.undo()
    assert lb.Ledger(tmp_path / "first.db").account("clinic").limit == 1
    assert all(hold.users > 0 for hold in holds._HOLDS._all.values())


def _open(path: Path) -> Any:
    return lb.Ledger(path).create("clinic", epsilon=1).limit
