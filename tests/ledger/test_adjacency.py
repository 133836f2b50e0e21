"""Accounts for one notion of neighbours: what a release for the other notion costs there, or why it is refused."""

from __future__ import annotations

import json
import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lastbit as lb
from lastbit import cli
from lastbit.audit import judge

RECORDS = np.array([1, 2, 6])
BOUNDS: Any = (0, 10)
OTHERS = {"add-remove": "replace", "replace": "add-remove"}

VALUES = {
    "sum": lb.exact_sum(RECORDS, bounds=BOUNDS),
    "histogram": lb.histogram(RECORDS, bounds=BOUNDS, bins=2),
    "mean sums": lb.mean_sums(RECORDS, bounds=BOUNDS),
    "counts": lb.Counts(items="ab", values=[1, 2]),
    "replaced counts": lb.Counts(items="ab", values=[1, 2], adjacency="replace"),
    "sum of replaced": lb.exact_sum(RECORDS, bounds=BOUNDS, replaces=True),
    "histogram of replaced": lb.histogram(RECORDS, bounds=BOUNDS, bins=2, replaces=True),
    "mean": lb.exact_mean(RECORDS, bounds=BOUNDS),
    "variance": lb.exact_variance(RECORDS, bounds=BOUNDS),
}


def mechanism_for(values: Any) -> Any:
    if values is VALUES["mean sums"]:
        return lb.NoisyMean(epsilon="1/5", bounds=BOUNDS)
    return lb.DiscreteLaplace.of(values, epsilon="1/5")


def books_with(place: str, adjacency: Any) -> lb.Ledger:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=3, adjacency=adjacency)
    return ledger


def test_an_account_adds_up_for_people_who_come_or_go_unless_told_otherwise(place: str) -> None:
    ledger = lb.Ledger(place)
    assert ledger.create("clinic", epsilon=3).adjacency == "add-remove"
    assert ledger.create("survey", epsilon=3, adjacency="replace").adjacency == "replace"
    assert [account.adjacency for account in ledger.accounts()] == ["add-remove", "replace"]
    assert [ledger.history(name)[0].adjacency for name in ("clinic", "survey")] == ["add-remove", "replace"]
    assert ledger.raise_limit("survey", epsilon=4).adjacency == "replace"
    with pytest.raises(lb.ParameterError, match="adjacency must be"):
        ledger.create("school", epsilon=3, adjacency="swap")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", VALUES)
def test_values_of_the_accounts_own_notion_cost_what_the_mechanism_says(name: str, tmp_path: Path) -> None:
    values = VALUES[name]
    ledger = books_with(str(tmp_path / "budget.db"), values.adjacency)
    ledger.release("clinic", mechanism_for(values), values)
    assert ledger.account("clinic").spent == Fraction(1, 5)
    assert ledger.history("clinic")[-1].adjacency == values.adjacency
    assert ledger.verify() == ()


@pytest.mark.parametrize("name", [name for name, values in VALUES.items() if values.adjacency == "add-remove"])
def test_a_release_for_add_remove_costs_twice_where_neighbours_replace(name: str, tmp_path: Path) -> None:
    ledger = books_with(str(tmp_path / "budget.db"), "replace")
    ledger.release("clinic", mechanism_for(VALUES[name]), VALUES[name])
    assert ledger.account("clinic").spent == Fraction(2, 5)
    entry = ledger.history("clinic")[-1]
    assert (entry.cost, entry.amount, entry.adjacency) == ("epsilon 1/5", Fraction(2, 5), "add-remove")
    assert ledger.verify() == ()


@pytest.mark.parametrize("name", [name for name, values in VALUES.items() if values.adjacency == "replace"])
def test_a_release_for_replace_is_refused_where_people_come_or_go(name: str, tmp_path: Path) -> None:
    ledger = books_with(str(tmp_path / "budget.db"), "add-remove")
    tape = lb.Tape([1, 2, 3])
    with pytest.raises(lb.LedgerError, match="as the number of records is public") as caught:
        ledger.release("clinic", mechanism_for(VALUES[name]), VALUES[name], draw=lb.Sampler(tape))
    assert "an account created with adjacency='replace'. Nothing was drawn and nothing was charged." in str(
        caught.value
    )
    assert not isinstance(caught.value, lb.BudgetExceeded)
    assert tape.consumed == 0
    assert ledger.account("clinic").spent == 0
    assert len(ledger.history("clinic")) == 1


