"""The command as people and programs use it."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

import lastbit as lb
from lastbit import cli
from lastbit.cli.app import make_app
from lastbit.cli.catalog import GROUPS
from lastbit.questions.kinds import KINDS, WATCH
from lastbit.questions.summaries import SUMMARIES
from tests import processes

TOP = "top visits.csv --by diagnosis --unit patient --domain diagnoses.txt"
PLANS = ("describe", "top", "choose", "measure", "histogram", "count", "sum", "mean", "quantile", "tables", "watch")
COMMANDS = [
    "describe", "top", "above", "choose", "measure", "histogram", "count", "share", "sum", "mean", "median",
    "quantile", "tables", "watch", "completion", "compare",
    *(f"plan {kind}" for kind in PLANS),
    *(f"budget {each}" for each in ("create", "show", "history", "export", "verify", "raise")),
    *(f"token {each}" for each in ("create", "list", "withdraw")),
]  # fmt: skip


def run(command: str) -> int:
    return cli._run(shlex.split(command), debug=False)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_examples_and_they_run(
    command: str, clinic: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if command in ("token list", "token withdraw"):
        assert run("token create anna --tokens tokens.json") == 0
        capsys.readouterr()
    if command == "compare":
        for year in (2023, 2024):
            assert run("count visits.csv --unit patient --epsilon 1 --json") == 0
            Path(f"{year}.json").write_text(capsys.readouterr().out)
    assert run(f"{command} --help") == 0
    examples = re.findall(r"^ +lastbit (.+)$", capsys.readouterr().out, re.MULTILINE)
    assert examples
    for example in examples:
        assert example.startswith(command)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1\n2000\n")))
        assert run(example) == 0
        assert capsys.readouterr().out


def test_no_command_is_without_this_test(capsys: Any) -> None:
    assert run("--help") == 0
    listed = re.findall(r"^  (\w+)  +\S", capsys.readouterr().out.split("Commands:")[1].split("\n\n")[0], re.MULTILINE)
    assert set(listed) - {"audit", "columns", "serve", "publish", "verify"} == {
        command.split()[0] for command in COMMANDS
    }
    for group in ("budget", "token"):
        assert run(f"{group} --help") == 0
        listed = re.findall(r"^  (\w+)  +\S", capsys.readouterr().out.split("Commands:")[1], re.MULTILINE)
        assert {f"{group} {name}" for name in listed} == {each for each in COMMANDS if each.startswith(group)}


def test_top_finds_the_top_and_says_how_sure(clinic: Path, capsys: Any) -> None:
    assert run(f"{TOP} -k 3 --epsilon 100 --json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["item"] == ["influenza", "common cold", "hypertension"]
    for gap, ends in zip(answer["gap"], answer["true_gap"], strict=True):
        low, high = map(Fraction, ends)
        assert low < Fraction(gap) < high
    assert "account" not in answer
    assert run(f"{TOP} -k 18 --epsilon 100") == 0
    shown = capsys.readouterr()
    assert "influenza" in shown.out
    assert shown.err == "lastbit: no ledger was charged. To charge one, pass --ledger FILE --dataset NAME.\n"


def test_a_budget_is_spent_to_the_end_and_then_refuses(clinic: Path, capsys: Any) -> None:
    paid = f"{TOP} -k 2 --epsilon 1.5 --ledger budget.db --dataset clinic --json"
    for spent in (1.5, 3):
        assert run(paid) == 0
        assert json.loads(capsys.readouterr().out)["account"]["spent"] == spent
    assert run(paid) == 3
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "requested 3/2, spent 3, limit 3. Nothing was drawn and nothing was charged." in shown.err
    assert run("budget raise clinic --ledger budget.db --epsilon 5 --note more") == 0
    assert run(paid) == 0
    assert [entry.kind for entry in lb.Ledger("budget.db").history("clinic")][-2:] == ["raise", "charge"]


def test_a_dry_run_reads_no_row_and_spends_nothing(clinic: Path, capsys: Any) -> None:
    command = f"{TOP} -k 3 --epsilon 2 --ledger budget.db"
    assert run(f"{command} --dataset clinic --dry-run --json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["allowed"] is True
    assert answer["cost"] == "epsilon 2"
    assert run(f"{command} --dataset clinic --dry-run") == 0
    assert "No row was read and nothing was spent." in capsys.readouterr().out
    assert lb.Ledger("budget.db").account("clinic").spent == 0


def test_a_picture(clinic: Path) -> None:
    assert run(f"{TOP} -k 3 --epsilon 1 --plot top.png") == 0
    assert Path("top.png").read_bytes().startswith(b"\x89PNG")


def test_above_choose_measure_and_mean_are_right_when_epsilon_is_large(clinic: Path, capsys: Any) -> None:
    table = TOP.removeprefix("top ")
    assert run(f"above {table} --threshold 60 --limit 2 --numbers --epsilon 100 --json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["measurement"] == [low for low, _ in found["interval"]] == [round(each) for each in found["estimate"]]
    assert all(gap + 60 == value for gap, value in zip(found["gap"], found["measurement"], strict=True))
    assert run(f"above {table} --threshold 60 --limit 2 --epsilon 100 --json") == 0
    assert json.loads(capsys.readouterr().out)["item"] == ["influenza", "common cold"]
    assert run(f"choose {table} --epsilon 100 --json") == 0
    assert json.loads(capsys.readouterr().out)["outcome"] == ["influenza"]
    assert run(f"measure {table} -k 1 --epsilon 1000 --level 0.999999999 --json") == 0
    ((low, high),) = json.loads(capsys.readouterr().out)["interval"]
    rows = [line.split(",") for line in Path("visits.csv").read_text().splitlines()[1:]]
    truth = len({row[1] for row in rows if row[3] == "influenza" and row[1]})
    assert low <= truth <= high
    assert (
        run(
            "mean visits.csv --of cost --unit patient --per total --bounds 0 1000 --epsilon 1000 --level 0.999999999 "
            "--json"
        )
        == 0
    )
    answer = json.loads(capsys.readouterr().out)
    (low,), (high,) = answer["low"], answer["high"]
    totals: dict[str, int] = {}
    for row in rows:
        if row[1]:
            totals[row[1]] = totals.get(row[1], 0) + int(row[4])
    truth_mean = Fraction(sum(min(1000, total) for total in totals.values()), len(totals))
    assert Fraction(low) <= truth_mean <= Fraction(high)
    assert Fraction(high) - Fraction(low) < 5


WRONG: dict[str, tuple[str, str]] = {
    "unknown option": (f"{TOP} --eps 1", "No such option: --eps"),
    "unknown command": ("tap", "No such command 'tap'. Did you mean 'top'? See: lastbit --help\n"),
    "missing option": ("top visits.csv", "top needs --by COLUMN."),
    "no file": ("top no.csv --unit u --by a --domain diagnoses.txt --epsilon 1 -k 1", "there is no file no.csv"),
    "no column": (
        "top visits.csv --unit patient --by disease --domain diagnoses.txt --epsilon 1 -k 1",
        "there is no column 'disease': the table has visit, patient, date, diagnosis, cost.",
    ),
    "no domain": ("top visits.csv --by diagnosis --domain no.txt --epsilon 1 -k 1", "no.txt: No such file"),
    "epsilon": (f"{TOP} --epsilon 0 -k 1", "epsilon must be positive: got 0."),
    "a value left out": (f"{TOP} --epsilon --note", "--epsilon needs a value: got the option --note."),
    "one of two values": (
        "mean visits.csv --of cost --epsilon 1 --bounds 0",
        "Option '--bounds' requires 2 arguments. See: lastbit mean --help",
    ),
    "a folder": (
        "top . --unit u --by a --domain diagnoses.txt --epsilon 1 -k 1",
        ". is a folder. Name the files in it",
    ),
    "k": (f"{TOP} --epsilon 1 -k 19", "-k must be at most the number of items: got 19 of 18. Write -k 18, or less."),
    "level": (f"{TOP} --epsilon 1 -k 1 --level 95", "level must be above 0 and below 1: got 95."),
    "half a ledger": (f"{TOP} --epsilon 1 -k 1 --ledger budget.db", "--ledger and --dataset must be given together"),
    "no ledger": (f"{TOP} --epsilon 1 -k 1 --ledger no.db --dataset x", "there is no ledger at no.db"),
    "no account": (f"{TOP} --epsilon 1 -k 1 --ledger budget.db --dataset x", "there is no account named 'x'"),
    "kind": (
        "top diagnoses.txt --unit u --by a --domain diagnoses.txt --epsilon 1 -k 1",
        "must be CSV, TSV, Parquet, JSON",
    ),
    "no table": ("top budget.db --unit u --by a --domain diagnoses.txt --epsilon 1 -k 1", "with --table NAME"),
    "table": (f"{TOP} --epsilon 1 -k 1 --table x", "--table is for databases"),
    "shell": ("completion tcsh", "the shell must be one of bash, zsh, fish, powershell: got tcsh."),
    "bounds": ("mean visits.csv --of cost --bounds 5 5 --epsilon 1", "bounds must rise"),
    "serve": (
        "serve visits.csv --unit person --ledger budget.db --dataset clinic --no-open --port 0",
        "there is no column 'person': the table has visit, patient, date, diagnosis, cost.",
    ),
    "plan": ("plan -k 1 --items 5", "exactly one of --epsilon"),
    "plan without items": (
        "plan -k 1 --epsilon 1",
        "takes a --delta, such as --discover --delta 1e-6.",
    ),
    "plan too many": ("plan -k 9 --items 5 --epsilon 1", "-k must be at most the number of items: got 9 of 5."),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_one_line_and_exit_code_2(case: str, clinic: Path, capsys: Any) -> None:
    command, message = WRONG[case]
    assert run(command) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("lastbit: ")
    assert shown.err.count("\n") == 1
    assert message in shown.err


def test_an_unforeseen_error_shows_its_kind_only(clinic: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise KeyError("private")

    monkeypatch.setattr("lastbit.data.count.count", fails)
    assert run(f"{TOP} --epsilon 1") == 1
    assert capsys.readouterr().err == "lastbit: unexpected KeyError. Run the command again with --debug to see where.\n"


def test_an_error_names_the_column_that_was_asked_for(clinic: Path, capsys: Any) -> None:
    duckdb.sql("copy (select 1 as everyone, date '2026-05-01' as day) to 'days.parquet'")
    assert run("mean days.parquet --of day --unit everyone --bounds 0 1 --epsilon 1") == 2
    assert "the column 'day' holds dates" in capsys.readouterr().err
    # Whatever columns are called, those of our own have other names.
    duckdb.sql("copy (select 1 as Everyone, 5 as everyone_, 7 as amount) to 'names.parquet'")
    for of, unit in (("everyone_", "Everyone"), ("Everyone", "everyone_"), ("amount", "Everyone")):
        assert run(f"mean names.parquet --of {of} --unit {unit} --bounds 0 9 --epsilon 1") == 0
        assert capsys.readouterr().out.startswith(f"Mean {of} per person\n")


def test_the_tab_key_completes(tmp_path: Path) -> None:
    (tmp_path / "lastbit").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m lastbit "$@"\n')
    (tmp_path / "lastbit").chmod(0o755)
    script = """
