"""`TableTotal`: the total of any cells of a table, with its interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lastbit.estimate.tables.scheme import Axes
from lastbit.estimate.tables.sums_of_noise import union_spread
from lastbit.exact.numbers import Number, probability

if TYPE_CHECKING:
    from lastbit.mechanisms.tables.release import ConsistentTables

_Ends = Callable[[Fraction], tuple[Fraction, Fraction | None]]
"""The interval of all people, at a level."""


@dataclass(frozen=True)
class TableTotal:
    """The total of some cells of a table, its variance, and its interval.

    >>> import lastbit as lb
    >>> release = lb.Tables(domain={"a": "xy", "b": "uvw"}, ways=2, rho=2).release([[9, 8, 7], [6, 5, 4]])
    >>> total = release.table("a", "b").total([("x", "u"), ("y", "w")])
    >>> total.cells, total.value == release.table("a", "b").values[[0, 1], [0, 2]].sum()
    (2, True)
    """

    bounded_value: Fraction
    """The total of the machine's own table: of the people counted, where a bound leaves some out."""
    variance: Fraction
    """The variance of the noise, or slightly more."""
    cells: int
    _half_width: Callable[[Fraction], Fraction] = field(repr=False, compare=False)
    _people: _Ends | None = field(default=None, repr=False, compare=False)

    @property
    def value(self) -> Fraction:
        """The total; where a bound leaves people out, the nearest number in the interval of all people."""
        if self._people is None:
            return self.bounded_value
        low, high = self.interval()
        return max(low, self.bounded_value) if high is None else min(max(low, self.bounded_value), high)

    def interval(self, level: Number = "0.95") -> tuple[Fraction, Fraction | None]:
        """Return from and to: the true total, of all people, lies there with at least this probability.

        There is no end above where a bound leaves people out, and nobody measured how many.
        """
        if self._people is None:
            return self.bounded_interval(level)
        return self._people(probability(level, "level"))

    def bounded_interval(self, level: Number = "0.95") -> tuple[Fraction, Fraction]:
        """Return the same of the people counted."""
        within = self._half_width(probability(level, "level"))
        return max(Fraction(0), self.bounded_value - within), max(Fraction(0), self.bounded_value + within)


def union_total(source: ConsistentTables, table: Axes, chosen: NDArray[np.bool_]) -> TableTotal:
    """Return the total of the cells that are chosen in a table."""
    numerators = source._reconstruction.numerators(table)
    n = int(chosen.sum())
    # Exact, however large the sum is.
    value = Fraction(sum(np.atleast_1d(numerators[chosen]).tolist()), source._reconstruction.denominator(table))
    if n == 0:
        return TableTotal(Fraction(0), Fraction(0), 0, lambda level: Fraction(0))
    if n == 1:
        variance = source.design.scheme.variance(table)

        def half_width(level: Fraction) -> Fraction:
            return source.half_width(table, level)
    else:
        spread, error = union_spread(source.design.scheme, table, chosen), source._reconstruction.error(table) * n
        variance = spread.variance

        def half_width(level: Fraction) -> Fraction:
            return spread.half_width(level) + error

    people = source.of_people
    if people is None:
        return TableTotal(value, variance, n, half_width)

    def interval(level: Fraction) -> tuple[Fraction, Fraction | None]:
        fewest, most = people.between(np.array([float(value)]), (n, chosen.size), level, half_width)
        return Fraction(int(fewest[0])), None if most is None else Fraction(int(most[0]))

    return TableTotal(value, variance, n, half_width, interval)