def test_no_factor_bounds_what_a_replace_release_costs_when_a_person_comes() -> None:
    """Why it is refused: all records in [100, 101], so a replacement moves the sum by 1 and a newcomer by 100."""
    replaced = lb.exact_sum(np.array([100, 100]), bounds=(100, 101), replaces=True)
    more = lb.exact_sum(np.array([100, 100, 100]), bounds=(100, 101), replaces=True)
    mechanism = lb.DiscreteLaplace.of(replaced, eta=lb.Eta(1, 1, 1), bounds=(200, 300))
    one, other = (lb.audit.law(mechanism.program(values), "1/1000000") for values in (replaced, more))
    assert lb.audit.loss(one, other).lower > 10  # nats, where 1 bit is stated


def test_twice_is_what_a_replacement_really_costs() -> None:
    """A histogram, one person from the first bin to the second: the loss is exactly twice the stated cost."""
    before, after = (lb.histogram([each], bounds=(0, 2), bins=2) for each in (0, 1))
    none = lb.histogram([], bounds=(0, 2), bins=2)
    mechanism = lb.DiscreteLaplace.of(before, eta=lb.Eta(1, 1, 1), bounds=(0, 1))
    laws = [lb.audit.law(mechanism.program(each)) for each in (before, after, none)]
    account = lb.Account("survey", Fraction(9), Fraction(0), "replace")
    price = account.price(mechanism.cost, "add-remove")
    assert float(price) == 2 * lb.Eta(1, 1, 1).epsilon_upper
    tolerance = Fraction(1, 10**9)
    assert judge(price, laws[0], laws[1], tolerance).holds
    assert judge(price * Fraction(99, 100), laws[0], laws[1], tolerance).verdict == "violated"
    assert judge(mechanism.cost, laws[0], laws[2], tolerance).holds


@pytest.mark.parametrize("adjacency", OTHERS)
def test_bare_values_count_as_the_accounts_own_notion(adjacency: str, tmp_path: Path) -> None:
    ledger = books_with(str(tmp_path / "budget.db"), adjacency)
    ledger.release("clinic", lb.DiscreteLaplace(epsilon="1/5"), [1, 2])
    ledger.spend("clinic", lb.DiscreteLaplace(epsilon="1/5"), lambda draw: 1)
    ledger.charge("clinic", lb.DiscreteLaplace(epsilon="1/5"))
    ledger.start("clinic", lb.SparseVector(threshold=1, limit=1, epsilon="1/5"))
    assert [entry.amount for entry in ledger.history("clinic")[1:]] == [Fraction(1, 5)] * 4
    assert {entry.adjacency for entry in ledger.history("clinic")} == {adjacency}


def uses(ledger: lb.Ledger, mechanism: Any, adjacency: Any) -> list[Any]:
    """Every way to charge."""
    return [
        lambda: ledger.release("clinic", mechanism, [1, 2], adjacency=adjacency),
        lambda: ledger.spend("clinic", mechanism, mechanism.ready([1, 2]), adjacency=adjacency),
        lambda: ledger.charge("clinic", mechanism, adjacency=adjacency),
        lambda: ledger.start("clinic", mechanism, adjacency=adjacency),
    ]


def test_every_way_to_charge_takes_an_adjacency(tmp_path: Path) -> None:
    mechanism = lb.SparseVector(threshold=1, limit=1, epsilon="1/5")
    ledger = books_with(str(tmp_path / "replace.db"), "replace")
    for use in uses(ledger, mechanism, "add-remove"):
        use()
    charges = [entry for entry in ledger.history("clinic") if entry.kind == "charge"]
    assert [entry.amount for entry in charges] == [Fraction(2, 5)] * 4
    ledger = books_with(str(tmp_path / "add.db"), "add-remove")
    for use in uses(ledger, mechanism, "replace"):
        with pytest.raises(lb.LedgerError, match="the number of records is public"):
            use()
    for use in uses(ledger, mechanism, "swap"):
        with pytest.raises(lb.ParameterError, match="adjacency must be"):
            use()
    assert len(ledger.history("clinic")) == 1


