"""Counts and sums of pairs of a position and a unit, by sorting the pairs as whole numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lastbit.data.table import Integers
from lastbit.data.weights import Weights


def count_units(positions: Integers, units: Integers, size: int) -> Integers:
    """Return how many different units each position has.

    >>> count_units(np.array([0, 0, 2, 0]), np.array([7, 7, 7, 9]), 3).tolist()
    [2, 0, 1]
    """
    words, bits = _pack_pairs(positions, units, size)
    words.sort()
    return np.bincount(words[run_starts(words)] >> bits, minlength=size)


def sum_steps(positions: Integers, units: Integers | None, steps: Integers, size: int, weights: Weights) -> Integers:
    """Return the sum of each position, a unit's steps in a position added up and clamped first."""
    totals = np.zeros(size, np.int64)
    if units is not None and len(positions):
        words, bits = _pack_pairs(positions, units, size)
        order = np.argsort(words)
        words = words[order]
        starts = np.flatnonzero(run_starts(words))
        steps = np.clip(np.add.reduceat(steps[order], starts), weights.low, weights.high)
        positions = words[starts] >> bits
    np.add.at(totals, positions, steps)
    return totals


def renumber(units: Integers, room: int) -> tuple[Integers, int]:
    """Return a number from 0 on for each unit, and how many bits they have: numbered anew if beyond the room."""
    low, high = int(units.min()), int(units.max())
    if (high - low).bit_length() > room:
        different, numbers = np.unique(units, return_inverse=True)
        return numbers.astype(np.int64, copy=False), (len(different) - 1).bit_length()
    return units - low, (high - low).bit_length()


def _pack_pairs(positions: Integers, units: Integers, size: int) -> tuple[Integers, int]:
    """Return one word for each pair, and how many bits of it are the unit's."""
    if not len(units):
        return positions, 0
    numbers, bits = renumber(units, 63 - size.bit_length())
    return (positions << bits) | numbers, bits


def run_starts(words: Integers) -> NDArray[np.bool_]:
    """Return where another word begins."""
    new = np.ones(len(words), np.bool_)
    np.not_equal(words[1:], words[:-1], out=new[1:])
    return new
