"""What a server remembers has an end: readers, lists, questions that wait, work."""

from __future__ import annotations

import gc
import threading
import weakref
from pathlib import Path

import pytest

from lastbit.web.desk import Confirmation, Desk
from lastbit.web.jobs import Job, Jobs, TooManyJobs
from tests.web.conftest import Served
from tests.web.test_attacks import desk

__all__ = ["desk"]


class Reader:
    def progress(self) -> float:
        return 1.0

    def stop(self) -> None:
        raise AssertionError("there is nothing to stop any more")


@pytest.mark.parametrize("ends", [True, False], ids=["done", "refused"])
def test_work_that_is_over_holds_no_reader(ends: bool) -> None:
    readers: list[weakref.ref[Reader]] = []

    def read(job: Job) -> int:
        reader = Reader()
        job.listen(reader.progress, reader.stop)
        readers.append(weakref.ref(reader))
        if not ends:
            raise ValueError
        return 1

    jobs = Jobs()
    job = jobs.start("key", read)
    job.wait(600)
    jobs.close()
    gc.collect()
    assert readers[0]() is None
    assert (job.state, job.cancel()) == ("done" if ends else "refused", False)


def test_releases_leave_no_thread_and_no_database_open(served: Served) -> None:
    tasks = Path(f"/proc/{served.process.pid}/task")
    if not tasks.exists():
        pytest.skip("this machine does not list the threads of a process")

    def release(times: int) -> int:
        with served.client("release") as client:
            for _ in range(times):
                confirmed = client.post(
                    "api/confirmations", json={"question": "count", "options": {"epsilon": "1/1024"}}
                )
                assert client.post("api/releases", json={"key": confirmed.json()["key"]}).status_code == 201
        return len(list(tasks.iterdir()))

    before = release(12)  # all threads of the pools are there now
    assert release(24) < before + 12  # a database that stays open has threads of its own


def test_lists_that_wait_to_be_confirmed_are_bounded(desk: Desk) -> None:
    keys = []
    for place in range(15):
        items = [f"{place} {item}" for item in range(150_000)]
        request = desk.parse("top", {"by": "item", "domain": items, "k": 1, "epsilon": "1"}, "service")
        keys.append(desk.wait_for(Confirmation(request, 1000)))
    assert desk._waiting.weight <= 2_000_000
    assert (desk.find_waiting(keys[0]), desk.find_waiting(keys[-1]) is not None) == (None, True)


def test_work_that_waits_is_bounded() -> None:
    jobs, go = Jobs(), threading.Event()
    started = [jobs.start(str(place), lambda job: int(go.wait(600))) for place in range(100)]
    try:
        with pytest.raises(TooManyJobs, match=r"nothing was charged\."):
            jobs.start("one more", lambda job: 1)
        assert jobs.start("99", lambda job: 2) is started[99]
    finally:
        go.set()  # or their threads are waited for
        jobs.close()
