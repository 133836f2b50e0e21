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
from lastbit.estimate.accuracy import laplace_accuracy
from lastbit.estimate.tempered import tempered
from lastbit.exact.numbers import Number, number, probability
from lastbit.mechanisms.top_k.mechanism import Selected, Selecting
from lastbit.output.picture import Panel
from lastbit.privacy.rate import Rate
from lastbit.release import Interval
from lastbit.values.grid import Grid


@dataclass(frozen=True, eq=False, repr=False)
class MeasuredTopK(Selected):
    """The k selected with `measurements`, and `estimates` that use the gaps as well.

    >>> import lastbit as lb
    >>> counts = lb.Counts(items=["flu", "gout", "measles"], values=[900, 300, 3], monotone=True)
    >>> found = lb.SelectAndMeasure.of(counts, k=2, epsilon=9).release(counts)
    >>> found.items, len(found.measurements), len(found.intervals("0.95"))
    (('flu', 'gout'), 2, 2)
    """

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
        """The measurements, sharpened by the gaps as far as measurements and gaps agree: see `estimate.tempered`.

        A gap was floored, which takes half a resolution off on average: its middle, half a resolution up, is used.
        """
        middles = [gap + self.resolution / 2 for gap in self.gaps]
        # Flooring adds a twelfth of a squared step to each gap, and gaps add up from rank to rank.
        floored = Fraction(len(self.indices), 12)
        ratio = (self.selection_rate.geometric_variance + floored) / self.measurement_rate.laplace_variance
        return tempered(self.measurements, middles, ratio, self._variance)

    @property
    def _variance(self) -> Fraction:
        """The variance of a measurement."""
        return self.measurement_rate.laplace_variance * self.resolution**2

    @cached_property
    def standard_errors(self) -> tuple[float, ...]:
        """The standard deviation of each measurement.

        The estimates together have about this root mean square error or less, and far less where the selected are well
        apart. A single estimate can be worse, where luck bends the gaps at its rank: for one item on its own, take its
        measurement. See docs/decisions/0009-estimates-after-selection.md.
        """
        return (math.sqrt(self._variance),) * len(self.indices)

    def intervals(self, level: Number = "0.95") -> tuple[Interval, ...]:
        """An interval for each selected value that holds it with probability `level` or more, each on its own.

        It lies around the measurement. The noise of a measurement is independent of the selection, so the probability
        holds at every rank and whatever the values are, lucky or not. The gaps would make intervals shorter only where
        nobody was lucky, which nobody can know.

        >>> import lastbit as lb
        >>> top = lb.SelectAndMeasure(k=1, epsilon=2, resolution=1, monotone=True).release([50, 0])
        >>> low, high = top.intervals("0.95")[0]
        >>> high - low
        Fraction(6, 1)
        """
        reach, grid = laplace_accuracy(self.measurement_rate, probability(level, "level")), Grid(self.resolution)
        return tuple(grid.around(step, reach, on_grid=self.on_grid) for step in self.measurement_steps)

    def columns(self) -> dict[str, Sequence[Any]]:
        """The selected, the gap to the next, the measurement with its standard error, and the estimate."""
        return {
            **super().columns(),
            "measurement": self.measurements,
            "standard_error": self.standard_errors,
            "estimate": self.estimates,
        }

    def error_bars(self, level: Number = "0.95", most: int | None = None) -> dict[str, Sequence[Interval | None]]:
        """The interval of each gap, and that of each selected value, which is for measurement and estimate."""
        values = self.intervals(level)
        return {**super().error_bars(level, most), "measurement": values, "estimate": values}

    def panels(self, level: Number = "0.95") -> Sequence[Panel]:
        """The estimates with the intervals of the selected values."""
        columns = self.columns()
        label = next(iter(columns))
        return [Panel("estimate", columns[label], self.estimates, label, self.intervals(level))]


@dataclass(frozen=True, kw_only=True)
class SelectAndMeasure(Selecting[MeasuredTopK]):
    """Pick the k largest values and measure each of them; the gaps sharpen the measurements where they can be trusted.

    Paper:    Ding et al., Free Gap Information from the Differentially Private Sparse Vector and Noisy Max Mechanisms,
              section 5.3, with the exponential noise of the secure paper; the estimates allow for lucky noise.
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
    ((2, 0), [2.83, 2.83])
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
        pick, steps_of = self._picking(values, lambda *fields: fields)

        def measured(draw: Draw) -> MeasuredTopK:
            fields = pick(draw)
            steps, noise = steps_of(list(fields[2])), draw.laplace(self._measurement_rate, self.k)
            # The public scale decides where int64 may not do: at a scale below 2^32, 2^62 steps of noise do not come.
            exact = steps.astype(object) if self._measurement_rate.scale >= 1 << 32 else steps
            measured = exact + noise
            measured.setflags(write=False)
            return MeasuredTopK.made(*fields, measured, self._measurement_rate)

        return measured
