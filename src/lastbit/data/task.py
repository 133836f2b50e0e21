"""The question that a table is asked: which columns, which weights, and how many items of a unit count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lastbit.data.weights import Weights
from lastbit.values.bound import Bound

Occurring = tuple[list[list[Any]], NDArray[np.int64]]
"""The items that occur, column by column, and their counts or sums in steps: the largest first, then in order."""

Per = Literal["mean", "total", "latest", "row"]
"""Which number a unit has: the mean of its rows, their total, the latest; or each of its rows is a number."""

WAYS: tuple[str, ...] = get_args(Per)


@dataclass(frozen=True)
class Task:
    """What to count.

    >>> Task(("diagnosis", "ward"), unit="patient").columns
    ('diagnosis', 'ward', 'patient')
    """

    by: tuple[str, ...]
    """The columns of the items."""
    unit: str | None = None
    weight: str | None = None
    amount: Weights | None = None
    """The grid and the bounds of the weights."""
    bound: Bound | None = None
    """How many items one unit counts in; there is a unit then."""
    per: Per = "total"
    """For `numbers`: which number stands for the rows of a unit."""
    order: str | None = None
    """The column that says which row of a unit is the latest."""
    ends: tuple[int, int] = (0, 0)
    """The bounds of a unit's number, in steps. Rows of a total are clamped further out."""

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are read."""
        return (*self.by, *(name for name in (self.unit, self.weight, self.order) if name is not None))
