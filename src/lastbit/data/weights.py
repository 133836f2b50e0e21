"""Weights: what a row adds to a sum, in whole steps between two public bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import narwhals as nw

from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, number
from lastbit.values.counts import Counts
from lastbit.values.grid import Grid

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

    @classmethod
    def of(cls, bounds: Sequence[Number] | None, resolution: Number) -> Weights:
        """From what a person gave."""
        if bounds is None:
            raise ParameterError("weights need public bounds=(lower, upper): they are how far one unit moves a sum.")
        grid = Grid(resolution)
        low, high = (grid.count(number(bound, "bounds"), "bounds") for bound in bounds)
        if low > high or not (low or high):
            raise ParameterError(f"bounds must be a lower and an upper one: got {bounds[0]} and {bounds[1]}.")
        if max(abs(low), abs(high)) > _MOST_STEPS or grid.numerator > _MOST_NUMERATOR:
            raise ParameterError("bounds must be at most 2^31 steps of the resolution. Use a coarser one.")
        return cls(grid, low, high)

    @property
    def sensitivity(self) -> Fraction:
        """How far one unit can move a sum."""
        return max(abs(self.low), abs(self.high)) * self.grid.resolution

    @property
    def monotone(self) -> bool:
        """Whether a unit that comes moves all sums the same way."""
        return self.low >= 0 or self.high <= 0

    def check(self, dtype: nw.dtypes.DType, column: str) -> None:
        """Refuse a column whose type cannot be added up exactly on this grid."""
        step = self.grid.resolution
        if not dtype.is_numeric():
            raise ParameterError(f"weights must be numbers: the column {column!r} is {dtype}.")
        if not dtype.is_integer() and (
            step.numerator & (step.numerator - 1) or step.denominator & (step.denominator - 1)
        ):
            raise ParameterError(
                f"resolution must be a power of two for weights that are not whole: got {step}. No other is exact in "
                "an engine's floats. Use resolution='1/128', or a column of whole numbers such as cents."
            )

    def steps(self, column: nw.Expr, dtype: nw.dtypes.DType) -> nw.Expr:
        """⌊weight/resolution⌋ between the bounds, exactly, in the engine's own 64 bits."""
        above, below = self.grid.numerator, self.grid.denominator
        if dtype.is_integer():
            lowest, highest = self.low * above // below, -(-self.high * above // below)
            if dtype == nw.UInt64:
                column = column.clip(upper_bound=max(highest, 0))
            scaled = column.cast(nw.Int64).fill_null(lowest).clip(lowest, highest) * below
            if above != 1:
                # Division of what is not negative is the same in every engine.
                base = lowest * below // above
                scaled = (scaled - base * above) // above + base
            return scaled.cast(nw.Int64).clip(self.low, self.high)
        # The bounds and the factor are dyadic and below 2^53 steps: every operation is exact.
        low, high = (float(bound * self.grid.resolution) for bound in (self.low, self.high))
        column = column.cast(nw.Float64).fill_null(low)
        column = nw.when(column.is_nan()).then(nw.lit(low)).otherwise(column)
        clamped = column.clip(low, high)
        # Floored before it is made smaller, or the smallest would vanish.
        return ((clamped.floor() if above > 1 else clamped) * (below / above)).floor().cast(nw.Int64)

    def counts(self, items: tuple[Any, ...], totals: Any) -> Counts:
        """Sums in steps as what they are."""
        step = self.grid.resolution
        values = totals if step == 1 else tuple(int(total) * step for total in totals)
        return Counts(items=items, values=values, sensitivity=self.sensitivity, monotone=self.monotone)
