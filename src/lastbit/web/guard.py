"""What every request passes: Host, Origin, token, role, rate, size; and what every answer carries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import HTMLResponse, JSONResponse, Response

from lastbit.web.rates import Rate
from lastbit.web.tokens import Tokens

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
_ENTER: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>lastbit</title>
<meta http-equiv="refresh" content="0;url=/"><link rel="icon" href="/static/icon.svg">
<link rel="stylesheet" href="/static/report.css"></head>
<body><main><p><a href="/">Go on to lastbit</a></p></main></body></html>
"""


@dataclass
class Guard:
    """An ASGI application around another. Requests that it lets through have a role in their state."""

    app: Any
    tokens: Tokens
    hosts: frozenset[str]
    """The Host headers that are answered, with their ports."""
    secure: bool
    """Whether the address is https."""
    cookie: str
    rate: Rate = field(default_factory=lambda: Rate(burst=1000, a_second=100))
    guesses: Rate = field(default_factory=lambda: Rate(burst=30, a_second=0.5))

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
        else:
            await self.app(scope, receive, with_headers)

    def _refusal(self, scope: Any) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host.lower() not in self.hosts:
            # A page elsewhere may have its name point here: it is not answered.
            return refuse(scope, 421, "This server does not answer to this name.")
        if len(scope.get("query_string", b"")) > _MOST_ADDRESS:
            return refuse(scope, 414, "The address is too long. Ask with fewer items.")
        if not self._from_here(scope["method"], headers):
            return refuse(scope, 403, "The request comes from another page. Nothing was done.")
        if scope["path"].startswith("/static/"):
            return None
        client = (scope.get("client") or ("",))[0]
        token, shown = self._token(scope, headers)
        role = self.tokens.role(token) if token else None
        if role is None:
            if token and not self.guesses.allows(client):
                return refuse(scope, 429, "Too many wrong tokens. Wait a minute.")
            return refuse(
                scope, 401, "This page needs a token. Open the address that `lastbit serve` printed when it started."
            )
        if not self.rate.allows(role):
            return refuse(scope, 429, "Too many requests. Wait a few seconds.")
        size = headers.get("content-length", "0")
        if not size.isascii() or not size.isdigit() or len(size) > 15 or int(size) > MOST_BYTES:
            return refuse(scope, 413, f"The request is too large: at most {MOST_BYTES:,} bytes.")
        if shown and scope["method"] in _SAFE:
            # Not a redirect: the cookie is for requests from this very page only.
            answer = HTMLResponse(_ENTER)
            answer.set_cookie(self.cookie, token, httponly=True, samesite="strict", secure=self.secure, path="/")
            return answer
        scope.setdefault("state", {})["role"] = role
        return None

    def _from_here(self, method: str, headers: Mapping[str, str]) -> bool:
        """Whether a request is no other page's doing. Programs send no Origin, and carry their token themselves."""
        origin = headers.get("origin")
        if origin is not None:
            scheme, _, place = origin.lower().partition("://")
            # A proxy in front of a server in the clear may speak https under the same name.
            return place in self.hosts and scheme in (("https",) if self.secure else ("http", "https"))
        if method in _SAFE:
            return True
        return headers.get("authorization", "").lower().startswith("bearer ")

    def _token(self, scope: Any, headers: Mapping[str, str]) -> tuple[str, bool]:
        """The token of a request, and whether the address shows it."""
        kind, _, bearer = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return bearer.strip(), False
        shown = QueryParams(scope.get("query_string", b"")).get("token") if scope["path"] == "/" else None
        if shown:
            return shown, True
        try:
            held = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            held = None
        return ("" if held is None else held.value), False


def refuse(scope: Any, status: int, message: str) -> Response:
    """A refusal in the form that the asker reads. It holds nothing of the request."""
    if scope["path"].startswith("/api"):
        return JSONResponse({"error": message}, status)
    return HTMLResponse(
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>lastbit: refused</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="stylesheet" href="/static/report.css"></head><body><main><h1>{status}</h1>'
        f"<p>{message}</p></main></body></html>\n",
        status,
    )
