"""`Scheme`: which tables are measured and how precisely, and the variances and covariances that follow.

A table is a tuple of axes, which are places in a list of sizes. The residual of a table B is what B tells beyond its
own sums: B centred along every axis. A measured table A that contains B, with noise of variance s on every cell, gives
the residual of B with covariance s·(product of the sizes of A outside of B)·P, where P centres every axis of B.
Residuals of different tables are orthogonal, so each is estimated by itself, as the mean of all that measure it,
weighted by precision. This is the generalised least squares of all measured tables together (ResidualPlanner, Xiao, He,
Zhang and Kifer 2023); tests/laws/test_consistent_tables.py compares the two in fractions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import prod
from typing import Any

Axes = tuple[int, ...]
"""The axes of a table, in ascending order; none for the total of everything."""


def subsets(axes: Axes) -> Iterator[Axes]:
    """Yield every table that a table can be summed down to, the total first and the table itself last.

    >>> list(subsets((0, 2)))
    [(), (0,), (2,), (0, 2)]
    """
    for size in range(len(axes) + 1):
        yield from combinations(axes, size)


def contains(table: Axes, part: Axes) -> bool:
    """Return whether a table can be summed down to another.

    >>> contains((0, 2), (2,)), contains((0, 2), (1,))
    (True, False)
    """
    return set(part) <= set(table)


@dataclass(frozen=True)
class Scheme:
    """The sizes of all axes, and the precision of each measured table: 1/variance of the noise of one cell.

    >>> scheme = Scheme((2, 3), {(0, 1): Fraction(1), (0,): Fraction(1, 2)})
    >>> scheme.weights((0,)), scheme.variance((0,))
    ({(0, 1): Fraction(2, 5), (0,): Fraction(3, 5)}, Fraction(6, 5))
    """

    sizes: tuple[int, ...]
    precisions: Mapping[Axes, Fraction]

    def cells(self, table: Axes) -> int:
        """Return how many cells a table has."""
        return prod(self.sizes[axis] for axis in table)

    def covers(self, table: Axes) -> bool:
        """Return whether some measured table contains this one: only then can it be estimated."""
        return any(contains(measured, table) for measured in self.precisions)

    def weights(self, part: Axes) -> dict[Axes, Fraction]:
        """Return the weight of each measured table in the residual of a table: they add up to 1."""
        if part not in self._weights:
            whole = self._precision(part)
            self._weights[part] = {
                measured: precision / whole for measured, precision in self._precisions(part).items()
            }
        return self._weights[part]

    def residual_variance(self, part: Axes) -> Fraction:
        """Return the factor V of the covariance V·P of an estimated residual."""
        return 1 / self._precision(part)

    def variance(self, table: Axes) -> Fraction:
        """Return the variance of each cell of a table. All cells of a table have the same."""
        place = (0,) * len(table)
        return self.covariance(table, place, table, place)

    def covariance(self, table: Axes, cell: Sequence[int], other: Axes, other_cell: Sequence[int]) -> Fraction:
        """Return the covariance of two cells, each with its places along the axes of its table.

        For noise with variance 1/precision it is exact. The variance of discrete Gaussian noise is a little below its
        parameter, so that for such noise the variance of one number is an upper bound.

        >>> scheme = Scheme((2, 3), {(0, 1): Fraction(1)})
        >>> scheme.covariance((0, 1), (0, 0), (0, 1), (0, 0)), scheme.covariance((0,), (1,), (0, 1), (1, 2))
        (Fraction(1, 1), Fraction(1, 1))
        """
        places, others = dict(zip(table, cell, strict=True)), dict(zip(other, other_cell, strict=True))
        common = tuple(axis for axis in table if axis in others)
        same = {axis: (places[axis] == others[axis]) - Fraction(1, self.sizes[axis]) for axis in common}
        both = self.cells(table) * self.cells(other)
        return sum(
            (
                self.residual_variance(part) * prod(same[axis] for axis in part) * self.cells(part) ** 2 / both
                for part in subsets(common)
            ),
            Fraction(0),
        )

    def coefficients(self, table: Axes, *, as_floats: bool = False) -> dict[Axes, list[tuple[Any, int]]]:
        """Return how much of the noise of each measured table a cell of a
        table has: pairs of a coefficient and how often.

        The coefficient of a cell of the noise depends only on the axes along which both cells have the same place.
        Floats are much faster. The coefficient of the cell itself is a sum of positive terms, each at least 2^-axes of
        what it is for any other cell: so no sum of floats is off by more than some 2^axes·2^-50 of it.

        >>> Scheme((2, 2), {(0, 1): Fraction(1)}).coefficients((0,))
        {(0, 1): [(Fraction(0, 1), 2), (Fraction(1, 1), 2)]}
        """
        number: Any = float if as_floats else Fraction
        result = {}
        for measured in self.precisions:
            common = tuple(axis for axis in table if axis in measured)
            parts = list(subsets(common))
            scale = {
                part: number(self.weights(part)[measured] * self.cells(part) / self.cells(table)) for part in parts
            }
            part_of = {axis: number(1) / self.sizes[axis] for axis in common}
            outside = self.cells(tuple(axis for axis in measured if axis not in common))
            pairs = []
            for alike in parts:
                signs = {axis: (axis in alike) - part_of[axis] for axis in common}
                value = sum((scale[part] * prod(signs[axis] for axis in part) for part in parts), number(0))
                times = outside * prod(self.sizes[axis] - 1 for axis in common if axis not in alike)
                pairs.append((value, times))
            result[measured] = pairs
        return result

    def _precisions(self, part: Axes) -> dict[Axes, Fraction]:
        """Return the precision that each measured table has for the residual of a table."""
        return {
            measured: precision * self.cells(part) / self.cells(measured)
            for measured, precision in self.precisions.items()
            if contains(measured, part)
        }

    def _precision(self, part: Axes) -> Fraction:
        if part not in self._sums:
            self._sums[part] = sum(self._precisions(part).values(), Fraction(0))
        return self._sums[part]

    @cached_property
    def _weights(self) -> dict[Axes, dict[Axes, Fraction]]:
        return {}

    @cached_property
    def _sums(self) -> dict[Axes, Fraction]:
        return {}
