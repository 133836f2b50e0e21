"""`Quantiles`: several quantiles of one number for each person, by halves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import Any, Final

from lastbit.chance.draw import Draw
from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, probability, whole
from lastbit.mechanisms.quantiles.mechanism import MOST_PARTS, QuantileMechanism, quantile
from lastbit.mechanisms.quantiles.rank_error import RankError
from lastbit.mechanisms.quantiles.ranked_values import RankedValues
from lastbit.release import Release
from lastbit.values.grid import LIMIT, Steps
from lastbit.values.grid_steps import GridSteps

_SPREAD: Final = 1 << 16
"""Fine steps to a step of the grid, where there is room for them."""


_MOST_SPREAD: Final = 1 << 32
"""The most fine steps on a log scale, where positions may be as long as they need to be."""


@dataclass(frozen=True, eq=False, repr=False)
class QuantileValues(Release):
    """A value for each quantile, in rising order.

    >>> print(Quantiles(qs=[0, 1], bounds=(0, 1), epsilon=9).release([0, 1] * 50))
    Quantiles, epsilon 9
    quantile  value
           0      0
           1      1
    Each row was taken for one person.
    """

    values: tuple[Fraction, ...]
    qs: tuple[Fraction, ...] = field(hash=False)
    of_rows: bool = field(default=False, compare=False)
    """Whether the mechanism was given a column of numbers, each of which was taken for one person."""

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the quantiles and their values."""
        return {"quantile": self.qs, "value": self.values}


