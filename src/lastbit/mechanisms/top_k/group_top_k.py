"""`GroupTopK`: the k largest values in each of several public groups, with the gap from each to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import accumulate, combinations, product
from typing import Any

from lastbit.chance.draw import Draw
from lastbit.errors import ParameterError
from lastbit.estimate.accuracy import laplace_accuracy
from lastbit.exact.numbers import Number, flag, number, probability, whole
from lastbit.mechanisms.grid_mechanism import GridMechanism
from lastbit.mechanisms.top_k.mechanism import noise_bound
from lastbit.mechanisms.top_k.noisy_top_k import NoisyTopK
from lastbit.mechanisms.top_k.select_and_measure import SelectAndMeasure
from lastbit.output.picture import Panel
from lastbit.privacy.eta import Eta
from lastbit.release import Interval, Release
from lastbit.values.group_sums import parse_groups


@dataclass(frozen=True, eq=False, repr=False)
class GroupSelections(Release):
    """The selected of each group, best first: `selections` has one selection for each of the public `groups`.

    >>> mechanism = GroupTopK(groups=["north", "south"], k=1, epsilon=9, resolution=1, monotone=True)
    >>> release = mechanism.release({"north": [90, 5], "south": [5, 90]})
    >>> [selection.indices for selection in release.selections]
    [(0,), (1,)]
    """

    selections: tuple[Any, ...]
    groups: tuple[Any, ...] = field(hash=False)

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return a row for each selected value of each group."""
        tables = [selection.columns() for selection in self.selections]
        ranks = [rank for selection in self.selections for rank in range(1, len(selection.indices) + 1)]
        return {
            "group": self.repeat_groups(self.groups),
            "rank": ranks,
            **{
                name: [
                    cell
                    for table, own in zip(tables, self.selections, strict=True)
                    for cell in table.get(name, [None] * len(own.indices))
                ]
                for name in dict.fromkeys(name for table in tables for name in table)
            },
        }

    def repeat_groups(self, names: Sequence[Any]) -> list[Any]:
        """Return the name of a group for each of its selected values."""
        return [name for name, own in zip(names, self.selections, strict=True) for _ in own.indices]

    def error_bars(self, level: Number = "0.95", most: int | None = None) -> dict[str, Sequence[Interval | None]]:
        """Return the intervals of the gaps, and those of measured values. Those of a group's gaps hold together."""
        bars = [selection.error_bars(level, most) for selection in self.selections]
        return {name: [bar for own in bars for bar in own[name]][:most] for name in bars[0]}

    def panels(self, level: Number = "0.95") -> Sequence[Panel]:
        """Return the gaps, or the measured values, of all groups beside each other."""
        columns, bars = self.columns(), self.error_bars(level)
        own = columns.get("item", columns["index"])
        labels = [f"{group}: {item}" for group, item in zip(columns["group"], own, strict=True)]
        if "estimate" in columns:
            return [Panel("estimate", labels, columns["estimate"], "group", bars["estimate"])]
        bottoms: list[Any] = []
        for selection in self.selections:
            behind = list(accumulate(reversed(selection.gaps), initial=Fraction(0)))
            bottoms += [*behind[-2::-1], 0][: len(selection.indices)]
        return [Panel("ahead of the next", labels, columns["gap"], "group", bars["gap"], bottoms=bottoms)]


