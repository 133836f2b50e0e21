"""A command whose output is lost says so in a line before Python ends, whatever its buffers hold."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from tests import processes

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full device")

TOP = "top visits.csv --by diagnosis --unit patient --domain diagnoses.txt -k 2 --epsilon 1"
PAID = "--ledger budget.db --dataset clinic"
LOST = "lastbit: the output could not be written: No space left on device."
COMMANDS = [
    "--help",
    "--version",
    "top --help",
    f"{TOP} --dry-run",
    f"{TOP} {PAID} --dry-run --json",
    "plan -k 10 --items 1000 --epsilon 1",
    "plan -k 10 --items 1000 --epsilon 1 --json",
    "audit DiscreteLaplace --set epsilon=1 --values 0 --neighbour 1",
    "audit DiscreteLaplace --set epsilon=1 --values 0 --neighbour 1 --json",
    "budget show --ledger budget.db",
    "budget history clinic --ledger budget.db --json",
    "budget export clinic --ledger budget.db --format csv",
    "budget export clinic --ledger budget.db --format json",
    "budget verify clinic --ledger budget.db",
    "completion bash",
    "watch --threshold 10 --epsilon 1 --dry-run",
]
UNBUFFERED = [{}, {"PYTHONUNBUFFERED": "1"}]


def lastbit(command: str, full: str, variables: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command. The streams that `full` names have no room; the others are read."""
    with ExitStack() as files:
        streams: dict[str, Any] = {
            name: files.enter_context(open("/dev/full", "w")) if name in full else subprocess.PIPE
            for name in ("stdout", "stderr")
        }
        words = [sys.executable, "-m", "lastbit", *shlex.split(command)]
        return processes.run(words, variables=variables, text=True, input="0\n", **streams)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_is_one_line_and_exit_code_1(command: str, clinic: Path) -> None:
    done = lastbit(command, "stdout")
    *progress, last = done.stderr.splitlines()
    assert (done.returncode, last) == (1, LOST)
    assert all(line.startswith("lastbit: following") for line in progress)


@pytest.mark.parametrize("variables", UNBUFFERED)
@pytest.mark.parametrize("form", ["", "--json"])
def test_a_release_that_the_disk_loses_is_said_to_be_in_the_books(
    form: str, variables: dict[str, str], clinic: Path
) -> None:
    done = lastbit(f"{TOP} {PAID} {form}", "stdout", variables)
    books = (
        "The release is entry 2 of the books: lastbit budget history clinic --ledger budget.db --release 2 shows it "
        "again, for nothing."
    )
    assert (done.returncode, done.stderr) == (1, f"{LOST} {books}\n")
    assert lb.Ledger("budget.db").account("clinic").spent == 1
    assert "NoisyTopK" in lastbit("budget history clinic --ledger budget.db", "").stdout
    assert "From the books" in lastbit("budget history clinic --ledger budget.db --release 2", "").stdout


@pytest.mark.parametrize("variables", UNBUFFERED)
def test_a_watch_says_once_that_the_disk_is_full(variables: dict[str, str]) -> None:
    done = lastbit("watch --threshold 1000 --epsilon 1", "stdout", variables)
    assert done.returncode == 1
    assert done.stderr.count("No space left on device") == 1
    assert done.stderr.endswith("0 of 1 line above. Another run costs epsilon 1 again.\n")


@pytest.mark.parametrize("variables", UNBUFFERED)
def test_notes_that_nobody_can_read_stop_no_release(variables: dict[str, str], clinic: Path) -> None:
    done = lastbit(f"{TOP} --json", "stderr", variables)  # it says on standard error that no ledger was charged
    assert done.returncode == 1
    assert '"mechanism": "NoisyTopK"' in done.stdout
    done = lastbit("watch --threshold 1000 --epsilon 1", "stderr", variables)
    assert (done.returncode, done.stdout) == (1, "1: below\n")
    assert lastbit("budget show --ledger no.db", "stderr", variables).returncode == 2
    assert lastbit("budget show --ledger budget.db", "stderr", variables).returncode == 0
    assert lastbit("budget show --ledger budget.db", "stdout stderr", variables).returncode == 1


def test_notes_never_go_to_standard_output(clinic: Path) -> None:
    command = f"{shlex.quote(sys.executable)} -m lastbit {TOP} --json"
    done = processes.run(["sh", "-c", f"{command} 2>&-"], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.startswith('{"mechanism"')
    done = processes.run(["sh", "-c", f"{command} >&-"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "lastbit: there is nowhere to write: standard output is closed. Nothing was read.\n"


@pytest.mark.parametrize("variables", UNBUFFERED)
@pytest.mark.parametrize("command", ["--help", "budget show --ledger budget.db", TOP])
def test_a_reader_who_has_seen_enough_is_told_nothing(command: str, variables: dict[str, str], clinic: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    words = [sys.executable, "-m", "lastbit", *shlex.split(command)]
    done = processes.run(words, variables=variables, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    said = [line for line in done.stderr.splitlines() if b"no ledger was charged" not in line]
    assert (done.returncode, said) == (1, [])


@pytest.mark.parametrize("form", ["", "--json"])
def test_whoever_closes_the_pipe_is_told_where_a_paid_release_is(form: str, clinic: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    words = [sys.executable, "-m", "lastbit", *shlex.split(f"{TOP} {PAID} {form}")]
    done = processes.run(words, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert done.returncode == 1
    assert done.stderr.startswith("lastbit: The release is entry 2 of the books: lastbit budget history clinic")
    assert "--release 2 shows it again, for nothing." in done.stderr


@pytest.mark.parametrize("form", ["", "--json"])
def test_a_terminal_that_cannot_write_an_item_shows_it_by_its_number(form: str, clinic: Path) -> None:
    command = "top visits.csv --by diagnosis --unit patient --domain 'grippe,d\u00e9pression,\u5fc3' -k 2 --epsilon 1"
    words = [sys.executable, "-m", "lastbit", *shlex.split(f"{command} {PAID} {form}")]
    done = processes.run(words, variables={"PYTHONIOENCODING": "ascii"}, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert lb.Ledger("budget.db").account("clinic").spent == 1


def test_a_release_that_the_books_could_not_keep_is_not_said_to_be_there(clinic: Path) -> None:
    program = """
from lastbit.cli import main
from lastbit.errors import LedgerError
from lastbit.ledger import Ledger

def fails(*_, **__):
    raise LedgerError("no room")

Ledger.record = fails
main()
"""
    words = [sys.executable, "-c", program, *shlex.split(f"{TOP} {PAID}")]
    with open("/dev/full", "w") as full:
        done = processes.run(words, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr.endswith(f"{LOST} The charge stays, and the books could not keep the release.\n")


def test_an_interrupted_command_empties_its_buffers_too() -> None:
    program = """
import sys
from lastbit import cli

def interrupted(*_, **__):
    print("a line that stays in the buffer")
    raise KeyboardInterrupt

cli._run = interrupted
cli.main()
"""
    with open("/dev/full", "w") as full:
        done = processes.run([sys.executable, "-c", program], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == f"lastbit: interrupted. A charge that was made stays.\n{LOST}\n"
