"""Starts the server: where it listens, under which names, and with which tokens."""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import uvicorn

from lastbit.errors import ParameterError
from lastbit.web.app import application
from lastbit.web.connections import ConnectionLimits
from lastbit.web.desk import Desk
from lastbit.web.tokens import ROLES, Token, Tokens
from lastbit.web.workers import Workers

_MOST_FILES: Final = 8192
_WORDS: Final = {
    "look": "may look", "release": "may look and release", "raise": "may look, release and raise limits",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ServerAddress:
    """Where a server listens, and the names that it answers to."""

    host: str = "127.0.0.1"
    port: int = 8777
    certfile: str | None = None
    keyfile: str | None = None
    without_tls: bool = False
    names: tuple[str, ...] = ()
    """Other names under which the server may be asked, such as that of a proxy."""
    label: str = field(default_factory=lambda: f"lastbit-{secrets.token_hex(4)}")
    """The first part of the name that browsers use on this machine."""

    def __post_init__(self) -> None:
        if not 0 <= self.port < 1 << 16:
            raise ParameterError(f"--port must be from 0 to 65535: got {self.port}.")
        if (self.certfile is None) != (self.keyfile is None):
            raise ParameterError("--certfile and --keyfile go together: give both, or none.")
        if not self.on_this_machine and self.certfile is None and not self.without_tls:
            raise ParameterError(
                f"--host {self.host} is open to other machines, and then tokens and results must not travel in the "
                "clear. Give --certfile and --keyfile, or say --without-tls where a proxy or a tunnel encrypts."
            )

    @property
    def on_this_machine(self) -> bool:
        """Whether only programs of this machine can reach the server."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def secure(self) -> bool:
        """Whether the server itself speaks TLS."""
        return self.certfile is not None

    def hosts(self, port: int) -> frozenset[str]:
        """Return the Host headers that are answered."""
        own = {"127.0.0.1", "localhost", "[::1]"} if self.on_this_machine else set()
        if self.host not in ("0.0.0.0", "::"):  # noqa: S104 # those are no names
            own.add(f"[{self.host}]" if ":" in self.host else self.host)
        others = {name.lower() for name in self.names}
        # A browser leaves the usual port out, and a proxy has a port of its own.
        bare = {*others, *(own if port == (443 if self.secure else 80) else ())}
        return frozenset({f"{name}:{port}" for name in (*own, *others)} | bare)

    def home(self, port: int) -> str | None:
        """Return the host that sessions live at, with its port; None where that is whatever name a browser asks by.

        Other programs of this machine listen at localhost too, and browsers send them all cookies of localhost.
        Browsers take every name that ends in .localhost for this machine, so this server has such a name to itself.
        A certificate does not have that name.
        """
        return f"{self.label}.localhost:{port}" if self.on_this_machine and not self.names and not self.secure else None

    def address(self, port: int) -> str:
        """Return the address without a token."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'s' * self.secure}://{self.names[0] if self.names else shown}:{port}/"


class _Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen. Whoever begins with TLS and says no more is not waited for as long as asyncio would."""
        loop = asyncio.get_running_loop()
        if self.config.is_ssl:
            listen = partial(loop.create_server, ssl_handshake_timeout=ConnectionLimits.head_seconds)
            loop.create_server = listen  # type: ignore[method-assign]
        await super().startup(sockets)


def serve(desk: Desk, place: ServerAddress, tokens: Tokens, texts: Mapping[str, str], *, open_browser: bool) -> None:
    """Serve until somebody stops it. The addresses are printed when the server listens.

    `texts` are the secrets of tokens that were made just now, by role: nobody can print those of a file again.
    """
    _ = desk.account, desk.columns  # refuses what cannot work, before anything listens
    listening = listen(place)
    _allow_files()
    port = listening.getsockname()[1]
    guard = application(
        desk,
        tokens,
        place.hosts(port),
        secure=place.secure,
        home=place.home(port),
        cookie=f"__Host-lastbit-{port}" if place.secure else f"lastbit-{port}",
        workers=Workers(desk),
    )
    settings: dict[str, Any] = {"log_level": "critical", "access_log": False, "server_header": False}
    if place.secure:
        settings |= {"ssl_certfile": place.certfile, "ssl_keyfile": place.keyfile}
    connection: Any = ConnectionLimits().make_protocol
    server = _Server(
        uvicorn.Config(guard, http=connection, ws="none", lifespan="on", timeout_graceful_shutdown=5, **settings)
    )
    address = place.address(port)
    for role in ROLES:
        if role in texts:
            print(f"{_WORDS[role]:37} {address}?token={texts[role]}", flush=True)
    if tokens.file is not None and not texts:
        print(f"{address}?token=… takes each token of {tokens.file.path}", flush=True)
    print("Stop with Ctrl-C. Whoever has an address may do what it says: send it with care.", file=sys.stderr)
    if open_browser:
        import webbrowser

        # A list of processes shows this address. It opens one session, once, that may not raise limits.
        ticket = guard.sessions.issue_ticket(tokens.add(Token.make("browser", "release")[0]))
        webbrowser.open(f"http{'s' * place.secure}://{place.home(port) or address.split('/')[2]}/?ticket={ticket}")
    server.run(sockets=[listening])


def listen(place: ServerAddress) -> socket.socket:
    """Return a socket that listens."""
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    # asyncio turns Nagle's algorithm off where the protocol is said: otherwise each answer waits for 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    problem = ""
    try:
        listening.bind((place.host, place.port))
        listening.listen(1024)
    except OSError as error:
        listening.close()
        problem = error.strerror or type(error).__name__
    if problem:
        raise ParameterError(f"the server cannot listen at {place.host}:{place.port}: {problem}. Try another --port.")
    return listening


def _allow_files() -> None:
    """Allow this process as many open files as its limits of connections need, where that is allowed."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wish = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
        if soft < wish:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wish, hard))
