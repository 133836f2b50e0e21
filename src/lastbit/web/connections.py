"""Connections that are bounded in number and in time: whoever sends half a request keeps nobody else waiting."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


@dataclass
class ConnectionLimits:
    """All connections of a server, and their limits.

    Those whose request is not complete yet are `unfinished`, oldest first. Where there are too many, the oldest one
    ends, and not the newest one: whoever sends a whole request at once always comes through.
    """

    most: int = 500
    """Connections at once. A process has a limit of open files, often 1,024."""
    most_of_an_address: int = 100
    """Unfinished connections of one address. A browser has six."""
    head_seconds: float = 10.0
    """The time for the head of a request, from the connection or from its first byte on."""
    idle_seconds: float = 120.0
    """The time between an answer and the next request.

    It is longer than clients and proxies keep a connection (5 to 115 seconds), so that they end it and not this side.
    Whoever ends it must not be the one who is asked: a request that was sent meanwhile gets no answer.
    """
    body_seconds: float = 30.0
    """The time for a body."""
    send_seconds: float = 30.0
    """The time that whoever asked may take to read nothing of an answer."""
    count: int = 0
    unfinished: OrderedDict[Connection, str] = field(default_factory=OrderedDict)
    """The address of each connection."""

    def make_protocol(self, **more: Any) -> Connection:
        """Return the protocol of a new connection, as the server asks for one."""
        return Connection(self, **more)

    def add(self, connection: Connection) -> None:
        """Count a new connection, and end the oldest unfinished one where there are too many."""
        address = connection.client[0] if connection.client else ""
        self.count += 1
        self.unfinished[connection] = address
        same = [other for other, place in self.unfinished.items() if place == address]
        if len(same) > self.most_of_an_address:
            same[0].end()
        elif self.count > self.most:
            next(iter(self.unfinished)).end()

    def update(self, connection: Connection, *, finished: bool) -> None:
        """Note whether the request of a connection is complete."""
        if finished:
            self.unfinished.pop(connection, None)
        elif connection not in self.unfinished:
            self.unfinished[connection] = connection.client[0] if connection.client else ""

    def remove(self, connection: Connection) -> None:
        """Forget a connection that has ended."""
        self.count -= 1
        self.unfinished.pop(connection, None)


class Connection(H11Protocol):
    """A connection with a time limit for each head, each body, reading the answer, and between two requests."""

    def __init__(self, connections: ConnectionLimits, **more: Any) -> None:
        super().__init__(**more)
        self._limits = connections
        self.timeout_keep_alive = connections.idle_seconds  # type: ignore[assignment] # asyncio takes floats
        self._timer: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self._stage: tuple[Any, str] = (None, "")
        """The request that is received or answered, and its stage: head, body, answer, or idle after it."""

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the head of a request."""
        super().connection_made(transport)
        self._limits.add(self)
        self._update()

    def data_received(self, data: bytes) -> None:
        """Take what has come. A part of a head or of a body wins no time."""
        super().data_received(data)
        self._update()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._update()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        super().connection_lost(exc)
        self._limits.remove(self)
        for timer in (self._timer, self._stalled):
            if timer is not None:
                timer.cancel()

    def pause_writing(self) -> None:
        """Give whoever asked some time to read on."""
        super().pause_writing()
        self._stalled = self.loop.call_later(self._limits.send_seconds, self.end)

    def resume_writing(self) -> None:
        """Go on: somebody reads."""
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()

    def end(self) -> None:
        """End the connection at once. What it has not sent yet is lost."""
        self._limits.unfinished.pop(self, None)
        self.transport.abort()

    def _update(self) -> None:
        """Start the clock of a stage that begins here."""
        cycle = self.cycle
        if cycle is None or (cycle.response_complete and self.conn.trailing_data[0]):
            stage, seconds = (cycle, "head"), self._limits.head_seconds
        elif cycle.response_complete:
            stage, seconds = (cycle, "idle"), 0.0  # uvicorn ends it
        elif cycle.more_body:
            stage, seconds = (cycle, "body"), self._limits.body_seconds
        else:
            stage, seconds = (cycle, "answer"), 0.0
        if stage == self._stage or self.transport.is_closing():
            return
        self._stage = stage
        self._limits.update(self, finished=stage[1] == "answer")
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(seconds, self.end) if seconds else None
