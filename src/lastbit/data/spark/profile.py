"""What each unit has in many columns, as one job of Spark."""

from __future__ import annotations

from typing import Any

from lastbit.data.column_types import ZONED_TIMESTAMP
from lastbit.data.profiles import ProfileTask
from lastbit.data.spark.columns import SparkColumns
from lastbit.data.spark.integers import average_steps
from lastbit.data.sql import quote_spark_identifier


def group_units(frame: Any, columns: SparkColumns, task: ProfileTask) -> Any:
    """Return a row for each unit: its number of rows, and for each column its rows with a value and its number."""
    from pyspark.sql import functions as f

    chosen, measures = [f"{columns.key(task.unit)} AS lastbit_unit"], [f.expr("count(1)").alias("lastbit_rows")]
    for place, column in enumerate(task.columns_of_unit):
        name, step = quote_spark_identifier(column.name), f"lastbit_step_{place}"
        number = "0L"
        if column.amount is not None:
            chosen.append(f"{columns.steps(column.name, column.amount)} AS {step}")
            number = average_steps(step, column.amount.low, column.amount.high)
        elif column.measured == "date":
            zoned = columns.column_type(column.name) is ZONED_TIMESTAMP
            day = f"to_utc_timestamp({name}, current_timezone())" if zoned else name
            chosen.append(f"CAST(datediff(CAST({day} AS DATE), DATE'1970-01-01') AS BIGINT) AS {step}")
            number = f"max({step})"
        else:
            chosen.append(f"CASE WHEN {name} IS NOT NULL THEN 1 END AS {step}")
        measures.append(f.expr(f"count({step})").alias(f"lastbit_present_{place}"))
        measures.append(f.expr(f"coalesce({number}, 0L)").alias(f"lastbit_number_{place}"))
    rows = frame.selectExpr(*chosen).where("lastbit_unit IS NOT NULL")
    return rows.groupBy("lastbit_unit").agg(*measures).drop("lastbit_unit")
