"""An account adds up one promise: it remembers what its charges protect, and refuses what protects something else."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

import lastbit as lb
from lastbit.ledger import Identity
from lastbit.ledger.identity import name_combination

NOISE = lb.DiscreteLaplace(epsilon="1/4")
DAYS = name_combination(["user", "day"])


def ask(protects: str) -> Identity:
    return Identity({"version": 1, "of": protects}, protects=protects)


@pytest.mark.parametrize(
    ("first", "others"),
    [
        ("person", [DAYS]),
        ("row", [DAYS]),
        (DAYS, ["person", "row", name_combination(["user", "week"]), name_combination(["user", "day", "device"])]),
    ],
)
def test_another_promise_is_refused(place: str, first: str, others: list[str]) -> None:
    ledger = lb.Ledger(place)
    ledger.create("wiki", epsilon=3)
    ledger.charge("wiki", NOISE)  # nobody said what it protects
    assert ledger.account("wiki").protects == ""
    ledger.charge("wiki", NOISE, question=ask(first))
    own = "person" if first == "row" else first
    for program in (ledger, lb.Ledger(place)):
        assert program.account("wiki").protects == own
        for other in others:
            with pytest.raises(lb.LedgerError, match=r"adds up what is promised to .* create another account") as error:
                program.spend("wiki", NOISE, NOISE.ready([1]), question=ask(other))
            assert "Nothing was drawn and nothing was charged" in str(error.value)
    charged = ledger.charge("wiki", NOISE, question=ask(first)).account
    assert charged.spent * 4 == 3  # what was refused was not charged
    assert charged.protects == own
    assert ledger.raise_limit("wiki", epsilon=4).protects == own
    assert ledger.verify() == ()


def test_people_and_rows_are_one_promise(place: str) -> None:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=3)
    for protects in ("person", "row", "", "person"):
        ledger.charge("clinic", NOISE, question=ask(protects))
    assert [entry.protects for entry in ledger.history("clinic")] == ["", "person", "row", "", "person"]
    assert ledger.verify() == ()


def test_what_a_budget_is_too_small_for_leaves_no_promise(place: str) -> None:
    ledger = lb.Ledger(place)
    ledger.create("wiki", epsilon="1/8")
    with pytest.raises(lb.BudgetExceeded):
        ledger.charge("wiki", NOISE, question=ask(DAYS))
    assert ledger.account("wiki").protects == ""


def test_a_promise_that_was_changed_by_hand_is_noticed(place: str) -> None:
    ledger = lb.Ledger(place)
    ledger.create("wiki", epsilon=3)
    ledger.charge("wiki", NOISE, question=ask(DAYS))
    with ledger._store.transaction() as connection:
        connection.execute(sa.text("update lastbit_accounts set protects = 'person'"))
    assert any("differ in: protects. The entries say day and user" in problem for problem in ledger.verify())
    with pytest.raises(lb.LedgerError, match="damaged"):
        ledger.charge("wiki", NOISE, question=ask("person"))


def test_columns_have_one_name_in_any_order() -> None:
    assert name_combination(["day", "user"]) == DAYS == "day and user"
    assert name_combination(["a and b", "c"]) != name_combination(["a", "b and c"])
