"""Many processes and kill -9: never over the limit, never a draw without a charge."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import lastbit as lb

WORKER = Path(__file__).with_name("worker.py")


def start(*arguments: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, str(WORKER), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def finish(*processes: subprocess.Popen[bytes]) -> list[bytes]:
    """What each process printed, once all are done."""
    printed = []
    for process in processes:
        output, errors = process.communicate(timeout=600)
        assert (process.returncode, errors) == (0, b"")
        printed.append(output)
    return printed


def books_of(place: str) -> tuple[Fraction, list[Fraction]]:
    ledger = lb.Ledger(place)
    charges = [entry.amount for entry in ledger.history("clinic") if entry.kind == "charge"]
    return ledger.account("clinic").spent, charges


def test_many_processes_spend_a_limit_to_the_last_bit(place: str, tmp_path: Path) -> None:
    lb.Ledger(place).create("clinic", epsilon=5)
    log = tmp_path / "draws"
    finish(*[start("spend", place, log) for _ in range(6)])
    spent, charges = books_of(place)
    assert spent == sum(charges) == 5
    assert len(log.read_text().splitlines()) == len(charges) == 35


def test_a_hundred_kills_never_exceed_the_limit_or_draw_uncharged(place: str, tmp_path: Path) -> None:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=10)
    log = tmp_path / "draws"
    (within,) = finish(start("killed", place, log, 100))
    assert int(within) > 0  # about half of them: if none came within a charge, nothing was tried
    spent, charges = books_of(place)
    assert spent == sum(charges)
    assert len(charges) > 3  # those before the first kill
    assert spent <= 10
    assert len(log.read_text().splitlines()) <= len(charges)
    # What is left can be spent, to the end and no further: no kill left the ledger locked or torn.
    ledger.raise_limit("clinic", epsilon=11)
    finish(start("spend", place, log))
    assert books_of(place)[0] == 11
