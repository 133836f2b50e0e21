"""From a partition to the integer table the kernel walks: T(j) = ⌊2^64 · S(j)⌋, each the exact floor.

The powers are followed in fixed point with a known error; where that error leaves a floor in doubt (about once
in 2^60 entries) the exact one is computed instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lastbit.chance.gaussian import Gaussian
from lastbit.chance.inversion import Line, Partition, Weighted, power

MAX_CELLS: Final = 1 << 15
"""Finite partitions beyond this are inverted cell by cell: their table would not pay."""

_LARGEST_SCALE: Final = 1 << 8
"""Of endless laws: where words at larger scales are inverted by a logarithm."""

_GUIDE_BITS: Final = range(11, 14)
_GUIDE_ROOM: Final = 3
"""So many bits more than the cells have: most buckets are then within one cell."""
_LONG_GUIDE_BITS: Final = 16
"""Of tables beyond 2^15 cells."""
_TOP: Final = (1 << 64) - 1


@dataclass(frozen=True, eq=False)
class ThresholdTable:
    """A word w is in cell origin + direction·#{k : w < thresholds[k]}, in doubt where w equals a threshold.

    Thresholds fall, and the last is 0. `guide[b]` counts the thresholds from the first word with leading bits b on, and
    the last entry, which is beyond all words, is 0: no threshold is in a bucket whose entry is equal to the next.
    """

    thresholds: NDArray[np.uint64]
    guide: NDArray[np.uint32]
    origin: int
    direction: int

    @classmethod
    def of(cls, partition: Partition) -> ThresholdTable | None:
        """Return the table of a partition, or None where there is none."""
        if isinstance(partition, Weighted) and len(partition.cumulative) <= MAX_CELLS:
            *inner, total = partition.cumulative
            # Before weights of zero at the end U < 1 holds for every word.
            below = [(part << 64) // total for part in reversed(inner) if part < total]
            return cls._of(below, len(below), -1)
        if isinstance(partition, Line) and _short(partition):
            below = [] if partition.first == 0 else list(_thresholds(partition, -1))[::-1]
            start = 1 if partition.first == 0 else 0
            return cls._of(below + list(_thresholds(partition, 1, start)), start - 1 - len(below), 1)
        if isinstance(partition, Gaussian):
            thresholds = partition.thresholds()
            return cls._with_guide(thresholds, -(len(thresholds) // 2), 1)
        return None

    @classmethod
    def _of(cls, falling: list[int], origin: int, direction: int) -> ThresholdTable:
        return cls._with_guide(np.array([*falling, 0], np.uint64), origin, direction)

    @classmethod
    def _with_guide(cls, thresholds: NDArray[np.uint64], origin: int, direction: int) -> ThresholdTable:
        bits = min(max((len(thresholds) - 1).bit_length() + _GUIDE_ROOM, _GUIDE_BITS[0]), _GUIDE_BITS[-1])
        bits = bits if len(thresholds) <= MAX_CELLS else _LONG_GUIDE_BITS
        guide = np.zeros((1 << bits) + 1, np.uint32)
        # The first word of each bucket, compared with the thresholds in rising order.
        first = np.arange(1 << bits, dtype=np.uint64) << np.uint64(64 - bits)
        guide[:-1] = len(thresholds) - np.searchsorted(thresholds[::-1], first)
        return cls(thresholds, guide, origin, direction)


def _short(law: Line) -> bool:
    """Return whether a table of this law pays: an endless one ends after 64·ln 2 scales a side."""
    if law.last is not None:
        return law.last < MAX_CELLS
    return law.rate.scale // law.stride < _LARGEST_SCALE


def _thresholds(law: Line, direction: int, start: int = 1) -> Iterator[int]:
    """Yield T(start·direction), T((start+1)·direction), … until they stay at 0, at 2^64 - 1, or the law ends.

    With q <= 2^bits·R <= q + w and t(i) = ⌊t(i-1)·q/2^bits⌋, 2^bits·R^i is from t(i) to t(i) + i·(w + 1).
    """
    bits = 256
    factor, offset = law.line(direction < 0, bits)
    ratio, most = power(law.rate, law.stride, bits)
    tail = 1 << bits if start == 0 else ratio
    for i in count(start) if law.last is None else range(start, law.last + 1):
        error = i * (most - ratio + 1)
        near, far = (tail, tail + error) if direction > 0 else (tail + error, tail)
        lower = (offset[0] + (factor[0] * near >> bits)) >> (bits - 64)
        upper = (offset[1] + (factor[1] * far >> bits) + 1) >> (bits - 64)
        threshold = lower if lower == upper else law.floor(direction * i, 64)[0]
        if law.last is None and threshold == 0:
            return
        yield threshold
        if threshold == _TOP and direction < 0:
            return
        tail = tail * ratio >> bits
