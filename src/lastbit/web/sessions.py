"""Sessions of browsers: a cookie stands for a token, in this server only and for some hours."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from lastbit.web.tokens import Token, Tokens, digest_of

_HOURS: Final = 12
_TICKET_SECONDS: Final = 60.0
_MOST: Final = 200
"""So many sessions of one token are open at once; the oldest one of them ends."""


@dataclass
class Sessions:
    """Who is signed in. A session ends with the server, with its token, when somebody signs out, and after 12 hours.

    A ticket opens one session, once, within a minute. So neither a token nor a session need ever stand in an address
    that other programs of the machine may see.

    >>> tokens, texts = Tokens.make()
    >>> sessions = Sessions(tokens)
    >>> ticket = sessions.issue_ticket(tokens.find(texts["look"]))
    >>> key = sessions.open(ticket)
    >>> sessions.find(key), sessions.open(ticket), sessions.find(texts["look"])
    (<Token: look, look>, None, None)
    """

    tokens: Tokens
    now: Callable[[], float] = time.monotonic
    _open: OrderedDict[str, tuple[str, float]] = field(default_factory=OrderedDict)
    """The digest of its token, and the end, by the digest of the session."""
    _tickets: OrderedDict[str, tuple[str, float]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def issue_ticket(self, token: Token) -> str:
        """Return a text that opens one session of this token, once."""
        return self._put(self._tickets, token.digest, _TICKET_SECONDS)

    def open(self, ticket: str) -> str | None:
        """Return the key of a new session; None where the ticket is used, too old, or none."""
        with self._lock:
            digest, end = self._tickets.pop(digest_of(ticket), ("", 0.0))
        if self.now() >= end or self.tokens.find_digest(digest) is None:
            return None
        return self._put(self._open, digest, _HOURS * 3600.0)

    def find(self, key: str) -> Token | None:
        """Return the token of a session, unless one of the two has ended."""
        digest, end = self._open.get(digest_of(key), ("", 0.0))
        return self.tokens.find_digest(digest) if self.now() < end else None

    def close(self, key: str) -> None:
        """End a session."""
        with self._lock:
            self._open.pop(digest_of(key), None)

    def _put(self, place: OrderedDict[str, tuple[str, float]], digest: str, seconds: float) -> str:
        key = secrets.token_urlsafe(24)
        with self._lock:
            now = self.now()
            for old in [name for name, (_, end) in place.items() if end <= now]:
                del place[old]
            same = [name for name, (token, _) in place.items() if token == digest]
            if len(same) >= _MOST:
                del place[same[0]]
            place[digest_of(key)] = (digest, self.now() + seconds)
        return key
