"""What was charged cannot be changed afterwards without `verify` noticing."""

from __future__ import annotations

import hashlib
import json
import shlex
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
import sqlalchemy as sa

import lastbit as lb
from lastbit import cli
from lastbit.ledger import codec, store
from lastbit.ledger.price import Price, write_terms
from lastbit.ledger.tables import ENTRIES
from lastbit.privacy.cost import Cost
from tests.ledger.test_processes import Child
from tests.ledger.worker import spend

FIELDS = (
    "id", "dataset", "kind", "time", "mechanism", "parameters", "cost", "amount", "note", "adjacency", "terms",
    "question", "question_digest", "about", "protects", "asker",
)  # fmt: skip
"""What the digest of an entry covers, after the digest before it."""
SEALED = (
    "dataset", "budget", "spent", "adjacency", "digest", "rho_budget", "delta_budget", "delta_of_rho", "spent_rho",
    "spent_delta", "protects",
)  # fmt: skip
"""What the seal of an account covers."""


def laplace(epsilon: Any) -> lb.DiscreteLaplace:
    return lb.DiscreteLaplace(epsilon=epsilon)


def fill_ledger(place: Any) -> lb.Ledger:
    """Two accounts: clinic with the entries 1, 2, 4, 5, 6, and school with 3."""
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=1, note="2026")
    ledger.release("clinic", laplace("1/3"), [1], note="first")
    ledger.create("school", epsilon=5, adjacency="replace")
    ledger.release("clinic", laplace("1/7"), [1])
    ledger.raise_limit("clinic", epsilon=2)
    ledger.release("clinic", laplace("1/7"), [1], note="last")
    return ledger


def change(place: str, *statements: str) -> None:
    with store.Store(place).transaction() as connection:
        for statement in statements:
            connection.execute(sa.text(statement))


@pytest.fixture
def file(tmp_path: Path) -> str:
    """Where a new ledger may live. What is done by hand to its rows is the same on both databases: a file will do."""
    return str(tmp_path / "budget.db")


def test_books_that_nobody_touched_add_up(place: str) -> None:
    ledger = fill_ledger(place)
    assert ledger.verify() == ledger.verify("clinic") == ledger.verify("school") == ()
    assert lb.Ledger(place, verify=True).account("clinic").spent == Fraction(13, 21)
    with pytest.raises(lb.LedgerError, match="no account named 'nobody'"):
        ledger.verify("nobody")


def test_a_digest_covers_all_that_an_entry_says_and_the_digest_before(place: str) -> None:
    ledger = fill_ledger(place)
    # Every column is covered, but for the digest itself and what is filled in later.
    later = {"digest", "released", "published", "published_digest"}
    assert {*FIELDS} == {column.name for column in ENTRIES.columns} - later
    before = ""
    with store.Store(place).transaction() as connection:
        rows = connection.execute(sa.text("select * from lastbit_entries where dataset = 'clinic' order by id")).all()
    for row in rows:
        content = json.dumps([before, *(getattr(row, name) for name in FIELDS)])
        before = hashlib.sha256(content.encode()).hexdigest()
        assert row.digest == before
    assert before == ledger.account("clinic").digest == ledger.history("clinic")[-1].digest
    assert len(rows) == 5


CHANGED = {
    "amount": "1/30",
    "cost": "epsilon 1/30",
    "mechanism": "NoisyMax",
    "parameters": '{"epsilon": "1/30"}',
    "note": "second",
    "time": "2026-01-01T00:00:00+00:00",
    "kind": "raise",
    "adjacency": "replace",
    "terms": '{"delta": "0", "epsilon": "1/30", "rho": "1/1000"}',
    "question": '{"version": 1}',
    "question_digest": "0" * 64,
    "about": "something else",
    "protects": "row",
    "asker": "somebody",
    "dataset": "school",
    "digest": "0" * 64,
}


@pytest.mark.parametrize("column", CHANGED)
@pytest.mark.parametrize("entry", [2, 6])
def test_a_change_of_any_field_of_a_charge_is_noticed(file: str, column: str, entry: int) -> None:
    ledger = fill_ledger(file)
    change(file, f"update lastbit_entries set {column} = '{CHANGED[column]}' where id = {entry}")
    found = ledger.verify()
    assert found
    if column not in ("dataset", "digest"):
        assert any(f"entry {entry} of 'clinic' does not fit its digest" in each for each in found)
    with pytest.raises(lb.LedgerError, match=r"the books of the ledger do not add up: .* Nothing was drawn\."):
        lb.Ledger(file, verify=True)


