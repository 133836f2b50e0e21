"""A bound on the items of a unit, on tables in memory, against the same count without one."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.measure import compare, heading

ROWS, UNITS, ITEMS, RUNS = 10**6, 10**5, 10**5, 7


def tables() -> dict[str, Any]:
    """Rows of units and texts; the lower its number, the more common a text."""
    import polars as pl
    import pyarrow as pa

    numbers = np.random.default_rng(1)
    places = (numbers.random(ROWS) ** 3 * ITEMS).astype(int)
    texts = np.array([f"https://example.org/page/{place}" for place in range(ITEMS)], object)[places]
    table = pa.table({"unit": numbers.integers(0, UNITS, ROWS), "item": pa.array(texts)})
    frame = table.to_pandas()
    return {"Arrow": table, "Polars": pl.from_arrow(table), "pandas": frame, "objects": frame.astype({"item": object})}


def run() -> None:
    from lastbit import UNKNOWN, count

    heading(f"count(most_items=3) in memory: {ROWS:,} rows, {UNITS:,} units, {ITEMS:,} texts that nobody listed")
    for name, table in tables().items():
        alone = partial(count, table, by="item", unit="unit", domain=UNKNOWN)
        compare(name, partial(alone, most_items=3), alone, against="without", target=2, runs=RUNS)
