"""From any dataframe to `Counts`: one exact number for each public item.

Distinct units per item make the sensitivity of each count exactly 1 and the counts monotone, however many rows a unit
has: a unit that comes or goes moves every count by 0 or by 1, all the same way. The table stays where it is, in the
engine it came from (pandas, Polars, PyArrow, DuckDB, PySpark): only one number for each item is fetched. Whole numbers
of DuckDB, which is in this process, are the exception: they are counted faster by sorting them here.

Everything is decided by public things: column names and types, the domain, the bounds. Rows whose unit or item is null,
or whose item is not in the domain, are left out. No row can raise an error or change what happens to another unit's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from lastbit.errors import DataError, LastbitError, ParameterError
from lastbit.exact.numbers import Number
from lastbit.values.counts import Counts

try:
    import narwhals as nw
except ImportError:
    raise LastbitError("count needs narwhals. Install it with: pip install 'lastbit[data]'") from None

from lastbit.data.domain import combined, domains_of, typed
from lastbit.data.sorting import quoted, sortable, sorted_counts
from lastbit.data.weights import Weights

Result = TypeVar("Result")

_FILTERED: Final = 1_000
"""A domain up to this size filters the rows in the engine; a larger one is looked up afterwards."""

_NUMBERED: Final = (nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32)


def count(
    frame: Any,
    *,
    by: str | Sequence[str],
    unit: str | None = None,
    domain: Any = None,
    weights: str | None = None,
    bounds: tuple[Number, Number] | None = None,
    resolution: Number = 1,
) -> Counts:
    """How many distinct units each item has; with `weights`, the exact sum of what each unit brings.

    frame: a table of any kind that Narwhals knows, eager or lazy.
    by: the column that holds the items. Several make a product domain, whose items are tuples.
    unit: the column that says who a row belongs to: what is protected is everything a unit has in the table. Without
    it each row is a unit, and only a single row is protected: a person with ten rows is protected ten times less.
    domain: the public items, in the order wanted: a list, a range, a file with one item per line, a column of another
    table. Several `by` columns take a list or a mapping of such domains.
    weights, bounds, resolution: the column to add up instead. Each row's weight is clamped to the bounds and floored to
    the grid; a unit's rows in an item are added and clamped again, so that it moves a sum by the larger bound at most.
    Null and NaN count as the lower bound.

    >>> import pandas as pd
    >>> visits = pd.DataFrame({"patient": [1, 1, 2, None], "diagnosis": ["flu", "flu", "flu", "cold"]})
    >>> counts = count(visits, by="diagnosis", unit="patient", domain=["cold", "flu", "gout"])
    >>> counts
    <Counts: 3 items, sensitivity 1, monotone>
    >>> counts.values.tolist()
    [0, 2, 0]
    """
    columns = [by] if isinstance(by, str) else list(by)
    wanted = [*columns, *(name for name in (unit, weights) if name is not None)]
    table = _table(frame, wanted)
    types = dict(zip(wanted, table.collect_schema().values(), strict=True))
    domains = [
        typed(items, types[column], column) for column, items in zip(columns, domains_of(domain, columns), strict=True)
    ]
    amount = None
    if weights is not None:
        amount = Weights.of(bounds, resolution)
        amount.check(types[weights], weights)
    elif bounds is not None:
        raise ParameterError("bounds are for weights: got no weights. Name the column to add up, or leave bounds out.")
    items = combined(domains)
    totals = _or_kind(_totals, table, domains, None if unit is None else _plain(len(columns)), amount, items)
    if amount is None:
        return Counts(items=items, values=totals, sensitivity=1, monotone=True)
    return amount.counts(items, totals)


def _table(frame: Any, wanted: list[str]) -> nw.LazyFrame[Any]:
    try:
        table = nw.from_native(frame).lazy()
    except TypeError:
        raise ParameterError(
            f"frame must be a table that Narwhals knows: got {type(frame).__name__}. "
            "Pass a pandas, Polars, PyArrow, DuckDB or PySpark table."
        ) from None
    present = table.collect_schema().names()
    for column in wanted:
        if column not in present:
            raise ParameterError(f"there is no column {column!r}: the table has {', '.join(present)}.")
    if not wanted or len(set(wanted)) != len(wanted):
        raise ParameterError(f"by, unit and weights must be different columns: got {', '.join(wanted) or 'none'}.")
    if table.implementation.is_duckdb():
        # As SQL: as an expression a name with dots or quotes would be taken apart.
        chosen = ", ".join(f"{quoted(name)} AS {_plain(place)}" for place, name in enumerate(wanted))
        renamed: nw.LazyFrame[Any] = nw.from_native(table.to_native().project(chosen)).lazy()
    else:
        renamed = table.select(*(nw.col(name).alias(_plain(place)) for place, name in enumerate(wanted)))
    return renamed


def _totals(
    table: nw.LazyFrame[Any], domains: list[list[Any]], who: str | None, amount: Weights | None, items: Sequence[Any]
) -> NDArray[np.int64]:
    """The count of each item, or its sum in steps."""
    keys = [_plain(place) for place in range(len(domains))]
    for key, each in zip(keys, domains, strict=True):
        kept = ~nw.col(key).is_null()
        table = table.filter(kept & nw.col(key).is_in(each) if len(each) <= _FILTERED else kept)
    if who is not None:
        table = table.filter(~nw.col(who).is_null())
        if amount is None and _numbered(table) and sortable(domains):
            counts = sorted_counts(table.to_native(), keys, who, domains)
            if counts is not None:
                return counts
    found = _collected(_grouped(table, keys, who, amount), keys)
    return np.fromiter((found.get(item, 0) for item in items), np.int64, len(items))


def _plain(place: int) -> str:
    """What a column is called from here on, so that no name of a user's can mean anything else."""
    return f"lastbit_{place}"


