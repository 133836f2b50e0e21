"""Which items, or rows, of a unit count where few may: those with the smallest hashes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lastbit.data.memory.hashing import mix_bits
from lastbit.data.memory.totals import renumber, run_starts
from lastbit.data.table import Integers


def keep_items(positions: Integers, units: Integers, hashes: NDArray[np.uint64], most: int) -> NDArray[np.bool_]:
    """Return the rows whose position is among the first of their unit: by their hashes, and by the positions.

    hashes: the same for rows with the same position and the same unit.

    >>> positions, units, hashes = np.array([0, 1, 2, 1]), np.array([7, 7, 7, 7]), np.array([5, 3, 3, 3], np.uint64)
    >>> keep_items(positions, units, hashes, 1).tolist()
    [False, True, False, True]
    """
    order = _sort_pairs(positions, units, hashes)
    positions, units = positions[order], units[order]
    new_units = run_starts(units)
    pairs = np.cumsum(run_starts(positions))
    # From the number of a pair, the number of the first pair of its unit is taken away, which may be that of the pair
    # before it.
    firsts = np.maximum.accumulate(np.where(new_units, pairs, 0))
    mask = np.empty(len(order), np.bool_)
    mask[order] = pairs - firsts < most
    return mask


def _sort_pairs(positions: Integers, units: Integers, hashes: NDArray[np.uint64]) -> Integers:
    """Return the order by units, then hashes, then positions.

    A unit and the upper bits of a hash are one word, and these are sorted. Rows with one word that are not alike, which
    are few unless somebody chose them, are sorted once more among themselves.
    """
    if not len(units):
        return np.empty(0, np.int64)
    codes, bits = renumber(units, 40)
    words = (codes.astype(np.uint64) << np.uint64(64 - bits)) | (hashes >> np.uint64(bits)) if bits else hashes
    order = np.argsort(words)
    words, positions, hashes = words[order], positions[order], hashes[order]
    same = words[1:] == words[:-1]
    unlike = np.flatnonzero(same & ((hashes[1:] != hashes[:-1]) | (positions[1:] != positions[:-1])))
    if len(unlike):
        # Whole runs of one word: the rows of a run may come in any order.
        runs = np.cumsum(np.append(True, ~same))
        rows = np.flatnonzero(np.isin(runs, runs[unlike]))
        order[rows] = order[rows[np.lexsort((positions[rows], hashes[rows], runs[rows]))]]
    return order


def keep_rows(
    positions: Integers, units: Integers, steps: Integers, hashes: NDArray[np.uint64], most: int
) -> NDArray[np.bool_]:
    """Return at most so many rows of each unit: those with the smallest hashes.

    hashes: one of the unit and a key. Rows of a unit that are alike are numbered, so that each has a hash of its own.

    >>> keep_rows(np.zeros(3, np.int64), np.array([7, 7, 9]), np.array([1, 1, 2]), np.zeros(3, np.uint64), 1).sum()
    np.int64(2)
    """
    sorting = np.lexsort((steps, positions, units))
    alike = np.zeros(len(steps), np.bool_)
    for values in (units[sorting], positions[sorting], steps[sorting]):
        alike[1:] |= values[1:] != values[:-1]
    numbers = np.arange(len(steps))
    copies = np.empty(len(steps), np.int64)
    copies[sorting] = numbers - np.maximum.accumulate(np.where(alike, numbers, 0))
    for values in (positions, steps, copies):
        hashes = mix_bits(hashes ^ values.view(np.uint64))
    sorting = np.lexsort((copies, steps, positions, hashes, units))
    ordered = units[sorting]
    new = np.ones(len(ordered), np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    mask = np.empty(len(steps), np.bool_)
    mask[sorting] = numbers - np.maximum.accumulate(np.where(new, numbers, 0)) < most
    return mask
