"""What every request passes: Host, Origin, token, role, rate, size; and what every answer carries."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from threading import Lock
from typing import Any, Final, cast

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import HTMLResponse, JSONResponse, Response

from lastbit.web.sessions import Sessions
from lastbit.web.tokens import Token, Tokens

MOST_BYTES: Final = 1 << 20
"""Of a request's body."""
_MOST_ADDRESS: Final = 64_000

HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_SAFE: Final = ("GET", "HEAD")
_PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>lastbit</title>
{refresh}<link rel="icon" href="/static/icon.svg">
<link rel="stylesheet" href="/static/report.css"></head>
<body><main>{text}</main></body></html>
"""
_MOST_AT_ONCE: Final = 64
"""So many requests of one token are answered at once."""
_MOST_NAMES: Final = 10_000
"""So many names have a rate; those that were not seen for the longest time are forgotten."""


@dataclass
class RateLimit:
    """So many requests at once, and so many a second in the long run, for each name: a bucket that fills up again.

    >>> rate = RateLimit(2, 1.0, now=iter([0.0, 0.0, 0.0, 5.0]).__next__)
    >>> [rate.allows("anna") for _ in range(4)]
    [True, True, False, True]
    """

    burst: float
    a_second: float
    now: Callable[[], float] = time.monotonic
    _left: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def allows(self, name: str) -> bool:
        """Return whether one more request of this name is within the rate."""
        with self._lock:
            now = self.now()
            left, before = self._left.pop(name, (self.burst, now))
            left = min(self.burst, left + (now - before) * self.a_second)
            allowed = left >= 1
            self._left[name] = (left - allowed, now)
            if len(self._left) > _MOST_NAMES:
                self._left.popitem(last=False)
            return allowed


@dataclass
class Guard:
    """An ASGI application around another. Requests that it lets through have a token in their state."""

    app: Any
    tokens: Tokens
    hosts: frozenset[str]
    """The Host headers that are answered, with their ports."""
    secure: bool
    """Whether the address is https."""
    cookie: str
    home: str | None = None
    """The one host, with its port, that sessions live at: browsers send a cookie to every port of a host."""
    rate: RateLimit = field(default_factory=lambda: RateLimit(burst=1000, a_second=100))
    guesses: RateLimit = field(default_factory=lambda: RateLimit(burst=30, a_second=0.5))
    sessions: Sessions = field(init=False)
    _under_way: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.sessions = Sessions(self.tokens)
        if self.home is not None:
            self.hosts = self.hosts | {self.home}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                if scope["path"].startswith("/static/"):
                    headers["cache-control"] = "private, max-age=3600"
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, with_headers)
            return
        token = scope.get("state", {}).get("token")
        if token is None:
            await self.app(scope, receive, with_headers)
        elif self._under_way[token.name] >= _MOST_AT_ONCE:
            busy = refuse(scope, 429, f"More than {_MOST_AT_ONCE} requests at once. Wait for their answers.")
            await busy(scope, receive, with_headers)
        else:
            self._under_way[token.name] += 1
            try:
                await self.app(scope, receive, with_headers)
            finally:
                self._under_way[token.name] -= 1

    def _refusal(self, scope: Any) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        if host not in self.hosts:
            # A page elsewhere may have its name point here: it is not answered.
            return refuse(scope, 421, "This server does not answer to this name.")
        if len(scope.get("query_string", b"")) > _MOST_ADDRESS:
            return refuse(scope, 414, "The address is too long. Ask with fewer items.")
        if not self._from_here(scope["method"], headers):
            return refuse(scope, 403, "The request comes from another page. Nothing was done.")
        if scope["path"].startswith("/static/"):
            return None
        client = (scope.get("client") or ("",))[0]
        credentials = self._credentials(scope, headers, host)
        if credentials.token is None:
            if credentials.text and not self.guesses.allows(client):
                return refuse(scope, 429, "Too many wrong tokens. Wait a minute.")
            return refuse(
                scope,
                401,
                "This page needs a token. Open the address with your token again: sessions end after some hours, and "
                "with the server.",
            )
        if not self.rate.allows(credentials.token.name):
            return refuse(scope, 429, "Too many requests. Wait a few seconds.")
        size = headers.get("content-length", "0")
        if not size.isascii() or not size.isdigit() or len(size) > 15 or int(size) > MOST_BYTES:
            return refuse(scope, 413, f"The request is too large: at most {MOST_BYTES:,} bytes.")
        if credentials.kind == "address":
            return self._enter(credentials, host)
        if credentials.kind == "session" and scope["path"] == "/leave" and scope["method"] == "POST":
            return self._leave(credentials)
        scope.setdefault("state", {}).update(token=credentials.token, source=f"{client} {credentials.session}")
        return None

    def _from_here(self, method: str, headers: Mapping[str, str]) -> bool:
        """Return whether a request is no other page's doing. Programs
        send no Origin, and carry their token themselves.
        """
        origin = headers.get("origin")
        if origin is not None:
            scheme, _, place = origin.lower().partition("://")
            # A proxy in front of a server in the clear may speak https under the same name.
            return place in self.hosts and scheme in (("https",) if self.secure else ("http", "https"))
        if method in _SAFE:
            return True
        return headers.get("authorization", "").lower().startswith("bearer ")

    def _credentials(self, scope: Any, headers: Mapping[str, str], host: str) -> Credentials:
        """Return what a request says of who asks."""
        kind, _, bearer = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return Credentials("header", bearer.strip(), self.tokens.find(bearer.strip()))
        if scope["path"] == "/" and scope["method"] in _SAFE:
            query = QueryParams(scope.get("query_string", b""))
            if secret := query.get("token"):
                return Credentials("address", secret, self.tokens.find(secret))
            if (ticket := query.get("ticket")) and self.home in (None, host):
                key = self.sessions.open(ticket)
                return Credentials("address", ticket, None if key is None else self.sessions.find(key), key or "")
        if self.home not in (None, host):
            return Credentials("", "", None)  # a cookie that came here goes to every port of this host
        try:
            morsel = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            morsel = None
        key = "" if morsel is None else morsel.value
        return Credentials("session", key, self.sessions.find(key) if key else None, key)

    def _enter(self, credentials: Credentials, host: str) -> Response:
        """Answer an address with a token or a ticket: a page that goes on to the home of sessions, with a cookie there.

        Not a redirect: the browser sends the cookie with requests that come from this very page only.
        """
        key = credentials.session
        if not key:
            ticket = self.sessions.issue_ticket(cast("Token", credentials.token))
            if self.home not in (None, host):
                return HTMLResponse(_go_on(f"http{'s' * self.secure}://{self.home}/?ticket={ticket}", self.home))
            key = self.sessions.open(ticket) or ""
        answer = HTMLResponse(_go_on("/", None))
        answer.set_cookie(self.cookie, key, httponly=True, samesite="strict", secure=self.secure, path="/")
        return answer

    def _leave(self, credentials: Credentials) -> Response:
        self.sessions.close(credentials.session)
        answer = HTMLResponse(_PAGE.format(refresh="", text="<h1>Signed out</h1>"))
        answer.delete_cookie(self.cookie, httponly=True, samesite="strict", secure=self.secure, path="/")
        return answer


@dataclass(frozen=True)
class Credentials:
    """What a request says of who asks, and the token that it stands for; None where it stands for none."""

    kind: str
    """header, address or session; "" where there is nothing."""
    text: str
    token: Token | None
    session: str = ""
    """The key of a session."""


def _go_on(address: str, home: str | None) -> str:
    """Return a page that goes on to another address."""
    name = "" if home is None else home.partition(":")[0]
    hint = (
        f"<p>If your browser does not find {name}, add the line 127.0.0.1 {name} to the hosts file.</p>" if name else ""
    )
    refresh = f'<meta http-equiv="refresh" content="0;url={address}">'
    return _PAGE.format(refresh=refresh, text=f'<p><a href="{address}">Go on to lastbit</a></p>{hint}')


def refuse(scope: Any, status: int, message: str) -> Response:
    """Return a refusal in the form that the asker reads. It holds nothing of the request."""
    if scope["path"].startswith("/api"):
        return JSONResponse({"error": message}, status)
    return HTMLResponse(
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>lastbit: refused</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="stylesheet" href="/static/report.css"></head><body><main><h1>{status}</h1>'
        f"<p>{message}</p></main></body></html>\n",
        status,
    )
