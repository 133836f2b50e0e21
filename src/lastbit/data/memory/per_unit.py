"""One number for each unit, from rows in memory: by sorting them as whole numbers."""

from __future__ import annotations

import numpy as np

from lastbit.data.table import Integers, Per

_HALF = 32
_LOW = (1 << _HALF) - 1


def reduce_rows(
    positions: Integers, units: Integers, steps: Integers, order: Integers | None, per: Per, ends: tuple[int, int]
) -> tuple[Integers, Integers]:
    """Return the number of each pair of a position and a unit, and the row that first has it. Rows must have both.

    A mean is floored to a whole step; of rows that are latest alike, the largest step counts, and of those that are
    first alike, the smallest.

    >>> positions, units, steps = np.array([0, 0, 0]), np.array([7, 7, 9]), np.array([1, 4, 8])
    >>> reduce_rows(positions, units, steps, None, "mean", (0, 10))[0].tolist()
    [2, 8]
    """
    ranks = np.zeros(len(steps), np.int64) if order is None else order
    sorting = np.lexsort((steps, ranks, units, positions))
    positions, units, sorted_steps = positions[sorting], units[sorting], steps[sorting]
    new = np.ones(len(positions), np.bool_)
    new[1:] = (positions[1:] != positions[:-1]) | (units[1:] != units[:-1])
    starts = np.flatnonzero(new)
    if not len(starts):
        return sorted_steps, sorting
    if per == "first":
        return sorted_steps[starts], sorting[starts]
    if per in ("latest", "any"):
        lasts = np.append(starts[1:], len(positions)) - 1
        return sorted_steps[lasts], sorting[starts]
    low, high = ends
    above = sorted_steps - (low if per == "mean" else 0)
    # In two halves, so that no sum overflows.
    upper, lower = np.add.reduceat(above >> _HALF, starts), np.add.reduceat(above & _LOW, starts)
    if per == "total":
        upper = np.clip(upper + (lower >> _HALF), -(1 << 30), 1 << 30)
        return np.clip((upper << _HALF) | (lower & _LOW), low, high), sorting[starts]
    rows = np.diff(np.append(starts, len(positions)))
    whole, rest = np.divmod(upper, rows)
    return (whole << _HALF) + ((rest << _HALF) + lower) // rows + low, sorting[starts]
