"""From measured tables to tables that agree: the closed form of least squares, on arrays of whole numbers.

An estimated table of cells in a grid of 1/2^bits is rebuilt from its residuals. The residual of B is a weighted mean of
measured tables summed down to B, centred along each axis. The mean is rounded to the grid *before* it is centred, and
centring multiplies by the sizes of the axes instead of dividing: so all numbers are whole, and a table W has values
that are whole numbers over 2^bits·(number of cells of W). Every sum of such values agrees exactly with the value of the
smaller table, however the means were rounded. Where all tables agree already, nothing is rounded: they come back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lastbit.estimate.tables.scheme import Axes, Scheme, contains, subsets

Array = NDArray[Any]

_MOST_BITS: Final = 20
_ROOM: Final = 1 << 62
"""Whole numbers below this fit in int64 with one addition to spare."""
_SLACK: Final = Fraction(1, 1 << 8)
"""How much further than half a step a mean of floats may be rounded, in steps."""
_FAR: Final = 1 << 45
"""Differences of so many steps are not weighted as floats: they would be off by more than that."""


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """Tables that agree, from noisy tables of whole numbers: one array for each measured table.

    With `exact`, means are fractions and are not rounded: the exact least squares, in Python's own numbers.

    >>> scheme = Scheme((2, 2), {(0, 1): Fraction(1), (0,): Fraction(1)})
    >>> noisy = {(0, 1): np.array([[5, 1], [2, 2]]), (0,): np.array([9, 3])}
    >>> tables = Reconstruction(scheme, noisy)
    >>> [str(value) for value in tables.values((0,)).tolist()], str(tables.values(()).item())
    (['8', '3495253/1048576'], '11883861/1048576')
    >>> str(Reconstruction(scheme, noisy, exact=True).values(()).item())
    '34/3'
    """

    scheme: Scheme
    measured: Mapping[Axes, Array]
    exact: bool = False

    def numerators(self, table: Axes) -> Array:
        """Return the values of a table as whole numbers, over `denominator(table)`; with `exact`, fractions over it."""
        shape = self._shape(table)
        own = self._centre(table)
        result: Array = own.copy() if own.shape == shape else np.broadcast_to(own, shape).copy()
        for part in subsets(table):
            if part != table:
                result += self._centre(part).reshape(self._within(part, table))
        return result

    def denominator(self, table: Axes) -> int:
        """Return what the numerators of a table are divided by."""
        return self.scheme.cells(table) << self.bits

    def values(self, table: Axes) -> Array:
        """Return the values of a table as fractions."""
        below = self.denominator(table)
        numerators = self.numerators(table)
        result = np.empty(numerators.size, object)
        result[:] = [Fraction(value) / below for value in numerators.ravel().tolist()]
        return result.reshape(numerators.shape)

    def floats(self, table: Axes) -> NDArray[np.float64]:
        """Return the values of a table as floats: whole numbers are
        exact, others are rounded by less than 2^-51 of them.
        """
        numerators = self.numerators(table)
        if numerators.dtype == object:
            below = self.denominator(table)
            return np.array([float(Fraction(value) / below) for value in numerators.ravel()]).reshape(numerators.shape)
        result: NDArray[np.float64] = numerators / np.float64(self.denominator(table))
        return result

    def error(self, table: Axes) -> Fraction:
        """Return how far a value of a table may be from exact least squares, because means were rounded."""
        if self.exact:
            return Fraction(0)
        step = (Fraction(1, 2) + _SLACK) / (1 << self.bits)
        plural = [part for part in subsets(table) if len(self._containing(part)) > 1]
        sizes, cells = self.scheme.sizes, self.scheme.cells
        # Centring along an axis of n places at most multiplies the largest number by 2 - 2/n.
        most = (prod(2 - Fraction(2, sizes[axis]) for axis in part) * cells(part) for part in plural)
        return step * sum(most, Fraction(0)) / cells(table)

    @cached_property
    def bits(self) -> int:
        """The fineness of the grid: 2^-20 of the largest deviation of the noise, where 64 bits have room for that."""
        if self.exact:
            return 0
        widest = 1 / min(self.scheme.precisions.values(), default=Fraction(1))
        fine = _MOST_BITS - max(0, int(widest).bit_length() // 2)
        return max(0, min(fine, (_ROOM // self._largest).bit_length() - 1))

    @cached_property
    def _largest(self) -> int:
        """No whole number of a table is above this before the grid is made finer.

        The residual of B, times the cells of B, is at most 2^axes times the largest sum of a whole measured table; and
        a table of k axes adds up 3^k of these at most.
        """
        sums = (_largest(array) * array.size for array in self.measured.values())
        axes = max(map(len, self.measured), default=0)
        return (max(sums, default=0) + 1) * int(3**axes)

    @cached_property
    def _fits(self) -> bool:
        """Whether int64 holds all whole numbers that come up."""
        return not self.exact and self._largest << self.bits <= _ROOM

    def residual(self, part: Axes) -> Array:
        """Return the mean of all that measures a table, in steps of the grid, not centred yet.

        The differences of measured tables are weighted as floats and added up: with n of them, each at most d steps,
        the sum is off by less than (n + 2)·2^-53·d steps. Where that may be 2^-8 of a step, fractions are taken.
        """
        weights = self.scheme.weights(part)
        first, *others = sorted(weights, key=lambda measured: -weights[measured])
        start = self._add_up(first, part)
        if self.exact:
            mean: Array = start * weights[first]
            for other in others:
                mean = mean + self._add_up(other, part) * weights[other]
            return np.asarray(mean, object)
        steps = np.asarray(start * (1 << self.bits), start.dtype)
        if not others:
            return steps
        apart = {other: self._add_up(other, part) - start for other in others}
        furthest = max(map(_largest, apart.values()))
        if not self._fits or furthest * (len(others) + 2) << self.bits >= _FAR:
            whole = sum(array.astype(object) * weights[other] for other, array in apart.items())
            rounded = [round(Fraction(value) * (1 << self.bits)) for value in np.ravel(whole).tolist()]
            return np.asarray(steps + np.array(rounded, steps.dtype).reshape(steps.shape))
        off = np.zeros(start.shape)
        for other, array in apart.items():
            off += array * float(weights[other])
        return np.asarray(steps + np.rint(off * (1 << self.bits)).astype(np.int64))

    def _centre(self, part: Axes) -> Array:
        """Return the residual of a table, times the number of its cells:
        whole numbers that add up to 0 along each axis.
        """
        if part not in self._keep:
            result = self.residual(part)
            for axis in range(len(part)):
                result = result * self.scheme.sizes[part[axis]] - result.sum(axis=axis, keepdims=True)
            self._keep[part] = np.asarray(result, None if self._fits else object)
        return self._keep[part]

    def _add_up(self, measured: Axes, part: Axes) -> Array:
        """Return a measured table, summed down."""
        if (measured, part) not in self._sums:
            if part == measured:
                array = self.measured[measured]
                result = array if self._fits else array.astype(object)
            else:
                # One axis at a time, so that all sums of one table share their way.
                missing = next(axis for axis in measured if axis not in part)
                larger = tuple(axis for axis in measured if axis in part or axis == missing)
                result = np.asarray(self._add_up(measured, larger).sum(axis=larger.index(missing)))
            self._sums[measured, part] = result
        return self._sums[measured, part]

    def _containing(self, part: Axes) -> list[Axes]:
        return [measured for measured in self.measured if contains(measured, part)]

    def _shape(self, table: Axes) -> tuple[int, ...]:
        return tuple(self.scheme.sizes[axis] for axis in table)

    def _within(self, part: Axes, table: Axes) -> tuple[int, ...]:
        """Return the shape of a smaller table, with an axis of length 1 where the larger one has more."""
        return tuple(self.scheme.sizes[axis] if axis in part else 1 for axis in table)

    @cached_property
    def _keep(self) -> dict[Axes, Array]:
        return {}

    @cached_property
    def _sums(self) -> dict[tuple[Axes, Axes], Array]:
        return {}


def _largest(array: Array) -> int:
    return max(abs(int(array.max())), abs(int(array.min()))) if array.size else 0
