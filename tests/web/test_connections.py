"""Requests that are sent by halves, read by halves, or not at all: nobody else waits for them."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from lastbit.web import server as starter
from lastbit.web.connections import ConnectionLimits
from tests import processes
from tests.web.conftest import Served

HALF = b"GET /budget HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: "


def connect(served: Served, stack: ExitStack, data: bytes = HALF) -> socket.socket:
    connection = stack.enter_context(socket.create_connection((address(served).host, address(served).port), 600))
    connection.sendall(data)
    return connection


def address(served: Served) -> httpx.URL:
    return httpx.URL(served.address)


def is_closed(connection: socket.socket) -> bool:
    """Whether the server ends the connection, sooner or later."""
    try:
        while connection.recv(65_536):
            pass
    except ConnectionResetError:
        pass
    return True


@contextmanager
def running(limits: ConnectionLimits, app: Any) -> Iterator[tuple[str, int]]:
    """A server of an application in a thread, with limits of its own."""
    import threading

    listening = starter.listen(starter.ServerAddress(port=0))
    protocol: Any = limits.make_protocol
    server = uvicorn.Server(uvicorn.Config(app, http=protocol, ws="none", lifespan="off", log_level="critical"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield listening.getsockname()
    finally:
        server.should_exit = True
        thread.join()


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answers with the whole body, and a page of many bytes for /long."""
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        body, more = body + message.get("body", b""), message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(1000 if scope["path"] == "/long" else 0):
        await send({"type": "http.response.body", "body": bytes(65_536), "more_body": True})
    await send({"type": "http.response.body", "body": body})


def test_a_thousand_half_requests_stop_nobody(served: Served) -> None:
    with ExitStack() as stack:
        halves = [connect(served, stack) for _ in range(1005)]
        with served.client("look") as client:
            assert client.get("budget").status_code == 200
            assert client.get("api/accounts").status_code == 200
        assert is_closed(halves[0])  # the oldest ends, and the newest comes through


def test_a_half_handshake_of_tls_stops_nobody(served: Served, serve: Callable[..., Served]) -> None:
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    try:
        processes.run(
            [*make, "-keyout", "half.key", "-out", "half.pem"], cwd=served.folder, check=True, capture_output=True
        )
    except FileNotFoundError:
        pytest.skip("there is no openssl on this machine")
    server = serve("--certfile", "half.pem", "--keyfile", "half.key")
    with ExitStack() as stack:
        halves = [connect(server, stack, b"\x16\x03\x01\x02\x00") for _ in range(1005)]
        with server.client("look", verify=False) as client:
            assert client.get("budget").status_code == 200
        assert is_closed(halves[0])
        context = ssl.create_default_context(cafile=str(served.folder / "half.pem"))
        context.check_hostname = False
        half = stack.enter_context(context.wrap_socket(connect(server, stack, b"")))
        half.sendall(HALF)
        assert is_closed(half)