def test_the_number_of_an_entry_cannot_change(place: str) -> None:
    ledger = fill_ledger(place)
    change(place, "update lastbit_entries set id = 70 where id = 6")
    assert "entry 70 of 'clinic' does not fit its digest" in ledger.verify("clinic")[0]


def test_when_a_release_was_done_is_not_covered_and_changes_no_sum(place: str) -> None:
    ledger = fill_ledger(place)
    change(place, "update lastbit_entries set released = null")
    assert ledger.verify() == ()


CONSISTENT = {
    "removed from the middle": "delete from lastbit_entries where id = 4",
    "removed from the end": "delete from lastbit_entries where id = 6",
    "made cheaper": "update lastbit_entries set amount = '0/1' where id = 6",
}


@pytest.mark.parametrize("statement", CONSISTENT.values(), ids=CONSISTENT)
def test_a_sum_that_was_changed_with_its_entry_is_noticed(file: str, statement: str) -> None:
    ledger = fill_ledger(file)
    change(file, statement, "update lastbit_accounts set spent = '10/21' where dataset = 'clinic'")
    assert ledger.verify("clinic")
    assert ledger.verify("school") == ()


@pytest.mark.parametrize(
    ("assignment", "what"),
    [
        ("spent = '0'", "spent"),
        ("spent = '619047619047619/1000000000000000'", "spent"),
        ("spent = 'much'", "spent"),
        ("budget = '9'", "limit"),
        ("budget = '1/0'", "limit"),
        ("adjacency = 'replace'", "adjacency"),
        ("spent_rho = '0'", "spent rho"),
        ("spent_delta = '1/10'", "spent delta"),
        ("rho_budget = '1'", "limit of rho"),
        ("delta_budget = '1/10'", "limit of delta"),
        ("delta_of_rho = '1/10'", "delta of rho"),
        ("digest = ''", "last digest"),
    ],
)
def test_an_account_must_be_what_its_entries_add_up_to(file: str, assignment: str, what: str) -> None:
    ledger = fill_ledger(file)
    change(file, f"update lastbit_accounts set {assignment} where dataset = 'clinic'")
    (problem,) = ledger.verify()
    assert problem.startswith(f"the account 'clinic' and its entries differ in: {what}.")


def rewrite_digests(place: str, dataset: str) -> None:
    """Rewrite all digests of an account, as somebody who knows how does."""
    with store.Store(place).transaction() as connection:
        before = ""
        query = "select * from lastbit_entries where dataset = :name order by id"
        for row in connection.execute(sa.text(query), {"name": dataset}).all():
            content = json.dumps([before, *(getattr(row, name) for name in FIELDS)])
            before = hashlib.sha256(content.encode()).hexdigest()
            again = None if row.published is None else codec.digest(before, row.published)
            connection.execute(
                sa.text("update lastbit_entries set digest = :d, published_digest = :p where id = :i"),
                {"d": before, "p": again, "i": row.id},
            )
        connection.execute(
            sa.text("update lastbit_accounts set digest = :d where dataset = :n"), {"d": before, "n": dataset}
        )
        (account,) = connection.execute(
            sa.text("select * from lastbit_accounts where dataset = :n"), {"n": dataset}
        ).all()
        sealed = hashlib.sha256(json.dumps([getattr(account, name) for name in SEALED]).encode()).hexdigest()
        connection.execute(
            sa.text("update lastbit_accounts set seal = :s where dataset = :n"), {"s": sealed, "n": dataset}
        )


def terms(epsilon: str) -> str:
    """What a charge of this epsilon takes, as the books write it."""
    price = Price.of(Cost.of(epsilon))
    return write_terms(epsilon=price.epsilon, rho=price.rho, delta=price.delta)


