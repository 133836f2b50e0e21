"""One number for each unit, as a job of Spark."""

from __future__ import annotations

from typing import Any

from lastbit.data.spark.bound import keep_items, keep_rows
from lastbit.data.table import Task


def reduce_rows(rows: Any, task: Task) -> Any:
    """Return the position and the number of every unit, from rows with a position, a step, and perhaps a unit."""
    from pyspark.sql import functions as f

    if task.order is not None:
        rows = rows.where("lastbit_order IS NOT NULL")
    if task.unit is None:
        return rows.select("lastbit_position", "lastbit_step")
    rows = rows.where("lastbit_unit IS NOT NULL")
    if task.per == "row":
        rows = rows if task.bound is None else keep_rows(rows, task.bound)
        return rows.select("lastbit_position", "lastbit_step")
    low, high = task.ends
    number = {
        # As decimals of 38 digits: a sum of whole numbers may raise where it does not fit. None is below zero.
        "mean": f"CAST(sum(CAST(lastbit_step - ({low}L) AS DECIMAL(20,0))) div count(1) + ({low}L) AS BIGINT)",
        "total": f"CAST(greatest(least(sum(CAST(lastbit_step AS DECIMAL(20,0))), {high}L), {low}L) AS BIGINT)",
        "latest": "max(struct(lastbit_order, lastbit_step)).lastbit_step",
        "first": "min(struct(lastbit_order, lastbit_step)).lastbit_step",
        "any": "max(lastbit_step)",
    }[task.per]
    rows = rows.groupBy("lastbit_position", "lastbit_unit").agg(f.expr(number).alias("lastbit_step"))
    if task.bound is not None:
        rows = keep_items(rows, ["lastbit_position"], task.bound)
    return rows.select("lastbit_position", "lastbit_step")
