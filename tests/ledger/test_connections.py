"""The connection that a ledger keeps: what forks, threads, copies, kills and other folders do to it."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import sys
import threading
from fractions import Fraction
from pathlib import Path

import pytest

import lastbit as lb
from lastbit.ledger.forks import GATE
from lastbit.ledger.table_rows import _SET_RELEASE
from tests import processes

MECHANISM = lb.DiscreteLaplace(epsilon="1/4")


def open_ledger(place: str | Path) -> lb.Ledger:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=100)
    ledger.release("clinic", MECHANISM, [1])
    return ledger


def in_the_file_alone(file: Path) -> Fraction:
    """What a copy without the log says was spent."""
    copied = file.with_name("copy.db")
    copied.write_bytes(file.read_bytes())
    return lb.Ledger(copied, verify=True).account("clinic").spent


def test_a_release_that_fails_leaves_its_charge_in_the_file_alone(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path / "budget.db")

    def fails(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ledger.spend("clinic", MECHANISM, fails)
    other = lb.DiscreteLaplace(epsilon=1)
    with pytest.raises(lb.LedgerError, match="another mechanism"):
        ledger.spend("clinic", MECHANISM, other.ready([1]))
    assert in_the_file_alone(tmp_path / "budget.db") == ledger.account("clinic").spent == Fraction(3, 4)


KILLED = """
import os, signal, sys, lastbit as lb
mechanism = lb.DiscreteLaplace(epsilon="1/4")
lb.Ledger(sys.argv[1]).spend("clinic", mechanism, lambda draw: os.kill(os.getpid(), signal.SIGKILL))
"""


def test_after_a_kill_the_log_has_the_charge_until_somebody_opens_the_ledger(tmp_path: Path) -> None:
    """As docs/books.md says of copies."""
    file = tmp_path / "budget.db"
    open_ledger(file)
    assert processes.run([sys.executable, "-c", KILLED, str(file)], check=False).returncode == -signal.SIGKILL
    assert (tmp_path / "budget.db-wal").stat().st_size > 0
    assert in_the_file_alone(file) == Fraction(1, 4)
    assert lb.Ledger(file, verify=True).account("clinic").spent == Fraction(1, 2)
    assert not (tmp_path / "budget.db-wal").exists()
    assert in_the_file_alone(file) == Fraction(1, 2)


ENDED = """
import sys, threading, lastbit as lb
ledger = lb.Ledger(sys.argv[1])
ledger.account("clinic")
threading.Thread(target=lambda kept: threading.Event().wait(), args=(ledger,), daemon=True).start()
"""


def test_a_program_that_ends_leaves_no_log_although_a_thread_has_the_ledger(tmp_path: Path) -> None:
    open_ledger(tmp_path / "budget.db")
    processes.run([sys.executable, "-c", ENDED, str(tmp_path / "budget.db")], check=True)
    assert [path.name for path in tmp_path.iterdir()] == ["budget.db"]


def test_whoever_reads_slowly_holds_up_nobody(place: str, tmp_path: Path) -> None:
    ledger = open_ledger(place)
    _, entries = ledger.export("clinic")
    first = next(entries)
    assert GATE._under_way == 0  # a fork would wait for it
    ledger.release("clinic", MECHANISM, [1])
    if "://" not in place:
        assert in_the_file_alone(Path(place)) == Fraction(1, 2)
    rest: list[dict[str, object]] = []
    reader = threading.Thread(target=lambda: rest.extend(entries))
    reader.start()
    reader.join()
    assert [each["id"] for each in (first, *rest)] == [1, 2]  # the books of the moment of the question


def test_long_releases_are_read_page_by_page(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = open_ledger(place)
    for _ in range(4):
        ledger.release("clinic", MECHANISM, [1])
    pages: list[int] = []
    real = ledger._store.read_transaction
    for long, size, read in ((1 << 22, 500, 2), (1 << 22, 2, 4), (1, 500, 6)):  # the last page is an empty one
        monkeypatch.setattr("lastbit.ledger.table_rows._LONG", long)
        monkeypatch.setattr("lastbit.ledger.table_rows._PAGE", size)
        _, entries = ledger.export("clinic")
        pages.clear()
        with monkeypatch.context() as counted:
            counted.setattr(ledger._store, "read_transaction", lambda: pages.append(1) or real())
            assert [entry["id"] for entry in entries] == [1, 2, 3, 4, 5, 6]
        assert len(pages) == read
        assert ledger.verify() == ()


def test_another_ledger_copied_over_the_file_is_the_ledger(tmp_path: Path) -> None:
    """With `cp`, while a program keeps its connection: the file has the same inode and other pages."""
    file = tmp_path / "budget.db"
    ledger = open_ledger(file)
    before = file.read_bytes()
    for _ in range(5):
        ledger.release("clinic", lb.NoisyTopK(k=20, epsilon="1/4"), list(range(100)))
    file.write_bytes(before)
    assert ledger.account("clinic").spent == Fraction(1, 4)
    ledger.release("clinic", MECHANISM, [1])
    (problem,) = ledger.verify()  # to anybody else the books are whole
    assert problem.startswith("this program has seen entry 7 of 'clinic', and the books do not have it as it was: they")
    del ledger
    assert lb.Ledger(file, verify=True).account("clinic").spent == Fraction(1, 2)


def test_a_program_may_go_to_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    ledger = open_ledger("budget.db")
    monkeypatch.chdir(tmp_path / "elsewhere")
    ledger.release("clinic", MECHANISM, [1])
    open_ledger("budget.db")
    assert ledger.account("clinic").spent == Fraction(1, 2)
    assert repr(ledger) == "<Ledger: budget.db>"


def test_a_connection_to_a_file_that_is_gone_is_not_used_again(tmp_path: Path) -> None:
    """Another thread may have made a newer connection meanwhile."""
    ledger = open_ledger(tmp_path / "budget.db")
    open_ledger(tmp_path / "other.db").release("clinic", MECHANISM, [1])
    with ledger._store.read_transaction():  # this connection is one to the old file
        (tmp_path / "other.db").replace(tmp_path / "budget.db")
        with ledger._store.read_transaction() as newer:
            assert newer.exec_driver_sql("SELECT count(*) FROM lastbit_entries").scalar() == 3
    for _ in range(2):
        assert ledger.account("clinic").spent == Fraction(1, 2)


def test_a_transaction_that_fails_leaves_nothing_to_the_next(place: str) -> None:
    """The kept connection is the same one."""
    ledger = open_ledger(place)

    def fail() -> None:
        with ledger._store.transaction() as connection:
            _SET_RELEASE.change(connection, {"entry": 2, "released": None, "published": None, "published_digest": None})
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    with pytest.raises(lb.BudgetExceeded):
        ledger.charge("clinic", lb.DiscreteLaplace(epsilon=1000))
    ledger.charge("clinic", MECHANISM)
    assert [entry.done for entry in ledger.history("clinic")] == ["", "yes", "no"]
    assert ledger.verify() == ()


def test_threads_that_never_rest_do_not_hold_up_a_fork(place: str) -> None:
    ledger = open_ledger(place)
    end = threading.Event()

    def look() -> None:
        while not end.is_set():
            ledger.account("clinic")

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    ledger.account("clinic")
                    code = 0
                finally:
                    os._exit(code)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        end.set()
        for thread in threads:
            thread.join()


@pytest.mark.parametrize("way", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_ledger_is_not_copied(way: object, tmp_path: Path) -> None:
    with pytest.raises(lb.LedgerError, match="Make one in each process"):
        way(lb.Ledger(tmp_path / "budget.db"))  # type: ignore[operator]


def test_one_entry_is_found_by_its_number_and_no_number_is_too_long(place: str) -> None:
    ledger = open_ledger(place)
    assert [ledger.entry(number) for number in (1, 2)] == [*ledger.history("clinic")]
    assert (
        ledger.entry(3) is ledger.entry(0) is ledger.entry(2**31) is ledger.entry(2**63) is ledger.entry(10**30) is None
    )
    with pytest.raises(lb.EntryNotFound, match="there is no entry 1000"):
        ledger.published(10**30)
