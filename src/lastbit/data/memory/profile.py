"""What each unit has in many columns, from rows in memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lastbit.data.memory.columns import Column, DictionaryColumn, ObjectColumn
from lastbit.data.memory.per_unit import reduce_rows
from lastbit.data.profiles import ColumnProfile, ProfileTask, UnitProfiles


def profile_columns(read: Callable[[str], Column], task: ProfileTask) -> UnitProfiles:
    """Return how many rows each unit has, and what it has in each column; `read` returns a column by its name."""
    codes, unknown = read(task.unit).codes()
    known = np.ones(len(codes), np.bool_) if unknown is None else ~unknown
    different, units = np.unique(codes[known], return_inverse=True)
    size = len(different)
    profiles = []
    for wanted in task.columns_of_unit:
        column = read(wanted.name)
        there = known & ~_find_missing(column)
        own = units[there[known]]
        numbers = np.zeros(size, np.int64)
        if wanted.measured != "nothing":
            amount, nowhere = wanted.amount, np.zeros(len(own), np.int64)
            steps = column.days() if amount is None else column.steps(amount)
            ends = (0, 0) if amount is None else (amount.low, amount.high)
            # Of rows that are latest alike, the largest day counts: all are alike here.
            reduced, first = reduce_rows(nowhere, own, steps[there], None, "mean" if amount else "latest", ends)
            numbers[own[first]] = reduced
        profiles.append(ColumnProfile(np.bincount(own, minlength=size), numbers))
    return np.bincount(units, minlength=size), profiles


def _find_missing(column: Column) -> NDArray[np.bool_]:
    """Return which rows have no value."""
    entries = column.entries if isinstance(column, DictionaryColumn) else column
    missing = column.codes()[1] if isinstance(entries, ObjectColumn) else column.missing_mask()
    return np.zeros(len(column), np.bool_) if missing is None else missing
