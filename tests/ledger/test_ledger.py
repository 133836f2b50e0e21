"""What a ledger promises, on both databases."""

from __future__ import annotations

import logging
import pickle
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

import lastbit as lb
from lastbit.ledger import store, table_rows
from lastbit.ledger.connections import connect_args

SECRET = 918_273_645


def laplace(epsilon: Any) -> lb.DiscreteLaplace:
    return lb.DiscreteLaplace(epsilon=epsilon)


class Failing(lb.DiscreteLaplace):
    """Draws and then fails."""

    def ready(self, values: Any) -> Any:
        ready = super().ready(values)

        def fails(draw: lb.Draw) -> Any:
            ready(draw)
            raise RuntimeError("the printer is on fire")

        return fails


def test_sums_are_exact(place: str) -> None:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon="0.3")
    for _ in range(3):
        ledger.release("clinic", laplace("0.1"), [1])
    assert ledger.account("clinic").remaining == 0
    with pytest.raises(lb.BudgetExceeded):
        ledger.release("clinic", laplace("1e-100"), [1])


def test_an_eta_is_charged_rounded_up(place: str) -> None:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=1)
    eta = lb.Eta(3, 2, 1)
    ledger.release("clinic", lb.DiscreteLaplace(eta=eta), [1])
    spent = ledger.account("clinic").spent
    assert spent == Fraction(eta.epsilon_upper)
    assert ledger.history("clinic")[-1].cost == "eta (3, 2, 1)"


def test_a_refusal_says_everything_and_draws_nothing(place: str) -> None:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=1)
    ledger.release("clinic", laplace("2/3"), [1])
    before = ledger.history("clinic")
    tape = lb.Tape([1, 2, 3])
    with pytest.raises(lb.BudgetExceeded) as caught:
        ledger.release("clinic", laplace("1/2"), [SECRET], draw=lb.Sampler(tape))
    refusal = caught.value
    assert (refusal.requested, refusal.spent, refusal.limit) == (Fraction(1, 2), Fraction(2, 3), Fraction(1))
    assert "requested 1/2, spent 2/3, limit 1. Nothing was drawn and nothing was charged." in str(refusal)
    assert tape.consumed == 0
    assert ledger.history("clinic") == before
    assert str(SECRET) not in str(refusal)
    copy = pickle.loads(pickle.dumps(refusal))
    assert (str(copy), copy.requested) == (str(refusal), refusal.requested)


def test_the_charge_is_on_disk_before_anything_is_drawn(place: str) -> None:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=1)
    seen: list[Any] = []

    class Watching:
        def words(self, n: int) -> Any:
            # Another connection, as another process would have.
            seen.append((lb.Ledger(place).account("clinic").spent, lb.Ledger(place).history("clinic")[-1].released))
            return lb.SystemBits().words(n)

    ledger.release("clinic", laplace("1/4"), [1], draw=lb.Sampler(Watching()))
    assert seen
    assert set(seen) == {(Fraction(1, 4), None)}
    assert ledger.history("clinic")[-1].released is not None


def test_a_release_that_fails_stays_charged(place: str) -> None:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=1)
    with pytest.raises(RuntimeError):
        ledger.release("clinic", Failing(epsilon="1/4"), [1])
    assert ledger.account("clinic").spent == Fraction(1, 4)
    assert ledger.history("clinic")[-1].released is None


def test_the_history_tells_everything_public(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert datetime.fromisoformat(table_rows.now()).tzinfo is UTC
    days = (datetime(2026, 1, day, tzinfo=UTC) for day in count(1))
    monkeypatch.setattr(table_rows, "now", lambda: next(days).isoformat())
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=1, note="2026")
    ledger.create("school", epsilon=5)
    ledger.release("clinic", laplace("1/3"), [5], note="weekly 'report'")
    ledger.raise_limit("clinic", epsilon=2, note="the board said so")
    made, charged, raised = ledger.history("clinic")
    assert (made.kind, made.amount, made.note) == ("create", 1, "2026")
    assert (charged.kind, charged.amount, charged.note) == ("charge", Fraction(1, 3), "weekly 'report'")
    assert (charged.mechanism, charged.cost) == ("DiscreteLaplace", "epsilon 1/3")
    assert charged.parameters == laplace("1/3").parameters
    assert (charged.time, charged.released) == (datetime(2026, 1, 3, tzinfo=UTC), datetime(2026, 1, 4, tzinfo=UTC))
    assert (raised.kind, raised.amount, raised.note) == ("raise", 2, "the board said so")
    assert [account.dataset for account in ledger.accounts()] == ["clinic", "school"]
    assert ledger.account("clinic").remaining == Fraction(5, 3)


