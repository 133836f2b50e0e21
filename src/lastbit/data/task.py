"""The question that a table is asked: which columns, which weights, and how many items of a unit count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lastbit.data.weights import Weights
from lastbit.values.bound import Bound

Occurring = tuple[list[list[Any]], NDArray[np.int64]]
"""The items that occur, column by column, and their counts or sums in steps: the largest first, then in order."""


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

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are read."""
        return (*self.by, *(name for name in (self.unit, self.weight) if name is not None))
