"""The file of a server's tokens: made, listed and withdrawn by commands while the server runs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Lock
from typing import Any, Final

from lastbit.errors import ParameterError
from lastbit.web.tokens import ROLES, Token

try:
    import fcntl
except ImportError:  # Windows: of two commands at once, one may be forgotten
    fcntl = None  # type: ignore[assignment]

_LONGEST: Final = 100
_FIELDS: Final = ("name", "role", "digest", "created", "expires", "withdrawn")
_TIMES: Final = _FIELDS[3:]


class TokenFile:
    """Tokens by their digests, in a file for its owner only. The file holds no secret."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(os.path.abspath(path))
        self._signature: tuple[int, ...] | None = None
        self._tokens: Mapping[str, Token] = {}
        self._lock = Lock()

    def read(self) -> Mapping[str, Token]:
        """Return the tokens as they are now. From a file that is gone or damaged come none, and the server says so."""
        with self._lock:
            signature = self._stat()
            if signature != self._signature:
                try:
                    self._tokens = {token.digest: token for token in self.load()}
                except (ParameterError, FileNotFoundError) as error:
                    self._tokens = {}
                    print(f"lastbit: no token of {self.path} is taken: {error}", file=sys.stderr, flush=True)
                self._signature = signature
            return self._tokens

    def _stat(self) -> tuple[int, ...]:
        try:
            status = self.path.stat()
        except OSError:
            return ()
        return status.st_mtime_ns, status.st_ino, status.st_size

    def load(self) -> list[Token]:
        """Return all tokens, in the order in which they were made; FileNotFoundError where there is no file."""
        try:
            tokens = [_parse(entry) for entry in json.loads(self.path.read_text("utf-8"))["tokens"]]
            if len({token.name for token in tokens}) == len(tokens):
                return tokens
        except FileNotFoundError:
            raise
        except (OSError, LookupError, TypeError, ValueError):
            pass
        raise ParameterError(
            f"--tokens must be a file that lastbit has written: got {self.path}. Name a new file, and it is written."
        )

    def add(self, *tokens: Token) -> None:
        """Write more tokens. A name that has a token which still opens something is refused."""

        def change(known: list[Token]) -> list[Token]:
            now, new = datetime.now(UTC), {_check_name(token.name) for token in tokens}
            for token in known:
                if token.name in new and token.is_valid(now):
                    raise ParameterError(
                        f"there is a token named {token.name!r} already. Choose another name, or withdraw that one: "
                        f"lastbit token withdraw {token.name} --tokens FILE."
                    )
            return [*(token for token in known if token.name not in new), *tokens]

        self._change(change)

    def withdraw(self, name: str) -> Token:
        """End a token, and with it every session that was opened with it. Return the token."""
        ended: list[Token] = []

        def change(known: list[Token]) -> list[Token]:
            ended.extend(token for token in known if token.name == name)
            if not ended:
                raise ParameterError(f"there is no token named {name!r}. See: lastbit token list --tokens FILE.")
            return [token.withdraw() if token.name == name else token for token in known]

        self._change(change)
        return ended[0]

    def _change(self, change: Callable[[list[Token]], list[Token]]) -> None:
        """Write the file anew, all or nothing; two commands at once take turns."""
        problem = ""
        try:
            descriptor = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
            try:
                if fcntl is not None:
                    fcntl.flock(descriptor, fcntl.LOCK_EX)
                known: list[Token] = []
                with suppress(FileNotFoundError):
                    known = self.load()
                text = json.dumps({"version": 1, "tokens": [_write(token) for token in change(known)]}, indent=1)
                # A temporary file is for its owner only.
                with NamedTemporaryFile("w", encoding="utf-8", dir=self.path.parent, delete=False) as beside:
                    beside.write(text + "\n")
                    beside.flush()
                    os.fsync(beside.fileno())
                os.replace(beside.name, self.path)
            finally:
                os.close(descriptor)
        except OSError as error:
            problem = error.strerror or type(error).__name__
        if problem:
            raise ParameterError(f"the tokens cannot be written to {self.path}: {problem}. Name another file.")


def _check_name(name: str) -> str:
    if not name.isprintable() or not name.strip() or len(name) > _LONGEST:
        raise ParameterError(
            f"the name of a token must have from 1 to {_LONGEST} printable characters. Nothing was written."
        )
    return name


def _parse(entry: Mapping[str, Any]) -> Token:
    times = [None if entry[name] is None else datetime.fromisoformat(entry[name]) for name in _TIMES]
    created, expires, withdrawn = times
    if created is None or any(time is not None and time.tzinfo is None for time in times):
        raise ValueError
    if entry["role"] not in ROLES or not isinstance(entry["name"], str) or len(str(entry["digest"])) != 64:
        raise ValueError
    return Token(entry["name"], entry["role"], entry["digest"], created, expires, withdrawn)


def _write(token: Token) -> dict[str, Any]:
    times = {name: getattr(token, name) for name in _TIMES}
    written = {name: None if time is None else time.isoformat() for name, time in times.items()}
    return {"name": token.name, "role": token.role, "digest": token.digest, **written}
