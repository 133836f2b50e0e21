"""A witness knows of each charge before anything is drawn: older copies and servers that lagged do not get past it."""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit.ledger.witness import Witness
from tests import processes
from tests.ledger.test_faults import make_backup
from tests.ledger.test_processes import Child
from tests.machine import has_postgres, postgres
from tests.postgres_server import Server

MECHANISM = lb.DiscreteLaplace(epsilon="1/4")


def test_a_ledger_that_lacks_what_its_witness_has_seen_is_not_opened(place: str, tmp_path: Path) -> None:
    witness = tmp_path / "witness.json"
    ledger = lb.Ledger(place, witness=witness)  # neither is there yet
    ledger.create("clinic", epsilon=10)
    ledger.release("clinic", MECHANISM, [1])
    restore = make_backup(place, tmp_path)
    ledger.release("clinic", MECHANISM, [1])
    last = ledger.account("clinic").digest
    assert json.loads(witness.read_text()) == {"clinic": {"entry": 3, "digest": last}}
    del ledger
    assert lb.Ledger(place, witness=witness).verify() == ()
    restore()
    for _ in range(2):
        with pytest.raises(lb.LedgerError, match=r"has seen entry 3 of 'clinic'.* Nothing was drawn and nothing was"):
            lb.Ledger(place, witness=witness)
    # Whoever knows no witness cannot know. What goes on from there does not get past the witness either.
    lb.Ledger(place).release("clinic", MECHANISM, [1])
    with pytest.raises(lb.LedgerError, match="has seen entry 3 of 'clinic'"):
        lb.Ledger(place, witness=witness)
    assert json.loads(witness.read_text()) == {"clinic": {"entry": 3, "digest": last}}


def test_a_ledger_that_is_gone_is_missed(tmp_path: Path) -> None:
    place, witness = tmp_path / "budget.db", tmp_path / "witness.json"
    ledger = lb.Ledger(place, witness=witness)
    ledger.create("clinic", epsilon=10)
    del ledger
    place.unlink()
    with pytest.raises(lb.LedgerNotFound, match="there is no ledger"):
        lb.Ledger(place, witness=witness)


def test_the_witness_knows_before_anything_is_drawn(place: str, tmp_path: Path) -> None:
    witness = tmp_path / "witness.json"
    ledger = lb.Ledger(place, witness=witness)
    ledger.create("clinic", epsilon=10)
    seen: list[Any] = []
    ledger.spend("clinic", MECHANISM, lambda _: seen.append(json.loads(witness.read_text())["clinic"]["entry"]))
    assert seen == [2]
    ledger.raise_limit("clinic", epsilon=11)
    assert json.loads(witness.read_text())["clinic"]["entry"] == 3


