"""Distinct pairs of a place and a unit, by sorting them as whole numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lastbit.data.weights import Weights

Integers = NDArray[np.int64]


def distinct_units(places: Integers, units: Integers, size: int) -> Integers:
    """How many different units each place has.

    >>> distinct_units(np.array([0, 0, 2, 0]), np.array([7, 7, 7, 9]), 3).tolist()
    [2, 0, 1]
    """
    words, bits = _packed(places, units, size)
    words.sort()
    return np.bincount(words[_starts(words)] >> bits, minlength=size)


def summed(places: Integers, units: Integers | None, steps: Integers, size: int, weights: Weights) -> Integers:
    """The sum of each place, a unit's steps in a place added up and clamped first."""
    totals = np.zeros(size, np.int64)
    if units is not None and len(places):
        words, bits = _packed(places, units, size)
        order = np.argsort(words)
        words = words[order]
        starts = np.flatnonzero(_starts(words))
        steps = np.clip(np.add.reduceat(steps[order], starts), weights.low, weights.high)
        places = words[starts] >> bits
    np.add.at(totals, places, steps)
    return totals


def among_first(places: Integers, units: Integers, marks: NDArray[np.uint64], most: int) -> NDArray[np.bool_]:
    """The rows whose place is among the first places of their unit: by their marks, and by the places themselves.

    marks: the same for rows with the same place and the same unit.

    >>> places, units, marks = np.array([0, 1, 2, 1]), np.array([7, 7, 7, 7]), np.array([5, 3, 3, 3], np.uint64)
    >>> among_first(places, units, marks, 1).tolist()
    [False, True, False, True]
    """
    order = _sequence(places, units, marks)
    places, units = places[order], units[order]
    others = _starts(units)
    pairs = np.cumsum(_starts(places))
    # From the number of a pair, the number of the first pair of its unit is taken away, which may be that of the pair
    # before it.
    firsts = np.maximum.accumulate(np.where(others, pairs, 0))
    kept = np.empty(len(order), np.bool_)
    kept[order] = pairs - firsts < most
    return kept


def _sequence(places: Integers, units: Integers, marks: NDArray[np.uint64]) -> Integers:
    """The order by units, then marks, then places.

    A unit and the upper bits of a mark are one word, and these are sorted. Rows with one word that are not alike, which
    are few unless somebody chose them, are sorted once more among themselves.
    """
    if not len(units):
        return np.empty(0, np.int64)
    who, bits = _short(units, 40)
    words = (who.astype(np.uint64) << np.uint64(64 - bits)) | (marks >> np.uint64(bits)) if bits else marks
    order = np.argsort(words)
    words, places, marks = words[order], places[order], marks[order]
    same = words[1:] == words[:-1]
    unlike = np.flatnonzero(same & ((marks[1:] != marks[:-1]) | (places[1:] != places[:-1])))
    if len(unlike):
        # Whole runs of one word: the rows of a run may come in any order.
        runs = np.cumsum(np.append(True, ~same))
        rows = np.flatnonzero(np.isin(runs, runs[unlike]))
        order[rows] = order[rows[np.lexsort((places[rows], marks[rows], runs[rows]))]]
    return order


def _short(units: Integers, room: int) -> tuple[Integers, int]:
    """Numbers from 0 on, the same for the same unit, and how many bits they have: numbered anew if beyond the room."""
    low, high = int(units.min()), int(units.max())
    if (high - low).bit_length() > room:
        different, numbers = np.unique(units, return_inverse=True)
        return numbers.astype(np.int64, copy=False), (len(different) - 1).bit_length()
    return units - low, (high - low).bit_length()


def _packed(places: Integers, units: Integers, size: int) -> tuple[Integers, int]:
    """One word for each pair, and how many bits of it are the unit's."""
    if not len(units):
        return places, 0
    numbers, bits = _short(units, 63 - size.bit_length())
    return (places << bits) | numbers, bits


def _starts(words: Integers) -> NDArray[np.bool_]:
    """Where another word begins."""
    new = np.ones(len(words), np.bool_)
    np.not_equal(words[1:], words[:-1], out=new[1:])
    return new
