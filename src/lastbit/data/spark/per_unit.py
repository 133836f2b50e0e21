"""One number for each unit, as a job of Spark."""

from __future__ import annotations

from typing import Any

from lastbit.data.spark.bound import keep_items, keep_rows
from lastbit.data.spark.sums import add_steps, average_steps
from lastbit.data.table import Task


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
