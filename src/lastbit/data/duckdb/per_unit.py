"""One number for each unit, in the SQL of DuckDB."""

from __future__ import annotations

from typing import Any, Final

from lastbit.data.duckdb.bound import keep_rows
from lastbit.data.table import Task

_ONLY: Final = "lastbit_step AS lastbit_lowest, lastbit_step AS lastbit_highest"
"""The extremes of a unit with one number."""

_WORD: Final = (1 << 63) - 1
"""The largest number of 64 bits."""


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
        number = _mean("lastbit_step", low, high)
    elif task.per == "total":
        number = _clamp("sum(lastbit_step)", low, high)
    else:
        number = _pick_row(task, "lastbit_step")
    order = ", lastbit_order" if task.order is not None else ""
    rows = rows.project(f"{position} AS lastbit_position, lastbit_unit, lastbit_step{order}")
    return _aggregate(rows, task, f"{number} AS lastbit_step")


def rank_numbers(rows: Any, task: Task, position: str) -> Any:
    """Return the number of every unit with its rank in the unit's lot, and whether the unit has a number out of bounds.

    The columns are lastbit_position, lastbit_step, lastbit_rank, and lastbit_beyond: 1 where a unit has a number above
    the bounds, -1 where it has one below them and none above, and 0 otherwise. The steps of rows are not clamped yet.
    For `task.extremes` lastbit_lowest and lastbit_highest, of all numbers of the unit, come in place of the last.
    """
    clamped = _clamp("lastbit_raw", *task.ends)
    above, below = f"lastbit_raw > {task.ends[1]}", f"lastbit_raw < {task.lowest}"
    beyond = f"CASE WHEN {above} THEN 1 WHEN {below} THEN -1 ELSE 0 END"
    if task.unit is None:
        rows = rows.project(f"{position} AS lastbit_position, lastbit_step AS lastbit_raw")
        only = _ONLY if task.extremes else f"{beyond} AS lastbit_beyond"
        rows = rows.project(f"lastbit_position, {clamped} AS lastbit_step, lastbit_raw")
        return rows.project(f"lastbit_position, lastbit_step, 1 AS lastbit_rank, {only}")
    order = ", lastbit_order" if task.order is not None else ""
    rows = rows.project(f"{position} AS lastbit_position, lastbit_unit, lastbit_step AS lastbit_raw{order}")
    rows, seen = _reduce_raw_rows(rows, task, clamped, above, below)
    if task.has_one_number:
        # Nothing is left to order: a unit's only number is the first of its lot.
        sides = "CAST(CASE WHEN lastbit_above THEN 1 WHEN lastbit_below THEN -1 ELSE 0 END AS TINYINT)"
        only = _ONLY if task.extremes else f"{sides} AS lastbit_beyond"
        return rows.project(f"lastbit_position, lastbit_step, 1 AS lastbit_rank, {only}")
    key = 0 if task.bound is None else task.bound.key
    mark = f"hash(xor(hash(lastbit_unit, {', '.join(seen)}), CAST({key} AS UBIGINT)))"
    sorting = ", ".join(f"{name} ASC" for name in (mark, *seen))
    unit = "OVER (PARTITION BY lastbit_unit)"
    sides = (
        f"min(lastbit_step) {unit} AS lastbit_lowest, max(lastbit_step) {unit} AS lastbit_highest"
        if task.extremes
        else f"CASE WHEN bool_or(lastbit_above) {unit} THEN 1 WHEN bool_or(lastbit_below) {unit} THEN -1 ELSE 0 END "
        "AS lastbit_beyond"
    )
    return rows.project(
        "lastbit_position, lastbit_step, "
        f"row_number() OVER (PARTITION BY lastbit_unit ORDER BY {sorting}) AS lastbit_rank, {sides}"
    )


def _reduce_raw_rows(rows: Any, task: Task, clamped: str, above: str, below: str) -> tuple[Any, list[str]]:
    """Return one row for each number that a unit has, and the columns that tell the numbers of a unit apart."""
    sides = f"{above} AS lastbit_above, {below} AS lastbit_below"
    if task.per == "row":
        alike = "row_number() OVER (PARTITION BY lastbit_unit, lastbit_position, lastbit_raw) AS lastbit_copy"
        rows = rows.project(f"*, {sides}, {clamped} AS lastbit_step").project(f"*, {alike}")
        return rows, ["lastbit_position", "lastbit_raw", "lastbit_copy"]
    if task.per == "mean":
        number = _mean(clamped, *task.ends)
        # To count them takes less than to ask whether there is one.
        sides = f"count(*) FILTER ({above}) > 0 AS lastbit_above, count(*) FILTER ({below}) > 0 AS lastbit_below"
        return _aggregate(rows, task, f"{number} AS lastbit_step, {sides}"), ["lastbit_position"]
    number = "sum(lastbit_raw)" if task.per == "total" else _pick_row(task, "lastbit_raw")
    rows = _aggregate(rows, task, f"{number} AS lastbit_raw")
    return rows.project(f"*, {sides}, {clamped} AS lastbit_step"), ["lastbit_position"]


def _aggregate(rows: Any, task: Task, chosen: str) -> Any:
    """Return what is chosen of each unit in each group. Without groups a unit is all that the engine keeps a key of."""
    if task.by:
        return rows.aggregate(f"lastbit_position, lastbit_unit, {chosen}", "lastbit_position, lastbit_unit")
    return rows.aggregate(f"CAST(0 AS BIGINT) AS lastbit_position, lastbit_unit, {chosen}", "lastbit_unit")


def _mean(number: str, low: int, high: int) -> str:
    """Return the floor of the mean of numbers between two bounds of 62 bits at most.

    Above the lower bound there are no negative numbers, and the engine's division is a floor. A sum of 64 bits has 128.
    To divide it takes ten times as long, and is for units of so many rows that 64 do not hold the sum.
    """
    above, few = f"sum({number} - ({low}))", _WORD // (high - low + 1)
    short, long = f"CAST({above} AS BIGINT) // count(*)", f"CAST({above} // count(*) AS BIGINT)"
    return f"CASE WHEN count(*) <= {few} THEN {short} ELSE {long} END + ({low})"


def _clamp(number: str, low: int, high: int) -> str:
    return f"CASE WHEN {number} > {high} THEN {high} WHEN {number} < {low} THEN {low} ELSE CAST({number} AS BIGINT) END"


def _pick_row(task: Task, step: str) -> str:
    """Return the SQL of the one row of a unit that counts: the latest, the first, or any with the largest number."""
    if task.per == "any":
        return f"max({step})"
    return f"{'min' if task.per == 'first' else 'max'}({{'a': lastbit_order, 'b': {step}}}).b"
