"""Text files, line by line: no line can reach into another.

One line is one row. The only end of a line is a line feed; one carriage return before it belongs to it. A line that is
no UTF-8, holds a NUL, or is longer than a million bytes is left out. Nothing else is decided here, and nothing depends
on where a block of the file ends.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from lastbit.data._fields import split

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST: Final = 1_000_000
"""Bytes of the longest line that is read."""

_BLOCK: Final = 1 << 20
"""Bytes that are read at a time."""

_MARK: Final = b"\xef\xbb\xbf"


@dataclass
class Lines:
    """The lines of a file, packed or not, after its first line where that names the columns."""

    path: Path
    header: bool
    block: int = _BLOCK
    _done: list[float] = field(default_factory=lambda: [0.0])

    def first(self) -> bytes | None:
        """The first line without its end; None when it is longer than a line may be."""
        with ExitStack() as closing:
            line = self._opened(closing)[0].readline(LONGEST + len(_MARK) + 2)
        text = line.removeprefix(_MARK).removesuffix(b"\n").removesuffix(b"\r")
        return text if len(text) <= LONGEST else None

    def done(self) -> float:
        """How much of the file is read, from 0 to 100."""
        return self._done[0]

    def blocks(self) -> Iterator[bytes]:
        """Whole lines, each with its end: all that are UTF-8 without a NUL, and perhaps a few that are too long."""
        size = max(self.path.stat().st_size, 1)
        with ExitStack() as closing:
            file, raw = self._opened(closing)
            if self.header:
                file.readline()
            elif file.read(len(_MARK)) != _MARK:
                file.seek(0)
            begun = b""
            while block := file.read(self.block):
                end = block.rfind(b"\n") + 1
                if end:
                    yield _readable(begun + block[:end])
                    begun = block[end:]
                else:
                    # Cut, but never so short that a line too long becomes one that is not.
                    begun = (begun + block)[: LONGEST + 2]
                self._done[0] = 100 * raw() / size
            if begun:
                yield _readable(begun + b"\n")

    def _opened(self, closing: ExitStack) -> tuple[BufferedReader, Callable[[], int]]:
        raw = closing.enter_context(self.path.open("rb"))
        if self.path.suffix.lower() != ".gz":
            return raw, raw.tell
        return cast(BufferedReader, closing.enter_context(gzip.open(raw))), raw.tell


def _readable(block: bytes) -> bytes:
    if b"\0" not in block and _is_text(block):
        return block
    # Whether bytes are UTF-8 can be asked line by line: no character has a line feed inside.
    kept = (line for line in block[:-1].split(b"\n") if b"\0" not in line and _is_text(line))
    return b"".join(line + b"\n" for line in kept)


def _is_text(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def batches(
    lines: Lines, schema: pa.Schema, places: list[int], separator: str, *, quotes: bool
) -> Iterator[pa.RecordBatch]:
    """The wanted fields of all lines that have as many fields as there are places, as text.

    places: for each field of a line its column in the schema, or -1.
    """
    import pyarrow as pa

    where = np.array(places, np.int32)
    for block in lines.blocks():
        rows, ends, text = split(block, ord(separator), quotes, where, len(schema), LONGEST)
        columns = [
            pa.Array.from_buffers(pa.string(), rows, [None, pa.py_buffer(ends[i]), pa.py_buffer(text[i])])
            for i in range(len(schema))
        ]
        yield pa.record_batch(columns, schema=schema)
