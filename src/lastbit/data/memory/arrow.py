"""Arrow arrays in their normal form.

Extensions are taken off first. Dictionaries and runs stay: an entry of any length lies in memory once, and entries that
are equal, or dictionaries that differ by chunk, mean nothing. Text is taken for its bytes: nobody decodes it, so
nothing can fail to decode.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lastbit.data import column_types
from lastbit.data.long_texts import shorten_array, shorten_views
from lastbit.data.memory.arrays import read_buffer
from lastbit.data.memory.columns import BytesColumn, Column, DictionaryColumn, WordColumn

_NANOSECONDS: Final = {"s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}
_DAY: Final = 86_400_000
"""Milliseconds of a day."""

_SMALL: Final = 1 << 30
"""Bytes that an array with offsets of 32 bits holds, with room to spare."""


def convert_array(array: Any) -> Column | None:
    """Return an array, chunked or not, in its normal form; None where its type has none."""
    chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
    plain = [_unwrap_extension(chunk) for chunk in chunks or [pa.nulls(0, array.type)]]
    dtype = plain[0].type
    if isinstance(dtype, pa.DictionaryType | pa.RunEndEncodedType):
        return _convert_dictionary(plain)
    for matches, convert in _FORMS:
        if matches(dtype):
            return convert(plain, dtype)
    return None


def _unwrap_extension(chunk: Any) -> Any:
    while isinstance(chunk, pa.ExtensionArray) and str(chunk.type.extension_name) != "arrow.uuid":
        chunk = chunk.storage
    return chunk


def _convert_dictionary(chunks: list[Any]) -> Column | None:
    """Return dictionaries or runs: the entries of all chunks, and which of them each row has."""
    entries: list[Any] = []
    starts: dict[Any, int] = {}
    indices, size = [], 0
    for chunk in chunks:
        values = chunk.dictionary if isinstance(chunk, pa.DictionaryArray) else chunk.values
        # Many chunks may have one dictionary in common.
        location = (
            values.offset,
            len(values),
            *(None if buffer is None else buffer.address for buffer in values.buffers()),
        )
        if location not in starts:
            starts[location] = size
            entries.append(values)
            size += len(values)
        own = _indices(chunk, len(values))
        indices.append(np.where(own < 0, -1, own + starts[location]))
    column = convert_array(pa.chunked_array(entries, entries[0].type))
    every = np.concatenate(indices)
    # A dictionary may have dictionaries for entries.
    return (
        column
        if column is None
        else column.take(every)
        if isinstance(column, DictionaryColumn)
        else DictionaryColumn(column, every)
    )


def _indices(chunk: Any, size: int) -> NDArray[np.int64]:
    """Return the index of each row among the entries; -1 where it is null."""
    if isinstance(chunk, pa.DictionaryArray):
        indices = read_buffer(chunk.indices.cast(pa.int64(), safe=False).fill_null(-1), np.int64)
        # An index outside of its dictionary would be read from somebody else's memory.
        return np.where((indices < 0) | (indices >= size), -1, indices)
    ends = read_buffer(chunk.run_ends.cast(pa.int64()), np.int64)
    rows = np.arange(chunk.offset, chunk.offset + len(chunk))
    return np.searchsorted(ends, rows, side="right")


def _missing(chunks: list[Any]) -> NDArray[np.bool_] | None:
    if not any(chunk.null_count for chunk in chunks):
        return None
    return np.concatenate([read_buffer(chunk.is_null().cast(pa.uint8()), np.uint8) for chunk in chunks]).view(np.bool_)


def _words(chunks: list[Any], dtype: Any) -> NDArray[np.int64]:
    """Return the values of a type of at most 64 bits, as such words; any word where they are null."""
    width = dtype.bit_width
    parts = []
    for chunk in chunks:
        if pa.types.is_floating(dtype):
            whole = chunk.cast(pa.float64()).view(pa.int64())
        elif (pa.types.is_integer(dtype) and width < 64) or pa.types.is_boolean(dtype):
            whole = chunk.cast(pa.int64())
        else:
            whole = chunk.view(pa.int64() if width == 64 else pa.int32()).cast(pa.int64())
        parts.append(read_buffer(whole, np.int64))
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _number(chunks: list[Any], dtype: Any) -> Column:
    values, missing = _words(chunks, dtype), _missing(chunks)
    if pa.types.is_floating(dtype):
        return WordColumn.from_floats(values, missing)
    column_type = column_types.BOOLEAN if pa.types.is_boolean(dtype) else column_types.INTEGER
    return WordColumn(column_type, values, missing, unsigned=dtype == pa.uint64())


def _time(chunks: list[Any], dtype: Any) -> Column:
    values, missing = _words(chunks, dtype), _missing(chunks)
    if dtype == pa.date64():
        # Milliseconds that are no whole days are no date.
        broken = values % _DAY != 0
        return WordColumn(column_types.DATE, values // _DAY, broken if missing is None else broken | missing)
    if pa.types.is_date(dtype):
        return WordColumn(column_types.DATE, values, missing)
    if pa.types.is_timestamp(dtype):
        column_type = column_types.TIMESTAMP if dtype.tz is None else column_types.ZONED_TIMESTAMP
    else:
        column_type = column_types.DURATION if pa.types.is_duration(dtype) else column_types.TIME
    return WordColumn(column_type, values, missing, unit=_NANOSECONDS[dtype.unit])


def _decimal(chunks: list[Any], dtype: Any) -> Column:
    if dtype.bit_width <= 64:
        return WordColumn(column_types.DECIMAL, _words(chunks, dtype), _missing(chunks), scale=dtype.scale)
    bare = pa.binary(dtype.bit_width // 8)
    return BytesColumn(
        column_types.DECIMAL, pa.chunked_array([chunk.view(bare) for chunk in chunks], bare), scale=dtype.scale
    )


def _bytes(chunks: list[Any], dtype: Any) -> Column:
    text = pa.types.is_string(dtype) or pa.types.is_large_string(dtype) or dtype == pa.string_view()
    fixed = pa.types.is_fixed_size_binary(dtype)
    if dtype in _VIEWS:
        bare = pa.large_binary()
        cast = [shorten_views(chunk) for chunk in chunks]
    else:
        # Offsets of 32 bits, where all values together are short enough for them.
        small = dtype in (pa.string(), pa.binary()) and sum(chunk.nbytes for chunk in chunks) < _SMALL
        bare = pa.binary() if small else pa.large_binary()
        cast = [shorten_array(chunk.cast(pa.binary()).cast(bare) if fixed else chunk.cast(bare)) for chunk in chunks]
    return BytesColumn(column_types.TEXT if text else column_types.BINARY, pa.chunked_array(cast, bare))


def _uuid(chunks: list[Any], dtype: Any) -> Column:
    return BytesColumn(column_types.UUID, pa.chunked_array([chunk.storage for chunk in chunks], pa.binary(16)))


def _nothing(chunks: list[Any], dtype: Any) -> Column:
    rows = sum(map(len, chunks))
    return WordColumn(column_types.NULL, np.zeros(rows, np.int64), np.ones(rows, np.bool_))


def _is_bytes(dtype: Any) -> bool:
    types = pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary
    return any(matches(dtype) for matches in (*types, pa.types.is_fixed_size_binary)) or dtype in _VIEWS


def _is_time(dtype: Any) -> bool:
    types = pa.types.is_date, pa.types.is_timestamp, pa.types.is_duration, pa.types.is_time
    return any(matches(dtype) for matches in types)


_VIEWS: Final = (pa.string_view(), pa.binary_view())
_FORMS: Final[tuple[tuple[Callable[[Any], bool], Callable[[list[Any], Any], Column]], ...]] = (
    (lambda dtype: isinstance(dtype, pa.BaseExtensionType), _uuid),
    (pa.types.is_null, _nothing),
    (lambda t: pa.types.is_integer(t) or pa.types.is_floating(t) or pa.types.is_boolean(t), _number),
    (_is_time, _time),
    (pa.types.is_decimal, _decimal),
    (_is_bytes, _bytes),
)