def _grouped(table: nw.LazyFrame[Any], keys: list[str], unit: str | None, amount: Weights | None) -> nw.LazyFrame[Any]:
    """The keys, and a last column with the count or the sum in steps."""
    total = "lastbit_total"
    if amount is None:
        if unit is not None:
            # Grouping twice is what engines do best: faster than a count of distinct values.
            table = table.group_by(*keys, unit).agg(nw.len().alias(total))
        return table.group_by(*keys).agg(nw.len().alias(total))
    weight = _plain(len(keys) + (unit is not None))
    steps = amount.steps(nw.col(weight), table.collect_schema()[weight])
    table = table.with_columns(steps.alias(total))
    if unit is not None:
        summed = table.group_by(*keys, unit).agg(nw.col(total).sum())
        table = summed.with_columns(nw.col(total).clip(amount.low, amount.high))
    return table.group_by(*keys).agg(nw.col(total).sum())


def _numbered(table: nw.LazyFrame[Any]) -> bool:
    """Whether it is DuckDB's, and all its columns are numbers that fit in 64 bits with a sign."""
    return table.implementation.is_duckdb() and all(each in _NUMBERED for each in table.collect_schema().values())


def _collected(grouped: nw.LazyFrame[Any], keys: list[str]) -> dict[Any, int]:
    schema, width = grouped.collect_schema(), len(keys)
    if grouped.implementation.is_duckdb() and all(schema[key] in (nw.String, *_NUMBERED) for key in keys):
        # Text and numbers are the same without PyArrow, which takes longer to load than to be used.
        rows = grouped.to_native().fetchall()
    else:
        rows = grouped.collect().rows()
    return {row[0] if width == 1 else row[:width]: int(row[width]) for row in rows}


def _or_kind(work: Callable[..., Result], *given: Any) -> Result:
    """What an engine gives; of its errors only the kind, because the message may quote a row."""
    try:
        return work(*given)
    except Exception as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # DuckDB's way to say that somebody pressed Ctrl-C
            raise KeyboardInterrupt from None
        problem = type(error).__name__
    raise DataError(f"the table could not be counted: {problem}. Read it with its own library to see why.")
