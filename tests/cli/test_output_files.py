"""What a command writes: files never over anything but a report, and lines that move no cursor and stay one line."""

from __future__ import annotations

import inspect
import json
import os
import shlex
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit import cli
from lastbit.audit.target import Target, all_mechanisms
from lastbit.errors import LastbitError
from lastbit.output.json_values import json_text
from lastbit.output.page import Page
from tests import processes

TABLE = "visits.csv --by diagnosis --unit patient --domain diagnoses.txt"
PAID = "--ledger budget.db --dataset clinic"
COUNT = "count visits.csv --unit patient --epsilon 1"
LAPLACE = "audit DiscreteLaplace --set epsilon=1 --values 0 --neighbour 1"
RAW = "\x1b[31m\x9b2J\u202e\u2066\u2028\x07"
"""An escape, a C1 control, two direction controls, the end of a line, and the bell."""


def ascii_name(text: str) -> str:
    """The name of a case: short, and of characters that every terminal has."""
    return " ".join(word if len(word) < 40 else f"{word[:8]}..." for word in ascii(text)[1:-1].split())


def run(command: str) -> int:
    return cli._run(shlex.split(command), debug=False)


def refusal(command: str, capsys: Any) -> str:
    """The one line of a command that is refused."""
    assert run(command) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert len(error.splitlines()) == 1
    assert len(error) < 2000
    assert "unexpected" not in error
    return str(error)


def contents() -> dict[str, bytes]:
    # SQLite's own log beside the ledger comes and goes.
    return {path.name: path.read_bytes() for path in Path().iterdir() if not path.name.startswith("budget.db-")}


@pytest.mark.parametrize("place", ["budget.db", "visits.csv", "diagnoses.txt", "notes.html", "link.html", "hard.html"])
def test_a_report_is_written_over_nothing_else(place: str, clinic: Path, capsys: Any) -> None:
    Path("notes.html").write_text("<!doctype html>\n<p>my own</p>\n")
    Path("link.html").symlink_to("budget.db")
    os.link("visits.csv", "hard.html")
    before = contents()
    assert place in refusal(f"top {TABLE} -k 2 --epsilon 1 {PAID} --html {place}", capsys)
    assert contents() == before
    assert lb.Ledger("budget.db").account("clinic").spent == 0


def test_an_input_is_refused_even_where_it_looks_like_a_report(clinic: Path, capsys: Any) -> None:
    page = Page("Top 3", []).html()
    for name in ("items.html", "table.html"):
        Path(name).write_text(page)
    rows = "--by diagnosis --unit patient"
    commands = [
        f"histogram visits.csv {rows} --domain items.html --epsilon 1 --html items.html",
        f"histogram table.html {rows} --domain a,b --epsilon 1 --html ./table.html",
        f"histogram 'tab*.html' {rows} --domain a,b --epsilon 1 --html table.html",
        f"{COUNT} {PAID} --html budget.db-journal",
        f"{COUNT} --ledger sqlite:///budget.db --dataset clinic --html budget.db-wal",
    ]
    for command in commands:
        assert "which the command reads. Name another file. Nothing was spent." in refusal(command, capsys)
    assert Path("table.html").read_text() == page


def test_the_numbers_of_a_stream_are_no_place_for_its_report(clinic: Path, capsys: Any) -> None:
    watch = "watch --threshold 1 --limit 1 --sensitivity 1 --epsilon 1"
    Path("numbers.html").write_text(Page("Top 3", []).html())
    assert "visits.csv" in refusal(f"{watch} --html visits.csv", capsys)
    before = Path("numbers.html").read_bytes()
    with Path("numbers.html").open() as numbers:
        done = processes.run(
            [sys.executable, "-m", "lastbit.cli", *watch.split(), "--html", "numbers.html"],
            stdin=numbers,
            capture_output=True,
        )
    assert done.returncode == 2
    assert b"which the command reads" in done.stderr
    assert Path("numbers.html").read_bytes() == before


