"""Distinct units per item of a DuckDB table by sorting, where both are whole numbers.

To count distinct units an engine keeps every pair of item and unit in a hash table: its memory is touched in no order,
which is slow. Here the rows are streamed out, put into the order of their items by a radix sort, each item's units are
sorted, and neighbours are compared: the same counts in about half the time. Whether it is done this way is decided by
types and by the domain, which are public. Only pairs that differ are kept, and when they are too many for that, the
engine, which has a disk, counts instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_CODES: Final = 1 << 16
"""Items are at most this many, because NumPy sorts 16 bits by radix."""

_BATCH: Final = 1 << 20
_PENDING: Final = 1 << 24
"""Rows that are gathered before they are sorted."""

_MOST_PAIRS: Final = 1 << 25

_Pairs = tuple[NDArray[np.uint16], NDArray[np.int64]]


def sortable(domains: Sequence[Sequence[int]]) -> bool:
    """Whether the items lie close enough together to be numbered from the least on.

    >>> sortable([range(10_000)]), sortable([[1, 10**9]])
    (True, False)
    """
    fits = all(min(items) >= -(1 << 63) and max(items) < 1 << 63 for items in domains)
    return fits and prod(_span(items) for items in domains) <= _CODES


def sorted_counts(
    relation: Any, columns: Sequence[str], unit: str, domains: Sequence[Sequence[int]]
) -> NDArray[np.int64] | None:
    """How many distinct units each item of a product domain has, in its order; None when there are too many pairs.

    >>> import duckdb
    >>> rows = duckdb.sql("select * from (values (7, 1), (7, 1), (7, 2), (8, 1), (null, 3)) as t(item, unit)")
    >>> sorted_counts(rows, ["item"], "unit", [[9, 7]])
    array([0, 2])
    """
    lows, spans = [min(items) for items in domains], [_span(items) for items in domains]
    names = [f"CAST({quoted(column)} AS BIGINT)" for column in columns]
    inside = " AND ".join(
        f"{name} BETWEEN {low} AND {low + span - 1}" for name, low, span in zip(names, lows, spans, strict=True)
    )
    code = "0"
    for name, low, span in zip(names, lows, spans, strict=True):
        code = f"({code}) * {span} + ({name} - ({low}))"
    # The condition stands inside the cast as well: an engine may compute a column before it leaves rows out.
    pairs = relation.filter(f"{inside} AND {quoted(unit)} IS NOT NULL").project(
        f"CAST(CASE WHEN {inside} THEN {code} END AS USMALLINT), CAST({quoted(unit)} AS BIGINT)"
    )
    kept = _distinct_pairs(pairs.to_arrow_reader(_BATCH))
    if kept is None:
        return None
    counts = np.bincount(kept[0], minlength=prod(spans)).reshape(spans)
    places = (np.array(items, np.int64) - low for items, low in zip(domains, lows, strict=True))
    chosen: NDArray[np.int64] = counts[np.ix_(*places)].ravel().astype(np.int64, copy=False)
    return chosen


def _span(items: Sequence[int]) -> int:
    return max(items) - min(items) + 1


def quoted(name: str) -> str:
    """A column's name as SQL has it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def _distinct_pairs(batches: Iterator[Any]) -> _Pairs | None:
    """All pairs, each once. Sorting waits until there is as much to sort in as there is already, so that none is
    sorted more than a few times."""
    gathered: list[_Pairs] = [(np.empty(0, np.uint16), np.empty(0, np.int64))]
    kept = pending = 0
    for batch in batches:
        gathered.append((_numbers(batch.column(0), np.uint16), _numbers(batch.column(1), np.int64)))
        pending += batch.num_rows
        if pending >= max(_PENDING, kept):
            gathered = [_once(gathered)]
            kept, pending = len(gathered[0][0]), 0
            if kept > _MOST_PAIRS:
                return None
    return _once(gathered)


def _numbers(column: Any, dtype: type[np.generic]) -> NDArray[Any]:
    """An Arrow column without nulls, in place; its own method would load pandas."""
    size = np.dtype(dtype).itemsize
    return np.frombuffer(column.buffers()[1] or b"", dtype, len(column), column.offset * size)


def _once(gathered: Sequence[_Pairs]) -> _Pairs:
    """The pairs in order, each once."""
    codes = np.concatenate([each for each, _ in gathered])
    order = np.argsort(codes, kind="stable")
    codes, units = codes[order], np.concatenate([each for _, each in gathered])[order]
    start = 0
    for end in np.cumsum(np.bincount(codes)).tolist():
        units[start:end].sort()
        start = end
    new = np.ones(len(codes), np.bool_)
    np.not_equal(units[1:], units[:-1], out=new[1:])
    new[1:] |= codes[1:] != codes[:-1]
    return codes[new], units[new]