def test_only_a_digest_written_down_notices_books_that_were_rewritten_as_a_whole(place: str) -> None:
    ledger = fill_ledger(place)
    early, late = ledger.history("clinic")[1].digest, ledger.account("clinic").digest
    ledger.release("clinic", laplace("1/100"), [1])
    for expected in (early, late):
        assert ledger.verify("clinic", expected=expected) == ledger.verify(expected=expected) == ()
    assert len(ledger.verify("school", expected=early)) == 1
    change(place, f"update lastbit_entries set amount = '1/70', terms = '{terms('1/70')}' where id = 4")
    charges = [entry for entry in ledger.history("clinic") if entry.kind == "charge"]
    spent, rho = sum(entry.amount for entry in charges), sum(entry.rho or 0 for entry in charges)
    change(place, f"update lastbit_accounts set spent = '{spent}', spent_rho = '{rho}' where dataset = 'clinic'")
    rewrite_digests(place, "clinic")
    ledger.raise_limit("clinic", epsilon=3)
    assert ledger.verify() == ()
    assert ledger.verify("clinic", expected=early) == ()  # before the change
    assert ledger.verify("clinic", expected=late) == (
        f"no entry has the digest {late}: the entry that had it was changed or removed.",
    )


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        (
            f"update lastbit_entries set amount = '5', terms = '{terms('5')}' where id = 2",
            "goes over the limit: 5 of 1 were spent then",
        ),
        ("update lastbit_entries set amount = '5' where id = 2", "entry 2 of 'clinic' is none that lastbit writes"),
        (f"update lastbit_entries set terms = '{terms('1/30')}' where id = 2", "entry 2 of 'clinic' is none that"),
        ("update lastbit_entries set terms = '{}' where id = 2", "entry 2 of 'clinic' is none that lastbit writes"),
        ("update lastbit_entries set terms = '' where id = 2", "entry 2 of 'clinic' is none that lastbit writes"),
        ("update lastbit_entries set amount = '-1' where id = 2", "entry 2 of 'clinic' is none that lastbit writes"),
        ("update lastbit_entries set amount = 'x' where id = 2", "entry 2 of 'clinic' is none that lastbit writes"),
        ("update lastbit_entries set amount = '1/2' where id = 5", "entry 5 of 'clinic' is none that lastbit writes"),
        ("update lastbit_entries set kind = 'gift' where id = 2", "is none that lastbit writes: its kind is 'gift'"),
        ("update lastbit_entries set kind = 'create' where id = 2", "entry 2 of 'clinic' is none that lastbit writes"),
        ("update lastbit_entries set question_digest = '0' where id = 2", "entry 2 of 'clinic' is none that"),
        ("update lastbit_entries set question = '{}' where id = 2", "entry 2 of 'clinic' is none that lastbit writes"),
        ("delete from lastbit_entries where id = 1", "entry 2 of 'clinic' is none that lastbit writes"),
    ],
)
def test_entries_that_no_ledger_writes_are_noticed_with_any_digest(file: str, statement: str, problem: str) -> None:
    ledger = fill_ledger(file)
    change(file, statement)
    rewrite_digests(file, "clinic")
    found = ledger.verify("clinic")
    assert any(problem in each for each in found)
    assert not any("digest" in each for each in found)


def test_entries_of_no_account_are_noticed(tmp_path: Path) -> None:
    ledger = fill_ledger(tmp_path / "budget.db")
    with sqlite3.connect(tmp_path / "budget.db") as connection:  # without foreign keys
        connection.execute("delete from lastbit_accounts where dataset = 'school'")
    connection.close()
    assert ledger.verify() == ("entry 3 belongs to no account.",)


def test_what_was_put_there_by_hand_shows_its_type(tmp_path: Path) -> None:
    ledger = fill_ledger(tmp_path / "budget.db")
    with sqlite3.connect(tmp_path / "budget.db") as connection:
        connection.execute("update lastbit_entries set note = cast('first' as blob) where id = 2")
        connection.execute("update lastbit_accounts set spent = cast('13/21' as blob) where dataset = 'clinic'")
    connection.close()
    found = ledger.verify("clinic")
    assert [each.split(":")[0] for each in found] == [
        "entry 2 of 'clinic' does not fit its digest",
        "the account 'clinic' and its entries differ in",
    ]
    with pytest.raises(lb.LedgerError, match="the books of 'clinic' are damaged"):
        ledger.account("clinic")


