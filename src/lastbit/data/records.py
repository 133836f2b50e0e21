"""The records that count in tables: which of the rows of a unit these are, by a rule that looks at one unit alone."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lastbit.errors import ParameterError
from lastbit.values.contribution_bound import ContributionBound

Records = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Positions among all combinations of values, each once, and how many records have each."""

MOST_POSITIONS: Final = 1 << 62
SHORT_POSITIONS: Final = 40
"""Positions of so many bits share a word of 63 bits with a mark. Longer ones take two words, which is slower."""


@dataclass(frozen=True)
class RecordTask:
    """Which columns make a record, whose it is, and which records of a unit count.

    A record is a combination of values, one of each column. Rows of a unit with the same combination are one record.
    `bound` says how many records of a unit count: those with the smallest hashes. `order` is a column that says which
    rows of a unit are the latest: only these are looked at. `shown` says that a missing value is a value of its own,
    the last of its column; otherwise such a row is left out.
    """

    by: tuple[str, ...]
    sizes: tuple[int, ...]
    """How many values each column has, with that for a missing one where it is shown."""
    unit: str | None = None
    bound: ContributionBound | None = None
    order: str | None = None
    shown: bool = False

    def __post_init__(self) -> None:
        if prod(self.sizes) >= MOST_POSITIONS:
            raise ParameterError(
                f"the columns must have fewer than 2^62 combinations of values: {len(self.by)} columns have more. "
                "Leave a column out, or list fewer values. Nothing was read."
            )

    @property
    def position_bits(self) -> int:
        """How many bits a position has."""
        return max(1, (prod(self.sizes) - 1).bit_length())

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are read."""
        return (*self.by, *(name for name in (self.unit, self.order) if name is not None))