def test_a_witness_that_cannot_be_written_lets_nothing_be_drawn(place: str, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    ledger = lb.Ledger(place, witness=folder / "witness.json")
    ledger.create("clinic", epsilon=10)
    shutil.rmtree(folder)
    tape = lb.Tape([1, 2, 3])
    with pytest.raises(lb.LedgerError, match=r"cannot be written\. What the books say stands, and nothing was drawn"):
        ledger.release("clinic", MECHANISM, [1], draw=lb.Sampler(tape))
    assert tape.consumed == 0
    assert ledger.account("clinic").spent == Fraction(1, 4)
    if "://" not in place:  # in the file alone too
        shutil.copyfile(place, tmp_path / "copy.db")
        assert lb.Ledger(tmp_path / "copy.db").account("clinic").spent == Fraction(1, 4)


def test_many_programs_share_a_witness_and_nobody_is_forgotten(tmp_path: Path) -> None:
    place, witness = tmp_path / "budget.db", tmp_path / "witness.json"
    names = [f"account {number}" for number in range(4)]
    for name in names:
        lb.Ledger(place).create(name, epsilon=10)

    def release(name: str) -> None:
        ledger = lb.Ledger(place, witness=witness)
        for _ in range(10):
            ledger.release(name, MECHANISM, [1])

    for child in [Child(release, name) for name in names]:
        child.result()
    ledger = lb.Ledger(place)
    last = {name: ledger.history(name)[-1] for name in names}
    seen = json.loads(witness.read_text())
    assert seen == {name: {"entry": entry.id, "digest": entry.digest} for name, entry in last.items()}
    assert [path.name for path in tmp_path.iterdir() if "witness" in path.name] == ["witness.json"]


def test_whoever_writes_to_a_witness_holds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    witness = Witness(tmp_path / "witness.json")
    looked = look_while_it_is_written(witness, monkeypatch)
    witness.add({"clinic": (1, "a")})
    assert looked == [1]


def look_while_it_is_written(witness: Witness, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Nobody else can hold the file just before it is replaced. One for each look."""
    looked = []

    def look(_: int) -> None:
        with witness.path.open() as file, pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        looked.append(1)

    monkeypatch.setattr("lastbit.ledger.witness.os.fsync", look)
    return looked


def test_whoever_waited_for_a_witness_writes_to_the_newer_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    witness, real = Witness(tmp_path / "witness.json"), fcntl.flock
    witness.add({"clinic": (1, "a")})

    looked: list[int] = []

    def wait(descriptor: int, how: int) -> None:
        monkeypatch.undo()
        witness.add({"school": (2, "b")})  # another was quicker
        real(descriptor, how)
        looked.append(0)
        look_while_it_is_written(witness, monkeypatch)

    monkeypatch.setattr("lastbit.ledger.witness.fcntl.flock", wait)
    witness.add({"clinic": (3, "c")})
    assert looked == [0]
    assert witness.read() == {"clinic": (3, "c"), "school": (2, "b")}


def test_verify_notices_two_histories_by_what_this_program_has_seen(place: str, tmp_path: Path) -> None:
    """Both histories add up by themselves: only who knows an entry of the other one can tell."""
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=10)
    ledger.create("school", epsilon=10) if "://" not in place else None
    restore = make_backup(place, tmp_path)
    ledger.release("clinic", MECHANISM, [1])
    restore()
    other = lb.Ledger(place)
    other.release("clinic", MECHANISM, [2])
    for dataset in (None, "clinic"):
        (problem,) = ledger.verify(dataset)
        assert "the books do not have it as it was: they have two histories" in problem
    assert other.verify() == lb.Ledger(place).verify() == ()
    if "://" not in place:
        assert ledger.verify("school") == ()


def test_what_was_verified_is_kept_in_mind(place: str, tmp_path: Path) -> None:
    other = lb.Ledger(place)
    other.create("clinic", epsilon=10)
    restore = make_backup(place, tmp_path)
    other.release("clinic", MECHANISM, [1])
    del other
    ledger = lb.Ledger(place)
    assert ledger.verify() == ()
    restore()
    assert "this program has seen entry 2 of 'clinic'" in ledger.verify()[0]


@pytest.mark.skipif(not (has_postgres() and postgres("pg_basebackup")), reason="this machine has no PostgreSQL")
def test_a_standby_that_lagged_is_noticed_when_it_is_promoted(tmp_path: Path) -> None:
    """Ten releases are paid for. A standby that has not heard of four of them would pay for four more."""
    server = Server()
    place, witness = f"postgresql://lastbit@/postgres?host={server.home}", tmp_path / "witness.json"
    try:
        ledger = lb.Ledger(place, witness=witness)
        ledger.create("clinic", epsilon="10/4")
        for _ in range(6):
            ledger.release("clinic", MECHANISM, [1])
        standby = server.home / "standby"
        command = [postgres("pg_basebackup") or "", "-h", server.home, "-U", "lastbit", "-D", standby, "--no-sync"]
        processes.run([*command, "-X", "stream"], check=True, **server._quiet)
        for _ in range(4):
            ledger.release("clinic", MECHANISM, [1])
        with pytest.raises(lb.BudgetExceeded):
            ledger.release("clinic", MECHANISM, [1])
        server.stop()
        server._data = str(standby)
        server.start()
        assert lb.Ledger(place).account("clinic").remaining == 1  # nobody else can know
        with pytest.raises(lb.LedgerError, match="has seen entry 11 of 'clinic'"):
            lb.Ledger(place, witness=witness)
        assert "they have two histories" in ledger.verify()[0]
    finally:
        server.remove()


ADDRESSES = [
    "postgresql:///clinic?host=/nowhere&user=bob&password=hunter2",
    "postgresql://bob:hunter2@/clinic?host=/nowhere",
    "postgres://bob@/clinic?host=/nowhere&password=hunter2&sslpassword=hunter2",
    "postgresql+psycopg://bob:hunter2@/clinic?host=/nowhere",
    "postgresql://bob:hunter2@:1:2/clinic",
    "mysql://bob:hunter2@db/clinic",
    "postgresql://bob:hunter2@[x/clinic",
]
USES: list[Callable[[lb.Ledger], object]] = [
    repr,
    lambda ledger: ledger.account("clinic"),
    lambda ledger: ledger.create("clinic", epsilon=1),
    lambda ledger: ledger.release("clinic", MECHANISM, [1]),
    lambda ledger: ledger.verify(),
    lambda ledger: ledger.__reduce__(),
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_secret_of_an_address_is_in_any_message(address: str) -> None:
    for use in USES:
        said, error = "", None
        try:
            said = str(use(lb.Ledger(address)))
        except lb.LedgerError as refusal:
            error = refusal
        while error is not None:
            said += f"{error!s} {error!r}"
            error = error.__context__ or error.__cause__
        assert said
        assert "hunter2" not in said


def test_an_address_says_who_connects_to_what() -> None:
    assert repr(lb.Ledger(ADDRESSES[0])) == "<Ledger: postgresql://bob@/clinic?host=/nowhere>"
