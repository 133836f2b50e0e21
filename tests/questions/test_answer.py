"""From a question to a release: the budget first, then rows; the books answer only those who ask them to."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit.questions import reading


@pytest.fixture
def table(tmp_path: Path) -> str:
    rows = "".join(f"{index},{index % 90}\n" for index in range(300))
    (tmp_path / "visits.csv").write_text("patient,age\n" + rows)
    lb.Ledger(tmp_path / "budget.db").create("clinic", epsilon=1)
    return str(tmp_path / "visits.csv")


def count(table: str, **options: Any) -> Any:
    paid = {"ledger": str(Path(table).with_name("budget.db")), "dataset": "clinic", "unit": "patient"}
    return lb.ask("count", table, **paid, **options)


def test_a_budget_that_is_too_small_refuses_before_a_row_is_read(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse_to_read(*_: Any, **__: Any) -> None:
        raise AssertionError("a row was read")

    monkeypatch.setattr(reading, "open_table", refuse_to_read)
    with pytest.raises(lb.BudgetExceeded):
        count(table, epsilon=2)


def test_the_books_answer_only_who_asks_them_to_and_only_the_same_question(table: str) -> None:
    first, again = count(table, epsilon="1/8"), count(table, epsilon="1/8", reuse=True)
    assert again == first
    ledger = lb.Ledger(Path(table).with_name("budget.db"))
    spent = [ledger.account("clinic").spent]
    for more in ({}, {"where": "age < 40", "reuse": True}, {"where": "age < 41", "reuse": True}):
        count(table, epsilon="1/8", **more)
        spent.append(ledger.account("clinic").spent)
    assert spent == [Fraction(charges, 8) for charges in (1, 2, 3, 4)]


def test_a_ledger_that_is_the_table_is_refused(table: str) -> None:
    with pytest.raises(lb.ParameterError, match="a file of its own"):
        lb.ask("count", table, ledger=table, dataset="clinic", unit="patient", epsilon=1)
