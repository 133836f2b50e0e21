"""One file with several names: hard links, mounts and moves. Nobody spends a budget twice under any name."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit.ledger import connections, disks, holds
from tests import processes
from tests.ledger.test_processes import Child, books_of
from tests.ledger.worker import MECHANISM, Logged, open_log, spend
from tests.machine import has_mounts

SEVEN = 7 * MECHANISM.cost.amount


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A ledger with an account that pays for seven releases."""
    lb.Ledger(tmp_path / "budget.db").create("clinic", epsilon=SEVEN)
    return tmp_path / "budget.db"


@pytest.fixture
def links(file: Path) -> list[Path]:
    """Three names of one file, one of them in another folder."""
    (file.parent / "other").mkdir()
    names = [file, file.with_name("second.db"), file.parent / "other" / "budget.db"]
    for name in names[1:]:
        os.link(file, name)
    return names


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where nobody sees the links: one of the names may be in another container."""
    monkeypatch.setattr(holds.Hold, "check_one_name", lambda hold: None)


USES: dict[str, Callable[[lb.Ledger], object]] = {
    "release": lambda ledger: ledger.release("clinic", MECHANISM, [1], draw=lb.Sampler(lb.Tape([]))),
    "charge": lambda ledger: ledger.charge("clinic", MECHANISM),
    "create": lambda ledger: ledger.create("school", epsilon=1),
    "raise": lambda ledger: ledger.raise_limit("clinic", epsilon=9),
    "account": lambda ledger: ledger.account("clinic"),
    "history": lambda ledger: ledger.history("clinic"),
    "verify": lambda ledger: ledger.verify(),
}


@pytest.mark.parametrize("use", USES)
def test_a_file_with_several_names_is_refused_under_each(links: list[Path], use: str) -> None:
    for name in links:
        with pytest.raises(lb.LedgerError, match=r"has 3 names \(hard links\).* find / -samefile FILE lists them"):
            USES[use](lb.Ledger(name))
    links[1].unlink()
    links[2].unlink()
    assert lb.Ledger(links[0], verify=True).account("clinic").spent == 0


def test_a_name_that_is_made_while_the_ledger_is_open_is_noticed_before_the_next_charge(file: Path) -> None:
    ledger = lb.Ledger(file)
    ledger.release("clinic", MECHANISM, [1])
    os.link(file, file.with_name("second.db"))
    for use in USES.values():
        with pytest.raises(lb.LedgerError, match="has 2 names"):
            use(ledger)
    file.with_name("second.db").unlink()
    ledger.release("clinic", MECHANISM, [1])
    assert ledger.verify() == ()
    assert len(ledger.history("clinic")) == 3


def test_a_symbolic_link_is_no_other_name(file: Path) -> None:
    file.with_name("link.db").symlink_to(file)
    ledgers = [lb.Ledger(file), lb.Ledger(file.with_name("link.db"))]
    for ledger in ledgers * 2:
        ledger.release("clinic", MECHANISM, [1])
    assert ledgers[0].account("clinic") == ledgers[1].account("clinic")
    assert ledgers[0].verify() == ledgers[1].verify() == ()


def test_a_file_that_is_mounted_by_itself_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = file.with_name("mounts")
    mounts.write_text(f"1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 8:1 /x {file} rw - ext4 /dev/sda rw\n")
    monkeypatch.setattr(disks, "_MOUNTS", mounts)
    for use in USES.values():
        with pytest.raises(lb.LedgerError, match=r"is mounted by itself.* Mount the folder that holds the ledger"):
            use(lb.Ledger(file))
    mounts.write_text(f"1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 8:1 /x {file.parent} rw - ext4 /dev/sda rw\n")
    lb.Ledger(file).release("clinic", MECHANISM, [1])


MOUNTED = """
import subprocess, sys, lastbit as lb
from lastbit.ledger import connections
connections.BUSY_SECONDS = 0
source, target, how = sys.argv[1:]
subprocess.run(["mount", "--bind", source, target], check=True)
place = target if how == "file" else target + "/budget.db"
try:
    lb.Ledger(place).release("clinic", lb.DiscreteLaplace(epsilon="1/7"), [1])
    print("released")
except lb.LedgerError as refusal:
    print(refusal)