@pytest.mark.parametrize("option", ["--plot", "--profile"])
def test_a_picture_of_an_audit_is_checked_before_the_run(option: str, clinic: Path, capsys: Any) -> None:
    Path("own.png").write_text("my own")
    assert "Use one of" in refusal(f"{LAPLACE} {option} out.bad", capsys)
    assert "Use one of" in refusal(f"{LAPLACE} {option} out.pgf", capsys)  # needs LaTeX, after the run
    assert "Use one of" in refusal(f"{LAPLACE} {option} visits.csv", capsys)
    assert "an earlier picture: got own.png" in refusal(f"{LAPLACE} {option} own.png", capsys)
    assert "a folder that exists" in refusal(f"{LAPLACE} {option} no/out.png", capsys)
    assert Path("own.png").read_text() == "my own"


def test_a_picture_is_written_over_a_picture_only(clinic: Path, capsys: Any) -> None:
    for kind in ("png", "svg", "pdf"):
        for _ in range(2):
            assert run(f"{COUNT} --plot out.{kind}") == 0
            assert run(f"{LAPLACE} --plot law.{kind} --profile profile.{kind}") == 0
    capsys.readouterr()
    Path("own.png").write_text("my own")
    assert "an earlier picture: got own.png" in refusal(f"{COUNT} --plot own.png", capsys)
    assert "must be two files" in refusal(f"{LAPLACE} --plot a.png --profile ./a.png", capsys)
    assert "a picture such as out.png" in refusal(f"{COUNT} --plot budget.db", capsys)
    assert not list(Path().glob(".lastbit-*"))


