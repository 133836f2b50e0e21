"""The draws of a batch of items in Spark: a secret of the release, the item and its value decide them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from lastbit.chance.draw import Draw
from lastbit.chance.item_sampler import SECRET, ItemSampler
from lastbit.values.grid import Steps
from lastbit.values.spark_rows import TOTAL

if TYPE_CHECKING:
    import pyarrow as pa

Draws: TypeAlias = Callable[["pa.RecordBatch", Steps], Draw]
"""From the items of a batch, and their values in steps, to the draw that gives each of them its noise."""


def make_keyed_draws(draw: Draw) -> Draws:
    """Return the draws of one release, in any process: they carry a secret that is drawn here, once.

    An item whose value has changed has other noise. With the same noise, both values would tell by how much.
    """
    secret = draw.words(SECRET)

    def of_batch(batch: pa.RecordBatch, steps: Steps) -> Draw:
        return ItemSampler(secret, messages(batch, steps))

    return of_batch


def messages(batch: pa.RecordBatch, steps: Steps) -> list[bytes]:
    """Return each item and its value as bytes, which no two items share.

    >>> import pyarrow as pa
    >>> rows = pa.record_batch([pa.array(["a", None]), pa.array([1, 2])], names=["item", "lastbit_total"])
    >>> [message[:7] for message in messages(rows, np.array([1, 2]))]
    [b'\\x01\\x00\\x00\\x00a\\x01\\x00', b'\\xff\\xff\\xff\\xff\\x02\\x00\\x00']
    """
    parts = [_cells(batch.column(name)) for name in batch.schema.names if name != TOTAL]
    values = np.asarray(steps, "<i8").tobytes()
    ends = [values[start : start + 8] for start in range(0, len(values), 8)]
    return [b"".join(cells) for cells in zip(*parts, ends, strict=True)]


def _cells(column: pa.Array) -> list[bytes]:
    """Return each value as its length and its bytes."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    elif not _has_bytes(kind):
        column = column.view(pa.binary(kind.bit_width // 8))
    data = column.cast(pa.large_binary()) if not pa.types.is_boolean(kind) else column.view(pa.binary(1))
    missing = b"\xff\xff\xff\xff"
    return [missing if cell is None else len(cell).to_bytes(4, "little") + cell for cell in data.to_pylist()]


def _has_bytes(kind: pa.DataType) -> bool:
    import pyarrow as pa

    predicates = pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary
    return any(matches(kind) for matches in predicates)
