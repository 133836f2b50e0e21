"""Many processes and kill -9: never over the limit, never a draw without a charge."""

from __future__ import annotations

import json
import os
import signal
import traceback
import warnings
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import lastbit as lb
from lastbit.ledger.connections import Connections
from lastbit.ledger.statement import Statement
from tests.ledger.worker import release_once, spend, spend_under_kills


class Child:
    """A process of its own that does some work. It is a fork: another Python would load everything once more."""

    def __init__(self, work: Callable[..., Any], *given: Any) -> None:
        self._answer, answer = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn where other threads run
            self._id = os.fork()
        if self._id == 0:
            code = 1
            try:
                os.write(answer, json.dumps(work(*given)).encode())
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        os.close(answer)
        self._status: int | None = None

    def is_running(self) -> bool:
        if self._status is None:
            done, status = os.waitpid(self._id, os.WNOHANG)
            self._status = status if done else None
        return self._status is None

    def result(self) -> Any:
        """What the work gave, once it is done."""
        with os.fdopen(self._answer) as answer:
            found = answer.read()
        assert self.status() == 0
        return json.loads(found)

    def status(self) -> int:
        """How the process ended, once it has."""
        if self._status is None:
            _, self._status = os.waitpid(self._id, 0)
        return self._status


def books_of(place: str) -> tuple[Fraction, list[Fraction]]:
    ledger = lb.Ledger(place)
    charges = [entry.amount for entry in ledger.history("clinic") if entry.kind == "charge"]
    return ledger.account("clinic").spent, charges


def test_many_processes_spend_a_limit_to_the_last_bit(place: str, tmp_path: Path) -> None:
    lb.Ledger(place).create("clinic", epsilon=5)
    log = tmp_path / "draws"
    for child in [Child(spend, place, log) for _ in range(6)]:
        child.result()
    spent, charges = books_of(place)
    assert spent == sum(charges) == 5
    assert len(log.read_text().splitlines()) == len(charges) == 35


def test_a_kill_at_any_step_leaves_whole_books_and_no_draw_uncharged(place: str, tmp_path: Path) -> None:
    """Before and after each statement, each commit and each settling of the log, one after the other."""
    log = tmp_path / "draws"
    lb.Ledger(place).create("clinic", epsilon=1000)

    def kill_at(last: int) -> None:
        left = [last]

        def step() -> None:
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        def count_steps(work: Callable[..., Any]) -> Callable[..., Any]:
            def run(*arguments: Any) -> Any:
                step()
                result = work(*arguments)
                step()
                return result

            return run

        for owner, name in ((Statement, "_run"), (Connections, "_commit"), (Connections, "_settle")):
            setattr(owner, name, count_steps(getattr(owner, name)))
        release_once(place, log)

    statuses, done = [], 0
    while not statuses or statuses[-1] != 0:
        child = Child(kill_at, len(statuses) + 1)
        statuses.append(child.status())
        ledger = lb.Ledger(place, verify=True)
        charges = ledger.history("clinic")[1:]
        drawn = len(log.read_bytes().splitlines()) if log.exists() else 0
        assert ledger.account("clinic").spent == sum(entry.amount for entry in charges)
        assert all(entry.recorded for entry in charges if entry.done == "yes")
        assert done <= sum(entry.done == "yes" for entry in charges) <= drawn <= len(charges) <= len(statuses)
        done = sum(entry.done == "yes" for entry in charges)
    assert set(statuses[:-1]) == {signal.SIGKILL}
    assert len(statuses) > 20
    assert 0 < done < drawn < len(charges) < len(statuses)  # kills came at each stage


def test_forty_kills_never_exceed_the_limit_or_draw_uncharged(place: str, tmp_path: Path) -> None:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=10)
    log = tmp_path / "draws"
    spend_under_kills(place, log, 40)
    spent, charges = books_of(place)
    assert spent == sum(charges)
    assert len(charges) >= 3  # those before the first kill
    assert spent <= 10
    assert len(log.read_text().splitlines()) <= len(charges)
    # What is left can be spent, to the end and no further: no kill left the ledger locked or torn.
    ledger.raise_limit("clinic", epsilon=11)
    spend(place, log)
    assert books_of(place)[0] == 11
