"""The mean over units, as two sums in one release.

With low and high the bounds and half = (high - low)/2, a unit adds its total less the midpoint to the first sum, which
is at most half either way, and half to the second. So one unit moves both together by at most high - low, the midpoint
costs nothing, and the mean is midpoint + half·first/second.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from lastbit.cli.accuracy import probability
from lastbit.cli.options import Spending, Table
from lastbit.cli.reading import read
from lastbit.cli.showing import Report, shown
from lastbit.data.counting import count
from lastbit.data.sorting import quoted
from lastbit.data.source import Opened, Wanted
from lastbit.data.weights import Weights
from lastbit.errors import ParameterError
from lastbit.exact.numbers import number
from lastbit.mechanisms.laplace import DiscreteLaplace
from lastbit.release import cost_text

_EVERYONE: Final = "everyone"


@dataclass(frozen=True)
class Mean:
    """What is public about a mean: the bounds, the grid, and the mechanism that measures the two sums."""

    low: Fraction
    high: Fraction
    resolution: Fraction
    mechanism: DiscreteLaplace
    reach: Fraction

    @classmethod
    def of(cls, spending: Spending, bounds: tuple[str, str], resolution: str) -> Mean:
        """From what a person typed."""
        low, high = (number(bound, "bounds") for bound in bounds)
        if low >= high:
            raise ParameterError(f"--bounds must rise: got {low} and {high}. Give the lower one first.")
        step = Weights.of(bounds, resolution).grid.resolution
        # Half steps: the midpoint of two bounds on the grid may lie between two steps.
        mechanism = DiscreteLaplace(epsilon=spending.epsilon, sensitivity=high - low, resolution=step / 2)
        # Before anything is spent: both intervals hold together when each misses half as often.
        reach = mechanism.accuracy((1 + probability(spending.level)) / 2)
        return cls(low, high, step, mechanism, reach)

    def read(self, table: Table, column: str) -> list[Fraction]:
        """The two sums, exact and private."""
        if table.unit == column:
            raise ParameterError(f"--of and --unit must be different columns: got {column!r} for both.")
        columns = () if table.unit is None else (table.unit,)
        # Names of our own, because a column may be called anything.
        unit = None if table.unit is None else "who"
        chosen = f"'{_EVERYONE}' AS {_EVERYONE}, {quoted(column)} AS amount"
        if table.unit is not None:
            chosen += f", {quoted(table.unit)} AS {unit}"

        def work(source: Opened) -> list[Fraction]:
            rows = source.relation.project(chosen)
            common: dict[str, Any] = {"by": _EVERYONE, "unit": unit, "domain": [_EVERYONE]}
            total = count(rows, **common, weights="amount", bounds=(self.low, self.high), resolution=self.resolution)
            units = int(count(rows, **common).values[0])
            half, middle = (self.high - self.low) / 2, (self.high + self.low) / 2
            return [Fraction(total.values[0]) - middle * units, half * units]

        return read(table, Wanted(columns, weights=column), work)

    def report(self, release: Any, column: str, level: str) -> Report:
        """The mean, the number of units, and intervals: both hold together with the probability of the level."""
        reach = self.reach
        half, middle = (self.high - self.low) / 2, (self.high + self.low) / 2
        first, second = release.values
        units = (second / half, (second - reach) / half, (second + reach) / half)
        ends = [(first + by) / (second + to) for by in (-reach, reach) for to in (-reach, reach) if second + to > 0]
        known = second - reach > 0
        value = self._clamped(middle + half * first / second) if second > 0 else middle
        interval = (
            (self._clamped(middle + half * min(ends)), self._clamped(middle + half * max(ends)))
            if known
            else (self.low, self.high)
        )
        columns = {
            "": [f"mean of {column}", "units"],
            "estimate": [value, units[0]],
            "interval": [interval, (max(Fraction(0), units[1]), units[2])],
        }
        data = {
            "mechanism": release.mechanism,
            "cost": cost_text(release.cost),
            "level": level,
            "mean": {"estimate": value, "from": interval[0], "to": interval[1]},
            "units": {"estimate": units[0], "from": units[1], "to": units[2]},
        }
        note = f"Both intervals hold together with probability {shown(probability(level) * 100)}%."
        return Report(release.title, columns, [note], data)

    def _clamped(self, value: Fraction) -> Fraction:
        return max(self.low, min(self.high, value))
