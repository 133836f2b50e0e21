"""Weights: the amount that a row adds to a sum, in whole steps between two public bounds.

Rows are floored to a grid that is much finer than the resolution, and added there. Each sum is floored to the
resolution once, at the end. That keeps the sensitivity: one unit moves an exact sum by at most the larger bound, which
is a whole number k of steps of the resolution, and where a <= b + k, floor(a) <= floor(b + k) = floor(b) + k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lastbit.data.column_types import DECIMAL, FLOAT, INTEGER, NUMBERS, ColumnType
from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, number
from lastbit.values.counts import Counts
from lastbit.values.grid import LIMIT, Grid, common
from lastbit.values.missing import LEAVE_OUT, Missing, step_of_missing
from lastbit.values.statistic import steps_above

_MOST_STEPS: Final = 1 << 31
"""Bounds reach this far at most, so that 2^32 of them add up within 64 bits in any engine."""

_MOST_NUMERATOR: Final = 1 << 16

_FINEST: Final = 52
"""The bounds are at most 2^52 steps of the finest grid: a float tells so many apart."""

_FINER: Final = 33
"""Steps are 2^33 times as fine if that fits: then 2^32 rows, each floored by up to two steps of them, lose a step."""

_MOST_PLACES: Final = 76
"""Digits after the point that a decimal of any engine has at most."""

_MOST_DIGITS: Final = 37
"""So many digits have a decimal's part after the point and the denominator of a grid together: engines hold 38."""

_MOST_ODD: Final = 1 << 64
"""The odd part of a denominator is below this, so that 128 bits hold its product with 2^52."""


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
    parts: int = 1
    """So many steps of the grid are one step of the resolution, to which sums are floored."""
    above: int = 0
    """How many steps of the resolution an exact sum may lie above its floor; 0 where sums are exact."""

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
    def resolution(self) -> Fraction:
        """The step that sums are floored to."""
        return self.grid.resolution * self.parts

    @property
    def monotone(self) -> bool:
        """Whether a unit that comes moves all sums the same way."""
        return self.low >= 0 or self.high <= 0

    def check(self, column_type: ColumnType, column: str) -> None:
        """Refuse a column whose type cannot be added up."""
        if column_type not in NUMBERS:
            raise ParameterError(
                f"weights must be numbers: the column {column!r} holds {column_type.description}. "
                "Name a column of numbers."
            )

    def refine(self, column_type: ColumnType, places: int = 0) -> Weights:
        """Return the same weights on the finer grid that rows of this type are floored to.

        Whole numbers, and decimals with few `places` after the point, lie on the grid. Others lose less than a step of
        it. The grid has steps of 1/q, and the bounds and the resolution are on it.

        >>> weights = Weights.of((0, 5), "1/2")
        >>> weights.refine(INTEGER).above, weights.refine(DECIMAL, 2).above, weights.refine(FLOAT).above
        (0, 1, 2)
        """
        step, furthest = self.grid.resolution, max(abs(self.low), abs(self.high)) * self.grid.numerator
        if column_type is INTEGER:
            return self._split(step.numerator, above=0 if step.numerator == 1 else 1)
        if column_type is DECIMAL:
            parts = int(step / common(step, Fraction(1, 10**places)))
            exact = self._split(parts, above=0 if parts == 1 else 1)
            if max(abs(exact.low), abs(exact.high)) <= 1 << _FINEST and exact.places(places) == places:
                return exact
        finer = min(_FINER, _FINEST - (furthest - 1).bit_length())
        fine = self._split(step.numerator << finer)
        lost = fine.grid.resolution + (Fraction(1, 10 ** fine.places(places)) if fine.places(places) < places else 0)
        if column_type is FLOAT and fine.binary is not None:
            if _odd(step.denominator) >= _MOST_ODD:
                raise ParameterError(
                    f"resolution must have a shorter denominator for weights that are not whole: got {step}. Use "
                    "resolution='1/128', or a column of whole numbers such as cents."
                )
            lost += fine.binary.resolution
        return replace(fine, above=steps_above(lost, step))

    @property
    def most_above(self) -> int:
        """How many steps of the resolution an exact sum may lie above its floor, whatever numbers the column holds."""
        return max(self.refine(FLOAT).above, self.refine(DECIMAL, _MOST_PLACES).above)

    def _split(self, parts: int, above: int = 0) -> Weights:
        """Return the same weights on a grid with so many steps in one of the resolution."""
        low, high = self.low * parts, self.high * parts
        missing = None if self.missing is None else self.missing * parts
        return Weights(Grid(self.grid.resolution / parts), low, high, missing, parts, above)

    @property
    def binary(self) -> Grid | None:
        """The grid of powers of two that floats are floored to first; None where the grid itself is such a grid.

        An engine's floats are exact on no other grid. The bounds are at most 2^52 steps of it.
        """
        if _odd(self.grid.denominator) == 1:
            return None
        bound = self.sensitivity
        power = bound.numerator.bit_length() - bound.denominator.bit_length() + 1
        return Grid(Fraction(2) ** (power - _FINEST))

    def places(self, places: int) -> int:
        """Return how many of a decimal's digits after the point are kept: as many as engines have room for.

        The others are floored off, which loses less than a step of the grid.
        """
        digits = len(str(self.grid.denominator))
        return min(places, max(digits, _MOST_DIGITS - digits))

    def fits(self, scale: int) -> bool:
        """Tell whether 64 bits hold the bounds as decimals with so many digits after the point, with room to spare."""
        return max(abs(self.low), abs(self.high), 1) * (self.grid.resolution * Fraction(10) ** scale).numerator < LIMIT

    def steps_of(self, values: Any, missing: NDArray[np.bool_] | None, scale: int = 0) -> NDArray[np.int64]:
        """Return weights in steps, exactly: whole numbers of any size, floats, or decimals without their point."""
        kept = self.places(scale)
        if kept < scale:
            values, scale = [int(value) // 10 ** (scale - kept) for value in values], kept
        step = self.grid.resolution * Fraction(10) ** scale
        binary = self.binary if isinstance(values, np.ndarray) and values.dtype.kind == "f" else None
        if binary is not None:
            # As engines do: to the binary grid first, between the bounds, and to this one in whole numbers.
            values = np.clip(binary.steps(values), -(1 << _FINEST), 1 << _FINEST).astype(object)
            step = self.grid.resolution / binary.resolution
        if binary is None and self.fits(scale):
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
        """Return sums in steps of the resolution as Counts."""
        step = self.resolution
        values = totals if step == 1 else tuple(int(total) * step for total in totals)
        return Counts(items=items, values=values, most_items=most_items, monotone=self.monotone, **self.facts)

    @property
    def facts(self) -> dict[str, Any]:
        """How far one unit moves the sums, the grid that the sums are on, and how far the exact sums may lie above."""
        return {"sensitivity": self.sensitivity, "resolution": self.resolution, "above": self.above}


def _odd(number: int) -> int:
    """Return the largest odd factor of a number."""
    return number // (number & -number)
