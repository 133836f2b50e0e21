"""What a sparse vector that measures publishes: the queries above, each with its gap and a measurement of its value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from lastbit.estimate.reported import ReportedLaw
from lastbit.exact.numbers import Number
from lastbit.mechanisms.sparse_vector.kinds import kind_of
from lastbit.mechanisms.sparse_vector.mechanism import AboveThreshold
from lastbit.output.picture import Panel
from lastbit.privacy.rate import Rate
from lastbit.release import Interval
from lastbit.values.grid import Grid


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MeasuredAbove(AboveThreshold):
    """The queries above with `measurements` of their values, and `estimates` that use the gaps as well.

    >>> import lastbit as lb
    >>> release = lb.SparseVector(threshold=100, limit=2, epsilon=9, measure="1/2").release([3, 900, 2, 500])
    >>> release.indices, len(release.measurements), len(release.intervals("0.95"))
    ((1, 3), 2, 2)
    """

    measurements: tuple[Fraction, ...]
    """The values of the queries above with discrete Laplace noise, exactly as drawn."""
    threshold: Fraction = field(compare=False)
    threshold_rate: Rate = field(compare=False)
    query_rate: Rate = field(compare=False)
    measurement_rate: Rate = field(compare=False)
    resolution: Fraction = field(compare=False)
    noise: str = field(compare=False)
    """The kind of the noise of threshold and queries: "one-sided" or "laplace"."""
    on_grid: bool = field(compare=False)
    """Whether the values were known to be whole steps of the resolution. Others were floored to one."""
    above: int = field(compare=False, default=1)
    """How many steps higher the exact values may lie, where they were floored."""

    @cached_property
    def law(self) -> ReportedLaw:
        """The noises of gaps and measurements."""
        gap_noise = kind_of(self.noise).gap(self.threshold_rate, self.query_rate, self.resolution)
        return ReportedLaw(gap_noise, self.measurement_rate)

    @cached_property
    def estimates(self) -> tuple[Fraction, ...]:
        """The measurements, sharpened by all gaps together: see `lastbit.estimate.reported`.

        Their mean squared error is `law.error_left(k)` of that of the measurements, for queries that are asked whatever
        came out before. Lucky noise gets queries reported, so among reported queries estimates are too high on average.
        The measurements are not, and neither are the intervals.
        """
        noise = self.law.gap_noise
        by_gaps = [noise.estimate(self.threshold, gap).value for gap in self.gaps if gap is not None]
        return self.law.estimates(self.measurements, by_gaps)

    def intervals(self, level: Number = "0.95") -> tuple[Interval, ...]:
        """Return an interval for each value above that holds it with probability `level` or more, each on its own.

        The probability holds for reported queries, whatever the values are and whatever was asked before: the proof is
        at `ReportedLaw.reaches`.

        >>> import lastbit as lb
        >>> mechanism = lb.SparseVector(threshold=0, limit=1, epsilon=4, measure="1/2", monotone=True)
        >>> low, high = mechanism.release([10]).intervals("0.95")[0]
        >>> high - low <= 4
        True
        """
        grid = Grid(self.resolution)
        reach, above = self.law.reaches(level)
        bounds = []
        for measurement, gap in zip(self.measurements, self.gaps, strict=True):
            low, high = grid.around(int(measurement / self.resolution), reach, on_grid=self.on_grid, above=self.above)
            if above is not None and gap is not None and high is not None:
                most = self.threshold + gap + (self.law.gap_noise.shift + above) * self.resolution
                high = min(high, most if self.on_grid else most + self.above * self.resolution)
                # Where the two contradict each other, one of them has failed: an interval is never empty.
                high = max(high, low) if low is not None else high
            bounds.append((low, high))
        return tuple(bounds)

    @property
    def _measurements(self) -> Sequence[Fraction | None]:
        return self.measurements

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the queries above, with gap, measurement and estimate."""
        return {**super().columns(), "measurement": self.measurements, "estimate": self.estimates}

    def error_bars(self, level: Number = "0.95", most: int | None = None) -> dict[str, Sequence[Interval | None]]:
        """Return the interval of each value above, which is for measurement and estimate."""
        values = self.intervals(level)
        return {"measurement": values, "estimate": values}

    def panels(self, level: Number = "0.95") -> Sequence[Panel]:
        """Return the estimates with the intervals of the values."""
        columns = self.columns()
        label = next(iter(columns))
        return [Panel("estimate", columns[label], self.estimates, label, self.intervals(level))]
