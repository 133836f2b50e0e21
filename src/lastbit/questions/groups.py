"""Numbers of listed groups, such as items, bins and months: what is released, and what it says of all people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from lastbit.output.words import Words, article, plural
from lastbit.questions.people import Noise, PeopleParts, PeopleReading, share_of
from lastbit.questions.question import Accuracy, Question
from lastbit.questions.reading_notes import describe_one
from lastbit.questions.report import Report, format_bound, format_percent
from lastbit.questions.titles import head_groups

if TYPE_CHECKING:
    from lastbit.questions.reading import Reading
    from lastbit.questions.request import Request


@dataclass(frozen=True)
class Groups:
    """Listed groups, and how their numbers are measured where a person counts in so many of them."""

    request: Request
    heading: str
    """The name of the column of groups."""
    names: Sequence[Any]
    noun: str
    """What a group is called: an item, a bin."""
    number: str
    """What the number of a group is called: people, or the sum of a column."""
    noise: Noise
    people: PeopleParts
    """What is measured about people."""
    weights: tuple[Fraction, Fraction] | None = None
    """What a person adds to a sum, at least and at most; None where people are counted."""

    @property
    def level(self) -> str:
        """The level of intervals, as people read it."""
        return format_percent(self.request.level)

    @property
    def _words(self) -> Words:
        return self.request.words

    @property
    def _labels(self) -> dict[str, list[Any]]:
        """One column of labels for each column of groups."""
        items = self.request.items
        return items.columns(self.names) if items.by else {self.heading: list(self.names)}

    @property
    def _headings(self) -> dict[str, list[Any]]:
        """The same labels under what people call their columns: dates that are read as months are headed month."""
        numbers = (self.number, f"{self.number} counted", "interval", self._everybody)
        return head_groups(self.request, self._labels, numbers)

    def _data(self, release: Any, data: Mapping[str, Any], frame: Mapping[str, Any]) -> dict[str, Any]:
        """Return the plain data of an answer: a column may have any name, so the labels stand apart."""
        labels = self._labels
        numbers = {name: column for name, column in frame.items() if name not in labels}
        return {**release.to_dict(), **data, **numbers, "groups": labels}

    @property
    def _plain(self) -> bool:
        """Whether everybody counts in all of their groups."""
        return not self.people.is_bounded

    def ask(
        self, reading: Reading[Any], sample: Any, notes: Sequence[str], total: Any, data: Mapping[str, Any]
    ) -> Question:
        """Return the question. Where people are bounded, `reading` reads the numbers by rank."""
        values = self.people.values
        simple = self._plain and not self.people.measured
        return Question(
            self.people.mechanism(self.request.cost, self.noise),
            reading=reading if simple else reading.then(values),
            report=lambda release: self.report(release, data),
            sample=sample if simple else lambda units: values(sample(units)),
            accuracy=lambda units: self.accuracy(total(units)),
            notes=[*self.describe_bound(), *notes],
        )

    def report(self, release: Any, data: Mapping[str, Any]) -> Report:
        """Describe a release."""
        reading = self.people.read(release, self.request.level)
        main = reading.main
        values = main.columns()["value"]
        if not reading.knows_cut:
            return self._report_simple(release, reading, values, data)
        counted = main.interval(self.request.level)
        people = self._people_intervals(main, reading)
        columns = {
            **self._headings,
            f"{self.number} counted": values,
            "interval": counted,
            self._everybody: people,
        }
        frame = {
            **self._labels,
            **name_ends("", [clip(value, ends) for value, ends in zip(values, people, strict=True)], people),
            **name_ends("bounded_", values, counted),
        }
        notes = [
            f"Each interval holds with probability {self.level} or more. Those of all {self._words.people} "
            f"allow for the {self._words.people} whom the bound leaves out.",
            f"{self._words.one} counts in {self._at_most(reading.most)}, picked at random: "
            f"{self._words.count_within(*reading.cut, self.level)} more. --most-items all leaves nobody out.",
            *self._compare_with_all(people),
            *self._describe_clamping(reading),
        ]
        facts = {
            "item": self.names, "interval": people, "bounded_interval": counted, "level": self.request.level,
            **reading.data,
        }  # fmt: skip
        return Report(release.title, columns, notes, self._data(release, data, frame) | facts, self._whole, frame=frame)

    def _report_simple(
        self, release: Any, reading: PeopleReading, values: Sequence[Any], data: Mapping[str, Any]
    ) -> Report:
        """Describe a release of which nothing is known about people besides those counted."""
        intervals = reading.main.interval(self.request.level)
        number = self.number if self._plain else f"{self.number} counted"
        frame = {**self._labels, **name_ends("" if self._plain else "bounded_", values, intervals)}
        facts = {"item": self.names, "interval": intervals, "level": self.request.level, **reading.data}
        notes = [f"Each interval holds with probability {self.level} or more.", *self._describe_clamping(reading)]
        return Report(
            release.title,
            {**self._headings, number: values, "interval": intervals},
            notes,
            self._data(release, data, frame) | facts,
            self._whole,
            frame=frame,
        )

    def _describe_clamping(self, reading: PeopleReading) -> list[str]:
        """Return how many people have a number beyond the bounds, once for all groups; nothing where people count."""
        items = self.request.items
        if items.weights is None or items.bounds is None:
            return []
        what = f"such a number, or such a total in {self._article}"
        return reading.describe_clamping(items.weights, items.bounds, self._words, what)

    @property
    def _whole(self) -> tuple[str, ...]:
        """The columns that count people."""
        return () if self.weights is not None else ("interval", self._everybody, self.number, f"{self.number} counted")

    @property
    def _everybody(self) -> str:
        return self.request.items.everybody(self._words)

    def _people_intervals(self, main: Any, reading: PeopleReading) -> list[Any]:
        """Return the interval of all people, or of their sum, for each group."""
        counted = main.interval(reading.counted_level)
        if self.weights is None:
            return [reading.interval(interval) for interval in counted]
        least, most = min(self.weights[0], Fraction(0)), max(self.weights[1], Fraction(0))
        cut = reading.bounds.cut
        return [
            (None if low is None else low + least * cut, None if high is None else high + most * cut)
            for low, high in counted
        ]

    def _at_most(self, most: int) -> str:
        return f"one {self.noun}" if most == 1 else f"{plural(most, self.noun)} at most"

    def _within(self, most: int) -> Fraction:
        """Return how far a number is off where a person counts in so many groups, and nobody is left out."""
        cost = replace(self.people, most=None, auto=False).main_cost(self.request.cost)
        within: Fraction = self.noise(most, cost).accuracy(self.request.level)
        return within + self._margin

    @property
    def _margin(self) -> Fraction:
        """How far the exact sum of a group may lie above its floor."""
        return Fraction(0) if self.weights is None else self.request.items.margin

    def _compare_with_all(self, people: Sequence[Any]) -> list[str]:
        """Return that everybody could count with narrower intervals, where this is so: both noises are public."""
        everybody = self._within(len(self.names))
        wider = sum(low is not None and high is not None and high - low > 2 * everybody for low, high in people)
        if 2 * wider <= len(people):
            return []
        text = format_bound(everybody, whole=self.weights is None)
        # A sentence is one line, also where a command writes a file of items first.
        command = self.request.change(most_items="all", one_each=False).command.replace("\n", " && ")
        # A table without a name, such as that of a published answer, cannot be asked again by a command.
        again = "" if "-" in self.request["source"] else f" To ask that: {command}"
        return [
            f"With --most-items all nobody is left out, and every number would be off by at most {text}: "
            f"{plural(wider, 'interval')} of these {len(people):,} would be narrower.{again}"
        ]

    def describe_bound(self) -> list[str]:
        """Return in how many groups a person counts, and what another bound would gain."""
        size, unit = len(self.names), self.request.rows.unit
        if unit is None or size == 1 or self.request.items.counts is not None:
            return []
        whole = self.weights is None
        if self.request.items.each_in_one:
            return describe_one(self.request.items.by, self.noun, self._words)
        if self._plain:
            everybody = format_bound(self._within(size), whole=whole)
            own = share_of(self.request.cost, 1 - self.people.share)  # a bound is measured too
            one = format_bound(self.noise(1, own).accuracy(self.request.level) + self._margin, whole=whole)
            return [
                f"{self._words.one} may count in all {plural(size, self.noun)}, and nobody is left out: the noise is "
                f"for as many, {everybody} at most. With --one-each it would be {one}, and {self._words.a_person} "
                f"would count in one {self.noun} only; --most-items does so for a few."
            ]
        if self.people.share == 0:
            return [
                f"{self._words.one} counts in {self._at_most(self.people.most or 1)}, picked at random where there are "
                f"more. The numbers and their intervals are of the {self._words.people} counted this way: there may be "
                "more. --most-items all leaves nobody out."
            ]
        return []

    def accuracy(self, total: Fraction | None) -> Accuracy:
        """Return how accurate the numbers will be."""
        whole = self.weights is None
        if self._plain:
            within = self._within(self.people.highest)
            text = format_bound(within, whole=whole)
            sentence = f"With probability {self.level} the number of {self._article} is off by at most {text}."
            return Accuracy(within, self.number, sentence, total=total, groups=len(self.names))
        main = self.people.main_cost(self.request.cost)
        highest = self.people.highest
        within = self.noise(highest, main).accuracy(self.request.level) + self._margin
        text = format_bound(within, whole=whole)
        if self.people.auto:
            least = format_bound(self.noise(1, main).accuracy(self.request.level) + self._margin, whole=whole)
            sentence = (
                f"With probability {self.level} the number counted in {self._article} is off by at most {least} where "
                f"the bound comes out as 1, and by at most {text} where it comes out as {highest:,}."
            )
        else:
            sentence = f"With probability {self.level} the number counted in {self._article} is off by at most {text}."
        sentence += f" Intervals of all {self._words.people} are wider, by those whom the bound leaves out."
        return Accuracy(within, self.number, sentence, total=total, groups=len(self.names))

    @property
    def _article(self) -> str:
        return f"{article(self.noun)} {self.noun}"


def name_ends(prefix: str, values: Sequence[Any], intervals: Sequence[Any]) -> dict[str, list[Any]]:
    """Return the columns of a number and its interval, under the names that every answer has for them."""
    return {
        f"{prefix}value": list(values),
        f"{prefix}low": [low for low, _ in intervals],
        f"{prefix}high": [high for _, high in intervals],
    }


def clip(value: Any, ends: tuple[Any, Any]) -> Any:
    """Return the number of an interval that is nearest to a value.

    >>> clip(5, (None, 3)), clip(5, (0, 9))
    (3, 5)
    """
    low, high = ends
    value = value if low is None else max(value, low)
    return value if high is None else min(value, high)