@dataclass(frozen=True, kw_only=True)
class Quantiles(QuantileMechanism[QuantileValues]):
    """Pick points of a public grid near several quantiles: quartiles, deciles.

    The middle quantile is picked first. Then the values below it decide about the quantiles below, and the values from
    it on about the quantiles above, and so on by halves: a person is in one half, so m quantiles cost as many levels as
    m can be halved, and not m times as much. To split equal values fairly, each value first moves up by a random part
    of a step, one of `spread` parts; published values are floored to the grid again. Missing values are left out, as
    `Quantile` does.

    Paper:    Kaplan, Schnapp and Stemmer 2022, with the exponential mechanism of `Quantile` at every split.
    Law:      the law of `Quantile` at every split, on the values and the part of the grid between the points that were
              picked before, for the part of the range that is left of q; each split at its own rate.
    Cost:     epsilon or eta, in equal shares for the ceil(log2(m + 1)) levels; rho is epsilon²/(8·levels). Where values
              are spread, the law is a mixture over parts of a step that are drawn for each person alone.
    Assumes:  one person adds or removes one value, or up to `most_values`. The number of values stays private.
    Checked:  tests/laws/test_quantiles.py, exactly, on all small data sets.
    Speed:    one word a value, one sort, and one pass over the values a level.

    >>> quartiles = Quantiles(qs=["1/4", "1/2", "3/4"], bounds=(0, 1000), epsilon=1)
    >>> low, middle, high = quartiles.release(range(1000)).values
    >>> 200 < low < 300 < middle < 700 < high < 800
    True
    """

    qs: Sequence[Number]
    spread: int | None = None
    _splits: tuple[RankError, ...] = field(init=False, repr=False, compare=False)
    """The split that picks each quantile, at the share of the cost that one level has."""

    def __post_init__(self) -> None:
        exact = _parse_quantiles(self.qs)
        levels = len(exact).bit_length()
        self._prepare(levels)
        self._derive(qs=exact, spread=self._parts())
        shares: list[Fraction] = [Fraction(0)] * len(exact)
        _fill_shares(shares, exact, 0, len(exact), Fraction(0), Fraction(1))
        divisor = levels * self.most_values
        self._derive(_splits=tuple(RankError.of(share, self.cost, divisor) for share in shares))

    def _parts(self) -> int:
        """Return fine steps to a step: as many as were asked for, or as there is room for."""
        room = _MOST_SPREAD
        if self._log_scale is None:
            room = (2 * LIMIT - 2) // max(abs(self._low) + 1, abs(self._high) + 1, self.points)
        if self.spread is None:
            # One quantile splits nothing.
            return 1 if len(self.qs) == 1 else min(_SPREAD, 1 << max(0, room.bit_length() - 1))
        parts = whole(self.spread, "spread")
        if parts > max(1, room):
            raise ParameterError(
                f"spread must be at most {room:,} on this grid: got {parts:,}. Use a coarser resolution."
            )
        return parts

    def ready(self, values: Any) -> Callable[[Draw], QuantileValues]:
        """Return the quantiles of one number for each person."""
        return self.ready_steps(self._steps(values), of_rows=not isinstance(values, GridSteps))

    def ready_steps(self, steps: Steps, *, of_rows: bool = False) -> Callable[[Draw], QuantileValues]:
        """Return the same from whole steps of the grid, between the bounds."""
        parts = self.spread or 1
        exact: Any = self.qs

        def pick(draw: Draw) -> QuantileValues:
            ranked = self._rank_values(steps, draw.integer(parts, len(steps)) if parts > 1 else None, parts)
            points = [0] * len(exact)
            self._split(draw, ranked, (0, len(exact)), points)
            values = self.grid.values(list(map(ranked.step, points)))
            return QuantileValues(self.name, self.cost, values, exact, of_rows)

        return pick

    def _split(self, draw: Draw, ranked: RankedValues, part: tuple[int, int], points: list[int]) -> None:
        """Pick the middle one of a part of the quantiles, then those on either side of it."""
        first, beyond = part
        if first == beyond:
            return
        middle = (first + beyond) // 2
        points[middle] = ranked.pick(self._splits[middle], draw)
        below, above = ranked.split(points[middle])
        self._split(draw, below, (first, middle), points)
        self._split(draw, above, (middle + 1, beyond), points)

    def accuracy(
        self, level: Number = "0.95", *, ties: int = 1, magnitude: Number | None = None
    ) -> tuple[Fraction, ...]:
        """Return how many ranks each value is away from its quantile at most, all with at least this probability.

        It holds where at most `ties` values are equal, on one step of the grid. Spread values make the real errors of
        more equal values as small; this is what can be proved. On a log scale it is less where all values lie from
        -magnitude to magnitude.

        >>> [float(ranks) for ranks in Quantiles(qs=["1/4", "1/2", "3/4"], bounds=(0, 1000), epsilon=1).accuracy()]
        [35.75, 23.5, 35.75]
        >>> unknown = Quantiles(qs=["1/4", "1/2", "3/4"], resolution=1, epsilon=1)
        >>> [float(ranks) for ranks in unknown.accuracy(magnitude=100)]
        [42.5, 28.0, 42.5]
        """
        exact_level, most, parts = probability(level, "level"), whole(ties, "ties"), self.spread or 1
        split_level = 1 - (1 - exact_level) / len(self._splits)
        # Some fine point has no error. And one whole step of fine points is at most two steps of values away from it,
        # unless the split has so few values at all: then as many points are good as a step has.
        one_part, one_step = self._odds(magnitude, parts=parts), self._odds(magnitude, more=1)
        errors = [
            min(split.ranks(split_level, one_part), split.ranks(split_level, one_step) + 2 * most)
            for split in self._splits
        ]
        totals = [Fraction(0)] * len(errors)
        self._add_errors(errors, totals, most, (0, len(errors)), (Fraction(0), Fraction(0)))
        return tuple(totals)

    def _add_errors(
        self,
        errors: list[Fraction],
        totals: list[Fraction],
        ties: int,
        part: tuple[int, int],
        ends: tuple[Fraction, Fraction],
    ) -> None:
        """Add the errors of the two points that a split lies between, each by its weight in the rank asked for."""
        first, beyond = part
        if first == beyond:
            return
        middle = (first + beyond) // 2
        q = self._splits[middle].q
        totals[middle] = errors[middle] + (1 - q) * ends[0] + q * ends[1]
        error = totals[middle] + ties
        self._add_errors(errors, totals, ties, (first, middle), (ends[0], error))
        self._add_errors(errors, totals, ties, (middle + 1, beyond), (error, ends[1]))


def _parse_quantiles(qs: object) -> tuple[Fraction, ...]:
    if isinstance(qs, str) or not isinstance(qs, Sequence) or not qs:
        raise ParameterError("qs must be a list of quantiles, at least one. Write qs=['1/4', '1/2', '3/4'].")
    exact = tuple(quantile(q, "each of qs") for q in qs)
    if any(one >= other for one, other in pairwise(exact)):
        raise ParameterError(f"qs must rise, and no two may be equal: got {', '.join(map(str, qs))}.")
    if lcm(*(q.denominator for q in exact)) > MOST_PARTS:
        raise ParameterError("qs must have a common denominator of at most 2^24. Use fewer digits.")
    return exact


def _fill_shares(
    shares: list[Fraction], qs: Sequence[Fraction], first: int, beyond: int, below: Fraction, above: Fraction
) -> None:
    """Fill in for each quantile its place between the two that are
    picked before it: 0 at the lower one, 1 at the upper.
    """
    if first == beyond:
        return
    middle = (first + beyond) // 2
    shares[middle] = (qs[middle] - below) / (above - below)
    _fill_shares(shares, qs, first, middle, below, qs[middle])
    _fill_shares(shares, qs, middle + 1, beyond, qs[middle], above)
