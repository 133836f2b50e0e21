"""`AutomaticBounds`: bounds for numbers whose range nobody knows, which hardly ever lie far beyond all numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, pairwise
from math import floor
from typing import Any, Final

import numpy as np

from lastbit.chance.draw import Draw
from lastbit.errors import ParameterError
from lastbit.estimate.accuracy import least_exponent
from lastbit.exact.numbers import Number, number, probability, whole
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.privacy.cost import Cost
from lastbit.privacy.eta import Eta
from lastbit.privacy.rate import Rate
from lastbit.release import Release
from lastbit.values.adjacency import Adjacency, choose_up_to
from lastbit.values.clamped import clamp_numbers, clamp_steps
from lastbit.values.grid import LIMIT, Grid, Steps
from lastbit.values.grid_steps import GridSteps

_FURTHEST: Final = 10**18
"""The list of possible bounds ends so many steps from zero."""


@dataclass(frozen=True, eq=False, repr=False)
class ChosenBounds(Release):
    """A lower bound of at most 0 and an upper bound of at least 0: `bounds`, as other mechanisms take them.

    >>> found = AutomaticBounds(epsilon=1).release([3] * 500 + [40] * 500)
    >>> found.bounds
    (Fraction(0, 1), Fraction(50, 1))
    """

    bounds: tuple[Fraction, Fraction]
    most_beyond: int = field(compare=False)
    """How many values, floored to the resolution, lie beyond either bound at most, with a probability of 95%."""

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the two bounds."""
        return {"lower": [self.bounds[0]], "upper": [self.bounds[1]]}

    def facts(self) -> dict[str, Any]:
        """Return how many values lie beyond either bound at most, with a probability of 95%."""
        return {"level": Fraction(95, 100), "most_beyond": self.most_beyond}


