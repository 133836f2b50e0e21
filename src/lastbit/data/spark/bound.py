"""Which items, or rows, of a unit count where few may: those with the smallest hashes, as a job of Spark."""

from __future__ import annotations

from typing import Any

from lastbit.values.contribution_bound import ContributionBound


def keep_items(rows: Any, keys: list[str], bound: ContributionBound) -> Any:
    """Return the rows of each unit whose keys have the smallest hashes. A unit must have each key once."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    mark = f.xxhash64("lastbit_unit", *keys, f.lit(bound.key))
    first = Window.partitionBy("lastbit_unit").orderBy(mark.asc(), *map(f.asc, keys))
    return rows.withColumn("lastbit_rank", f.row_number().over(first)).where(f"lastbit_rank <= {bound.most}")


def keep_rows(rows: Any, bound: ContributionBound) -> Any:
    """Return at most so many rows of each unit. Rows that are alike are numbered, so that each has its own hash."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    alike = Window.partitionBy("lastbit_position", "lastbit_unit", "lastbit_step").orderBy(f.lit(0))
    rows = rows.withColumn("lastbit_copy", f.row_number().over(alike))
    return keep_items(rows, ["lastbit_position", "lastbit_step", "lastbit_copy"], bound)
