"""Faults around a publication, on either ledger: what was charged is never lost, and what cannot be is said before."""

from __future__ import annotations

import errno
import fcntl
import os
import resource
from itertools import count

import pytest

import lastbit as lb
from lastbit.errors import LedgerError, ParameterError
from lastbit.ledger import table_rows
from lastbit.publication.run import answer_publication, run_publication
from tests.publication.studies import TEXT, make_study
from tests.publication.test_run import NAMES, go_on, look, values


def kinds(place):
    return [entry.kind for entry in lb.Ledger(place).history("clinic")]


def test_a_folder_that_cannot_be_written_is_refused_before_the_charge(tmp_path, place, monkeypatch):
    path = make_study(tmp_path, TEXT.replace('folder = "report"', 'folder = "visits.csv/report"'), ledger=place)
    with pytest.raises(ParameterError, match=r"Not a directory\. Nothing was charged"):
        lb.Publication.from_file(path).run()

    def refuse(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("lastbit.publication.folder.tempfile.mkdtemp", refuse)
    with pytest.raises(ParameterError, match=r"Read-only file system\. Nothing was charged"):
        lb.Publication.from_file(path).run(tmp_path / "report")
    assert kinds(place) == ["create"]


def test_a_disk_that_is_full_after_the_charge_loses_nothing(tmp_path, place):
    path = make_study(tmp_path, ledger=place)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(step):
        if step == "write":
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))

    try:
        with pytest.raises(LedgerError, match=r"could not be written: .*Every answer is in the books"):
            run_publication(lb.Publication.from_file(path), step=fill)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not [name for name in os.listdir(tmp_path) if "report" in name]
    kept = look(lb.Ledger(place), lb.Publication.from_file(path))[1]
    written = lb.Publication.from_file(path).render()
    assert values(written) == kept
    assert lb.verify(written.folder, audit=False).holds
    assert kinds(place) == ["create", "charge", "part", "part", "part"]


@pytest.mark.parametrize("moment", ["draw patients", "keep cost", "kept regions"])
def test_memory_that_ends_after_the_charge_loses_nothing(tmp_path, place, moment):
    path = make_study(tmp_path, ledger=place)

    def exhaust(step):
        if step == moment:
            bytearray(1 << 60)

    publication, ledger = lb.Publication.from_file(path), lb.Ledger(place)
    with pytest.raises(MemoryError) as caught:
        answer_publication(publication, exhaust)
    assert any("run it again to go on, for nothing" in note for note in caught.value.__notes__)
    kept = look(ledger, publication)[1]
    assert list(kept) == list(NAMES[: {"draw patients": 0, "keep cost": 1, "kept regions": 3}[moment]])
    go_on(ledger, publication, kept)


def test_clocks_that_jump_change_no_answer_and_no_order(tmp_path, place, monkeypatch):
    years = count(2040, -1)
    monkeypatch.setattr(table_rows, "now", lambda: f"{next(years)}-01-01T00:00:00+00:00")
    path = make_study(tmp_path, TEXT.replace("[output]", "[output]\nregistry = true"), ledger=place)
    written = lb.Publication.from_file(path).run()
    assert kinds(place) == ["create", "charge", "part", "part", "part"]
    times = [entry.time.year for entry in lb.Ledger(place).history("clinic")]
    assert times == sorted(times, reverse=True)
    assert lb.Ledger(place).verify() == ()
    assert lb.verify(written.folder, audit=False).holds
    assert f'publication_date: "{times[1]}-01-01"' in (written.folder / "deployment.yaml").read_text()


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_books_on_a_disk_without_locks_are_refused(tmp_path, monkeypatch, code):
    path = make_study(tmp_path)

    def refuse(*_):
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", refuse)
        with pytest.raises(LedgerError, match="locks"):
            lb.Publication.from_file(path).run()
        assert not (tmp_path / "report").exists()
    assert kinds(tmp_path / "budget.db") == ["create"]
