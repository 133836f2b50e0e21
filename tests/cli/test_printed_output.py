"""What a command prints: whole people, one schema, nothing lost; what a dry run checks; what the ledger records."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import lastbit as lb
from lastbit import cli
from lastbit.questions.identity import identity_of
from lastbit.questions.kinds import KINDS
from lastbit.questions.request import Request
from tests import processes
from tests.output.json_schema import problems
from tests.output.test_json import RULES

TABLE = "visits.csv --by diagnosis --unit patient --domain diagnoses.txt"
PAID = "--ledger budget.db --dataset clinic"
RELEASES = [
    f"top {TABLE} -k 2",
    f"top {TABLE} -k 2 --weights cost --bounds 0 1000",
    "top visits.csv --by diagnosis --unit patient -k 2 --delta 1e-6",
    f"above {TABLE} --threshold 60",
    f"choose {TABLE} -k 2",
    f"measure {TABLE} -k 2",
    f"measure {TABLE} -k 2 --weights cost --bounds 0 1000",
    f"histogram {TABLE}",
    "histogram visits.csv --by diagnosis --unit patient --most-items 2 --delta 1e-6",
    "mean visits.csv --of cost --unit patient --bounds 0 1000",
    "count visits.csv --unit patient",
    f"count {TABLE} --one-each",
    "sum visits.csv --of cost --unit patient --bounds 0 1000",
    "histogram visits.csv --of cost --unit patient --bounds 0 1000 --bins 4",
    "median visits.csv --of cost --unit patient --bounds 0 1000",
    "quantile visits.csv --at 0.25,0.5 --of cost --unit patient --bounds 0 1000",
    "median visits.csv --of cost --unit patient --bounds 0 1000 --by diagnosis --domain diagnoses.txt --one-each",
]


def run(command: str) -> int:
    return cli._run(shlex.split(command), debug=False)


@pytest.fixture
def survey(clinic: Path) -> Path:
    lb.Ledger("budget.db").create("survey", rho=10**7, delta="1/2")
    return clinic


@pytest.mark.parametrize("command", RELEASES)
def test_every_release_of_the_command_follows_the_schema(command: str, survey: Path, capsys: Any) -> None:
    for cost in ("--epsilon 1", "--epsilon 1 --reuse"):
        assert run(f"{command} {cost} --ledger budget.db --dataset survey --json") == 0
        given = json.loads(capsys.readouterr().out)
        assert problems(given, RULES) == []
        assert ("reused" in given) == ("--reuse" in cost)
        assert given["level"] == 0.95
    assert run("budget history survey --ledger budget.db --release 3 --json") == 0
    again = json.loads(capsys.readouterr().out)
    # Where the value is about all people, what was drawn is beside it.
    drawn = {name: given.get(f"bounded_{name}", given[name]) for name in given["columns"]}
    assert drawn == {name: again[name] for name in given["columns"]}
    assert given.get("parts") == again.get("parts")


@pytest.mark.parametrize(
    "command", [release for release in RELEASES if "--weights" not in release and "--of" not in release]
)
def test_people_are_whole_numbers(command: str, clinic: Path, capsys: Any) -> None:
    assert run(f"{command} --epsilon 1/7") == 0
    _, _, *lines = capsys.readouterr().out.splitlines()
    rows = [re.split(r"  +", line.strip()) for line in lines if re.match(r" *\d+  |[a-z ]+  ", line)]
    units = [cell for row in rows for cell in row if re.search(r"\d", cell)]
    assert all(re.fullmatch(r"-?[\d,]+( to -?[\d,]+)?", cell) for cell in units)
    assert all("." not in amount for amount in re.findall(r"(\S+) (?:person|people) more", " ".join(lines)))


def test_a_mean_has_the_digits_of_its_interval_and_whole_people(clinic: Path, capsys: Any) -> None:
    assert run("mean visits.csv --of cost --unit patient --bounds 0 1000 --epsilon 10") == 0
    _, head, row, *_ = capsys.readouterr().out.splitlines()
    people = ["people", "interval of people"]
    assert re.split(r"  +", head.strip()) == ["mean of cost", "interval", *people, "sum of cost", "interval of sums"]
    # Half the interval is 0.84, and noise moves that by far less than 0.1: two decimals.
    assert re.fullmatch(
        r"[\d,]+\.\d\d  [\d,]+\.\d\d to [\d,]+\.\d\d  [\d,]+  [\d,]+ to [\d,]+  [\d,.]+  [\d,.]+ to [\d,.]+",
        re.sub("  +", "  ", row.strip()),
    )


@pytest.mark.parametrize("command", RELEASES)
def test_nothing_fails_after_the_charge(command: str, survey: Path, capsys: Any) -> None:
    charged = 1
    for cost, level in (("80", "0.95"), ("1900", "0.999999999999"), ("1/10000000", "0.999999999999")):
        code = run(f"{command} --epsilon {cost} --level {level} --ledger budget.db --dataset survey")
        assert bool(capsys.readouterr().out) == (code == 0)
        assert code in (0, 2)
        charged += code == 0
        assert len(lb.Ledger("budget.db").history("survey")) == charged


def test_the_measure_of_one_item_at_a_large_epsilon(clinic: Path, capsys: Any) -> None:
    lb.Ledger("budget.db").create("large", epsilon=100)
    paid = "--ledger budget.db --dataset large"
    assert run(f"measure {TABLE} --epsilon 80 --resolution 1 -k 1 {paid} --json") == 0
    given = json.loads(capsys.readouterr().out)
    rows = [line.split(",") for line in Path("visits.csv").read_text().splitlines()[1:]]
    truth = len({row[1] for row in rows if row[3] == "influenza" and row[1]})
    assert given["estimate"] == [truth]  # the noise is not 0 with probability 2·e^-40
    assert given["charged"] == 80


def lastbit(arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return processes.run(
        [sys.executable, "-m", "lastbit.cli", *shlex.split(arguments)],
        capture_output=True,
        variables=environment,
    )


def test_an_item_that_the_output_cannot_encode_is_shown(clinic: Path) -> None:
    Path("words.csv").write_text("who,word\n1,caf\u00e9\n2,流感\n3,流感\n", encoding="utf-8")
    Path("words.txt").write_text("caf\u00e9\n流感\n", encoding="utf-8")
    command = f"choose words.csv --by word --unit who --domain words.txt -k 2 --epsilon 1 {PAID}"
    table = lastbit(command, PYTHONIOENCODING="ascii")
    assert table.returncode == 0
    assert b"caf\\xe9" in table.stdout
    assert b"\\u6d41\\u611f" in table.stdout
    given = lastbit(f"{command} --json", PYTHONIOENCODING="ascii")
    assert set(json.loads(given.stdout)["outcome"]) == {"caf\u00e9", "流感"}


def test_a_dry_run_checks_the_columns_and_the_budget(clinic: Path, capsys: Any) -> None:
    with duckdb.connect("visits.duckdb") as connection:
        connection.execute("create table visits as select * from read_csv('visits.csv')")
    with sqlite3.connect("visits.db") as connection:
        connection.execute("create table visits (patient, diagnosis)")
    connection.close()
    duckdb.sql("copy (select * from read_csv('visits.csv')) to 'visits.parquet'")
    for place in ("visits.csv", "visits.parquet", "visits.duckdb --table visits", "visits.db --table visits"):
        right = f"top {place} --by diagnosis --unit patient --domain diagnoses.txt -k 2 --epsilon 1 --dry-run"
        assert run(right) == 0
        assert "No row was read and nothing was spent." in capsys.readouterr().out
        for wrong in (right.replace("--by diagnosis", "--by disease"), right.replace("--unit patient", "--unit who")):
            assert run(wrong) == 2
            assert "there is no column '" in capsys.readouterr().err
    assert run("mean visits.csv --of price --unit patient --bounds 0 9 --epsilon 1 --dry-run") == 2
    assert "there is no column 'price'" in capsys.readouterr().err
    assert run("top nowhere.csv --unit u --by a --domain diagnoses.txt -k 2 --epsilon 1 --dry-run") == 2
    assert "there is no file nowhere.csv" in capsys.readouterr().err
    for epsilon, code in (("3", 0), ("3.1", 3)):
        assert run(f"top {TABLE} -k 2 --epsilon {epsilon} {PAID} --dry-run --json") == code
        assert json.loads(capsys.readouterr().out)["allowed"] is (code == 0)
    assert lb.Ledger("budget.db").account("clinic").spent == 0


def test_a_dry_run_reads_no_row(clinic: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise AssertionError("a row was read")

    def fails_when_read(*_: Any, **__: Any) -> Iterator[Any]:
        yield fails()

    monkeypatch.setattr("lastbit.data.count.count", fails)
    monkeypatch.setattr("lastbit.data.files.csv.batches", fails_when_read)
    for command in RELEASES:
        assert run(f"{command} --epsilon 1 --dry-run") == 0
    capsys.readouterr()


def test_an_answer_in_the_books_allows_a_dry_run_of_a_spent_budget(clinic: Path, capsys: Any) -> None:
    assert run(f"top {TABLE} -k 2 --epsilon 3 {PAID}") == 0
    Path("visits.csv").unlink()
    assert run(f"top {TABLE} -k 2 --epsilon 3 {PAID} --reuse --dry-run") == 0
    assert "with --reuse it costs nothing" in capsys.readouterr().out


def test_the_history_says_what_a_release_is_about(clinic: Path, capsys: Any) -> None:
    assert run(f"top {TABLE} -k 2 --epsilon 1 {PAID} --note weekly") == 0
    assert run(f"mean visits.csv --unit row --of cost --bounds 0 9 --epsilon 1 {PAID}") == 0
    lb.Ledger("budget.db").release("clinic", lb.NoisyMax(epsilon="1/2"), [1, 2], query="two numbers")
    lb.Ledger("budget.db").release("clinic", lb.NoisyMax(epsilon="1/2"), [1, 2])
    entries = lb.Ledger("budget.db").history("clinic")
    assert [entry.protects for entry in entries] == ["", "person", "row", "", ""]
    about = [entry.about for entry in entries]
    assert about[1] == "top visits.csv --unit patient --by diagnosis --domain diagnoses.txt -k 2"
    assert about[2] == "mean visits.csv --unit row --of cost --bounds 0 9"
    assert (about[0], about[3:]) == ("", ["two numbers", ""])
    capsys.readouterr()
    assert run("budget history clinic --ledger budget.db") == 0
    shown = capsys.readouterr().out
    assert "top visits.csv --unit patient" in shown
    assert "protects" in shown
    assert run("budget history clinic --ledger budget.db --json") == 0
    listed = json.loads(capsys.readouterr().out)["history"]
    assert ([each["about"] for each in listed], [each["amount"] for each in listed]) == (about, [3, 1, 1, 0.5, 0.5])
    page = entries._repr_html_()
    assert page.count("<tr>") == 1 + len(entries)
    assert "<td>two numbers</td>" in page
    assert tuple(entries) == entries
    title, names, *rows = str(entries).splitlines()
    assert (title, names.split()[:3], len(rows)) == ("History of clinic", ["id", "time", "what"], len(entries))
    assert repr(type(entries)()).startswith("History of nothing")
    assert "<th>about</th>" in page
    assert "<th>about</th>" not in type(entries)(entries[:1])._repr_html_()  # a column without a word


def parse(**options: Any) -> Request:
    return KINDS["top"].parse({"by": "x", "epsilon": 1, "delta": "1e-6", **options})


def test_options_are_recorded_as_they_were_typed_and_defaults_are_not() -> None:
    request = parse(source="a b.csv", where="age > 17 and a = 'b'", k=3, level="0.9", note="weekly")
    assert request.about == """top 'a b.csv' --where 'age > 17 and a = '"'"'b'"'"'' --by x -k 3 --delta 1e-6"""
    facts = identity_of(parse(source="v.csv", unit=None, most_items=None, k=10))
    assert [*facts] == ["version", "question", "table", "options"]
    assert (facts["question"], facts["options"]) == ("top", {"by": ["x"], "delta": "1/1000000", "discover": ["x"]})
    several = parse(source=["a.csv", "postgresql://anna:hunter2@h/d"], bin=("age", "10"))
    assert "hunter2" not in json.dumps(identity_of(several))
    assert several.about == "top a.csv postgresql://anna@h/d --bin age 10 --by x --by age --delta 1e-6"


def test_a_ledger_inside_a_data_file_is_refused(clinic: Path, capsys: Any) -> None:
    with sqlite3.connect("visits.db") as connection:
        connection.execute("create table visits (patient, diagnosis)")
    connection.close()
    before = Path("visits.db").read_bytes()
    with pytest.raises(lb.LedgerError, match="holds other tables and no ledger"):
        lb.Ledger("visits.db").create("clinic", epsilon=1)
    for command in ("create x --epsilon 1", "show", "history x", "verify"):
        assert run(f"budget {command} --ledger visits.db") == 2
        assert "A ledger is a file of its own" in capsys.readouterr().err
    for ledger in ("visits.db", "./visits.db", "sqlite:///visits.db"):
        command = "top visits.db --unit patient --table visits --by diagnosis --domain diagnoses.txt -k 1 --epsilon 1"
        assert run(f"{command} --dataset clinic --ledger {ledger}") == 2
        assert "--ledger must be a file of its own: got the table itself" in capsys.readouterr().err
    assert Path("visits.db").read_bytes() == before
    command = "top budget.db --unit id --table lastbit_entries --by kind --domain diagnoses.txt -k 1 --epsilon 1"
    assert run(f"{command} {PAID}") == 2
    assert "got the table itself" in capsys.readouterr().err
    assert run(command) == 0  # a table like any other, where nothing is charged to it
    for name in ("visits.csv", "diagnoses.txt"):
        assert run(f"budget create x --epsilon 1 --ledger {name}") == 2
        assert "it is no SQLite file" in capsys.readouterr().err


def test_json_says_of_its_numbers_what_the_table_says(clinic: Path, capsys: Any) -> None:
    """Which rows count, and what an interval means, are part of an answer in JSON too; its account has other keys."""
    asked = "mean visits.csv --of cost --unit patient --bounds 0 100 --epsilon 1 --ledger budget.db --dataset clinic"
    assert run(asked) == 0
    table = " ".join(capsys.readouterr().out.split())
    assert run(f"{asked} --json --reuse") == 0  # the same release, so the same words
    notes = json.loads(capsys.readouterr().out)["notes"]
    assert "Text in cost that is no number is missing." in notes
    assert not any("left (epsilon)" in note for note in notes)
    assert run(f"{asked} --json --dry-run") == 0
    assert "Text in cost that is no number is missing." in json.loads(capsys.readouterr().out)["notes"]
    assert all(" ".join(each.split()) in table for each in notes)
