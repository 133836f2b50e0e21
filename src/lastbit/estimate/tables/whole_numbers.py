"""Tables of non-negative whole numbers that still add up: a second view for reports, which is biased.

Post-processing of published tables. A number below zero becomes zero or more, so that others must become smaller: no
interval holds for these numbers, and no mean of them is right. The total comes first, then tables of one axis, then
each table of two axes between its own sums, which is always possible. Larger tables are sums of one table of all axes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lastbit.errors import ParameterError
from lastbit.estimate.tables.scheme import Axes, contains

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]

_MOST_CELLS: Final = 10**6
"""The cells of a table of all axes, where tables of more than two axes are asked for."""
_ROUNDS: Final = 50
"""How often rows and columns are scaled to their sums."""


def whole_tables(sizes: Sequence[int], tables: Sequence[Axes], values: Callable[[Axes], Floats]) -> dict[Axes, Numbers]:
    """Return the tables, and all that they add up to, in non-negative whole numbers near these values.

    >>> result = whole_tables((2, 2), [(0, 1)], lambda table: np.full((2,) * len(table), 1.4 * 2 ** (2 - len(table))))
    >>> result[()].item(), result[(0,)].tolist(), result[0, 1].sum().item()
    (6, [3, 3], 6)
    """
    largest = [table for table in tables if not any(contains(other, table) for other in tables if other != table)]
    if max(map(len, tables), default=0) > 2:
        return _from_one_table(sizes, tables, largest, values)
    total = max(0, round(float(values(()))))
    result: dict[Axes, Numbers] = {(): np.array(total)}
    for axis in sorted({axis for table in tables for axis in table}):
        result[(axis,)] = shared_out(values((axis,)), total)
    for table in tables:
        if len(table) == 2:
            result[table] = between_sums(values(table), result[table[:1]], result[table[1:]])
    return result


def shared_out(values: Floats, total: int) -> Numbers:
    """Return whole numbers that add up to a total, proportional to the values above zero: the largest remainders go up.

    >>> shared_out(np.array([2.5, -1.0, 1.5]), 4).tolist()
    [3, 0, 1]
    """
    above = np.maximum(values, 0.0).ravel()
    weight = above.sum()
    ideal = above * (total / weight) if weight > 0 else np.full(above.shape, total / max(above.size, 1))
    down = np.floor(ideal).astype(np.int64)
    # Floats may have floored a whole number too low or too high: the rest is shared out whatever its sign.
    missing = total - int(down.sum())
    order = np.argsort(down - ideal, kind="stable")
    if missing < 0:
        order = order[::-1][down[order[::-1]] > 0]
    for place in np.resize(order, abs(missing)) if abs(missing) else ():
        down[place] += 1 if missing > 0 else -1
    result: Numbers = down.reshape(np.shape(values))
    return result


def between_sums(values: Floats, rows: Numbers, columns: Numbers) -> Numbers:
    """Return whole numbers near these values with exactly these sums of rows and columns, which have one total.

    >>> between_sums(np.array([[1.2, -0.4], [0.5, 0.7]]), np.array([1, 1]), np.array([2, 0])).tolist()
    [[1, 0], [1, 0]]
    """
    near = np.maximum(values, 1e-3)
    for _ in range(_ROUNDS):
        near *= _ratio(columns, near.sum(axis=0))[None, :]
        near *= _ratio(rows, near.sum(axis=1))[:, None]
    # No column above its sum, so that all that is missing is missing: nothing has to be taken away.
    near *= np.minimum(1.0, _ratio(columns, near.sum(axis=0)))[None, :] * (1 - 1e-12)
    result: Numbers = np.floor(near).astype(np.int64)
    left_rows, left_columns = rows - result.sum(axis=1), columns - result.sum(axis=0)
    apart = near - result
    for row in np.flatnonzero(left_rows):
        for column in np.argsort(-apart[row], kind="stable")[: int(left_rows[row])]:
            if left_columns[column] > 0:
                result[row, column] += 1
                left_rows[row] -= 1
                left_columns[column] -= 1
    for row in np.flatnonzero(left_rows):  # wherever there is room
        for column in np.flatnonzero(left_columns):
            more = min(left_rows[row], left_columns[column])
            result[row, column] += more
            left_rows[row] -= more
            left_columns[column] -= more
    return result


def _ratio(wanted: Numbers, present: Floats) -> Floats:
    return np.divide(wanted, present, out=np.zeros(len(present)), where=present > 0)


def _from_one_table(
    sizes: Sequence[int], tables: Sequence[Axes], largest: Sequence[Axes], values: Callable[[Axes], Floats]
) -> dict[Axes, Numbers]:
    axes = tuple(sorted({axis for table in tables for axis in table}))
    shape = tuple(sizes[axis] for axis in axes)
    if prod(shape) > _MOST_CELLS:
        raise ParameterError(
            f"whole numbers of tables of three columns or more need one table of all columns, of at most "
            f"{_MOST_CELLS:,} cells: got {prod(shape):,}. Ask for tables of two columns, or leave a column out."
        )
    total = max(0, round(float(values(()))))
    near = np.full(shape, max(total, 1) / prod(shape))
    wanted = {table: np.maximum(values(table), 1e-3) for table in largest}
    for _ in range(_ROUNDS):
        for table, target in wanted.items():
            outside = tuple(place for place, axis in enumerate(axes) if axis not in table)
            present = near.sum(axis=outside, keepdims=True)
            near *= np.divide(target.reshape(present.shape), present, out=np.zeros(present.shape), where=present > 0)
    whole = shared_out(near, total)

    def add_up(table: Axes) -> Numbers:
        return np.asarray(whole.sum(axis=tuple(place for place, axis in enumerate(axes) if axis not in table)))

    inside = {(), *((axis,) for axis in axes), *tables}
    return {table: add_up(table) for table in sorted(inside, key=lambda table: (len(table), table))}


def add_up(tables: Mapping[Axes, Numbers]) -> bool:
    """Return whether every table is the sum of every larger one.

    >>> add_up({(): np.array(3), (0,): np.array([1, 2])}), add_up({(): np.array(3), (0,): np.array([1, 1])})
    (True, False)
    """
    return all(
        np.array_equal(larger.sum(axis=tuple(i for i, axis in enumerate(table) if axis not in part)), smaller)
        for table, larger in tables.items()
        for part, smaller in tables.items()
        if part != table and contains(table, part)
    )