"""


def run_mounted(source: Path, target: Path, how: str) -> str:
    """What a program says in which one path is mounted over another."""
    command = ["unshare", "-Urm", sys.executable, "-c", MOUNTED, str(source), str(target), how]
    return str(processes.run(command, check=True, capture_output=True, text=True).stdout)


@pytest.mark.skipif(not has_mounts(), reason="this machine lets nobody mount")
def test_a_container_may_have_the_folder_and_not_the_file_alone(file: Path) -> None:
    inside = file.parent / "inside"
    inside.mkdir()
    (inside / "budget.db").touch()
    assert "is mounted by itself" in run_mounted(file, inside / "budget.db", "file")
    ledger = lb.Ledger(file)
    said: list[str] = []
    ledger.spend("clinic", MECHANISM, lambda _: said.append(run_mounted(file.parent, inside, "folder")))
    # The folder is the same by any path, and the log in it too.
    assert said == ["released\n"]
    assert ledger.account("clinic").spent == 2 * MECHANISM.cost.amount
    assert ledger.verify() == ()


def try_once(place: str, log: Path) -> str:
    """One release that waits for nobody."""
    connections.BUSY_SECONDS = 0  # type: ignore[misc]
    try:
        lb.Ledger(place).release("clinic", MECHANISM, [1], draw=lb.Sampler(Logged(open_log(log))))
    except lb.LedgerError as refusal:
        return f"{type(refusal).__name__}: {refusal}"
    return "released"


def try_in_a_program(place: Path) -> str:
    """The same without a fork, which closes connections first, and without a look at links."""
    program = (
        "from tests.ledger.test_file_names import *; holds.Hold.check_one_name = lambda hold: None; "
        "print(try_once(sys.argv[1], Path(sys.argv[2])))"
    )
    command = [sys.executable, "-c", program, str(place), str(place.with_name("draws"))]
    return str(processes.run(command, check=True, capture_output=True, text=True).stdout)


def test_whoever_has_another_name_waits_while_the_file_is_open(links: list[Path], unchecked: None) -> None:
    """In the middle of a release the charge is in the log beside one name: another name would not see it."""
    lb.Ledger(links[0]).raise_limit("clinic", epsilon=10)
    ledger, said = lb.Ledger(links[0]), list[str]()
    ledger.spend("clinic", MECHANISM, lambda _: said.extend(map(try_in_a_program, links)))
    assert said[0] == "released\n"  # by the same name
    assert all("is open under another name" in other for other in said[1:])
    assert "is open under another name" in try_in_a_program(links[2])  # the connection is kept
    del ledger
    assert try_in_a_program(links[1]) == "released\n"
    assert books_of(str(links[2]))[0] == 3 * MECHANISM.cost.amount
    assert lb.Ledger(links[2]).verify() == ()


def test_a_fork_in_the_middle_of_a_release_leaves_the_charge_in_the_file(links: list[Path], unchecked: None) -> None:
    """A fork closes the connection, and SQLite brings the log into the file: then other names see the charge."""
    ledger = lb.Ledger(links[0])
    log = links[0].with_name("draws")
    said: list[str] = []
    ledger.spend("clinic", MECHANISM, lambda _: said.append(Child(try_once, str(links[1]), log).result()))
    assert said == ["released"]
    assert ledger.verify() == ()
    del ledger
    for name in links:
        assert books_of(str(name))[0] == 2 * MECHANISM.cost.amount


def test_eight_processes_under_three_names_stop_exactly(links: list[Path], unchecked: None) -> None:
    limit = 100 * MECHANISM.cost.amount
    lb.Ledger(links[0]).raise_limit("clinic", epsilon=limit)
    log = links[0].with_name("draws")
    for child in [Child(spend, str(links[number % 3]), log) for number in range(8)]:
        child.result()
    for name in links:
        spent, charges = books_of(str(name))
        assert spent == sum(charges) == limit
        assert len(charges) == len(log.read_text().splitlines()) == 100
        assert lb.Ledger(name).verify() == ()


def test_eight_processes_under_three_names_that_everybody_sees_draw_nothing(links: list[Path]) -> None:
    log = links[0].with_name("draws")
    said = [Child(try_once, str(links[number % 3]), log) for number in range(8)]
    assert all("has 3 names" in child.result() for child in said)
    assert not log.exists() or not log.read_text()


def test_two_names_in_one_program_take_turns(links: list[Path], unchecked: None, monkeypatch: Any) -> None:
    monkeypatch.setattr(connections, "BUSY_SECONDS", 0)
    first, second = lb.Ledger(links[0]), lb.Ledger(links[1])
    first.release("clinic", MECHANISM, [1])
    with pytest.raises(lb.LedgerError, match="is open under another name"):
        second.release("clinic", MECHANISM, [1])
    monkeypatch.setattr(connections, "BUSY_SECONDS", 60)
    waiting = threading.Thread(target=second.release, args=("clinic", MECHANISM, [1]))
    waiting.start()
    del first  # its connection is closed
    waiting.join(600)
    assert second.account("clinic").spent == 2 * MECHANISM.cost.amount
    assert second.verify() == ()


OPEN_BEFORE = """
import sys, lastbit as lb
from lastbit.ledger import connections
connections.BUSY_SECONDS = 0
ledger = lb.Ledger(sys.argv[1])
ledger.account("clinic")
for _ in range(2):
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        ledger.charge("clinic", lb.DiscreteLaplace(epsilon="1/7"))
        print("charged", flush=True)
    except lb.LedgerError as refusal:
        print(refusal, flush=True)
