"""A Parquet file of any size is read in the memory of a few batches."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lastbit.data import parquet

GROUPS, ROWS = 24, 2048


def test_a_file_is_not_kept_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, chance = tmp_path / "visits.parquet", Random(1)
    schema = pa.schema([("item", pa.string())])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for _ in range(GROUPS):
            texts = [chance.randbytes(64).hex() for _ in range(ROWS)]
            writer.write_table(pa.table({"item": texts}, schema), row_group_size=ROWS)
    monkeypatch.setattr(parquet, "_ROWS", ROWS)
    before, held, rows = pa.total_allocated_bytes(), [], 0
    for batch in parquet._stream(path, ["item"], schema)._batches():
        rows += len(batch)
        held.append(pa.total_allocated_bytes() - before)
    assert rows == GROUPS * ROWS
    assert max(held) < path.stat().st_size / 3
