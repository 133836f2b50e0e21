"""Who may do what: a token for each role. Whoever has no token sees nothing."""

from __future__ import annotations

import hmac
import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lastbit.errors import ParameterError

ROLES: Final = ("look", "release", "raise")
"""Each may do what those before it may: look at budgets and results, release, raise limits."""


@dataclass(frozen=True, repr=False)
class Tokens:
    """One token for each role.

    >>> tokens = Tokens.new()
    >>> tokens.role(tokens.of["release"]), tokens.role("guess"), tokens
    ('release', None, <Tokens>)
    """

    of: Mapping[str, str]

    @classmethod
    def new(cls) -> Tokens:
        """Tokens that nobody can guess."""
        return cls({role: secrets.token_urlsafe(24) for role in ROLES})

    @classmethod
    def load_or_create(cls, path: Path) -> Tokens:
        """The tokens in a file; where there is none yet, new ones are written to it, for its owner only."""
        with suppress(FileNotFoundError):
            stored: Any = None
            with suppress(ValueError):
                stored = json.loads(path.read_text("utf-8"))
            known = isinstance(stored, dict) and set(stored) == set(ROLES)
            if not known or any(not isinstance(token, str) or len(token) < 16 for token in stored.values()):
                raise ParameterError(
                    f"--tokens must be a file that lastbit serve has written: got {path}. Name a new file, and it is "
                    "written."
                )
            return cls(stored)
        tokens = cls.new()
        with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            json.dump(dict(tokens.of), file)
        return tokens

    def role(self, token: str) -> str | None:
        """The role of a token; None for any other text. The time it takes tells nothing about the tokens."""
        owner = None
        for role, own in self.of.items():
            if hmac.compare_digest(own.encode(), token.encode("utf-8", "replace")):
                owner = role
        return owner

    def __repr__(self) -> str:
        return "<Tokens>"


def may(role: str, need: str) -> bool:
    """Whether a role may do what needs another role.

    >>> may("release", "look"), may("look", "release")
    (True, False)
    """
    return ROLES.index(role) >= ROLES.index(need)
