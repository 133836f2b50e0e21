"""What careless and hostile users try: every mistake is one line with what to do, and charges nothing."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest
from rich.console import Console

import lastbit as lb
from lastbit import cli
from lastbit.questions.progress import run_with_progress
from lastbit.questions.report import Report
from tests import processes
from tests.table_readers import count_rows, make_items, make_rows

PAID = "--ledger budget.db --dataset clinic"
ROWS = "rows.csv --by item --unit unit --domain items.txt"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """rows.csv, items.txt and a ledger in the current directory."""
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("unit,item\n1,flu\n2,flu\n2,cold\n", encoding="utf-8")
    Path("items.txt").write_text("flu\ncold\n", encoding="utf-8")
    lb.Ledger("budget.db").create("clinic", epsilon=9)


def run(command: str) -> int:
    return cli._run(shlex.split(command), debug=False)


def assert_refused(command: str, message: str, capsys: Any) -> None:
    assert run(command) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert message in shown.err
    assert lb.Ledger("budget.db").account("clinic").spent == 0


def values(place: str, by: str, domain: str, unit: str | None = "unit", table: str | None = None) -> list[int]:
    counts = count_rows(make_rows(source=place, unit=unit, table=table), make_items(by=[by], domain=[domain]))
    return counts.values.tolist()


HEADERS: dict[str, tuple[bytes, str, str]] = {
    "byte order mark": (b"\xef\xbb\xbfunit,item\n1,flu\n2,flu\n", "item", "unit"),
    "quotes": (b'unit,"it""em,x"\n1,flu\n"2,3",flu\n', 'it"em,x', "unit"),
    "mixed line ends": (b"unit,item\r\n1,flu\r\n2,flu\n3,fl\ru\r\n4,cold\r\r\n", "item", "unit"),
    "capitals only": (b"Unit,UNIT,item\n1,7,flu\n2,7,flu\n", "item", "Unit"),
    "no name": (b"unit,,item\n1,7,flu\n2,7,flu\n", "item", "unit"),
    "dots and stars": (b'a.b,"*","se""lect"\n1,7,flu\n2,7,flu\n', 'se"lect', "a.b"),
    "names of the engine": (b"c1,c0,main\n1,7,flu\n2,7,flu\n", "main", "c1"),
    "quoted line ends": (b'unit,item\r\n1,"fl\r\nu"\r\n2,flu\r\n3,"flu"\r\n', "item", "unit"),
}


@pytest.mark.parametrize("case", HEADERS)
def test_columns_may_be_called_anything(case: str) -> None:
    text, by, unit = HEADERS[case]
    Path("strange.csv").write_bytes(text)
    assert values("strange.csv", by, "items.txt", unit) == [2, 0]


def test_names_that_the_readers_make_are_refused_and_other_columns_are_read() -> None:
    Path("strange.csv").write_bytes(b"c1,item,lastbit_0\n1,flu,flu\n2,flu,flu\n")
    assert values("strange.csv", "item", "items.txt", "c1") == [2, 0]
    with pytest.raises(lb.ParameterError, match="no column may begin with lastbit_"):
        values("strange.csv", "lastbit_0", "items.txt", "c1")


def test_no_name_in_a_database_means_anything_else() -> None:
    with duckdb.connect("strange.duckdb") as connection:
        connection.execute('create schema s; create table s."T x" (unit integer, "It""em.x" text)')
        connection.execute('create table "a.b" as select 1 as unit, 2 as item')
        connection.execute("""insert into s."T x" values (1, 'flu'), (2, 'flu'), (2, 'cold'), (null, 'cold')""")
    assert values("strange.duckdb", 'It"em.x', "items.txt", table="s.T x") == [2, 1]
    assert values("strange.duckdb", "item", "1..2", table="a.b") == [0, 1]
    connection = sqlite3.connect("strange.db")
    connection.execute('create table "my ""table" (unit blob, "It em" text)')
    connection.executemany(
        'insert into "my ""table" values (?, ?)', [(1, "flu"), (b"\xff", "flu"), (b"2", "flu"), (None, "flu")]
    )
    connection.commit()
    connection.close()
    # Bytes that are no text are a unit too.
    assert values("strange.db", "It em", "items.txt", table='my "table') == [3, 0]


def test_a_line_that_is_no_json_is_left_out() -> None:
    Path("rows.jsonl").write_text('5\n{"unit":1,"item":"flu"}\nnot json\n{"unit":"2","item":"flu","x":[1]}\n{}\n')
    assert values("rows.jsonl", "item", "items.txt") == [2, 0]


def test_a_domain_file_as_people_write_them() -> None:
    Path("items.txt").write_bytes("\ufeff\r\n cold \t\r\n\r\n  \r\nflu\r\nflu  \r\nother\x85thing\u2028\r\n".encode())
    items = make_items(by=["item"], domain=["items.txt"])
    counts = count_rows(make_rows(source="rows.csv", unit="unit"), items)
    assert counts.items == ("cold", "flu", "other\x85thing\u2028")
    assert counts.values.tolist() == [1, 2, 0]


def test_a_range_meets_text() -> None:
    assert values("rows.csv", "unit", "1..3", unit=None) == [1, 2, 0]
    product = make_items(by=["unit", "item"], domain=["1..2", "items.txt"])
    assert count_rows(make_rows(source="rows.csv"), product).values.tolist() == [1, 0, 1, 1]


TABLES: dict[str, tuple[str, bytes | None, str]] = {
    "empty.csv": ("", b"", "the first line of empty.csv must name its columns"),
    "wide.csv": ("", "unit,item\n1,flu\n".encode("utf-16"), "must name its columns, in UTF-8"),
    "twice.csv": ("", b"item,item\n1,2\n", "must have different names"),
    "list.json": ("", b"[1, 2]", "must be JSON lines: in one long list"),
    "old.csv": ("", b"unit,item\r1,flu\r", "must name its columns, in UTF-8, and end with a line feed"),
    "cut.parquet": ("", b"PAR1abcdefgh", "could not be read: ArrowInvalid"),
    "text.parquet": ("", b"unit,item\n", "must be CSV, TSV, Parquet, JSON"),
    "budget.db": ("--table nobody", None, "--ledger must be a file of its own: got the table itself, budget.db"),
    "rows.duckdb": ("--table nobody", None, "there is no table 'nobody' in rows.duckdb: it has none"),
    ".": ("", None, ". is a folder. Name the files in it"),
}


@pytest.mark.parametrize("place", TABLES)
def test_a_table_that_is_none(place: str, capsys: Any) -> None:
    options, content, message = TABLES[place]
    if content is not None:
        Path(place).write_bytes(content)
    elif place == "rows.duckdb":
        duckdb.connect(place).close()
    assert_refused(
        f"top {place} {options} --unit unit --by item --domain items.txt -k 1 --epsilon 1 {PAID}", message, capsys
    )


WRONG: dict[str, str] = {
    f"top {ROWS} --domain items.txt -k 1 --epsilon 1": "--domain must be given once for each --by: got 2 for 1 column.",
    f"top {ROWS} --by unit -k 1 --epsilon 1": "--domain must be given once for each --by: got 1 for 2 columns",
    "top rows.csv --by item --unit '' --domain items.txt -k 1 --epsilon 1": "--unit must not be empty",
    "top rows.csv --by item --unit nobody --domain items.txt -k 1 --epsilon 1": "there is no column 'nobody'",
    "top rows.csv --by item --unit item --domain items.txt -k 1 --epsilon 1": "must be different columns",
    "top rows.csv --by item --domain 1..99999999999 -k 1 --epsilon 1": "at most 20,000,000 items",
    "top rows.csv --by item --domain 5..1 -k 1 --epsilon 1": "at least one item",
    "top rows.csv --by item --domain empty.txt -k 1 --epsilon 1": "at least one item",
    f"top {ROWS} -k x --epsilon 1": "-k must be a whole number of at least 1: got 'x'",
    f"top {ROWS} -k 3 --epsilon 1": "-k must be at most the number of items: got 3 of 2",
    f"top {ROWS} -k 1 --epsilon 1e400": "epsilon must be between",
    f"top {ROWS} -k 1 --epsilon abc": "epsilon must be a finite number",
    f"top {ROWS} -k 1 --epsilon 1 --resolution ''": "resolution must be a finite number",
    f"top {ROWS} -k 1 --epsilon 1 --plot no/top.png": "--plot must be a file in a folder that exists",
    f"top {ROWS} -k 1 --epsilon 1 --plot top.doc": "--plot must be a picture such as out.png",
    f"above {ROWS} --threshold -99 --epsilon 1 --level 1/3": "level must be at least 1/2",
    f"above {ROWS} --threshold -99 --epsilon 1 --level 7": "level must be above 0",
    f"measure {ROWS} -k 1 --epsilon 1 --level 7": "level must be above 0",
    "mean rows.csv --of unit --bounds 0 5 --epsilon 1 --level 7": "level must be above 0",
    "mean rows.csv --of unit --unit unit --bounds 0 5 --epsilon 1": "--of must be another column than --unit",
    "mean rows.csv --of unit --bounds 0 1/3 --resolution 1/2 --epsilon 1": "resolution must divide",
}


@pytest.mark.parametrize("command", WRONG)
def test_wrong_usage_is_one_line_and_charges_nothing(command: str, capsys: Any) -> None:
    Path("empty.txt").write_text("\n \n")
    assert_refused(f"{command} {PAID}", WRONG[command], capsys)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("plan -k 1 --items 5 --within 1e400", "every epsilon gives this one"),
        (f"plan -k 1 --items {10**400} --epsilon 1", "--items must be below 2^63"),
        ("budget create x --ledger no/budget.db --epsilon 1", "Check that its folder exists"),
        ("budget create x --ledger . --epsilon 1", "it cannot be opened"),
        ("budget create x --ledger items.txt --epsilon 1", "it is no SQLite file. Name another one"),
        ("budget show --ledger items.txt", "it is no SQLite file. Name another one"),
    ],
)
def test_plans_and_places_that_cannot_be(command: str, message: str, capsys: Any) -> None:
    Path("items.txt").write_text("flu\n" * 500)
    assert_refused(command, message, capsys)


def test_a_mean_of_a_column_called_as_our_own(capsys: Any) -> None:
    Path("names.csv").write_text("who,everyone,amount\n1,3,x\n2,5,y\n")
    assert run("mean names.csv --of everyone --unit who --bounds 0 9 --epsilon 2000 --json") == 0
    assert abs(Fraction(json.loads(capsys.readouterr().out)["mean"][0]) - 4) < 1


def test_budgets_beyond_any_float_can_be_read(capsys: Any) -> None:
    assert run("budget create huge --ledger budget.db --epsilon 1e400") == 0
    assert "spent 0 of 1e+400" in capsys.readouterr().out
    assert run("budget create small --ledger budget.db --epsilon 1/3e-400") == 2
    assert run("budget create small --ledger budget.db --epsilon 1e-400") == 0
    assert run("budget show --ledger budget.db") == 0
    assert "1e-400" in capsys.readouterr().out


def test_a_command_without_a_command_shows_what_there_is(capsys: Any) -> None:
    for command in ("", "budget"):
        assert run(command) == 2
        assert len(capsys.readouterr().err.splitlines()) > 8


def test_a_picture_that_fails_does_not_take_the_release_with_it(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("lastbit.questions.answer_view.AnswerView.plot", full)
    assert run(f"top {ROWS} -k 1 --epsilon 1 {PAID} --plot top.png --json") == 1
    shown = capsys.readouterr()
    assert json.loads(shown.out)["account"]["spent"] == 1
    assert "could not be written: No space left on device. The release above stands." in shown.err


def test_a_narrow_terminal_cuts_nothing_off(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    word = "electroencephalography"
    Report("title", {name: [word] * 2 for name in "abcd"}).show(as_json=False)
    out = re.sub(r"\x1b\[\d*m", "", capsys.readouterr().out)
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= 40
    assert out.count("y") == 8


def lastbit(*arguments: str, **more: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "lastbit.cli", *arguments]
    return processes.start(command, stdout=subprocess.PIPE, **more)


SLOW = """
import signal, sys
import lastbit.questions.reading as reading
from lastbit.cli import main