def test_processes_that_charge_at_once_leave_books_that_add_up(place: str, tmp_path: Path) -> None:
    lb.Ledger(place).create("clinic", epsilon=2)
    workers = [Child(spend, place, tmp_path / "draws") for _ in range(3)]
    watched = lb.Ledger(place)
    while any(worker.is_running() for worker in workers):
        assert watched.verify() == ()  # between any two charges
    for worker in workers:
        worker.result()
    assert lb.Ledger(place, verify=True).account("clinic").spent == 2


def test_of_two_spellings_created_at_once_one_is_made(place: str) -> None:
    lb.Ledger(place).create("school", epsilon=1)
    for turn in range(5):
        barrier = Barrier(4, timeout=600)

        def create(name: str) -> str:
            barrier.wait()
            try:
                return lb.Ledger(place).create(name, epsilon=1).dataset
            except lb.LedgerError as refusal:
                return str(refusal)

        with ThreadPoolExecutor(4) as pool:
            made = list(pool.map(create, [f"clinic {turn}", f"Clinic {turn}", f"clinic  {turn}", f"CLINIC {turn} "]))
        assert sorted("there is an account named" in each for each in made) == [False, True, True, True]
    assert len(lb.Ledger(place).accounts()) == 6


def run(command: str) -> int:
    return cli._run(shlex.split(command), debug=False)


def test_the_command_says_whether_the_books_add_up(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    ledger = fill_ledger("budget.db")
    digest = ledger.account("clinic").digest
    assert run("budget verify --ledger budget.db") == 0
    shown = capsys.readouterr().out
    assert "The books add up." in shown
    assert digest in shown
    assert ledger.account("school").digest in shown
    assert run("budget verify clinic --ledger budget.db") == 0
    assert ledger.account("school").digest not in capsys.readouterr().out
    assert run(f"budget verify --ledger budget.db --expected {digest} --json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["problems"], answer["accounts"][0]["digest"]) == ([], digest)
    assert run("budget verify --ledger budget.db --expected 00") == 1
    assert "no entry has the digest 00" in capsys.readouterr().out
    change("budget.db", "update lastbit_entries set amount = '1/30' where id = 2")
    assert run("budget verify --ledger budget.db --json") == 1
    assert "entry 2 of 'clinic' does not fit its digest" in json.loads(capsys.readouterr().out)["problems"][0]
    assert run("budget verify --ledger budget.db") == 1
    shown = capsys.readouterr().out
    assert "The books do not add up." in shown
    assert "entry 2 of 'clinic' does not fit its digest" in shown
    assert run("budget verify school --ledger budget.db") == 0
    assert run("budget verify nobody --ledger budget.db") == 2
    assert run("budget verify --ledger no.db") == 2


@pytest.mark.parametrize(
    "statement",
    [
        "update lastbit_accounts set spent = '0'",
        "update lastbit_accounts set spent = '-5'",
        "update lastbit_accounts set budget = '100'",
        "update lastbit_accounts set adjacency = 'replace'",
        "update lastbit_accounts set spent_rho = '0'",
        "update lastbit_accounts set rho_budget = '100'",
        "update lastbit_accounts set spent_delta = '1/1000'",
        "update lastbit_accounts set delta_budget = '1/100'",
        "update lastbit_accounts set delta_of_rho = '1/100'",
        "update lastbit_accounts set protects = 'row'",
        "update lastbit_accounts set seal = ''",
    ],
)
def test_an_account_that_was_changed_by_hand_pays_for_nothing(place: str, statement: str) -> None:
    """A sum below the true one would give spent budget back, without a look at all entries."""
    ledger = fill_ledger(place)
    change(place, statement + " where dataset = 'clinic'")
    tape = lb.Tape([1, 2, 3])
    for use in (
        lambda: ledger.release("clinic", laplace("1/100"), [1], draw=lb.Sampler(tape)),
        lambda: ledger.raise_limit("clinic", epsilon=50),
        lambda: ledger.account("clinic"),
        lambda: ledger.accounts(),
    ):
        with pytest.raises(lb.LedgerError, match=r"changed the account by hand\. lastbit budget verify says how"):
            use()
    assert tape.consumed == 0
    assert len(ledger.verify("clinic")) == 1
    assert ledger.verify("school") == ()
    # The other account goes on.
    ledger.release("school", lb.NoisyMax(epsilon=1), [1, 2])
