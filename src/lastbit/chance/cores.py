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


def cores() -> int:
    """How many cores to use, from 1 on."""
    asked = os.environ.get(_SETTING, "")
    if asked.isascii() and asked.isdigit():
        # Of many digits the first are enough: Python refuses to read thousands.
        return max(1, min(int(asked[:10]), _MOST))
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parts_of(n: int, unit: int, quick: int = 1) -> list[range]:
    """0, …, n-1 in as many parts as there are cores, each but the last a whole number of units; one part of a few.

    Work that is so many times as quick as a draw needs as many times more for a second core.

    >>> parts_of(10, 4)
    [range(0, 10)]
    """
    count = cores() if n > quick * MANY else 1
    each = -(-n // count)
    each += -each % unit
    return [range(start, min(start + each, n)) for start in range(0, n, each)] if n else []


def side_by_side(work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """The work on each part, in the order of the parts. The work should do most of it without Python's lock.

    >>> side_by_side(len, ["one", "three"])
    [3, 5]
    """
    done: dict[int, Result] = {}
    failed: dict[int, BaseException] = {}

    def run(place: int) -> None:
        try:
            done[place] = work(parts[place])
        except BaseException as error:  # of another thread, or an interrupt: it comes out below, once all have ended
            failed[place] = error

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
        if place not in done and place not in failed and not failed:
            run(place)
    if failed:
        raise failed[min(failed)]
    return [done[place] for place in range(len(parts))]


def _wait(threads: Sequence[threading.Thread]) -> None:
    for thread in threads:
        # A fork leaves the lock that `join` waits for locked in the child, where the thread is no longer alive.
        while thread.is_alive():
            thread.join(_LOOK)
