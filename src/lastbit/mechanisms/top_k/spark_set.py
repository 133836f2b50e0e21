"""Selecting a set from more candidates than one machine holds.

What decides is small: the distinct counts, and how many items have each. One job fetches these. The driver draws the
ranks of the selected. A second job fetches the items at these ranks: by their count, and by their place among the items
of the same count in the order of the items. Which of equal items has which place does not change the law of the set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from lastbit.chance.draw import Draw
from lastbit.errors import DataError
from lastbit.mechanisms.top_k.mechanism import check_enough
from lastbit.mechanisms.top_k.set_selector import SetSelector, among_runs
from lastbit.mechanisms.top_k.spark import scale_steps
from lastbit.values.grid import LIMIT
from lastbit.values.spark_rows import TOTAL, SparkRows, run_spark
from lastbit.values.unlisted import sort_key

_PLACE = "lastbit_place"
_MANY = "lastbit_many"


def ready_set_selection(
    rows: SparkRows, factor: int, selector: SetSelector
) -> Callable[[Draw], tuple[tuple[Any, ...], int]]:
    """Return a selection among rows: the items in their fixed order, and how many candidates there are."""
    from pyspark.sql import functions as f

    many = rows.frame.groupBy(TOTAL).agg(f.count("*").alias(_MANY))
    runs = sorted(((int(row[0]), int(row[1])) for row in run_spark(many.collect)), reverse=True)
    edges = np.cumsum([size for _, size in runs], dtype=np.int64)
    n = int(edges[-1]) if runs else 0
    check_enough(selector.k, n)
    totals = np.array([total for total, _ in runs])
    # Totals beyond the grid are clamped: runs of equal counts side by side have the same law as one.
    negative_counts = -scale_steps(totals, factor).astype(np.int64)

    def select(draw: Draw) -> tuple[tuple[Any, ...], int]:
        if n == selector.k:
            return _fetch(rows, rows.frame, n), n
        ranks = selector.ranks(selector.runs(edges, negative_counts), draw)
        which, places = among_runs(edges, ranks)
        return _fetch(rows, _at(rows, totals[which].tolist(), places.tolist()), selector.k), n

    return select


def fill_nulls(rows: SparkRows) -> SparkRows:
    """Return rows of whole values, where null is lowest."""
    from pyspark.sql import functions as f

    lowest = f.lit(-LIMIT).cast("bigint")
    return replace(rows, frame=rows.frame.withColumn(TOTAL, f.coalesce(f.col(TOTAL).cast("bigint"), lowest)))


def _at(rows: SparkRows, totals: list[int], places: list[int]) -> Any:
    """Return the rows with these counts at these places among the rows of the same count."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    window = Window.partitionBy(TOTAL).orderBy(*rows.keys)
    candidates = rows.frame.where(f.col(TOTAL).isin(sorted({*totals})))
    candidates = candidates.withColumn(_PLACE, f.row_number().over(window) - 1)
    keys = [f"{total}:{place}" for total, place in zip(totals, places, strict=True)]
    return candidates.where(f.concat_ws(":", f.col(TOTAL).cast("string"), f.col(_PLACE).cast("string")).isin(keys))


def _fetch(rows: SparkRows, frame: Any, k: int) -> tuple[Any, ...]:
    items, _ = rows.fetch(frame, TOTAL)
    if len(items) != k:
        raise DataError(
            "the table changed while it was read: a second look did not find the selected items. Keep the rows with "
            "frame.cache(), or write the table first. What was charged stays charged."
        )
    return tuple(sorted(items, key=sort_key))
