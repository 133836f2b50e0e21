"""From any dataframe to `TableCounts`: the exact counts of several tables of the same records, in one reading.

Each row of the table is in one combination of the public values of all columns. Of each unit, so many combinations
count, chosen by a rule that looks at this unit alone. The engine hands over how many records each combination has; all
tables are sums of that. So a unit that comes or goes moves every table by at most its own records.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lastbit.data.domain import convert_items, read_domains
from lastbit.data.engines import call_engine, parse_columns, require_column_types, wrap_frame
from lastbit.data.records import Records, RecordTask
from lastbit.errors import ParameterError
from lastbit.exact.numbers import whole
from lastbit.mechanisms.tables.shape import Shape
from lastbit.values.contribution_bound import ContributionBound
from lastbit.values.table_counts import TableCounts

MISSING_VALUE: Final = "(missing)"
"""The name of the value that a column has where a row has none, if that is shown."""
_CHUNK: Final = 1 << 20
"""Combinations that are taken apart at once."""


def count_tables(
    frame: Any,
    *,
    by: str | Sequence[str],
    domain: Any,
    ways: int | None = None,
    tables: Sequence[Sequence[str]] | None = None,
    unit: str | None = None,
    most_records: int = 1,
    latest_by: str | None = None,
    missing: str = "leave-out",
) -> TableCounts:
    """Return how many records are in each cell of each table, of a table in any engine, in one reading.

    frame: a table of any kind that Narwhals knows. DuckDB and Spark count where the rows are.
    by, domain: the columns, and the public values of each: a list of lists, or a mapping from columns to lists.
    ways, tables: all tables of at most so many columns, or the tables that are listed.
    unit: the column that says whom a row belongs to. Without it each row is a unit.
    most_records: in how many different combinations of values a unit counts; which, is drawn by lot. With `latest_by`
    only those rows of a unit are looked at that have the largest value there.
    missing: "leave-out" leaves a row without a value out of all tables; "show" makes it a value of its own. Rows with a
    value that is not listed are left out of all tables, as all tables must be of the same records.

    >>> import pandas as pd
    >>> visits = pd.DataFrame({"who": [1, 1, 2], "sex": ["f", "f", "m"], "old": [True, True, False]})
    >>> lists = {"sex": ["f", "m"], "old": [False, True]}
    >>> counts = count_tables(visits, by=["sex", "old"], domain=lists, ways=2, unit="who")
    >>> counts, counts.counts["sex", "old"].tolist()
    (<TableCounts: 1 table of 2 columns, at most 1 record a person>, [[0, 1], [1, 0]])
    """
    columns = parse_columns(by)
    if missing not in ("leave-out", "show"):
        raise ParameterError(f"missing must be 'leave-out' or 'show': got {missing!r}.")
    shown = missing == "show"
    most = whole(most_records, "most_records")
    if unit is None and (most > 1 or latest_by is not None):
        raise ParameterError(
            "most_records and latest_by need a unit: without one each row is one record. Name the column that says "
            "whom a row belongs to."
        )
    lists = read_domains(domain, columns)
    named = {
        name: (*items, MISSING_VALUE) if shown else tuple(items) for name, items in zip(columns, lists, strict=True)
    }
    shape = Shape.of(named, ways=ways, tables=tables)
    bound = None if unit is None else ContributionBound.draw(most)
    task = RecordTask(tuple(columns), shape.sizes, unit, bound, latest_by, shown)
    table: Any = call_engine(wrap_frame, frame, list(task.columns))
    types = call_engine(require_column_types, table, task.columns)
    keys = []
    for column, items in zip(columns, lists, strict=True):
        listed = convert_items(items, types[column], column)
        if len(listed.keys) != len(items):
            raise ParameterError(
                f"domain must name each value once: the column {column!r} takes two of its values for one, as 1 and 01 "
                "are one whole number. Leave one of them out."
            )
        keys.append(listed.keys)
    records = call_engine(table.count_records, task, keys)
    counts = {shape.columns_of(axes): array for axes, array in sum_records(records, shape.sizes, shape.largest).items()}
    numbers = None if unit is None else records.numbers_of_records(most, prod(shape.sizes))
    return TableCounts(domain=named, counts=counts, most_records=most, numbers_of_records=numbers)


def sum_records(
    records: Records, sizes: Sequence[int], tables: Sequence[tuple[int, ...]]
) -> dict[tuple[int, ...], NDArray[np.int64]]:
    """Return the counts of tables, from how many records each combination of values has.

    >>> sum_records(Records(np.array([0, 5]), np.array([2, 1]), np.array([1, 1])), (2, 3), [(0,), (1,)])
    {(0,): array([2, 1]), (1,): array([2, 0, 1])}
    """
    result: dict[tuple[int, ...], NDArray[np.int64]] = {
        table: np.zeros(prod(sizes[axis] for axis in table), np.int64) for table in tables
    }
    places, times, _ = records
    for begin in range(0, len(places), _CHUNK):
        rest, own = places[begin : begin + _CHUNK], times[begin : begin + _CHUNK]
        parts: dict[int, NDArray[np.int64]] = {}
        for axis in range(len(sizes) - 1, -1, -1):
            rest, parts[axis] = np.divmod(rest, sizes[axis])
        alike = bool((own == 1).all())
        for table, totals in result.items():
            code = np.zeros(len(own), np.int64)
            for axis in table:
                code = code * sizes[axis] + parts[axis]
            # As floats: each sum is below 2^53, as there are not so many records.
            totals += np.bincount(code, None if alike else own, len(totals)).astype(np.int64)
    return {table: totals.reshape([sizes[axis] for axis in table]) for table, totals in result.items()}