@dataclass(frozen=True, kw_only=True)
class GroupTopK(GridMechanism[GroupSelections]):
    """Pick the k largest values in each public group, with the gap from each to the next; with `numbers`, measure them.

    The values come as a mapping from groups to values, of which each group has at least k. A person who is in
    `most_groups` groups at most moves the values of these alone; without it, a person may be in all. So the selection
    in one group takes that share of the cost.

    Paper:    composition over the groups of one person, parallel composition (McSherry 2009) over the others.
    Law:      that of `NoisyTopK`, or of `SelectAndMeasure`, in each group, independently, at cost/most_groups.
    Cost:     epsilon, eta or rho, for all groups together.
    Assumes:  one person moves the values of at most `most_groups` groups, each by at most `sensitivity`; when monotone,
              all of them the same way. Groups and candidates are public.
    Checked:  tests/laws/test_group_top_k.py, exactly: the law is the product, and the loss on neighbours in one group
              and in several, for both currencies.
    Speed:    that of `NoisyTopK` or `SelectAndMeasure` in each group.

    >>> top = GroupTopK(groups=["north", "south"], k=2, epsilon=8, resolution=1, monotone=True)
    >>> release = top.release({"north": [500, 10, 900], "south": [10, 800, 400]})
    >>> release.columns()["group"], release.columns()["index"]
    (['north', 'north', 'south', 'south'], [2, 0, 1, 2])
    """

    groups: Sequence[Any]
    k: int
    most_groups: int | None = None
    numbers: bool = False
    resolution: Number = "1/10"
    monotone: bool = False
    _one_group: NoisyTopK | SelectAndMeasure = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        names = parse_groups(self.groups)
        most = len(names) if self.most_groups is None else min(whole(self.most_groups, "most_groups"), len(names))
        kind = SelectAndMeasure if flag(self.numbers, "numbers") else NoisyTopK
        grid: dict[str, Any] = {name: getattr(self, name) for name in ("sensitivity", "resolution", "monotone")}
        one_group = kind(k=self.k, **self._share(most), **grid)
        self._derive(groups=names, most_groups=most, k=one_group.k, monotone=one_group.monotone, _one_group=one_group)
        cost = one_group.cost * most
        # Shares of one rho add up to this rho, as it was written.
        self._derive(cost=cost if self.rho is None else replace(cost, stated_rho=Fraction(self.rho)))

    def _share(self, most: int) -> dict[str, Any]:
        """Return what the selection in one group may cost, where one person is in so many groups."""
        if self.eta is not None:
            if self.eta.z % most:
                raise ParameterError(
                    f"eta's z must be a multiple of the number of groups that a person is in, {most}: got "
                    f"{self.eta.z}. Multiply z, or ask for an epsilon, which can always be divided."
                )
            return {"eta": Eta(self.eta.x, self.eta.y, self.eta.z // most)}
        if self.rho is not None:
            return {"rho": Fraction(self.rho) / most}
        return {"epsilon": Fraction(self.epsilon) / most}  # type: ignore[arg-type]

    def ready(self, values: Mapping[Any, Any]) -> Callable[[Draw], GroupSelections]:
        """Return a selection in each group, from a mapping of groups to numbers, Counts or a Statistic."""
        if not isinstance(values, Mapping):
            raise ParameterError(f"values must be a mapping from groups to values: got {type(values).__name__}.")
        without = next((group for group in self.groups if group not in values), None)
        if without is not None:
            raise ParameterError(
                f"values must have the values of each group: got none of {without!r}. Nothing was drawn."
            )
        ready = [self._one_group.ready(values[group]) for group in self.groups]
        name, cost, groups = self.name, self.cost, self.groups

        def select(draw: Draw) -> GroupSelections:
            return GroupSelections(name, cost, tuple(pick(draw) for pick in ready), groups)  # type: ignore[arg-type]

        return select

    def accuracy(self, n: int, level: Number = "0.95", margin: Number = 0) -> Fraction:
        """Return how far above a selected candidate one left out of the n of a group can be: as `NoisyTopK.accuracy`.

        >>> float(GroupTopK(groups=["a", "b"], k=5, epsilon=1, monotone=True).accuracy(1000))
        99.1
        """
        bound = noise_bound(self._one_group._selector.rate, whole(n, "n"), level)
        return bound * self.grid.resolution + number(margin, "margin")

    def measurement_accuracy(self, level: Number = "0.95") -> Fraction:
        """Return how far the measurement of a selected value is off at most, with at least this probability.

        >>> float(GroupTopK(groups=["a", "b"], k=5, epsilon=1, numbers=True).measurement_accuracy())
        59.9
        """
        if not isinstance(self._one_group, SelectAndMeasure):
            raise ParameterError("measurement_accuracy is of measured values: build the mechanism with numbers=True.")
        off = laplace_accuracy(self._one_group._measurement_rate, probability(level, "level"))
        return off * self.grid.resolution

    def neighbours(self, values: Any) -> Iterator[Any]:
        """Yield what one person could have turned these values into, in up to `most_groups` groups at once.

        Where the mechanism is monotone, all values move the same way.
        """
        start = {group: tuple(self.grid.values(self.grid.steps(values[group]))) for group in self.groups}
        for many in range(1, (self.most_groups or 1) + 1):
            for moved in combinations(self.groups, many):
                for own in product(*(self._one_group.neighbours(start[group]) for group in moved)):
                    rises = {sum(after) > sum(start[group]) for group, after in zip(moved, own, strict=True)}
                    if len(rises) == 1 or not self.monotone:
                        yield {**start, **dict(zip(moved, own, strict=True))}
