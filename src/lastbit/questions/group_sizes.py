"""How many people each listed group has, measured beside an answer that does not tell it: a tenth of the price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import nan
from typing import TYPE_CHECKING, Any, Final

from lastbit.mechanisms.parts import Parts
from lastbit.questions.groups import clip, name_ends
from lastbit.questions.people import Build, PeopleReading, choose_noise, share_of
from lastbit.questions.published_groups import TOO_FEW, blank_out, rename_ends

if TYPE_CHECKING:
    from lastbit.data.numbers import Numbers
    from lastbit.mechanisms.gaussian import DiscreteGaussian
    from lastbit.mechanisms.laplace import DiscreteLaplace

SIZES: Final = "people"
NUMBERS: Final = "numbers"
_SHARE: Final = Fraction(1, 10)


@dataclass(frozen=True)
class GroupSizes:
    """The part of a release that says how many people, or rows, each group has."""

    groups: tuple[Any, ...]
    of_rows: bool = False
    """Whether each row is a number: then rows are counted, and one person has several in one group."""

    def main_cost(self, cost: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is left of a cost for the answer."""
        return share_of(cost, 1 - _SHARE)

    def noise(self, most: int, cost: Mapping[str, Any]) -> DiscreteLaplace | DiscreteGaussian:
        """Return the noise of the sizes, where so many numbers are of one person, at its share of a cost."""
        bound = {"sensitivity": most} if self.of_rows else {"most": min(most, len(self.groups))}
        return choose_noise(share_of(cost, _SHARE), **bound)

    def mechanism(self, most: int, cost: Mapping[str, Any], build: Build) -> Parts:
        """Return the mechanism of the sizes and of the answer, which `build` makes, for one cost."""
        return Parts(parts={SIZES: self.noise(most, cost), NUMBERS: build(most, self.main_cost(cost))})

    def values(self, numbers: Numbers, answer: Any) -> dict[str, Any]:
        """Return the private values of both parts."""
        return {SIZES: numbers.group_sizes(self.groups), NUMBERS: answer}

    def ends(self, reading: PeopleReading) -> list[Any]:
        """Return the interval of the size of each group: of all people, where the release knows whom a bound cuts."""
        sizes = reading.release[SIZES]
        if not reading.knows_cut or self.of_rows:
            return [(max(low, 0), max(high, 0)) for low, high in sizes.interval(reading.level)]
        return [reading.interval(ends) for ends in sizes.interval(reading.counted_level)]

    def fewest(self, reading: PeopleReading) -> list[Any]:
        """Return how many people are surely counted in each group."""
        return [low for low, _ in reading.release[SIZES].interval(reading.level)]

    def columns(self, reading: PeopleReading) -> dict[str, list[Any]]:
        """Return the sizes and their intervals, as `to_frame` names them."""
        ends = self.ends(reading)
        sizes = reading.release[SIZES].columns()["value"]
        if reading.knows_cut and not self.of_rows:
            sizes = [clip(size, own) for size, own in zip(sizes, ends, strict=True)]
        return rename_ends(name_ends("", sizes, ends), SIZES)


@dataclass(frozen=True)
class GroupQuantileTable:
    """The quantiles of each group with its number of people, as tables and data frames have them."""

    values: Sequence[Sequence[Any]]
    """A row for each group, with a value for each quantile."""
    qs: Sequence[Fraction]
    ranks: Sequence[Fraction]
    """How many ranks the value of each quantile may be off."""
    fewest: Sequence[Any]
    """How many people are surely counted in each group."""
    sizes: Mapping[str, Sequence[Any]]

    @property
    def visible(self) -> list[list[bool]]:
        """Whether each value says anything: somebody is surely there, and the ranks end at one side before the bounds.

        Published numbers decide it.
        """
        return [
            [fewest >= 1 and ranks < max(q, 1 - q) * fewest for q, ranks in zip(self.qs, self.ranks, strict=True)]
            for fewest in self.fewest
        ]

    @property
    def by_quantile(self) -> list[list[Any]]:
        """For each quantile, its value in each group; None where nothing is said."""
        rows = [blank_out(*row) for row in zip(self.values, self.visible, strict=True)]
        return [[row[place] for row in rows] for place in range(len(self.qs))]

    @property
    def why(self) -> list[str]:
        """For each group, why a value of it is not said; "" where all are."""
        return ["" if all(row) else TOO_FEW for row in self.visible]

    def frame(self, labels: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
        """Return a row for each quantile of each group."""
        times, seen = len(self.qs), [cell for row in self.visible for cell in row]
        per_group = {**labels, **self.sizes}
        columns = {name: [cell for cell in column for _ in range(times)] for name, column in per_group.items()}
        values = [value for row in self.values for value in row]
        return {
            **{name: columns[name] for name in labels},
            "quantile": [*self.qs] * len(self.values),
            "value": [value if own else nan for value, own in zip(values, seen, strict=True)],
            **{name: columns[name] for name in self.sizes},
            "shown": seen,
            "why": ["" if own else TOO_FEW for own in seen],
        }
