"""`Kernel`: the compiled way to invert the levels of a distribution, by tables and by logarithms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lastbit.chance import _draws, curves
from lastbit.chance._cells import Cells
from lastbit.chance.bits import Words
from lastbit.chance.inversion import Partition
from lastbit.chance.threshold_table import ThresholdTable


@dataclass(frozen=True, eq=False, slots=True)
class Kernel:
    """One inverter for each level. All but the first have tables."""

    first: Cells
    finer: tuple[_draws.Inverter, ...]
    shifts: tuple[int, ...]

    @classmethod
    def of(cls, levels: Sequence[Partition], shifts: tuple[int, ...]) -> Kernel | None:
        """Return the kernel of these levels, or None where there is none or its values could leave int64."""
        # A word leaves at most 2^6 scales of the first level, where there are more.
        if shifts and sum(shifts) + curves.MOST_BITS + 6 > 63:
            return None
        first = curves.inverter(levels[0]) or _table_inverter(levels[0])
        finer = [_table_inverter(level) for level in levels[1:]]
        if first is None or None in finer:
            return None
        return cls(first, tuple(inverter for inverter in finer if inverter), shifts)

    def fill(self, words: Words | bytes, out: NDArray[np.int64]) -> list[int]:
        """Fill out with the samples that these words decide. Returns the samples in doubt, in order."""
        if not self.shifts:
            return self.first.first(words, 1, out)
        step = 1 + len(self.shifts)
        doubts = self.first.first(words, step, out)
        level_words = np.frombuffer(words, np.uint64)
        for offset, (level, shift) in enumerate(zip(self.finer, self.shifts, strict=True), start=1):
            doubts += level.finer(level_words, offset, step, shift, out)
        return sorted(set(doubts)) if doubts else doubts


def _table_inverter(level: Partition) -> _draws.Inverter | None:
    table = ThresholdTable.of(level)
    return None if table is None else _draws.Inverter(table.thresholds, table.guide, table.origin, table.direction)
