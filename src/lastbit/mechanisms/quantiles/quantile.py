"""`Quantile`: the median, or another quantile, of one number for each person."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from lastbit.chance.draw import Draw
from lastbit.errors import ParameterError
from lastbit.estimate.accuracy import least_epsilon
from lastbit.exact.numbers import Number, number, probability
from lastbit.mechanisms.quantiles.mechanism import QuantileMechanism, point_odds, quantile
from lastbit.mechanisms.quantiles.rank_error import RankError
from lastbit.mechanisms.quantiles.ranked_values import RankedValues
from lastbit.privacy.rate import Rate
from lastbit.release import Release
from lastbit.values.grid import Grid, Steps
from lastbit.values.grid_steps import GridSteps
from lastbit.values.log_scale import LogScale


@dataclass(frozen=True, eq=False, repr=False)
class QuantileValue(Release):
    """A point of the grid that is near a quantile: `value`. How near it is, in ranks, `ranks` says.

    >>> import lastbit as lb
    >>> found = lb.Quantile(q="1/2", bounds=(0, 100), epsilon=9).release([20] * 500 + [30] * 500 + [40] * 500)
    >>> found.value, float(found.ranks("0.95"))
    (Fraction(30, 1), 0.5)
    """

    value: Fraction
    q: Fraction = field(hash=False)
    points: int = field(hash=False)
    """How many points the grid has."""
    rate: Rate = field(compare=False)
    ends: tuple[int, int] | None = field(default=None, hash=False)
    """On a log scale, the lowest and the highest step; None on a linear one."""
    resolution: Fraction = field(default=Fraction(1), compare=False)
    of_rows: bool = field(default=False, compare=False)
    """Whether the mechanism was given a column of numbers, each of which was taken for one person."""

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the quantile and its value."""
        return {"quantile": [self.q], "value": [self.value]}

    def facts(self) -> dict[str, Any]:
        """Return how many ranks the value is away at most, with a probability of 95%."""
        return {"level": Fraction(95, 100), "within_ranks": self.ranks()}

    def ranks(self, level: Number = "0.95", *, magnitude: Number | None = None) -> Fraction:
        """Return how many ranks the value is away from the quantile at most, with at least this probability.

        On a log scale that depends on how far from zero the quantile is: this holds for any quantile, or for one from
        -magnitude to magnitude.

        For n values, clamped and floored to the grid, and w ranks: at most q·n + w values lie below the released one,
        and at least q·n - w lie at or below it.
        How far that is in the unit of the values depends on how close together they are, which is private.

        >>> Quantile(bounds=(0, 1000), epsilon=1).release(range(500)).ranks()
        Fraction(19, 2)
        """
        scale = None if self.ends is None else LogScale(*self.ends)
        odds = point_odds(scale, self.points, Grid(self.resolution), magnitude)
        return RankError(self.q, self.rate).ranks(probability(level, "level"), odds)

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        return int(self.value)


@dataclass(frozen=True, kw_only=True)
class Quantile(QuantileMechanism[QuantileValue]):
    """Pick a point of a public grid that is near a quantile: the median, a quartile, the minimum, the maximum.

    Nobody lists the points: a grid of 10^18 points takes as long as one of ten. Values are clamped to the bounds and
    floored to the resolution. Missing values (None, NaN, masked, text) are left out; `missing="lowest"` or a number
    says what they count as instead. Where nobody knows the range, leave `bounds` out and say the `resolution`: then
    the scale is "log", on which each factor of two weighs alike.

    Paper:    the exponential mechanism of McSherry and Talwar 2007 on ranks (Smith 2011), with ties counted right.
    Law:      P(y) proportional to w(y)·r^e(y) on the grid; e(y) is b times the distance from rank a·n/b to the ranks
              that y takes among the n values, for q = a/b, and r is just above e^(-epsilon/(2·max(a, b - a))), or
              e^-epsilon for the minimum and the maximum. The weight w(y) is public: 1 on a linear scale; on a log scale
              W(|y| + 1) - W(|y|) for W(y) = floor(2^k·log2 y), and 2^k for 0, in steps.
    Cost:     epsilon or eta; rho is epsilon²/8 (bounded range).
    Assumes:  one person adds or removes one value, or up to `most_values`. The number of values stays private.
    Checked:  tests/laws/test_quantile.py, exactly, on all small data sets.
    Speed:    one sort, and one pass over 2n + 1 classes, whatever the values are. Where a grid of at most 2^20
              points has as many values, one pass over both.

    >>> release = Quantile(q="1/2", bounds=(0, 1000), epsilon=1).release(range(400, 600))
    >>> 450 < release.value < 550
    True
    >>> release = Quantile(q="1/2", resolution=1, epsilon=1).release(range(400, 600))
    >>> 450 < release.value < 550
    True
    """

    q: Number = "1/2"
    _rank_error: RankError = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._prepare(levels=1)
        exact = quantile(self.q)
        self._derive(q=exact, _rank_error=RankError.of(exact, self.cost, self.most_values))

    def ready(self, values: Any) -> Callable[[Draw], QuantileValue]:
        """Return the quantile of one number for each person."""
        return self._ready_pick(self._rank_numbers(values), of_rows=not isinstance(values, GridSteps))

    def ready_steps(self, steps: Steps, *, of_rows: bool = False) -> Callable[[Draw], QuantileValue]:
        """Return the same from whole steps of the grid, between the bounds."""
        return self._ready_pick(self._rank_values(steps), of_rows=of_rows)

    def _ready_pick(self, ranked: RankedValues, *, of_rows: bool) -> Callable[[Draw], QuantileValue]:
        def pick(draw: Draw) -> QuantileValue:
            error = self._rank_error
            value = self.grid.value(ranked.step(ranked.pick(error, draw)))
            ends = None if self._log_scale is None else (self._low, self._high)
            facts = error.q, self.points, error.rate, ends, self.grid.resolution, of_rows
            return QuantileValue(self.name, self.cost, value, *facts)

        return pick

    def accuracy(self, level: Number = "0.95", *, magnitude: Number | None = None) -> Fraction:
        """Return how many ranks a released value is away from the quantile at most, with at least this probability.

        It holds for all values, however they lie. It grows with the logarithm of the number of points, so bounds that
        are ten times as wide cost about 2.3/epsilon ranks more at the median. On a log scale it is less for a quantile
        from -magnitude to magnitude; on a linear scale the magnitude makes no difference.

        >>> wide = Quantile(bounds=(0, 10**18), epsilon=1)
        >>> float(Quantile(bounds=(0, 1000), epsilon=1).accuracy()), float(wide.accuracy())
        (9.5, 44.0)
        >>> unknown = Quantile(resolution=1, epsilon=1)
        >>> float(unknown.accuracy()), float(unknown.accuracy(magnitude=100))
        (48.5, 11.5)
        """
        return self._rank_error.ranks(probability(level, "level"), self._odds(magnitude))

    @classmethod
    def for_accuracy(cls, ranks: Number, level: Number = "0.95", **parameters: Any) -> Quantile:
        """Return the mechanism with the least epsilon, to nine significant
        digits, whose `accuracy(level)` is at most this.

        >>> float(Quantile.for_accuracy(20, bounds=(0, 1000)).epsilon)
        0.4805...
        """
        target, exact_level = number(ranks, "ranks"), probability(level, "level")
        if target < 0:
            raise ParameterError(f"ranks must not be negative: got {ranks}. It is a number of ranks.")
        return cls(
            epsilon=least_epsilon(lambda epsilon: cls(epsilon=epsilon, **parameters).accuracy(exact_level) <= target),
            **parameters,
        )
