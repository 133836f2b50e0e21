"""Starts the server: where it listens, under which names, and with which tokens."""

from __future__ import annotations

import ipaddress
import socket
import sys
from dataclasses import dataclass
from typing import Any

import uvicorn

from lastbit.errors import ParameterError
from lastbit.web.app import application
from lastbit.web.desk import Desk
from lastbit.web.tokens import ROLES, Tokens


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a server listens."""

    host: str = "127.0.0.1"
    port: int = 8777
    certfile: str | None = None
    keyfile: str | None = None
    without_tls: bool = False
    names: tuple[str, ...] = ()
    """Other names under which the server may be asked, such as that of a proxy."""

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
        """The Host headers that are answered."""
        own = {"127.0.0.1", "localhost", "[::1]"} if self.on_this_machine else set()
        if self.host not in ("0.0.0.0", "::"):  # noqa: S104 # those are no names
            own.add(f"[{self.host}]" if ":" in self.host else self.host)
        others = {name.lower() for name in self.names}
        # A browser leaves the usual port out, and a proxy has a port of its own.
        bare = {*others, *(own if port == (443 if self.secure else 80) else ())}
        return frozenset({f"{name}:{port}" for name in (*own, *others)} | bare)

    def address(self, port: int) -> str:
        """The address without a token."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'s' * self.secure}://{self.names[0] if self.names else shown}:{port}/"


def serve(desk: Desk, place: Place, tokens: Tokens, *, opened: bool) -> None:
    """Serve until somebody stops it. The addresses are printed when the server listens."""
    _ = desk.account, desk.columns  # refuses what cannot work, before anything listens
    listening = _listen(place)
    port = listening.getsockname()[1]
    app = application(desk, tokens, place.hosts(port), secure=place.secure, cookie=f"lastbit-{port}")
    settings: dict[str, Any] = {"log_level": "critical", "access_log": False, "server_header": False}
    if place.secure:
        settings |= {"ssl_certfile": place.certfile, "ssl_keyfile": place.keyfile}
    server = uvicorn.Server(
        uvicorn.Config(app, lifespan="on", timeout_graceful_shutdown=5, limit_concurrency=1000, **settings)
    )
    address = place.address(port)
    words = {"look": "may look", "release": "may look and release", "raise": "may look, release and raise limits"}
    for role in ROLES:
        print(f"{words[role]:37} {address}?token={tokens.of[role]}", flush=True)
    print("Stop with Ctrl-C. Whoever has an address may do what it says: send it with care.", file=sys.stderr)
    if opened:
        import webbrowser

        webbrowser.open(f"{address}?token={tokens.of['raise']}")
    server.run(sockets=[listening])


def _listen(place: Place) -> socket.socket:
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
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
