"""Holding a release back, so that the time it takes says nothing."""

from __future__ import annotations

import math
import time
from typing import Final

from lastbit.exact.numbers import Number, positive

_SECOND: Final = 10**9


class Tick:
    """A clock that starts now and ticks every so many seconds. It is the system's monotonic clock, in nanoseconds."""

    def __init__(self, seconds: Number) -> None:
        exact = positive(seconds, "hold", "It is how many seconds a release is held back.")
        self._every = math.ceil(exact * _SECOND)
        self._began = time.monotonic_ns()

    def wait(self) -> None:
        """Sleep until the next tick: the first, where none has passed yet."""
        taken = time.monotonic_ns() - self._began
        due = self._began + max(1, -(-taken // self._every)) * self._every
        # A sleep may end early, as clocks differ.
        while (left := due - time.monotonic_ns()) > 0:
            time.sleep(left / _SECOND)
