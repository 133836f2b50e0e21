"""A question as a command and in Python: both texts run, and ask the same question of the same account."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit.questions.identity import identity_of
from lastbit.questions.kinds import KINDS
from lastbit.questions.option import OWNER
from tests import processes

QUOTED = '"a, b"'
ROWS = "patient,diagnosis,cost,ward\n" + "".join(
    f"{place},{'flu' if place % 3 else QUOTED},{place},{place % 4}\n" for place in range(300)
)
ASKED: list[tuple[str, dict[str, Any]]] = [
    ("top", {"by": ["diagnosis"], "domain": ["flu", "a, b", "it's"], "k": 2}),
    ("top", {"by": ["diagnosis", "ward"], "domain": {"ward": "1..3", "diagnosis": ["flu", "a, b"]}, "k": 2}),
    ("top", {"by": ["diagnosis"], "delta": "1e-6", "k": 2}),
    ("quantile", {"of": "cost", "bounds": ("0", "1000"), "at": "0.25,0.5", "where": "cost >= 10"}),
    ("tables", {"by": ["diagnosis", "ward"], "domain": [["flu", "a, b"], ["0", "1", "2"]], "delta": "1e-6"}),
    (
        "tables",
        {
            "by": ["diagnosis", "ward"],
            "domain": {"ward": "0..3", "diagnosis": ["flu", "it's"]},
            "edges": {"cost": [0, 100, 200]},
            "tables": [["ward", "cost"], ["diagnosis"]],
            "weight": {("ward", "cost"): "5/2"},
            "delta": "1e-6",
        },
    ),
]


@pytest.mark.parametrize(("kind", "asked"), ASKED, ids=[f"{kind} {place}" for place, (kind, _) in enumerate(ASKED)])
def test_both_texts_run_and_ask_the_same(
    kind: str, asked: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("visits.csv").write_text(ROWS)
    ledger = lb.Ledger("budget.db")
    ledger.create("clinic", epsilon=3, delta="1e-3")
    asked = {**asked, "source": ["visits.csv"], "unit": "patient", "epsilon": "1/2"}
    request = KINDS[kind].parse({**asked, "ledger": "budget.db", "dataset": "clinic"})
    exec(request.python, {})
    *before, line = request.command.splitlines()
    for each in before:
        processes.run(["sh", "-c", each], check=True)
    monkeypatch.setattr(sys, "argv", shlex.split(line))
    from lastbit.cli import main

    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0, capsys.readouterr().err
    first, second = ledger.history("clinic")[1:]
    assert (first.question, first.mechanism, first.parameters) == (second.question, second.mechanism, second.parameters)
    assert first.question != ""
    assert first.published.columns().keys() == second.published.columns().keys()


def test_passwords_are_in_no_text() -> None:
    place = "postgresql://anna:hunter2@host/clinic"
    asked = {"source": place, "unit": "patient", "epsilon": 1, "ledger": place, "dataset": "x"}
    request = KINDS["count"].parse(asked)
    assert "hunter2" not in request.command + request.python + request.about
    assert "postgresql://anna@host/clinic" in request.command


def test_ask_refuses_what_is_for_the_command_only() -> None:
    with pytest.raises(lb.ParameterError, match="json is for the command"):
        lb.ask("count", "visits.csv", unit="patient", epsilon=1, json=True)
    with pytest.raises(lb.ParameterError, match="there is no question 'guess'"):
        lb.ask("guess", "visits.csv")


def test_nobody_who_asks_changes_what_the_owner_set() -> None:
    """Also where a face could set the option otherwise."""
    for face in ("service", "page", "python", "command"):
        asked = KINDS["top"].parse(
            {"source": "v.csv", "unit": "patient", "by": "item", "domain": ["a"], "k": 5, "epsilon": 1} if face in OWNER
            else {"by": "item", "domain": ["a"], "k": 5, "epsilon": 1},
            face,
            fixed={"k": 3, "level": "0.9"} if face in OWNER
            else {"k": 3, "level": "0.9", "source": "v.csv", "unit": "patient"},
        )  # fmt: skip
        assert (asked["k"], asked["level"]) == (3, "0.9")


def test_a_question_has_one_cost() -> None:
    asked: dict[str, Any] = {"source": "v.csv", "unit": "patient"}
    for costs in ({}, {"epsilon": 1, "rho": 1}, {"epsilon": 1, "within": 5}, {"rho": 1, "within": 5}):
        with pytest.raises(lb.ParameterError, match="exactly one of --epsilon, --rho and --within must be given"):
            _ = KINDS["count"].parse({**asked, **costs}).question
    assert KINDS["count"].parse({**asked, "rho": 1}).cost == {"rho": "1"}


def test_a_table_is_the_same_from_every_folder_and_through_every_link(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "v.csv").write_text("patient\n1\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "data" / "v.csv")
    (tmp_path / "folder").symlink_to(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    names = [
        "data/v.csv",
        str(tmp_path / "data/v.csv"),
        "./data/../data/v.csv",
        "link.csv",
        "folder/v.csv",
        "other.csv",
    ]
    *same, other = (
        identity_of(KINDS["count"].parse({"source": name, "unit": "patient", "epsilon": 1})) for name in names
    )
    assert all(each == same[0] for each in same)
    assert other != same[0]
