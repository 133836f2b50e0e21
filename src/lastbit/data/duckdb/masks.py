"""Units and few items: which of the items a unit has is one word, a bit for each item, in the SQL of DuckDB.

To find every pair of an item and a unit once, an engine keeps all pairs. Here it keeps one word for each unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

import numpy as np

from lastbit.data._lots import count_ranks
from lastbit.data.duckdb.columns import DuckDBColumns
from lastbit.data.memory.hashing import hash_words, mix_bits
from lastbit.data.table import Integers, Keys, Task

_BITS: Final = 63
"""The bits of a whole number that are not its sign."""


def can_mask(task: Task, keys: Sequence[Keys]) -> bool:
    """Tell whether a task counts units, and its items are few enough to be the bits of a word.

    >>> can_mask(Task(("sex",), unit="patient"), [["f", "m"]]), can_mask(Task(("age",), unit="patient"), [range(64)])
    (True, False)
    """
    return task.unit is not None and task.amount is None and 0 < prod(map(len, keys)) <= _BITS


def count_bits(relation: Any, columns: DuckDBColumns, task: Task, keys: Sequence[Keys]) -> Integers:
    """Count the units of each item of the product of domains; with a bound, in the first items of their lots."""
    size = prod(map(len, keys))
    if task.bound is not None:
        ranks = rank_bits(relation, columns, task, keys)
        counted: Integers = ranks[:, : task.bound.most].sum(axis=1)
        return counted
    sums = ", ".join(f"sum((lastbit_mask >> {place}) & 1)" for place in range(size))
    (totals,) = _mask_units(relation, columns, task, keys).aggregate(sums).fetchall()
    return np.array([0 if total is None else int(total) for total in totals], np.int64)


def rank_bits(relation: Any, columns: DuckDBColumns, task: Task, keys: Sequence[Keys]) -> Integers:
    """Count how many units have each item at each rank of their lots: a row for each item, from the first rank on.

    The lot of a unit has its items in the order of a hash of the unit, the item and the key of the bound.
    """
    assert task.bound is not None  # noqa: S101
    words = _mask_units(relation, columns, task, keys).project("lastbit_mask, hash(lastbit_unit) AS lastbit_hash")
    fetched = words.fetchnumpy()
    key = np.array([task.bound.key], np.uint64)
    items = mix_bits(hash_words(np.arange(1, prod(map(len, keys)) + 1), task.bound.key))
    return count_ranks(
        np.ascontiguousarray(fetched["lastbit_mask"], np.int64), mix_bits(fetched["lastbit_hash"] ^ key), items
    )


def _mask_units(relation: Any, columns: DuckDBColumns, task: Task, keys: Sequence[Keys]) -> Any:
    """Return every unit that has a listed item, and the word of its items."""
    # Here, because that module counts by this one.
    from lastbit.data.duckdb.table import join_domain, key_columns

    assert task.unit is not None  # noqa: S101
    names = key_columns(task)
    chosen = [f"{columns.key(name)} AS {key}" for name, key in zip(task.by, names, strict=True)]
    rows = relation.project(", ".join([*chosen, f"{columns.key(task.unit)} AS lastbit_unit"]))
    rows, position = rows.filter("lastbit_unit IS NOT NULL"), "CAST(0 AS BIGINT)"
    for number, (name, column_keys) in enumerate(zip(task.by, keys, strict=True)):
        place = _place_of_number(names[number], column_keys) if columns.are_words([name]) else None
        if place is None:
            rows = join_domain(rows, columns.domain(name, column_keys, number), number, "inner")
            place = f"lastbit_position_{number}"
        position = f"({position}) * {len(column_keys)} + {place}"
    bit = f"CAST(1 AS BIGINT) << ({position})"
    if columns.has_one_row_each(task.unit):
        units = rows.project(f"lastbit_unit, {bit} AS lastbit_mask")
    else:
        units = rows.aggregate(f"lastbit_unit, bit_or({bit}) AS lastbit_mask", "lastbit_unit")
    return units.filter("lastbit_mask IS NOT NULL")


def _place_of_number(key: str, keys: Keys) -> str | None:
    """Return the SQL of the place of a whole number in a domain of numbers without gaps; None for another domain."""
    first, last = keys[0], keys[-1]
    if not isinstance(first, int) or not isinstance(last, int) or [*keys] != [*range(first, last + 1)]:
        return None
    return f"CASE WHEN {key} BETWEEN {first} AND {last} THEN CAST({key} AS BIGINT) - ({first}) END"
