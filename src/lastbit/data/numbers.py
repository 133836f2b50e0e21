"""One number for each unit, from rows in memory: by sorting them as whole numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lastbit.data.keyed import mixed
from lastbit.data.pairs import Integers
from lastbit.data.task import Per

_HALF = 32
_LOW = (1 << _HALF) - 1


def reduced(
    places: Integers, units: Integers, steps: Integers, order: Integers | None, per: Per, ends: tuple[int, int]
) -> tuple[Integers, Integers]:
    """The number of each pair of a place and a unit, and the row that the pair first has. Rows must have both.

    A mean is floored to a whole step; of rows that are latest alike, the largest step counts.

    >>> places, units, steps = np.array([0, 0, 0]), np.array([7, 7, 9]), np.array([1, 4, 8])
    >>> reduced(places, units, steps, None, "mean", (0, 10))[0].tolist()
    [2, 8]
    """
    ranks = np.zeros(len(steps), np.int64) if order is None else order
    sorting = np.lexsort((steps, ranks, units, places))
    places, units, sorted_steps = places[sorting], units[sorting], steps[sorting]
    new = np.ones(len(places), np.bool_)
    new[1:] = (places[1:] != places[:-1]) | (units[1:] != units[:-1])
    starts = np.flatnonzero(new)
    if not len(starts):
        return sorted_steps, sorting
    if per == "latest":
        lasts = np.append(starts[1:], len(places)) - 1
        return sorted_steps[lasts], sorting[starts]
    low, high = ends
    above = sorted_steps - (low if per == "mean" else 0)
    # In two halves, so that no sum overflows.
    upper, lower = np.add.reduceat(above >> _HALF, starts), np.add.reduceat(above & _LOW, starts)
    if per == "total":
        upper = np.clip(upper + (lower >> _HALF), -(1 << 30), 1 << 30)
        return np.clip((upper << _HALF) | (lower & _LOW), low, high), sorting[starts]
    rows = np.diff(np.append(starts, len(places)))
    whole, rest = np.divmod(upper, rows)
    return (whole << _HALF) + ((rest << _HALF) + lower) // rows + low, sorting[starts]


def first_rows(
    places: Integers, units: Integers, steps: Integers, marks: NDArray[np.uint64], most: int
) -> NDArray[np.bool_]:
    """At most so many rows of each unit: those with the smallest hashes.

    marks: a hash of the unit and a key. Rows of a unit that are alike are numbered, so that each has a hash of its own.

    >>> first_rows(np.zeros(3, np.int64), np.array([7, 7, 9]), np.array([1, 1, 2]), np.zeros(3, np.uint64), 1).sum()
    np.int64(2)
    """
    sorting = np.lexsort((steps, places, units))
    alike = np.zeros(len(steps), np.bool_)
    for each in (units[sorting], places[sorting], steps[sorting]):
        alike[1:] |= each[1:] != each[:-1]
    at = np.arange(len(steps))
    copies = np.empty(len(steps), np.int64)
    copies[sorting] = at - np.maximum.accumulate(np.where(alike, at, 0))
    for each in (places, steps, copies):
        marks = mixed(marks ^ each.view(np.uint64))
    sorting = np.lexsort((copies, steps, places, marks, units))
    ordered = units[sorting]
    new = np.ones(len(ordered), np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    kept = np.empty(len(steps), np.bool_)
    kept[sorting] = at - np.maximum.accumulate(np.where(new, at, 0)) < most
    return kept
