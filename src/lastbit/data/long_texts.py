"""Long texts and bytes in their normal form: beyond one limit, the digest stands for them, on every reader and engine.

So rows of any length are counted in little memory, and two long texts stay two, as items and as units. A short text
that looks like such a digest is replaced by its own digest, so that no text has the form of another one.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final

import numpy as np

LONGEST_TEXT: Final = 10_000
"""Bytes of the longest text that stands for itself."""

PREFIX: Final = f"text of more than {LONGEST_TEXT:,} bytes, SHA-256 ".encode()
DIGEST_LENGTH: Final = len(PREFIX) + 64
"""Bytes of a digest in words."""

PREFIX_END: Final = PREFIX[:-1] + bytes([PREFIX[-1] + 1])
"""The first bytes that are behind all bytes with the prefix."""

PREFIX_TEXT: Final = PREFIX.decode()

_VIEW: Final = np.dtype([("length", "<i4"), ("start", "<i4"), ("buffer", "<i4"), ("offset", "<i4")])
"""What an array of views holds for each long value: its length, its first bytes, and where it lies."""


def shorten(data: bytes) -> bytes:
    """Return bytes in their normal form.

    >>> shorten(b"flu"), len(shorten(b"x" * 10_000)), shorten(b"x" * 10_001)[:45]
    (b'flu', 10000, b'text of more than 10,000 bytes, SHA-256 6e54d')
    >>> form = shorten(b"x" * 10_001)
    >>> shorten(form) == form
    False
    """
    if len(data) <= LONGEST_TEXT and not (len(data) == DIGEST_LENGTH and data.startswith(PREFIX)):
        return data
    return digest(data)


def digest(data: bytes) -> bytes:
    """Return the digest of long bytes, in words."""
    return PREFIX + sha256(data).hexdigest().encode()


def shorten_text(text: str) -> str:
    """Return a text in its normal form: that of its UTF-8, in which half a character stands for itself.

    >>> shorten_text("flu"), shorten_text("é" * 5_001) == shorten(("é" * 5_001).encode()).decode()
    ('flu', True)
    """
    if 4 * len(text) <= LONGEST_TEXT and not text.startswith(PREFIX_TEXT):
        return text
    data = text.encode("utf-8", "surrogatepass")
    short = shorten(data)
    return text if short is data else short.decode()


def shorten_array(array: Any) -> Any:
    """Return the values of an Arrow array of text or bytes, with offsets of 32 or 64 bits, in their normal form.

    >>> import pyarrow as pa
    >>> [len(value) for value in shorten_array(pa.array(["x" * 20_000, "flu", "x" * 10_000])).to_pylist()]
    [104, 3, 10000]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    width: Any = np.int64 if pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type) else np.int32
    if not len(array):
        return array
    ends = np.frombuffer(array.buffers()[1], width)[array.offset :][: len(array) + 1]
    lengths = np.diff(ends)
    unusual = np.flatnonzero((lengths > LONGEST_TEXT) | (lengths == DIGEST_LENGTH))
    if not len(unusual):
        return array
    known = np.asarray(pc.is_valid(array))
    data = memoryview(array.buffers()[2] or b"")
    forms, rows = [], []
    for row in unusual[known[unusual]].tolist():
        value = data[int(ends[row]) : int(ends[row + 1])]
        if len(value) > LONGEST_TEXT or bytes(value[: len(PREFIX)]) == PREFIX:
            forms.append(PREFIX + sha256(value).hexdigest().encode())
            rows.append(row)
    return _replace(array, rows, forms) if rows else array


def shorten_views(array: Any) -> Any:
    """Return the values of an Arrow array of views, as bytes in their normal form. No long text is copied.

    >>> import pyarrow as pa
    >>> shorten_views(pa.array(["flu", None, "x" * 20_000], pa.string_view())).to_pylist()[:2]
    [b'flu', None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    buffers = array.buffers()
    views = np.frombuffer(buffers[1] or b"", _VIEW)[array.offset :][: len(array)]
    long = np.flatnonzero((views["length"] > LONGEST_TEXT) & np.asarray(pc.is_valid(array)))
    if not len(long):
        return shorten_array(array.cast(pa.large_binary()))
    known: dict[tuple[int, int, int], bytes] = {}
    forms = []
    for length, _, buffer, start in views[long].tolist():
        location = buffer, start, length
        if location not in known:
            known[location] = (
                PREFIX + sha256(memoryview(buffers[2 + buffer])[start : start + length]).hexdigest().encode()
            )
        forms.append(known[location])
    emptied = views.copy()
    emptied[long] = 0
    # Without the offset of the array, which the validity still has.
    valid = pa.py_buffer(np.packbits(np.asarray(pc.is_valid(array)), bitorder="little"))
    short = pa.Array.from_buffers(array.type, len(array), [valid, pa.py_buffer(emptied), *buffers[2:]])
    return _replace(shorten_array(short.cast(pa.large_binary())), long.tolist(), forms)


def _replace(array: Any, rows: list[int], forms: list[bytes]) -> Any:
    """Return the array with other values in these rows: of the values that were there nothing is copied."""
    import pyarrow as pa

    others = np.delete(np.arange(len(array)), rows)
    short = array.take(pa.array(others))
    both = pa.concat_arrays([short, pa.array(forms, pa.binary()).cast(array.type)])
    order = np.empty(len(array), np.int64)
    order[others] = np.arange(len(others))
    order[rows] = len(others) + np.arange(len(rows))
    return both.take(pa.array(order))
