"""One line of progress for long explorations, on a terminal or for a command; and the time that runs share."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Real
from typing import Final

from lastbit.errors import ParameterError

_AFTER: Final = 1.0
_EVERY: Final = 0.5
_SELDOM: Final = 5.0
_ALWAYS_SHOW: Final = ContextVar("always_show", default=False)


@contextmanager
def show_progress() -> Iterator[None]:
    """Show progress where standard error is no terminal, too: a line every five seconds."""
    before = _ALWAYS_SHOW.set(True)
    try:
        yield
    finally:
        _ALWAYS_SHOW.reset(before)


class Progress:
    """Shows the progress on a terminal: after one second, then twice a second."""

    def __init__(self) -> None:
        self._shown = False
        self.due = time.monotonic() + _AFTER
        """The time at which the line is written again."""

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def show(self, now: float, branches: int, left: float) -> None:
        """Write the line again."""
        self.due = now + _EVERY
        text = f"explored {branches:,} branches, {left:.2g} of the probability left"
        if sys.stderr.isatty():
            self._shown = True
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()
        elif _ALWAYS_SHOW.get():
            self.due = now + _SELDOM
            print(f"lastbit: {text}", file=sys.stderr, flush=True)


_SHARES: Final = 20
"""Time is split into so many shares at most: a run that gets next to no time finds nothing."""


class TimeBudget:
    """Seconds for several runs: each run gets an equal share of the time left, or a twentieth where there are more."""

    def __init__(self, seconds: float | None) -> None:
        self._deadline = deadline(seconds)

    @property
    def over(self) -> bool:
        """Whether no time is left."""
        return time.monotonic() > self._deadline

    def share(self, parts: int) -> float | None:
        """Return the seconds for the next run, when this many runs are left."""
        return None if self._deadline == math.inf else max(0.0, self._deadline - time.monotonic()) / min(parts, _SHARES)


def deadline(seconds: float | None) -> float:
    """Return the time at which a run must end, on the monotonic clock.

    >>> deadline(None)
    inf
    """
    if seconds is None:
        return math.inf
    if not isinstance(seconds, Real) or not seconds >= 0:
        raise ParameterError(f"seconds must be a number from 0 on: got {seconds}. It is the time a run may take.")
    return time.monotonic() + float(seconds)