"""


def test_whoever_writes_has_a_turn(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other threads and other programs wait before they ask SQLite."""
    monkeypatch.setattr(connections, "BUSY_SECONDS", 0)
    ledger, other = lb.Ledger(file), lb.Ledger(file)
    other.account("clinic")
    command = [sys.executable, "-c", OPEN_BEFORE, str(file)]
    with processes.start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        program.stdout.readline()
        with ledger._store.read_transaction() as connection, connection.connection.driver_connection.hold.turn(0):  # type: ignore[union-attr]
            with pytest.raises(lb.LedgerError, match="another program has held it for too long"):
                other.charge("clinic", MECHANISM)
            print(file=program.stdin, flush=True)
            assert "another program has held it for too long" in program.stdout.readline()
        other.charge("clinic", MECHANISM)
        print(file=program.stdin, flush=True)
        assert [program.stdout.readline() for _ in range(2)] == ["ready\n", "charged\n"]
    assert ledger.account("clinic").spent == 2 * MECHANISM.cost.amount


def has_locks_of_sqlite(file: Path) -> bool:
    """Whether another process holds what SQLite locks in a file that is open."""
    with file.open("rb+") as opened_once:
        asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0x40000002, 510, 0)
        return bool(struct.unpack("hhqqi4x", fcntl.fcntl(opened_once, fcntl.F_GETLK, asked))[0] != fcntl.F_UNLCK)


def test_a_ledger_that_is_closed_takes_no_locks_from_another_of_the_same_program(file: Path) -> None:
    """A process loses its locks on a file when it closes any descriptor of the file."""
    kept = lb.Ledger(file)
    kept.account("clinic")
    for _ in range(3):
        other = lb.Ledger(file)
        other.release("clinic", MECHANISM, [1])
        del other
    # Without a fork, which closes connections: a program of its own asks.
    program = "from tests.ledger.test_file_names import *; print(has_locks_of_sqlite(Path(sys.argv[1])))"
    done = processes.run([sys.executable, "-c", program, str(file)], check=True, capture_output=True, text=True)
    assert done.stdout == "True\n"
    assert kept.account("clinic").spent == 3 * MECHANISM.cost.amount
    inode = holds.inode_of(file.stat())
    assert len(holds._HOLDS._all[inode].descriptors) == 1
    del kept
    assert inode not in holds._HOLDS._all


