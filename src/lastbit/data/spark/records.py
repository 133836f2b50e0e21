"""The records that count in tables, chosen by Spark: one job for all tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lastbit.data.records import RecordTask
from lastbit.data.spark.bound import keep_items
from lastbit.data.spark.columns import SparkColumns
from lastbit.data.table import Keys
from lastbit.values.contribution_bound import ContributionBound


def group_records(frame: Any, columns: SparkColumns, task: RecordTask, keys: Sequence[Keys]) -> Any:
    """Return the positions of the combinations that occur, how many records have each, and how many their unit has."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    chosen = [f"{columns.key(name)} AS lastbit_key_{i}" for i, name in enumerate(task.by)]
    aliases = [(task.unit, "lastbit_unit"), (task.order, "lastbit_order")]
    known = {alias: name for name, alias in aliases if name is not None}
    rows = frame.selectExpr(*chosen, *(f"{columns.key(name)} AS {alias}" for alias, name in known.items()))
    for alias in known:
        rows = rows.where(f"{alias} IS NOT NULL")
    position = f.lit(0).cast("bigint")
    for i, (name, column_keys, size) in enumerate(zip(task.by, keys, task.sizes, strict=True)):
        domain = f.broadcast(columns.domain(name, column_keys, i))
        condition = f.expr(f"lastbit_key_{i} = lastbit_item_{i}")
        rows = rows.join(domain, condition, "left" if task.shown else "inner")
        own = f.col(f"lastbit_position_{i}")
        if task.shown:
            own = f.when(f.col(f"lastbit_key_{i}").isNull(), f.lit(size - 1)).otherwise(own)
        position = position * size + own
    rows = rows.withColumn("lastbit_position", position).where("lastbit_position IS NOT NULL")
    if task.unit is not None and task.bound is not None:
        if task.order is not None:
            latest = Window.partitionBy("lastbit_unit").orderBy(f.desc("lastbit_order"))
            rows = rows.withColumn("lastbit_rank", f.rank().over(latest)).where("lastbit_rank = 1")
        if task.bound.most == 1:
            return _group_first_records(rows, task.bound)
        pairs = rows.select("lastbit_unit", "lastbit_position").distinct()
        everything = f.count(f.lit(1)).over(Window.partitionBy("lastbit_unit"))
        rows = keep_items(pairs.withColumn("lastbit_records", everything), ["lastbit_position"], task.bound)
    else:
        rows = rows.withColumn("lastbit_records", f.lit(1))
    return _group_alike(rows)


def _group_first_records(rows: Any, bound: ContributionBound) -> Any:
    """Return the same where one record of a unit counts: one job without sorting, as in DuckDB.

    Of a unit with two records or more, it says as many records as there are rows.
    """
    from pyspark.sql import functions as f

    position = f.col("lastbit_position")
    mark = f.struct(f.xxhash64("lastbit_unit", position, f.lit(bound.key)).alias("mark"), position.alias("position"))
    own = f.when(f.min(position) == f.max(position), f.lit(1)).otherwise(f.count(f.lit(1))).alias("lastbit_records")
    first = rows.groupBy("lastbit_unit").agg(f.min(mark).alias("lastbit_first"), own)
    return _group_alike(first.select(f.col("lastbit_first.position").alias("lastbit_position"), "lastbit_records"))


def _group_alike(rows: Any) -> Any:
    from pyspark.sql import functions as f

    alike = rows.groupBy("lastbit_position", "lastbit_records").agg(f.count(f.lit(1)).alias("lastbit_total"))
    return alike.select("lastbit_position", "lastbit_total", "lastbit_records")
