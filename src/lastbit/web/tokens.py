"""Who may do what: tokens with a name and a role. Whoever has no token sees nothing.

A token is a secret text. Nobody but its holder has it: a server and its file know the digest of a token.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from threading import Lock
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from lastbit.web.token_file import TokenFile

ROLES: Final = ("look", "release", "raise")
"""Each may do what those before it may: look at budgets and results, release, raise limits."""


def digest_of(secret: str) -> str:
    """Return the digest by which a token or a session is known."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, repr=False)
class Token:
    """A token as a server knows it: the name of its holder, a role, and a digest of the secret.

    >>> token, secret = Token.make("anna", "release")
    >>> token.digest == digest_of(secret), token
    (True, <Token: anna, release>)
    """

    name: str
    role: str
    digest: str
    created: datetime
    expires: datetime | None = None
    """From this moment on the token opens nothing; None where it has no end."""
    withdrawn: datetime | None = None
    """When somebody withdrew the token."""

    @classmethod
    def make(cls, name: str, role: str, expires: datetime | None = None) -> tuple[Token, str]:
        """Return a new token, and its secret, which is kept nowhere."""
        secret = secrets.token_urlsafe(24)
        return cls(name, role, digest_of(secret), datetime.now(UTC), expires), secret

    def is_valid(self, now: datetime) -> bool:
        """Return whether the token opens anything at this moment."""
        return self.withdrawn is None and (self.expires is None or now < self.expires)

    def withdraw(self) -> Token:
        """Return the token as one that opens nothing from now on."""
        return replace(self, withdrawn=datetime.now(UTC))

    def __repr__(self) -> str:
        return f"<Token: {self.name}, {self.role}>"


@dataclass(repr=False)
class Tokens:
    """The tokens that a server takes: its own, which end with it, and those of a file, which it reads again and again.

    >>> tokens, secrets = Tokens.make()
    >>> tokens.find(secrets["release"]), tokens.find("guess"), tokens
    (<Token: release, release>, None, <Tokens>)
    """

    own: dict[str, Token] = field(default_factory=dict)
    """Tokens that end with the server, by their digests."""
    file: TokenFile | None = None
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    _latest: datetime | None = None
    _lock: Lock = field(default_factory=Lock)

    @classmethod
    def make(cls, roles: Iterable[str] = ROLES) -> tuple[Tokens, dict[str, str]]:
        """Return tokens that end with the server, one for each role, and their secrets by role."""
        pairs = [Token.make(role, role) for role in roles]
        return cls({token.digest: token for token, _ in pairs}), {token.role: secret for token, secret in pairs}

    def add(self, token: Token) -> Token:
        """Take one more token, until the server ends."""
        self.own[token.digest] = token
        return token

    def find(self, secret: str) -> Token | None:
        """Return the token of a secret; None for any other text, and where the token has ended or was withdrawn."""
        # Whoever measures the time learns about digests, and a digest leads to no secret.
        return self.find_digest(digest_of(secret))

    def find_digest(self, digest: str) -> Token | None:
        """Return the token with this digest, unless it has ended or was withdrawn."""
        token = self.own.get(digest)
        if token is None and self.file is not None:
            token = self.file.read().get(digest)
        return token if token is not None and token.is_valid(self._moment()) else None

    def _moment(self) -> datetime:
        """Return the time, which goes back for nobody: a clock that is set back revives no token."""
        with self._lock:
            now = self.now()
            self._latest = now if self._latest is None else max(self._latest, now)
            return self._latest

    def __repr__(self) -> str:
        return "<Tokens>"


def may(role: str, need: str) -> bool:
    """Return whether a role may do what needs another role.

    >>> may("release", "look"), may("look", "release")
    (True, False)
    """
    return ROLES.index(role) >= ROLES.index(need)
