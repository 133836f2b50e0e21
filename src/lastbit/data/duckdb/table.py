"""Tables of DuckDB, counted in its own SQL: only the position of each item and its count are fetched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lastbit.data.column_types import FLOAT, ColumnType
from lastbit.data.duckdb.bound import keep_items
from lastbit.data.duckdb.columns import DuckDBColumns
from lastbit.data.duckdb.frequent import find_frequent
from lastbit.data.duckdb.masks import can_mask, count_bits, rank_bits
from lastbit.data.duckdb.per_unit import rank_numbers, reduce_rows
from lastbit.data.duckdb.relation import OpenTable
from lastbit.data.duckdb.sorting import can_sort, count_by_sorting
from lastbit.data.duckdb.units import Rows, add_up_words, are_exact, can_add_up, count_words
from lastbit.data.sql import quote_identifier
from lastbit.data.sql_weights import sum_steps
from lastbit.data.table import Integers, ItemTotals, Keys, Task

if TYPE_CHECKING:
    from lastbit.data.numbers import Numbers
    from lastbit.data.profiles import ProfileTask, UnitProfiles
    from lastbit.data.records import Records, RecordTask

_FILTERED: Final = 100_000
"""A domain up to this size takes rows out before they are grouped. A larger one is looked up after that."""


class DuckDBTable:
    """A relation; where we opened it ourselves, with its engine, and perhaps a way to read it again."""

    def __init__(self, relation: Any, source: OpenTable | None = None) -> None:
        self._relation = relation
        self._source = source
        self._columns = DuckDBColumns(relation, source)

    def column_type(self, name: str) -> ColumnType | None:
        """Return the type of a column as it is declared; None where rows cannot be counted by such a type."""
        return self._columns.column_type(name)

    def decimal_places(self, name: str) -> int:
        """Return how many digits a column of decimals has after the point; 0 for other columns."""
        return self._columns.decimal_places(name)

    def compute_totals(self, task: Task, keys: Sequence[Keys]) -> Integers:
        """Compute the count of each item of the product of domains, or its sum in steps of the resolution."""
        relation = self._relation
        if task.unit is not None and task.amount is None and self._columns.has_one_row_each(task.unit):
            # A unit with one row is in one item, once: to find it once is done, and no bound leaves it out.
            relation = relation.filter(f"{self._columns.key(task.unit)} IS NOT NULL")
            task = replace(task, unit=None, bound=None)
        if can_mask(task, keys):
            return count_bits(relation, self._columns, task, keys)
        if task.unit is not None and task.amount is None and task.bound is None:
            counts = self._count_by_sorting(task, keys)
            if counts is not None:
                return counts
        position = "0"
        with ExitStack() as closing:
            grouped = self._group(task, keys, self._rows(task, keys, relation), closing)
            for i, (name, column_keys) in enumerate(zip(task.by, keys, strict=True)):
                grouped = join_domain(grouped, self._columns.domain(name, column_keys, i), i, "inner")
                position = f"({position}) * {len(column_keys)} + lastbit_position_{i}"
            chosen = f"CAST({position} AS BIGINT) AS position, lastbit_total AS total"
            columns = grouped.project(chosen).fetchnumpy()
        totals = np.zeros(int(np.prod([*map(len, keys)], dtype=object)), np.int64)
        totals[columns["position"]] = columns["total"]
        return totals

    def count_units(self, unit: str) -> int:
        """Count the units of all rows, whatever else a row holds."""
        grouped = self._columns.has_one_row_each(unit)
        if self._columns.are_words([unit]) and not grouped:
            words = self._read_words([unit])
            units = None if words is None else count_words(words)
            if units is not None:
                return units
        rows = self._relation.project(f"{self._columns.key(unit)} AS lastbit_unit").filter("lastbit_unit IS NOT NULL")
        rows = rows if grouped else rows.aggregate("lastbit_unit", "lastbit_unit")
        ((units,),) = rows.aggregate("count(*)").fetchall()
        return int(units)

    def read_numbers(self, task: Task, keys: Sequence[Keys], facts: Numbers) -> Numbers:
        """Return the number of each unit, with the place of its item: these facts have none yet."""
        return facts.fill(task, self.compute_numbers(task, keys))

    def compute_numbers(self, task: Task, keys: Sequence[Keys]) -> tuple[Integers, ...]:
        """Compute the position of each unit's item and its number in steps; for a ranked task ranks and what is beyond.

        Then no bound leaves a number out yet.
        """
        if can_add_up(task) and self._columns.are_words([str(task.unit)]):
            numbers = self._add_up(task)
            if numbers is not None:
                return _list_numbers(*numbers, task)
        rows = self._number_rows(task, self._relation)
        position = "CAST(0 AS BIGINT)"
        for i, (name, column_keys) in enumerate(zip(task.by, keys, strict=True)):
            rows = join_domain(rows, self._columns.domain(name, column_keys, i), i, "inner")
            position = f"({position}) * {len(column_keys)} + lastbit_position_{i}"
        if task.ranked:
            more = ["lastbit_lowest", "lastbit_highest"] if task.extremes else ["lastbit_beyond"]
            names = ["lastbit_position", "lastbit_step", "lastbit_rank", *more]
            return _fetch_numbers(rank_numbers(rows, task, position), task, names)
        with ExitStack() as closing:
            numbers = reduce_rows(rows, task, position)
            if task.bound is not None and task.per != "row":
                # By the position of its item, which is a key like any other.
                numbers = numbers.project("lastbit_position AS lastbit_key_0, lastbit_unit, lastbit_step")
                numbers = keep_items(numbers, ["lastbit_key_0"], ["lastbit_step"], task.bound, closing)
                numbers = numbers.project("lastbit_key_0 AS lastbit_position, lastbit_step")
            return _fetch_numbers(numbers, task, ("lastbit_position", "lastbit_step"))

    def _add_up(self, task: Task) -> tuple[Integers, Integers] | None:
        """Return the numbers of units that are whole numbers as their rows leave the engine; None where it groups."""
        assert task.unit is not None and task.weight is not None and task.amount is not None  # noqa: S101, PT018
        if self._columns.column_type(task.weight) is FLOAT and are_exact(task.amount):
            words = self._read_words([task.unit], [task.weight])
            return None if words is None else add_up_words(words, task, task.amount)
        spare = self._spare_rows()
        if spare is None:
            return None
        rows = self._number_rows(task, spare)
        return add_up_words(rows.project("CAST(lastbit_unit AS BIGINT), lastbit_step"), task)

    def _read_words(self, words: Sequence[str], floats: Sequence[str] = ()) -> Rows | None:
        """Return columns of whole numbers and of floats, of 64 bits; None where the rows can be read once only."""
        held = None if self._source is None else self._source.held
        if held is not None and held[0] is self._relation:
            import pyarrow as pa

            types = [*(pa.int64() for _ in words), *(pa.float64() for _ in floats)]
            names = [*words, *floats]
            return held[1].select(names).cast(pa.schema(zip(names, types, strict=True)))  # type: ignore[no-any-return]
        spare = self._spare_rows()
        if spare is None:
            return None
        columns = [*(f"CAST({quote_identifier(name)} AS BIGINT)" for name in words)]
        columns += [f"CAST({quote_identifier(name)} AS DOUBLE)" for name in floats]
        rows: Rows = spare.project(", ".join(columns))
        return rows

    def _number_rows(self, task: Task, relation: Any) -> Any:
        """Return the rows that count towards a number, with `lastbit_step`."""
        chosen = [f"{self._columns.key(name)} AS {key}" for name, key in zip(task.by, key_columns(task), strict=True)]
        known = []
        for name, alias in ((task.unit, "lastbit_unit"), (task.order, "lastbit_order")):
            if name is not None:
                chosen.append(f"{self._columns.key(name)} AS {alias}")
                known.append(f"{alias} IS NOT NULL")
        assert task.weight is not None and task.amount is not None  # noqa: S101, PT018
        steps = self._columns.steps(task.weight, task.amount)
        if task.amount.missing is None:
            # Before there are steps: after that the engine would compute every step twice, to ask and to add.
            steps = self._columns.present_steps(task.weight, task.amount)
            relation = relation.filter(self._columns.is_present(task.weight))
        rows = relation.project(", ".join([*chosen, f"CAST({steps} AS BIGINT) AS lastbit_step"]))
        return rows.filter(" AND ".join(known)) if known else rows

    def profile(self, task: ProfileTask) -> UnitProfiles:
        """Measure how many rows each unit has, and what it has in each column."""
        from lastbit.data.duckdb.profile import profile_relation

        return profile_relation(self._relation, self._columns, task)

    def count_records(self, task: RecordTask, keys: Sequence[Keys]) -> Records:
        """Count how many records have each combination of values of several columns."""
        from lastbit.data.duckdb.records import count_records

        return count_records(self._relation, self._columns, task, keys)

    def find_items(self, task: Task) -> Callable[[int | None], ItemTotals]:
        """Return a function that counts the items that occur when it is called: only these leave the engine."""
        readers = self.item_readers(task)

        def fetch(most: int | None) -> ItemTotals:
            with ExitStack() as closing:
                rows = self._find_frequent(task, most, closing)
                if rows is None:
                    rows = self._group(task, None, self._rows(task, None, self._relation), closing)
                rows = rows.filter("lastbit_total > 0")
                # Keys are bytes or numbers: no collation has a say in their order.
                rows = rows.order(f"lastbit_total DESC, {', '.join(f'{key} ASC' for key in key_columns(task))}")
                rows = rows if most is None else rows.limit(most)
                largest = rows.project(", ".join([*(text for text, _ in readers), "lastbit_total"])).fetchall()
            items = [[read(row[i]) for row in largest] for i, (_, read) in enumerate(readers)]
            return items, np.array([int(row[-1]) for row in largest], np.int64)

        return fetch

    def count_ranks(self, task: Task, keys: Sequence[Keys]) -> Integers | None:
        """Count how many units have each item at each rank of their lots; None where items are many, or have weights.

        A row for each item, from the first rank on.
        """
        return rank_bits(self._relation, self._columns, task, keys) if can_mask(task, keys) else None

    def select_rows(self, task: Task, keys: Sequence[Keys] | None) -> Any:
        """Return the rows of a task: the normal forms of items and units, and the steps of weights."""
        return self._rows(task, keys, self._relation)

    def list_domain(self, name: str, keys: Keys, number: int) -> Any:
        """Return the listed items of a column in their normal form, and their positions."""
        return self._columns.domain(name, keys, number)

    def readable_sql(self, task: Task) -> str:
        """Return the condition that Python has an item for the normal forms of a row."""
        return " AND ".join(map(self._columns.is_readable, task.by, key_columns(task)))

    def item_readers(self, task: Task) -> list[tuple[str, Callable[[Any], Any]]]:
        """Return for each column of items what to fetch, and the function that makes an item of it."""
        return [self._columns.item_reader(name, key) for name, key in zip(task.by, key_columns(task), strict=True)]

    def _count_by_sorting(self, task: Task, keys: Sequence[Keys]) -> Integers | None:
        """Count units that are whole numbers by sorting; None where they are not, or there are too many pairs."""
        assert task.unit is not None  # noqa: S101
        words = [self._columns.are_words([name]) for name in task.by]
        domains: Any = [own if is_word else range(len(own)) for own, is_word in zip(keys, words, strict=True)]
        if not self._columns.are_words([task.unit]) or not can_sort(domains):
            return None
        relation = self._spare_rows()
        if relation is None:
            return None
        chosen = [f"{self._columns.key(name)} AS {key}" for name, key in zip(task.by, key_columns(task), strict=True)]
        rows = relation.project(", ".join([*chosen, f"{quote_identifier(task.unit)} AS lastbit_unit"]))
        columns = key_columns(task)
        for number, (name, own) in enumerate(zip(task.by, keys, strict=True)):
            if not words[number]:
                rows = join_domain(rows, self._columns.domain(name, own, number), number, "inner")
                columns[number] = f"lastbit_position_{number}"
        return count_by_sorting(rows, columns, "lastbit_unit", domains)

    def _spare_rows(self) -> Any:
        """Return the rows for a way that may give up; None where they can be read once only."""
        if not self._columns.is_stream:
            return self._relation
        # What is read of a stream is gone.
        again = None if self._source is None else self._source.again
        return None if again is None else again()

    def _find_frequent(self, task: Task, most: int | None, closing: ExitStack) -> Any:
        """Return the items with the most units, where they can be found in less memory; None where not."""
        again = None if self._source is None else self._source.again
        pairs = task.unit is not None and task.amount is None and task.bound is None
        if self._source is None or again is None or most is None or not pairs:
            return None
        readable = self.readable_sql(task)
        rows = lambda: self._rows(task, None, again())  # noqa: E731
        return find_frequent(rows, key_columns(task), readable, most, self._source.connection, closing)

    def _rows(self, task: Task, keys: Sequence[Keys] | None, relation: Any) -> Any:
        """Return the normal forms of items and units, and the steps of weights; of all items where there are no keys.

        A small domain takes rows out before they are grouped. So does every domain where units have a bound: other
        items do not use it up.
        """
        chosen = [f"{self._columns.key(name)} AS {key}" for name, key in zip(task.by, key_columns(task), strict=True)]
        known = [] if keys is not None else [f"{key} IS NOT NULL" for key in key_columns(task)]
        if task.unit is not None:
            chosen.append(f"{self._columns.key(task.unit)} AS lastbit_unit")
            known.append("lastbit_unit IS NOT NULL")
        if task.weight is not None and task.amount is not None:
            chosen.append(f"{self._columns.steps(task.weight, task.amount)} AS lastbit_step")
            if task.amount.missing is None:
                known.append("lastbit_step IS NOT NULL")
        rows = relation.project(", ".join(chosen))
        for i, (name, column_keys) in enumerate(zip(task.by, keys or (), strict=keys is not None)):
            if len(column_keys) <= _FILTERED or task.bound is not None:
                rows = join_domain(rows, self._columns.domain(name, column_keys, i), i, "semi")
        return rows.filter(" AND ".join(known)) if known else rows

    def _group(self, task: Task, keys: Sequence[Keys] | None, rows: Any, closing: ExitStack) -> Any:
        """Return the items of rows, with their counts or sums.

        A large domain is looked up after this, because of rows the engine may not know how many there are, and would
        look the domain up in the rows.
        """
        items, bound, amount = ", ".join(key_columns(task)), task.bound, task.amount
        readable = [] if keys is not None else [*map(self._columns.is_readable, task.by, key_columns(task))]
        total = "count(*)"
        if amount is not None:
            total = sum_steps(amount, "BIGINT", "//")
        if task.unit is not None and keys is None and bound is None and amount is None:
            total = "count(DISTINCT lastbit_unit)"
        elif task.unit is not None:
            step = "" if amount is None else ", sum(lastbit_step) AS lastbit_step"
            # With few items the engine groups twice faster than it counts distinct values.
            rows = rows.aggregate(f"{items}, lastbit_unit{step}", f"{items}, lastbit_unit")
        if bound is not None:
            rows = rows.filter(" AND ".join(readable)) if readable else rows
            rows = keep_items(rows, key_columns(task), [] if amount is None else ["lastbit_step"], bound, closing)
        grouped = rows.aggregate(f"{items}, {total} AS lastbit_total", items)
        # There are fewer items than rows to ask whether they can be read.
        return grouped.filter(" AND ".join(readable)) if readable and bound is None else grouped


def _list_numbers(steps: Integers, beyond: Integers, task: Task) -> tuple[Integers, ...]:
    """Return the columns of one number for each unit: positions and steps, and for ranked numbers what is asked."""
    positions, ranks = (np.broadcast_to(np.int64(same), len(steps)) for same in (0, 1))
    if not task.ranked:
        return positions, steps
    return positions, steps, ranks, *((steps, steps) if task.extremes else (beyond,))


def _fetch_numbers(numbers: Any, task: Task, names: Sequence[str]) -> tuple[Integers, ...]:
    """Fetch columns of whole numbers. Where units have one number each, what is the same for all is not fetched."""
    same = {"lastbit_position": 0, "lastbit_rank": 1} if task.has_one_number else {}
    columns = numbers.project(", ".join(name for name in names if name not in same)).fetchnumpy()
    rows = len(columns["lastbit_step"])
    return tuple(
        np.broadcast_to(np.int64(same[name]), rows) if name in same else np.asarray(columns[name]) for name in names
    )


def key_columns(task: Task) -> list[str]:
    """Return the names of the columns with the normal forms of items."""
    return [f"lastbit_key_{i}" for i in range(len(task.by))]


def join_domain(rows: Any, domain: Any, number: int, how: str) -> Any:
    """Join rows with the items of a column that are listed."""
    condition = f"lastbit_key_{number} = lastbit_item_{number}"
    return rows.set_alias("lastbit_rows").join(domain.set_alias(f"lastbit_domain_{number}"), condition, how)
