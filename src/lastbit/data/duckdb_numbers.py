"""One number for each unit, in the SQL of DuckDB."""

from __future__ import annotations

from typing import Any

from lastbit.data.task import Task


def numbers_per_unit(rows: Any, task: Task, place: str) -> Any:
    """The place and the number of every unit, from rows with `lastbit_step`, and `lastbit_unit` where there are units.

    `place` is the place of a row's item, in SQL.
    """
    if task.unit is None:
        return rows.project(f"{place} AS lastbit_place, lastbit_step")
    if task.per == "row":
        rows = rows.project(f"{place} AS lastbit_place, lastbit_unit, lastbit_step")
        return rows if task.bound is None else _first_rows(rows, task.bound.most, task.bound.key)
    low, high = task.ends
    if task.per == "mean":
        # Above the lower bound there are no negative numbers, and the engine's division is a floor.
        above = f"sum(CAST(lastbit_step AS HUGEINT) - ({low}))"
        own = f"CAST({above} // count(*) + ({low}) AS BIGINT)"
    elif task.per == "total":
        own = f"CAST(greatest(least(sum(CAST(lastbit_step AS HUGEINT)), {_huge(high)}), {_huge(low)}) AS BIGINT)"
    else:
        own = "max({'a': lastbit_order, 'b': lastbit_step}).b"
    own_columns = f"{place} AS lastbit_place, lastbit_unit"
    rows = rows.project(f"{own_columns}, lastbit_step" + (", lastbit_order" if task.order is not None else ""))
    return rows.aggregate(f"lastbit_place, lastbit_unit, {own} AS lastbit_step", "lastbit_place, lastbit_unit")


def _first_rows(rows: Any, most: int, key: int) -> Any:
    """At most so many rows of each unit: those with the smallest hashes. Rows that are alike are numbered first."""
    alike = "row_number() OVER (PARTITION BY lastbit_unit, lastbit_place, lastbit_step)"
    rows = rows.project(f"*, {alike} AS lastbit_copy")
    seen = "lastbit_unit, lastbit_place, lastbit_step, lastbit_copy"
    mark = f"hash(xor(hash({seen}), CAST({key} AS UBIGINT)))"
    sorting = f"{mark} ASC, lastbit_place ASC, lastbit_step ASC, lastbit_copy ASC"
    rank = f"row_number() OVER (PARTITION BY lastbit_unit ORDER BY {sorting})"
    return rows.project(f"*, {rank} AS lastbit_rank").filter(f"lastbit_rank <= {most}")


def _huge(number: int) -> str:
    return f"CAST({number} AS HUGEINT)"