def test_limits_only_rise_and_accounts_are_made_once(place: str) -> None:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=2)
    with pytest.raises(lb.LedgerError, match="must be above that, got 2"):
        ledger.raise_limit("clinic", epsilon=2)
    with pytest.raises(lb.LedgerError, match="already"):
        ledger.create("clinic", epsilon=9)
    with pytest.raises(lb.LedgerError, match="no account named 'school'"):
        ledger.charge("school", laplace(1))
    with pytest.raises(lb.ParameterError, match="epsilon must be positive"):
        ledger.create("school", epsilon=0)
    assert [entry.kind for entry in ledger.history("clinic")] == ["create"]


def test_private_values_are_in_no_book_and_no_log(place: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=10)
    counts = lb.Counts(items=["a", "b"], values=[SECRET, 0])
    # A choice publishes an item and no number that could be the secret by chance.
    ledger.release("clinic", lb.ExponentialMechanism(epsilon=1), counts, query="the most", reuse=True)
    ledger.release("clinic", lb.ExponentialMechanism(epsilon=1), counts.values, query="the most", reuse=True)
    with pytest.raises(RuntimeError):
        ledger.release("clinic", Failing(epsilon=1), counts.values, query="the most")
    assert str(SECRET) not in caplog.text + repr(ledger.history("clinic")) + repr(ledger)
    with store.Store(place).transaction() as connection:
        for table in store.METADATA.sorted_tables:
            assert str(SECRET) not in repr(connection.execute(sa.select(table)).all())


def test_a_ledger_that_is_not_there_is_not_made_by_looking(tmp_path: Path) -> None:
    missing = tmp_path / "budget.db"
    with pytest.raises(lb.LedgerError, match="there is no ledger at"):
        lb.Ledger(missing).account("clinic")
    assert not missing.exists()


@pytest.mark.parametrize("place", ["", ":memory:", "mysql://host/base", "postgresql", "sqlite://", "://"])
def test_places_that_cannot_hold_a_ledger(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(lb.LedgerError):
        lb.Ledger(place).account("clinic")


def test_a_server_that_is_away_is_one_line_without_the_password() -> None:
    ledger = lb.Ledger("postgresql://anna:hunter2@127.0.0.1:1/nowhere")
    with pytest.raises(lb.LedgerError) as caught:
        ledger.account("clinic")
    assert "hunter2" not in str(caught.value) + repr(ledger)
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert "could not be used: OperationalError" in str(caught.value)


def test_nothing_of_the_driver_stays_attached_to_an_error(place: str) -> None:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=1)
    with store.Store(place).transaction() as connection:
        connection.execute(sa.text("drop table lastbit_entries"))
    with pytest.raises(lb.LedgerError) as caught:
        ledger.charge("clinic", laplace(1), note="hunter2")
    assert caught.value.__cause__ is caught.value.__context__ is None
    with pytest.raises(lb.LedgerError, match="must look like") as caught:
        lb.Ledger("postgresql://anna:hunter2@host:port/base")
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert "hunter2" not in str(caught.value)
    assert ledger.account("clinic").spent == 0