def test_a_report_takes_the_place_of_a_report_whole_or_not_at_all(
    clinic: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("real.html").touch()
    Path("real.html").chmod(0o640)
    Path("report.html").symlink_to("real.html")
    assert run(f"{COUNT} --html report.html") == 0
    first = Path("real.html").read_text()
    assert "Made by lastbit" in first
    assert Path("report.html").is_symlink()
    assert stat.S_IMODE(Path("real.html").stat().st_mode) == 0o640
    assert run(f"{COUNT} --html report.html") == 0
    before = Path("real.html").read_bytes()

    def fail(path: Path, text: str, *_: Any) -> None:
        path.write_bytes(text[:100].encode())
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", fail)
    assert run(f"{COUNT} --html report.html") == 1
    assert "could not be written: No space left on device. The release above stands." in capsys.readouterr().err
    assert Path("real.html").read_bytes() == before
    assert not list(Path().glob(".lastbit-*"))


def test_a_file_that_appears_during_the_run_stays(clinic: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    html = Page.html

    def write_own(page: Page) -> str:
        Path("report.html").write_text("my own")
        return html(page)

    monkeypatch.setattr(Page, "html", write_own)
    assert run(f"{COUNT} --html report.html") == 1
    assert "it has become another file. The release above stands." in capsys.readouterr().err
    assert Path("report.html").read_text() == "my own"


def test_a_report_may_go_to_a_device_or_a_pipe(clinic: Path) -> None:
    assert run(f"{COUNT} --html /dev/null") == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    done = processes.run(
        [sys.executable, "-m", "lastbit.cli", *COUNT.split(), "--html", "/dev/stdout"], capture_output=True
    )
    assert done.returncode == 0
    assert done.stdout.endswith(b"</html>\n")


def test_names_of_accounts_move_no_cursor(clinic: Path, capsys: Any) -> None:
    name = f"evil{RAW}"
    for place, form in enumerate(([], ["--json"])):
        words = ["budget", "create", f"{name}{place or ''}", "--ledger", "budget.db", "--epsilon", "3", "--note", RAW]
        assert cli._run([*words, *form], debug=False) == 0
        out = capsys.readouterr().out
        assert "evil" in out
        assert out.rstrip("\n").isprintable()
    commands = [
        ["show"],
        ["show", name],
        ["history", name],
        ["verify"],
    ]
    for command in commands:
        for form in ([], ["--json"]):
            code = cli._run(["budget", *command, "--ledger", "budget.db", *form], debug=False)
            assert code == 0, capsys.readouterr().err
            out = capsys.readouterr().out
            assert "evil" in out or (command[0] == "history" and form), command
            assert all(line.isprintable() for line in out.split("\n")), out


def test_json_has_the_same_characters_as_numbers() -> None:
    given = {f"{RAW}é流": [RAW, "\U000e0001", "\ud800", "ok"]}
    written = json_text(given)
    assert written.isprintable()
    assert "é流" in written
    assert json.loads(written) == given


def test_messages_move_no_cursor_and_are_short(clinic: Path, capsys: Any) -> None:
    for name in (f"no{RAW}.csv", "n" * 5000):
        assert cli._run(["count", name, "--unit", "a", "--epsilon", "1"], debug=False) == 2
        error = capsys.readouterr().err
        assert error.rstrip("\n").isprintable()
        assert len(error) < 1000


@pytest.mark.parametrize(
    "text",
    ["--5", "-", "²", "1" * 5000, "-" + "1" * 5000, "\u0663", "\udcff", "1,,2", "", "nan"],
    ids=ascii_name,
)
def test_every_parameter_of_every_mechanism_refuses_what_is_no_value(text: str) -> None:
    """Each is a lastbit error or a mechanism: nothing else is raised, whatever --set says."""
    refused = 0
    for mechanism in all_mechanisms():
        for key in inspect.signature(mechanism).parameters:
            others = [f"{name}={value}" for name, value in (("epsilon", "1"), ("k", "2")) if name != key]
            known = inspect.signature(mechanism).parameters
            settings = [setting for setting in others if setting.partition("=")[0] in known]
            try:
                Target.find(mechanism.__name__, [*settings, f"{key}={text}"], None)
            except LastbitError:
                refused += 1
    assert refused > 30


@pytest.mark.parametrize(
    "command",
    [
        "audit NoisyMax --set epsilon=--5 --values 0,1",
        "audit NoisyTopK --set epsilon=1 --set k=² --values 0,1",
        f"audit NoisyTopK --set epsilon=1 --set k={'1' * 5000} --values 0,1",
        "audit DiscreteLaplace --set eta=1,1 --values 0",
        f"audit DiscreteLaplace --set epsilon=1 --values {'1' * 5000}",
        "audit DiscreteLaplace --set epsilon=1 --values ²",
        "audit DiscreteLaplace --set epsilon=1 --values 0 --neighbour \udcff",
        "audit DiscreteLaplace --set epsilon=1 --values 0 --tolerance ²",
        "audit \udcff --values 0",
        f"audit {'a' * 5000} --values 0",
        f"audit {'a' * 5000}.py:x",
        f"{COUNT} --where \"diagnosis = '\udcff'\"",
        f"{COUNT} --sql \"select * from visits where diagnosis = '\udcff'\"",
        f"{COUNT} --ledger budget.db --dataset \udcff",
        f"{COUNT} --ledger \udcff --dataset clinic",
        f"{COUNT} --ledger {'b' * 5000} --dataset clinic",
        f"{COUNT} --ledger budget.db --dataset {'b' * 5000}",
        f"{COUNT} --html {'h' * 300}",
        f"{COUNT} --html {'h' * 5000}",
        f"{COUNT} --plot {'h' * 300}.png",
        f"{LAPLACE} --plot {'h' * 300}.png",
        f"watch --threshold 1 --limit 1 --sensitivity 1 --epsilon 1 --html {'h' * 300}",
        f"budget create {'b' * 20_000} --ledger budget.db --epsilon 1",
        f"budget create b --ledger {'b' * 300} --epsilon 1",
        "budget create b --ledger \udcff --epsilon 1",
        *(f"budget {name} \udcff --ledger budget.db" for name in ("create", "show", "history", "export", "verify")),
        "budget raise \udcff --ledger budget.db --epsilon 4",
        "budget create b --ledger budget.db --epsilon 1 --note \udcff",
        f"budget verify --ledger budget.db --witness {'w' * 300}",
        *(f"budget history clinic --ledger budget.db --{name} {1 << 70}" for name in ("release", "before", "last")),
        *(f"budget history clinic --ledger budget.db --{name} ²" for name in ("release", "before", "last")),
    ],
    ids=ascii_name,
)
def test_a_wrong_word_is_refused_in_one_line(command: str, clinic: Path, capsys: Any) -> None:
    refusal(command, capsys)


def test_the_books_of_a_library_user_have_no_such_names_either(clinic: Path) -> None:
    ledger = lb.Ledger("budget.db")
    with pytest.raises(lb.LedgerError, match="there is no account named"):
        ledger.account("\udcff")
    with pytest.raises(lb.ParameterError, match="at most 10,000 characters"):
        ledger.create("b" * 10_001, epsilon=1)
