"""What one quantile and several have in common: a public grid, one value for each person, and the cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from typing import Any, Final, Literal

import numpy as np

from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, number, whole
from lastbit.mechanisms.mechanism import Mechanism, Released
from lastbit.mechanisms.quantiles.ranked_values import CountedValues, LinearValues, RankedValues, rank_on_scale
from lastbit.privacy import zcdp
from lastbit.privacy.cost import Cost
from lastbit.privacy.eta import Eta
from lastbit.values.adjacency import Adjacency, choose_up_to
from lastbit.values.clamped import clamp_blocks, clamp_flat, clamp_numbers, clamp_steps, flatten_numbers
from lastbit.values.grid import LIMIT, Grid, Steps
from lastbit.values.grid_steps import GridSteps
from lastbit.values.log_scale import LogScale
from lastbit.values.missing import LEAVE_OUT, Missing, step_of_missing
from lastbit.values.statistic import ends, parse_bounds

Scale = Literal["linear", "log"]
"""How points weigh before anybody's value is known: all alike, or each factor of two alike."""

FURTHEST: Final = 10**18
"""Without bounds, values are clamped so many steps from zero."""

MOST_PARTS: Final = 1 << 24
"""The largest denominator of quantiles: rank errors of 2^37 values still fit into 64 bits."""

MOST_COUNTED: Final = 1 << 20
"""On so many points values may be counted point by point: their counts fit into the caches of a processor."""

_FEW_POINTS: Final = 64
"""On so few points the auditor tries one person more on each."""


@dataclass(frozen=True, kw_only=True)
class QuantileMechanism(Mechanism[Released]):
    """One value for each person, clamped to `bounds` and floored to a grid of `resolution`; missing values left out.

    A person who comes or goes adds or removes up to `most_values` values. A missing value is not there: a person whose
    value is missing changes nothing, and a person whose value turns missing goes.

    Without `bounds` the resolution must be said, and values are clamped 10^18 steps from zero. The scale is "linear"
    where there are bounds, and "log" where there are none, unless it is said.
    """

    bounds: tuple[Number, Number] | None = None
    resolution: Number | None = None
    scale: Scale | None = None
    epsilon: Number | None = None
    eta: Eta | None = None
    rho: Number | None = None
    missing: Missing = LEAVE_OUT
    most_values: int = 1
    cost: Cost = field(init=False, repr=False, compare=False)
    grid: Grid = field(init=False, repr=False, compare=False)
    _log_scale: LogScale | None = field(init=False, repr=False, compare=False)
    """The weights of the points on a log scale, None on a linear one."""
    _low: int = field(init=False, repr=False, compare=False)
    _high: int = field(init=False, repr=False, compare=False)
    _step_of_missing: int | None = field(init=False, repr=False, compare=False)

    @property
    def adjacency(self) -> Adjacency:
        """One person comes or goes: how many there are is private."""
        return "add-remove"

    @property
    def points(self) -> int:
        """How many points the grid has between the bounds, with both.

        >>> import lastbit as lb
        >>> lb.Quantile(bounds=(0, 1), resolution="1/100", epsilon=1).points
        101
        """
        return self._high - self._low + 1

    @property
    def parameters(self) -> dict[str, str]:
        """The public parameters as text, for a ledger. A linear scale is not named: older entries have no other."""
        return {name: text for name, text in super().parameters.items() if (name, text) != ("scale", "linear")}

    def _prepare(self, levels: int) -> None:
        """Check the shared parameters. The cost is paid at so many levels of halving."""
        if self.bounds is None and self.resolution is None:
            raise ParameterError(
                "resolution must be said where there are no bounds: it is the step between two answers. Write "
                "resolution=1 for whole numbers, or bounds=(lower, upper)."
            )
        grid = Grid(1 if self.resolution is None else self.resolution)
        reach = min(FURTHEST, grid.last)
        low, high = (-reach, reach) if self.bounds is None else ends(self.bounds, grid)
        if max(-low, high) * grid.numerator > LIMIT:
            raise ParameterError("resolution must leave at most 2^61 steps to either bound. Use a coarser one.")
        step = step_of_missing(self.missing, grid, low, high)
        missing = self.missing if step is None or self.missing == "lowest" else grid.value(step)
        scale = ("log" if self.bounds is None else "linear") if self.scale is None else self.scale
        if scale not in ("linear", "log"):
            raise ParameterError(f"scale must be 'linear' or 'log': got {scale!r}. Leave it out to have the usual one.")
        self._derive(scale=scale, _log_scale=LogScale(low, high) if scale == "log" else None)
        bounds = grid.values((low, high)) if self.bounds is None else parse_bounds(self.bounds)
        self._derive(bounds=bounds, resolution=grid.resolution, grid=grid, _low=low, _high=high)
        self._derive(missing=missing, most_values=whole(self.most_values, "most_values"), _step_of_missing=step)
        self._set_cost(levels)

    def _rank_numbers(self, values: Any) -> RankedValues:
        """Sort or count one number for each person, on the scale of this mechanism."""
        if isinstance(values, GridSteps):
            return self._rank_values(values.steps)
        numbers, rule = flatten_numbers(values), (self.grid, self._low, self._high, self._step_of_missing)
        if self._is_counted(len(numbers)):
            return CountedValues.tally(clamp_blocks(numbers, *rule), self._low, self.points)
        return self._rank_values(clamp_flat(numbers, *rule), own=True)

    def _is_counted(self, records: int) -> bool:
        """Return whether the points are so few that to count at each is quicker than to sort so many records."""
        return self._log_scale is None and self.points <= min(records, MOST_COUNTED)

    def _rank_values(
        self, steps: Steps, offsets: Steps | None = None, parts: int = 1, *, own: bool = False
    ) -> RankedValues:
        """Sort values, each in a part of its step where a step has parts, on the scale of this mechanism.

        `own` says that nobody else has the array, which is sorted where it is.
        """
        if parts == 1 and self._is_counted(len(steps)):
            return CountedValues.tally([steps], self._low, self.points)
        if self._log_scale is not None:
            return rank_on_scale(self._log_scale, steps, offsets, parts)
        values = (steps if own else np.copy(steps)) if offsets is None else steps * parts + offsets
        values.sort()
        return LinearValues(values, self._low * parts, self._high * parts + parts - 1, parts)

    def _odds(self, magnitude: Number | None, *, parts: int = 1, more: int = 0) -> Fraction:
        """Return how many times the weight of one point all others weigh: of a point near zero, or of any where None.

        A step has so many parts; the point is at most `more` steps beyond the magnitude.
        """
        return point_odds(self._log_scale, self.points, self.grid, magnitude, parts=parts, more=more)

    def _set_cost(self, levels: int) -> None:
        # Levels are composed: epsilons add up, and the range of each level gives its rho.
        cost = Cost.asked(self.epsilon, self.eta, self.rho)
        if self.rho is not None and cost.stated_rho is not None:
            level_epsilon = zcdp.range_epsilon_for(cost.stated_rho / levels)
            self._derive(rho=cost.stated_rho, cost=Cost(level_epsilon * levels, cost.stated_rho, in_rho=True))
        elif (epsilon := cost.amount) is not None:
            rho = levels * zcdp.range_rho(epsilon / levels)
            self._derive(cost=replace(cost, stated_rho=rho), epsilon=None if self.epsilon is None else cost.epsilon)

    def _steps(self, values: Any) -> Steps:
        """Return the values in steps between the bounds, in their order;
        missing ones left out, or as `missing` says.
        """
        if isinstance(values, GridSteps):
            ready: Steps = values.steps
            return ready
        return clamp_numbers(values, self.grid, self._low, self._high, self._step_of_missing)

    def floor_steps(self, steps: Steps, resolution: Fraction, floored: Fraction = Fraction(0)) -> Steps:
        """Return numbers that are whole steps of another grid, floored to steps of this one between the bounds.

        `floored`, in whole steps of the other grid, says how far below the exact number each of them may lie: one that
        may be at a step of this grid is at that step, so that 0.3 is not floored twice, to 0.2.

        >>> import lastbit as lb
        >>> lb.Quantile(bounds=(0, 10), resolution="1/10", epsilon=1).floor_steps(np.array([3, 100]), Fraction(1, 8))
        array([  3, 100])
        """
        return clamp_steps(steps, resolution, floored, self.grid, self._low, self._high)

    def neighbours(self, values: Sequence[Number]) -> Iterator[tuple[Any, ...]]:
        """Yield these values less those that one person has, and with more of them, at the points of `points_near`."""
        start = tuple(values)
        for places in choose_up_to(range(len(start)), self.most_values, combinations):
            yield tuple(value for place, value in enumerate(start) if place not in places)
        for more in choose_up_to(self.points_near(start), self.most_values, combinations_with_replacement):
            yield (*start, *more)

    def points_near(self, values: Sequence[Number]) -> list[Fraction]:
        """Return the values that one person more may have: all points of the grid, or those near values and bounds."""
        steps: Sequence[int] = range(self._low, self._high + 1)
        if len(steps) > _FEW_POINTS:
            near = {step + by for step in self._steps(values).tolist() for by in (-1, 0, 1)}
            steps = sorted({self._low, self._high} | {step for step in near if self._low <= step <= self._high})
        return [self.grid.value(step) for step in steps]