# Where interrupts are ignored, as in the background of a shell, children ignore them too.
signal.signal(signal.SIGINT, signal.default_int_handler)

def work(source):
    print("reading", file=sys.stderr, flush=True)
    return source.connection.sql("select count(*) from range(1000000000000) as t(i) where i % 7 = 3").fetchall()

reading.read_counts = lambda rows, items: reading.Reading(rows, reading.ColumnSelection(("item",)), work)
main()
"""


@pytest.mark.parametrize("terminal", [False, True])
def test_an_interrupt_while_reading_is_one_line_soon_and_charges_nothing(terminal: bool) -> None:
    ours, theirs = pty.openpty() if terminal else os.pipe()
    command = [sys.executable, "-c", SLOW, "top", *shlex.split(f"{ROWS} -k 1 --epsilon 1 {PAID}")]
    process = processes.start(command, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    seen = b""
    while b"reading" not in seen:
        piece = os.read(ours, 4096)
        assert piece, seen
        seen += piece
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=600)
    try:
        while more := os.read(ours, 4096):
            seen += more
    except OSError:  # how a closed terminal ends
        pass
    os.close(ours)
    assert process.returncode == 130
    assert out == b""
    # A bar that was there is gone.
    assert (
        re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", seen.splitlines()[-1])
        == b"lastbit: interrupted. A charge that was made stays."
    )
    assert b"Traceback" not in seen
    assert lb.Ledger("budget.db").account("clinic").spent == 0


def test_stopping_goes_on_until_the_work_has_stopped() -> None:
    stopped: list[int] = []

    def work() -> None:
        while len(stopped) < 3:
            time.sleep(0.01)
        raise RuntimeError("interrupted")

    def progress() -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_with_progress(
            work, progress, stop=lambda: stopped.append(1), patience=0.01, console=Console(file=None, quiet=True)
        )
    assert len(stopped) == 3


def test_work_that_cannot_be_stopped_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lastbit.questions.progress._ATTEMPTS", 2)
    end = threading.Event()

    def progress() -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_with_progress(end.wait, progress, patience=0.01, console=Console(file=None, quiet=True))
    assert not end.is_set()
    end.set()


def test_two_commands_at_once_and_one_budget() -> None:
    paid = shlex.split(f"top {ROWS} -k 1 --epsilon 5 {PAID} --json")
    both = [lastbit(*paid, stderr=subprocess.PIPE) for _ in range(2)]
    ends = sorted((process.communicate(timeout=600), process.returncode)[1] for process in both)
    assert ends == [0, 3]
    assert lb.Ledger("budget.db").account("clinic").spent == 5
