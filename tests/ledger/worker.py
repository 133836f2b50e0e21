"""Real processes that spend: `spend` until the budget refuses, `spend_under_kills` under kill -9.

Every draw is written to a log before it is used, so that the test can count draws that no ledger saw.
"""

from __future__ import annotations

import mmap
import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import lastbit as lb

MECHANISM = lb.DiscreteLaplace(epsilon="1/7")


class Watched(lb.Ledger):
    """A ledger that shows in shared memory, where a kill cannot reach it, whether it is in the middle of a charge."""

    def __init__(self, place: str) -> None:
        super().__init__(place)
        self.charging = mmap.mmap(-1, 1)

    def _charge(self, *arguments: Any, **options: Any) -> Any:
        self.charging[0] = True
        try:
            return super()._charge(*arguments, **options)
        finally:
            self.charging[0] = False


class Logged:
    """Random words that leave a trace."""

    def __init__(self, log: int) -> None:
        self._log = log

    def words(self, n: int) -> Any:
        os.write(self._log, b"drawn\n")
        return lb.SystemBits().words(n)


def open_log(log: Path) -> int:
    return os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)


def spend(place: str, log: Path) -> None:
    """Release until the budget refuses."""
    spend_all(lb.Ledger(place), open_log(log))


def release_once(place: str, log: Path) -> None:
    lb.Ledger(place).release("clinic", MECHANISM, [1], draw=lb.Sampler(Logged(open_log(log))))


def spend_all(ledger: lb.Ledger, log: int) -> None:
    draw = lb.Sampler(Logged(log))
    while True:
        try:
            ledger.release("clinic", MECHANISM, [1], draw=draw)
        except lb.BudgetExceeded:
            return


def spend_under_kills(place: str, path: Path, kills: int) -> None:
    """Two processes at a time spend, each killed after about the time of a few releases and followed by another.

    About half of the kills come in the middle of a charge. On a machine that gives the processes too little time for
    this, further kills follow until one does: a test in which none does would try nothing.
    """
    chance, log = random.Random(7), open_log(path)
    ledger = lb.Ledger(place)
    start = time.perf_counter()
    for _ in range(3):
        ledger.release("clinic", MECHANISM, [1], draw=lb.Sampler(Logged(log)))
    while_of_one = (time.perf_counter() - start) / 3
    spenders: list[tuple[int, Watched]] = []
    done = within = 0
    while done < kills or not within:
        while len(spenders) < 2:
            watched = Watched(place)
            child = os.fork()
            if child == 0:
                while True:
                    spend_all(watched, log)
            spenders.append((child, watched))
        time.sleep(chance.random() * 3 * while_of_one)
        within += killed(*spenders.pop(0))
        done += 1
    for spender in spenders:
        killed(*spender)


def killed(process: int, watched: Watched) -> bool:
    """Kill a process, and say whether it was in the middle of a charge."""
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return bool(watched.charging[0])
