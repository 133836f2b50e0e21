"""Units that are whole numbers: they are counted, and their numbers added up, while rows come out of DuckDB.

To group by a unit, an engine keeps rows apart for each of its threads and joins them later, in memory that is touched
several times. Here each row is added to the entry of its unit. The engine, which has a disk, groups instead where units
are too many, or memory is short. Either way the numbers are the same.
"""

from __future__ import annotations

from contextlib import suppress
from secrets import randbits
from typing import Final, Protocol

import numpy as np

from lastbit.data._units import Units
from lastbit.data.table import Integers, Task
from lastbit.data.weights import Weights

_MOST_UNITS: Final = 1 << 27
_LARGEST: Final = 1 << 62
_WAYS: Final = ("mean", "total", "any")
"""The numbers of a unit that do not depend on an order of its rows."""


class Rows(Protocol):
    """Columns of 64 bits that Arrow hands on: a relation, or a table. They are read once, without its modules."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


def can_add_up(task: Task) -> bool:
    """Tell whether a unit has one number, to which each of its rows adds by itself.

    >>> can_add_up(Task((), "patient", "cost", per="mean")), can_add_up(Task((), "patient", "cost", per="latest"))
    (True, False)
    """
    return task.unit is not None and task.has_one_number and task.per in _WAYS


def count_words(rows: Rows) -> int | None:
    """Count the units of rows with one column, of units; None where memory does not hold them.

    >>> import duckdb
    >>> count_words(duckdb.sql("select unit::bigint from (values (7), (8), (7), (null)) as t(unit)"))
    2
    """
    with suppress(MemoryError):
        units = _start("count")
        if units.add(rows.__arrow_c_stream__()):
            return len(units)
    return None


def add_up_words(rows: Rows, task: Task, floats: Weights | None = None) -> tuple[Integers, Integers] | None:
    """Return each unit's number, and 1 where it has one above the bounds, -1 for below, or 0.

    None where memory does not hold the units. rows: with a column of units, and one of steps; or one of floats, which
    become steps of these weights.
    """
    with suppress(MemoryError):
        units = _start(task.per)
        units.set_ends(*task.ends, task.lowest)
        if floats is not None:
            factor = float(floats.grid.denominator)
            units.set_floats(floats.low / factor, floats.high / factor, factor, floats.missing)
        if units.add(rows.__arrow_c_stream__()):
            steps, sides = units.numbers()
            return steps, np.asarray(sides)
    return None


def are_exact(weights: Weights) -> bool:
    """Tell whether a float becomes steps without an error: by a power of two, and between bounds that are floats.

    >>> from lastbit.values.grid import Grid
    >>> are_exact(Weights(Grid("1/8"), 0, 800)), are_exact(Weights(Grid("1/10"), 0, 1000))
    (True, False)
    """
    grid = weights.grid
    short = max(abs(weights.low), abs(weights.high)) < _LARGEST
    return weights.binary is None and grid.numerator == 1 and grid.denominator < _LARGEST and short


def _start(way: str) -> Units:
    return Units(way, randbits(64), randbits(64), _MOST_UNITS)
