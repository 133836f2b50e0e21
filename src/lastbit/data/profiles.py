"""What a table measures of each unit: its number of rows, in how many a value of each column stands, and one number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from lastbit.data.weights import Weights

Integers = NDArray[np.int64]
Measured = Literal["number", "date", "nothing"]
"""Which number a unit has in a column: the mean of its numbers, its latest day since 1970, or none."""

DAY: Final = 86_400 * 10**9
"""The nanoseconds of a day."""


@dataclass(frozen=True)
class ProfileColumn:
    """A column, and what is measured of it beside whether a value stands there."""

    name: str
    measured: Measured = "nothing"
    amount: Weights | None = None
    """The grid of the numbers."""


@dataclass(frozen=True)
class ProfileTask:
    """What to measure of each unit."""

    unit: str
    columns_of_unit: tuple[ProfileColumn, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are read."""
        return (self.unit, *(column.name for column in self.columns_of_unit))


@dataclass(frozen=True, eq=False)
class ColumnProfile:
    """How many of each unit's rows have a value in a column, and the unit's number: private, and never printed."""

    present: Integers = field(repr=False)
    steps: Integers = field(repr=False)
    """0 where a unit has no value, or nothing is measured."""


UnitProfiles = tuple[Integers, list[ColumnProfile]]
"""How many rows each unit has, and what the units have in each column, in the same order."""
