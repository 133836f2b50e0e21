"""Budgets in words: so many more fit, exactly, and each of so many may cost so much, exactly."""

from __future__ import annotations

import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit import cli
from lastbit.errors import LedgerError, ParameterError
from lastbit.ledger import Account
from lastbit.questions.budget_words import count_more, describe_more, share_cost


@pytest.mark.parametrize("limit", [{"epsilon": 3}, {"rho": "1/10"}, {"epsilon": 3, "delta": "1e-6"}])
@pytest.mark.parametrize("cost", [lb.Cost.of("1/7"), lb.Cost.zcdp("1/300"), lb.Cost.of(4)])
def test_as_many_fit_as_are_said_and_not_one_more(limit: dict[str, Any], cost: lb.Cost) -> None:
    account = Account.with_limit("clinic", **limit)
    fits = count_more(account, cost)
    for _ in range(fits):
        account = account.charged(cost, "add-remove")
    with pytest.raises(LedgerError):
        account.charged(cost, "add-remove")
    assert describe_more(account, cost) == "No more like this fits."


def test_the_words_for_one_and_for_many() -> None:
    account = Account.with_limit("clinic", epsilon=3)
    assert describe_more(account, lb.Cost.of(2)) == "1 more like this fits."
    assert describe_more(account, lb.Cost.of("1/1000")) == "More than 1,000 more like this fit."


@pytest.mark.parametrize("times", [1, 3, 40])
@pytest.mark.parametrize("asked", [{"epsilon": "3"}, {"rho": "1/7"}, {"epsilon": "3", "delta": "1e-6"}])
def test_so_many_at_the_cost_of_each_fit_together(asked: dict[str, Any], times: int) -> None:
    for cost in share_cost(times, asked, None):
        account = Account.with_limit("clinic", **asked)
        price = lb.Cost.zcdp(cost["rho"]) if "rho" in cost else lb.Cost.of(cost["epsilon"])
        assert count_more(account, price) >= times
        (amount,), left = cost.values(), account.left[next(iter(cost))]
        assert Fraction(999, 1000) * left < Fraction(amount) * times <= left  # rounded down to four digits


def test_a_share_needs_something_to_share() -> None:
    for wrong in ({}, {"delta": "1e-6"}, {"epsilon": 1, "rho": 1}):
        with pytest.raises(ParameterError):
            share_cost(4, wrong, None)
    with pytest.raises(ParameterError, match="nothing is left"):
        share_cost(4, {}, Account.with_limit("clinic", epsilon=1).charged(lb.Cost.of(1), "add-remove"))


def test_an_answer_ends_with_how_many_more_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("v.csv").write_text("patient\n1\n2\n")
    assert cli._run(shlex.split("budget create c --ledger b.db --epsilon 3 --delta 1e-6"), debug=False) == 0
    assert cli._run(shlex.split("plan count --times 40 --ledger b.db --dataset c"), debug=False) == 0
    planned = capsys.readouterr().out
    assert "Each of 40 releases like this may cost rho 0.004393: all 40 together fit into what c has left." in planned
    assert "After it: 39 more like this fit." in planned
    command = "count v.csv --unit patient --rho 0.004393 --ledger b.db --dataset c"
    assert cli._run(shlex.split(command), debug=False) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "39 more like this fit.",
        "--methods --reuse prints the paragraph for a paper, for nothing.",
    ]
