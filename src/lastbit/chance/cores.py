"""More than one core for long work: parts side by side, results in order.

The environment variable LASTBIT_CORES says how many cores to use; 1 turns this off. Without it, all cores that the
process may use are used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

Part = TypeVar("Part")
Result = TypeVar("Result")

MANY: Final = 10**6
"""From so many values on, a second core is worth the threads that it takes."""

_SETTING: Final = "LASTBIT_CORES"


def cores() -> int:
    """How many cores to use, from 1 on."""
    asked = os.environ.get(_SETTING, "")
    if asked.isascii() and asked.isdigit():
        return max(1, int(asked))
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parts_of(n: int, unit: int) -> list[range]:
    """0, …, n-1 in as many parts as there are cores, each but the last a whole number of units; one part of a few.

    >>> parts_of(10, 4)
    [range(0, 10)]
    """
    count = cores() if n > MANY else 1
    each = -(-n // count)
    each += -each % unit
    return [range(start, min(start + each, n)) for start in range(0, n, each)] if n else []


def side_by_side(work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """The work on each part, in the order of the parts. The work should do most of it without Python's lock.

    >>> side_by_side(len, ["one", "three"])
    [3, 5]
    """
    if len(parts) <= 1:
        return [work(part) for part in parts]
    # Threads of their own that end here: none is left for a fork to lose.
    with ThreadPoolExecutor(len(parts)) as pool:
        return list(pool.map(work, parts))
