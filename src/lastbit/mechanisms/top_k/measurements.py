"""What select-and-measure publishes: the selected with a measurement of each, with gaps or as a set."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, Final

from lastbit.chance.draw import Samples
from lastbit.estimate.accuracy import laplace_accuracy
from lastbit.estimate.blue import blue
from lastbit.estimate.tempered import temper_steps
from lastbit.exact.numbers import Number, probability
from lastbit.mechanisms.top_k.mechanism import Selection, noise_bound
from lastbit.output.numbers import Multiples
from lastbit.output.picture import Panel
from lastbit.privacy.rate import Rate
from lastbit.release import Interval, Release
from lastbit.values.grid import Grid

_LEVEL: Final = Fraction(95, 100)
"""The probability of the intervals that decide the digits of a text, as `error_bars` has it."""


class MeasuredSelection(Release):
    """The base of both: measurements of the selected with noise of their own, and intervals around them."""

    indices: tuple[int, ...]
    resolution: Fraction
    above: int
    measured: Samples
    measurement_rate: Rate

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
        """The measurements: a set has no gaps that could sharpen them."""
        return self.measurements

    @property
    def _variance(self) -> Fraction:
        """The variance of a measurement."""
        return self.measurement_rate.laplace_variance * self.resolution**2

    @cached_property
    def standard_errors(self) -> tuple[float, ...]:
        """The standard deviation of each measurement.

        Estimates that use gaps have together about this root mean square error or less, and far less where the selected
        are well apart. A single estimate can be worse, where luck bends the gaps at its rank: for one item on its own,
        take its measurement. See docs/decisions.md.
        """
        return (math.sqrt(self._variance),) * len(self.indices)

    def intervals(self, level: Number = "0.95") -> tuple[Interval, ...]:
        """Return an interval for each selected value that holds it with probability `level` or more, each on its own.

        It lies around the measurement. The noise of a measurement is independent of the selection, so the probability
        holds whoever is selected and whatever the values are, lucky or not. The gaps would make intervals shorter only
        where nobody was lucky, which nobody can know. Values that were floored may lie `above` steps higher.

        >>> import lastbit as lb
        >>> top = lb.SelectAndMeasure(k=1, epsilon=2, resolution=1, monotone=True).release([50, 0])
        >>> low, high = top.intervals("0.95")[0]
        >>> high - low
        Fraction(6, 1)
        """
        return self._intervals(level)

    def _intervals(self, level: Number, most: int | None = None) -> tuple[Interval, ...]:
        reach, grid = laplace_accuracy(self.measurement_rate, probability(level, "level")), Grid(self.resolution)
        around = partial(grid.around, reach=reach, on_grid=self.above == 0, above=self.above)
        return tuple(map(around, self.measurement_steps[:most]))


@dataclass(frozen=True, eq=False, repr=False)
class MeasuredTopK(MeasuredSelection, Selection):
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
    def estimates(self) -> tuple[Fraction, ...]:
        """The measurements, sharpened by the gaps as far as measurements and gaps agree: see `estimate.tempered`.

        A gap was floored, which takes half a resolution off on average: its middle, half a resolution up, is used.
        """
        numerators, unit = self._estimate_steps
        return tuple(Fraction(numerator, unit) for numerator in numerators)

    @cached_property
    def _estimate_steps(self) -> tuple[list[int], int]:
        """`estimates` as numerators and their one denominator."""
        # In half steps, which are so many parts of 2·denominator.
        above, below = self.resolution.as_integer_ratio()
        twice = 2 * above
        own, gaps = ([twice * step for step in self.measurement_steps], [twice * gap + above for gap in self.gap_steps])
        return temper_steps(own, gaps, 2 * below, self._ratio, self._variance)

    @cached_property
    def blue(self) -> tuple[Fraction, ...]:
        """The best linear unbiased estimates from measurements and gaps, as in Theorem 3 of the free gap paper.

        They take the gaps at their word. Where the selected are so far apart, and so far ahead of the rest, that luck
        did not decide who was selected, they remove `1 - estimate.variance_left(k, ratio)` of the squared error: 33%
        for k = 2 and 44% for k = 3 with counts. `estimates` are the measurements themselves for k below 4, since so few
        values cannot tell whether the gaps fit. But where one of the selected stands out and another was drawn from a
        crowd, luck bends the gap between them: with 60 ahead of three hundred times 10, k = 2 and epsilon 1, the
        squared error is more than twice that of the measurements. From k = 4 on take `estimates`, which notice.

        >>> import lastbit as lb
        >>> top = lb.SelectAndMeasure(k=2, epsilon=2, monotone=True).release([5000, 10, 9000, 20])
        >>> [round(each, -2) for each in top.blue], top.estimates == top.measurements
        ([Fraction(9000, 1), Fraction(5000, 1)], True)
        """
        return blue(self.measurements, self._middles[: len(self.indices) - 1], self._ratio)

    @property
    def _middles(self) -> tuple[Fraction, ...]:
        return Grid(self.resolution / 2).values([2 * gap + 1 for gap in self.gap_steps])

    @property
    def _ratio(self) -> Fraction:
        """The variance of the noise that selected over that of the measurements."""
        # Flooring adds a twelfth of a squared step to each gap, and gaps add up from rank to rank.
        flooring = Fraction(len(self.indices), 12)
        return (self.selection_rate.geometric_variance + flooring) / self.measurement_rate.laplace_variance

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the selected, the gap to the next, the measurement with its standard error, and the estimate."""
        return {
            **super().columns(),
            "measurement": self.measurements,
            "standard_error": self.standard_errors,
            "estimate": self.estimates,
        }

    def error_bars(self, level: Number = "0.95", most: int | None = None) -> dict[str, Sequence[Interval | None]]:
        """Return the interval of each gap, and that of each selected value, which is for measurement and estimate."""
        values = self._intervals(level, most)
        return {**super().error_bars(level, most), "measurement": values, "estimate": values}

    def _first_rows(
        self, most: int
    ) -> tuple[Mapping[str, Sequence[Any] | Multiples], Mapping[str, Sequence[Interval | None]]]:
        """Return the first rows in whole numbers, where every row has a gap and every interval has its ends."""
        grid, measurements, gaps = Grid(self.resolution), self.measurement_steps[:most], self.gap_steps[:most]
        reach = laplace_accuracy(self.measurement_rate, _LEVEL)
        furthest = max(max(measurements), -min(measurements)) + reach
        if len(gaps) < len(measurements) or furthest >= grid.last:
            return super()._first_rows(most)
        step, below = grid.numerator, grid.denominator
        beyond = noise_bound(self.selection_rate, self.candidates, _LEVEL) + self.above
        lows, highs = (
            [(own - reach) * step for own in measurements],
            [(own + reach + self.above) * step for own in measurements],
        )
        estimates, unit = self._estimate_steps
        items: dict[str, Sequence[Any]] = {} if self.items is None else {"item": self.items[:most]}
        return {
            **items,
            "index": Multiples(self.indices[:most], 1),
            "gap": Multiples(
                [gap * step for gap in gaps], below,
                [(gap - beyond + 1) * step for gap in gaps], [(gap + beyond) * step for gap in gaps], below,
            ),
            "measurement": Multiples([own * step for own in measurements], below, lows, highs, below),
            "standard_error": self.standard_errors[:most],
            "estimate": Multiples(estimates[:most], unit, lows, highs, below),
        }, {}  # fmt: skip

    def _count_rows(self) -> int:
        return len(self.indices)

    def panels(self, level: Number = "0.95") -> Sequence[Panel]:
        """Return the estimates with the intervals of the selected values."""
        columns = self.columns()
        label = next(iter(columns))
        return [Panel("estimate", columns[label], self.estimates, label, self.intervals(level))]


