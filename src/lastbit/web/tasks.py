"""What goes to a worker and what comes back. The public lists of the server are on both sides: only their names go."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from struct import Struct
from typing import TYPE_CHECKING, Any, Final

from starlette.requests import Request as WebRequest

from lastbit.questions.domain import Domain
from lastbit.questions.kinds import find_kind
from lastbit.questions.request import Request

if TYPE_CHECKING:
    from lastbit.web.desk import Confirmation, Desk

HEADER: Final = Struct(">Q")
"""The number of bytes that follow."""


@dataclass(frozen=True)
class Limits:
    """How much one task may take. Whoever asks for more gets an error, and the worker ends."""

    cpu_seconds: float = 10.0
    """Of computing. The time that a busy machine takes away does not count."""
    wall_seconds: float = 90.0
    """Of waiting, for example for a database."""
    memory: int = 2 << 30
    """Bytes more than the program itself."""
    growth: int = 400 << 20
    """Bytes that a worker may hold between two tasks, more than at its start."""


@dataclass(frozen=True)
class WorkerTask:
    """A request to be answered by a function of the pages or of the service."""

    work: Callable[..., Any]
    need: str
    scope: Mapping[str, Any]
    body: bytes
    role: str
    asker: str
    waiting: Mapping[str, Confirmation] = field(default_factory=dict)
    """The confirmation that the request is about."""

    @property
    def request(self) -> WebRequest:
        """The request, without its headers."""
        return WebRequest({"type": "http", "headers": [], **self.scope})


@dataclass(frozen=True)
class Reply:
    """The answer to a task."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes
    waiting: Mapping[str, Confirmation] = field(default_factory=dict)
    """Confirmations that were made."""
    last: bool = False
    """Whether the worker ends here, because it has grown."""


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, desk: Desk) -> None:
        super().__init__(file)
        self._names = {id(domain): name for name, domain in desk.lists.items()}

    def persistent_id(self, value: Any) -> Any:
        if isinstance(value, Domain) and id(value) in self._names:
            return "list", self._names[id(value)]
        if isinstance(value, Request):
            # A question is built again, and a kind is the same everywhere.
            return "request", value.kind.name, dict(value.values), value.face
        return None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, desk: Desk) -> None:
        super().__init__(file)
        self._desk = desk

    def persistent_load(self, name: Any) -> Any:
        what, *parts = name
        if what == "list":
            return self._desk.lists[parts[0]]
        kind, values, face = parts
        return Request(find_kind(kind), values, face)


def pack(value: WorkerTask | Reply, desk: Desk) -> bytes:
    """Return a task or a reply as bytes."""
    file = io.BytesIO()
    _Pickler(file, desk).dump(value)
    return file.getvalue()


def unpack(data: bytes, desk: Desk) -> Any:
    """Return the task or the reply that bytes of the other side hold."""
    return _Unpickler(io.BytesIO(data), desk).load()
