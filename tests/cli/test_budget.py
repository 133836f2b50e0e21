"""The budget commands, and --reuse, as people and programs use them."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import shlex
import subprocess
import sys
from contextlib import chdir
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

import lastbit as lb
from lastbit import cli
from lastbit.questions.identity import identity_of
from lastbit.questions.kinds import KINDS
from tests import processes

FIELDS = (
    "id", "dataset", "kind", "time", "mechanism", "parameters", "cost", "amount", "note", "adjacency", "terms",
    "question", "question_digest", "about", "protects", "asker",
)  # fmt: skip
"""What the digest of an entry covers, after the digest before it."""

TABLE = "visits.csv --by diagnosis --unit patient --domain diagnoses.txt"
PAID = "--ledger budget.db --dataset clinic"


def run(command: str) -> int:
    return cli._run(shlex.split(command), debug=False)


def answer(command: str, capsys: Any) -> Any:
    assert run(f"{command} --json") == 0
    return json.loads(capsys.readouterr().out)


def test_accounts_in_three_currencies(clinic: Path, capsys: Any) -> None:
    made = answer("budget create school --ledger budget.db --rho 1/10", capsys)["account"]
    assert (made["currency"], made["limit"], made["left"]) == (
        "rho",
        0.1,
        {"rho": 0.1, "delta": 0, "exact": {"rho": "1/10", "delta": "0"}},
    )
    assert made["exact"]["rho_limit"] == "1/10"
    made = answer("budget create survey --ledger budget.db --epsilon 3 --delta 1e-6", capsys)["account"]
    assert (made["currency"], made["limit"], made["delta_limit"]) == ("epsilon and delta", 3, 1e-6)
    assert made["left"]["exact"]["delta"] == made["exact"]["delta_of_rho"] == "1/2000000"
    for command in ("create x --ledger budget.db", "create x --ledger budget.db --rho 1 --epsilon 1"):
        assert run(f"budget {command}") == 2
        assert "an account has a limit in epsilon or in rho" in capsys.readouterr().err
    assert run("budget raise school --ledger budget.db --rho 1/5") == 0
    assert capsys.readouterr().out == "school (rho 1/5): rho 1/5 left, and delta 0\n"
    assert run("budget raise survey --ledger budget.db --epsilon 9") == 2
    assert "cannot be raised" in capsys.readouterr().err
    assert run("budget show --ledger budget.db") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[2:8]] == [
        ["clinic", "epsilon"], ["school", "rho"], ["school", "delta"],
        ["survey", "epsilon"], ["survey", "rho"], ["survey", "delta"],
    ]  # fmt: skip
    assert "survey promises epsilon 3, delta 1/1000000 for all its releases together." in " ".join(lines)


def test_what_one_more_release_would_leave(clinic: Path, capsys: Any) -> None:
    answer("budget create survey --ledger budget.db --epsilon 3 --delta 1e-6", capsys)
    answer("budget create school --ledger budget.db --rho 1/10", capsys)

    def after(dataset: str, options: str) -> Any:
        return answer(f"budget show {dataset} --ledger budget.db {options}", capsys)["accounts"][0]["after"]

    left = {"epsilon": 2.5, "exact": {"epsilon": "5/2"}}
    assert after("clinic", "--after-epsilon 1/2") == {"allowed": True, "left": left}
    assert "allows no more than epsilon 3" in after("clinic", "--after-epsilon 4")["refusal"]
    assert "adds up epsilon alone" in after("clinic", "--after-rho 1/100")["refusal"]
    assert after("school", "--after-rho 1/50")["left"]["exact"] == {"rho": "2/25", "delta": "0"}
    left = after("survey", "--after-epsilon 1 --after-rho 1/8 --after-delta 1e-7")["left"]["exact"]
    rho = lb.Account.with_limit("x", epsilon=3, delta="1e-6").rho_limit
    assert left == {"epsilon": "2", "rho": str(rho - Fraction(1, 8)) if rho else "", "delta": "1/2500000"}
    assert not after("survey", "--after-rho 1/5")["allowed"]
    assert run("budget show --ledger budget.db --after-rho 1/5") == 0
    assert capsys.readouterr().out.count("refused") == 1 + 2 + 3
    assert run("budget show --ledger budget.db --after-delta 1e-7") == 2
    assert "--after-delta goes with" in capsys.readouterr().err
    assert lb.Ledger("budget.db").account("survey").spent_rho == 0


def test_releases_are_paid_in_each_currency(clinic: Path, capsys: Any) -> None:
    answer("budget create survey --ledger budget.db --epsilon 1 --delta 1e-3", capsys)
    answer("budget create school --ledger budget.db --rho 1/10 --adjacency replace", capsys)
    done = answer(f"choose {TABLE} -k 3 --rho 1/100 --ledger budget.db --dataset survey", capsys)
    assert Fraction(done["account"]["exact"]["spent_rho"]) <= Fraction(1, 100)
    done = answer(f"choose {TABLE} -k 3 --rho 1/100 --ledger budget.db --dataset school", capsys)
    assert done["charged"] == done["account"]["spent"]
    assert run(f"choose {TABLE} -k 3 --rho 1/100 --ledger budget.db --dataset school") == 0
    assert "school is charged" in capsys.readouterr().out
    assert run(f"top {TABLE} -k 3 --epsilon 5 --ledger budget.db --dataset survey") == 3
    assert "the budget of 'survey' allows no more than rho" in capsys.readouterr().err
    assert run("budget history survey --ledger budget.db") == 0
    assert "epsilon 1, delta 1/1000" in capsys.readouterr().out
    assert run("budget show survey --ledger budget.db") == 0
    assert "the promise is the limit, and not this sum" in capsys.readouterr().out
    assert run("budget verify --ledger budget.db") == 0


REUSED = [
    f"top {TABLE} -k 2 --epsilon 1",
    f"top {TABLE} -k 2 --epsilon 1 --weights cost --bounds 0 1000",
    f"above {TABLE} --threshold 60 --epsilon 1",
    f"choose {TABLE} -k 2 --epsilon 1",
    f"measure {TABLE} -k 2 --epsilon 1",
    "mean visits.csv --of cost --unit patient --bounds 0 1000 --epsilon 1",
]


@pytest.mark.parametrize("command", REUSED)
def test_every_release_is_shown_again_for_nothing(command: str, clinic: Path, capsys: Any) -> None:
    first = answer(f"{command} {PAID}", capsys)
    Path("visits.csv").unlink()  # nothing is read
    again = answer(f"{command} {PAID} --reuse", capsys)
    assert (again["charged"], first["charged"]) == (0, 1)
    assert again.pop("reused")["entry"] == 2
    again["charged"], again["exact"]["charged"] = 1, "1"
    assert again == first
    assert run(f"{command} {PAID} --reuse --level 0.9") == 0
    shown = capsys.readouterr().out
    assert "From the books: this answer was released on 20" in shown
    assert "nothing was charged" in shown
    assert run(f"{command} {PAID} --reuse --dry-run") == 0
    assert "with --reuse it costs nothing" in capsys.readouterr().out
    assert run(f"{command} {PAID}") == 2  # without --reuse the table is wanted
    capsys.readouterr()
    assert len(lb.Ledger("budget.db").history("clinic")) == 2


@pytest.mark.parametrize(
    "other",
    [
        f"top {TABLE} -k 3 --epsilon 1/2",
        f"top {TABLE} -k 2 --epsilon 1/3",
        f"top {TABLE} -k 2 --epsilon 1/2 --resolution 1/2",
        "top visits.csv --unit row --by diagnosis --domain diagnoses.txt -k 2 --epsilon 1/2",
        "top copy/visits.csv --by diagnosis --unit patient --domain diagnoses.txt -k 2 --epsilon 1/2",
        "top hard.csv --by diagnosis --unit patient --domain diagnoses.txt -k 2 --epsilon 1/2",
        "top visits.csv copy/visits.csv --by diagnosis --unit patient --domain diagnoses.txt -k 2 --epsilon 1/2",
        "top visits.csv --by diagnosis --unit patient --domain fewer.txt -k 2 --epsilon 1/2",
        f"measure {TABLE} -k 2 --epsilon 1/2",
        f"top {TABLE} -k 2 --epsilon 1/2 --weights cost --bounds 0 1000",
    ],
)
def test_another_question_is_charged(other: str, clinic: Path, capsys: Any) -> None:
    Path("fewer.txt").write_text("influenza\ncommon cold\n")
    Path("copy").mkdir()
    Path("copy/visits.csv").write_text(Path("visits.csv").read_text())
    Path("hard.csv").hardlink_to("visits.csv")
    answer(f"top {TABLE} -k 2 --epsilon 1/2 {PAID}", capsys)
    assert "reused" not in answer(f"{other} {PAID} --reuse --new-table", capsys)
    assert len(lb.Ledger("budget.db").history("clinic")) == 3
    # Under another name the same items are the same domain.
    Path("same.txt").write_text(Path("diagnoses.txt").read_text() + "\n")
    same = "top visits.csv --by diagnosis --unit patient --domain same.txt -k 2 --epsilon 1/2"
    assert answer(f"{same} {PAID} --reuse --note other", capsys)["reused"]["entry"] == 2


def test_a_file_is_the_same_by_every_path(clinic: Path, capsys: Any) -> None:
    Path("folder").mkdir()
    Path("link.csv").symlink_to("visits.csv")
    Path("elsewhere").symlink_to(".")
    command = "top {} --by diagnosis --unit patient --domain diagnoses.txt -k 2 --epsilon 1/2"
    assert "reused" not in answer(f"{command.format('./link.csv')} {PAID} --reuse", capsys)
    full = str(Path("visits.csv").resolve())
    for other in ("visits.csv", "./visits.csv", "folder/../visits.csv", "elsewhere/visits.csv", full, "link.csv"):
        assert answer(f"{command.format(other)} {PAID} --reuse", capsys)["reused"]["entry"] == 2
    with chdir("folder"):
        paid, list_ = PAID.replace("budget.db", "../budget.db"), "--domain ../diagnoses.txt"
        there = command.format("../visits.csv").replace("--domain diagnoses.txt", list_)
        assert answer(f"{there} {paid} --reuse", capsys)["reused"]["entry"] == 2
        # The same words, and another file.
        Path("visits.csv").write_text(Path("../visits.csv").read_text())
        here = command.format("visits.csv").replace("--domain diagnoses.txt", list_)
        assert "reused" not in answer(f"{here} {paid} --reuse --new-table", capsys)
    # A link that leads elsewhere now is another file by the same words.
    Path("link.csv").unlink()
    Path("link.csv").symlink_to("other.csv")
    Path("other.csv").write_text(Path("visits.csv").read_text())
    assert "reused" not in answer(f"{command.format('./link.csv')} {PAID} --reuse --new-table", capsys)
    # Only what was typed is shown and kept, besides the digest of the path.
    first = lb.Ledger("budget.db").history("clinic")[1]
    assert first.about.startswith("top ./link.csv --unit patient --by diagnosis")
    assert str(Path.cwd()) not in first.question
    assert "visits.csv" not in first.question


def test_another_column_of_the_same_file_is_another_question(clinic: Path, capsys: Any) -> None:
    options = "--unit patient --domain diagnoses.txt -k 2 --epsilon 1/2"
    answer(f"top visits.csv --by diagnosis {options} {PAID}", capsys)
    assert "reused" not in answer(f"top ./visits.csv --by date {options} {PAID} --reuse", capsys)


def test_a_budget_that_is_spent_still_answers_what_it_answered(clinic: Path, capsys: Any) -> None:
    first = answer(f"top {TABLE} -k 2 --epsilon 3 {PAID}", capsys)
    assert run(f"top {TABLE} -k 2 --epsilon 3 {PAID}") == 3
    capsys.readouterr()
    assert answer(f"top {TABLE} -k 2 --epsilon 3 {PAID} --reuse", capsys)["item"] == first["item"]
    assert run(f"top {TABLE} -k 2 --epsilon 3 --reuse") == 2
    assert "--reuse looks for the release in a ledger" in capsys.readouterr().err


def identity_text(source: str) -> str:
    request = KINDS["top"].parse({"source": source, "by": "item", "delta": "1e-6", "epsilon": 1})
    return json.dumps(identity_of(request))


@pytest.mark.parametrize("password", ["a@b", "a/b"])
def test_an_address_that_cannot_be_understood_is_no_question(password: str) -> None:
    """Many addresses would have one public form, and one answer."""
    with pytest.raises(lb.ParameterError, match="an address must look like postgresql://user@host/database") as caught:
        identity_text(f"postgresql://anna:{password}@host/clinic")
    assert "anna" not in str(caught.value)


@pytest.mark.parametrize("password", ["hunter2", "pa%23ss", "p?q"])
def test_no_password_is_in_the_question(password: str) -> None:
    question = identity_text(f"postgresql://anna:{password}@host/clinic?sslpassword={password}&host=/run")
    assert password not in question
    assert "clinic" in question
    assert "/run" in question


def test_other_tables_behind_like_addresses_are_other_questions() -> None:
    sources = [
        "postgresql://anna:secret@one/clinic",
        "postgresql://anna:secret@two/clinic",
        "postgresql://anna:secret@one/school",
        "postgresql://anna@/",
        "postgresql://bob@/",
        "postgresql://one/clinic?options=-csearch_path%3Dyear2025",
        "postgresql://one/clinic?options=-csearch_path%3Dyear2026",
        "postgresql://one/clinic?hostaddr=10.0.0.1",
    ]
    assert len({identity_text(source) for source in sources}) == len(sources)
    assert identity_text("postgresql://anna:one@h/db") == identity_text("postgresql://anna:two@h/db")


def test_every_argument_of_a_question_counts(clinic: Path, capsys: Any) -> None:
    con = duckdb.connect("visits.duckdb")
    for name in ("a", "b"):
        con.execute(f"CREATE TABLE {name} AS SELECT * FROM read_csv('visits.csv')")
    con.close()
    base = "choose visits.duckdb --table a --by diagnosis --unit patient --domain diagnoses.txt --epsilon 1/10"
    assert answer(f"{base} -k 2 {PAID}", capsys)["exact"]["charged"] == "1/10"
    assert answer(f"{base} -k 2 {PAID} --reuse", capsys)["charged"] == 0
    others = [
        f"{base} -k 3",
        f"{base.replace('--table a', '--table b')} -k 2",
        f"{base} -k 2 --weights cost --bounds 0 1",
    ]
    for other in others:
        assert answer(f"{other} {PAID} --reuse", capsys)["exact"]["charged"] == "1/10"


def test_the_history_keeps_the_limit_of_the_day(clinic: Path, capsys: Any) -> None:
    assert run("budget create school --ledger budget.db --rho 1/10 --delta 1e-6") == 0
    assert run("budget raise school --ledger budget.db --rho 1/5") == 0
    capsys.readouterr()
    assert run("budget history school --ledger budget.db") == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("create" in line and "rho 1/10" in line for line in lines)
    assert any("raise" in line and "rho 1/5" in line for line in lines)


def test_the_history_shows_a_release_again(clinic: Path, capsys: Any) -> None:
    first = answer(f"measure {TABLE} -k 2 --epsilon 1 {PAID}", capsys)
    shown = answer("budget history clinic --ledger budget.db --release 2", capsys)
    assert {name: shown[name] for name in ("mechanism", "cost", "item", "measurement")} == {
        name: first[name] for name in ("mechanism", "cost", "item", "measurement")
    }
    assert run("budget history clinic --ledger budget.db --release 2") == 0
    text = capsys.readouterr().out
    assert first["item"][0] in text
    assert "From the books: released on 20" in text
    for wrong, message in (("1", "entry 1 has no published release"), ("9", "has no entry 9")):
        assert run(f"budget history clinic --ledger budget.db --release {wrong}") == 2
        assert message in capsys.readouterr().err
    listed = answer("budget history clinic --ledger budget.db", capsys)["history"]
    assert [each["published"] for each in listed] == [False, True]
    assert json.loads(listed[1]["question"])["options"]["by"] == ["diagnosis"]
    lb.Ledger("budget.db").create("school", epsilon=1)
    assert run("budget history school --ledger budget.db --release 2") == 2


@pytest.mark.parametrize("how", ["closed pipe", "full disk"])
def test_a_release_that_the_screen_loses_is_in_the_books(how: str, clinic: Path, capsys: Any) -> None:
    words = [sys.executable, "-m", "lastbit.cli", *shlex.split(f"top {TABLE} -k 2 --epsilon 1 {PAID} --json")]
    if how == "full disk":
        with open("/dev/full", "w") as full:
            done = processes.run(words, stdout=full, stderr=subprocess.PIPE)
        code = done.returncode
    else:
        program = processes.start(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert program.stdout is not None
        program.stdout.close()
        assert program.stderr is not None
        program.stderr.read()
        program.stderr.close()
        code = program.wait()
    assert code != 0
    again = answer("budget history clinic --ledger budget.db --release 2", capsys)
    assert len(again["item"]) == 2
    assert lb.Ledger("budget.db").account("clinic").spent == 1
    assert answer(f"top {TABLE} -k 2 --epsilon 1 {PAID} --reuse", capsys)["item"] == again["item"]


def test_the_whole_books_are_exported(clinic: Path, capsys: Any) -> None:
    answer(f"top {TABLE} -k 2 --epsilon 1 {PAID} --note 'a, \"b\"'", capsys)
    answer(f"choose {TABLE} -k 2 --epsilon 1/100 {PAID}", capsys)
    assert run("budget export clinic --ledger budget.db --format json") == 0
    books = json.loads(capsys.readouterr().out)
    assert run("budget export clinic --ledger budget.db --format csv") == 0
    lines = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [
        {name: "" if value is None else str(value) for name, value in entry.items()} for entry in books["entries"]
    ] == lines
    assert books["account"]["digest"] == lb.Ledger("budget.db").account("clinic").digest
    before = ""
    for entry in books["entries"]:  # what is exported is enough to compute every digest again
        written = json.dumps([before, *(entry[name] for name in FIELDS)])
        before = hashlib.sha256(written.encode()).hexdigest()
        assert entry["digest"] == before
    assert json.loads(books["entries"][1]["published"])["shown"]["mechanism"] == "NoisyTopK"
    assert run("budget export clinic --ledger budget.db --format xml") == 2
    assert "--format must be csv or json" in capsys.readouterr().err
    assert run("budget export nobody --ledger budget.db") == 2
