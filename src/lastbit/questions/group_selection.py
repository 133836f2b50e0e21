"""`top --in-each`: the items with the most people, or the largest sums, in each listed group of another column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lastbit.errors import ParameterError
from lastbit.output.picture import Panel
from lastbit.questions.discovery import describe_auto, describe_cut
from lastbit.questions.groups import clip, name_ends
from lastbit.questions.people import PeopleParts, PeopleReading
from lastbit.questions.question import MORE, Accuracy, Question
from lastbit.questions.reading_notes import describe_all, describe_groups, describe_one, describe_weights
from lastbit.questions.report import Report, format_bound, format_percent
from lastbit.questions.titles import name_group, name_groups
from lastbit.values.bounds import parse_bounds

if TYPE_CHECKING:
    from lastbit.questions.request import Request
    from lastbit.values.counts import Counts


def list_in_groups(request: Request) -> Question:
    """List the k items with the most people, or the largest sums, in each group: one release, at one cost.

    A person may be in all groups; then the selection in each group takes its share of the cost. --most-items bounds in
    how many groups a person counts.
    """
    items = request.items
    if request["set"] or request["form"] != "both":
        raise ParameterError("--in-each lists items with their ranks: leave --set and --form out. Nothing was read.")
    if items.counts is not None:
        raise ParameterError("--in-each is for rows that are counted: leave --counts out. Nothing was read.")
    if items.combinations is not None:
        raise ParameterError("--in-each needs a list of each column, as --domain ward=a,b. Nothing was read.")
    if items.unlisted_columns:
        raise ParameterError(
            "--in-each needs the items and the groups listed: to discover them in each group would take a --delta for "
            f"each. List them, as --domain {items.unlisted_columns[0]}=a,b,c, or ask for one group alone, with --where "
            "and --discover. Nothing was read."
        )
    if request["delta"] is not None:
        raise ParameterError("--delta is for items that nobody listed. Leave --delta out: --in-each needs them listed.")
    return _GroupTop(request).question


@dataclass(frozen=True)
class _GroupTop:
    """The items of each group: what is released, and what it says of all people."""

    request: Request

    @cached_property
    def groups(self) -> tuple[Any, ...]:
        """The public groups: those of the last column."""
        return tuple(self.request.items.domains[-1].items)

    @cached_property
    def names(self) -> Any:
        """The public items that each group may have."""
        from lastbit.data.domain import combine_domains

        items = self.request.items
        _ = items.names  # refuses a domain that is too long
        return combine_domains([tuple(domain.items) for domain in items.domains[:-1]])

    @property
    def noun(self) -> str:
        """What one group is called."""
        return name_group(self.request, [self.request["in_each"]])

    @property
    def _each_in_one(self) -> bool:
        """Whether each person is in one group, whatever the rows are."""
        return self.request["in_each"] in self.request.items.columns_of_person

    @cached_property
    def people(self) -> PeopleParts:
        """What is measured about people whom a bound on their groups leaves out."""
        request = self.request
        size = 1 if request.rows.unit is None or self._each_in_one else len(self.groups)
        return PeopleParts.of(
            request.items, size, request["people_share"], by_class=request.items.weights is None
        )  # fmt: skip

    def build(self, most: int, cost: Mapping[str, Any]) -> Any:
        """Return the mechanism where a person counts in so many groups, at this cost."""
        import lastbit as lb

        items, request = self.request.items, self.request
        return lb.GroupTopK(
            groups=self.groups,
            k=request["k"],
            most_groups=most,
            numbers=request["numbers"],
            resolution=items.step("1/10"),
            **cost,
            **items.mechanism_parameters,
        )

    @cached_property
    def question(self) -> Question:
        """The question."""
        from lastbit.questions import samples
        from lastbit.questions.reading import read_counts, read_ranked_counts

        request, items, people = self.request, self.request.items, self.people
        if request["k"] > len(self.names):
            raise ParameterError(
                f"-k must be at most the number of items of a group: got {request['k']:,} of {len(self.names):,}. "
                f"Write -k {len(self.names)}, or less. Nothing was read."
            )
        planned = self.build(1 if people.auto else people.highest, people.main_cost(request.cost))
        by_rank = people.is_bounded
        # A bound is on groups: where it leaves none out, a person counts for all of their items there.
        unbounded = replace(items, most_items=None, auto=False, highest=None)
        reading = (
            read_ranked_counts(request.rows, items, lot_of_groups=True)
            if by_rank
            else read_counts(request.rows, unbounded)
        )
        notes = [*describe_groups(request), *describe_weights(request)]
        if request.rows.unit is not None and not by_rank:
            notes = [*self._describe_groups(), *notes]
        sentence = f"{self._describe(planned)}{describe_auto(people)}"
        return Question(
            people.mechanism(request.cost, self.build),
            reading=reading.then(self._arrange),
            report=self.report,
            sample=lambda units: self._arrange(
                samples.rank_counts(items.sample(units)) if by_rank else items.sample(units)
            ),
            accuracy=lambda units: Accuracy(
                self._within(planned),
                items.number(request.words),
                sentence,
                Accuracy.meaning if request["numbers"] else MORE,
                total=items.total_of(units),
            ),
            notes=notes,
        )

    def _describe_groups(self) -> list[str]:
        """Return in how many groups a person counts."""
        words = self.request.words
        if self._each_in_one:
            return describe_one([self.request["in_each"]], "group", words)
        return describe_all(self.request.items, len(self.groups), self.noun, words)

    def _arrange(self, read: Any) -> Any:
        """Return the private values of each part, of counts or of counts by rank."""
        if not self.people.is_bounded:
            return self._split(read)
        return self.people.values(read, lambda most: self._split(read.keep_first(most)))

    def _split(self, counts: Counts) -> dict[Any, Counts]:
        """Return the counts of each group's items. Combinations are in the order of the items, then of the groups."""
        size = len(self.groups)
        return {
            group: replace(counts, items=self.names, values=counts.values[place::size], most_items=None)
            for place, group in enumerate(self.groups)
        }

    def _within(self, built: Any) -> Fraction:
        """Return how far a number is off, or how much more an item that is left out may have."""
        items, level = self.request.items, self.request.level
        if self.request["numbers"]:
            off: Fraction = built.measurement_accuracy(level)
            return off + items.margin
        reach: Fraction = built.accuracy(len(self.names), level, items.margin)
        return reach

    def _describe(self, built: Any, *, gaps: str = "") -> str:
        """Return how accurate the items of a group are, in a sentence; `gaps` is what is said of gaps."""
        request, items = self.request, self.request.items
        off = format_bound(self._within(built), whole=items.counts_units)
        start = f"Of the {request.words.people} counted: in" if self.people.is_bounded else "In"
        start = f"{start} each {self.noun}, with probability {format_percent(request.level)}"
        if request["numbers"]:
            return f"{start} the measurement of a listed item is off by at most {items.amount(off, request.words)}."
        left_out = f"no item left out has {items.more(off, request.words)} than a listed item"
        return (
            f"{start} {gaps} {left_out}." if gaps else f"{start} {left_out}, and every gap is off by less than {off}."
        )

    def report(self, published: Any) -> Report:
        """Describe a release."""
        request, items, people = self.request, self.request.items, self.people
        reading = people.read(published, request.level)
        release = reading.main
        counted = ", of those counted" if people.is_bounded else ""
        labels, shown = self._labels(release)
        bars = release.error_bars(request.level)["gap"]
        gaps = {"ahead of the next by": release.columns()["gap"], f"true gap{counted}": bars}
        frame: dict[str, Any] = dict(labels)
        numbers: dict[str, Any] = {}
        notes = []
        panels: Sequence[Panel] = ()
        if request["numbers"]:
            numbers, own, panels = self._numbers(release, reading, labels)
            frame |= own
            gaps.popitem()
            people_of_all = request.words.people
            allowing = f" Those of all {people_of_all} allow for the {people_of_all} whom the bound leaves out."
            notes = [
                f"Each interval holds with probability {format_percent(request.level)} or more, whoever is listed: it "
                f"comes from a measurement made after the items were chosen.{allowing if reading.knows_cut else ''}",
                "The number beside it uses the gaps too, as far as they fit the measurements and the interval.",
            ]
        else:
            built = self.build(reading.most if people.is_bounded else people.highest, people.main_cost(request.cost))
            notes = [self._describe(built, gaps="all true gaps are in their ranges, and")]
            panels = [replace(release.panels(request.level)[0], labels=_join(labels), label_name=", ".join(shown))]
        notes += describe_cut(request, reading, self.noun)
        frame |= {"gap": release.columns()["gap"]}
        if not request["numbers"]:
            frame |= {f"gap_{end}": [bar and bar[place] for bar in bars] for place, end in enumerate(("low", "high"))}
        data = {name: column for name, column in frame.items() if name not in labels}
        facts = {**data, "groups": labels, "level": request.level, **reading.data}
        return Report(
            published.title,
            {**shown, **numbers, **gaps},
            notes,
            published.to_dict() | items.data | facts,
            items.whole_columns(*numbers, *gaps),
            frame=frame,
            panels=panels,
        )

    def _labels(self, release: Any) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
        """Return the group, the rank and the item of each row: by the names of columns, and as people call them."""
        items = self.request.items
        chosen = [
            (*(item if len(items.by) > 2 else (item,)), group)
            for group, selection in zip(self.groups, release.selections, strict=True)
            for item in selection.items
        ]
        columns = items.columns(chosen)
        *own, group = columns
        names = [group, "rank", *own]
        labels = {name: release.columns()["rank"] if name == "rank" else columns[name] for name in names}
        called = dict(zip(names, name_groups(self.request, names), strict=True))
        is_clear = len({*called.values()}) == len(names) and called["rank"] == "rank"
        return labels, {called[name]: labels[name] for name in names} if is_clear else labels

    def _numbers(
        self, release: Any, reading: PeopleReading, labels: Mapping[str, Sequence[Any]]
    ) -> tuple[dict[str, Any], dict[str, Any], Sequence[Panel]]:
        """Return the numbers and their intervals as the table, `to_frame` and a picture have them."""
        request, items = self.request, self.request.items
        ends = release.error_bars(request.level)["estimate"]
        values = [clip(value, own) for value, own in zip(release.columns()["estimate"], ends, strict=True)]
        heading = items.bounded_number(request.words)
        columns = {heading: values, "interval": ends}
        label = ", ".join(name for name in labels if name != "rank")
        if not reading.knows_cut:
            frame = name_ends("bounded_" if self.people.is_bounded else "", values, ends)
            return columns, frame, [Panel(heading, _join(labels), values, label, ends)]
        everybody = self._everybody(release, reading)
        shown = [clip(value, own) for value, own in zip(values, everybody, strict=True)]
        name = items.everybody(request.words)
        columns[name] = everybody
        frame = {**name_ends("", shown, everybody), **name_ends("bounded_", values, ends)}
        return columns, frame, [Panel(name, _join(labels), shown, label, everybody, noise=ends)]

    def _everybody(self, release: Any, reading: PeopleReading) -> list[Any]:
        """Return the interval of all people, or of their sum, for each listed item."""
        items = self.request.items
        counted = release.error_bars(reading.counted_level)["estimate"]
        if items.bounds is None:
            # The lot decides which item of a group is listed: each interval holds whichever of them it is.
            return [reading.interval(ends, selected=len(self.names)) for ends in counted]
        low, high = parse_bounds(items.bounds)
        least, most = min(low, Fraction(0)) * reading.bounds.cut, max(high, Fraction(0)) * reading.bounds.cut
        return [
            (None if first is None else first + least, None if last is None else last + most)
            for first, last in counted
        ]  # fmt: skip


def _join(labels: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return the label of each bar: the group, and the item."""
    group, _, *own = labels.values()
    return [f"{first}: {', '.join(map(str, rest))}" for first, *rest in zip(group, *own, strict=True)]
