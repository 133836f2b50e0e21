"""Distinct units per item of a DuckDB table by sorting, where both are whole numbers.

To count distinct units an engine keeps every pair of item and unit in a hash table: its memory is touched in no order,
which is slow. Here each pair is packed into one 64-bit word, the words are streamed out and sorted, and neighbours are
compared: the same counts in a fraction of the time. The engine, which has a disk, counts instead when there are too
many pairs, or when a unit does not fit in the bits that an item leaves of a word. Either way the counts are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lastbit.data.sql import quote_identifier

_CODES: Final = 1 << 24
"""Items are at most this many, so that 40 bits are left for units."""

_BATCH: Final = 1 << 20
_PENDING: Final = 1 << 24
"""Rows that are gathered before they are sorted."""

_MOST_PAIRS: Final = 1 << 27

_Words = NDArray[np.uint64]


def can_sort(domains: Sequence[Sequence[int]]) -> bool:
    """Tell whether the items lie close enough together to be numbered from the least on.

    >>> can_sort([range(10_000)]), can_sort([[1, 10**9]])
    (True, False)
    """
    fits = all(min(items) >= -(1 << 63) and max(items) < 1 << 63 for items in domains)
    return fits and prod(_span(items) for items in domains) <= _CODES


def count_by_sorting(
    relation: Any, columns: Sequence[str], unit: str, domains: Sequence[Sequence[int]]
) -> NDArray[np.int64] | None:
    """Count the distinct units of each item of a product domain, in its order; None when there are too many pairs.

    >>> import duckdb
    >>> values = "(7, 1), (7, 1), (7, 2), (8, 1), (null, 3), (7, null)"
    >>> rows = duckdb.sql(f"select * from (values {values}) as t(item, unit)")
    >>> count_by_sorting(rows, ["item"], "unit", [[9, 7]])
    array([0, 2])
    """
    lows, spans = [min(items) for items in domains], [_span(items) for items in domains]
    names = [f"CAST({quote_identifier(column)} AS BIGINT)" for column in columns]
    who = f"CAST({quote_identifier(unit)} AS BIGINT)"
    inside = " AND ".join(
        f"{name} BETWEEN {low} AND {low + span - 1}" for name, low, span in zip(names, lows, spans, strict=True)
    )
    code = "0"
    for name, low, span in zip(names, lows, spans, strict=True):
        code = f"({code}) * {span} + ({name} - ({low}))"
    room = 64 - max(1, (prod(spans) - 1).bit_length())
    half = 1 << (room - 1)
    word = f"CAST({code} AS UBIGINT) * {1 << room} + CAST({who} + {half} AS UBIGINT)"
    # The conditions stand around the word as well: an engine may compute a column before it leaves rows out.
    fits = f"{inside} AND {who} BETWEEN {-half} AND {half - 1}"
    words = relation.filter(f"{inside} AND {quote_identifier(unit)} IS NOT NULL").project(
        f"CASE WHEN {fits} THEN {word} END"
    )
    distinct = _collect_distinct(words.to_arrow_reader(_BATCH))
    if distinct is None:
        return None
    starts = np.arange(prod(spans), dtype=np.uint64) << np.uint64(room)
    counts = np.diff(np.searchsorted(distinct, starts), append=len(distinct)).reshape(spans)
    offsets = (np.array(items, np.int64) - low for items, low in zip(domains, lows, strict=True))
    chosen: NDArray[np.int64] = counts[np.ix_(*offsets)].ravel().astype(np.int64, copy=False)
    return chosen


def _span(items: Sequence[int]) -> int:
    return max(items) - min(items) + 1


def _collect_distinct(batches: Iterator[Any]) -> _Words | None:
    """Return all words in order, each once; None when one is missing or they are too many.

    Sorting waits until there is as much to sort in as there is already, so that none is sorted more than a few times.
    """
    gathered: list[_Words] = [np.empty(0, np.uint64)]
    distinct = pending = 0
    for batch in batches:
        column = batch.column(0)
        if column.null_count:
            return None
        # In place: the column's own method would load pandas.
        gathered.append(np.frombuffer(column.buffers()[1] or b"", np.uint64, len(column), column.offset * 8))
        pending += batch.num_rows
        if pending >= max(_PENDING, distinct):
            gathered = [_deduplicate(gathered)]
            distinct, pending = len(gathered[0]), 0
            if distinct > _MOST_PAIRS:
                return None
    return _deduplicate(gathered)


def _deduplicate(gathered: Sequence[_Words]) -> _Words:
    words = np.concatenate(gathered)
    words.sort()
    new = np.ones(len(words), np.bool_)
    np.not_equal(words[1:], words[:-1], out=new[1:])
    return words[new]
