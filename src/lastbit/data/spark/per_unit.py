"""One number for each unit, as a job of Spark: sums are added up there, and no number comes back for them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lastbit.data.engines import call_engine
from lastbit.data.numbers import Numbers
from lastbit.data.spark.bound import keep_items, keep_rows
from lastbit.data.spark.integers import add_steps, average_steps, fetch_integers, join_parts, sum_parts
from lastbit.data.table import Integers, Task

_ARRAYS: Final = ("steps", "places")


def reduce_rows(rows: Any, task: Task) -> Any:
    """Return the position and the number of every unit, from rows with a position, a step, and perhaps a unit."""
    from pyspark.sql import functions as f

    zero = f.lit(0).cast("bigint").alias("lastbit_position")
    if task.order is not None:
        rows = rows.where("lastbit_order IS NOT NULL")
    if task.unit is None:
        return rows.select("lastbit_position", "lastbit_step")
    rows = rows.where("lastbit_unit IS NOT NULL")
    if task.per == "row":
        rows = rows if task.bound is None else keep_rows(rows, task.bound)
        return rows.select("lastbit_position", "lastbit_step")
    assert task.amount is not None  # noqa: S101
    (low, high), ends = task.ends, ("lastbit_step", task.amount.low, task.amount.high)
    number = {
        "mean": average_steps(*ends),
        "total": f"CAST(greatest(least({add_steps(*ends)}, {high}BD), {low}BD) AS BIGINT)",
        "latest": "max(struct(lastbit_order, lastbit_step)).lastbit_step",
        "first": "min(struct(lastbit_order, lastbit_step)).lastbit_step",
        "any": "max(lastbit_step)",
    }[task.per]
    if task.has_one_number:
        return rows.groupBy("lastbit_unit").agg(f.expr(number).alias("lastbit_step")).select(zero, "lastbit_step")
    rows = rows.groupBy("lastbit_position", "lastbit_unit").agg(f.expr(number).alias("lastbit_step"))
    if task.bound is not None:
        rows = keep_items(rows, ["lastbit_position"], task.bound)
    return rows.select("lastbit_position", "lastbit_step")


class SparkNumbers(Numbers):
    """Numbers that stay in Spark until somebody asks for each of them, as a quantile does."""

    def __init__(self, rows: Any, ends: tuple[int, int], facts: Numbers) -> None:
        """Hold rows with a position and a step between two ends; all else is that of other numbers."""
        own = {name: value for name, value in vars(facts).items() if name not in _ARRAYS}
        vars(self).update(own | {"_rows": rows, "_ends": ends, "_sums": {}})

    def __getattr__(self, name: str) -> Any:
        """Return all numbers or their places. Of equal ones Spark hands over one, and how many they are."""
        if name not in _ARRAYS:
            raise AttributeError(name)
        places, steps, times = call_engine(self._fetch)
        # Spark's own order depends on all rows.
        order = np.lexsort((steps, places))
        for array, values in zip(_ARRAYS, (steps, places), strict=True):
            vars(self)[array] = np.repeat(values[order], times[order])
        return vars(self)[name]

    def _fetch(self) -> list[Integers]:
        return fetch_integers(self._rows.groupBy("lastbit_position", "lastbit_step").count())

    def add_up(self, groups: int) -> list[tuple[int, int]]:
        """Return the sum of the steps of so many groups, and how many numbers each has, as one job of Spark."""
        if groups not in self._sums:
            self._sums[groups] = call_engine(self._add_up, groups)
        return list(self._sums[groups])

    def count_up(self, groups: int) -> NDArray[np.int64]:
        """Return how many numbers each of so many groups has: the job that adds them up knows it."""
        return np.array([n for _, n in self.add_up(groups)], np.int64)

    def _add_up(self, groups: int) -> list[tuple[int, int]]:
        from pyspark.sql import functions as f

        rows = self._rows.groupBy(*(["lastbit_position"] if groups > 1 else []))
        parts = [f.expr(f"coalesce({part}, 0L)") for part in sum_parts("lastbit_step", *self._ends)]
        sums = [(0, 0)] * groups
        for row in rows.agg(f.count(f.lit(1)), *parts).collect():
            place, n, *own = row if groups > 1 else (0, *row)
            sums[place] = join_parts(own) + n * self._ends[0], n
        return sums

    def __len__(self) -> int:
        return self.add_up(1)[0][1]