@dataclass(frozen=True, eq=False, repr=False)
class MeasuredSet(MeasuredSelection):
    """The k selected as a set, in the public order of the candidates, with `measurements`.

    >>> import lastbit as lb
    >>> counts = lb.Counts(items=["flu", "gout", "measles"], values=[300, 900, 3], monotone=True)
    >>> found = lb.SelectAndMeasure.of(counts, k=2, epsilon=9, selection="set").release(counts)
    >>> found.items, len(found.measurements), len(found.intervals("0.95"))
    (('flu', 'gout'), 2, 2)
    """

    indices: tuple[int, ...]
    """The selected as positions among the candidates, rising: the order says nothing about the counts."""
    items: tuple[Any, ...] | None
    """The selected items, when the values were Counts."""
    resolution: Fraction = field(hash=False)
    candidates: int = field(compare=False)
    """The number of candidates."""
    above: int = field(compare=False)
    """How many steps higher the exact values may lie, which were floored; 0 where the values lie on the grid."""
    measured: Samples
    """`measurement_steps` as they were drawn, in an array."""
    measurement_rate: Rate = field(hash=False)

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the selected, and the measurement of each with its standard error."""
        items: dict[str, Sequence[Any]] = {} if self.items is None else {"item": self.items}
        measurements = {"measurement": self.measurements, "standard_error": self.standard_errors}
        return {**items, "index": self.indices, **measurements}

    def error_bars(self, level: Number = "0.95", most: int | None = None) -> dict[str, Sequence[Interval | None]]:
        """Return the confidence interval of each selected value."""
        return {"measurement": self._intervals(level, most)}

    def panels(self, level: Number = "0.95") -> Sequence[Panel]:
        """Return the measurements with the intervals of the selected values."""
        columns = self.columns()
        label = next(iter(columns))
        return [Panel("measurement", columns[label], self.measurements, label, self.intervals(level))]