@dataclass(frozen=True, kw_only=True)
class AutomaticBounds(Mechanism[ChosenBounds]):
    """Choose bounds for numbers whose range nobody knows, from a public list of 1, 2, 5, 10, 20, 50, … steps.

    From zero up, the first number of the list beyond which few values lie is the upper bound; from zero down, the lower
    one. Zero is always between the bounds. Values are floored to the resolution; missing ones are left out. Where both
    bounds come out as zero, the upper one is the first number of the list. Use the bounds in another release, whose
    cost adds to this one. Bounds that you know are better: they cost nothing, and clamp nobody.

    Paper:    the one-sided sparse vector of Liu et al. (PVLDB 18), with one answer.
    Law:      the first y of the list with #(values > y) <= m + X - Z, with one geometric Z for each side and one X for
              each y, all of rate r, just above e^(-epsilon/2); m is the least with r^(m+1)/(1 + r) <= overshoot. So the
              upper bound is above the first y that no value exceeds with probability `overshoot` at most, whatever the
              values are; the lower one likewise.
    Cost:     epsilon or eta for both sides together: a positive value counts on one side, a negative one on the other.
    Assumes:  one person adds or removes one value, or up to `most_values`. The number of values stays private.
    Checked:  tests/laws/test_automatic_bounds.py, exactly, against the closed form and on neighbours.
    Speed:    one sort, and at most 56 draws a side.

    >>> AutomaticBounds(epsilon="1/4").release(list(range(1_000)) * 5).bounds
    (Fraction(0, 1), Fraction(1000, 1))
    """

    resolution: Number = 1
    epsilon: Number | None = None
    eta: Eta | None = None
    rho: Number | None = None
    overshoot: Number = "1/40"
    most_values: int = 1
    choices: Sequence[Number] | None = None
    """The list, if it is another one: rising numbers above zero, whole steps of the resolution."""
    furthest: Number | None = None
    """The list ends here at the latest, where values are not read further out."""
    cost: Cost = field(init=False, repr=False, compare=False)
    grid: Grid = field(init=False, repr=False, compare=False)
    rate: Rate = field(init=False, repr=False, compare=False)
    allowed: int = field(init=False, repr=False, compare=False)
    """m: how many values may lie beyond a bound, before noise."""
    _distances: Steps = field(init=False, repr=False, compare=False)
    """The list in steps, after zero."""

    def __post_init__(self) -> None:
        grid = Grid(self.resolution)
        furthest = None if self.furthest is None else number(self.furthest, "furthest")
        distances = _list_distances(grid, furthest) if self.choices is None else _parse_choices(self.choices, grid)
        cost = Cost.asked(self.epsilon, self.eta, self.rho)
        overshoot, most = probability(self.overshoot, "overshoot"), whole(self.most_values, "most_values")
        rate = cost.rate(Fraction(1, 2 * most))
        # P(Z > m + X) = r^(m+1)/(1 + r) for independent Z and X.
        allowed = max(0, least_exponent(rate, overshoot * (1 + rate.fraction)) - 1)
        if self.epsilon is not None:
            self._derive(epsilon=cost.epsilon)
        elif self.rho is not None:
            self._derive(rho=cost.stated_rho)
        if self.choices is not None:
            self._derive(choices=grid.values(distances))
        if furthest is not None:
            self._derive(furthest=furthest)
        self._derive(resolution=grid.resolution, overshoot=overshoot, most_values=most, cost=cost, grid=grid)
        self._derive(rate=rate, allowed=allowed, _distances=np.array([0, *distances], np.int64))

    @property
    def adjacency(self) -> Adjacency:
        """One person comes or goes: how many there are is private."""
        return "add-remove"

    def ready(self, values: Any) -> Callable[[Draw], ChosenBounds]:
        """Return bounds for one number for each person."""
        last = int(self._distances[-1])
        if isinstance(values, GridSteps):
            return self.ready_steps(np.clip(values.steps, -last, last))
        return self.ready_steps(clamp_numbers(values, self.grid, -last, last, None))

    def round_steps(self, steps: Steps, resolution: Fraction, floored: Fraction = Fraction(0)) -> Steps:
        """Return numbers that are whole steps of another grid in steps of this one, rounded away from zero.

        So a number is beyond a bound of the list just if its rounded one is. `floored` says how far below the exact
        number each may lie: see `clamp_steps`.

        >>> AutomaticBounds(epsilon=1).round_steps(np.array([9, -9, 8]), Fraction(1, 8)).tolist()
        [2, -2, 1]
        """
        last = int(self._distances[-1])
        up = -clamp_steps(-steps, resolution, Fraction(0), self.grid, -last - 1, last + 1)
        down = clamp_steps(steps, resolution, floored, self.grid, -last - 1, last + 1)
        return np.clip(np.where(steps > 0, up, down), -last, last)

    def ready_steps(self, steps: Steps) -> Callable[[Draw], ChosenBounds]:
        """Return the same from whole steps of the grid, none of them beyond the last number of the list."""
        rising = np.sort(steps)
        above = (len(rising) - np.searchsorted(rising, self._distances, "right")).tolist()
        below = np.searchsorted(rising, -self._distances, "left").tolist()

        def choose(draw: Draw) -> ChosenBounds:
            upper, lower = self._walk(draw, above), self._walk(draw, below)
            if upper == lower == 0:
                upper = int(self._distances[1])
            bounds = self.grid.value(-lower), self.grid.value(upper)
            return ChosenBounds(self.name, self.cost, bounds, self.accuracy())

        return choose

    def _walk(self, draw: Draw, beyond: list[int]) -> int:
        """Return the first distance that few values are beyond, or the
        last of all. Where the walk ends is published.
        """
        bar = self.allowed - draw.geometric(self.rate)
        for distance, count in zip(self._distances[:-1].tolist(), beyond, strict=False):
            if count <= bar + draw.geometric(self.rate):
                return int(distance)
        return int(self._distances[-1])

    def accuracy(self, level: Number = "0.95") -> int:
        """Return how many values lie beyond either bound at most, with at least this probability for both.

        Values beyond the end of the list count as if they were at its end.

        >>> AutomaticBounds(epsilon=1).accuracy(), AutomaticBounds(epsilon="1/4").accuracy()
        (21, 85)
        """
        walks = 2 * (len(self._distances) - 1)
        # Where a walk ends, count <= m + X: all X of both walks are small together.
        return self.allowed + least_exponent(self.rate, (1 - probability(level, "level")) / walks) - 1

    def is_last(self, bounds: tuple[Fraction, Fraction]) -> bool:
        """Return whether one of these bounds is the end of the list: of values beyond it nothing is known.

        >>> AutomaticBounds(epsilon=1, choices=[1, 10]).is_last((Fraction(0), Fraction(10)))
        True
        """
        return max(map(abs, bounds)) >= self.grid.value(int(self._distances[-1]))

    def neighbours(self, values: Sequence[Number]) -> Iterator[tuple[Any, ...]]:
        """Yield these values less those of one person, and with more: at zero, or just beyond numbers of the list."""
        start = tuple(values)
        for places in choose_up_to(range(len(start)), self.most_values, combinations):
            yield tuple(value for place, value in enumerate(start) if place not in places)
        beyond = [step for distance in self._distances[:-1].tolist() for step in (distance + 1, -distance - 1)]
        points = self.grid.values([0, *beyond])
        for more in choose_up_to(points, self.most_values, combinations_with_replacement):
            yield (*start, *more)


def _list_distances(grid: Grid, furthest: Fraction | None) -> list[int]:
    """Return 1, 2, 5, 10, 20, 50, … steps, as far as the grid goes."""
    reach, distances, power = min(_FURTHEST, grid.last), [], 1
    if furthest is not None:
        reach = min(reach, floor(furthest / grid.resolution))
    while power <= reach:
        distances += [times * power for times in (1, 2, 5) if times * power <= reach]
        power *= 10
    if not distances:
        raise ParameterError(
            "resolution must be at most 2^61, and at most furthest: no number of the list is on the grid. Use a finer "
            "one."
        )
    return distances


def _parse_choices(choices: object, grid: Grid) -> list[int]:
    if not isinstance(choices, Sequence) or isinstance(choices, str) or not choices:
        raise ParameterError("choices must be a list of rising numbers above zero. Write choices=[1, 10, 100].")
    distances = [grid.count(number(choice, "each of choices"), "each of choices") for choice in choices]
    if any(one >= other for one, other in pairwise([0, *distances])) or distances[-1] * grid.numerator > LIMIT:
        raise ParameterError(
            f"choices must rise, from above zero to at most 2^61 steps: got {', '.join(map(str, choices))}."
        )
    return distances
