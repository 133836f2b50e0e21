"""Text files, line by line: no line can reach into another.

One line is one row. The only end of a line is a line feed; one carriage return before it belongs to it. A line that is
no UTF-8 (or not in the encoding that is named), holds a NUL, or is longer than a million bytes is left out. Nothing
else is decided here, and nothing depends on where a block of the file ends.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from io import BufferedReader, RawIOBase
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from lastbit.data._fields import split
from lastbit.data.files.paths import Source
from lastbit.errors import DataError, raise_alone

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST_LINE: Final = 1_000_000
"""Bytes of the longest line that is read."""

_BLOCK: Final = 1 << 20
"""Bytes that are read at a time."""

_MARK: Final = b"\xef\xbb\xbf"


@dataclass
class Lines:
    """The lines of a file, packed or not, after its first line where that names the columns."""

    path: Source
    header: bool
    block: int = _BLOCK
    packing: str = ""
    encoding: str = "utf-8"
    problem: str | None = None
    """Why the file could not be read to its end: an engine that asks for lines may not say it."""
    _done: list[float] = field(default_factory=lambda: [0.0])

    def first(self) -> bytes | None:
        """Return the first line in UTF-8 without its end; None when it is longer than a line may be, or no text."""
        with ExitStack() as closing, self._report_errors():
            line = self._open(closing)[0].readline(LONGEST_LINE + len(_MARK) + 2)
        text = line.removeprefix(_MARK).removesuffix(b"\n").removesuffix(b"\r")
        return _to_utf8(text, self.encoding) if len(text) <= LONGEST_LINE else None

    def percent_read(self) -> float:
        """Return how much of the file is read, from 0 to 100."""
        return self._done[0]

    def blocks(self) -> Iterator[bytes]:
        """Yield whole lines in UTF-8, each with its end: all that are text without a NUL, and perhaps some too long."""
        size = max(self.path.stat().st_size, 1)
        with ExitStack() as closing, self._report_errors():
            file, raw = self._open(closing)
            if self.header:
                file.readline()
                start = b""
            else:
                start = file.read(len(_MARK)).removeprefix(_MARK)
            unfinished = b""
            while block := start + file.read(self.block):
                start = b""
                end = block.rfind(b"\n") + 1
                if end:
                    yield self._keep_text(unfinished + block[:end])
                    unfinished = block[end:]
                else:
                    # Cut, but never so short that a line too long becomes one that is not.
                    unfinished = (unfinished + block)[: LONGEST_LINE + 2]
                self._done[0] = 100 * raw() / size
            if unfinished:
                yield self._keep_text(unfinished + b"\n")

    def _keep_text(self, block: bytes) -> bytes:
        return _keep_text(block if self.encoding == "utf-8" else _recode(block, self.encoding))

    def _open(self, closing: ExitStack) -> tuple[BufferedReader, Callable[[], int]]:
        raw = closing.enter_context(self.path.open("rb"))
        if self.packing == ".gz":
            return cast(BufferedReader, closing.enter_context(gzip.open(raw))), raw.tell
        if self.packing == ".zst":
            import pyarrow as pa

            unpacked = closing.enter_context(pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd"))
            return closing.enter_context(BufferedReader(_UnpackedReader(unpacked))), raw.tell
        return raw, raw.tell

    @contextmanager
    def _report_errors(self) -> Iterator[None]:
        """Return an error of reading in words, kept as well. That a file is whole depends on no row."""
        try:
            yield
        except (EOFError, zlib.error, OSError) as error:
            if self.packing:
                self.problem = (
                    f"{self.path} is not whole: its packing ({self.packing[1:]}) is cut off or damaged. "
                    "Pack the file again, or copy it again. Nothing was counted."
                )
            else:
                reason = (error.strerror if isinstance(error, OSError) else None) or "the disk refused"
                self.problem = f"{self.path} could not be read to its end: {reason}. Nothing was counted."
        if self.problem is not None:
            raise_alone(DataError(self.problem))


class _UnpackedReader(RawIOBase):
    """Arrow's stream of unpacked bytes, as Python reads files."""

    def __init__(self, stream: pa.NativeFile) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _recode(block: bytes, encoding: str) -> bytes:
    """Return lines of another encoding in UTF-8. A line that is not in it is left out.

    A line feed is one byte and part of nothing else, so a block that can be read as a whole is read as its lines are.
    """
    if len(block) <= LONGEST_LINE:
        text = _to_utf8(block, encoding)
        if text is not None and text.count(b"\n") == block.count(b"\n"):
            return text
    lines = []
    for line in block[:-1].split(b"\n"):
        # Measured as it is in the file, before it grows or shrinks.
        text = _to_utf8(line, encoding) if len(line.removesuffix(b"\r")) <= LONGEST_LINE else None
        if text is not None and b"\n" not in text:
            lines.append(text + b"\n")
    return b"".join(lines)


def _to_utf8(text: bytes, encoding: str) -> bytes | None:
    if encoding == "utf-8":
        return text
    try:
        return text.decode(encoding).encode()
    except UnicodeError:
        return None


def _keep_text(block: bytes) -> bytes:
    if b"\0" not in block and _is_text(block):
        return block
    # Whether bytes are UTF-8 can be asked line by line: no character has a line feed inside.
    lines = (line for line in block[:-1].split(b"\n") if b"\0" not in line and _is_text(line))
    return b"".join(line + b"\n" for line in lines)


def _is_text(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def batches(
    lines: Lines, schema: pa.Schema, targets: list[int], separator: str, *, quotes: bool
) -> Iterator[pa.RecordBatch]:
    """Return the wanted fields of all lines that have as many fields as there are targets, as text.

    targets: for each field of a line its column in the schema, or -1.
    """
    import pyarrow as pa

    target_array = np.array(targets, np.int32)
    for block in lines.blocks():
        rows, ends, text = split(block, ord(separator), quotes, target_array, len(schema), LONGEST_LINE)
        columns = [
            pa.Array.from_buffers(pa.string(), rows, [None, pa.py_buffer(ends[i]), pa.py_buffer(text[i])])
            for i in range(len(schema))
        ]
        yield pa.record_batch(columns, schema=schema)
