"""What one quantile and several have in common: a public grid, one value for each person, and the cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np

from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, number, whole
from lastbit.mechanisms.mechanism import Mechanism, Released
from lastbit.privacy import zcdp
from lastbit.privacy.cost import Cost
from lastbit.privacy.eta import Eta
from lastbit.values.adjacency import Adjacency
from lastbit.values.grid import LIMIT, Grid, Steps
from lastbit.values.known import Known
from lastbit.values.missing import LEAVE_OUT, Missing, floats_among, missing_among, numbers_of, step_of_missing
from lastbit.values.statistic import ends, parse_bounds

MOST_PARTS: Final = 1 << 24
"""The largest denominator of quantiles: rank errors of 2^37 values still fit into 64 bits."""

_FEW_POINTS: Final = 64
"""On so few points the auditor tries one person more on each."""


@dataclass(frozen=True, eq=False)
class GridSteps:
    """Numbers of a table as whole steps of a mechanism's grid, between its bounds: private, and never shown."""

    steps: Any = field(repr=False)
    """The steps; for groups, those of each group."""
    adjacency: ClassVar[Adjacency] = "add-remove"


@dataclass(frozen=True, kw_only=True)
class QuantileMechanism(Mechanism[Released]):
    """One value for each person, clamped to `bounds` and floored to a grid of `resolution`; missing values left out.

    A person who comes or goes adds or removes up to `most_values` values. A missing value is not there: a person whose
    value is missing changes nothing, and a person whose value turns missing goes.
    """

    bounds: tuple[Number, Number]
    resolution: Number = 1
    epsilon: Number | None = None
    eta: Eta | None = None
    rho: Number | None = None
    missing: Missing = LEAVE_OUT
    most_values: int = 1
    cost: Cost = field(init=False, repr=False, compare=False)
    grid: Grid = field(init=False, repr=False, compare=False)
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

    def _prepare(self, levels: int) -> None:
        """Check the shared parameters. The cost is paid at so many levels of halving."""
        grid = Grid(self.resolution)
        low, high = ends(self.bounds, grid)
        if max(-low, high) * grid.numerator > LIMIT:
            raise ParameterError("resolution must leave at most 2^61 steps to either bound. Use a coarser one.")
        step = step_of_missing(self.missing, grid, low, high)
        missing = self.missing if step is None or self.missing == "lowest" else grid.value(step)
        self._derive(bounds=parse_bounds(self.bounds), resolution=grid.resolution, grid=grid, _low=low, _high=high)
        self._derive(missing=missing, most_values=whole(self.most_values, "most_values"), _step_of_missing=step)
        self._set_cost(levels)

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
        """The values in steps between the bounds, in their order; missing ones left out, or as `missing` says."""
        if isinstance(values, GridSteps):
            ready: Steps = values.steps
            return ready
        if isinstance(values, Known):
            raise ParameterError(
                f"values must be one number for each person: got {type(values).__name__}. Nothing was drawn."
            )
        numbers = numbers_of(values)
        unknown = missing_among(numbers)
        steps: Steps = np.clip(self.grid.steps(numbers), self._low, self._high)
        if self.grid.denominator & (self.grid.denominator - 1):
            # No float is at a step such as 3/10. The float nearest to it, which may lie below, stands for the step.
            floats, above = floats_among(numbers), np.minimum(steps + 1, self._high)
            near = (above * self.grid.numerator / self.grid.denominator).astype(floats.dtype)
            steps = np.where(floats >= near, above, steps)
        if self._step_of_missing is None:
            return steps[~unknown]
        return np.where(unknown, self._step_of_missing, steps)

    def floor_steps(self, steps: Steps, resolution: Fraction, floored: Fraction = Fraction(0)) -> Steps:
        """Numbers that are whole steps of another grid, floored to steps of this one between the bounds.

        `floored`, in whole steps of the other grid, says how far below the exact number each of them may lie: one that
        may be at a step of this grid is at that step, so that 0.3 is not floored twice, to 0.2.

        >>> import lastbit as lb
        >>> lb.Quantile(bounds=(0, 10), resolution="1/10", epsilon=1).floor_steps(np.array([3, 100]), Fraction(1, 8))
        array([  3, 100])
        """
        ratio = resolution / self.grid.resolution
        above, below = ratio.numerator, ratio.denominator
        # The ends in steps of the other grid, and one step more. Only public numbers decide whether 64 bits are enough.
        more = (floored / resolution).numerator
        first, last = self._low * below // above - 1 - more, self._high * below // above + 1
        small = (max(abs(first), abs(last)) + more) * above < 1 << 62
        inside: Any = np.clip(steps, first, last) if small else steps.astype(object)
        highest = (inside + more) * above - (1 if more else 0)
        floors: Steps = np.clip(highest // below, self._low, self._high).astype(np.int64)
        return floors

    def neighbours(self, values: Sequence[Number]) -> Iterator[tuple[Any, ...]]:
        """These values less any one of them, and with one more: at each point of the grid where it has few."""
        start = tuple(values)
        for place in range(len(start)):
            yield (*start[:place], *start[place + 1 :])
        steps: Sequence[int] = range(self._low, self._high + 1)
        if len(steps) > _FEW_POINTS:
            near = {step + by for step in self._steps(values).tolist() for by in (-1, 0, 1)}
            steps = sorted({self._low, self._high} | {step for step in near if self._low <= step <= self._high})
        for step in steps:
            yield (*start, self.grid.value(step))


def quantile(value: object, name: str = "q") -> Fraction:
    """A quantile as a public number from 0 to 1.

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
