"""The records that count in tables, of a table in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from lastbit.data.memory.bound import keep_items
from lastbit.data.memory.columns import Column
from lastbit.data.memory.hashing import hash_pairs, hash_words
from lastbit.data.memory.ranks import hash_rows, rank_items
from lastbit.data.records import Records, RecordTask
from lastbit.data.table import Integers, Keys


def count_records(read_column: Callable[[str], Column], task: RecordTask, keys: Sequence[Keys]) -> Records:
    """Count how many records have each combination of values."""
    positions = _locate_rows(read_column, task, keys)
    mask = positions >= 0
    if task.unit is None or task.bound is None:
        places, times = np.unique(positions[mask], return_counts=True)
        return Records(places, times, np.ones(len(places), np.int64))
    column = read_column(task.unit)
    units, unknown = column.codes()
    if unknown is not None:
        mask &= ~unknown
    if task.order is not None:
        order, _ = rank_items(read_column(task.order))
        mask &= order >= 0
        mask[mask] = _latest_rows(units[mask], order[mask])
    positions, units = positions[mask], units[mask]
    key = task.bound.key
    hashes = hash_pairs(hash_words(positions, key), hash_rows(column.filter(mask), key))
    sorting = np.lexsort((positions, units))
    positions, units, hashes = positions[sorting], units[sorting], hashes[sorting]
    different = np.ones(len(positions), np.bool_)
    different[1:] = (positions[1:] != positions[:-1]) | (units[1:] != units[:-1])
    positions, units, hashes = positions[different], units[different], hashes[different]
    _, codes, own = np.unique(units, return_inverse=True, return_counts=True)
    first = keep_items(positions, units, hashes, task.bound.most)
    alike, times = np.unique(np.stack([positions[first], own[codes][first]]), axis=1, return_counts=True)
    return Records(alike[0], times, alike[1])


def _locate_rows(read_column: Callable[[str], Column], task: RecordTask, keys: Sequence[Keys]) -> Integers:
    """Return the position of each row; -1 where it has no value of some column, or one that is not listed."""
    positions: Integers | None = None
    for name, column_keys, size in zip(task.by, keys, task.sizes, strict=True):
        column = read_column(name)
        own = column.look_up(column_keys)
        if task.shown and (missing := column.codes()[1]) is not None:
            own = np.where(missing, size - 1, own)
        positions = own if positions is None else np.where((positions < 0) | (own < 0), -1, positions * size + own)
    assert positions is not None  # noqa: S101
    return positions


def _latest_rows(units: Integers, order: Integers) -> NDArray[np.bool_]:
    """Return which rows have the largest order of their unit."""
    _, codes = np.unique(units, return_inverse=True)
    largest = np.full(int(codes.max(initial=-1)) + 1, -1, np.int64)
    np.maximum.at(largest, codes, order)
    latest: NDArray[np.bool_] = order == largest[codes]
    return latest
