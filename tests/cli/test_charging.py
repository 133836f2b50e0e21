"""The command charges, then draws, then records: in this order, for every kind of release."""

from __future__ import annotations

import io
import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit import cli
from lastbit.ledger import ledger as room
from lastbit.mechanisms import mechanism
from tests import processes

TABLE = "visits.csv --by diagnosis --unit patient --domain diagnoses.txt"
PAID = "--ledger budget.db --dataset clinic"
COMMANDS = [
    f"top {TABLE} -k 2 --epsilon 1",
    f"choose {TABLE} -k 2 --epsilon 1",
    f"measure {TABLE} -k 2 --epsilon 1",
    f"above {TABLE} --threshold 60 --epsilon 1",
    "mean visits.csv --of cost --unit patient --bounds 0 1000 --epsilon 1",
    "watch --threshold 10 --limit 1 --epsilon 1 --sensitivity 1",
]


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the account has spent, at each draw of words."""
    seen: list[str] = []

    class Watching:
        def words(self, n: int) -> Any:
            seen.append(str(lb.Ledger("budget.db").account("clinic").spent))
            return lb.SystemBits().words(n)

    monkeypatch.setattr(mechanism, "_SYSTEM", lb.Sampler(Watching()))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1\n2\n")))
    return seen


def run(command: str) -> int:
    return cli._run(shlex.split(command), debug=False)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_charges_before_it_draws_and_records_after(
    command: str, clinic: Path, words: list[str], capsys: Any
) -> None:
    assert run(f"{command} {PAID} --json") == 0
    assert words
    assert set(words) == {"1"}
    entry = next(each for each in lb.Ledger("budget.db").history("clinic") if each.kind == "charge")
    assert (entry.amount, entry.done) == (1, "yes")
    assert entry.recorded == ("watch" not in command)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_charge_that_is_refused_at_the_last_moment_draws_nothing(
    command: str, clinic: Path, words: list[str], capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else spends the budget while the table is read."""

    def late(*_: Any, **__: Any) -> Any:
        raise lb.BudgetExceeded("clinic", 1, 3, 3)

    monkeypatch.setattr(room.Ledger, "_charge", late)
    assert run(f"{command} {PAID}") == 3
    assert words == []
    assert capsys.readouterr().out == ""


def test_books_that_cannot_be_read_after_a_release_do_not_hide_it(
    clinic: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = room.Ledger.record

    def record_and_remove(self: lb.Ledger, *arguments: Any) -> None:
        record(self, *arguments)
        monkeypatch.setattr(room.Ledger, "account", gone)

    def gone(*_: Any) -> Any:
        raise lb.LedgerError("the ledger at budget.db could not be used")

    for command in (COMMANDS[0], COMMANDS[-1]):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1\n")))
        monkeypatch.setattr(room.Ledger, "record", record_and_remove)
        assert run(f"{command} {PAID}") == 0
        shown = capsys.readouterr()
        assert "What is left in the account could not be read now" in shown.out + shown.err
        monkeypatch.undo()
        monkeypatch.chdir(clinic)
    monkeypatch.setattr(room.Ledger, "record", record_and_remove)
    assert run(f"{COMMANDS[0]} {PAID} --json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["account"], answer["charged"], len(answer["item"])) == (None, None, 2)


def test_a_release_that_the_books_could_not_keep_is_shown_with_a_warning(
    clinic: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise lb.LedgerError("the disk is full")

    monkeypatch.setattr(room.Ledger, "record", full)
    assert run(f"{COMMANDS[0]} {PAID} --json") == 0
    shown = capsys.readouterr()
    assert len(json.loads(shown.out)["item"]) == 2
    assert "lastbit: entry 2 of the ledger is charged, and its release stands" in shown.err
    assert lb.Ledger("budget.db").history("clinic")[-1].done == "no"


@pytest.mark.parametrize(("kind", "code"), [("MemoryError", 1), ("ValueError", 1), ("lastbit.BitsError", 2)])
def test_an_error_after_the_charge_names_the_entry_and_never_says_to_run_again(
    kind: str, code: int, clinic: Path
) -> None:
    program = f"""
import lastbit
from lastbit.cli import main
from lastbit.mechanisms.laplace import DiscreteLaplace

def fails(draw):
    raise {kind}("row 777")

DiscreteLaplace.ready = lambda *_: fails
main()
"""
    words = [sys.executable, "-c", program, "count", "visits.csv", "--unit", "patient", "--epsilon", "1"]
    done = processes.run([*words, "--ledger", "budget.db", "--dataset", "clinic"], capture_output=True, text=True)
    said = "row 777" if "Bits" in kind else f"unexpected {kind}."
    charged = "Entry 2 of 'clinic' is charged, and stays so: to ask again costs again."
    assert (done.returncode, done.stderr) == (code, f"lastbit: {said} {charged}\n")
    assert lb.Ledger("budget.db").account("clinic").spent == 1


def test_an_error_after_the_release_says_where_the_books_have_it(clinic: Path) -> None:
    program = """
from lastbit.cli import main, release

def fails(*_, **__):
    raise MemoryError("row 777")

release.render_answer = fails
main()
"""
    words = [sys.executable, "-c", program, "count", "visits.csv", "--unit", "patient", "--epsilon", "1"]
    done = processes.run([*words, "--ledger", "budget.db", "--dataset", "clinic"], capture_output=True, text=True)
    again = "lastbit budget history clinic --ledger budget.db --release 2"
    assert done.stderr == (
        f"lastbit: unexpected MemoryError. The release is entry 2 of the books: {again} shows it again, for nothing.\n"
    )
    assert processes.run([sys.executable, "-m", *again.split()], capture_output=True).returncode == 0
