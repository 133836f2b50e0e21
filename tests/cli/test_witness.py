"""`--witness`: each command that opens a ledger refuses one that lost entries, and tells the witness of new ones."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from tests import processes

PAID = "--ledger budget.db --dataset clinic --witness other/witness.json"
COUNT = f"count visits.csv --unit patient --epsilon 1/4 {PAID}"
OPENING = [
    COUNT,
    f"{COUNT} --dry-run",
    f"plan count --epsilon 1/4 {PAID}",
    f"watch --threshold 10 --epsilon 1/4 {PAID}",
    "budget create school --epsilon 1 --ledger budget.db --witness other/witness.json",
    "budget show --ledger budget.db --witness other/witness.json",
    "budget history clinic --ledger budget.db --witness other/witness.json",
    "budget export clinic --ledger budget.db --witness other/witness.json",
    "budget raise clinic --epsilon 9 --ledger budget.db --witness other/witness.json",
    f"serve visits.csv --unit patient {PAID} --port 0 --no-open",
]


def lastbit(command: str) -> Any:
    words = [sys.executable, "-m", "lastbit", *shlex.split(command)]
    return processes.run(words, capture_output=True, text=True, input="1\n", check=False)


def test_no_command_opens_a_ledger_that_lost_what_its_witness_has_seen(clinic: Path) -> None:
    (clinic / "other").mkdir()
    shutil.copy("budget.db", "older.db")
    assert lastbit(COUNT).returncode == 0
    seen = json.loads((clinic / "other" / "witness.json").read_text())
    assert seen["clinic"]["entry"] == 2
    for name in ("budget.db-wal", "budget.db-shm"):
        Path(name).unlink(missing_ok=True)
    shutil.copy("older.db", "budget.db")
    for command in OPENING:
        done = lastbit(command)
        assert done.returncode != 0, command
        assert "has seen entry 2 of 'clinic'" in done.stderr, command
    verified = lastbit("budget verify --ledger budget.db --witness other/witness.json")
    assert (verified.returncode, "has seen entry 2" in verified.stdout) == (1, True)
    assert lb.Ledger("budget.db").account("clinic").spent == 0
    assert json.loads((clinic / "other" / "witness.json").read_text()) == seen


def test_every_writing_command_tells_the_witness(clinic: Path) -> None:
    (clinic / "other").mkdir()
    for command in OPENING[:1] + OPENING[3:5] + OPENING[8:9]:
        done = lastbit(command)
        assert done.returncode == 0, done.stderr
        seen = json.loads((clinic / "other" / "witness.json").read_text())
        name = "school" if "school" in command else "clinic"
        assert seen[name]["digest"] == lb.Ledger("budget.db").account(name).digest, command


@pytest.mark.parametrize(
    "face",
    [
        "count visits.csv --unit patient --epsilon 1 --witness w.json",
        "watch --threshold 1 --epsilon 1 --witness w.json",
    ],
)
def test_a_witness_without_a_ledger_is_refused(face: str, clinic: Path) -> None:
    done = lastbit(face)
    assert (done.returncode, "--witness watches over a ledger" in done.stderr) == (2, True)
    assert not Path("w.json").exists()


def test_no_report_is_written_over_the_witness(clinic: Path) -> None:
    (clinic / "other").mkdir()
    assert lastbit(COUNT).returncode == 0
    before = (clinic / "other" / "witness.json").read_text()
    done = lastbit(f"{COUNT} --html other/witness.json")
    assert done.returncode == 2
    assert (clinic / "other" / "witness.json").read_text() == before
    assert lb.Ledger("budget.db").account("clinic").spent == lb.DiscreteLaplace(epsilon="1/4").cost.epsilon


def test_python_asks_with_a_witness_too(clinic: Path) -> None:
    lb.ask("count", "visits.csv", unit="patient", epsilon="1/4", ledger="budget.db", dataset="clinic", witness="w.json")
    assert json.loads(Path("w.json").read_text())["clinic"]["entry"] == 2
