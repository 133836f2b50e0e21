"""The question `count --different`: how many different values of a column people have, in all or in each group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lastbit.errors import ParameterError
from lastbit.output.words import plural
from lastbit.questions.edge_types import count_bins
from lastbit.questions.groups import name_ends
from lastbit.questions.people import PeopleParts, PeopleReading, choose_noise, parse_share
from lastbit.questions.question import Accuracy, Question
from lastbit.questions.reading_notes import describe_groups, describe_unit
from lastbit.questions.report import Report, format_bound, format_percent
from lastbit.questions.titles import head_groups, name_different
from lastbit.values.ranked import DifferentValues, reach_in_one

if TYPE_CHECKING:
    from lastbit.mechanisms.gaussian import DiscreteGaussian
    from lastbit.mechanisms.laplace import DiscreteLaplace
    from lastbit.questions.item_options import ItemOptions
    from lastbit.questions.request import Request

EVERYWHERE = ("",)
"""The one group of all rows, where nobody names groups."""


@dataclass(frozen=True)
class DifferentQuestion:
    """A question about the number of different values, in all rows or in each of several listed groups."""

    request: Request

    @cached_property
    def _groups(self) -> ItemOptions:
        return self.request.items.groups

    @cached_property
    def _names(self) -> tuple[Any, ...]:
        return tuple(self._groups.names) if self._groups.by else EVERYWHERE

    @cached_property
    def _size(self) -> int | None:
        """How many values are listed; None where nobody listed them."""
        domain = self.request.items.known_domains.get(self.request["different"])
        return None if domain is None else len(domain.items)

    @cached_property
    def _all(self) -> int | None:
        """How many pairs of a group and a value there are; None where nobody listed the values."""
        return None if self._size is None else self._size * len(self._names)

    @cached_property
    def _people(self) -> PeopleParts:
        """What is measured about people: how many have more than count."""
        most, share = self.request.items.most_items, parse_share(self.request["people_share"])
        if self.request.rows.unit is None:
            return PeopleParts(size=1, share=share)
        if self._all is not None and (most is None or most >= self._all):
            return PeopleParts(size=self._all, share=share)
        if most is None:
            raise ParameterError(
                f"--different needs --most-items: how many {self._noun[1]} one person brings at most, as "
                "--most-items 5. Or list the values with --domain a,b,c: then everybody counts with all of theirs. "
                "Nothing was read."
            )
        return PeopleParts(most, share=share)

    @property
    def _noun(self) -> tuple[str, str]:
        """What one of the values is called, and what several are."""
        return name_different(self.request)

    def _noise(self, most: int, cost: Mapping[str, Any]) -> DiscreteLaplace | DiscreteGaussian:
        """Return the noise of numbers that one person moves by so many, all together."""
        reach = reach_in_one(most, self._size)
        return choose_noise(cost, sensitivity=reach, most=Fraction(most, reach))

    @cached_property
    def _within(self) -> Fraction:
        """How far a number is off at most, of the values counted."""
        return self._noise(self._people.highest, self._people.main_cost(self.request.cost)).accuracy(self.request.level)

    def ask(self) -> Question:
        """Return the question."""
        from lastbit.questions.reading import read_different

        request, people, groups = self.request, self._people, self._groups
        _ = self._names  # refuses groups that nobody listed, before anything is read
        return Question(
            people.mechanism(request.cost, self._noise),
            reading=read_different(request.rows, request.items, groups, people.most).then(people.values),
            report=self.report,
            sample=lambda units: people.values(self._make_values(units)),
            accuracy=lambda units: self.accuracy(),
            notes=[*describe_unit(request), *describe_groups(request)],
        )

    def _make_values(self, units: int) -> DifferentValues:
        """Return made-up numbers of values: one person in ten brings one that nobody has before."""
        n = len(self._names)
        number = units // 10 + 1 if self._size is None else min(units // 10 + 1, self._size)
        ones = np.ones(n, np.int64)
        return DifferentValues(
            self._names, np.arange(n), ones, ones * number, heads=ones * (units // n), listed=self._size
        )

    def report(self, published: Any) -> Report:
        """Describe a release."""
        request, people, level = self.request, self._people, self.request.level
        labels = self._groups.columns(self._names) if self._groups.by else {}
        reading = people.read(published, level)
        intervals, values = reading.main.interval(level), list(reading.main.columns()["value"])
        text, bounded = format_percent(level), people.is_bounded
        heading = f"{self._noun[1]} counted" if bounded else self._noun[1]
        intervals_of = "Each interval" if labels else "The interval"
        of_counted = f", for the {self._noun[1]} counted" if bounded else ""
        notes = [
            f"{intervals_of} holds with probability {text}{' or more' if labels else ''}{of_counted}.",
            *self._describe_bound(reading, text),
        ]
        # Of all values nothing is known but that they are no fewer than those counted.
        ends = [(low, None) for low, _ in intervals] if bounded else intervals
        numbers = name_ends("", values, ends)
        if bounded:
            numbers |= name_ends("bounded_", values, intervals)
        facts = {"counted": self._noun[1], "interval": intervals, "level": level, **reading.data}
        data = {**published.to_dict(), **facts, **numbers, **({"groups": labels} if labels else {})}
        columns = {**head_groups(request, labels, (heading, "interval")), heading: values, "interval": intervals}
        return Report(published.title, columns, notes, data, (heading,), frame={**labels, **numbers})

    def _describe_bound(self, reading: PeopleReading, level: str) -> list[str]:
        """Return how many values a person brings at most, and how many people have more."""
        words, (one, more), most = self.request.words, self._noun, self._people.most
        if most is None:
            return []
        together = ", in all groups together" if self._groups.by else ""
        brings = f"{words.one} brings at most {plural(most, one, more)}{together}, picked at random"
        end = f"so that there may be more {more} than were counted."
        if not reading.knows_cut:
            return [f"{brings}: {end.removeprefix('so that ')}"]
        return [f"{brings}: {words.count_within(*reading.cut, level)} more, {end}"]

    def accuracy(self) -> Accuracy:
        """Return how far a number is off at most."""
        more, bounded = self._noun[1], self._people.is_bounded
        where = " of a group" if self._groups.by else ""
        counted = f", of the {more} counted" if bounded else ""
        sentence = (
            f"With probability {format_percent(self.request.level)} the number of {more}{where} is off by at most "
            f"{format_bound(self._within, whole=True)}{counted}."
        )
        total = None if self._size is None else Fraction(self._size)
        return Accuracy(self._within, more, sentence, total=total, groups=len(self._names))


def count_different(request: Request) -> Question:
    """Count the different values of a column that people have: each value once, however many people have it.

    A person brings at most --most-items of them, in all groups together; all, where the values are listed.
    """
    items, column = request.items, request["different"]
    automatic = next((name for name, edges in request["edges"] or () if count_bins(edges) is not None), None)
    if automatic is not None:
        raise ParameterError(
            f"--different needs edges that are typed: got automatic bins of {automatic}. Write them, as --edges "
            f"{automatic} 0,100,200. Nothing was read."
        )
    if items.counts or items.weights or items.bounds or request["rows"] or request["most_rows"] is not None:
        raise ParameterError(
            "--different counts values: leave --counts, --weights, --bounds, --rows and --most-rows out. Nothing was "
            "read."
        )
    if items.discover or request["delta"] is not None:
        raise ParameterError(
            "--different publishes how many values there are, and none of them: leave --discover and --delta out, and "
            "list the groups of --by with --domain. Nothing was read."
        )
    if items.auto:
        raise ParameterError(
            f"--different needs a number in place of --most-items auto: how many of {column} one person brings at "
            "most, as --most-items 5. Nothing was read."
        )
    if items.combinations is not None or items.missing == "show" or items.others == "show":
        raise ParameterError(
            "--different counts listed groups and values that are there: leave --missing show and --others show out, "
            "and list the groups of each column. Nothing was read."
        )
    if column in request.rows.unit_names:
        raise ParameterError(
            f"--different must be another column than --unit: got {column!r} for both. Without --different, count says "
            f"how many {request.words.people} there are. Nothing was read."
        )
    return DifferentQuestion(request).ask()
