"""Where rows are: files by their names, patterns of names, and what comes through a pipe."""

from __future__ import annotations

import glob
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, Final

from lastbit.errors import DataError, ParameterError

_MOST: Final = 10_000
"""Files that are read together at most."""


def expand_paths(names: Sequence[str]) -> list[str]:
    """Return the paths that a person names. A name with * ? or [ is a pattern only where no file has that very name.

    >>> expand_paths(["postgresql://host/clinic", "-"])
    ['postgresql://host/clinic', '-']
    """
    paths: list[str] = []
    for name in names:
        if name == "-" or "://" in name or os.path.lexists(name) or not glob.has_magic(name):
            paths.append(name)
            continue
        matches = sorted(match for match in glob.glob(name, recursive=True) if os.path.isfile(match))
        if not matches:
            raise DataError(f"there is no file {name}, and no file whose name fits it as a pattern. Check the name.")
        paths += matches
    if not paths or len(paths) > _MOST:
        raise ParameterError(f"give from 1 to {_MOST:,} files: got {len(paths):,}.")
    once = {path if path == "-" or "://" in path else os.path.realpath(path) for path in paths}
    if len(once) != len(paths):
        raise ParameterError("a file is named twice: its rows would count twice. Name each file once.")
    return paths


class PipedInput:
    """The bytes of a pipe, which can be read once only: kept in a file without a name until the command ends.

    Each reader has a position of its own in it.
    """

    def __init__(self, pipe: IO[bytes]) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            shutil.copyfileobj(pipe, self._file, 1 << 20)
            self._file.flush()
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        """Forget the bytes."""
        self._file.close()

    def __str__(self) -> str:
        return "standard input"

    def open(self, mode: str = "rb") -> io.BufferedReader:
        """Open a reader from the first byte on."""
        return io.BufferedReader(_Reader(self._file.fileno()))

    def stat(self) -> Any:
        """Return its size, as a path tells it."""
        return SimpleNamespace(st_size=os.fstat(self._file.fileno()).st_size)


class _Reader(io.RawIOBase):
    def __init__(self, number: int) -> None:
        self._number, self._at = number, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        ends = {0: 0, 1: self._at, 2: os.fstat(self._number).st_size}
        self._at = ends[whence] + offset
        return self._at

    def readinto(self, buffer: Any) -> int:
        data = os.pread(self._number, len(buffer), self._at)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


_PIPE: list[PipedInput] = []


def read_standard_input() -> PipedInput:
    """Return everything that comes through standard input, read once."""
    if not _PIPE:
        if sys.stdin is None:
            raise DataError("there is nothing to read: standard input is closed. Name a file instead of -.")
        _PIPE.append(PipedInput(sys.stdin.buffer))
    return _PIPE[0]


Source = Path | PipedInput
