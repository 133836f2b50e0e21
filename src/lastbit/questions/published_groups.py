"""What a release about numbers of listed groups says of each group: people, mean and total, with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, nan
from typing import TYPE_CHECKING, Any, Final

from lastbit.mechanisms.group_mean_values import halve_failures
from lastbit.questions.groups import clip, name_ends

if TYPE_CHECKING:
    import lastbit as lb
    from lastbit.questions.people import PeopleReading
    from lastbit.release import Interval

TOO_FEW: Final = "too few to say"


@dataclass(frozen=True)
class PublishedGroups:
    """The numbers of all groups, for all people where the release knows whom a bound leaves out."""

    reading: PeopleReading
    groups: Sequence[Any]
    leads: str
    """Which numbers are called `value`: "mean", "sum", or "share", which is a mean in percent."""
    of_rows: bool = False
    """Whether each row is a number: then nothing is known about rows that are not counted."""

    @cached_property
    def release(self) -> lb.GroupMeanValues:
        """The answer itself."""
        main: lb.GroupMeanValues = self.reading.main
        return main

    @cached_property
    def _for_all(self) -> bool:
        """Whether intervals are widened, so that they are for all people."""
        return self.reading.knows_cut and not self.of_rows

    @property
    def _level(self) -> Fraction:
        return self.reading.counted_level if self._for_all else self.reading.level

    @cached_property
    def missing(self) -> list[int]:
        """How many people of each group may be left out, at most."""
        return self._missing_at(self._level)

    def _missing_at(self, level: Fraction) -> list[int]:
        """Return how many people of each group may be left out, at most, where the people counted are at this level."""
        if not self._for_all:
            return [0] * len(self.release.items)
        return [
            self.reading.most_missing(ceil(low or 0), floor(high or 0))
            for low, high in self.release.people_within(level)
        ]

    @cached_property
    def mean_ends(self) -> list[Interval]:
        """The interval of the mean of each group."""
        return list(self.release.intervals(self._level, self.missing))

    @cached_property
    def means(self) -> list[Any]:
        """The mean of each group; None where nobody is seen."""
        pairs = zip(self.release.means, self.mean_ends, strict=True)
        return [None if mean is None else clip(mean, ends) for mean, ends in pairs]

    @cached_property
    def sd_ends(self) -> list[Interval]:
        """The interval of the standard deviation of each group; none where nobody asked for it."""
        return list(self.release.sd_intervals(self._level, self._missing_at(halve_failures(self._level))))

    @cached_property
    def sds(self) -> list[Any]:
        """The standard deviation of each group; None where nobody is seen."""
        pairs = zip(self.release.sds, self.sd_ends, strict=True)
        return [None if sd is None else clip(sd, ends) for sd, ends in pairs]

    @cached_property
    def people_ends(self) -> list[Interval]:
        """The interval of the number of people of each group."""
        counted = self.release.people_intervals(self._level)
        return [self.reading.interval(ends) for ends in counted] if self._for_all else list(counted)

    @cached_property
    def people(self) -> list[Any]:
        """How many people each group has."""
        people = self.release.people
        if not self._for_all:
            return list(people)
        return [clip(number, ends) for number, ends in zip(people, self.people_ends, strict=True)]

    @cached_property
    def total_ends(self) -> list[Any]:
        """The interval of the total of each group."""
        low, high = self.release.bounds
        cut = self.reading.bounds.cut if self._for_all else 0
        least, most = min(low, Fraction(0)) * cut, max(high, Fraction(0)) * cut
        counted = self.release.total_intervals(self._level)
        ends: Any = [(start + least, end + most) for start, end in counted]  # type: ignore[operator]
        # No total is on the other side of 0 than all numbers are.
        return [(max(start, 0) if low >= 0 else start, min(end, 0) if high <= 0 else end) for start, end in ends]

    @cached_property
    def totals(self) -> list[Any]:
        """The total of each group."""
        if not self._for_all:
            return list(self.release.totals)
        return [clip(total, ends) for total, ends in zip(self.release.totals, self.total_ends, strict=True)]

    @cached_property
    def visible(self) -> list[bool]:
        """Whether the mean of a group says anything: decided by published numbers alone."""
        low, high = self.release.bounds
        return [
            fewest >= 1 and end - start < high - low  # type: ignore[operator]
            for (fewest, _), (start, end) in zip(self.people_ends, self.mean_ends, strict=True)
        ]

    @cached_property
    def columns(self) -> dict[str, list[Any]]:
        """The numbers of `to_frame`, with None where nothing is said."""
        release, level, by_mean = self.release, self.reading.level, self.leads != "sum"
        people = rename_ends(name_ends("", self.people, self.people_ends), "people")
        totals = name_ends("", self.totals, self.total_ends)
        means = self._hide(name_ends("", self._scale(self.means), self._scale_ends(self.mean_ends)))
        columns = {**people, **(means if by_mean else totals)}
        columns |= rename_ends(totals, "total") if by_mean else rename_ends(means, "mean")
        if self.release.squares:
            columns |= self._hide(rename_ends(name_ends("", self.sds, self.sd_ends), "sd"))
        if self._for_all and by_mean:
            ends = self._scale_ends(release.intervals(level))
            columns |= self._hide(name_ends("bounded_", self._scale(release.means), ends))
        elif self._for_all:
            columns |= name_ends("bounded_", release.totals, release.total_intervals(level))
        return columns | {"shown": self.visible, "why": ["" if seen else TOO_FEW for seen in self.visible]}

    @property
    def shares(self) -> tuple[list[Any], list[Any]]:
        """The shares in percent, and their intervals; None where nothing is said."""
        ends = blank_out(self._scale_ends(self.mean_ends), self.visible)
        return blank_out(self._scale(self.means), self.visible), ends

    def _scale(self, means: Sequence[Any]) -> list[Any]:
        """Return means as they are shown: shares in percent."""
        factor = 100 if self.leads == "share" else 1
        return [None if mean is None else factor * mean for mean in means]

    def _scale_ends(self, ends: Sequence[Any]) -> list[Any]:
        return list(zip(*(self._scale(column) for column in zip(*ends, strict=True)), strict=True))

    def _hide(self, columns: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
        return {name: blank_out(column, self.visible) for name, column in columns.items()}

    @property
    def frame(self) -> dict[str, list[Any]]:
        """The columns of `to_frame`: no number where nothing is said."""
        return {name: [nan if cell is None else cell for cell in column] for name, column in self.columns.items()}


def rename_ends(columns: Mapping[str, list[Any]], name: str) -> dict[str, list[Any]]:
    """Return value, low and high under the name of another number.

    >>> list(rename_ends({"value": [1], "low": [0], "high": [2]}, "people"))
    ['people', 'people_low', 'people_high']
    """
    return {name if key == "value" else f"{name}_{key}": column for key, column in columns.items()}


def blank_out(column: Sequence[Any], shown: Sequence[bool]) -> list[Any]:
    """Return a column with nothing where nothing is shown.

    >>> blank_out([5, 7], [True, False])
    [5, None]
    """
    return [cell if seen else None for cell, seen in zip(column, shown, strict=True)]
