"""Means and totals of one number of each person by listed groups, each with how many people the group has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, Any

from lastbit.errors import ParameterError
from lastbit.output.words import Words, capitalize
from lastbit.questions.item_options import ItemOptions
from lastbit.questions.people import PeopleParts, PeopleReading, parse_share
from lastbit.questions.published_groups import TOO_FEW, PublishedGroups, blank_out
from lastbit.questions.question import Accuracy, Question
from lastbit.questions.reading_notes import count_rows_of, describe_all, describe_groups, describe_numbers, describe_sd
from lastbit.questions.report import Report, format_bound, format_percent, format_value
from lastbit.questions.titles import head_groups

if TYPE_CHECKING:
    import lastbit as lb
    from lastbit.data.numbers import Numbers
    from lastbit.questions.reading import Reading
    from lastbit.questions.request import Request


@dataclass(frozen=True)
class GroupNumbers:
    """A question about the mean, or the total, of a number in each of several listed groups."""

    request: Request
    rule: str
    """The rule that makes one number of the rows of a person in a group; "row" where each row is a number."""
    leads: str
    """What was asked for: "mean" or "sum". The other one is published too."""
    step: Fraction | None = None
    """The step of the noise, where it follows neither from the bounds nor from what is said."""

    @property
    def _words(self) -> Words:
        return self.request.words

    @property
    def _of_rows(self) -> bool:
        return self.rule == "row" and self.request.rows.unit is not None

    @property
    def noun(self) -> str:
        """What a group has a number of."""
        return self._words.rows if self._of_rows else self._words.people

    @cached_property
    def items(self) -> ItemOptions:
        """The listed groups."""
        return parse_groups(self.request, self.rule)

    @cached_property
    def names(self) -> tuple[Any, ...]:
        """The groups, in the order of the domain; all people are one group where there are none."""
        return tuple(self.items.names) if self.items.by else ("all",)

    @property
    def labels(self) -> dict[str, list[Any]]:
        """The columns that name the groups."""
        return self.items.columns(self.names) if self.items.by else {}

    @property
    def bounds(self) -> tuple[str, str]:
        """The bounds of a number."""
        bounds: tuple[str, str] = self.request["bounds"]
        return bounds

    @property
    def clamps(self) -> bool:
        """Whether a number may lie beyond the bounds."""
        return True

    @property
    def has_sd(self) -> bool:
        """Whether the standard deviation was asked for."""
        return bool(self.request.values.get("sd"))

    @property
    def is_apart(self) -> bool:
        """Whether a person has one number in each group: not so where rows are numbers."""
        return not self._of_rows

    @property
    def has_one_number(self) -> bool:
        """Whether a person has one number at most."""
        return self.request.rows.unit is None or (self.is_apart and len(self.names) == 1)

    def read(self, **options: Any) -> Reading[Numbers]:
        """Return the reading of the numbers, with these options of groups."""
        return self.read_with(self.bounds, **options)

    def read_with(self, bounds: tuple[str, str] | None, **options: Any) -> Reading[Numbers]:
        """Return the reading of the numbers with other bounds, or with none yet."""
        from lastbit.questions.reading import NUMBER_OPTIONS, read_numbers

        own = {name: self.request[name] for name in NUMBER_OPTIONS}
        return read_numbers(self.request.rows, self.request["of"], bounds, per=self.rule, **own, **options)

    @property
    def grouping(self) -> dict[str, Any]:
        """The options of groups that a reading takes."""
        if not self.items.by:
            return {}
        limit = None if self._of_rows or self.request.rows.unit is None else self.items.item_limit
        return {"by": self.items.by, "domains": self.items.domains, "most_items": limit}

    @cached_property
    def people(self) -> PeopleParts:
        """What is measured about people."""
        share = self.request["people_share"]
        if self._of_rows:
            return PeopleParts(self.request["most_rows"], None, parse_share(share), clamped=self.clamps)
        size = 1 if self.request.rows.unit is None else len(self.names)
        return PeopleParts.of(self.items, size, share, clamped=self.clamps, by_class=True)

    def build(self, most: int, cost: Mapping[str, Any]) -> lb.GroupMeans:
        """Return the mechanism where so many numbers are of one person, at this cost."""
        import lastbit as lb

        bound: dict[str, Any] = {"most_rows": most} if self._of_rows else {"most_items": most}
        facts = {"groups": self.names, "bounds": self.bounds, "resolution": self._step, "sd": self.has_sd}
        return lb.GroupMeans(**facts, **bound, **cost)

    @cached_property
    def _step(self) -> Any:
        """The step of the noise: as it is said, or as the bounds say; coarser where Gaussian noise were too wide."""
        from lastbit.chance.gaussian import is_too_wide
        from lastbit.exact.numbers import number
        from lastbit.mechanisms.grid_mechanism import MOST_STEPS
        from lastbit.mechanisms.group_means import SD_SHARE
        from lastbit.values.bounds import default_step, parse_bounds

        if self.request["resolution"] is not None:
            return self.request["resolution"]
        low, high = parse_bounds(self.bounds)
        step, cost = self.step or default_step((low, high)), self.people.main_cost(self.request.cost)
        if "rho" not in cost:
            if self.people.highest * (high - low) > step * MOST_STEPS:
                raise ParameterError(
                    f"--bounds must have fewer digits: on a step that both of {self.bounds[0]} and {self.bounds[1]} "
                    "are on, one person moves the result by too many steps. Round the bounds outwards, such as "
                    "--bounds 0 1e15 instead of 1 1e15."
                )
            return step
        most = self.people.highest ** (2 if self._of_rows else 1)
        loss = number(cost["rho"], "rho") * (1 - SD_SHARE if self.has_sd else 1) / most
        parts = (high - low) / step
        while parts > 1 and is_too_wide(loss / parts**2):
            parts = Fraction(1 << (ceil(parts) - 1).bit_length() - 1)
        return (high - low) / parts

    def ask(self) -> Question:
        """Return the question."""
        from lastbit.questions import samples

        request, people = self.request, self.people
        reading = self.read(**self.grouping, ranked=bool(people.measured))
        size = len(self.names)
        self.build(people.highest, people.main_cost(request.cost))  # refuses what cannot be, before anything is read
        return Question(
            people.mechanism(request.cost, self.build),
            reading=reading.then(self.arrange),
            report=self.report,
            sample=lambda units: self.arrange(
                samples.make_numbers(units, self.bounds, self._step, groups=size, apart=self.is_apart)
            ),
            accuracy=self.accuracy,
            notes=self._describe_reading(),
            depends_on_units=self.leads != "sum",
        )

    def arrange(self, numbers: Numbers) -> Any:
        """Return the values of all parts."""
        size = len(self.names)
        if not self.people.measured:
            counted = numbers if numbers.ranks is None else numbers.keep_first(self.people.highest)
            return counted.group_sums(size, squares=self.has_sd)
        return self.people.values(numbers, lambda most: numbers.keep_first(most).group_sums(size, squares=self.has_sd))

    def report(self, published: Any) -> Report:
        """Describe a release."""
        reading = self.people.read(published, self.request.level)
        numbers = PublishedGroups(reading, self.names, self.leads, of_rows=self._of_rows)
        noun = f"{self.noun} counted" if self._is_of_some(reading) else self.noun
        people = {noun: numbers.people, f"interval of {self.noun}": numbers.people_ends}
        own = self._columns(numbers, people)
        columns = {**head_groups(self.request, self.labels, own), **own}
        if not all(numbers.visible):
            columns["why"] = ["" if seen else TOO_FEW for seen in numbers.visible]
        data = {**published.to_dict(), **self._facts, **numbers.columns, "groups": self.labels, **reading.data}
        notes = self._notes(reading, numbers.visible)
        frame, whole = {**self.labels, **numbers.frame}, (noun, f"interval of {self.noun}", *self._whole_columns)
        return Report(published.title, columns, notes, data, whole, frame=frame)

    @property
    def _facts(self) -> dict[str, Any]:
        """What was asked, for programs."""
        request = self.request
        return {"of": request["of"], "per": self.rule, "missing": request["missing"], "level": request.level}

    @property
    def _whole_columns(self) -> tuple[str, ...]:
        """The columns that count people, besides that of all people of a group."""
        return ()

    def _columns(self, numbers: PublishedGroups, people: Mapping[str, Any]) -> dict[str, Any]:
        """Return the numbers of the table in their order: what was asked for comes first."""
        of = self.request["of"]
        means = {f"mean of {of}": numbers.means, "interval of means": numbers.mean_ends}
        if self.has_sd:
            means |= {"standard deviation": numbers.sds, "interval of standard deviations": numbers.sd_ends}
        means = {name: blank_out(column, numbers.visible) for name, column in means.items()}
        totals = {f"sum of {of}": numbers.totals, "interval of sums": numbers.total_ends}
        first, second = (means, totals) if self.leads == "mean" else (totals, means)
        own = f"interval of {self.leads}s"
        first = {"interval" if name == own else name: column for name, column in first.items()}
        return {**first, **people, **second}

    def _is_of_some(self, reading: PeopleReading) -> bool:
        """Return whether the numbers are of those counted, and nothing is known about all."""
        return self.people.is_bounded and (self._of_rows or not reading.knows_cut)

    @property
    def _interval_of(self) -> str:
        """What intervals are about, in the middle of a sentence."""
        return "for numbers clamped to the bounds"

    @property
    def _who_counts(self) -> str:
        """What makes a person one of a group, or one of all."""
        return "is in the group" if self.items.by else f"has a number in {self.request['of']}"

    def _notes(self, reading: PeopleReading, shown: Sequence[bool]) -> list[str]:
        request, words, level = self.request, self._words, format_percent(self.request.level)
        notes = [f"Each interval holds with probability {level} or more, {self._interval_of}."]
        if reading.knows_cut:
            who = f"{words.count_within(*reading.cut, level)} more"
            if self._of_rows:
                most = count_rows_of(words, request["most_rows"])
                notes.append(
                    f"At most {most}, picked at random: {who}, so that the answer is about the {words.rows} counted."
                )
            else:
                where = "one group" if reading.most == 1 else f"{reading.most:,} groups at most"
                notes.append(
                    f"{words.one} counts in {where}, picked at random: {who}. The intervals allow for them. "
                    "--most-items all leaves nobody out."
                )
        # As they were typed, or as people read the bounds that a part chose.
        first, last = self.bounds if self.step is None else (format_value(Fraction(end)) for end in self.bounds)
        notes += reading.describe_clamping(request["of"], (first, last), words)
        if not all(shown):
            notes.append(
                f"{capitalize(TOO_FEW)}: perhaps nobody {self._who_counts}, or the interval of the number is as wide "
                "as can be."
            )
        return notes

    def _describe_reading(self) -> list[str]:
        """Return which number a person has in a group, and in how many groups a person counts."""
        notes = [*describe_groups(self.request), *self._describe_number()]
        if self.has_sd:
            notes.append(describe_sd(self.noun))
        if self.request.rows.unit is None or self._of_rows:
            return notes
        if not self.people.is_bounded:
            return [*notes, *describe_all(self.items, len(self.names), "group", self._words)]
        if self.people.share == 0:
            where = "one group" if self.people.most == 1 else f"{self.people.most or 0:,} groups at most"
            notes.append(
                f"{self._words.one} counts in {where}, picked at random where there are more. The numbers and their "
                f"intervals are of the {self._words.people} counted this way."
            )
        return notes

    def _describe_number(self) -> list[str]:
        """Return which number a person has in a group."""
        return describe_numbers(self.request, self.rule)

    def accuracy(self, units: int) -> Accuracy:
        """Return how far the mean of a group of usual size is off at most, or the total of any group."""
        from lastbit.data.number_grid import reach_below_step
        from lastbit.exact.numbers import probability
        from lastbit.values.bounds import parse_bounds

        main = self.build(self.people.highest, self.people.main_cost(self.request.cost))
        level, of = probability(self.request.level, "level"), self.request["of"]
        (low, high), hair = parse_bounds(self.bounds), reach_below_step(self.bounds)
        begins = f"With probability {format_percent(level)}"
        if self.leads == "sum":
            off = main.total_accuracy(level) + units * hair
            sentence = (
                f"{begins} the sum{' of a group' if self.items.by else ''} is off by at most "
                f"{format_bound(off, whole=False)}, for numbers clamped to the bounds."
            )
            return Accuracy(off, of, self._narrow_sentence(sentence), total=units * max(abs(low), abs(high)))
        guess = max(1, units // len(self.names))
        who = self._words.count_rows(guess) if self._of_rows else self._words.count(guess)
        group, of_group = (f"a group of {who}", " of a group") if self.items.by else (who, "")
        off = min(high - low, main.accuracy(level, guess) + hair)
        sentence = (
            f"{begins} the mean of {group} is off by at most {format_bound(off, whole=False)}, for numbers clamped to "
            f"the bounds. {begins} the number of {self.noun}{of_group} is off by at most "
            f"{format_bound(main.people_accuracy(level), whole=True)}."
            if off < high - low
            else f"Nothing is known about the mean of {group}. Ask with more of them, or with a larger --epsilon."
        )
        return Accuracy(off, of, self._narrow_sentence(sentence), total=high - low)

    def _narrow_sentence(self, sentence: str) -> str:
        if not self.people.is_bounded:
            return sentence
        return f"Of what is counted: {sentence[0].lower()}{sentence[1:]}"


def parse_groups(request: Request, rule: str) -> ItemOptions:
    """Return the listed groups of a question about numbers; none where all people are one group."""
    items = request.items
    bounded = items.most_items is not None or items.auto
    if not items.by:
        if items.domain or bounded:
            raise ParameterError("groups need a column: name it with --by COLUMN. Nothing was read.")
    elif bounded and rule == "row":
        raise ParameterError(
            "--one-each and --most-items are for people with one number in each group. With --per row, --most-rows "
            "says how many numbers a person has in all groups together. Leave the others out."
        )
    return items
