"""Arrow arrays in their normal form.

Dictionaries are decoded, runs written out and extensions taken off first, chunk by chunk, so that equal entries and
dictionaries that differ mean nothing. Text is taken for its bytes: nobody decodes it, so nothing can fail to decode.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lastbit.data import kinds
from lastbit.data.columns import Bytes, Column, Words, buffer_of

_NANOSECONDS: Final = {"s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}
_DAY: Final = 86_400_000
"""Milliseconds of a day."""


def column_of(array: Any) -> Column | None:
    """An array, chunked or not, in its normal form; None where its type has none."""
    chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
    plain = [_plain(chunk) for chunk in chunks or [pa.array([], array.type)]]
    dtype = plain[0].type
    for matches, made in _FORMS:
        if matches(dtype):
            return made(plain, dtype)
    return None


def _plain(chunk: Any) -> Any:
    while True:
        if isinstance(chunk, pa.ExtensionArray):
            if str(chunk.type.extension_name) == "arrow.uuid":
                return chunk
            chunk = chunk.storage
        elif isinstance(chunk, pa.DictionaryArray):
            indices = buffer_of(chunk.indices.cast(pa.int64(), safe=False).fill_null(-1), np.int64)
            # An index outside of its dictionary would be read from somebody else's memory.
            outside = (indices < 0) | (indices >= len(chunk.dictionary))
            chunk = chunk.dictionary.take(pa.array(indices, mask=outside))
        elif isinstance(chunk, pa.RunEndEncodedArray):
            chunk = pc.run_end_decode(chunk)
        else:
            return chunk


def _missing(chunks: list[Any]) -> NDArray[np.bool_] | None:
    if not any(chunk.null_count for chunk in chunks):
        return None
    return np.concatenate([buffer_of(chunk.is_null().cast(pa.uint8()), np.uint8) for chunk in chunks]).view(np.bool_)


def _words(chunks: list[Any], dtype: Any) -> NDArray[np.int64]:
    """The values of a type of at most 64 bits, as such words; any word where they are null."""
    width = dtype.bit_width
    parts = []
    for chunk in chunks:
        if pa.types.is_floating(dtype):
            whole = chunk.cast(pa.float64()).view(pa.int64())
        elif (pa.types.is_integer(dtype) and width < 64) or pa.types.is_boolean(dtype):
            whole = chunk.cast(pa.int64())
        else:
            whole = chunk.view(pa.int64() if width == 64 else pa.int32()).cast(pa.int64())
        parts.append(buffer_of(whole, np.int64))
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _number(chunks: list[Any], dtype: Any) -> Column:
    values, missing = _words(chunks, dtype), _missing(chunks)
    if pa.types.is_floating(dtype):
        return Words.of_floats(values, missing)
    kind = kinds.TRUTH if pa.types.is_boolean(dtype) else kinds.WHOLE
    return Words(kind, values, missing, unsigned=dtype == pa.uint64())


def _time(chunks: list[Any], dtype: Any) -> Column:
    values, missing = _words(chunks, dtype), _missing(chunks)
    if dtype == pa.date64():
        # Milliseconds that are no whole days are no date.
        broken = values % _DAY != 0
        return Words(kinds.DATE, values // _DAY, broken if missing is None else broken | missing)
    if pa.types.is_date(dtype):
        return Words(kinds.DATE, values, missing)
    if pa.types.is_timestamp(dtype):
        kind = kinds.MOMENT if dtype.tz is None else kinds.INSTANT
    else:
        kind = kinds.SPAN if pa.types.is_duration(dtype) else kinds.TIME
    return Words(kind, values, missing, unit=_NANOSECONDS[dtype.unit])


def _decimal(chunks: list[Any], dtype: Any) -> Column:
    if dtype.bit_width <= 64:
        return Words(kinds.DECIMAL, _words(chunks, dtype), _missing(chunks), scale=dtype.scale)
    bare = pa.binary(dtype.bit_width // 8)
    return Bytes(kinds.DECIMAL, pa.chunked_array([chunk.view(bare) for chunk in chunks], bare), scale=dtype.scale)


def _bytes(chunks: list[Any], dtype: Any) -> Column:
    text = pa.types.is_string(dtype) or pa.types.is_large_string(dtype) or dtype == pa.string_view()
    fixed = pa.types.is_fixed_size_binary(dtype)
    bare = pa.binary() if dtype in (pa.string(), pa.binary()) else pa.large_binary()
    cast = [chunk.cast(pa.binary()).cast(bare) if fixed else chunk.cast(bare) for chunk in chunks]
    return Bytes(kinds.TEXT if text else kinds.BINARY, pa.chunked_array(cast, bare))


def _uuid(chunks: list[Any], dtype: Any) -> Column:
    return Bytes(kinds.IDENTIFIER, pa.chunked_array([chunk.storage for chunk in chunks], pa.binary(16)))


def _nothing(chunks: list[Any], dtype: Any) -> Column:
    rows = sum(map(len, chunks))
    return Words(kinds.NOTHING, np.zeros(rows, np.int64), np.ones(rows, np.bool_))


def _is_bytes(dtype: Any) -> bool:
    one = pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary
    return any(each(dtype) for each in (*one, pa.types.is_fixed_size_binary)) or dtype in _VIEWS


def _is_time(dtype: Any) -> bool:
    one = pa.types.is_date, pa.types.is_timestamp, pa.types.is_duration, pa.types.is_time
    return any(each(dtype) for each in one)


_VIEWS: Final = (pa.string_view(), pa.binary_view())
_FORMS: Final[tuple[tuple[Callable[[Any], bool], Callable[[list[Any], Any], Column]], ...]] = (
    (lambda dtype: isinstance(dtype, pa.BaseExtensionType), _uuid),
    (pa.types.is_null, _nothing),
    (lambda t: pa.types.is_integer(t) or pa.types.is_floating(t) or pa.types.is_boolean(t), _number),
    (_is_time, _time),
    (pa.types.is_decimal, _decimal),
    (_is_bytes, _bytes),
)
