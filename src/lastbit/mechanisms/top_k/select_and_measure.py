"""Select, then measure the selected values, and let the free gaps sharpen the measurements."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from lastbit.chance.draw import Draw, Samples
from lastbit.errors import ParameterError
from lastbit.estimate.blue import blue, error_bounds, variance_left
from lastbit.exact.numbers import Number, number
from lastbit.mechanisms.top_k.mechanism import Selected, Selecting
from lastbit.privacy.rate import Rate
from lastbit.values.grid import Grid


@dataclass(frozen=True, eq=False, repr=False)
class MeasuredTopK(Selected):
    """The k selected with `measurements`, and `estimates` that use the gaps as well."""

    measured: Samples
    """`measurement_steps` as they were drawn, in an array."""
    measurement_rate: Rate = field(hash=False)

    @cached_property
    def measurement_steps(self) -> tuple[int, ...]:
        """`measurements` in units of the resolution."""
        return tuple(self.measured.tolist())

    @cached_property
    def measurements(self) -> tuple[Fraction, ...]:
        """The values of the selected with discrete Laplace noise, exactly as drawn."""
        return Grid(self.resolution).values(self.measurement_steps)

    @cached_property
    def estimates(self) -> tuple[Fraction, ...]:
        """The best linear unbiased estimates from measurements and gaps.

        A gap was floored, which takes half a resolution off on average: its middle, half a resolution up, is used.
        """
        middles = [gap + self.resolution / 2 for gap in self.gaps]
        return blue(self.measurements, middles, self._ratio)

    @property
    def _ratio(self) -> Fraction:
        return self.selection_rate.geometric_variance / self.measurement_rate.laplace_variance

    @cached_property
    def standard_errors(self) -> tuple[float, ...]:
        """The standard deviation of each estimate's noise.

        It leaves out the flooring of the gaps, which adds less than k/12 squared resolutions to its square; and, where
        candidates were close, that lucky noise gets candidates selected.
        """
        variance = self.measurement_rate.laplace_variance * variance_left(len(self.indices), self._ratio)
        return (float(self.resolution) * math.sqrt(variance),) * len(self.indices)

    def intervals(self, level: Number = "0.95") -> tuple[tuple[float, float], ...]:
        """An interval around each estimate that holds the value with probability `level`, each on its own.

        The probability is over the noise, for fixed selected candidates. Flooring is part of the intervals. They leave
        out that lucky noise gets candidates selected, where candidates are close.
        """
        low, high = error_bounds(len(self.indices), self.selection_rate, self.measurement_rate, level)
        step, k, top = float(self.resolution), len(self.indices), Grid(self.resolution).last
        up = low if self.on_grid else low - 1  # a value between two steps was floored
        share = float(1 / (1 + self._ratio))
        intervals = []
        for rank, each in enumerate(self.estimates):
            # Each gap was floored: its middle is off by half a step at most, and gaps add up from rank to rank.
            floored = share * sum(abs(rank - other) for other in range(k)) / (2 * k)
            low_end, high_end = float(each) - (high + floored) * step, float(each) - (up - floored) * step
            # The grid clamps values at 2^61 steps: beyond it nobody knows how far.
            inside = low_end > -top * step, high_end < top * step
            intervals.append((low_end if inside[0] else -math.inf, high_end if inside[1] else math.inf))
        return tuple(intervals)

    def columns(self) -> dict[str, Sequence[Any]]:
        """The selected, the gap to the next, the measurement, and the estimate with its standard error."""
        return {
            **super().columns(),
            "measurement": self.measurements,
            "standard_error": self.standard_errors,
            "estimate": self.estimates,
        }


@dataclass(frozen=True, kw_only=True)
class SelectAndMeasure(Selecting[MeasuredTopK]):
    """Pick the k largest values and estimate each of them, more closely than measuring alone could.

    Paper:    Ding et al., Free Gap Information from the Differentially Private Sparse Vector and Noisy Max Mechanisms,
              section 5.3, with the exponential noise of the secure paper and the BLUE for any ratio of the noises.
    Law:      NoisyTopK with `split` of the cost; then each selected value plus discrete Laplace noise of scale
              k·sensitivity/((1 - split)·epsilon). The estimates are computed from the published numbers.
    Cost:     epsilon (or eta) in all: `split` of it selects, the rest measures.
    Assumes:  the same as NoisyTopK.
    Checked:  tests/laws/test_select_and_measure.py: the loss on neighbours, exactly, for n = 2; the error it saves on a
              fixed tape. tests/unit/test_blue.py: the estimates, against generalised least squares in fractions.
    Speed:    that of NoisyTopK, and k words or a few times that.

    >>> import lastbit as lb
    >>> top = lb.SelectAndMeasure(k=2, epsilon=2, monotone=True).release([5000, 10, 9000, 20])
    >>> top.indices, [round(error, 2) for error in top.standard_errors]
    ((2, 0), [2.31, 2.31])
    >>> [round(estimate, -2) for estimate in top.estimates]
    [Fraction(9000, 1), Fraction(5000, 1)]
    """

    split: Number = "1/2"
    _measurement_rate: Rate = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        share = (1 - self._selection_share()) / (self.k * self._reach)
        self._derive(split=self._selection_share(), _measurement_rate=self.cost.rate(share))

    def _selection_share(self) -> Fraction:
        share = number(self.split, "split")
        if not 0 < share < 1:
            raise ParameterError(f"split must be above 0 and below 1: got {self.split}. It is the part that selects.")
        return share

    def ready(self, values: Any) -> Callable[[Draw], MeasuredTopK]:
        """Select k of the values and measure the selected: numbers, Counts or a Statistic. There must be at least k."""
        pick, steps_of = self._picking(values)

        def measured(draw: Draw) -> MeasuredTopK:
            fields = pick(draw)
            steps, noise = steps_of(list(fields[2])), draw.laplace(self._measurement_rate, self.k)
            # The public scale decides where int64 may not do: at a scale below 2^32, 2^62 steps of noise do not come.
            exact = steps.astype(object) if self._measurement_rate.scale >= 1 << 32 else steps
            measured = exact + noise
            measured.setflags(write=False)
            return MeasuredTopK.made(*fields, measured, self._measurement_rate)

        return measured
