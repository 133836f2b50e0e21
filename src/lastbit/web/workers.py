"""Plans and audits run in processes of their own: a hard parameter stops no one else, and can be ended."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import subprocess
import sys
import time
from asyncio.subprocess import Process
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from lastbit.errors import LastbitError
from lastbit.web.tasks import HEADER, Limits, Reply, WorkerTask, pack, unpack

if TYPE_CHECKING:
    from lastbit.web.desk import Desk

_SIZE: Final = max(2, min(4, os.cpu_count() or 2))
_MOST_WAITING: Final = 128
_MOST_OF_AN_ASKER: Final = 64
"""The guard answers no more requests of one token at once."""
_START_SECONDS: Final = 120.0
_GRACE: Final = 1.0
"""Whoever moves a slider gives up many requests: a task that is nearly done is not worth a new process."""


class Overloaded(LastbitError):
    """Too many plans and audits wait already."""


class AskerGone(LastbitError):
    """Nobody waits for the answer any more."""


class TooHard(LastbitError):
    """A plan or an audit takes more time or memory than the server allows."""


@dataclass(eq=False)
class Turn:
    """A task that waits for a worker."""

    asker: str
    source: str
    """The browser or the program, of those that use one token."""
    used: bool = False
    worker: asyncio.Future[Worker] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Workers:
    """A few processes, and a queue that is bounded and fair.

    Next is whoever has used the least time: first among the tokens, then among those who use one token. No token has
    all processes at once.
    """

    def __init__(self, desk: Desk, size: int = _SIZE, limits: Limits = Limits()) -> None:  # noqa: B008 # frozen
        self._desk = desk
        self._size = size
        self._limits = limits
        self._all: set[Worker] = set()
        self._idle: list[Worker] = []
        self._waiting: list[Turn] = []
        self._running: Counter[str] = Counter()
        self._used: defaultdict[tuple[str, str], float] = defaultdict(float)
        """Seconds of a token and a source, since nobody waited."""
        self._starting: set[asyncio.Task[None]] = set()
        self._closed = False

    def start(self) -> None:
        """Start all processes. Whoever asks sooner waits for them."""
        for _ in range(self._size):
            self._begin(self._start())

    def _begin(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def close(self) -> None:
        """End all processes."""
        self._closed = True
        for turn in self._waiting:
            turn.worker.cancel()
        for task in self._starting:
            task.cancel()
        # Those under way see that their process has ended, and replace nothing.
        await asyncio.gather(*self._starting, *(worker.end() for worker in self._all), return_exceptions=True)

    async def run(self, task: WorkerTask, asker: str, source: str, gone: Callable[[], Awaitable[Any]]) -> Reply:
        """Return the reply of a worker. It ends, and gives no reply, when `gone` returns: nobody waits."""
        waiting = sum(turn.asker == asker for turn in self._waiting)
        if len(self._waiting) >= _MOST_WAITING or waiting >= _MOST_OF_AN_ASKER:
            raise Overloaded("too many plans and audits wait already. Ask again in a minute. Nothing was done.")
        turn = Turn(asker, source)
        self._waiting.append(turn)
        self._assign()
        work = asyncio.ensure_future(self._run(task, turn))
        left = asyncio.ensure_future(gone())
        try:
            await asyncio.wait({work, left}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                await asyncio.wait({work}, timeout=_GRACE)
            if not work.done():
                raise AskerGone("nobody waits for the answer any more.")
            return work.result()
        finally:
            left.cancel()
            work.cancel()
            await asyncio.wait({work})
            self._give_back(turn)

    async def _run(self, task: WorkerTask, turn: Turn) -> Reply:
        worker = await asyncio.shield(turn.worker)
        turn.used = True
        began, reply = time.monotonic(), None
        try:
            reply = await asyncio.wait_for(worker.ask(task), self._limits.wall_seconds)
        except (TimeoutError, OSError, EOFError, asyncio.IncompleteReadError):
            pass
        finally:
            self._running[turn.asker] -= 1
            self._use(turn, time.monotonic() - began)
            if self._closed:
                pass
            elif reply is None or reply.last:
                self._begin(self._replace(worker))
            else:
                self._idle.append(worker)
                self._assign()
        if reply is None:
            raise TooHard(
                "this takes more time or memory than the server allows for a plan or an audit. Ask for fewer items, a "
                "coarser resolution, or a higher epsilon. Nothing was spent."
            )
        return reply

    def _give_back(self, turn: Turn) -> None:
        """Take a turn that ended early out of the queue; a worker that it was given and did not use is idle again."""
        if turn in self._waiting:
            self._waiting.remove(turn)
        elif not turn.used and turn.worker.done() and not turn.worker.cancelled():
            self._running[turn.asker] -= 1
            self._idle.append(turn.worker.result())
            self._assign()

    def _assign(self) -> None:
        """Give idle workers to those whose turn it is."""
        while self._idle and (turns := [turn for turn in self._waiting if self._is_allowed(turn)]):
            of_token: defaultdict[str, float] = defaultdict(float)
            for (asker, _), seconds in self._used.items():
                of_token[asker] += seconds
            turn = min(turns, key=lambda turn: (of_token[turn.asker], self._used.get((turn.asker, turn.source), 0.0)))
            self._waiting.remove(turn)
            self._running[turn.asker] += 1
            turn.worker.set_result(self._idle.pop())

    def _is_allowed(self, turn: Turn) -> bool:
        return not turn.worker.done() and self._running[turn.asker] < max(1, self._size - 1)

    def _use(self, turn: Turn, seconds: float) -> None:
        """Remember who has used how much time, while anybody waits."""
        self._used[turn.asker, turn.source] += seconds
        if not self._waiting:
            self._used.clear()

    async def _replace(self, worker: Worker) -> None:
        await worker.end()
        self._all.discard(worker)
        await self._start()

    async def _start(self) -> None:
        """Start a process; where that fails, again after a while."""
        while not self._closed:
            with suppress(OSError, EOFError, TimeoutError, asyncio.IncompleteReadError):
                worker = await Worker.start(self._desk, self._limits)
                self._all.add(worker)
                self._idle.append(worker)
                self._assign()
                return
            await asyncio.sleep(1)


@dataclass(eq=False)
class Worker:
    """A process that does one task after the other: see `worker.py`."""

    process: Process
    desk: Desk

    @classmethod
    async def start(cls, desk: Desk, limits: Limits) -> Worker:
        """Start a process, and wait until it can be asked."""
        # Ctrl-C in a terminal is for the server, which ends its processes itself.
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "lastbit.web.worker",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, limit=1 << 20,
        )  # fmt: skip
        worker = cls(process, desk)
        try:
            await worker._send(pickle.dumps((desk, limits)))
            await asyncio.wait_for(worker._receive(), _START_SECONDS)
        except BaseException:
            await worker.end()
            raise
        return worker

    async def ask(self, task: WorkerTask) -> Reply:
        """Return the reply to a task; EOFError or its like where the process has ended."""
        await self._send(pack(task, self.desk))
        reply: Reply = unpack(await self._receive(), self.desk)
        return reply

    async def end(self) -> None:
        """End the process at once, whatever it does."""
        # Not process.kill(): it looks whether the process has ended, and then the loop never learns how it did.
        if self.process.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.process.pid, signal.SIGKILL)
        with suppress(OSError):
            await self.process.communicate()  # closes the pipes, too

    async def _send(self, data: bytes) -> None:
        stdin = cast("asyncio.StreamWriter", self.process.stdin)
        stdin.write(HEADER.pack(len(data)) + data)
        await stdin.drain()

    async def _receive(self) -> bytes:
        stdout = cast("asyncio.StreamReader", self.process.stdout)
        (size,) = HEADER.unpack(await stdout.readexactly(HEADER.size))
        return await stdout.readexactly(size)
