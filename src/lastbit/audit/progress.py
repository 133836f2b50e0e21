"""One line on a terminal while a run takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Final

_AFTER: Final = 1.0
_EVERY: Final = 0.5


class Progress:
    """Says how far the run is, from its second second on, twice a second, and only on a terminal."""

    def __init__(self) -> None:
        self._shown = False
        self._due = time.monotonic() + _AFTER

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def show(self, branches: int, left: Callable[[], float]) -> None:
        """Bring the line up to date when it is due."""
        if time.monotonic() > self._due:
            self._due = time.monotonic() + _EVERY
            if sys.stderr.isatty():
                self._shown = True
                sys.stderr.write(f"\r\x1b[Kexplored {branches:,} branches, {left():.2g} of the probability left")
                sys.stderr.flush()


class Budget:
    """Seconds for several runs: each gets an even share of what is left."""

    def __init__(self, seconds: float | None) -> None:
        self._deadline = None if seconds is None else time.monotonic() + seconds

    def share(self, parts: int) -> float | None:
        """What one of so many runs to come may take."""
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic()) / parts
