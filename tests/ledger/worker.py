"""Real processes that spend: `worker.py spend PLACE LOG` until refused, `worker.py killed PLACE LOG 100` under kill -9.

Every draw is written to LOG before it is used, so that the test can count draws that no ledger saw.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from typing import Any

import lastbit as lb

MECHANISM = lb.DiscreteLaplace(epsilon="1/7")


class Logged:
    """Random words that leave a trace."""

    def __init__(self, log: int) -> None:
        self._log = log

    def words(self, n: int) -> Any:
        os.write(self._log, b"drawn\n")
        return lb.SystemBits().words(n)


def spend(ledger: lb.Ledger, log: int) -> None:
    """Release until the budget refuses."""
    draw = lb.Sampler(Logged(log))
    while True:
        try:
            ledger.release("clinic", MECHANISM, [1], draw=draw)
        except lb.BudgetExceeded:
            return


def spend_under_kills(ledger: lb.Ledger, log: int, kills: int) -> None:
    """Two processes at a time spend, each killed after about the time of a few releases and followed by another."""
    chance = random.Random(7)
    start = time.perf_counter()
    for _ in range(3):
        ledger.release("clinic", MECHANISM, [1], draw=lb.Sampler(Logged(log)))
    while_of_one = (time.perf_counter() - start) / 3
    children: list[int] = []
    for _ in range(kills):
        while len(children) < 2:
            child = os.fork()
            if child == 0:
                while True:
                    spend(ledger, log)
            children.append(child)
        time.sleep(chance.random() * 3 * while_of_one)
        victim = children.pop(0)
        os.kill(victim, signal.SIGKILL)
        os.waitpid(victim, 0)
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


if __name__ == "__main__":
    task, place, path = sys.argv[1:4]
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    if task == "spend":
        spend(lb.Ledger(place), log)
    else:
        spend_under_kills(lb.Ledger(place), log, int(sys.argv[4]))
