"""Means and totals of public groups, and how many people each group has: two noisy sums for each group."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from typing import Any, Final

from lastbit.chance.draw import Draw
from lastbit.chance.gaussian import is_too_wide
from lastbit.errors import ParameterError
from lastbit.estimate.people import noise_of_sum
from lastbit.exact.numbers import Number, flag, probability, whole
from lastbit.mechanisms.grid_mechanism import MOST_STEPS
from lastbit.mechanisms.group_mean_values import GroupMeanValues, reach_of_total
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.mechanisms.noisy_values import Noise, accuracy_of
from lastbit.privacy.cost import Cost, positive_rho
from lastbit.privacy.eta import Eta
from lastbit.privacy.rate import Rate
from lastbit.values.adjacency import Adjacency, Choose, choose_up_to
from lastbit.values.bounds import default_step, parse_bounds
from lastbit.values.grid import Grid, common
from lastbit.values.group_sums import GroupSums, parse_groups
from lastbit.values.statistic import mean_sums, squares_about_centre

SD_SHARE: Final = Fraction(1, 4)
"""The share of the cost that pays for standard deviations, where they are asked for."""
_SQUARE_STEPS: Final = 1 << 10
"""A square is at most so many steps of its grid."""


@dataclass(frozen=True, kw_only=True)
class GroupMeans(Mechanism[GroupMeanValues]):
    """The mean and the total of a number in each of several public groups, and how many people each group has.

    A person adds to two sums of each of their groups: how far their number lies above the lower bound, and how far
    below the upper one. Both together are the range of the bounds, whatever the number is. So the number of people is
    the two sums over the range, the mean is where the first sum divides the range, and the total follows; all three are
    published at the price of one sum. Values are a mapping from groups to numbers, or the sums that tables give. A
    missing number is left out; so is a group that is not listed. A person is in `most_items` groups and has `most_rows`
    numbers in each; for `most_rows` numbers in all groups together, `most_items` is 1. With `sd`, 1/4 of the cost pays
    for a third sum of each group, and so for its standard deviation: the squares of how far the numbers lie from the
    middle of the bounds, each at most (range/2)².

    Paper:    none.
    Law:      both sums of each group with discrete Laplace noise of scale most_items·most_rows·range/epsilon, or, for
              rho, with discrete Gaussian noise of variance most_items·(most_rows·range)²/(2·rho), on the grid. With
              `sd` this is for 3/4 of the cost, and squares have the same for 1/4, with (range/2)² instead of range.
    Cost:     epsilon, eta or rho, for all groups together.
    Assumes:  one person comes or goes. Numbers are clamped to the bounds, and the first sum of a group is floored to
              the resolution, which divides the range; the second is what is left of the whole range. A sum of
              squares is floored to a part of (range/2)².
    Checked:  tests/laws/test_group_means.py, exactly, on neighbours, for both noises and for people in several groups;
              with `sd`, tests/laws/test_group_deviations.py.
    Speed:    two draws for each group, three with `sd`, and one pass over the numbers.

    >>> mechanism = GroupMeans(groups=["flu", "cold"], bounds=(0, 10), epsilon=1, most_items=2)
    >>> release = mechanism.release({"flu": [3, 4, 5] * 1000, "cold": [7] * 2000})
    >>> [round(mean) for mean in release.means]
    [4, 7]
    """

    groups: Sequence[Any]
    bounds: tuple[Number, Number]
    epsilon: Number | None = None
    eta: Eta | None = None
    rho: Number | None = None
    most_items: int = 1
    most_rows: int = 1
    resolution: Number | None = None
    sd: bool = False
    cost: Cost = field(init=False, repr=False, compare=False)
    grid: Grid = field(init=False, repr=False, compare=False)
    rate: Rate = field(init=False, repr=False, compare=False)
    noise: Noise = field(init=False, repr=False, compare=False)
    _square_step: Fraction = field(init=False, repr=False, compare=False)
    _square_rate: Rate | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = parse_groups(self.groups)
        low, high = parse_bounds(self.bounds)
        grid = Grid(default_step((low, high)) if self.resolution is None else self.resolution)
        steps = grid.count(high - low, "the range of the bounds")
        items = min(whole(self.most_items, "most_items"), len(names))
        rows = whole(self.most_rows, "most_rows")
        if items * rows * steps > MOST_STEPS:
            raise ParameterError(
                "resolution must be so coarse that one person moves the sums by at most 2^48 steps: got "
                f"{items * rows * steps:,} steps. Use a coarser one."
            )
        self._derive(groups=names, bounds=(low, high), most_items=items, most_rows=rows)
        self._derive(resolution=grid.resolution, grid=grid, sd=flag(self.sd, "sd"))
        square, share = ((high - low) / 2) ** 2, 1 - SD_SHARE if self.sd else Fraction(1)
        parts = min(steps, _SQUARE_STEPS)
        if self.rho is None:
            cost = Cost.asked(self.epsilon, self.eta, None)
            self._derive(epsilon=None if self.epsilon is None else cost.epsilon, cost=cost, noise="laplace")
            self._derive(rate=cost.rate(share / (items * rows * steps)), _square_step=square / parts)
            self._derive(_square_rate=cost.rate(SD_SHARE / (items * rows * parts)) if self.sd else None)
            return
        if self.epsilon is not None or self.eta is not None:
            raise ParameterError("exactly one of epsilon, eta and rho must be given. Write epsilon=1, or rho='1/100'.")
        rho = positive_rho(self.rho)
        # In a group, two moves of one sign add up to rows·steps at most: so do their squares, to its square.
        loss = share * rho / (items * (rows * steps) ** 2)
        if is_too_wide(loss):
            raise ParameterError(
                "resolution must be so coarse that the noise has a standard deviation of at most 2^16 steps: got "
                f"resolution {grid.resolution}. Use a coarser one, or a larger rho."
            )
        self._derive(rho=rho, cost=Cost.zcdp(rho), noise="gaussian", rate=Rate.from_epsilon(loss))
        # The squares of a person move one sum of a group by rows·parts at most.
        one_step = SD_SHARE * rho / (items * rows**2)
        while parts > 1 and is_too_wide(one_step / parts**2):
            parts //= 2
        if self.sd and is_too_wide(one_step / parts**2):
            raise ParameterError(
                f"rho must be larger with sd: got {rho}, and the noise of the squares would have a standard deviation "
                "above 2^16 steps. Ask without sd, or with a larger rho."
            )
        square_rate = Rate.from_epsilon(one_step / parts**2) if self.sd else None
        self._derive(_square_step=square / parts, _square_rate=square_rate)

    @property
    def adjacency(self) -> Adjacency:
        """People come and go: one whose number is replaced moves the sums twice as far."""
        return "add-remove"

    def accuracy(self, level: Number = "0.95", people: int = 1000) -> Fraction:
        """Return how far the mean of a group of so many people is off at most, at this level; the whole range at most.

        >>> float(GroupMeans(groups=["a", "b"], bounds=(0, 10), epsilon=1).accuracy("0.95", 1000))
        0.037...
        """
        whole_range, reach = whole(people, "people") * self._range, self._reach(level)
        return (
            self._range * min(Fraction(1), reach / (whole_range - 2 * reach))
            if whole_range > 3 * reach
            else self._range
        )

    def people_accuracy(self, level: Number = "0.95") -> Fraction:
        """Return how far the number of people of a group is off at most, at this level.

        >>> float(GroupMeans(groups=["a"], bounds=(0, 10), epsilon=1, resolution=1).people_accuracy())
        4.1
        """
        reach = noise_of_sum(self.noise, self.rate, 2, (1 - probability(level, "level")) / 2)
        return reach * self.grid.resolution / self._range

    def total_accuracy(self, level: Number = "0.95") -> Fraction:
        """Return how far the total of a group is off at most, at this level, where numbers are exact.

        >>> float(GroupMeans(groups=["a"], bounds=(0, 10), epsilon=1, resolution=1).total_accuracy())
        31.0
        """
        return (
            reach_of_total(parse_bounds(self.bounds), self.grid.resolution, self.noise, self.rate, level)
            + self.grid.resolution
        )

    def _reach(self, level: Number) -> Fraction:
        """Return how far either sum may be off, both together at this level."""
        steps = accuracy_of(self.noise, self.rate, (1 + probability(level, "level")) / 2)
        return (steps + 1) * self.grid.resolution

    def ready(self, values: Mapping[Any, Any] | GroupSums) -> Callable[[Draw], GroupMeanValues]:
        """Return the means of each group, from a mapping of groups to numbers, or from the sums of a table."""
        sums = values if isinstance(values, GroupSums) else self._add_up(values)
        if sums.bounds != self.bounds or len(sums.values) != len(self.groups):
            raise ParameterError(
                f"values must be of {len(self.groups):,} groups, with the same bounds as the mechanism. Nothing was "
                "drawn."
            )
        if sums.each > self.most_rows * self._range or sums.total > self.most_items * self.most_rows * self._range:
            raise ParameterError(
                f"one person has up to {sums.most_rows:,} numbers in {sums.most_items:,} groups, the mechanism was "
                f"built for {self.most_rows:,} in {self.most_items:,}. Build it with most_items={sums.most_items} and "
                f"most_rows={sums.most_rows}. Nothing was drawn."
            )
        if self.sd and sums.squares is None:
            raise ParameterError("sums must have squares for sd: ask for them with squares=True. Nothing was drawn.")
        unit, whole_range = self.grid.resolution, int(self._range / self.grid.resolution)
        on_grid = sums.unit is not None and (sums.unit / unit).denominator == 1
        first = [math.floor(above / unit) for above, _ in sums.values]
        second = [n * whole_range - above for above, (_, n) in zip(first, sums.values, strict=True)]
        name, cost, items, bounds, rate, noise = self.name, self.cost, self.groups, self.bounds, self.rate, self.noise
        floored, square_step, square_rate = sums.floored, self._square_step, self._square_rate
        third = [math.floor(square / square_step) for square in sums.squares or ()]

        def measure(draw: Draw) -> GroupMeanValues:
            add_noise = draw.laplace if noise == "laplace" else draw.gaussian
            own = add_noise(rate, 2 * len(items)).tolist()
            pairs = tuple(
                (above + one, below + other)
                for above, below, one, other in zip(first, second, own[::2], own[1::2], strict=True)
            )
            values = GroupMeanValues(name, cost, pairs, items, unit, bounds, rate, noise, floored, on_grid)  # type: ignore[arg-type]
            if square_rate is None:
                return values
            more = zip(third, add_noise(square_rate, len(items)).tolist(), strict=True)
            squares = tuple(square + one for square, one in more)
            return replace(values, squares=squares, square_step=square_step, square_rate=square_rate)

        return measure

    def _add_up(self, values: Any) -> GroupSums:
        """Return the sums of numbers that come as a mapping."""
        if not isinstance(values, Mapping):
            raise ParameterError(f"values must be a mapping from groups to numbers: got {type(values).__name__}.")
        low, high = parse_bounds(self.bounds)
        step = common(self.grid.resolution, low)
        parts = [mean_sums(values.get(group, ()), bounds=(low, high), resolution=step) for group in self.groups]
        half = (high - low) / 2
        sums = tuple((first + second, int(second / half)) for first, second in (part.values for part in parts))
        floored = max(part.floored for part in parts)
        unit = None if floored else step
        squares = (
            tuple(squares_about_centre(values.get(group, ()), (low, high), step) for group in self.groups)
            if self.sd
            else None
        )
        return GroupSums(sums, (low, high), self.most_items, self.most_rows, floored, unit, squares)

    @property
    def _range(self) -> Fraction:
        low, high = parse_bounds(self.bounds)
        return high - low

    def neighbours(self, values: Any) -> Iterator[Any]:
        """Yield these values less those that one person has, and with more of them: at bounds or in the middle."""
        low, high = parse_bounds(self.bounds)
        start = {group: tuple(values.get(group, ())) for group in self.groups}
        places = [(group, place) for group, numbers in start.items() for place in range(len(numbers))]
        for less in self._of_one_person(places, combinations):
            yield {
                group: tuple(value for place, value in enumerate(numbers) if (group, place) not in less)
                for group, numbers in start.items()
            }
        points = [(group, point) for group in self.groups for point in (low, (low + high) / 2, high)]
        for more in self._of_one_person(points, combinations_with_replacement):
            yield {
                group: (*numbers, *(point for name, point in more if name == group)) for group, numbers in start.items()
            }

    def _of_one_person(self, pairs: Sequence[Any], choose: Choose) -> Iterator[tuple[Any, ...]]:
        """Yield which pairs of a group and a number one person may have: some in each of some groups, or few in any."""
        for chosen in choose_up_to(pairs, self.most_items * self.most_rows, choose):
            counts = Counter(group for group, _ in chosen)
            of_groups = len(counts) <= self.most_items and max(counts.values()) <= self.most_rows
            if of_groups or len(chosen) <= self.most_rows:
                yield chosen
