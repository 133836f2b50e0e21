"""Tables of Spark, counted as a job of its own expressions.

The domain is a small table that every executor gets, and only the position of each item and its count are collected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from lastbit.data.column_types import ColumnType
from lastbit.data.numbers import Numbers
from lastbit.data.profiles import ColumnProfile, ProfileTask, UnitProfiles
from lastbit.data.records import Records, RecordTask
from lastbit.data.spark.bound import keep_items
from lastbit.data.spark.columns import SparkColumns
from lastbit.data.spark.integers import fetch_integers
from lastbit.data.spark.per_unit import SparkNumbers, reduce_rows
from lastbit.data.spark.profile import group_units
from lastbit.data.spark.records import group_records
from lastbit.data.sql_weights import sum_steps
from lastbit.data.table import Integers, ItemTotals, Keys, Task
from lastbit.values.spark_rows import PART, TOTAL, SparkRows

_BROADCAST: Final = 100_000
"""Items that every executor gets."""

_WIDE: Final = "DECIMAL(28,0)"
"""Of this type are the steps that are added up: Spark's sum has ten digits more."""


class SparkTable:
    """A DataFrame of PySpark."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._columns = SparkColumns(frame)

    def column_type(self, name: str) -> ColumnType | None:
        """Return the type of a column as it is declared; None where rows cannot be counted by such a type."""
        return self._columns.column_type(name)

    def decimal_places(self, name: str) -> int:
        """Return how many digits a column of decimals has after the point; 0 for other columns."""
        return self._columns.decimal_places(name)

    def compute_totals(self, task: Task, keys: Sequence[Keys]) -> Integers:
        """Compute the count of each item of the product of domains, or its sum in steps of the resolution."""
        rows = _group(self._locate_rows(task, keys), task, ["lastbit_position"])
        totals = np.zeros(int(np.prod([*map(len, keys)], dtype=object)), np.int64)
        for position, total in rows.collect():
            totals[position] = total
        return totals

    def read_numbers(self, task: Task, keys: Sequence[Keys], facts: Numbers) -> Numbers:
        """Return the number of each unit, with the place of its item. They stay in Spark until somebody asks."""
        return SparkNumbers(reduce_rows(self._locate_rows(task, keys), task), task.ends, facts)

    def profile(self, task: ProfileTask) -> UnitProfiles:
        """Measure how many rows each unit has, and what it has in each column."""
        rows, *pairs = fetch_integers(group_units(self._frame, self._columns, task))
        return rows, [ColumnProfile(*pair) for pair in zip(pairs[::2], pairs[1::2], strict=True)]

    def count_records(self, task: RecordTask, keys: Sequence[Keys]) -> Records:
        """Count how many records have each combination of values of several columns."""
        return Records(*fetch_integers(group_records(self._frame, self._columns, task, keys)))

    def find_items(self, task: Task) -> Callable[[int | None], ItemTotals]:
        """Return a function that counts the items that occur: the executors sort, and only the largest come back."""
        rows = self.find_items_in_spark(task)

        def fetch(most: int | None) -> ItemTotals:
            from pyspark.sql import functions as f

            # Keys are bytes or numbers: no collation has a say in their order.
            frame = rows.frame.orderBy(f.desc(TOTAL), *map(f.asc, rows.keys))
            frame = frame if most is None else frame.limit(most)
            largest = frame.selectExpr(*(text for text, _ in rows.read), TOTAL).collect()
            items = [[read(row[i]) for row in largest] for i, (_, read) in enumerate(rows.read)]
            return items, np.array([row[-1] for row in largest], np.int64)

        return fetch

    def find_items_in_spark(self, task: Task) -> SparkRows:
        """Return the items that occur, and their values, where they are."""
        rows = self._readable_rows(task)
        return self._spark_rows(task, _group(rows, task, _keys(task)).where(f"{TOTAL} > 0"))

    def join_items_in_spark(self, task: Task, domain: SparkTable) -> SparkRows:
        """Return the items of a public table, and their values: neither leaves Spark."""
        from pyspark.sql import functions as f

        keys = _keys(task)
        items = domain._readable_rows(Task(task.by)).distinct()
        rows = self._rows(task)
        if task.bound is not None:  # other items do not use the bound up
            rows = rows.join(items, keys, "left_semi")
        totals = items.join(_group(rows, task, keys), keys, "left")
        zero = f.lit(0).cast("bigint")
        spark_rows = domain._spark_rows(task, totals.select(*keys, f.coalesce(TOTAL, zero).alias(TOTAL)))
        return replace(spark_rows, public=items)

    def _spark_rows(self, task: Task, frame: Any) -> SparkRows:
        keys = _keys(task)
        readers = tuple(self._columns.item_reader(name, key) for name, key in zip(task.by, keys, strict=True))
        return SparkRows(frame, readers, tuple(map(self._columns.cast_key, task.by, keys)))

    def _locate_rows(self, task: Task, keys: Sequence[Keys]) -> Any:
        """Return the rows whose items are in the domain, with the position of each."""
        from pyspark.sql import functions as f

        rows = self._rows(task)
        position = f.lit(0).cast("bigint")
        for i, (name, column_keys) in enumerate(zip(task.by, keys, strict=True)):
            domain = self._columns.domain(name, column_keys, i)
            domain = f.broadcast(domain) if len(column_keys) <= _BROADCAST else domain
            rows = rows.join(domain, f.expr(f"lastbit_key_{i} = lastbit_item_{i}"))
            position = position * len(column_keys) + f.col(f"lastbit_position_{i}")
        return rows.withColumn("lastbit_position", position)

    def _readable_rows(self, task: Task) -> Any:
        """Return the rows that Python has an item for."""
        rows = self._rows(task)
        for name, key in zip(task.by, _keys(task), strict=True):
            rows = rows.where(f"{key} IS NOT NULL").where(self._columns.is_readable(name, key))
        return rows

    def _rows(self, task: Task) -> Any:
        """Return the columns in their normal form."""
        chosen = [f"{self._columns.key(name)} AS {key}" for name, key in zip(task.by, _keys(task), strict=True)]
        if task.unit is not None:
            chosen.append(f"{self._columns.key(task.unit)} AS lastbit_unit")
        if task.weight is not None and task.amount is not None:
            chosen.append(f"{self._columns.steps(task.weight, task.amount)} AS lastbit_step")
        if task.order is not None:
            chosen.append(f"{self._columns.key(task.order)} AS lastbit_order")
        rows = self._frame.selectExpr(*chosen)
        left_out = task.amount is not None and task.amount.missing is None
        return rows.where("lastbit_step IS NOT NULL") if left_out else rows


def _keys(task: Task) -> list[str]:
    return [PART.format(number) for number in range(len(task.by))]


def _group(rows: Any, task: Task, keys: list[str]) -> Any:
    """Return the counts or sums of the items that these columns name."""
    from pyspark.sql import functions as f

    amount = task.amount
    # As decimals: a sum of whole numbers may be beyond 64 bits.
    own = f.count(f.lit(1)) if amount is None else f.expr(f"sum(CAST(lastbit_step AS {_WIDE}))")
    if task.unit is not None:
        rows = rows.where("lastbit_unit IS NOT NULL").groupBy(*keys, "lastbit_unit").agg(own.alias("lastbit_step"))
    if task.bound is not None:
        rows = keep_items(rows, keys, task.bound)
    total = f.count(f.lit(1))
    if amount is not None:
        total = f.expr(sum_steps(amount, _WIDE, "div"))
    return rows.groupBy(*keys).agg(total.alias(TOTAL))
