"""Long work: releases that read, wait, and can be cancelled until they are charged. One key is one piece of work."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final

from lastbit.errors import LastbitError, find_charge_note

_MOST: Final = 1000
"""So many finished pieces of work are remembered. What they released is in the books."""
_MOST_WAITING: Final = 100
"""So many pieces of work wait or are under way."""


class TooManyJobs(LastbitError):
    """Too many releases wait already."""


class Cancelled(LastbitError):
    """Somebody cancelled the work before anything was charged."""


def _know_nothing() -> float:
    return -1.0


def _do_nothing() -> None:
    pass


@dataclass
class Job:
    """One piece of work. `state` is waiting, reading, charged, done, refused or cancelled."""

    key: str
    state: str = "waiting"
    message: str = ""
    entry: int | None = None
    _progress: Callable[[], float] = _know_nothing
    _stop: Callable[[], None] = _do_nothing
    _cancelled: bool = False
    _lock: Lock = field(default_factory=Lock)
    future: Future[None] | None = None
    has_reader: bool = False
    """Whether a reader is at work that can be stopped."""

    @property
    def progress(self) -> float | None:
        """How much is read, from 0 to 100; None where nobody knows."""
        percent = self._progress() if self.state == "reading" else -1.0
        return None if percent < 0 else min(percent, 100.0)

    @property
    def over(self) -> bool:
        """Whether nothing more happens."""
        return self.state in ("done", "refused", "cancelled")

    def wait(self, seconds: float) -> None:
        """Wait for the end, for so many seconds at most."""
        if self.future is not None:
            wait([self.future], seconds)

    def listen(self, progress: Callable[[], float], stop: Callable[[], None]) -> None:
        """Hear how far a reader is, and how to stop it."""
        self._progress, self._stop, self.has_reader = progress, stop, True

    def last_moment(self) -> None:
        """Note the last moment before the charge: whoever cancelled in time is not charged."""
        with self._lock:
            if self._cancelled:
                raise Cancelled("cancelled")
            self.state = "charged"

    def cancel(self) -> bool:
        """Stop the work unless it is charged; whether that worked."""
        with self._lock:
            if self.state not in ("waiting", "reading"):
                return self.state == "cancelled"
            self._cancelled = True
        # More than once, because between two queries nothing can be stopped.
        for _ in range(20):
            self._stop()
            if self.over or self.future is None or self.future.done():
                break
            time.sleep(0.02)
        return True

    def run(self, work: Callable[[Job], int]) -> None:
        """Do the work, and remember how it ended."""
        try:
            with self._lock:
                if self._cancelled:
                    raise Cancelled("cancelled")
                self.state = "reading"
            self.entry = work(self)
            self.state = "done"
        except Exception as error:
            if self._cancelled and self.state != "charged":
                self.state, self.message = "cancelled", "Cancelled. Nothing was drawn and nothing was charged."
            else:
                self.state, self.message = "refused", describe_error(error)
        finally:
            # A reader holds a database with all its memory and threads: work that is over needs none.
            self._progress, self._stop = _know_nothing, _do_nothing


class Jobs:
    """All work, by its key. A key that is under way or has been done is not done again."""

    def __init__(self, at_once: int = 4) -> None:
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="release")
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = Lock()

    def find(self, key: str) -> Job | None:
        """Return the work of a key."""
        return self._jobs.get(key)

    def start(self, key: str, work: Callable[[Job], int]) -> Job:
        """Begin the work of a key, unless it has begun. Work that was refused or cancelled may begin again."""
        with self._lock:
            job = self._jobs.get(key)
            if job is not None and job.state not in ("refused", "cancelled"):
                return job
            if sum(not other.over for other in self._jobs.values()) >= _MOST_WAITING:
                raise TooManyJobs(
                    "too many releases wait already. Ask again in a minute. Nothing was drawn and nothing was charged."
                )
            job = self._jobs[key] = Job(key)
            self._jobs.move_to_end(key)
            for old in [name for name, other in self._jobs.items() if other.over][: max(0, len(self._jobs) - _MOST)]:
                del self._jobs[old]
            job.future = self._pool.submit(job.run, work)
            return job

    def close(self) -> None:
        """Wait for work that is charged, and cancel all other work."""
        for job in list(self._jobs.values()):
            job.cancel()
        self._pool.shutdown(wait=True, cancel_futures=True)


def describe_error(error: BaseException) -> str:
    """Return what may be said of an error: lastbit's own messages hold no private value, those of others may."""
    message = str(error) if isinstance(error, LastbitError) else f"unexpected {type(error).__name__}."
    return f"{message} {find_charge_note(error)}".rstrip()


def describe_job(job: Job) -> dict[str, Any]:
    """Return a piece of work for JSON."""
    return {
        "key": job.key, "state": job.state, "progress": job.progress, "message": job.message, "entry": job.entry,
    }  # fmt: skip
