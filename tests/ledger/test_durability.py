"""Settings that only a failing machine, or two programs at once, would show: looked at where they must hold."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

import lastbit as lb
from lastbit.ledger import connections, disks, holds, table_rows
from lastbit.ledger.forks import GATE
from lastbit.ledger.price import write_terms
from lastbit.ledger.store import _LOCK
from lastbit.ledger.tables import ENTRIES

MECHANISM = lb.DiscreteLaplace(epsilon="1/4")


def record_syncs(ledger: lb.Ledger, work: Callable[[], object]) -> list[str]:
    """How durable each commit was that the work made, in the words of the database."""
    kept, found = ledger._store._connections, []
    commit = kept._commit
    asked = "PRAGMA synchronous" if kept.engine.dialect.name == "sqlite" else "show synchronous_commit"

    def look(driver: Any) -> None:
        if kept.engine.dialect.name == "postgresql" or driver.total_changes > before.get(driver, 0):
            found.append(str(driver.execute(asked).fetchone()[0]))
        before[driver] = getattr(driver, "total_changes", 0)
        commit(driver)

    before: dict[Any, int] = {}
    kept._commit = look  # type: ignore[method-assign]
    try:
        work()
    finally:
        del kept._commit
    return found


def test_a_charge_is_synced_and_the_note_that_it_is_done_need_not_be(place: str) -> None:
    ledger = lb.Ledger(place)
    strict, loose = ("on", "off") if "://" in place else ("3", "1")
    assert record_syncs(ledger, lambda: ledger.create("clinic", epsilon=1)) == [strict]
    assert record_syncs(ledger, lambda: ledger.charge("clinic", MECHANISM)) == [strict]
    assert record_syncs(ledger, lambda: ledger.release("clinic", MECHANISM, [1])) == [strict, loose]
    assert record_syncs(ledger, lambda: ledger.raise_limit("clinic", epsilon=2)) == [strict]


def journal(file: Path) -> str:
    with sqlite3.connect(file) as connection:
        (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    connection.close()
    return str(mode)


def test_where_a_disk_may_be_shared_all_commits_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "budget.db"
    lb.Ledger(file).create("clinic", epsilon=1)
    lb.Ledger(file).account("clinic")
    assert journal(file) == "wal"
    monkeypatch.setattr(connections, "is_local", lambda _: False)
    moved = lb.Ledger(file)
    assert record_syncs(moved, lambda: moved.release("clinic", MECHANISM, [1])) == ["3", "3"]
    assert journal(file) == "delete"
    # Nobody may use the log there, not even while another program holds it.
    monkeypatch.undo()
    holder = lb.Ledger(file)
    holder.release("clinic", MECHANISM, [1])
    monkeypatch.setattr(connections, "is_local", lambda _: False)
    monkeypatch.setattr(connections, "BUSY_SECONDS", 0)
    with pytest.raises(lb.LedgerError, match="Nothing was drawn"):
        lb.Ledger(file).release("clinic", MECHANISM, [1])
    assert holder.account("clinic").spent == Fraction(1, 2)


@pytest.mark.parametrize(
    ("kind", "local"), [("ext4", True), ("xfs", True), ("nfs4", False), ("cifs", False), ("9p", False)]
)
def test_only_disks_of_this_machine_are_local(
    kind: str, local: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "1 0 8:1 / / rw - ext4 /dev/sda rw\n"
        f"2 1 8:2 / /mnt/a\\040b rw shared:1 - {kind} x rw\n"
        "3 1 8:3 / /mnt/a rw - nfs x rw\n"
        f"4 1 8:4 / /mnt/数 rw - {kind} x rw\n"
    )
    monkeypatch.setattr(disks, "_MOUNTS", mounts)
    assert disks.is_local("/mnt/a b/budget.db") == local
    assert disks.is_local("/mnt/数/budget.db") == local
    assert disks.is_local("/mnt/ab/budget.db")
    assert not disks.is_local("/mnt/a/budget.db")
    monkeypatch.setattr(disks, "_MOUNTS", tmp_path / "none")
    assert not disks.is_local("/budget.db")


def test_the_file_alone_has_every_charge(tmp_path: Path) -> None:
    """People copy budget.db and forget budget.db-wal."""
    ledger = lb.Ledger(tmp_path / "budget.db")
    ledger.create("clinic", epsilon=1)
    for turn in range(3):
        ledger.release("clinic", MECHANISM, [1])
        (tmp_path / f"{turn}.db").write_bytes((tmp_path / "budget.db").read_bytes())
        assert lb.Ledger(tmp_path / f"{turn}.db", verify=True).account("clinic") == ledger.account("clinic")
    ledger.charge("clinic", MECHANISM)
    (tmp_path / "last.db").write_bytes((tmp_path / "budget.db").read_bytes())
    assert lb.Ledger(tmp_path / "last.db").account("clinic").remaining == 0


def test_an_entry_of_no_account_is_refused(place: str) -> None:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=1)
    ledger.charge("clinic", MECHANISM)
    with (
        pytest.raises(lb.LedgerError, match=r"IntegrityError|ForeignKeyViolation"),
        ledger._store.transaction() as connection,
    ):
        connection.execute(ENTRIES.update().values(dataset="nobody"))
    assert ledger.verify() == ()


def waiting(place: str, work: Future[Any]) -> bool:
    """Whether somebody waits for a lock in this database. SQLite cannot say; there a moment must do."""
    if "://" not in place:
        time.sleep(0.2)
        return not work.done()
    asked = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    with psycopg.connect(place, autocommit=True) as server:
        while not work.done():
            if server.execute(asked).fetchone() != (0,):
                return True
            time.sleep(0.01)
    return False


@pytest.mark.parametrize("what", ["raise", "charge"])
def test_whoever_changes_an_account_waits_for_a_charge_under_way(place: str, what: str) -> None:
    """Otherwise the change begins with the sums of before the charge, and the charge is forgotten."""
    ledger = lb.Ledger(place)
    before = ledger.create("clinic", epsilon=1)
    change = {
        "raise": lambda: lb.Ledger(place).raise_limit("clinic", epsilon=2),
        "charge": lambda: lb.Ledger(place).charge("clinic", MECHANISM),
    }[what]
    price = before.prices(MECHANISM.cost)
    with ThreadPoolExecutor(1) as pool:
        with ledger._store.transaction() as connection:
            table_rows.find_account_row(connection, "clinic", lock=True)
            other = pool.submit(change)
            assert waiting(place, other)
            terms = write_terms(epsilon=price.epsilon, rho=price.rho, delta=price.delta)
            table_rows.add_entry(
                connection, before.plus(price), "charge", Fraction(1, 4), terms, mechanism=MECHANISM, note=""
            )
        other.result(600)
    assert ledger.verify() == ()
    assert ledger.account("clinic").spent == (Fraction(1, 4) if what == "raise" else Fraction(1, 2))


def test_on_a_disk_that_may_be_shared_sqlite_alone_makes_writers_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (connections, holds):
        monkeypatch.setattr(module, "is_local", lambda _: False)
    test_whoever_changes_an_account_waits_for_a_charge_under_way(str(tmp_path / "budget.db"), "charge")


def test_of_two_who_make_the_tables_the_second_waits(place: str) -> None:
    if "://" not in place:
        return  # a SQLite file has one writer
    with ThreadPoolExecutor(1) as pool, psycopg.connect(place) as server:  # the lock is let go first
        server.execute("select pg_advisory_xact_lock(%s)", (_LOCK,))
        other = pool.submit(lambda: lb.Ledger(place).create("clinic", epsilon=1))
        assert waiting(place, other)
        made = server.execute(
            "select count(*) from pg_locks join pg_database on database = pg_database.oid "
            "where mode = 'AccessExclusiveLock' and relation is not null and datname = current_database()"
        )
        assert made.fetchone() == (0,)  # whoever makes a table holds it so
        server.commit()
        assert other.result(600).limit == 1


def after_waiting(place: str, act: Callable[[], Any]) -> Any:
    """What somebody gets who comes while another holds the lock: nothing before it is let go."""
    with ThreadPoolExecutor(1) as pool, psycopg.connect(place) as server:  # the lock is let go first
        server.execute("select pg_advisory_xact_lock(%s)", (_LOCK,))
        other = pool.submit(act)
        assert waiting(place, other)
        server.commit()
        return other.result(600)


def test_of_two_who_make_an_account_the_second_waits(place: str) -> None:
    if "://" not in place:
        return
    lb.Ledger(place).create("school", epsilon=1)
    assert after_waiting(place, lambda: lb.Ledger(place).create("clinic", epsilon=1)).limit == 1


def test_of_two_who_use_one_key_the_second_waits(place: str) -> None:
    if "://" not in place:
        return
    lb.Ledger(place).create("clinic", epsilon=1)
    assert after_waiting(place, lambda: lb.Ledger(place).charge("clinic", MECHANISM, once="key")).id == 2


def test_whoever_waits_too_long_is_refused(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lb.Ledger(place).create("clinic", epsilon=1)
    monkeypatch.setattr(connections, "BUSY_SECONDS", 1)
    late, tape = lb.Ledger(place), lb.Tape([1, 2, 3])
    with lb.Ledger(place)._store.transaction() as connection:
        table_rows.find_account_row(connection, "clinic", lock=True)
        with pytest.raises(lb.LedgerError, match=r"another program has held it|LockNotAvailable"):
            late.release("clinic", MECHANISM, [1], draw=lb.Sampler(tape))
    assert tape.consumed == 0
    late.release("clinic", MECHANISM, [1])
    assert late.account("clinic").spent == Fraction(1, 4)


def test_a_connection_is_kept_and_does_not_cross_a_fork(place: str) -> None:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=1)
    ledger.account("clinic")
    opened: list[int] = []
    sa.event.listen(ledger._store._connections.engine, "connect", lambda *_: opened.append(os.getpid()))
    for _ in range(2):
        ledger.charge("clinic", lb.DiscreteLaplace(epsilon="1/16"))
    assert opened == []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                ledger.charge("clinic", lb.DiscreteLaplace(epsilon="1/16"))
                code = 0 if opened[-1] == os.getpid() else 2
            finally:
                os._exit(code)
        ledger.charge("clinic", lb.DiscreteLaplace(epsilon="1/16"))
        assert os.waitpid(child, 0)[1] == 0
    assert opened == [os.getpid()] * 3
    assert lb.Ledger(place, verify=True).account("clinic").spent == Fraction(1, 2)


def test_a_ledger_that_nobody_uses_any_more_closes_its_connection(place: str) -> None:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=1)
    ledger.account("clinic")
    closed: list[Any] = []
    sa.event.listen(ledger._store._connections.engine, "close", lambda *_: closed.append(1))
    del ledger
    assert closed == [1]


def test_whoever_forks_is_let_through_when_the_last_transaction_ends(place: str) -> None:
    ledger, order = lb.Ledger(place), []
    ledger.create("clinic", epsilon=1)

    def forks() -> None:
        GATE.close()
        order.append("the fork")
        GATE.open()

    other = threading.Thread(target=forks)
    with ledger._store.read_transaction():
        other.start()
        while not GATE._forks and other.is_alive():
            time.sleep(0.001)
        with GATE._turn:  # the fork has this until it waits, or until it is over
            order.append("the transaction")
    other.join(600)
    assert order == ["the transaction", "the fork"]


def test_a_fork_waits_for_transactions_of_other_threads(place: str) -> None:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=100)
    with ThreadPoolExecutor(2) as pool:
        spending = [pool.submit(lambda: [ledger.charge("clinic", MECHANISM) for _ in range(20)]) for _ in range(2)]
        children = []
        for _ in range(5):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    ledger.charge("clinic", MECHANISM)
                    code = 0
                finally:
                    os._exit(code)
            children.append(child)
        assert [os.waitpid(child, 0)[1] for child in children] == [0] * 5
        for each in spending:
            each.result(600)
    assert lb.Ledger(place, verify=True).account("clinic").spent == Fraction(45, 4)
