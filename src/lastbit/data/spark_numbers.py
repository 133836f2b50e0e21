"""One number for each unit, as a job of Spark."""

from __future__ import annotations

from typing import Any

from lastbit.data.task import Task

_PAIR = ("lastbit_place", "lastbit_unit")


def numbers_per_unit(rows: Any, task: Task) -> Any:
    """The place and the number of every unit, from rows with a place, a step, and a unit where there are units."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    if task.order is not None:
        rows = rows.where("lastbit_order IS NOT NULL")
    if task.unit is None:
        return rows.select("lastbit_place", "lastbit_step")
    rows = rows.where("lastbit_unit IS NOT NULL")
    if task.per == "row":
        if task.bound is not None:
            # Rows that are alike are numbered, so that each has a hash of its own.
            alike = Window.partitionBy(*_PAIR, "lastbit_step").orderBy(f.lit(0))
            rows = rows.withColumn("lastbit_copy", f.row_number().over(alike))
            seen = ["lastbit_place", "lastbit_step", "lastbit_copy"]
            mark = f.xxhash64("lastbit_unit", *seen, f.lit(task.bound.key))
            first = Window.partitionBy("lastbit_unit").orderBy(mark.asc(), *map(f.asc, seen))
            rows = rows.withColumn("lastbit_rank", f.row_number().over(first))
            rows = rows.where(f"lastbit_rank <= {task.bound.most}")
        return rows.select("lastbit_place", "lastbit_step")
    low, high = task.ends
    own = {
        # As decimals of 38 digits: a sum of whole numbers may raise where it does not fit. None is below zero.
        "mean": f"CAST(sum(CAST(lastbit_step - ({low}L) AS DECIMAL(20,0))) div count(1) + ({low}L) AS BIGINT)",
        "total": f"CAST(greatest(least(sum(CAST(lastbit_step AS DECIMAL(20,0))), {high}L), {low}L) AS BIGINT)",
        "latest": "max(struct(lastbit_order, lastbit_step)).lastbit_step",
    }[task.per]
    rows = rows.groupBy(*_PAIR).agg(f.expr(own).alias("lastbit_step"))
    if task.bound is not None:
        mark = f.xxhash64("lastbit_unit", "lastbit_place", f.lit(task.bound.key))
        first = Window.partitionBy("lastbit_unit").orderBy(mark.asc(), f.asc("lastbit_place"))
        rows = rows.withColumn("lastbit_rank", f.row_number().over(first)).where(f"lastbit_rank <= {task.bound.most}")
    return rows.select("lastbit_place", "lastbit_step")
