"""How records are added up: each clamped to public bounds and floored to a fine grid, the sum floored once more."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np

from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number
from lastbit.values import _floors
from lastbit.values.bounds import parse_bounds
from lastbit.values.grid import LIMIT, Grid
from lastbit.values.missing import missing_among, numbers_of, whole_flat

_FINER: Final = 32
_ROWS: Final = 1 << 18
_MOST_ROWS: Final = 1 << 30
"""Whole numbers that a kernel adds up at a time: as many fit into its sums."""
_INT64: Final = np.dtype(np.int64)
_HASHED: Final = frozenset({int, float, str})
"""The types of most parameters. Numbers of these types are looked up more quickly than they are read."""


@dataclass(frozen=True)
class SumRule:
    """What is public about a sum of clamped records: the grid, and both bounds in steps of it.

    >>> rule = SumRule.of((0, 10), "1/4")
    >>> rule.add([0.6, 7.2, float("nan"), 1e300], None)
    (71, 3, False)
    """

    grid: Grid
    least: int
    most: int

    @staticmethod
    def of(bounds: object, resolution: Number) -> SumRule:
        """Return the rule of public bounds, which must be on the grid of a resolution."""
        if type(bounds) is tuple and len(bounds) == 2 and type(resolution) in _HASHED:
            lower, upper = bounds
            if type(lower) in _HASHED and type(upper) in _HASHED:
                return _find_rule(lower, upper, resolution)
        return _build_rule(bounds, resolution)

    def __reduce__(self) -> tuple[type[SumRule], tuple[Grid, int, int]]:
        return SumRule, (self.grid, self.least, self.most)

    @cached_property
    def furthest(self) -> Fraction:
        """The furthest that a record which comes or goes moves the sum."""
        return max(abs(self.least), abs(self.most)) * self.grid.resolution

    @cached_property
    def fine(self) -> Grid:
        """A grid as fine as fits, 2^32 times as fine if that fits: then 2^32 records lose less than a step.

        Where the bounds are on a binary grid that is as fine, it is that one: floats are floored to it fastest, and
        lose least. Otherwise its steps are 1/q, which take no division. It need not divide the resolution, as the sum
        is floored to the resolution once.
        """
        grid, ends = self.grid, (self.least, self.most)
        size = max(map(abs, ends)) * grid.numerator
        shift = max(0, min(_FINER, LIMIT.bit_length() - 1 - size.bit_length()))
        finer = grid.resolution / (1 << shift)
        binary = Fraction(1, 1 << max(0, math.ceil(1 / finer) - 1).bit_length())
        places = [end * grid.resolution / binary for end in ends]
        if all(place.denominator == 1 and abs(place) <= LIMIT for place in places):
            return Grid(binary)
        return Grid(Fraction(1, grid.denominator << shift))

    @cached_property
    def above(self) -> int:
        """How many steps higher the exact sum of records may lie that are floored to the fine grid."""
        return steps_above(self.fine.resolution, self.grid.resolution)

    @cached_property
    def _by_parts(self) -> tuple[Grid, int, int, int, int]:
        """The fine grid, how many of its steps a step has, as a fraction, and the bounds in fine steps."""
        finer = self.grid.resolution / self.fine.resolution
        return self.fine, finer.numerator, finer.denominator, int(self.least * finer), int(self.most * finer)

    def add(self, values: Any, counted_as: int | None) -> tuple[int, int, bool]:
        """Return the sum of records in steps, the number of records in it, and whether all lie on the grid by type.

        A missing record counts as a step, or is left out where None. The sum is floored once: two sums that are apart
        by a whole number of steps at most are so when they are floored, too.
        """
        flat = numbers_of(values)
        whole = whole_flat(values, flat, self.grid)
        grid, above, below, low, high = (self.grid, 1, 1, self.least, self.most) if whole else self._by_parts
        total, absent = _add_flat(flat, grid, low, high)
        # A missing record was added up as the lowest.
        steps = total * below // above + absent * ((counted_as or 0) - self.least)
        return steps, len(flat) - (absent if counted_as is None else 0), whole


def _add_flat(flat: Any, grid: Grid, low: int, high: int) -> tuple[int, int]:
    """Return the sum in steps of what `numbers_of` gives, each clamped, and how many are missing: these are lowest."""
    if isinstance(flat, np.ndarray):
        if flat.dtype.kind == "f" and (sums := grid.total_of_floats(flat, low, high)) is not None:
            return sums
        if flat.dtype is _INT64 and (scaling := grid.scaling(flat)) is not None:
            flat = np.ascontiguousarray(flat)
            blocks = (flat[i : i + _MOST_ROWS] for i in range(0, len(flat), _MOST_ROWS))
            return sum(_floors.total(block, *scaling, low, high) for block in blocks), 0
    absent = sum(int(np.count_nonzero(missing_among(flat[i : i + _ROWS]))) for i in range(0, len(flat), _ROWS))
    return grid.total(flat, low, high), absent


@lru_cache(maxsize=256, typed=True)
def _find_rule(lower: Number, upper: Number, resolution: Number) -> SumRule:
    return _build_rule((lower, upper), resolution)


def _build_rule(bounds: object, resolution: Number) -> SumRule:
    grid = Grid(resolution)
    least, most = ends(bounds, grid)
    if max(abs(least), abs(most)) * grid.numerator > LIMIT:
        raise ParameterError("resolution must leave at most 2^61 steps to either bound. Use a coarser one.")
    return SumRule(grid, least, most)


def ends(bounds: object, grid: Grid) -> tuple[int, int]:
    """Return public bounds in steps of a grid, which both must be on.

    >>> ends((0, "1/2"), Grid("1/4"))
    (0, 2)
    """
    lower, upper = parse_bounds(bounds)
    return grid.count(lower, "the lower bound"), grid.count(upper, "the upper bound")


def steps_above(floored: Fraction, step: Fraction) -> int:
    """Return how many steps higher an exact sum may lie: one is floored
    off it, and up to `floored` off each of 2^32 records.

    >>> steps_above(Fraction(1, 1 << 32), Fraction(1)), steps_above(Fraction(1), Fraction(1)) == 1 + (1 << 32)
    (2, True)
    """
    return 1 + math.ceil((1 << 32) * floored / step)
