"""Forks: none happens while a transaction is under way, and no connection to the books is open while one does."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol
from weakref import WeakSet

from lastbit.ledger.holds import close_inherited


class Closable(Protocol):
    """An object that can close its idle connections."""

    def close_idle(self) -> None:
        """Close the idle connections."""


class Gate:
    """Transactions pass one by one or together; a fork waits until all are through, and holds up the next."""

    def __init__(self) -> None:
        self._turn = threading.Condition()
        self._under_way = 0
        self._forks = 0
        self._thread = threading.local()
        self._all: WeakSet[Closable] = WeakSet()

    def register(self, connections: Closable) -> None:
        """Have these connections closed before each fork."""
        with self._turn:  # nobody adds to the set while a fork goes through it
            self._all.add(connections)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run a transaction: it waits for forks, and forks wait for it."""
        with self._turn:
            while self._forks and not self._own_transactions():
                self._turn.wait()
            self._count(1)
        try:
            yield
        finally:
            with self._turn:
                self._count(-1)
                self._turn.notify_all()

    def _count(self, more: int) -> None:
        self._thread.count = self._own_transactions() + more
        self._under_way += more

    def _own_transactions(self) -> int:
        """Return the number of transactions of this thread."""
        return int(getattr(self._thread, "count", 0))

    def close(self) -> None:
        """Wait for the others, and let nobody in."""
        self._turn.acquire()
        self._forks += 1
        while self._under_way > self._own_transactions():
            self._turn.wait()
        for connections in self._all:
            connections.close_idle()

    def open(self) -> None:
        """Let transactions in again."""
        self._forks -= 1
        self._turn.notify_all()
        self._turn.release()

    def open_in_child(self) -> None:
        """Let transactions in again in a child, where no other thread is, and so no other fork under way."""
        close_inherited()
        self._forks = 1
        self.open()


GATE: Final = Gate()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=GATE.close, after_in_parent=GATE.open, after_in_child=GATE.open_in_child)
