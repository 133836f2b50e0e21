"""A file of any size is read in the memory of a few batches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from lastbit.data.duckdb.relation import stream_batches
from lastbit.data.files import parquet, parquet_texts

GROUPS, ROWS = 24, 2048


def test_a_file_is_not_kept_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, chance = tmp_path / "visits.parquet", Random(1)
    schema = pa.schema([("item", pa.string())])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for _ in range(GROUPS):
            texts = [chance.randbytes(64).hex() for _ in range(ROWS)]
            writer.write_table(pa.table({"item": texts}, schema), row_group_size=ROWS)
    monkeypatch.setattr(parquet_texts, "_ROWS", ROWS)
    before, held, rows = pa.total_allocated_bytes(), [], 0
    for batch in parquet._batches(duckdb.connect(), path, ["item"], schema)[1]:
        rows += len(batch)
        held.append(pa.total_allocated_bytes() - before)
    assert rows == GROUPS * ROWS
    assert max(held) < path.stat().st_size / 3


def test_the_engine_takes_one_batch_after_the_other() -> None:
    # Counting different texts takes longer than making them: an engine that reads ahead would keep most of the batches.
    schema, before, held = pa.schema([("item", pa.string())]), pa.total_allocated_bytes(), []
    numbers = pa.array(range(ROWS)).cast(pa.string())

    def batches() -> Iterator[pa.RecordBatch]:
        for place in range(400):
            held.append(pa.total_allocated_bytes() - before)
            ends = pa.scalar(f" of batch {place}, which is a text of its own")
            yield pa.record_batch([pc.binary_join_element_wise(numbers, ends, "")], schema=schema)

    rows = stream_batches(duckdb.connect(config={"threads": 4}), schema, batches())  # each may hold a batch
    assert rows.aggregate("count(DISTINCT item)").fetchall() == [(400 * ROWS,)]
    one = pc.binary_join_element_wise(numbers, pa.scalar(" of batch 100, which is a text of its own"), "").nbytes
    assert max(held) < 50 * one
