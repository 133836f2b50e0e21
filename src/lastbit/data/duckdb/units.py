"""Units that are whole numbers: they are counted, and their numbers added up, while rows come out of DuckDB.

To group by a unit, an engine keeps rows apart for each of its threads and joins them later, in memory that is touched
several times. Here each row is added to the entry of its unit. The engine, which has a disk, groups instead where units
are too many, or memory is short. Either way the numbers are the same.
"""

from __future__ import annotations

from contextlib import suppress
from secrets import randbits
from typing import Any, Final

import numpy as np

from lastbit.data._units import Units
from lastbit.data.table import Integers, Task

_MOST_UNITS: Final = 1 << 27
_WAYS: Final = ("mean", "total", "any")
"""The numbers of a unit that do not depend on an order of its rows."""


def can_add_up(task: Task) -> bool:
    """Tell whether a unit has one number, to which each of its rows adds by itself.

    >>> can_add_up(Task((), "patient", "cost", per="mean")), can_add_up(Task((), "patient", "cost", per="latest"))
    (True, False)
    """
    return task.unit is not None and task.has_one_number and task.per in _WAYS


def count_words(rows: Any) -> int | None:
    """Count the units of rows with `lastbit_unit`; None where memory does not hold them.

    >>> import duckdb
    >>> count_words(duckdb.sql("select * from (values (7), (8), (7), (null)) as t(lastbit_unit)"))
    2
    """
    with suppress(MemoryError):
        units = _start("count")
        if units.add(_stream(rows, "CAST(lastbit_unit AS BIGINT)")):
            return len(units)
    return None


def add_up_words(rows: Any, task: Task) -> tuple[Integers, Integers] | None:
    """Return each unit's number, and 1 where it has one above the bounds, -1 for below, or 0.

    None where memory does not hold the units. rows: with `lastbit_unit` and `lastbit_step`.
    """
    with suppress(MemoryError):
        units = _start(task.per)
        units.set_ends(*task.ends, task.lowest)
        if units.add(_stream(rows, "CAST(lastbit_unit AS BIGINT), lastbit_step")):
            steps, sides = units.numbers()
            return steps, np.asarray(sides)
    return None


def _start(way: str) -> Units:
    return Units(way, randbits(64), randbits(64), _MOST_UNITS)


def _stream(rows: Any, columns: str) -> Any:
    """Return columns as a stream that is read once, without the modules of Arrow."""
    return rows.project(columns).__arrow_c_stream__()
