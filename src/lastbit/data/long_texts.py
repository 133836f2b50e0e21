"""Long texts and bytes in their normal form: beyond one limit, the digest stands for them, on every reader and engine.

So rows of any length are counted in little memory, and two long texts stay two, as items and as units. A short text
that looks like such a digest is replaced by its own digest, so that no text has the form of another one.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final

import numpy as np

LONGEST: Final = 10_000
"""Bytes of the longest text that stands for itself."""

PREFIX: Final = f"text of more than {LONGEST:,} bytes, SHA-256 ".encode()
LENGTH: Final = len(PREFIX) + 64
"""Bytes of a digest in words."""

_BEHIND: Final = PREFIX[:-1] + bytes([PREFIX[-1] + 1])
"""The first bytes that are behind all bytes with the prefix."""

_PREFIX_TEXT: Final = PREFIX.decode()

_VIEW: Final = np.dtype([("length", "<i4"), ("start", "<i4"), ("buffer", "<i4"), ("offset", "<i4")])
"""What an array of views holds for each long value: its length, its first bytes, and where it lies."""


def shorten(data: bytes) -> bytes:
    """Bytes in their normal form.

    >>> shorten(b"flu"), len(shorten(b"x" * 10_000)), shorten(b"x" * 10_001)[:45]
    (b'flu', 10000, b'text of more than 10,000 bytes, SHA-256 6e54d')
    >>> form = shorten(b"x" * 10_001)
    >>> shorten(form) == form
    False
    """
    if len(data) <= LONGEST and not (len(data) == LENGTH and data.startswith(PREFIX)):
        return data
    return digest(data)


def digest(data: bytes) -> bytes:
    """The digest of long bytes, in words."""
    return PREFIX + sha256(data).hexdigest().encode()


def shorten_text(text: str) -> str:
    """A text in its normal form: that of its UTF-8, in which half a character stands for itself.

    >>> shorten_text("flu"), shorten_text("é" * 5_001) == shorten(("é" * 5_001).encode()).decode()
    ('flu', True)
    """
    if 4 * len(text) <= LONGEST and not text.startswith(_PREFIX_TEXT):
        return text
    data = text.encode("utf-8", "surrogatepass")
    short = shorten(data)
    return text if short is data else short.decode()


def shorten_array(array: Any) -> Any:
    """The values of an Arrow array of text or bytes, with offsets of 32 or 64 bits, in their normal form.

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
    unusual = np.flatnonzero((lengths > LONGEST) | (lengths == LENGTH))
    if not len(unusual):
        return array
    known = np.asarray(pc.is_valid(array))
    data = memoryview(array.buffers()[2] or b"")
    forms, places = [], []
    for place in unusual[known[unusual]].tolist():
        value = data[int(ends[place]) : int(ends[place + 1])]
        if len(value) > LONGEST or bytes(value[: len(PREFIX)]) == PREFIX:
            forms.append(PREFIX + sha256(value).hexdigest().encode())
            places.append(place)
    return _replaced(array, places, forms) if places else array


def shorten_views(array: Any) -> Any:
    """The values of an Arrow array of views, as bytes in their normal form. A long text of many rows is not copied.

    >>> import pyarrow as pa
    >>> shorten_views(pa.array(["flu", None, "x" * 20_000], pa.string_view())).to_pylist()[:2]
    [b'flu', None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    buffers = array.buffers()
    views = np.frombuffer(buffers[1] or b"", _VIEW)[array.offset :][: len(array)]
    long = np.flatnonzero((views["length"] > LONGEST) & np.asarray(pc.is_valid(array)))
    if not len(long):
        return shorten_array(array.cast(pa.large_binary()))
    known: dict[tuple[int, int, int], bytes] = {}
    forms = []
    for length, _, buffer, start in views[long].tolist():
        place = buffer, start, length
        if place not in known:
            known[place] = PREFIX + sha256(memoryview(buffers[2 + buffer])[start : start + length]).hexdigest().encode()
        forms.append(known[place])
    emptied = views.copy()
    emptied[long] = 0
    # Without the offset of the array, which the validity still has.
    valid = pa.py_buffer(np.packbits(np.asarray(pc.is_valid(array)), bitorder="little"))
    short = pa.Array.from_buffers(array.type, len(array), [valid, pa.py_buffer(emptied), *buffers[2:]])
    return _replaced(shorten_array(short.cast(pa.large_binary())), long.tolist(), forms)


def _replaced(array: Any, places: list[int], forms: list[bytes]) -> Any:
    """The array with other values at these places: of the values that were there nothing is copied."""
    import pyarrow as pa

    kept = np.delete(np.arange(len(array)), places)
    short = array.take(pa.array(kept))
    both = pa.concat_arrays([short, pa.array(forms, pa.binary()).cast(array.type)])
    order = np.empty(len(array), np.int64)
    order[kept] = np.arange(len(kept))
    order[places] = len(kept) + np.arange(len(places))
    return both.take(pa.array(order))


def duckdb_form(data: str) -> str:
    """Bytes in their normal form, in the SQL of DuckDB."""
    first, behind = (f"CAST('{text.decode()}' AS BLOB)" for text in (PREFIX, _BEHIND))
    like = f"octet_length({data}) = {LENGTH} AND {data} >= {first} AND {data} < {behind}"
    form = f"encode('{_PREFIX_TEXT}' || sha256({data}))"
    return f"CASE WHEN octet_length({data}) > {LONGEST} OR ({like}) THEN {form} ELSE {data} END"


def duckdb_text(text: str) -> str:
    """A text in its normal form, in the SQL of DuckDB."""
    like = f"strlen({text}) = {LENGTH} AND starts_with({text}, '{_PREFIX_TEXT}')"
    form = f"'{_PREFIX_TEXT}' || sha256({text})"
    return f"CASE WHEN strlen({text}) > {LONGEST} OR ({like}) THEN {form} ELSE {text} END"


def spark_form(data: str) -> str:
    """Bytes in their normal form, in the SQL of Spark."""
    like = f"octet_length({data}) = {LENGTH} AND {data} >= X'{PREFIX.hex()}' AND {data} < X'{_BEHIND.hex()}'"
    form = f"CAST(concat('{_PREFIX_TEXT}', sha2({data}, 256)) AS BINARY)"
    return f"CASE WHEN octet_length({data}) > {LONGEST} OR ({like}) THEN {form} ELSE {data} END"
