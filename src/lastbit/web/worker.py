"""The program of a worker: it answers tasks from standard input, one after the other, each with a limit of its own."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import BinaryIO

from lastbit.web.desk import Desk
from lastbit.web.tasks import HEADER, Limits, Reply, WorkerTask, pack, unpack
from lastbit.web.visit import Visit, answer


def main() -> None:
    """Answer until standard input ends."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what anything prints is no answer
    tasks: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_read, args=(sys.stdin.buffer, tasks), daemon=True).start()
    desk, limits = _load(tasks.get())
    _limit_memory(limits.memory)
    start = _resident()
    _write(out, b"")
    while True:
        task: WorkerTask = unpack(tasks.get(), desk)
        _limit_time(limits.cpu_seconds)
        reply = _run(task, desk)
        _limit_time(0)
        _write(out, pack(Reply(*reply, last=_resident() - start > limits.growth), desk))


def _load(data: bytes) -> tuple[Desk, Limits]:
    desk, limits = pickle.loads(data)  # noqa: S301 # from the server that started this program
    return desk, limits


def _run(task: WorkerTask, desk: Desk) -> tuple[int, list[tuple[bytes, bytes]], bytes, dict]:  # type: ignore[type-arg]
    desk.put_waiting(task.waiting)
    visit = Visit(task.request, desk, task.role, task.body, task.asker)
    response = answer(visit, task.work, task.need)
    made = {key: value for key, value in desk.take_waiting().items() if key not in task.waiting}
    return response.status_code, response.raw_headers, bytes(response.body), made


def _read(source: BinaryIO, tasks: SimpleQueue[bytes]) -> None:
    """Take tasks; where the server is gone, end at once."""
    while head := source.read(HEADER.size):
        tasks.put(source.read(HEADER.unpack(head)[0]))
    os._exit(0)


def _write(out: BinaryIO, data: bytes) -> None:
    """Send an answer; where the server is gone, end at once."""
    try:
        out.write(HEADER.pack(len(data)) + data)
        out.flush()
    except BrokenPipeError:
        os._exit(0)


def _limit_time(seconds: float) -> None:
    """End this process by a signal after so much computing; 0 takes the limit away. No code has to agree to it."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _limit_memory(more: int) -> None:
    with suppress(ImportError, OSError, ValueError):
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * os.sysconf("SC_PAGE_SIZE") + more
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _resident() -> int:
    """Return how many bytes of memory this process holds; 0 where nobody says."""
    with suppress(OSError, ValueError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


if __name__ == "__main__":
    main()