def test_a_file_that_is_no_ledger_is_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("this is no database, and long enough to be sure of it" * 20)
    with pytest.raises(lb.LedgerError, match="it is no SQLite file"):
        lb.Ledger(other).create("clinic", epsilon=1)
    assert other.read_text().startswith("this is no database")
    data = tmp_path / "data.db"
    with closing(sqlite3.connect(data)) as made:
        made.execute("CREATE TABLE visits (patient INTEGER)")
    with pytest.raises(lb.LedgerError, match="holds other tables and no ledger"):
        lb.Ledger(data).create("clinic", epsilon=1)
    with closing(sqlite3.connect(data)) as left:
        assert left.execute("SELECT name FROM sqlite_master").fetchall() == [("visits",)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A ledger in a file, with one account and one release."""
    ledger = lb.Ledger(tmp_path / "budget.db")
    ledger.create("clinic", epsilon=3)
    ledger.release("clinic", laplace("1/7"), [1])
    return tmp_path / "budget.db"


def change(file: Path, statement: str) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(statement)
        connection.commit()


def test_a_version_that_this_lastbit_does_not_know_is_refused(file: Path) -> None:
    before = file.read_bytes()
    for version in (0, 2, 5, -1):
        change(file, f"UPDATE lastbit_schema SET version = {version}")
        tape = lb.Tape([1, 2, 3])
        for use in (
            lambda: lb.Ledger(file).accounts(),
            lambda: lb.Ledger(file).create("school", epsilon=1),
            lambda tape=tape: lb.Ledger(file).release("clinic", laplace(1), [1], draw=lb.Sampler(tape)),
        ):
            with pytest.raises(
                lb.LedgerError, match=rf"has version {version}, and this lastbit reads version 1\. Open it with the"
            ):
                use()
        assert tape.consumed == 0
    change(file, "UPDATE lastbit_schema SET version = 1")
    assert lb.Ledger(file, verify=True).account("clinic").spent == Fraction(1, 7)
    assert len(file.read_bytes()) == len(before)


def test_sums_that_nobody_can_read_are_refused(file: Path) -> None:
    for statement in (
        "UPDATE lastbit_accounts SET spent = 'much'",
        "UPDATE lastbit_accounts SET budget = '1/0', spent = '0'",
    ):
        change(file, statement)
        for use in (
            lambda ledger: ledger.accounts(),
            lambda ledger: ledger.charge("clinic", laplace(1)),
        ):
            with pytest.raises(lb.LedgerError, match="the books of 'clinic' are damaged") as caught:
                use(lb.Ledger(file))
            assert caught.value.__cause__ is caught.value.__context__ is None


def test_a_ledger_that_cannot_be_written_draws_nothing(file: Path) -> None:
    tape = lb.Tape([1, 2, 3])
    read_only = lb.Ledger(file)
    sa.event.listen(
        read_only._store._connections.engine,
        "connect",
        lambda connection, _: connection.execute("PRAGMA query_only = ON"),
    )
    with pytest.raises(lb.LedgerError, match=r"it is read-only\. Make it writable\. Nothing was drawn"):
        read_only.release("clinic", laplace(1), [SECRET], draw=lb.Sampler(tape))
    assert tape.consumed == 0
    assert lb.Ledger(file).account("clinic").spent == Fraction(1, 7)


def test_a_migration_runs_once_in_the_transaction_that_finds_the_tables_old(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = []

    def to_version_2(connection: sa.Connection) -> None:
        steps.append(2)
        connection.exec_driver_sql("ALTER TABLE lastbit_entries ADD COLUMN signed TEXT")

    with monkeypatch.context() as later:
        later.setattr(store, "VERSION", 2)
        later.setattr(store, "MIGRATIONS", {1: to_version_2})
        for _ in range(2):
            assert lb.Ledger(file).account("clinic").spent == Fraction(1, 7)
    assert steps == [2]
    with pytest.raises(lb.LedgerError, match="has version 2, and this lastbit reads version 1"):
        lb.Ledger(file).account("clinic")


def test_what_is_not_there_has_a_class_of_its_own(place: str) -> None:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=3)
    for use in (
        lambda: ledger.account("school"),
        lambda: ledger.history("school"),
        lambda: ledger.charge("school", laplace(1)),
        lambda: ledger.raise_limit("school", epsilon=4),
        lambda: ledger.verify("school"),
        lambda: ledger.export("school"),
    ):
        with pytest.raises(lb.AccountNotFound, match="there is no account named 'school'"):
            use()
    with pytest.raises(lb.EntryNotFound, match="there is no entry 7 in the books"):
        ledger.published(7)
    with pytest.raises(lb.LedgerError, match="entry 1 has no published release") as caught:
        ledger.published(1)
    assert not isinstance(caught.value, lb.EntryNotFound)


def test_what_a_mechanism_refuses_is_not_charged(place: str) -> None:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=9)
    counts = lb.Counts(items=["a", "b"], values=[1, 2], sensitivity=3)
    refused = [
        (lb.NoisyTopK(k=5, epsilon=1), [1, 2], None),
        (lb.NoisyMax(epsilon=1), counts, None),
        (lb.ExponentialMechanism(epsilon=1), [], None),
        (lb.DiscreteLaplace(epsilon=1), counts, None),
        (lb.Snapping(epsilon=1, bounds=(0, 1)), [1, 2], None),
        (lb.SelectAndMeasure(k=3, epsilon=1), [1], None),
        (lb.SparseVector(threshold=1, limit=1, epsilon=1), "text", None),
        (lb.PrivateSelection(candidates=[lambda draw: (1, 1)], candidate_cost=1, most=1), [1], None),
        (lb.DiscreteLaplace(epsilon=1), [1], 5),
    ]
    for mechanism, values, draw in refused:
        with pytest.raises(lb.ParameterError):
            ledger.release("clinic", mechanism, values, draw=draw)
    assert ledger.account("clinic").spent == 0
    assert len(ledger.history("clinic")) == 1


def test_a_server_with_other_defaults_still_writes_charges_to_disk(place: str) -> None:
    """PostgreSQL may be told to answer before a commit is on disk, or to end one of two transactions at once."""
    if "://" not in place:
        return  # SQLite has no such defaults
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=1)
    name = sa.make_url(place).database
    for isolation, commit in (("serializable", "off"), ("repeatable read", "off"), ("repeatable read", "local")):
        with store.Store(place).transaction() as connection:
            connection.execute(sa.text(f"alter database {name} set synchronous_commit = {commit}"))
            connection.execute(sa.text(f"alter database {name} set default_transaction_isolation = '{isolation}'"))
        with store.Store(place).transaction() as connection:
            shown = [
                connection.scalar(sa.text(f"show {each}")) for each in ("synchronous_commit", "transaction_isolation")
            ]
        assert shown == ["on", "read committed"]
    # Stricter than on: another server has the commit too.
    with store.Store(place).transaction() as connection:
        connection.execute(sa.text(f"alter database {name} set synchronous_commit = remote_apply"))
    with store.Store(place).transaction() as connection:
        assert connection.scalar(sa.text("show synchronous_commit")) == "remote_apply"
    ledger.release("clinic", laplace("1/2"), [1])
    assert ledger.account("clinic").spent == Fraction(1, 2)


def test_an_address_decides_its_own_settings(place: str) -> None:
    """The options of an address may name the schema of the books: without them, other books would be charged."""
    if "://" not in place:
        return  # a file has none
    for schema in ("east", "west"):
        with psycopg.connect(place, autocommit=True) as connection:
            connection.execute(f"create schema {schema}".encode())
        lb.Ledger(f"{place}&options=-csearch_path%3D{schema}").create(schema, epsilon=1)
    for schema in ("east", "west"):
        address = f"{place}&options=-csearch_path%3D{schema}"
        assert [account.dataset for account in lb.Ledger(address).accounts()] == [schema]
        with store.Store(address).transaction() as connection:
            assert connection.scalar(sa.text("show lock_timeout")) == "1min"
    with store.Store(f"{place}&options=-csearch_path%3Deast%20-clock_timeout%3D5s").transaction() as connection:
        assert connection.scalar(sa.text("show lock_timeout")) == "5s"
    assert "connect_timeout" not in connect_args(sa.make_url(f"{place}&connect_timeout=3"))
