"""Sums of weights by the command: exact, bounded, and promised the same by plan, dry run and release."""

from __future__ import annotations

import csv
import json
import shlex
import sqlite3
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit import cli
from lastbit.data.weights import Weights
from lastbit.questions.item_options import ItemOptions
from lastbit.questions.report import format_bound
from tests.table_readers import count_rows, make_items, make_rows

ROWS = [("a", "flu", "2.75"), ("a", "flu", "2.75"), ("a", "flu", "9"), ("b", "flu", "x"), ("b", "cold", "-3"),
        ("c", "gout", "4"), ("", "flu", "4")]  # fmt: skip
TABLE = "--by item --unit unit --domain items.txt"
SUMS = f"{TABLE} --weights weight --bounds -2 10 --resolution 1/4"


def run(command: str) -> int:
    return cli._run(shlex.split(command), debug=False)


@pytest.fixture
def sums(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """rows.csv and rows.db, the same rows with two that are alike; the sums are 10 for flu, -2 for cold, 4 for gout."""
    monkeypatch.chdir(tmp_path)
    with Path("rows.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("unit", "item", "weight"), *ROWS])
    connection = sqlite3.connect("rows.db")
    connection.execute("create table rows (unit text, item text, weight real)")
    values = [(unit or None, item, None if weight == "x" else float(weight)) for unit, item, weight in ROWS]
    connection.executemany("insert into rows values (?, ?, ?)", values)
    connection.commit()
    connection.close()
    Path("items.txt").write_text("cold\nflu\ngout\n", encoding="utf-8")
    lb.Ledger("budget.db").create("clinic", epsilon=10**6)


@pytest.mark.usefixtures("sums")
@pytest.mark.parametrize(("place", "table"), [("rows.csv", None), ("rows.db", "rows")])
def test_sums_are_exact(place: str, table: str | None) -> None:
    items = make_items(by=["item"], domain=["items.txt"], weights="weight", bounds=("-2", "10"), resolution="1/4")
    counts = count_rows(make_rows(source=place, unit="unit", table=table), items)
    assert counts.values == (-2, 10, 4)
    assert (counts.sensitivity, counts.monotone) == (10, False)
    rows = count_rows(make_rows(source=place, table=table), replace(items, bounds=("0", "3")))
    assert rows.values == (0, 2 * Fraction("2.75") + 3 + 3, 3)
    lowest = count_rows(make_rows(source=place, unit="unit", table=table), replace(items, missing="lowest"))
    assert lowest.values == (-2, 8, 4)


@pytest.mark.usefixtures("sums")
@pytest.mark.parametrize("place", ["rows.csv", "rows.db --table rows"])
def test_sums_are_right_when_epsilon_is_large(place: str, capsys: Any) -> None:
    assert run(f"top {place} {SUMS} -k 3 --epsilon 2000 --json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["item"] == ["flu", "gout", "cold"]
    assert (answer["weights"], answer["bounds"]) == ("weight", [-2, 10])
    assert run(f"above {place} {SUMS} --threshold 3 --limit 2 --epsilon 2000 --json") == 0
    assert json.loads(capsys.readouterr().out)["item"] == ["flu", "gout"]
    assert run(f"choose {place} {SUMS} --epsilon 2000 --json") == 0
    assert json.loads(capsys.readouterr().out)["outcome"] == ["flu"]


@pytest.mark.usefixtures("sums")
@pytest.mark.parametrize(("bounds", "monotone"), [("0 10", "True"), ("-2 10", "False"), ("-10 0", "True")])
def test_plan_dry_run_release_and_history_agree(bounds: str, monotone: str, capsys: Any) -> None:
    paid = f"top rows.csv {TABLE} --weights weight --bounds {bounds} -k 2 --epsilon 1 --ledger budget.db --json"
    assert run(f"plan -k 2 --items 3 --bounds {bounds} --epsilon 1 --json") == 0
    planned = json.loads(capsys.readouterr().out)
    assert run(f"{paid} --dataset clinic --dry-run") == 0
    dry = json.loads(capsys.readouterr().out)
    assert (dry["parameters"]["sensitivity"], dry["parameters"]["monotone"]) == ("10", monotone)
    assert run(f"{paid} --dataset clinic") == 0
    assert json.loads(capsys.readouterr().out)["within"] == planned["within"]
    assert lb.Ledger("budget.db").history("clinic")[-1].parameters == dry["parameters"]
    assert run(f"{paid.removesuffix(' --json')} --dataset clinic --dry-run") == 0
    within = format_bound(Fraction(planned["within"]), whole=False)
    assert f"no item left out has {within} more in weight than a listed item" in capsys.readouterr().out


EXAMPLES: dict[str, tuple[list[tuple[str, float]], str, dict[str, Fraction]]] = {
    # Rows of people, one each; the bounds; and the exact sums.
    "a thousand people with 0.9": ([("flu", 0.9)] * 1000, "0 4", {"flu": Fraction(900)}),
    "one has 500 more": (
        [("flu", 0.9)] * 1000 + [("cold", 1.0)] * 400,
        "0 1",
        {"flu": Fraction(900), "cold": Fraction(400)},
    ),
    "100,000 rows of 0.1": ([("flu", 0.1)] * 100_000, "0 1 --resolution 1/128", {"flu": Fraction(10_000)}),
}


@pytest.mark.parametrize("example", EXAMPLES)
def test_what_is_said_of_numbers_below_a_step_is_true(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    rows, bounds, exact = EXAMPLES[example]
    with Path("rows.csv").open("w", newline="", encoding="utf-8") as file:
        people = [(person, item, weight) for person, (item, weight) in enumerate(rows)]
        csv.writer(file).writerows([("unit", "item", "weight"), *people])
    Path("items.txt").write_text("cold\nflu\n", encoding="utf-8")
    table = f"rows.csv {TABLE} --weights weight --bounds {bounds} --epsilon 1 --level 0.999999999999 --json"
    for question in ("count", "measure -k 2"):
        assert run(f"{question} {table}") == 0
        answer = json.loads(capsys.readouterr().out)
        for item, (low, high) in zip(answer["item"], answer["interval"], strict=True):
            assert Fraction(low) <= exact.get(item, 0) <= Fraction(high)
    assert run(f"top -k 1 {table}") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["item"] == ["flu"]
    ((low, high),) = answer["true_gap"]
    assert Fraction(low) <= exact["flu"] - exact.get("cold", 0) <= Fraction(high)
    for unlisted in ("count --most-items 1", "top -k 1"):
        assert run(f"{unlisted} {table.replace('--domain items.txt', '--delta 1e-9')}") == 0
        answer = json.loads(capsys.readouterr().out)
        assert answer["item"][0] == "flu"
        for item, (low, high) in zip(answer["item"], answer.get("interval", []), strict=False):
            assert Fraction(low) <= exact[item] <= Fraction(high)


PROMISES = {
    "top": "top -k 2",
    "a set": "top -k 2 --set",
    "above": "above --threshold 3",
    "choose": "choose -k 2",
    "measure": "measure -k 2",
    "count": "count",
    "top of unlisted items": "top -k 2 --delta 1e-6",
    "choose of unlisted items": "choose -k 2 --delta 1e-6",
    "count of unlisted items": "count --most-items 1 --delta 1e-6",
}


@pytest.mark.usefixtures("sums")
@pytest.mark.parametrize("promise", PROMISES)
def test_a_promise_allows_for_what_flooring_takes_off(
    promise: str, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    table = TABLE.replace("--domain items.txt", "") if "--delta" in PROMISES[promise] else TABLE
    command = f"{PROMISES[promise]} rows.csv {table} --weights weight --bounds 0 10 --epsilon 1 --dry-run --json"
    within = []
    for _ in range(2):
        assert run(command) == 0
        within.append(Fraction(json.loads(capsys.readouterr().out)["within"]))
        monkeypatch.setattr(ItemOptions, "margin", Fraction(0))
    weights = Weights.of((0, 10), "1/32")
    assert within[0] - within[1] == weights.most_above * Fraction(1, 32) == Fraction(2, 32)


@pytest.mark.usefixtures("sums")
@pytest.mark.parametrize("resolution", ["1/10", "1/3", "3/2"])
def test_sums_of_numbers_that_are_not_whole_have_any_resolution(resolution: str) -> None:
    items = make_items(by=["item"], domain=["items.txt"], weights="weight", bounds=("-3", "6"), resolution=resolution)
    counts = count_rows(make_rows(source="rows.csv", unit="unit"), items)
    assert counts.values == (-3, 6, 4 // Fraction(resolution) * Fraction(resolution))
    assert counts.margin <= items.margin


@pytest.mark.parametrize("monotone", [True, False])
def test_the_epsilon_for_an_accuracy_of_sums(monotone: bool) -> None:
    moves: dict[str, Any] = {"sensitivity": Fraction(1000), "monotone": monotone}
    epsilon = lb.NoisyTopK.for_accuracy(20_000, 100, "0.95", k=5, resolution=1, **moves).epsilon

    def accuracy_at(by: Fraction) -> Fraction:
        return lb.NoisyTopK(k=5, epsilon=by, resolution=1, **moves).accuracy(100, "0.95")

    assert accuracy_at(epsilon) <= 20_000 < accuracy_at(epsilon * Fraction(99, 100))


WRONG = {
    "--weights weight": "--weights and --bounds must be given together",
    "--bounds 0 1": "--weights and --bounds must be given together",
    "--weights weight --bounds 5 1": "bounds must be a lower and an upper one: got 5 and 1",
    "--weights weight --bounds 0 x": "bounds must be a finite number",
    "--weights weight --bounds 0 1/2 --resolution 1": "resolution must divide bounds",
    "--weights item --bounds 0 1": "must be different columns",
    "--weights nobody --bounds 0 1": "there is no column 'nobody'",
}


@pytest.mark.usefixtures("sums")
@pytest.mark.parametrize("options", WRONG)
@pytest.mark.parametrize("command", ["top", "above --threshold 1", "choose", "measure"])
def test_wrong_weights_are_one_line_and_charge_nothing(command: str, options: str, capsys: Any) -> None:
    size = "-k 1 " if command in ("top", "measure") else ""
    paid = f"{size}--epsilon 1 --ledger budget.db --dataset clinic"
    assert run(f"{command} rows.csv {TABLE} {options} {paid}") == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert WRONG[options] in shown.err
    assert lb.Ledger("budget.db").account("clinic").spent == 0
