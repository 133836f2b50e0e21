"""What goes wrong around a ledger, on both databases: nothing is drawn uncharged, and no charge is lost.

Kill -9 is in `test_processes.py`. What cannot be tested is a limit in docs/books.md.
"""

from __future__ import annotations

import json
import os
import resource
import secrets
import sqlite3
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

import lastbit as lb
from lastbit.ledger import Identity, codec, table_rows
from tests.machine import has_postgres
from tests.postgres_server import Server

MECHANISM = lb.DiscreteLaplace(epsilon="1/4")


def open_ledger(place: str) -> lb.Ledger:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=10)
    ledger.release("clinic", MECHANISM, [1])
    return ledger


def assert_refused(ledger: lb.Ledger, match: str = "", **options: Any) -> None:
    """A release is refused, and nothing is drawn."""
    tape = lb.Tape([1, 2, 3])
    with pytest.raises(lb.LedgerError, match=match):
        ledger.release("clinic", MECHANISM, [1], draw=lb.Sampler(tape), **options)
    assert tape.consumed == 0


def on_server(place: str, statement: str) -> None:
    with psycopg.connect(sa.make_url(place).set(database="postgres").render_as_string(), autocommit=True) as server:
        server.execute(statement.encode())


@contextmanager
def small_disk(place: str, request: pytest.FixtureRequest) -> Iterator[int]:
    """No file may grow beyond a limit: in this process for SQLite, in the server for PostgreSQL, with its 16 MB files.

    Gives a length of text that the disk has no room for.
    """
    if "://" in place:
        server: Server = request.getfixturevalue("postgres")
        server.restart(largest_file=1 << 24)
        yield 1 << 25
        server.restart()
        return
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 17, before[1]))
    try:
        yield 1 << 18
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_refuses_the_charge(place: str, request: pytest.FixtureRequest) -> None:
    ledger = open_ledger(place)
    with small_disk(place, request) as too_long:
        assert_refused(ledger, match="could not be used", note=secrets.token_hex(too_long // 2))
    assert ledger.verify() == ()
    assert ledger.account("clinic").spent == Fraction(1, 4)
    ledger.release("clinic", MECHANISM, [1])


def test_a_disk_that_is_full_after_the_charge_does_not_hide_the_release(
    place: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = open_ledger(place)
    with small_disk(place, request) as too_long:
        monkeypatch.setattr(codec, "encode", lambda _: secrets.token_hex(too_long // 2))
        with pytest.warns(UserWarning, match="entry 3 of the ledger is charged, and its release stands"):
            noisy = ledger.release("clinic", MECHANISM, [1])
    assert noisy.cost == MECHANISM.cost
    assert ledger.verify() == ()
    assert [entry.done for entry in ledger.history("clinic")] == ["", "yes", "no"]
    assert ledger.account("clinic").spent == Fraction(1, 2)


def test_books_that_may_only_be_read_can_be_read(place: str) -> None:
    before = open_ledger(place).account("clinic")
    reader = lb.Ledger(place)
    if "://" in place:
        on_server(place, f"alter database {sa.make_url(place).database} set default_transaction_read_only = on")
    else:
        engine = reader._store._connections.engine
        sa.event.listen(engine, "connect", lambda file, _: file.execute("PRAGMA query_only = ON"))
    assert_refused(reader, match=r"it is read-only|ReadOnlySqlTransaction")
    assert reader.account("clinic") == before
    assert [entry.done for entry in reader.history("clinic")] == ["", "yes"]
    assert reader.verify() == ()


def test_books_that_are_gone_take_no_charge(place: str) -> None:
    ledger = open_ledger(place)
    if "://" in place:
        on_server(place, f"drop database {sa.make_url(place).database} with (force)")
        assert_refused(ledger, match="could not be used: OperationalError")
        on_server(place, f"create database {sa.make_url(place).database}")  # another one of this name
        assert_refused(ledger, match="there is no ledger at")
        return
    Path(place).unlink()
    assert_refused(ledger, match="there is no ledger at")
    assert not Path(place).exists()


def test_another_file_of_the_same_name_is_another_ledger(tmp_path: Path) -> None:
    ledger, other = open_ledger(str(tmp_path / "budget.db")), open_ledger(str(tmp_path / "other.db"))
    other.release("clinic", MECHANISM, [1])
    del other
    (tmp_path / "other.db").replace(tmp_path / "budget.db")
    assert ledger.account("clinic").spent == Fraction(1, 2)
    ledger.release("clinic", MECHANISM, [1])
    assert lb.Ledger(tmp_path / "budget.db", verify=True).account("clinic").spent == Fraction(3, 4)


def test_a_damaged_file_is_noticed_wherever_the_damage_is(tmp_path: Path) -> None:
    open_ledger(str(tmp_path / "budget.db"))
    whole = (tmp_path / "budget.db").read_bytes()
    assert len(whole) % 4096 == 0
    damages = {
        "a page of zeros": lambda page: whole[: page * 4096] + bytes(4096) + whole[(page + 1) * 4096 :],
        "half": lambda page: whole[: page * 4096 + 2048],
    }
    for name, damaged in damages.items():
        for page in range(len(whole) // 4096):
            copy = tmp_path / f"{name} {page}.db"
            copy.write_bytes(damaged(page))
            noticed = False
            try:
                ledger = lb.Ledger(copy)
                noticed = ledger.verify() != ()
                ledger.release("clinic", MECHANISM, [1])
            except lb.LedgerError:
                noticed = True
            assert noticed, f"{name}: page {page}"


def at_commit(ledger: lb.Ledger, end: Callable[[int], None]) -> None:
    """Have something happen to the connection just before the next commit, once."""
    kept = ledger._store._connections

    def look(driver: Any) -> None:
        del kept._commit
        end(driver.info.backend_pid)
        driver.commit()

    kept._commit = look  # type: ignore[method-assign]


if has_postgres():

    @pytest.mark.parametrize("how", ["dropped", "restarted"])
    def test_a_connection_lost_in_the_middle_of_a_charge(how: str, tmp_path: Path, request: Any) -> None:
        postgres: Server = request.getfixturevalue("postgres")
        place = f"postgresql://lastbit@/lost{how}?host={postgres.home}"
        on_server(place, f"create database lost{how}")
        ledger = open_ledger(place)
        at_commit(
            ledger,
            lambda backend: (
                on_server(place, f"select pg_terminate_backend({backend})") if how == "dropped" else postgres.restart()
            ),
        )
        assert_refused(ledger, match="look at the history to see whether it counts")
        assert ledger.account("clinic").spent == Fraction(1, 4)
        assert ledger.verify() == ()
        ledger.release("clinic", MECHANISM, [1])
        # And between two charges, nobody notices.
        if how == "dropped":
            with ledger._store.read_transaction() as connection:
                backend = connection.exec_driver_sql("select pg_backend_pid()").scalar_one()
            on_server(place, f"select pg_terminate_backend({backend})")
        else:
            postgres.restart()
        ledger.release("clinic", MECHANISM, [1])
        assert ledger.account("clinic").spent == Fraction(3, 4)


def test_fifty_processes_on_one_account_spend_it_to_the_last_bit(place: str) -> None:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=15)
    children = []
    for _ in range(50):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn where other threads run
            child = os.fork()
        if child == 0:
            code = 1
            try:
                while True:
                    ledger.release("clinic", MECHANISM, [1])
            except lb.BudgetExceeded:
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 50
    assert lb.Ledger(place, verify=True).account("clinic").remaining == 0
    assert [entry.done for entry in ledger.history("clinic")] == [""] + ["yes"] * 60


def steps(ledger: lb.Ledger, work: Callable[[], object]) -> int:
    """The instructions of SQLite's machine that work takes."""
    taken = [0]

    def count() -> int:
        taken[0] += 1
        return 0

    with ledger._store.read_transaction() as connection:
        file: Any = connection.connection.driver_connection
    file.set_progress_handler(count, 1)
    try:
        work()
    finally:
        file.set_progress_handler(None, 1)
    return taken[0]


COPIED = (
    "dataset, kind, time, mechanism, parameters, cost, amount, note, released, adjacency, digest, terms, question, "
    "question_digest, about, protects, asker, published, published_digest"
)
WORKS: dict[str, Callable[[lb.Ledger], object]] = {
    "charge": lambda ledger: ledger.release("clinic", MECHANISM, [1]),
    "show": lambda ledger: ledger.account("clinic"),
    "history": lambda ledger: ledger.history("clinic", last=20),
    "answer": lambda ledger: ledger.answer("clinic", MECHANISM, question=Identity({"version": 1, "query": "another"})),
    "published": lambda ledger: ledger.published(2),
}


def fill_ledger(place: str, entries: int) -> lb.Ledger:
    """A ledger with so many copies of one entry besides: their digests do not fit, and nothing here looks at them."""
    ledger = open_ledger(place)
    with ledger._store.transaction() as connection:
        connection.exec_driver_sql(
            f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {entries}) "
            f"INSERT INTO lastbit_entries ({COPIED}) SELECT {COPIED} FROM n, lastbit_entries WHERE id = 2"
        )
    return ledger


def test_many_entries_make_nothing_slower(tmp_path: Path) -> None:
    """A million entries are in benchmarks/ledger.py; here SQLite's instructions are counted."""
    ledgers = [fill_ledger(str(tmp_path / f"{entries}.db"), entries) for entries in (100, 10_000)]
    for name, work in WORKS.items():
        few, many = (steps(ledger, lambda ledger=ledger, work=work: work(ledger)) for ledger in ledgers)
        assert 0 < many <= few * 1.1, name


def test_no_work_goes_through_all_entries_of_a_server(place: str) -> None:
    if "://" not in place:
        return  # its instructions are counted above
    ledger = fill_ledger(place, 5_000)
    with ledger._store.transaction() as connection:
        connection.exec_driver_sql("ANALYZE lastbit_entries")
    kept, read = ledger._store._connections, []
    asked = "select coalesce(sum(seq_tup_read), 0) from pg_stat_xact_user_tables where relname = 'lastbit_entries'"

    def look(driver: Any) -> None:
        read.append(driver.execute(asked).fetchone()[0])
        driver.commit()

    kept._commit = look  # type: ignore[method-assign]
    for name, work in WORKS.items():
        read.clear()
        work(ledger)
        assert read, name
        assert sum(read) == 0, name
    with ledger._store.read_transaction() as connection:
        connection.exec_driver_sql("select max(note) from lastbit_entries")
    assert read[-1] > 5_000  # whoever goes through all is seen


def test_clocks_that_go_backwards_change_no_sum_and_no_order(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    years = iter(range(2030, 2000, -1))
    monkeypatch.setattr(table_rows, "now", lambda: f"{next(years)}-01-01T00:00:00+00:00")
    ledger = open_ledger(place)
    ledger.release("clinic", MECHANISM, [1])
    assert [entry.time.year for entry in ledger.history("clinic")] == [2030, 2029, 2027]
    assert ledger.account("clinic").spent == Fraction(1, 2)
    assert ledger.verify() == ()


def make_backup(place: str, tmp_path: Path) -> Callable[[], None]:
    """Make a backup; the function puts it in place of the ledger."""
    if "://" not in place:
        with sqlite3.connect(place) as file, sqlite3.connect(tmp_path / "backup.db") as copy:
            file.backup(copy)
        file.close()
        copy.close()
        return lambda: Path(place).write_bytes((tmp_path / "backup.db").read_bytes()) and None
    with psycopg.connect(place) as server:
        (account,) = server.execute("select * from lastbit_accounts").fetchall()
        (last,) = server.execute("select max(id) from lastbit_entries").fetchone() or (0,)

    def restore() -> None:
        with psycopg.connect(place) as server:
            server.execute("alter table lastbit_accounts disable trigger all")
            server.execute("delete from lastbit_entries where id > %s", (last,))
            server.execute("delete from lastbit_accounts")
            server.execute(f"insert into lastbit_accounts values ({', '.join(['%s'] * len(account))})", account)

    return restore


def test_a_backup_that_was_restored_shows_to_a_witness_only(place: str, tmp_path: Path) -> None:
    witness = tmp_path / "witness.json"
    ledger = open_ledger(place)
    assert ledger.verify(witness=witness) == ()
    restore = make_backup(place, tmp_path)
    ledger.release("clinic", MECHANISM, [1])
    later = ledger.account("clinic").digest
    assert ledger.verify(witness=witness) == ()  # what it had seen is still there, and it learns the rest
    assert json.loads(witness.read_text()) == {"clinic": {"entry": 3, "digest": later}}
    del ledger
    restore()
    ledger = lb.Ledger(place)
    assert ledger.account("clinic").spent == Fraction(1, 4)
    assert ledger.verify() == ()
    for dataset in (None, "clinic"):
        (problem,) = ledger.verify(dataset, witness=witness)
        assert "has seen entry 3 of 'clinic', and the books do not have it as it was: an older copy" in problem
    assert len(ledger.verify(expected=later)) == 1
    # Books that go on from there do not get past the witness either.
    ledger.release("clinic", MECHANISM, [1])
    assert len(ledger.verify(witness=witness)) == 1
    assert json.loads(witness.read_text())["clinic"]["digest"] == later


def test_a_witness_remembers_accounts_and_refuses_what_it_did_not_write(tmp_path: Path) -> None:
    ledger, witness = open_ledger(str(tmp_path / "budget.db")), tmp_path / "witness.json"
    ledger.create("school", epsilon=1)
    assert ledger.verify("school", witness=witness) == ledger.verify("clinic", witness=witness) == ()
    assert [*json.loads(witness.read_text())] == ["clinic", "school"]
    other = open_ledger(str(tmp_path / "other.db"))
    (problem,) = other.verify("clinic", witness=witness)
    assert problem.endswith("the entry was changed or removed.")
    assert len(other.verify(witness=witness)) == 2
    for text in ("[]", "{", '{"clinic": 3}'):
        witness.write_text(text)
        with pytest.raises(lb.LedgerError, match="is no file that a ledger wrote"):
            ledger.verify(witness=witness)
    with pytest.raises(lb.LedgerError, match="cannot be written"):
        ledger.verify(witness=tmp_path / "nowhere" / "witness.json")