def test_a_child_does_not_hold_what_its_parent_has_closed(
    links: list[Path], unchecked: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The child closes what it inherits in its own time, and then waits: long enough for it, and no longer.
    monkeypatch.setattr(connections, "BUSY_SECONDS", 20)
    ledger, (read, write) = lb.Ledger(links[0]), os.pipe()
    with ledger._store.read_transaction():  # in the middle of a transaction of this thread
        child = Child(lambda: os.read(read, 1) and None)
    try:
        del ledger
        lb.Ledger(links[1]).release("clinic", MECHANISM, [1])
    finally:
        os.write(write, b"x")
        child.result()
        os.close(read)
        os.close(write)


KILLED = """
import os, signal, sys, lastbit as lb
mechanism = lb.DiscreteLaplace(epsilon="1/7")
lb.Ledger(sys.argv[1]).spend("clinic", mechanism, lambda draw: os.kill(os.getpid(), signal.SIGKILL))
"""


def kill_in_a_release(file: Path) -> Path:
    """A program is killed after its charge. The log that it leaves beside the file has the charge."""
    done = processes.run([sys.executable, "-c", KILLED, str(file)])
    assert done.returncode == -signal.SIGKILL
    log = file.with_name(f"{file.name}-wal")
    assert log.stat().st_size > 0
    return log


def test_a_log_that_does_not_continue_the_file_is_refused(file: Path) -> None:
    """The file is moved away without its log, used there, and moved back: the log would undo what was charged there."""
    lb.Ledger(file).release("clinic", MECHANISM, [1])
    log = kill_in_a_release(file)
    moved = file.with_name("moved.db")
    file.rename(moved)
    for _ in range(3):
        lb.Ledger(moved).release("clinic", MECHANISM, [1])
    moved.rename(file)
    before = file.read_bytes(), log.read_bytes()
    for use in USES.values():
        with pytest.raises(lb.LedgerError, match=r"has two histories: budget\.db-wal beside it does not continue it"):
            use(lb.Ledger(file))
    assert (file.read_bytes(), log.read_bytes()) == before
    log.unlink()
    file.with_name("budget.db-shm").unlink(missing_ok=True)
    assert lb.Ledger(file, verify=True).account("clinic").spent == 4 * MECHANISM.cost.amount


def test_a_log_that_continues_the_file_is_read(file: Path) -> None:
    lb.Ledger(file).release("clinic", MECHANISM, [1])
    kill_in_a_release(file)
    ledger = lb.Ledger(file, verify=True)
    assert ledger.account("clinic").spent == 2 * MECHANISM.cost.amount
    assert [entry.done for entry in ledger.history("clinic")] == ["", "yes", "no"]


def test_a_log_of_another_ledger_is_refused(file: Path) -> None:
    log = kill_in_a_release(file)
    other = lb.Ledger(file.with_name("other.db"))
    other.create("clinic", epsilon=3)
    del other
    shutil.copyfile(file.with_name("other.db"), file)
    with pytest.raises(lb.LedgerError, match="has two histories"):
        lb.Ledger(file).account("clinic")
    log.unlink()
    assert lb.Ledger(file).account("clinic").limit == 3


def test_a_file_that_is_not_there_yet_gets_one_name(tmp_path: Path, unchecked: None) -> None:
    ledger = lb.Ledger(tmp_path / "new.db")
    ledger.create("clinic", epsilon=1)
    assert [path.name for path in tmp_path.iterdir()] == ["new.db"]
    assert (tmp_path / "new.db").stat().st_mode & 0o777 == 0o644 & ~umask()
    for place in (tmp_path, tmp_path / "no" / "such.db"):
        with pytest.raises(lb.LedgerError, match=r"it cannot be opened\. Check that its folder exists"):
            lb.Ledger(place).create("clinic", epsilon=1)


def umask() -> int:
    now = os.umask(0)
    os.umask(now)
    return now


def test_a_file_that_may_only_be_read_is_shown(file: Path) -> None:
    lb.Ledger(file).release("clinic", MECHANISM, [1])
    file.chmod(0o444)
    assert lb.Ledger(file).account("clinic").spent == Fraction(1, 7)


def test_names_do_not_matter_where_locks_are_on_the_file(links: list[Path], unchecked: None, monkeypatch: Any) -> None:
    """On a disk that may be shared SQLite keeps a journal instead of the log, with its locks on the file itself."""
    for module in (connections, holds):
        monkeypatch.setattr(module, "is_local", lambda _: False)
    ledgers = [lb.Ledger(name) for name in links]
    for ledger in ledgers * 2:
        ledger.release("clinic", MECHANISM, [1])
    assert [ledger.account("clinic").spent for ledger in ledgers] == [6 * MECHANISM.cost.amount] * 3
    assert ledgers[0].verify() == ()
