"""Items that nobody listed, from a shell."""

from __future__ import annotations

import json
import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import lastbit as lb
from lastbit import cli

SURE = "--epsilon 100 --delta 1e-6"


def run(command: str) -> int:
    return cli._run(shlex.split(command), debug=False)


@pytest.fixture
def terms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """900 people with flu, 500 with a cold and with the empty text, one with a name."""
    rows = [f"{person},flu" for person in range(900)] + [f"{person},cold" for person in range(500)]
    rows += [f'{person},""' for person in range(400)] + ["7,a rare name"]
    (tmp_path / "terms.csv").write_text("\n".join(["person,term", *rows]), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    lb.Ledger("budget.db").create("terms", epsilon=300, delta="1e-5")
    return tmp_path


@pytest.mark.parametrize("command", ["top", "choose"])
def test_the_common_items_are_found_and_the_rare_name_is_not(command: str, terms: Path, capsys: Any) -> None:
    assert run(f"{command} terms.csv --by term --unit person -k 4 {SURE} --json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["item"] == ["flu", "cold"]  # an empty field is null in a file
    assert answer["stopped"] is True
    assert run(f"{command} terms.csv --by term --unit person -k 4 {SURE}") == 0
    shown = capsys.readouterr().out
    assert "The search stopped" in shown
    assert "rare" not in shown


def test_a_histogram_of_items_that_nobody_listed_and_of_a_domain(terms: Path, capsys: Any) -> None:
    assert run(f"histogram terms.csv --by term --unit person --most-items 3 {SURE} --json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["item"] == ["flu", "cold"]
    Path("items.txt").write_text("cold\nflu\ngout\n", encoding="utf-8")
    for cost, most in (("--epsilon 500", ""), ("--epsilon 500", "--most-items 3"), ("--rho 100", "--most-items 3")):
        assert run(f"histogram terms.csv --by term --unit person --domain items.txt {cost} {most} --json") == 0
        answer = json.loads(capsys.readouterr().out)
        assert answer["item"] == ["cold", "flu", "gout"]
        for (low, high), true in zip(answer["interval"], (500, 900, 0), strict=True):
            assert Fraction(low) - 20 <= true <= Fraction(high) + 20


def test_without_units_a_row_is_in_one_item(terms: Path, capsys: Any) -> None:
    assert run(f"histogram terms.csv --unit row --by term {SURE} --json") == 0
    assert json.loads(capsys.readouterr().out)["item"] == ["flu", "cold"]
    words = lb.count(pd.read_csv("terms.csv"), by="term", domain=lb.UNKNOWN)
    assert lb.DiscoverHistogram.of(words, epsilon=100, delta="1e-6").release(words).items == ("flu", "cold")
    # Counts that were made before say nothing of persons: a bound must be stated.
    Path("made.csv").write_text("term,n\nflu,900\n", encoding="utf-8")
    assert run(f"histogram made.csv --by term --counts n --sensitivity 1 --monotone {SURE}") == 2
    assert "--most-items" in capsys.readouterr().err
    for command in ("top", "histogram"):
        assert run(f"{command} made.csv --by term --counts n --sensitivity 1 {SURE}") == 2
        assert "--monotone" in capsys.readouterr().err


def test_one_unit_counts_in_as_many_items_as_asked(terms: Path, capsys: Any) -> None:
    assert run("histogram terms.csv --by term --unit person --most-items 1 --epsilon 900 --delta 1e-6 --json") == 0
    answer = json.loads(capsys.readouterr().out)
    # Persons 0 to 399 have three items, one of them null; 400 to 499 two; each counts in one.
    assert 895 <= sum(answer["value"]) <= 906


def test_what_is_charged_is_epsilon_and_delta(terms: Path, capsys: Any) -> None:
    paid = "--ledger budget.db --dataset terms"
    assert run(f"top terms.csv --by term --unit person -k 2 {SURE} {paid} --json") == 0
    assert json.loads(capsys.readouterr().out)["item"] == ["flu", "cold"]
    account = lb.Ledger("budget.db").account("terms")
    assert account.spent_epsilon == 100
    assert 0 < account.spent_delta <= Fraction(1, 10**6)
    assert lb.Ledger("budget.db").verify("terms") == ()
    again = f"top terms.csv --by term --unit person -k 2 {SURE} {paid} --reuse --json"
    assert run(again) == 0
    assert json.loads(capsys.readouterr().out)["charged"] == 0


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("top terms.csv --by term --unit person --epsilon 1", "--delta 1e-6"),
        ("choose terms.csv --by term --unit person --epsilon 1", "--delta 1e-6"),
        ("histogram terms.csv --by term --unit person --epsilon 1 --delta 1e-6", "--most-items 10"),
        ("measure terms.csv --by term --unit person --epsilon 1", "--domain must be given"),
        ("above terms.csv --by term --unit person --epsilon 1 --threshold 5", "--domain must be given"),
        (
            "top terms.csv --by term --unit person --epsilon 1 --delta 1e-6 --domain 1..3",
            "Leave --delta or --domain out",
        ),
        ("plan -k 5 --epsilon 1", "--delta 1e-6"),
        ("top terms.csv --by term -k 1000001 --epsilon 1 --delta 1e-6", "then k must be at most 1,000,000"),
        ("histogram terms.csv --unit row --by term --epsilon 1 --delta 1e-6 --most-items 2", "most_items needs a unit"),
    ],
)
def test_what_is_missing_is_named(command: str, message: str, terms: Path, capsys: Any) -> None:
    assert run(command) == 2
    assert message in capsys.readouterr().err


def test_plan_says_what_an_item_needs(capsys: Any) -> None:
    assert run("plan -k 10 --rho 1/10 --delta 1e-6 --most-items 5 --json") == 0
    plan = json.loads(capsys.readouterr().out)
    assert set(plan["compared"]) - {"exact"} == {"choose -k 10", "histogram"}
    # In rho, a ranking needs fewer than a top-k with gaps.
    assert plan["compared"]["choose -k 10"] < plan["within"]
