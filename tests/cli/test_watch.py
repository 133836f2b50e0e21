"""`lastbit watch`: a stream answered line by line."""

from __future__ import annotations

import io
import json
import os
import re
import select
import shlex
import signal
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit import cli
from lastbit.mechanisms import mechanism
from lastbit.questions.streams import LONGEST, parse_line, parse_lines
from tests import processes
from tests.fixed_words import FixedWords

WATCH = "watch --threshold 1000 --limit 3 --epsilon 1"
SURE = 10**12
"""So far from the threshold that noise of epsilon 1 reaches it with a probability below e^-(10^9): never."""
VALUES = [5, 999, 1004, 2000, 1001, 998, 1010, 3000, 1, 4000]


def feed(monkeypatch: pytest.MonkeyPatch, text: str | bytes, tape: str = "watch") -> None:
    held = text.encode() if isinstance(text, str) else text
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(held)))
    monkeypatch.setattr(mechanism, "_SYSTEM", lb.Sampler(FixedWords(tape)))


def run(command: str) -> int:
    return cli._run(shlex.split(command), debug=False)


@pytest.mark.parametrize(
    ("options", "kind", "parameters"),
    [
        ("", lb.SparseVector, {}),
        ("--monotone", lb.SparseVector, {"monotone": True}),
        ("--sensitivity 5 --resolution 1/2", lb.SparseVector, {"sensitivity": 5, "resolution": "1/2"}),
        ("--adaptive", lb.AdaptiveSparseVector, {}),
    ],
)
def test_the_answers_are_those_of_the_mechanism_on_the_same_words(
    options: str, kind: Any, parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    lines = "\n".join(map(str, VALUES))
    told = kind(threshold=1000, limit=3, epsilon=1, **parameters)
    for tape in ("one", "two", "three"):
        expected = told.answers(VALUES, lb.Sampler(FixedWords(tape)))
        assert len(expected.indices) >= 3
        feed(monkeypatch, lines, tape)
        assert run(f"{WATCH} {options} --json") == 0
        found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [each["query"] for each in found] == [*range(1, len(expected) + 1)]
        assert [each["above"] for each in found] == [each.above for each in expected]
        for each, answer in zip(found, expected, strict=True):
            if not answer.above:
                assert each == {"query": each["query"], "above": False}
                continue
            noise = told.gap_noise(answer) if kind is lb.AdaptiveSparseVector else told.gap_noise
            assert Fraction(each["exact"]["gap"]) == answer.gap
            assert each["gap"] == float(answer.gap)
            assert (each["level"], each["exact"]["level"]) == (0.95, "19/20")
            assert Fraction(each["exact"]["estimate"]) == noise.estimate(1000, answer.gap).value
            least = noise.listed_bound(1000, answer.gap, "0.95")
            assert each["exact"].get("at_least") == (None if least is None else str(least))
            assert each["at_least"] == (None if least is None else float(least))
        feed(monkeypatch, lines, tape)
        assert run(f"{WATCH} {options}") == 0
        shown = capsys.readouterr().out.splitlines()
        assert [": above by " in line for line in shown] == [each.above for each in expected]


def test_a_cost_in_rho(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    feed(monkeypatch, f"{SURE}\n")
    assert run("watch --threshold 1000 --rho 1/10") == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("1: above by ")
    assert shown.err.splitlines()[-1] == (
        "lastbit: the run is spent, and ends: 1 of 1 line above. Another run costs rho 1/10 again."
    )


def test_the_run_ends_when_it_is_spent_and_reads_no_further(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    feed(monkeypatch, f"{SURE}\n0\n{SURE}\n0\n{SURE}\n0\n{SURE}\n")
    assert run(WATCH) == 0
    shown = capsys.readouterr()
    assert [line.split()[1].rstrip(",") for line in shown.out.splitlines()] == [
        "above", "below", "above", "below", "above",
    ]  # fmt: skip
    assert "the run is spent, and ends: 3 of 5 lines above. Another run costs epsilon 1 again." in shown.err
    feed(monkeypatch, "")
    assert run(WATCH) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "the stream ended: 0 of 0 lines above." in shown.err


NO_NUMBER: list[bytes] = [
    b"", b"   ", b"secret", b"12 secret", b"1,000,000", b"1_000_000", b"nan", b"sNaN123", b"Infinity", b"0x7fffffff",
    b"\xff\xfe1", b"\x00", b'{"value": "secret"}', b'{"value": true}', b'{"value": null}', b'{"value": [1]}',
    b'{"value": {"value": 1000000}}', b'{"other": 1000000}', b'{"value": NaN}', b'{"value": Infinity}', b"{", b"{}",
    b"[1000000]", b'{"value":' * 5000, b'{"a":' + b"[" * 60000, b"9" * (LONGEST + 1), b"9" * (5 * LONGEST),
    "१०००००००".encode(), b"+-1", b"1e9999999999",
]  # fmt: skip


def test_a_line_without_a_number_is_below_and_is_never_shown(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    for key in ("value", "secret"):
        feed(monkeypatch, b"\n".join([*NO_NUMBER, str(SURE).encode()]))
        assert cli._run([*shlex.split(WATCH), "--json", "--key", key], debug=True) == 0
        shown = capsys.readouterr()
        answers = [json.loads(line)["above"] for line in shown.out.splitlines()]
        assert answers == [False] * len(NO_NUMBER) + [True]
        assert "secret" not in shown.out + shown.err
        assert "A line without a number counts as the lowest number there is" in shown.err
    # A number that is far out of range is a number, and clamped.
    feed(monkeypatch, "1e999999999\n-1e999999999\n1e-999999999\n")
    assert run(f"{WATCH} --json") == 0
    assert [json.loads(line)["above"] for line in capsys.readouterr().out.splitlines()] == [True, False, False]


def test_numbers_of_lines() -> None:
    lines = b'\xef\xbb\xbf1\r\n 2.5 \n{"value": 3}\n{"value": "4e1"}\n{"value": 5, "value": 6}\n.5\n7.\n+8'
    found = list(parse_lines(io.BytesIO(lines), "value"))
    assert found == [Decimal(each) for each in ("1", "2.5", "3", "40", "5", "0.5", "7", "8")]
    # Both sides of the longest line; a long line takes no other with it.
    longest = b"1" * (LONGEST - 1)
    assert list(parse_lines(io.BytesIO(longest + b"\n2\n"), "")) == [Decimal(longest.decode()), Decimal(2)]
    assert list(parse_lines(io.BytesIO(longest + b"1\n2\n"), "")) == [None, Decimal(2)]
    assert list(parse_lines(io.BytesIO(longest + b"1"), "")) == [None]
    assert parse_line("1" * 5000, "value") == Decimal("1" * 5000)
    assert parse_line('{"value": ' + "1" * 5000 + "}", "value") == Decimal("1" * 5000)


def test_the_charge_comes_first(clinic: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    paid = f"{WATCH.replace('--epsilon 1', '--epsilon 2')} --ledger budget.db --dataset clinic --note hourly"
    spent = []

    class Stream(io.BytesIO):
        def readline(self, *_: Any) -> bytes:
            spent.append(lb.Ledger("budget.db").account("clinic").spent)
            return b""

    assert run(f"{paid} --dry-run") == 0
    assert "No row was read and nothing was spent." in capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Stream()))
    assert run(paid) == 0
    assert spent == [2]
    assert "clinic: spent 2 of 3, 1 left (epsilon)." in capsys.readouterr().err
    *_, last, back = lb.Ledger("budget.db").history("clinic")
    assert last.note == back.note == "hourly"
    assert last.about == "watch --threshold 1000 --limit 3"
    assert last.protects == ""  # the numbers are the caller's own: nobody said whose rows they count
    mechanism_of = lb.SparseVector(threshold=1000, limit=3, epsilon=2)
    assert (back.kind, back.amount) == ("refund", 2 * (1 - mechanism_of.share))
    lb.Ledger("budget.db").charge("clinic", lb.NoisyMax(epsilon=1))
    assert run(f"{paid} --dry-run") == 3
    assert "The budget does not allow it." in capsys.readouterr().out
    assert run(paid) == 3
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Nothing was drawn and nothing was charged." in shown.err
    assert len(spent) == 1


def test_what_is_wrong_is_said_before_the_charge(clinic: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    paid = "--ledger budget.db --dataset clinic"
    for command, message in {
        f"watch --limit 1 --epsilon 1 {paid}": "watch needs --threshold NUMBER.",
        f"watch --threshold 1 {paid}": "exactly one of --epsilon, --rho and --within must be given",
        f"watch --threshold 1 --epsilon 1 --limit 0 {paid}": "limit must be a whole number of at least 1",
        f"watch --threshold 0.5 --epsilon 1 {paid}": "threshold must be a whole number of steps",
        f"watch --threshold 1 --epsilon 1 --sensitivity 0 {paid}": "sensitivity must be positive",
        f"watch --threshold 1 --epsilon 1 --level 0.4 {paid}": "level must be at least 1/2",
        "watch --threshold 1 --epsilon 1 --ledger budget.db": "--ledger and --dataset must be given together",
    }.items():
        assert run(command) == 2
        assert message in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdin", None)
    assert run(f"{WATCH} {paid}") == 2
    assert "standard input, and it is closed. Nothing was charged." in capsys.readouterr().err
    assert lb.Ledger("budget.db").account("clinic").spent == 0


HEEDFUL = """
import signal
from lastbit.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""
"""Where interrupts are ignored, as in the background of a shell, children ignore them too, unless they object."""


def watching() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", HEEDFUL, *shlex.split(WATCH)]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return processes.start(command, **pipes)


def ask(process: subprocess.Popen[bytes], line: bytes) -> bytes:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line + b"\n")
    process.stdin.flush()
    ready, _, _ = select.select([process.stdout], [], [], 600)
    if not ready:  # an answer that stays in a buffer would keep this test for ever
        process.kill()
    return process.stdout.readline()


def test_each_line_is_answered_before_the_next_one_comes_and_an_interrupt_is_no_traceback() -> None:
    with watching() as process:
        assert ask(process, b"0") == b"1: below\n"
        assert ask(process, str(SURE).encode()).startswith(b"2: above by ")
        assert ask(process, b"secret") == b"3: below\n"
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate()
    assert process.returncode == 130
    assert out == b""
    assert errors.decode().splitlines()[-2:] == [
        "lastbit: stopped: 1 of 3 lines above. Another run costs epsilon 1 again.",
        "lastbit: interrupted. A charge that was made stays.",
    ]
    assert b"Traceback" not in errors


def test_a_reader_who_goes_away_ends_the_run() -> None:
    with watching() as process:
        assert ask(process, b"0") == b"1: below\n"
        assert process.stdout is not None
        process.stdout.close()
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"0\n" * 3)
        process.stdin.flush()
        errors = process.stderr.read().decode()
    assert process.returncode == 0
    assert errors.splitlines()[-1] == (
        "lastbit: nobody reads the answers any more: 0 of 2 lines above. Another run costs epsilon 1 again."
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full device")
def test_a_full_disk_ends_the_run_in_words() -> None:
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "lastbit", *shlex.split(WATCH)]
        done = processes.run(command, input=b"0\n", stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert "a line could not be read or written (No space left on device): 0 of 1 line above." in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_python_m_lastbit_is_the_command() -> None:
    done = processes.run([sys.executable, "-m", "lastbit", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"lastbit {lb.__version__}\n")


def test_the_example_of_the_page_answers_as_it_says(tmp_path: Path) -> None:
    """Noise of epsilon 1 in three parts reaches over 800 with a probability below e^-90."""
    page = (Path(__file__).parents[2] / "docs" / "command.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^    (printf .* \| lastbit watch .*)$", page, re.MULTILINE)
    (tmp_path / "lastbit").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m lastbit "$@"\n')
    (tmp_path / "lastbit").chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = processes.run(["bash", "-c", command], capture_output=True, text=True, variables=path)
    assert done.returncode == 0
    number = r"\d,\d{3}"
    assert re.fullmatch(
        rf"1: below\n2: below\n3: above by {number}, about {number}, at least {number}\n", done.stdout
    ), done.stdout


def test_what_the_answers_have_not_spent_is_given_back(
    clinic: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    feed(monkeypatch, f"{SURE}\n0\n")
    assert run(f"{WATCH} --adaptive --ledger budget.db --dataset clinic") == 0
    shown = capsys.readouterr()
    share = lb.AdaptiveSparseVector(threshold=1000, limit=3, epsilon=1).share
    spent = share + (1 - share) / 6
    assert ", spent " in shown.out.splitlines()[0]
    assert "What the answers have not spent is given back. clinic: spent " in shown.err
    assert lb.Ledger("budget.db").account("clinic").spent == spent
    # A run that spent all of it has nothing to give back, and says nothing.
    feed(monkeypatch, f"{SURE}\n" * 3)
    assert run(f"{WATCH} --ledger budget.db --dataset clinic") == 0
    assert "given back" not in capsys.readouterr().err
    assert lb.Ledger("budget.db").account("clinic").spent == spent + 1


def test_nothing_is_given_back_where_an_answer_may_be_lost(clinic: Path) -> None:
    command = [sys.executable, "-m", "lastbit", *shlex.split(f"{WATCH} --ledger budget.db --dataset clinic")]
    reader, writer = os.pipe()
    os.close(reader)
    done = processes.run(command, input=b"0\n" * 3, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert b"nobody reads the answers any more" in done.stderr
    assert lb.Ledger("budget.db").account("clinic").spent == 1
