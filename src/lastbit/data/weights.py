"""Weights: the amount that a row adds to a sum, in whole steps between two public bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lastbit.data.column_types import INTEGER, NUMBERS, ColumnType
from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, number
from lastbit.values.counts import Counts
from lastbit.values.grid import LIMIT, Grid
from lastbit.values.missing import LEAVE_OUT, Missing, step_of_missing

_MOST_STEPS: Final = 1 << 31
"""Bounds reach this far at most, so that 2^32 of them add up within 64 bits in any engine."""

_MOST_NUMERATOR: Final = 1 << 16


@dataclass(frozen=True)
class Weights:
    """A grid, and the bounds in its steps.

    >>> weights = Weights.of((0, 5), "1/2")
    >>> weights.sensitivity, weights.monotone
    (Fraction(5, 1), True)
    """

    grid: Grid
    low: int
    high: int
    missing: int | None = None
    """The step that a missing weight counts as; None where its row is left out."""

    @classmethod
    def of(cls, bounds: Sequence[Number] | None, resolution: Number, missing: Missing = LEAVE_OUT) -> Weights:
        """Check bounds as a person gives them, and return them in steps."""
        if bounds is None:
            raise ParameterError("weights need public bounds=(lower, upper): they are how far one unit moves a sum.")
        if not isinstance(bounds, Sequence) or isinstance(bounds, str) or len(bounds) != 2:
            raise ParameterError("bounds must be a pair (lower, upper) of numbers, known without looking at the data.")
        grid = Grid(resolution)
        low, high = (grid.count(number(bound, "bounds"), "bounds") for bound in bounds)
        if low > high or not (low or high):
            raise ParameterError(f"bounds must be a lower and an upper one: got {bounds[0]} and {bounds[1]}.")
        if max(abs(low), abs(high)) > _MOST_STEPS or grid.numerator > _MOST_NUMERATOR:
            raise ParameterError("bounds must be at most 2^31 steps of the resolution. Use a coarser one.")
        return cls(grid, low, high, step_of_missing(missing, grid, low, high))

    @property
    def sensitivity(self) -> Fraction:
        """How far one unit can move a sum."""
        return max(abs(self.low), abs(self.high)) * self.grid.resolution

    @property
    def monotone(self) -> bool:
        """Whether a unit that comes moves all sums the same way."""
        return self.low >= 0 or self.high <= 0

    def check(self, column_type: ColumnType, column: str) -> None:
        """Refuse a column whose type cannot be added up exactly on this grid."""
        step = self.grid.resolution
        if column_type not in NUMBERS:
            raise ParameterError(
                f"weights must be numbers: the column {column!r} holds {column_type.description}. "
                "Name a column of numbers."
            )
        if column_type is not INTEGER and (
            step.numerator & (step.numerator - 1) or step.denominator & (step.denominator - 1)
        ):
            raise ParameterError(
                f"resolution must be a power of two for weights that are not whole: got {step}. No other is exact in "
                "an engine's floats. Use resolution='1/128', or a column of whole numbers such as cents."
            )

    def fits(self, scale: int) -> bool:
        """Tell whether 64 bits hold the bounds as decimals with so many digits after the point, with room to spare."""
        return max(abs(self.low), abs(self.high), 1) * (self.grid.resolution * Fraction(10) ** scale).numerator < LIMIT

    def steps_of(self, values: Any, missing: NDArray[np.bool_] | None, scale: int = 0) -> NDArray[np.int64]:
        """Return weights in steps, exactly: whole numbers of any size, floats, or decimals without their point."""
        step = self.grid.resolution * Fraction(10) ** scale
        if self.fits(scale):
            steps = np.clip(Grid(step).steps(values), self.low, self.high)
        else:
            # Python's whole numbers have no end.
            above, below = step.numerator, step.denominator
            whole = (int(value) * below // above for value in values)
            steps = np.fromiter((max(self.low, min(self.high, step)) for step in whole), np.int64, len(values))
        if missing is not None:
            # Rows that are left out have any step: nobody adds it up.
            steps[missing] = self.low if self.missing is None else self.missing
        return steps

    def counts(self, items: tuple[Any, ...], totals: Any, most_items: int | None = None) -> Counts:
        """Return sums in steps as Counts."""
        step = self.grid.resolution
        values = totals if step == 1 else tuple(int(total) * step for total in totals)
        facts: dict[str, Any] = {"sensitivity": self.sensitivity, "monotone": self.monotone, "resolution": step}
        return Counts(items=items, values=values, most_items=most_items, **facts)
