"""A histogram of items that nobody listed, where Spark has the rows: the executors add the noise and keep who is told.

The noise of different items is independent, so any machine may draw it, and a secret of the release decides it for each
item: a machine that draws again draws the same. Only items that are told leave the executors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from lastbit.chance.draw import Draw
from lastbit.errors import LastbitError
from lastbit.mechanisms.mechanism import drawn_elsewhere
from lastbit.mechanisms.noisy_values import Noise, noised
from lastbit.mechanisms.spark_draws import Draws, keyed_draws
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

    def told(self, batches: Iterable[pa.RecordBatch], draws: Draws) -> Iterator[pa.RecordBatch]:
        """The items that are told, with their noisy values: memory for one batch."""
        for batch in batches:
            steps = np.minimum(batch.column(TOTAL).to_numpy(zero_copy_only=False), LIMIT // self.factor) * self.factor
            noisy = noised(self.noise, self.rate, steps, draws(batch, steps))
            kept = np.flatnonzero(np.asarray(noisy >= self.least, np.bool_))
            texts = pa.array([str(step) for step in noisy[kept].tolist()], pa.string())
            parts = batch.drop_columns([TOTAL]).take(pa.array(kept))
            yield pa.RecordBatch.from_arrays([*parts.columns, texts], [*parts.schema.names, STEPS])

    def spread(self, rows: SparkRows, draw: Draw) -> Any:
        """The items that are told, with their noisy values, as a DataFrame: the same whenever it is evaluated."""
        drawn_elsewhere(draw)
        draws = keyed_draws(draw)
        return rows.mapped(lambda batches: self.told(batches, draws), STEPS)

    def fetched(self, rows: SparkRows) -> Callable[[Draw], tuple[list[Any], Any]]:
        """The items that are told and their noisy values, on this machine."""

        def search(draw: Draw) -> tuple[list[Any], Any]:
            items, texts = rows.fetched(self.spread(rows, draw), STEPS)
            noisy = [int(text) for text in texts]
            small = all(-(1 << 63) <= step < 1 << 63 for step in noisy)
            return items, np.array(noisy, np.int64 if small else object)

        return search

    def kept(self, rows: SparkRows, resolution: Fraction, digits: int) -> Callable[[Draw], Any]:
        """The items that are told as a DataFrame with the columns of the table and `value`.

        Where a row lies depends on its item alone: the order in which Spark grouped all items would tell of others.
        Spark keeps the rows. What it loses it computes again, and the noise is the same then.
        """
        whole = (resolution * 10**digits).numerator
        kind = "BIGINT" if digits == 0 else f"DECIMAL(38,{digits})"
        # A product with too many digits would be rounded: the point is moved by a cast of the text.
        steps = f"try_cast({STEPS} AS DECIMAL(20,0)) * CAST({whole} AS DECIMAL(17,0))"
        value = f"try_cast({steps} AS BIGINT)" if digits == 0 else f"try_cast(concat({steps}, 'E-{digits}') AS {kind})"

        def spread(draw: Draw) -> Any:
            told = self.spread(rows, draw)
            parts = int(told.sparkSession.conf.get("spark.sql.shuffle.partitions"))
            keys = rows.keys
            placed = told.repartition(parts, *keys).sortWithinPartitions(*keys)
            frame = placed.selectExpr(*rows.typed, f"{value} AS value").persist()
            answered(frame.count)  # now, and not when the table may be another one
            return frame

        return spread
