"""A histogram of items that nobody listed, where Spark has the rows: the executors add the noise.

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
from lastbit.mechanisms.mechanism import require_system_draw
from lastbit.mechanisms.noisy_values import Noise, add_noise
from lastbit.mechanisms.spark_draws import Draws, make_keyed_draws
from lastbit.privacy.rate import Rate
from lastbit.values.grid import LIMIT
from lastbit.values.spark_rows import TOTAL, SparkRows, run_spark

try:
    import pyarrow as pa
except ImportError:
    raise LastbitError("Spark needs pyspark and pyarrow. Install them with: pip install 'lastbit[spark]'") from None

STEPS = "lastbit_steps"
"""The column of the noisy values, as text: noise may be beyond 64 bits."""


@dataclass(frozen=True)
class SparkThreshold:
    """The rule which items of a batch are published: those whose value with noise is at least `least` steps."""

    factor: int
    """Steps of the noise in one step of the values."""
    rate: Rate
    noise: Noise
    least: int

    def filter_batches(self, batches: Iterable[pa.RecordBatch], draws: Draws) -> Iterator[pa.RecordBatch]:
        """Return the published items, with their noisy values: memory for one batch."""
        for batch in batches:
            steps = np.minimum(batch.column(TOTAL).to_numpy(zero_copy_only=False), LIMIT // self.factor) * self.factor
            noisy = add_noise(self.noise, self.rate, steps, draws(batch, steps))
            places = np.flatnonzero(np.asarray(noisy >= self.least, np.bool_))
            texts = pa.array([str(step) for step in noisy[places].tolist()], pa.string())
            parts = batch.drop_columns([TOTAL]).take(pa.array(places))
            yield pa.RecordBatch.from_arrays([*parts.columns, texts], [*parts.schema.names, STEPS])

    def draw_items(self, rows: SparkRows, draw: Draw) -> Any:
        """Return the published items, with their noisy values, as a DataFrame: the same whenever it is evaluated."""
        require_system_draw(draw)
        draws = make_keyed_draws(draw)
        return rows.map_batches(lambda batches: self.filter_batches(batches, draws), STEPS)

    def ready_items(self, rows: SparkRows) -> Callable[[Draw], tuple[list[Any], Any]]:
        """Return the published items and their noisy values, on this machine."""

        def search(draw: Draw) -> tuple[list[Any], Any]:
            items, texts = rows.fetch(self.draw_items(rows, draw), STEPS)
            noisy = [int(text) for text in texts]
            small = all(-(1 << 63) <= step < 1 << 63 for step in noisy)
            return items, np.array(noisy, np.int64 if small else object)

        return search

    def ready_frame(self, rows: SparkRows, resolution: Fraction, digits: int) -> Callable[[Draw], Any]:
        """Return the published items as a DataFrame with the columns of the table and `value`.

        Where a row lies depends on its item alone: the order in which Spark grouped all items would tell of others.
        Spark keeps the rows. What it loses it computes again, and the noise is the same then.
        """
        whole = (resolution * 10**digits).numerator
        kind = "BIGINT" if digits == 0 else f"DECIMAL(38,{digits})"
        # A product with too many digits would be rounded: the point is moved by a cast of the text.
        steps = f"try_cast({STEPS} AS DECIMAL(20,0)) * CAST({whole} AS DECIMAL(17,0))"
        value = f"try_cast({steps} AS BIGINT)" if digits == 0 else f"try_cast(concat({steps}, 'E-{digits}') AS {kind})"

        def draw_frame(draw: Draw) -> Any:
            items = self.draw_items(rows, draw)
            parts = int(items.sparkSession.conf.get("spark.sql.shuffle.partitions"))
            keys = rows.keys
            layout = items.repartition(parts, *keys).sortWithinPartitions(*keys)
            frame = layout.selectExpr(*rows.typed, f"{value} AS value").persist()
            run_spark(frame.count)  # now, and not when the table may be another one
            return frame

        return draw_frame
