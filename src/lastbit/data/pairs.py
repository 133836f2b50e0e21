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
    order = np.lexsort((places, marks, units))
    places, units = places[order], units[order]
    others = _starts(units)
    pairs = np.cumsum(others | _starts(places))
    # From the number of a pair, the number of the first pair of its unit is taken away.
    firsts = np.maximum.accumulate(np.where(others, pairs, 0))
    kept = np.empty(len(order), np.bool_)
    kept[order] = pairs - firsts < most
    return kept


def _packed(places: Integers, units: Integers, size: int) -> tuple[Integers, int]:
    """One word for each pair, and how many bits of it are the unit's."""
    if not len(units):
        return places, 0
    low, high = int(units.min()), int(units.max())
    room = 63 - size.bit_length()
    if (high - low).bit_length() > room:
        units = np.unique(units, return_inverse=True)[1].astype(np.int64, copy=False)
        low, high = 0, len(units)
    bits = (high - low).bit_length()
    return (places << bits) | (units - low), bits


def _starts(words: Integers) -> NDArray[np.bool_]:
    """Where another word begins."""
    new = np.ones(len(words), np.bool_)
    np.not_equal(words[1:], words[:-1], out=new[1:])
    return new
