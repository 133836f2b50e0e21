"""More than one core for long work: parts side by side, results in order.

The environment variable LASTBIT_CORES says how many cores to use; 1 turns this off. Without it, all cores that the
process may use are used.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

Part = TypeVar("Part")
Result = TypeVar("Result")

MANY: Final = 500_000
"""Above so many draws a second core is worth the threads that it takes."""

_MOST: Final = 256
"""More cores than any machine has for us; more threads would only take memory."""

_LOOK: Final = 0.1
"""Seconds between two looks whether a thread is still there. A thread that ends is noticed at once."""

_SETTING: Final = "LASTBIT_CORES"


def core_count() -> int:
    """Return the number of cores to use, at least 1."""
    setting = os.environ.get(_SETTING, "")
    if setting.isascii() and setting.isdigit():
        # Of many digits the first are enough: Python refuses to read thousands.
        return max(1, min(int(setting[:10]), _MOST))
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def split_range(n: int, unit: int, quick: int = 1) -> list[range]:
    """Split 0, …, n-1 into as many parts as there are cores, each but the last a whole number of units.

    A few are one part. Work that is so many times as quick as a draw needs as many times more for a second core.

    >>> split_range(10, 4)
    [range(0, 10)]
    """
    count = core_count() if n > quick * MANY else 1
    length = -(-n // count)
    length += -length % unit
    return [range(start, min(start + length, n)) for start in range(0, n, length)] if n else []


def run_parallel(work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """Run the work on each part, and return the results in the order of the parts.

    The work should do most of it without Python's lock.

    >>> run_parallel(len, ["one", "three"])
    [3, 5]
    """
    results: dict[int, Result] = {}
    errors: dict[int, BaseException] = {}

    def run(place: int) -> None:
        try:
            results[place] = work(parts[place])
        except BaseException as error:  # of another thread, or an interrupt: it comes out below, once all have ended
            errors[place] = error

    threads = [threading.Thread(target=run, args=(place,)) for place in range(1, len(parts))]
    for thread in threads:
        try:
            thread.start()
        except RuntimeError:  # the system gives no more threads
            break
    try:
        if parts:
            run(0)
        _wait(threads)
    finally:
        # An interrupt while waiting comes out when no thread works on the parts any more.
        _wait(threads)
    for place in range(len(parts)):
        # Parts whose thread never started; or was lost, where a signal handler forked and this is the child.
        if place not in results and place not in errors and not errors:
            run(place)
    if errors:
        raise errors[min(errors)]
    return [results[place] for place in range(len(parts))]


def _wait(threads: Sequence[threading.Thread]) -> None:
    for thread in threads:
        # A fork leaves the lock that `join` waits for locked in the child, where the thread is no longer alive.
        while thread.is_alive():
            thread.join(_LOOK)