@pytest.mark.parametrize(
    "parts",
    [
        [b"GET / HT"],
        [b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"GET / HTTP/1.1\r\nHo"],
        [b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345"],
        [b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12"],
        [b""],
    ],
    ids=["head", "second head", "body", "chunks", "nothing"],
)
def test_heads_and_bodies_have_a_time_limit(parts: list[bytes]) -> None:
    limits = ConnectionLimits(head_seconds=0.2, body_seconds=0.2)
    with running(limits, echo) as place, socket.create_connection(place, 600) as connection:
        for part in parts:
            connection.sendall(part)
        assert is_closed(connection)
    assert (limits.count, len(limits.unfinished)) == (0, 0)


ASKS = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"


def ask_again(connection: socket.socket) -> bytes:
    connection.sendall(ASKS)
    answer = b""
    while not answer.endswith(b"hi\r\n0\r\n\r\n"):
        more = connection.recv(65_536)
        if not more:
            return b""
        answer += more
    return answer


def test_a_connection_waits_longer_for_the_next_request_than_for_a_head() -> None:
    """Whoever sends a request as the server ends the connection gets no answer: clients end theirs first."""
    limits = ConnectionLimits(head_seconds=0.1, idle_seconds=3600)
    with running(limits, echo) as place, socket.create_connection(place, 600) as connection:
        for _ in range(3):
            assert ask_again(connection)
            time.sleep(0.3)  # longer than a head may take
        assert ask_again(connection)
        connection.sendall(ASKS[:20])  # a head that has begun has its own time
        assert is_closed(connection)


def test_a_connection_that_asks_no_more_ends() -> None:
    limits = ConnectionLimits(head_seconds=3600, idle_seconds=0.2)
    with running(limits, echo) as place, socket.create_connection(place, 600) as connection:
        assert ask_again(connection)
        assert is_closed(connection)
    assert (limits.count, len(limits.unfinished)) == (0, 0)


def test_clients_and_proxies_keep_connections_for_less_time_than_the_server() -> None:
    """Of httpx as it is, of Go and Firefox as they are documented: 5, 90 and 115 seconds."""
    expiry = httpx.Limits().keepalive_expiry
    assert expiry is not None
    assert max(expiry, 90, 115) < ConnectionLimits().idle_seconds


def test_drops_of_a_head_win_no_time() -> None:
    with running(ConnectionLimits(head_seconds=0.5), echo) as place, socket.create_connection(place, 600) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n")
        drops = 0
        with suppress(OSError):  # the connection ends while the drops come
            while drops < 2000:  # before the head is too long
                connection.sendall(b"X: y\r\n")
                drops += 1
                time.sleep(0.02)
        assert drops < 2000


def test_whoever_reads_nothing_of_an_answer_is_not_waited_for() -> None:
    limits = ConnectionLimits(send_seconds=0.2)
    with running(limits, echo) as place, socket.create_connection(place, 600) as connection:
        connection.sendall(b"GET /long HTTP/1.1\r\nHost: a\r\n\r\n")
        while limits.count == 0:
            time.sleep(0.01)
        while limits.count:  # nothing is read here
            time.sleep(0.01)


def test_an_answer_that_takes_long_is_waited_for() -> None:
    import asyncio

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(0.5)
        await echo(scope, receive, send)

    limits = ConnectionLimits(head_seconds=0.1, body_seconds=0.1, send_seconds=0.1)
    with running(limits, slow) as place:
        assert httpx.get(f"http://127.0.0.1:{place[1]}/", trust_env=False, timeout=600).status_code == 200


def test_too_many_connections_of_an_address_end_the_oldest_that_says_nothing() -> None:
    limits = ConnectionLimits(most_of_an_address=5)
    with running(limits, echo) as place, ExitStack() as stack:
        idle = [stack.enter_context(socket.create_connection(place, 600)) for _ in range(6)]
        assert is_closed(idle[0])
        last = idle[5]
        last.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert last.recv(100).startswith(b"HTTP/1.1 200")


def test_there_is_a_limit_of_all_connections() -> None:
    limits = ConnectionLimits(most=4, most_of_an_address=100, head_seconds=3600)
    with running(limits, echo) as place, ExitStack() as stack:
        idle = [stack.enter_context(socket.create_connection(place, 600)) for _ in range(9)]
        idle[8].sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert idle[8].recv(100).startswith(b"HTTP/1.1 200")
        assert limits.count <= 4
        assert all(is_closed(connection) for connection in idle[:5])


def test_no_answer_waits_for_the_next_packet(tmp_path: Path) -> None:
    """asyncio turns Nagle's algorithm off for sockets whose protocol is said, and only for those."""
    with starter.listen(starter.ServerAddress(port=0)) as listening:
        assert listening.proto == socket.IPPROTO_TCP
        with socket.create_connection(listening.getsockname()), listening.accept()[0] as accepted:
            assert accepted.proto == socket.IPPROTO_TCP
