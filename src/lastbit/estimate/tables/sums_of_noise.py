"""The noise of a published number: of a cell of a table, and of any union of its cells."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lastbit.estimate.tables.scheme import Axes, Scheme, subsets
from lastbit.estimate.tables.spread import Spread

_FEW_AXES: Final = 8
"""Factors of a table of so many axes are added up as floats: off by less than 2^axes·2^-48 of the largest factor."""


def cell_spread(scheme: Scheme, table: Axes) -> Spread:
    """Return the noise of one cell of a table. All cells of a table have the same.

    >>> scheme = Scheme((2, 3), {(0, 1): Fraction(1, 100), (0,): Fraction(1, 100)})
    >>> float(cell_spread(scheme, (0,)).variance), float(scheme.variance((0,)))
    (75.0, 75.0)
    """
    factors, times, variances = [], [], []
    for measured, pairs in scheme.coefficients(table, as_floats=len(table) <= _FEW_AXES).items():
        for factor, often in pairs:
            factors.append(float(factor))
            times.append(often)
            variances.append(float(1 / scheme.precisions[measured]))
    return Spread(factors, times, variances, scheme.variance(table))


def lone_cell(scheme: Scheme, table: Axes) -> Axes | None:
    """Return the measured table whose noise a cell of a table has as it
    was drawn, one number and no other; None where not.

    >>> lone_cell(Scheme((2, 3), {(0, 1): Fraction(1)}), (0, 1)), lone_cell(Scheme((2, 3), {(0, 1): Fraction(1)}), (0,))
    ((0, 1), None)
    """
    # Every measured table tells the total, so that with a second one each cell has noise of both.
    return table if set(scheme.precisions) == {table} else None


def union_spread(scheme: Scheme, table: Axes, chosen: NDArray[np.bool_]) -> Spread:
    """Return the noise of the sum of some cells of a table.

    With q(B) the chosen cells, summed down to B and centred in whole numbers, the noise of a measured table A has the
    factor sum of weight(A, B)·q(B)/cells over all B inside both; and the variance is sum of V(B)·|q(B)|²/cells².

    >>> scheme = Scheme((2, 3), {(0, 1): Fraction(1, 100)})
    >>> float(union_spread(scheme, (0, 1), np.array([[True, True, False], [False, False, True]])).variance)
    300.0
    """
    cells = scheme.cells(table)
    centred: dict[Axes, NDArray[np.int64]] = {}
    variance = Fraction(0)
    for part in subsets(table):
        outside = tuple(place for place, axis in enumerate(table) if axis not in part)
        result = np.asarray(chosen.sum(axis=outside, dtype=np.int64))
        for place, axis in enumerate(part):
            result = result * scheme.sizes[axis] - result.sum(axis=place, keepdims=True)
        centred[part] = result
        variance += scheme.residual_variance(part) * _squares(result) / cells**2
    factors, times, variances = [], [], []
    for measured, precision in scheme.precisions.items():
        common = tuple(axis for axis in table if axis in measured)
        shape = tuple(scheme.sizes[axis] for axis in common)
        own = np.zeros(shape)
        for part in subsets(common):
            weight = float(scheme.weights(part)[measured] / cells)
            own += weight * centred[part].reshape([scheme.sizes[axis] if axis in part else 1 for axis in common])
        factors.append(own.ravel())
        times.append(np.full(own.size, scheme.cells(measured) // scheme.cells(common), np.int64))
        variances.append(np.full(own.size, float(1 / precision)))
    return Spread(np.concatenate(factors), np.concatenate(times), np.concatenate(variances), variance)


def _squares(values: NDArray[np.int64]) -> int:
    """Return the sum of squares, exact: in Python's own numbers where 64 bits may not hold it."""
    most = int(np.abs(values).max(initial=0))
    if most * most * max(values.size, 1) < 1 << 62:
        return int((values * values).sum())
    return sum(value * value for value in values.ravel().tolist())
