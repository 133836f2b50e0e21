"""From any dataframe to `Counts`: one exact number for each public item.

Distinct units per item make the sensitivity of each count exactly 1 and the counts monotone, however many rows a unit
has: a unit that comes or goes moves every count by 0 or by 1, all the same way. DuckDB and Spark count in their own
language and hand over one number for each item. Tables in memory (pandas, Polars, PyArrow, anything else Narwhals
knows) are counted here, from the columns named.

One person's rows change only that person's contribution. Every item of the domain has a whole number, its position;
items and units are compared by a normal form (`column_types`); by positions of items and codes of units rows become
pairs of whole numbers, and these are counted. Everything is decided by public things: column names and declared types,
the domain, the bounds. Rows whose unit or item is null, cannot be read, or is not in the domain, are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, overload, runtime_checkable

import numpy as np

from lastbit.data.column_types import ColumnType
from lastbit.data.domain import combine_domains, convert_items, read_domains
from lastbit.data.duckdb.relation import OpenTable
from lastbit.data.duckdb.table import DuckDBTable
from lastbit.data.engines import call_engine, parse_columns, require_column_types, wrap_frame
from lastbit.data.table import Table, Task
from lastbit.data.weights import Weights
from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, whole
from lastbit.values.contribution_bound import ContributionBound
from lastbit.values.counts import Counts
from lastbit.values.missing import LEAVE_OUT, Missing
from lastbit.values.spark_counts import SparkCounts
from lastbit.values.unlisted import ItemsAndSteps, Unknown, Unlisted


@runtime_checkable
class SparkFrame(Protocol):
    """A DataFrame of Spark, by what no other table has."""

    sparkSession: Any  # noqa: N815

    def mapInArrow(self, func: Any, schema: Any) -> Any:  # noqa: N802
        """Run a function where the rows are."""


@overload
def count(
    frame: Any,
    *,
    by: str | Sequence[str],
    unit: str | None = None,
    domain: Unknown,
    weights: str | None = None,
    bounds: tuple[Number, Number] | None = None,
    resolution: Number = 1,
    missing: Missing = LEAVE_OUT,
    most_items: int | None = None,
) -> Unlisted: ...


@overload
def count(
    frame: Any,
    *,
    by: str | Sequence[str],
    unit: str | None = None,
    domain: SparkFrame,
    weights: str | None = None,
    bounds: tuple[Number, Number] | None = None,
    resolution: Number = 1,
    missing: Missing = LEAVE_OUT,
    most_items: int | None = None,
) -> SparkCounts: ...


@overload
def count(
    frame: Any,
    *,
    by: str | Sequence[str],
    unit: str | None = None,
    domain: Any = None,
    weights: str | None = None,
    bounds: tuple[Number, Number] | None = None,
    resolution: Number = 1,
    missing: Missing = LEAVE_OUT,
    most_items: int | None = None,
) -> Counts: ...


def count(
    frame: Any,
    *,
    by: str | Sequence[str],
    unit: str | None = None,
    domain: Any = None,
    weights: str | None = None,
    bounds: tuple[Number, Number] | None = None,
    resolution: Number = 1,
    missing: Missing = LEAVE_OUT,
    most_items: int | None = None,
) -> Counts | Unlisted | SparkCounts:
    """Return how many distinct units each item has; with `weights`, the exact sum of each unit's weights.

    frame: a table of any kind that Narwhals knows, eager or lazy. DuckDB and Spark count where the
    rows are, also for an Ibis table. From Dask, and from Ibis on another engine, the columns named are fetched.
    by: the column that holds the items. Several make a product domain, whose items are tuples.
    unit: the column that says whom a row belongs to. Everything that a unit has in the table is protected together.
    Without it each row is a unit, and only a single row is protected: a person with ten rows is protected ten times
    less.
    domain: the public items, in the order wanted: a list, a range, a file with one item per line, a column of another
    table. Several `by` columns take a list or a mapping of such domains. With `lb.UNKNOWN` nobody lists the items: the
    items that occur are counted, and are private as their counts are. Only mechanisms that pay a delta release them.
    Where the table is one of Spark, the domain may be another one with the columns of `by`: its rows are the items, and
    both stay in Spark (`SparkCounts`).
    weights, bounds, resolution: the column to add up instead. Each row's weight is clamped to the bounds; a unit's rows
    in an item are added and clamped again, so that it moves a sum by the larger bound at most. Each item's sum is
    floored to the resolution, once. With `lb.UNKNOWN` no bound is below zero.
    missing: a row whose weight is null or NaN is left out; with "lowest" it counts as the lower bound, with a number
    between the bounds as that number.
    most_items: one unit counts in at most so many items, so that noise for all items is smaller. A unit with more stays
    in those with the smallest hashes of unit, item and a key that is drawn for this count; items outside of the domain
    do not use up the bound.

    With `lb.UNKNOWN`, DuckDB and Spark count when a mechanism asks for the largest items, and only these leave the
    engine. Tables in memory are counted at once. What is once fetched is kept, and does not change with the table.

    A unit or an item that is null or NaN, or that cannot be read, leaves its row out. Two forms of one value are one:
    0.0 and -0.0, equal entries of a dictionary. Text is compared by its bytes, times with a zone as instants. In a
    column of Python objects a value meets items of its own family: 1, 1.0 and Decimal(1) are one, True and "1" others.

    >>> import pandas as pd
    >>> visits = pd.DataFrame({"patient": [1, 1, 2, None], "diagnosis": ["flu", "flu", "flu", "cold"]})
    >>> counts = count(visits, by="diagnosis", unit="patient", domain=["cold", "flu", "gout"])
    >>> counts
    <Counts: 3 items, sensitivity 1, monotone>
    >>> counts.values.tolist()
    [0, 2, 0]
    """
    columns = parse_columns(by)
    read = [*columns, *(name for name in (unit, weights) if name is not None)]
    bound = _draw_bound(most_items, unit)
    table = call_engine(wrap_frame, frame, read)
    types = call_engine(require_column_types, table, read)
    amount = parse_weights(table, weights, bounds, resolution, missing, types)
    task = Task(tuple(columns), unit, weights, amount, bound)
    if isinstance(domain, Unknown):
        return _count_unlisted(table, task)
    if isinstance(domain, SparkFrame):
        return _count_in_spark(table, task, domain, types)
    domains = read_domains(domain, columns)
    converted = [convert_items(items, types[column], column) for column, items in zip(columns, domains, strict=True)]
    items = combine_domains([column.items for column in converted])
    totals = call_engine(table.compute_totals, task, [column.keys for column in converted])
    most = _most_items(task)
    if amount is None:
        return Counts(items=items, values=totals, sensitivity=1, monotone=True, most_items=most)
    return amount.counts(items, totals, most)


def count_units(table: OpenTable, unit: str, item: str) -> Counts:
    """Return how many units an open table has, as the count of one item that all rows have."""
    engine = DuckDBTable(table.relation, table)
    call_engine(require_column_types, engine, [unit])
    values = np.array([call_engine(engine.count_units, unit)], np.int64)
    return Counts(items=(item,), values=values, sensitivity=1, monotone=True)


def count_rows(table: OpenTable, item: str) -> Counts:
    """Return how many rows an open table has, each of which is a unit, as the count of one item that all rows have."""
    ((rows,),) = table.relation.aggregate("count(*)").fetchall()
    return Counts(items=(item,), values=np.array([rows], np.int64), sensitivity=1, monotone=True)


def parse_weights(
    table: Table,
    column: str | None,
    bounds: tuple[Number, Number] | None,
    resolution: Number,
    missing: Missing,
    types: Mapping[str, ColumnType],
) -> Weights | None:
    """Return how the weights of a column are added up; None where units are counted. Refuse a type that has none."""
    if column is not None:
        weights = Weights.of(bounds, resolution, missing)
        weights.check(types[column], column)
        return weights.refine(types[column], call_engine(table.decimal_places, column))
    if bounds is not None or missing != LEAVE_OUT:
        raise ParameterError(
            "bounds and missing are for weights: got no weights. Name the column to add up, or leave bounds and "
            "missing out."
        )
    return None


def _draw_bound(most_items: int | None, unit: str | None) -> ContributionBound | None:
    if most_items is None:
        return None
    most = whole(most_items, "most_items")
    if unit is None:
        raise ParameterError(
            "most_items needs a unit: without one each row counts in one item already. Name the column that says whom "
            "a row belongs to."
        )
    return ContributionBound.draw(most)


def _most_items(task: Task) -> int | None:
    """Return in how many items one unit counts at most; without units, one row: in one."""
    if task.unit is None:
        return 1
    return None if task.bound is None else task.bound.most


def _count_unlisted(table: Table, task: Task) -> Unlisted:
    """Return the values of the items that occur."""
    if task.amount is not None and task.amount.low < 0:
        raise ParameterError(
            "bounds must not go below zero where nobody listed the items: an item that does not occur counts 0, and "
            "others must not count less. Use a lower bound of 0, or a public domain."
        )
    find = call_engine(table.find_items, task)

    def fetch(most: int | None) -> ItemsAndSteps:
        columns, steps = call_engine(find, most)
        items = columns[0] if len(columns) == 1 else zip(*columns, strict=True)
        steps.flags.writeable = False
        return tuple(items), steps

    facts: dict[str, Any] = {"most_items": _most_items(task)}
    if task.amount is not None:
        facts |= task.amount.facts
    in_spark = getattr(table, "find_items_in_spark", None)
    spark_rows = None if in_spark is None else call_engine(in_spark, task)
    return Unlisted(fetch=_remember(fetch), rows=spark_rows, **facts)


def _count_in_spark(table: Table, task: Task, domain: SparkFrame, types: dict[str, ColumnType]) -> SparkCounts:
    """Return the values of the items of a table in Spark."""
    from lastbit.data.spark.table import SparkTable

    if not isinstance(table, SparkTable):
        raise ParameterError(
            "domain must not be a Spark table where the table is of another engine. Collect the items: "
            "domain=[row[0] for row in items.collect()]."
        )
    frame: Any = domain
    if len(task.by) == len(frame.columns) == 1:
        frame = frame.toDF(*task.by)  # one column needs no name
    items = call_engine(wrap_frame, frame, list(task.by))
    for column, column_type in call_engine(require_column_types, items, task.by).items():
        if column_type is not types[column]:
            raise ParameterError(
                f"domain must hold {types[column].description} in its column {column!r}, as the table does. "
                "Cast the column."
            )
    facts: dict[str, Any] = {"sensitivity": 1, "monotone": True}
    if task.amount is not None:
        facts = {**task.amount.facts, "monotone": task.amount.monotone}
    rows = call_engine(table.join_items_in_spark, task, items)
    return SparkCounts(rows=rows, most_items=_most_items(task), **facts)


def _remember(fetch: Callable[[int | None], ItemsAndSteps]) -> Callable[[int | None], ItemsAndSteps]:
    """Return a function that gives the same items again, whatever became of the table. More are fetched anew."""
    memory: list[tuple[int | None, ItemsAndSteps]] = []

    def fetch_once(most: int | None) -> ItemsAndSteps:
        if memory:
            limit, (items, steps) = memory[0]
            if limit is None or len(items) < limit or (most is not None and most <= limit):
                return items[:most], steps[:most]
        memory[:] = [(most, fetch(most))]
        return memory[0][1]

    return fetch_once
