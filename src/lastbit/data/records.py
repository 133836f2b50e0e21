"""The records that count in tables: which of the rows of a unit these are, by a rule that looks at one unit alone."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lastbit.errors import ParameterError
from lastbit.values.contribution_bound import ContributionBound

_MANY: Final = 1 << 16
"""Nobody asks how many more records a unit has than this."""
MOST_POSITIONS: Final = 1 << 62
SHORT_POSITIONS: Final = 40
"""Positions of so many bits share a word of 63 bits with a mark. Longer ones take two words, which is slower."""


class Records(NamedTuple):
    """The records that count, by their position and by how many records their unit has, with those that do not count.

    An engine may say more records than a unit has, where it has more than count; never fewer.

    >>> lots = Records(np.array([0, 5, 5]), np.array([2, 1, 3]), np.array([1, 1, 3]))
    >>> lots.numbers_of_records(1, 9).tolist(), lots.numbers_of_records(3, 9).tolist()
    ([0, 3, 0, 3], [0, 3, 0, 1])
    >>> lots.numbers_of_records(1, 2).tolist()
    [0, 3, 3]
    """

    positions: NDArray[np.int64]
    """Positions among all combinations of values."""
    times: NDArray[np.int64]
    """How many records have this position, of units with so many records."""
    of_unit: NDArray[np.int64]
    """How many records such a unit has."""

    def numbers_of_records(self, most: int, cells: int) -> NDArray[np.int64]:
        """Return how many units have exactly so many records, from 0 on, where at most so many of a unit count.

        `cells` is how many combinations of values there are: nobody has more records, whatever an engine says.
        """
        own = np.minimum(self.of_unit, min(max(_MANY, most + 1), cells))
        totals = np.zeros(int(own.max(initial=0)) + 1, np.int64)
        np.add.at(totals, own, self.times)
        # Each of them is counted once for each record that counts.
        counted = np.minimum(np.arange(len(totals)), most)
        return totals // np.maximum(counted, 1)


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
