"""The question `count --rows --by`: how many rows each listed group has, where so many rows of a person count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import ParameterError
from lastbit.output.words import Words, plural
from lastbit.questions.group_types import NamedExpression
from lastbit.questions.groups import name_ends
from lastbit.questions.people import PeopleParts, choose_noise, parse_share
from lastbit.questions.question import Accuracy, Question
from lastbit.questions.reading_notes import describe_groups, describe_unit
from lastbit.questions.report import Report, format_bound, format_percent
from lastbit.questions.titles import head_groups

if TYPE_CHECKING:
    from lastbit.data.numbers import Numbers
    from lastbit.mechanisms.gaussian import DiscreteGaussian
    from lastbit.mechanisms.laplace import DiscreteLaplace
    from lastbit.questions.request import Request

_ONE: Final = "lastbit_row"
"""The column that makes one of each row."""


def describe_more_rows(words: Words, most: int, level: str, more: tuple[int, int, int] | None) -> str:
    """Return how many people have more rows than count, with the interval; `more` is None where nobody measured it.

    >>> describe_more_rows(Words("patient", "patients", "visit", "visits"), 2, "95%", (7, 3, 11))
    'Of each patient at most 2 visits count: 7 patients (3 to 11 with probability 95%) have more, so that there may be \
more visits than were counted.'
    """
    of_each = f"Of each {words.person} at most {plural(most, f'{words.row} counts', f'{words.rows} count')}"
    there_may_be = f"there may be more {words.rows} than were counted."
    if more is None:
        return f"{of_each}: {there_may_be}"
    who = f"{words.count_within(*more, level)} more"
    return f"{of_each}: {who}, so that {there_may_be}"


@dataclass(frozen=True)
class GroupRows:
    """A question about the number of rows of each of several listed groups."""

    request: Request

    @property
    def _words(self) -> Words:
        return self.request.words

    @property
    def _most(self) -> int:
        most: int = self.request["most_rows"]
        return most

    @cached_property
    def _names(self) -> tuple[Any, ...]:
        return tuple(self.request.items.names)

    @cached_property
    def _people(self) -> PeopleParts:
        """What is measured about people: how many have more rows than count."""
        return PeopleParts(self._most, share=parse_share(self.request["people_share"]))

    def _noise(self, most: int, cost: Mapping[str, Any]) -> DiscreteLaplace | DiscreteGaussian:
        """Return the noise of counts of which one moves by so many: all rows of a person may be in one group."""
        return choose_noise(cost, sensitivity=most)

    def _arrange(self, numbers: Numbers) -> Any:
        """Return the values of all parts."""
        return self._people.values(numbers, lambda most: numbers.keep_first(most).group_sizes(self._names))

    @cached_property
    def _within(self) -> Fraction:
        """How far the number of a group is off at most, of the rows counted."""
        return self._noise(self._most, self._people.main_cost(self.request.cost)).accuracy(self.request.level)

    def ask(self) -> Question:
        """Return the question."""
        from lastbit.questions import samples
        from lastbit.questions.reading import read_numbers

        request, items, size = self.request, self.request.items, len(self._names)
        rows = replace(request.rows, by=(*request.rows.by, NamedExpression(_ONE, "1")))
        reading = read_numbers(
            rows, _ONE, ("0", "1"), per="row", most_rows=self._most, resolution="1", by=items.by,
            domains=items.domains, ranked=True,
        )  # fmt: skip
        return Question(
            self._people.mechanism(request.cost, self._noise),
            reading=reading.then(self._arrange),
            report=self.report,
            sample=lambda units: self._arrange(samples.make_numbers(units, ("0", "1"), 1, groups=size)),
            accuracy=self.accuracy,
            notes=[*describe_unit(request), *describe_groups(request)],
        )

    def report(self, published: Any) -> Report:
        """Describe a release."""
        words, level = self._words, self.request.level
        labels = self.request.items.columns(self._names)
        reading = self._people.read(published, level)
        intervals, values = reading.main.interval(level), reading.main.columns()["value"]
        more = reading.cut if reading.knows_cut else None
        text = format_percent(level)
        notes = [
            f"Each interval holds with probability {text} or more, for the {words.rows} counted.",
            describe_more_rows(words, self._most, text, more),
        ]
        # Of all rows nothing is known but that they are no fewer.
        numbers = name_ends("", values, [(low, None) for low, _ in intervals])
        numbers |= name_ends("bounded_", values, intervals)
        counted = f"{words.rows} counted"
        facts = {"counted": "rows", "most_rows": self._most, "interval": intervals, "level": level}
        if more is not None:
            facts |= dict(zip(("cut", "cut_low", "cut_high"), more, strict=True))
        data = {**published.to_dict(), **facts, **numbers, "groups": labels}
        columns = {**head_groups(self.request, labels, (counted, "interval")), counted: values, "interval": intervals}
        return Report(published.title, columns, notes, data, (counted, "interval"), frame={**labels, **numbers})

    def accuracy(self, units: int) -> Accuracy:
        """Return how far the number of a group is off at most."""
        sentence = (
            f"With probability {format_percent(self.request.level)} the number of {self._words.rows} counted in a "
            f"group is off by at most {format_bound(self._within, whole=True)}."
        )
        return Accuracy(self._within, self._words.rows, sentence, total=Fraction(units), groups=len(self._names))


def count_rows_of_groups(request: Request) -> Question:
    """Count the rows of each listed group: of a person, at most so many rows in all groups together count."""
    items = request.items
    if items.most_items is not None or items.auto:
        raise ParameterError(
            "--one-each and --most-items are for counts of people. With --rows, --most-rows says how many rows of a "
            "person count in all groups together. Leave the others out."
        )
    if items.weights or items.bounds:
        raise ParameterError(
            "--rows counts rows: leave --weights and --bounds out, or ask sum --of COLUMN --rows. Nothing was read."
        )
    if items.discover or request["delta"]:
        raise ParameterError(
            "--rows counts the rows of listed groups: leave --discover and --delta out, and list the groups with "
            "--domain. Nothing was read."
        )
    return GroupRows(request).ask()
