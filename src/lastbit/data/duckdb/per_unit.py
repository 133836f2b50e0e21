"""One number for each unit, in the SQL of DuckDB."""

from __future__ import annotations

from typing import Any

from lastbit.data.duckdb.bound import keep_rows
from lastbit.data.table import Task


def reduce_rows(rows: Any, task: Task, position: str) -> Any:
    """Return the position and the number of every unit, from rows with `lastbit_step`, and perhaps `lastbit_unit`.

    position: the position of a row's item, in SQL.
    """
    if task.unit is None:
        return rows.project(f"{position} AS lastbit_position, lastbit_step")
    if task.per == "row":
        rows = rows.project(f"{position} AS lastbit_position, lastbit_unit, lastbit_step")
        return rows if task.bound is None else keep_rows(rows, task.bound.most, task.bound.key)
    low, high = task.ends
    if task.per == "mean":
        # Above the lower bound there are no negative numbers, and the engine's division is a floor.
        above = f"sum(CAST(lastbit_step AS HUGEINT) - ({low}))"
        number = f"CAST({above} // count(*) + ({low}) AS BIGINT)"
    elif task.per == "total":
        number = f"CAST(greatest(least(sum(CAST(lastbit_step AS HUGEINT)), {_huge(high)}), {_huge(low)}) AS BIGINT)"
    else:
        number = "max({'a': lastbit_order, 'b': lastbit_step}).b"
    pair = f"{position} AS lastbit_position, lastbit_unit"
    rows = rows.project(f"{pair}, lastbit_step" + (", lastbit_order" if task.order is not None else ""))
    return rows.aggregate(f"lastbit_position, lastbit_unit, {number} AS lastbit_step", "lastbit_position, lastbit_unit")


def _huge(number: int) -> str:
    return f"CAST({number} AS HUGEINT)"