eval "$(lastbit completion bash)"
for words in "lastbit wa" "lastbit budget r" "lastbit top --wei"; do
    COMP_WORDS=($words) COMP_CWORD=$(( $(set -- $words; echo $#) - 1 ))
    _lastbit_completion lastbit
    echo "${COMPREPLY[@]}"
done
"""
    done = processes.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        variables={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["watch", "raise", "--weights"]


def command_line(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return processes.run([sys.executable, *arguments], capture_output=True, text=True, **more)


def test_a_traceback_only_with_debug(tmp_path: Path) -> None:
    for debug in ([], ["--debug"]):
        done = command_line("-m", "lastbit.cli", "budget", "show", "--ledger", "no.db", *debug, cwd=tmp_path)
        assert ("Traceback" in done.stderr) == bool(debug)
        assert done.returncode == 2
        assert done.stderr.splitlines()[-1].startswith("lastbit: there is no ledger at no.db.")


def test_not_even_debug_quotes_a_row(clinic: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with duckdb.connect("visits.duckdb") as connection:
        connection.execute("create table raw as select * from (values ('1'), ('secret')) as t(name)")
        connection.execute("create view visits as select cast(name as integer) as diagnosis, 1 as patient from raw")
        with pytest.raises(duckdb.ConversionException, match="secret"):
            connection.execute("select diagnosis from visits").fetchall()
    Path("visits.json").write_text('[{"diagnosis": "flu", "patient": 1}, {"diagnosis": secret', encoding="utf-8")
    for file, options in (("visits.duckdb", "--table visits --domain 1..9"), ("visits.json", "--domain diagnoses.txt")):
        command = f"top {file} --by diagnosis --unit patient {options} -k 1 --epsilon 1"
        assert cli._run(shlex.split(command), debug=True) == 2
        shown = capsys.readouterr()
        assert "Traceback" in shown.err
        assert "secret" not in shown.out + shown.err

    private = bytes(reversed(b"terces")).decode()  # no line of code in a traceback spells it

    def fails(*_: Any, **__: Any) -> None:
        try:
            int(private)
        finally:
            raise KeyError(private)

    monkeypatch.setattr("lastbit.data.count.count", fails)
    assert cli._run(shlex.split(f"{TOP} --epsilon 1"), debug=True) == 1
    shown = capsys.readouterr()
    assert shown.err.count("Traceback") == 2
    assert shown.err.endswith("builtins.KeyError\nlastbit: unexpected KeyError.\n")
    assert private == "secret" not in shown.out + shown.err


HEAVY = ["duckdb", "narwhals", "sqlalchemy", "rich", "matplotlib", "pandas", "pyarrow", "polars", "pyspark"]


def test_help_loads_nothing_heavy() -> None:
    program = f"""
import sys
from lastbit import cli
assert cli._run(["--help"], debug=True) == 0 == cli._run(["top", "--help"], debug=True)
print([name for name in {HEAVY!r} if name in sys.modules])
"""
    assert command_line("-c", program).stdout.splitlines()[-1] == "[]"


def test_a_list_of_commands_and_a_small_table_load_what_they_need(clinic: Path) -> None:
    program = """
import sys
from lastbit import cli
def loaded(*names):
    return [name for name in names if name in sys.modules]
assert cli._run(["--help"], debug=True) == 0 == cli._run(["plan", "--help"], debug=True)
print(loaded("numpy", "gmpy2", "lastbit.questions.kinds", "lastbit.audit", "pydantic"))
asked = "count visits.csv --unit patient --by diagnosis --domain influenza,other --one-each --epsilon 1 --json"
assert cli._run(asked.split(), debug=True) == 0
print(loaded("pandas", "narwhals", "pydantic", "lastbit.audit", "lastbit.ledger", "matplotlib"))
"""
    printed = command_line("-c", program, cwd=clinic).stdout.splitlines()
    assert printed.count("[]") == 2


@pytest.mark.parametrize("group", ["", *GROUPS])
def test_a_list_of_commands_is_the_same_whether_they_are_loaded_or_not(group: str) -> None:
    arguments = [*group.split(), "--help"]
    shown = [CliRunner().invoke(app, arguments).output for app in (make_app(), make_app(load=False))]
    assert shown[0] == shown[1] != ""


def test_every_question_has_its_line_in_the_list() -> None:
    kinds = (*KINDS.values(), WATCH)
    assert {kind.name: kind.summary for kind in kinds} == SUMMARIES


def test_the_core_needs_no_extra_and_says_which_one_is_missing() -> None:
    program = f"""
import sys
for name in {HEAVY!r} + ["typer"]:
    sys.modules[name] = None
import lastbit as lb
for name in ("count", "Ledger"):
    try:
        getattr(lb, name)
    except lb.LastbitError as error:
        print(error)
sys.argv = ["lastbit", "top"]
from lastbit.cli import main
main()
"""
    done = command_line("-c", program)
    assert done.stdout.splitlines() == [
        "count needs narwhals. Install it with: pip install 'lastbit[data]'",
        "Ledger needs SQLAlchemy. Install it with: pip install 'lastbit[ledger]'",
    ]
    assert done.stderr == "lastbit: the command needs typer. Install it with: pip install 'lastbit[cli]'\n"
    assert done.returncode == 2