def test_a_mechanism_for_monotone_values_costs_twice_where_neighbours_replace(tmp_path: Path) -> None:
    """One who replaces a record moves one value up and another down: bare values do not change what monotone means."""
    ledger = books_with(str(tmp_path / "budget.db"), "replace")
    mechanism = lb.SparseVector(threshold=1, limit=1, epsilon="1/5", monotone=True)
    for use in uses(ledger, mechanism, None):
        use()
    charges = [entry for entry in ledger.history("clinic") if entry.kind == "charge"]
    assert [entry.amount for entry in charges] == [Fraction(2, 5)] * 4
    for use in uses(ledger, mechanism, "replace"):
        with pytest.raises(lb.ParameterError, match="must mean the same neighbours"):
            use()
    assert len([entry for entry in ledger.history("clinic") if entry.kind == "charge"]) == 4


def test_values_and_the_argument_must_not_contradict_each_other(tmp_path: Path) -> None:
    for adjacency, other in OTHERS.items():
        ledger = books_with(str(tmp_path / f"{adjacency}.db"), "replace")
        counts = lb.Counts(items="ab", values=[1, 2], adjacency=adjacency)  # type: ignore[arg-type]
        with pytest.raises(lb.ParameterError, match="must mean the same neighbours"):
            ledger.release("clinic", lb.NoisyMax(epsilon=1), counts, adjacency=other)  # type: ignore[arg-type]
        with pytest.raises(lb.ParameterError, match="must mean the same neighbours"):
            ledger.release("clinic", lb.NoisyMax(epsilon=1), values=counts, adjacency=other)  # type: ignore[arg-type]
        assert ledger.account("clinic").spent == 0


def test_values_passed_by_name_are_seen_too(tmp_path: Path) -> None:
    ledger = books_with(str(tmp_path / "budget.db"), "replace")
    ledger.release("clinic", lb.NoisyMax(epsilon="1/5"), values=VALUES["counts"])
    assert ledger.account("clinic").spent == Fraction(2, 5)


def test_the_limit_is_that_of_the_price(tmp_path: Path) -> None:
    ledger = books_with(str(tmp_path / "budget.db"), "replace")
    with pytest.raises(lb.BudgetExceeded) as caught:
        ledger.release("clinic", lb.NoisyMax(epsilon="8/5"), VALUES["counts"])
    assert caught.value.requested == Fraction(16, 5)
    ledger.release("clinic", lb.NoisyMax(epsilon="3/2"), VALUES["counts"])
    assert ledger.account("clinic").remaining == 0


def run(command: str) -> int:
    return cli._run(shlex.split(command), debug=False)


def test_the_command_prints_what_is_charged(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("visits.csv").write_text("patient,diagnosis\n1,flu\n2,cold\n")
    Path("items.txt").write_text("flu\ncold\n")
    top = "top visits.csv --by diagnosis --unit patient --domain items.txt -k 1 --epsilon 1 --ledger budget.db"
    for name, adjacency in (("clinic", ""), ("survey", "--adjacency replace")):
        assert run(f"budget create {name} --ledger budget.db --epsilon 5 {adjacency}") == 0
        capsys.readouterr()
        sentence = f"{name} is charged 2 for epsilon 1: in this account neighbours replace a record"
        for dry in ("--dry-run", ""):
            assert run(f"{top} --dataset {name} {dry}") == 0
            assert (sentence in capsys.readouterr().out) == (name == "survey")
            assert run(f"{top} --dataset {name} {dry} --json") == 0
            assert json.loads(capsys.readouterr().out)["charged"] == (2 if name == "survey" else 1)
        assert run(f"budget history {name} --ledger budget.db") == 0
        assert ("epsilon 1, add-remove" in capsys.readouterr().out) == (name == "survey")
    assert run(f"{top} --dataset survey") == 3
    assert "requested 2, spent 4, limit 5" in capsys.readouterr().err
    assert run(f"{top} --dataset survey --dry-run --json") == 3
    assert json.loads(capsys.readouterr().out)["allowed"] is False
    assert run("budget show --ledger budget.db") == 0
    assert [line.split()[-1] for line in capsys.readouterr().out.splitlines()[2:]] == ["add-remove", "replace"]
    assert run("budget create x --ledger budget.db --epsilon 5 --adjacency swap") == 2
    assert "adjacency must be 'add-remove' or 'replace': got 'swap'" in capsys.readouterr().err
