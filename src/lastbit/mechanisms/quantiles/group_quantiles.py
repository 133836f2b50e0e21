"""`GroupQuantiles`: the quantiles of each of several public groups, where a person is in one group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from typing import Any

from lastbit.chance.draw import Draw
from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number
from lastbit.mechanisms.quantiles.mechanism import QuantileMechanism
from lastbit.mechanisms.quantiles.quantiles import Quantiles
from lastbit.release import Release
from lastbit.values.adjacency import choose_up_to
from lastbit.values.grid import Steps
from lastbit.values.grid_steps import GridSteps
from lastbit.values.group_sums import parse_groups


@dataclass(frozen=True, eq=False, repr=False)
class GroupQuantileValues(Release):
    """The quantiles of each group: `values` has one row for each group, in the order of `items`.

    >>> groups = GroupQuantiles(groups=["north", "south"], qs=["1/2"], bounds=(0, 9), epsilon=9)
    >>> print(groups.release({"north": [3] * 50, "south": [4] * 50}))
    Quantiles of groups, epsilon 9
     item  quantile  value
    north       0.5      3
    south       0.5      4
    """

    values: tuple[tuple[Fraction, ...], ...]
    items: tuple[Any, ...] = field(hash=False)
    qs: tuple[Fraction, ...] = field(hash=False)

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return a row for each quantile of each group."""
        return {
            "item": [item for item in self.items for _ in self.qs],
            "quantile": self.qs * len(self.items),
            "value": [value for row in self.values for value in row],
        }


@dataclass(frozen=True, kw_only=True)
class GroupQuantiles(QuantileMechanism[GroupQuantileValues]):
    """Pick points of a public grid near the quantiles of each public group, for the price of one group.

    The values come as a mapping from groups to lists of numbers; a group that is not there has none. Groups that nobody
    listed in `groups` are left out, as which groups occur is private.

    Paper:    parallel composition (McSherry 2009) of `Quantiles`.
    Law:      that of `Quantiles` in each group, independently.
    Cost:     that of `Quantiles` for one group: a person is in one group.
    Assumes:  one person adds or removes one value in one group, or up to `most_values` in all groups together.
    Checked:  tests/laws/test_group_quantiles.py, exactly.
    Speed:    that of `Quantiles` on all values, and three words for each quantile of each group.

    >>> wages = GroupQuantiles(groups=["nurse", "doctor"], qs=["1/4", "3/4"], bounds=(0, 200), epsilon=9)
    >>> wages.release({"nurse": range(20, 60), "doctor": range(60, 140)}).items
    ('nurse', 'doctor')
    """

    groups: Sequence[Any]
    qs: Sequence[Number] = ("1/2",)
    spread: int | None = None
    _one_group: Quantiles = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = parse_groups(self.groups)
        one_group = Quantiles(
            qs=self.qs,
            bounds=self.bounds,
            resolution=self.resolution,
            scale=self.scale,
            epsilon=self.epsilon,
            eta=self.eta,
            rho=self.rho,
            missing=self.missing,
            most_values=self.most_values,
            spread=self.spread,
        )
        self._prepare(levels=len(one_group.qs).bit_length())
        self._derive(groups=names, qs=one_group.qs, spread=one_group.spread, _one_group=one_group)

    def ready(self, values: Mapping[Any, Any] | GridSteps) -> Callable[[Draw], GroupQuantileValues]:
        """Return the quantiles of each group, from a mapping of groups to one number for each person."""
        if isinstance(values, GridSteps):
            return self.ready_steps(values.steps)
        if not isinstance(values, Mapping):
            raise ParameterError(f"values must be a mapping from groups to numbers: got {type(values).__name__}.")
        return self.ready_steps([self._steps(values.get(group, ())) for group in self.groups])

    def ready_steps(self, steps: Sequence[Steps]) -> Callable[[Draw], GroupQuantileValues]:
        """Return the same from whole steps between the bounds, for each group in the order of `groups`."""
        ready = [self._one_group.ready_steps(group_steps) for group_steps in steps]
        items: Any = self.groups
        qs: Any = self.qs

        def pick(draw: Draw) -> GroupQuantileValues:
            values = tuple(pick_group(draw).values for pick_group in ready)
            return GroupQuantileValues(self.name, self.cost, values, items, qs)

        return pick

    def accuracy(
        self, level: Number = "0.95", *, ties: int = 1, magnitude: Number | None = None
    ) -> tuple[Fraction, ...]:
        """Return how many ranks the values of one group are away from their quantiles at most: as `Quantiles.accuracy`.

        >>> [float(ranks) for ranks in GroupQuantiles(groups=["a"], bounds=(0, 1000), epsilon=1).accuracy()]
        [9.5]
        """
        return self._one_group.accuracy(level, ties=ties, magnitude=magnitude)

    def neighbours(self, values: Any) -> Iterator[Any]:
        """Yield these values less those that one person has, in one group or in several, and with more of them."""
        start = {group: tuple(values.get(group, ())) for group in self.groups}
        places = [(group, place) for group, numbers in start.items() for place in range(len(numbers))]
        for less in choose_up_to(places, self.most_values, combinations):
            yield {
                group: tuple(value for place, value in enumerate(numbers) if (group, place) not in less)
                for group, numbers in start.items()
            }
        points = [(group, point) for group, numbers in start.items() for point in self.points_near(numbers)]
        for more in choose_up_to(points, self.most_values, combinations_with_replacement):
            yield {
                group: (*numbers, *(point for name, point in more if name == group)) for group, numbers in start.items()
            }