def point_odds(
    scale: LogScale | None, points: int, grid: Grid, magnitude: Number | None, *, parts: int = 1, more: int = 0
) -> Fraction:
    """Return how many times the weight of one point all others weigh together, at most.

    On a linear scale all points weigh alike. On a log scale a point weighs less the further it is from zero, so the
    point must be within ±magnitude; None stands for the whole scale.

    >>> point_odds(None, 1001, Grid(1), None), float(point_odds(LogScale(0, 1000), 1001, Grid(1), 50))
    (Fraction(1000, 1), 417.9...)
    """
    if magnitude is not None:
        size = number(magnitude, "magnitude")
        if size < 0:
            raise ParameterError(f"magnitude must not be negative: got {magnitude}. It is a distance from zero.")
    if scale is None:
        return Fraction(points * parts - 1)
    # A value is floored, so one below zero may be a step further out.
    furthest = scale.furthest if magnitude is None else math.ceil(size / grid.resolution) + more
    return Fraction(scale.total * parts, scale.least_weight(furthest)) - 1


def quantile(value: object, name: str = "q") -> Fraction:
    """Return a quantile as a public number from 0 to 1.

    >>> quantile(0.25)
    Fraction(1, 4)
    """
    exact = number(value, name)
    if not 0 <= exact <= 1:
        raise ParameterError(
            f"{name} must be from 0 to 1: got {value}. 1/2 is the median, 0 the minimum, 1 the maximum."
        )
    if exact.denominator > MOST_PARTS:
        raise ParameterError(f"{name} must have a denominator of at most 2^24: got {exact}. Use fewer digits.")
    return exact
