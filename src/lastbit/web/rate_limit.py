"""How often somebody may ask: a bucket of requests that fills up again."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

_MOST: Final = 10_000
"""So many names are remembered; those that were not seen for the longest time are forgotten."""


@dataclass
class RateLimit:
    """So many requests at once, and so many a second in the long run, for each name.

    >>> rate = RateLimit(2, 1.0, now=iter([0.0, 0.0, 0.0, 5.0]).__next__)
    >>> [rate.allows("anna") for _ in range(4)]
    [True, True, False, True]
    """

    burst: float
    a_second: float
    now: Callable[[], float] = time.monotonic
    _left: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def allows(self, name: str) -> bool:
        """Return whether one more request of this name is within the rate."""
        with self._lock:
            now = self.now()
            left, before = self._left.pop(name, (self.burst, now))
            left = min(self.burst, left + (now - before) * self.a_second)
            allowed = left >= 1
            self._left[name] = (left - allowed, now)
            if len(self._left) > _MOST:
                self._left.popitem(last=False)
            return allowed
