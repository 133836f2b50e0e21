"""Values between the steps of a grid: the step below each, and the part of a step that it lies above it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lastbit.values import _parts
from lastbit.values.grid import LIMIT, Grid, Steps
from lastbit.values.raw import bits, is_plain, unwrap


@dataclass(frozen=True, eq=False)
class Between:
    """Values between two steps each. Values that a bound of the steps clamps have no part.

    >>> between = Between.of(Grid("1/2"), [0.25, 3, -0.125], 0, 4)
    >>> between.steps.tolist(), [str(between.exact(i)) for i in range(3)], hex(between.leading[0])
    ([0, 4, 0], ['1/2', '0', '0'], '0x8000000000000000')
    """

    grid: Grid
    values: Sequence[Any] | NDArray[Any]
    steps: Steps
    leading: NDArray[np.uint64]
    """The first 64 bits of each part."""

    @classmethod
    def of(cls, grid: Grid, values: Any, lowest: int, highest: int) -> Between:
        """Return these values on a grid, clamped to these steps."""
        values = unwrap(values)
        if isinstance(values, np.ndarray):
            values = values.ravel()
        if is_plain(values) and max(grid.numerator, grid.denominator) <= LIMIT:
            steps, leading = _plain(grid, values)
        else:
            steps = grid.steps(values)
            parts = (grid.beyond(value, step) for value, step in zip(values, steps.tolist(), strict=True))
            first = ((part.numerator << 64) // part.denominator for part in parts)
            leading = np.fromiter(first, np.uint64, len(steps))
        leading[(steps < lowest) | (steps > highest)] = 0
        return cls(grid, values, np.clip(steps, lowest, highest, out=steps), leading)

    def exact(self, i: int) -> Fraction:
        """Return the i-th part."""
        return self.grid.beyond(self.values[i], int(self.steps[i]))


def _plain(grid: Grid, values: NDArray[Any]) -> tuple[Steps, NDArray[np.uint64]]:
    if values.dtype.kind == "f":
        steps, leading = np.empty(len(values), np.int64), np.empty(len(values), np.uint64)
        twos = (grid.denominator & -grid.denominator).bit_length() - 1
        _parts.floats(bits(values), grid.denominator >> twos, twos, LIMIT, steps, leading)
    else:
        steps, leading = Grid(Fraction(1, grid.denominator)).steps(values), np.zeros(len(values), np.uint64)
    if grid.numerator > 1:
        _parts.divide(steps, leading, grid.numerator)
    return steps, leading
