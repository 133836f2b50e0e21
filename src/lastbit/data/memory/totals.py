"""Counts and sums of pairs of a position and a unit, by sorting the pairs as whole numbers."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from lastbit.data.table import Integers
from lastbit.data.weights import Weights

_HALF: Final = 26
"""Bits of the lower half of a step."""

_FURTHEST: Final = 1 << 36
"""An upper half so far out is beyond 2^61 steps, whatever the lower half is."""


def count_units(positions: Integers, units: Integers, size: int) -> Integers:
    """Return how many different units each position has.

    >>> count_units(np.array([0, 0, 2, 0]), np.array([7, 7, 7, 9]), 3).tolist()
    [2, 0, 1]
    """
    words, bits = _pack_pairs(positions, units, size)
    words.sort()
    return np.bincount(words[run_starts(words)] >> bits, minlength=size)


def sum_steps(positions: Integers, units: Integers | None, steps: Integers, size: int, weights: Weights) -> Integers:
    """Return the sum of each position in steps of the resolution, a unit's steps added up and clamped first.

    Sums are in two halves, so that nothing overflows, and are floored to the resolution once.
    """
    if units is not None and len(positions):
        words, bits = _pack_pairs(positions, units, size)
        order = np.argsort(words)
        words = words[order]
        starts = np.flatnonzero(run_starts(words))
        upper, lower = (np.add.reduceat(half, starts) for half in _halves(steps[order]))
        # What is further out than all bounds is clamped to them anyway.
        steps = np.clip((np.clip(upper, -_FURTHEST, _FURTHEST) << _HALF) + lower, weights.low, weights.high)
        positions = words[starts] >> bits
    sums = []
    for half in _halves(steps):
        total = np.zeros(size, np.int64)
        np.add.at(total, positions, half)
        sums.append(total.tolist())
    floors = (((upper << _HALF) + lower) // weights.parts for upper, lower in zip(*sums, strict=True))
    return np.fromiter(floors, np.int64, size)


def _halves(steps: Integers) -> tuple[Integers, Integers]:
    """Return the upper and the lower bits of steps within 2^52: of either, 2^32 add up within 64 bits."""
    return steps >> _HALF, steps & ((1 << _HALF) - 1)


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
