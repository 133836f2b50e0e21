"""`TablesOfPeople`: published tables of the people counted, read as tables of all people.

A person counts in a few records only, drawn by lot. Whoever has a record that counts in some cells is there. A person
with several records is in a sum at least once, and whoever has more records than count may be missing, by a lot that
the spread is known for. From all cells together nobody is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from lastbit.mechanisms.tables.release import ConsistentTables

Integers = NDArray[np.int64]

_ROUNDING: Final = 2.0**-40
"""Floats of tables are nearer to the exact numbers than this part of them."""


class KnownCut(Protocol):
    """What is known about the people with more records than count, at a level."""

    @property
    def counted_level(self) -> Fraction:
        """The level of the intervals of the people counted, on which those of all people stand."""

    def highest(self, counted: int) -> int:
        """Return the most people of whom so many are counted, or fewer."""


@dataclass(frozen=True, eq=False, repr=False)
class TablesOfPeople(ConsistentTables):
    """The tables of one release, as they are of all people: value, low and high of a cell or a total hold for them.

    Those of the people counted, which add up, are named bounded_value, bounded_low and bounded_high.

    >>> import pandas as pd, lastbit as lb
    >>> visits = pd.DataFrame({"who": [*range(900)] * 2, "place": ["a"] * 900 + ["b"] * 900})
    >>> answer = lb.ask("tables", visits, unit="who", by={"place": ["a", "b"]}, ways=1, rho=20)
    >>> total = answer.total({"place": "a"})
    >>> total.bounded_value < 600, total.interval()[1] > 900
    (True, True)
    """

    counted: str = field(compare=False)
    """What the numbers of the machine's own table are called."""
    everybody: str = field(compare=False)
    """What all people are called."""
    cut_at: Callable[[Fraction], KnownCut] | None = field(compare=False)
    """What is known at a level about the people with more records than count; None where nobody measured it."""

    @property
    def of_people(self) -> TablesOfPeople:
        """These tables."""
        return self

    def between(
        self,
        numbers: NDArray[np.float64],
        cells: tuple[int, int],
        level: Fraction,
        half_width: Callable[[Fraction], Fraction],
    ) -> tuple[Integers, Integers | None]:
        """Return the fewest and the most people of each number: of a sum of so many cells, of a table of so many.

        `half_width` is how far a number of the people counted is off at a level. Nobody knows the most where nobody
        measured how many people have more records than count.
        """
        known, (some, of) = self.cut_at and self.cut_at(level), cells
        within = float(half_width(known.counted_level if known else level))
        slack = _ROUNDING * (np.abs(numbers) + within)
        times = min(self.design.most_records, prod(self.design.shape.sizes) // of * some)
        fewest = np.maximum(np.ceil((numbers - within - slack) / times), 0).astype(np.int64)
        if some == of:
            highest: Callable[[int], int] = int
        elif known is None:
            return fewest, None
        else:
            highest = known.highest
        # Many cells have the same number.
        counted, places = np.unique(np.maximum(np.floor(numbers + within + slack), 0), return_inverse=True)
        most = np.array([highest(int(number)) for number in counted], np.int64)[places]
        return fewest, np.maximum(fewest, most)
