"""A histogram of items that nobody listed, where Spark has the rows: the executors add the noise and keep who is told.

The noise of different items is independent, so any machine may draw it. Only items that are told leave the executors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from lastbit.chance.draw import Draw
from lastbit.chance.sampler import Sampler
from lastbit.errors import LastbitError
from lastbit.mechanisms.mechanism import drawn_elsewhere
from lastbit.mechanisms.noisy_values import Noise, noised
from lastbit.privacy.rate import Rate
from lastbit.values.grid import LIMIT
from lastbit.values.spark_rows import TOTAL, SparkRows, answered

try:
    import pyarrow as pa
except ImportError:
    raise LastbitError("Spark needs pyspark and pyarrow. Install them with: pip install 'lastbit[spark]'") from None

STEPS = "lastbit_steps"
"""The column of the noisy values, as text: noise may be beyond 64 bits."""


@dataclass(frozen=True)
class Telling:
    """Which items of a batch are told: those whose value with noise is at least `least` steps."""

    factor: int
    """Steps of the noise in one step of the values."""
    rate: Rate
    noise: Noise
    least: int

    def told(self, batches: Iterable[pa.RecordBatch], draw: Draw) -> Iterator[pa.RecordBatch]:
        """The items that are told, with their noisy values: memory for one batch."""
        for batch in batches:
            steps = np.minimum(batch.column(TOTAL).to_numpy(zero_copy_only=False), LIMIT // self.factor) * self.factor
            noisy = noised(self.noise, self.rate, steps, draw)
            kept = np.flatnonzero(np.asarray(noisy >= self.least, np.bool_))
            texts = pa.array([str(step) for step in noisy[kept].tolist()], pa.string())
            parts = batch.drop_columns([TOTAL]).take(pa.array(kept))
            yield pa.RecordBatch.from_arrays([*parts.columns, texts], [*parts.schema.names, STEPS])

    def spread(self, rows: SparkRows) -> Any:
        """The items that are told, with their noisy values, as a DataFrame that draws whenever it is evaluated."""
        return rows.mapped(lambda batches: self.told(batches, Sampler()), STEPS)

    def fetched(self, rows: SparkRows) -> Callable[[Draw], tuple[list[Any], Any]]:
        """The items that are told and their noisy values, on this machine. The executors draw with their own bits."""

        def search(draw: Draw) -> tuple[list[Any], Any]:
            drawn_elsewhere(draw)
            items, texts = rows.fetched(self.spread(rows), STEPS)
            noisy = [int(text) for text in texts]
            small = all(-(1 << 63) <= step < 1 << 63 for step in noisy)
            return items, np.array(noisy, np.int64 if small else object)

        return search

    def kept(self, rows: SparkRows, resolution: Fraction, digits: int) -> Callable[[Draw], Any]:
        """The items that are told as a DataFrame with the columns of the table and `value`, drawn once.

        Where a row lies depends on its item alone: the order in which Spark grouped all items would tell of others.
        """
        whole = (resolution * 10**digits).numerator
        kind = "BIGINT" if digits == 0 else f"DECIMAL(38,{digits})"
        # A product with too many digits would be rounded: the point is moved by a cast of the text.
        steps = f"try_cast({STEPS} AS DECIMAL(20,0)) * CAST({whole} AS DECIMAL(17,0))"
        value = f"try_cast({steps} AS BIGINT)" if digits == 0 else f"try_cast(concat({steps}, 'E-{digits}') AS {kind})"

        def spread(draw: Draw) -> Any:
            drawn_elsewhere(draw)
            # Once: whoever evaluated the noise twice would see two draws.
            drawn_once = answered(lambda: self.spread(rows).localCheckpoint())
            parts = int(drawn_once.sparkSession.conf.get("spark.sql.shuffle.partitions"))
            keys = rows.keys
            placed = drawn_once.repartition(parts, *keys).sortWithinPartitions(*keys)
            return placed.selectExpr(*rows.typed, f"{value} AS value")

        return spread
