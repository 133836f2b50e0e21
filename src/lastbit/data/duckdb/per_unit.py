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


def rank_numbers(rows: Any, task: Task, position: str) -> Any:
    """Return the number of every unit with its rank in the unit's lot, and whether the unit has a number out of bounds.

    The columns are lastbit_position, lastbit_step, lastbit_rank, and lastbit_beyond: 1 where a unit has a number above
    the bounds, -1 where it has one below them and none above, and 0 otherwise. The steps of rows are not clamped yet.
    """
    low, high = task.ends
    clamped = f"CAST(greatest(least(lastbit_raw, {_huge(high)}), {_huge(low)}) AS BIGINT)"
    sides = (f"lastbit_raw > {high}", "lastbit_above"), (f"lastbit_raw < {task.lowest}", "lastbit_below")
    beyond = ", ".join(f"CASE WHEN {condition} THEN 1 ELSE 0 END AS {name}" for condition, name in sides)
    if task.unit is None:
        rows = rows.project(f"{position} AS lastbit_position, lastbit_step AS lastbit_raw").project(f"*, {beyond}")
        return rows.project(
            f"lastbit_position, {clamped} AS lastbit_step, 1 AS lastbit_rank, "
            "CASE WHEN lastbit_above = 1 THEN 1 ELSE -lastbit_below END AS lastbit_beyond"
        )
    order = ", lastbit_order" if task.order is not None else ""
    rows = rows.project(f"{position} AS lastbit_position, lastbit_unit, lastbit_step AS lastbit_raw{order}")
    rows, seen = _reduce_raw_rows(rows, task, clamped, beyond)
    key = 0 if task.bound is None else task.bound.key
    mark = f"hash(xor(hash(lastbit_unit, {', '.join(seen)}), CAST({key} AS UBIGINT)))"
    sorting = ", ".join(f"{name} ASC" for name in (mark, *seen))
    unit = "OVER (PARTITION BY lastbit_unit)"
    return rows.project(
        "lastbit_position, lastbit_step, "
        f"row_number() OVER (PARTITION BY lastbit_unit ORDER BY {sorting}) AS lastbit_rank, "
        f"CASE WHEN max(lastbit_above) {unit} = 1 THEN 1 ELSE -max(lastbit_below) {unit} END AS lastbit_beyond"
    )


def _reduce_raw_rows(rows: Any, task: Task, clamped: str, beyond: str) -> tuple[Any, list[str]]:
    """Return one row for each number that a unit has, and the columns that tell the numbers of a unit apart."""
    pair = "lastbit_position, lastbit_unit"
    if task.per == "row":
        alike = "row_number() OVER (PARTITION BY lastbit_unit, lastbit_position, lastbit_raw) AS lastbit_copy"
        rows = rows.project(f"*, {beyond}, {clamped} AS lastbit_step").project(f"*, {alike}")
        return rows, ["lastbit_position", "lastbit_raw", "lastbit_copy"]
    if task.per == "mean":
        low = _huge(task.ends[0])
        # Above the lower bound there are no negative numbers, and the engine's division is a floor.
        number = f"CAST(sum({clamped} - {low}) // count(*) + {low} AS BIGINT)"
        sides = "max(lastbit_above) AS lastbit_above, max(lastbit_below) AS lastbit_below"
        rows = rows.project(f"*, {beyond}").aggregate(f"{pair}, {number} AS lastbit_step, {sides}", pair)
        return rows, ["lastbit_position"]
    latest = "max({'a': lastbit_order, 'b': lastbit_raw}).b"
    number = "sum(CAST(lastbit_raw AS HUGEINT))" if task.per == "total" else latest
    rows = rows.aggregate(f"{pair}, {number} AS lastbit_raw", pair)
    return rows.project(f"*, {beyond}, {clamped} AS lastbit_step"), ["lastbit_position"]


def _huge(number: int) -> str:
    return f"CAST({number} AS HUGEINT)"
