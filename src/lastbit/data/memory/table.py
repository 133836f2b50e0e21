"""Tables in memory (pandas, Polars, PyArrow), counted in NumPy.

The columns asked for are put into their normal form, every row gets the position of its item, every unit a code, and
pairs of the two are counted. The type of a column is read off the same table without rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lastbit.data.column_types import ColumnType
from lastbit.data.memory.bound import keep_items, keep_rows
from lastbit.data.memory.columns import Column
from lastbit.data.memory.frames import read_arrow, read_pandas, read_polars
from lastbit.data.memory.hashing import Hashes, hash_pairs, hash_words, mix_bits
from lastbit.data.memory.per_unit import reduce_rows
from lastbit.data.memory.profile import profile_columns
from lastbit.data.memory.ranks import hash_rows, list_items, rank_items
from lastbit.data.memory.records import count_records
from lastbit.data.memory.totals import count_units, sum_steps
from lastbit.data.numbers import Numbers
from lastbit.data.profiles import ProfileTask, UnitProfiles
from lastbit.data.records import Records, RecordTask
from lastbit.data.table import Integers, ItemTotals, Keys, Task


class MemoryTable:
    """A table in this process."""

    def __init__(self, native: Any, implementation: Any) -> None:
        self._native = native
        self._convert = (
            read_pandas
            if implementation.is_pandas()
            else read_polars
            if implementation.is_polars()
            else read_arrow
        )  # fmt: skip

    def column_type(self, name: str) -> ColumnType | None:
        """Return the type of a column as it is declared; None where rows cannot be counted by such a type."""
        column = self._empty_column(name)
        return None if column is None else column.type

    def decimal_places(self, name: str) -> int:
        """Return how many digits a column of decimals has after the point; 0 for other columns."""
        column = self._empty_column(name)
        return 0 if column is None else column.scale

    def _empty_column(self, name: str) -> Column | None:
        """Return a column without its rows; None where rows cannot be counted by its type."""
        native = self._native
        if hasattr(native, "collect_schema"):
            import polars as pl

            empty: Any = pl.DataFrame(schema={name: native.collect_schema()[name]})
        else:
            empty = native.iloc[:0] if hasattr(native, "iloc") else native.slice(0, 0)
        return self._convert(empty, name)

    def compute_totals(self, task: Task, keys: Sequence[Keys]) -> Integers:
        """Compute the count of each item of the product of domains, or its sum in steps of the resolution."""
        native = self._collect(task)
        positions = self._read_column(native, task.by[0]).look_up(keys[0])
        for name, column_keys in zip(task.by[1:], keys[1:], strict=True):
            own = self._read_column(native, name).look_up(column_keys)
            positions = np.where((positions < 0) | (own < 0), -1, positions * len(column_keys) + own)
        size = int(np.prod([*map(len, keys)], dtype=object))
        return self._count(native, task, positions, size, hash_words)

    def read_numbers(self, task: Task, keys: Sequence[Keys], facts: Numbers) -> Numbers:
        """Return the number of each unit, with the place of its item: these facts have none yet."""
        return facts.fill(task, self.compute_numbers(task, keys))

    def compute_numbers(self, task: Task, keys: Sequence[Keys]) -> tuple[Integers, Integers]:
        """Compute the position of each unit's item, and the unit's number in steps."""
        native, amount = self._collect(task), task.amount
        assert amount is not None  # noqa: S101
        weights = self._read_column(native, task.weight or "")
        mask = (
            np.ones(len(weights), np.bool_)
            if amount.missing is not None
            else self._present_rows(native, task.weight or "")
        )
        positions = np.zeros(len(weights), np.int64)
        for name, column_keys in zip(task.by, keys, strict=True):
            own = self._read_column(native, name).look_up(column_keys)
            mask &= own >= 0
            positions = positions * len(column_keys) + own
        units = np.arange(len(weights))
        if task.unit is not None:
            units, unknown = self._read_column(native, task.unit).codes()
            mask &= True if unknown is None else ~unknown
        order = None
        if task.order is not None:
            order, _ = rank_items(self._read_column(native, task.order))
            mask &= order >= 0
        steps, positions, units = weights.steps(amount)[mask], positions[mask], units[mask]
        if task.unit is None:
            return positions, steps
        if task.per == "row":
            if task.bound is not None:
                hashes = hash_rows(self._read_column(native, task.unit).filter(mask), task.bound.key)
                first = keep_rows(positions, units, steps, hashes, task.bound.most)
                positions, steps = positions[first], steps[first]
            return positions, steps
        ranks = None if order is None else order[mask]
        numbers, rows = reduce_rows(positions, units, steps, ranks, task.per, task.ends)
        positions, units = positions[rows], units[rows]
        if task.bound is not None:
            hashes = hash_rows(self._read_column(native, task.unit).filter(mask), task.bound.key)[rows]
            hashes = hash_pairs(hash_words(positions, task.bound.key), hashes)
            first = keep_items(positions, units, hashes, task.bound.most)
            positions, numbers = positions[first], numbers[first]
        return positions, numbers

    def profile(self, task: ProfileTask) -> UnitProfiles:
        """Measure how many rows each unit has, and what it has in each column."""
        native = self._collect(task)
        return profile_columns(lambda name: self._read_column(native, name), task)

    def count_records(self, task: RecordTask, keys: Sequence[Keys]) -> Records:
        """Count how many records have each combination of values of several columns."""
        native = self._collect(task)
        return count_records(lambda name: self._read_column(native, name), task, keys)

    def find_items(self, task: Task) -> Callable[[int | None], ItemTotals]:
        """Count the items that occur, now, and return a function that names the largest."""
        native = self._collect(task)
        positions, first = rank_items(self._read_column(native, task.by[0]))
        columns = [first]
        for name in task.by[1:]:
            own, column = rank_items(self._read_column(native, name))
            # Numbered anew each time, in the same order: the product of several columns may not fit in 64 bits.
            both, positions = _number_codes(np.where((positions < 0) | (own < 0), -1, positions * len(column) + own))
            columns = [*(left.take(both // max(len(column), 1)) for left in columns), column.take(both % len(column))]

        def hash_items(positions: Integers, key: int) -> Hashes:
            hashes = np.zeros(len(columns[0]), np.uint64)
            for column in columns:
                hashes = mix_bits(hashes ^ hash_rows(column, key))
            return hashes[positions]

        totals = self._count(native, task, positions, len(columns[0]), hash_items)

        def fetch(most: int | None) -> ItemTotals:
            largest = np.argsort(-totals, kind="stable")[:most]
            largest = largest[totals[largest] > 0]
            return [list_items(column.take(largest)) for column in columns], totals[largest]

        return fetch

    def _collect(self, task: Task | RecordTask | ProfileTask) -> Any:
        """Return the table with its rows in memory: a lazy one is run for the columns of the task."""
        native = self._native
        if hasattr(native, "lazy") and hasattr(native, "collect"):
            import polars.selectors as cs

            native = native.select(cs.by_name(*task.columns)).collect()
        return native

    def _count(
        self, native: Any, task: Task, positions: Integers, size: int, hash_items: Callable[[Integers, int], Hashes]
    ) -> Integers:
        """Return the count of each position, or its sum in steps of the resolution; rows without a position go.

        hash_items: hashes of the items at these positions under a key. Positions of a public domain stand for their
        items; positions of items that nobody listed depend on other units, so these items are hashed themselves.
        """
        mask = positions >= 0
        if task.amount is not None and task.amount.missing is None:
            mask &= self._present_rows(native, task.weight or "")
        positions = positions[mask]
        units = None
        if task.unit is not None:
            units, unknown = self._read_column(native, task.unit).filter(mask).codes()
            if unknown is not None and unknown.any():
                known = ~unknown
                positions, units = positions[known], units[known]
                mask[mask] = known
            if task.bound is not None:
                unit_hashes = hash_rows(self._read_column(native, task.unit).filter(mask), task.bound.key)
                hashes = hash_pairs(hash_items(positions, task.bound.key), unit_hashes)
                first = keep_items(positions, units, hashes, task.bound.most)
                positions, units = positions[first], units[first]
                mask[mask] = first
        if task.amount is None or task.weight is None:
            return np.bincount(positions, minlength=size) if units is None else count_units(positions, units, size)
        steps = self._read_column(native, task.weight).filter(mask).steps(task.amount)
        return sum_steps(positions, units, steps, size, task.amount)

    def _present_rows(self, native: Any, name: str) -> NDArray[np.bool_]:
        """Return which rows have a value in this column."""
        column = self._read_column(native, name)
        missing = column.missing_mask()
        return np.ones(len(column), np.bool_) if missing is None else ~missing

    def _read_column(self, native: Any, name: str) -> Column:
        column = self._convert(native, name)
        assert column is not None, "the type was known"  # noqa: S101
        return column


def _number_codes(codes: Integers) -> tuple[Integers, Integers]:
    """Return the different codes in order, without -1; and which of them each row has."""
    known = codes >= 0
    different, numbers = np.unique(codes[known], return_inverse=True)
    indices = np.full(len(codes), -1, np.int64)
    indices[known] = numbers
    return different, indices
