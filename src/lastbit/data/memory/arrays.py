"""Arrays of Arrow and NumPy: their buffers, whole numbers looked up among others, and numbers longer than a word."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lastbit.data.table import Integers
from lastbit.data.weights import Weights

LARGEST_WORD: Final = (1 << 63) - 1

_TABLE: Final = 1 << 22
"""Items that lie within this many whole numbers are looked up in a table."""


def look_up_integers(values: Integers, items: Integers, numbers: Integers) -> Integers:
    """Return the number of the item that each value is; -1 where it is none of them."""
    if not len(items):
        return np.full(len(values), -1, np.int64)
    low, high = int(items.min()), int(items.max())
    if high - low < _TABLE:
        table = np.full(high - low + 2, -1, np.int64)
        table[items - low] = numbers
        # As if unsigned, so that values outside, on either side, are beyond the table.
        offset = values.view(np.uint64) - np.uint64(low & (1 << 64) - 1)
        np.minimum(offset, np.uint64(high - low + 1), out=offset)
        return table.take(offset.view(np.int64))
    order = np.argsort(items)
    items, numbers = items[order], numbers[order]
    where = np.searchsorted(items, values).clip(max=len(items) - 1)
    return np.where(items[where] == values, numbers[where], -1)


def read_indices(indices: Any) -> Integers:
    """Return the values of an Arrow array of 32-bit indices, -1 for null."""
    import pyarrow as pa

    chunks = indices.chunks if isinstance(indices, pa.ChunkedArray) else [indices]
    parts = [read_buffer(chunk.fill_null(-1), np.int32) for chunk in chunks]
    return np.concatenate([np.empty(0, np.int32), *parts]).astype(np.int64)


def read_buffer(array: Any, dtype: Any) -> NDArray[Any]:
    """Return the values of an Arrow array, in place: its own method would load pandas."""
    size = np.dtype(dtype).itemsize
    return np.frombuffer(array.buffers()[1] or b"", dtype, len(array), array.offset * size if len(array) else 0)


def wide_steps(chunk: Any, weights: Weights, scale: int, unsigned: bool) -> Integers:
    """Return steps of numbers longer than a word: those beyond 64 bits are at an end, or counted one by one."""
    width = chunk.type.byte_width // 8
    words = np.frombuffer(chunk.buffers()[1] or b"", np.uint64)[chunk.offset * width :][: len(chunk) * width]
    words = words.reshape(len(chunk), width)
    missing = ~read_buffer(chunk.is_valid().cast("uint8"), np.uint8).view(np.bool_)
    if not weights.fits(scale):
        one = [int.from_bytes(row.tobytes(), "little", signed=not unsigned) for row in words]
        return weights.steps_of(one, missing, scale)
    low = words[:, 0].view(np.int64) if width == 1 else np.ascontiguousarray(words[:, 0]).view(np.int64)
    top = np.ascontiguousarray(words[:, -1]).view(np.int64)
    below = np.zeros(len(chunk), np.bool_) if unsigned else top < 0
    fill = np.where(below, np.uint64((1 << 64) - 1), np.uint64(0))
    beyond = (words[:, 1:] != fill[:, None]).any(axis=1) | ((low < 0) != below)
    held = np.where(beyond, np.where(below, np.int64(-LARGEST_WORD), np.int64(LARGEST_WORD)), low)
    return weights.steps_of(held, missing, scale)
