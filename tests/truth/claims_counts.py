"""What is said of counts and sums of groups: of all people, of the people counted, and of those left out."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from tests.truth.claims import Answer, Outcome, between, match_entries, parse, percent, says, within

Places = Mapping[str, str]


def true_numbers(answer: Answer) -> Mapping[Any, Fraction | int]:
    """Return the true number of each group: of the people counted, where a lot leaves people out."""
    whole = max(answer.truth.groups_of_people.values(), default=0) <= (answer.most or 0)
    return answer.truth.values if answer.counted is None or whole else answer.counted


def speaks_of_another_bound(answer: Answer, places: Places) -> bool:
    """Whether a plan speaks of a bound of 1, and another one was published."""
    return "where the bound comes out as 1:" in places["text"] and answer.most != 1


def groups_of(answer: Answer) -> list[Any]:
    """Return the group of each row of the table, by the names that the reference has."""
    if "in_each" in answer.case.options:
        return list(zip(answer.column("item"), answer.column("month"), strict=True))
    first = next(iter(answer.report.columns))
    shown = list(answer.column("item" if "item" in answer.report.columns else first))
    listed = "by" not in answer.case.options or "domain" in answer.case.options
    whole = listed and answer.case.kind in ("count", "histogram")
    return list(answer.truth.groups) if whole else shown


@says("The interval holds with probability {level}.")
def everybody(answer: Answer, _: Places) -> Iterator[Outcome]:
    (interval,) = answer.column("interval")
    (truth,) = answer.truth.different.values() if "different" in answer.case.options else [answer.truth.people]
    yield Outcome("interval", within(interval, truth))
    ends = answer.report.frame["low"][0], answer.report.frame["high"][0]
    yield Outcome("the frame has the interval", ends == tuple(interval), sure=True)


@says(
    "With probability {level} the count is off by at most {within} people.",
    "With probability {level} the count is off by at most {within} rows.",
)
def off_by(answer: Answer, places: Places) -> Iterator[Outcome]:
    yield Outcome("plan: off by", abs(answer.values[0] - answer.truth.people) <= parse(places["within"]))


def _rows_counted(answer: Answer) -> int:
    most = answer.case.options["most_rows"]
    return sum(min(most, number) for number in answer.truth.rows_of_people.values())


@says("The interval holds with probability {level}, for the rows counted.")
def rows_counted(answer: Answer, _: Places) -> Iterator[Outcome]:
    (interval,) = answer.column("interval")
    yield Outcome("interval", within(interval, _rows_counted(answer)))
    ends = answer.report.frame["low"][0], answer.report.frame["high"][0]
    yield Outcome("the frame: all rows", within(ends, sum(answer.truth.rows_of_people.values())))


@says(
    "The interval holds with probability {level}, for the {different} counted.",
    "Each interval holds with probability {level} or more, for the {different} counted.",
)
def different_values_counted(answer: Answer, _: Places) -> Iterator[Outcome]:
    frame, lot, everything = answer.report.frame, answer.counted, answer.truth.different
    yield Outcome("the lot", all(lot[group] <= values for group, values in everything.items()), sure=True)
    brought = sum(min(len(own), answer.most or 0) for own in answer.truth.pairs_of_people.values())
    yield Outcome("no more than people bring", sum(lot.values()) <= brought, sure=True)
    for place, (group, values) in enumerate(everything.items()):
        interval = answer.column("interval")[place]
        yield Outcome(f"interval: {group}", within(interval, lot[group]))
        yield Outcome(f"the frame: all values of {group}", within((frame["low"][place], frame["high"][place]), values))
        ends = frame["bounded_low"][place], frame["bounded_high"][place]
        yield Outcome("the frame has the interval", ends == tuple(interval), sure=True)


@says(
    "With probability {level} the number of {different} is off by at most {within}.",
    "With probability {level} the number of {different} of a group is off by at most {within}.",
    "With probability {level} the number of {different} is off by at most {within}, of the {different} counted.",
    "With probability {level} the number of {different} of a group is off by at most {within}, of the {different} "
    "counted.",
)
def different_values_off_by(answer: Answer, places: Places) -> Iterator[Outcome]:
    bounded = " counted." in places["text"]
    for value, (group, number) in zip(answer.values, answer.truth.different.items(), strict=True):
        true = answer.counted[group] if bounded else number
        yield Outcome(f"plan: off by in {group}", abs(value - true) <= parse(places["within"]))


@says(
    "A person brings at most {most} {different}, picked at random: {value} {people} ({low} to {high} with probability "
    "{level}) {have} more, so that there may be more {different_values} than were counted.",
    "A person brings at most {most} {different}, in all groups together, picked at random: {value} {people} ({low} to "
    "{high} with probability {level}) {have} more, so that there may be more {different_values} than were counted.",
    "A person brings at most {most} {different}, picked at random: there may be more {different_values} than were "
    "counted.",
    "A person brings at most {most} {different}, in all groups together, picked at random: there may be more "
    "{different_values} than were counted.",
)
def people_with_more_values(answer: Answer, places: Places) -> Iterator[Outcome]:
    yield Outcome("most values", parse(places["most"]) == answer.most, sure=True)
    if "low" in places:
        more = sum(len(own) > (answer.most or 0) for own in answer.truth.pairs_of_people.values())
        yield Outcome("people with more values", between(places, more))


@says("Each interval holds with probability {level} or more, for the rows counted.")
def rows_of_groups_counted(answer: Answer, _: Places) -> Iterator[Outcome]:
    frame, most, lot = answer.report.frame, answer.case.options["most_rows"], answer.counted
    everything, own = answer.truth.rows_of_groups, answer.truth.rows_of_people
    some = all(lot[group] <= rows for group, rows in everything.items())
    yield Outcome("the lot", some and sum(lot.values()) == sum(min(most, n) for n in own.values()), sure=True)
    for place, (group, rows) in enumerate(everything.items()):
        yield Outcome(f"interval: {group}", within(answer.column("interval")[place], lot[group]))
        yield Outcome(f"the frame: all rows of {group}", within((frame["low"][place], frame["high"][place]), rows))
        ends = frame["bounded_low"][place], frame["bounded_high"][place]
        yield Outcome("the frame has the interval", ends == tuple(answer.column("interval")[place]), sure=True)


@says("With probability {level} the number of rows counted in a group is off by at most {within}.")
def rows_of_a_group_off_by(answer: Answer, places: Places) -> Iterator[Outcome]:
    for value, (group, rows) in zip(answer.values, answer.counted.items(), strict=True):
        yield Outcome(f"plan: off by in {group}", abs(value - rows) <= parse(places["within"]))


@says("With probability {level} the count is off by at most {within} rows, of the rows counted.")
def rows_off_by(answer: Answer, places: Places) -> Iterator[Outcome]:
    yield Outcome("plan: off by", abs(answer.values[0] - _rows_counted(answer)) <= parse(places["within"]))


@says(
    "Of each person at most {most} {rows_count}: {value} {people} ({low} to {high} with probability {level}) {have} "
    "more, so that there may be more rows than were counted.",
    "Of each person at most {most} {rows_count}: there may be more rows than were counted.",
    "Of each person at most {most} {rows_count}.",
)
def people_with_more_rows(answer: Answer, places: Places) -> Iterator[Outcome]:
    most = answer.case.options["most_rows"]
    yield Outcome("most rows", parse(places["most"]) == most, sure=True)
    if "low" in places:
        yield Outcome("people with more rows", between(places, answer.truth.people_with_more_rows(most)))


@says(
    "Each interval holds with probability {level} or more.",
    "Each interval holds with probability {level} or more, whoever is listed: it comes from a measurement made after "
    "the items were chosen.",
)
def intervals(answer: Answer, _: Places) -> Iterator[Outcome]:
    numbers = true_numbers(answer)
    for rank, (group, interval) in enumerate(zip(groups_of(answer), answer.column("interval"), strict=True), 1):
        # Who is listed changes: then the place in the list is what is heard again and again.
        place = rank if answer.case.kind in ("measure", "top") else group
        yield Outcome(f"interval: {place}", within(interval, numbers[group]))
    if answer.counted is not None and not {"weights", "in_each"} & answer.case.options.keys():
        yield from _lot(answer)
    if "unit" not in answer.case.options:
        yield Outcome("rows are called rows", not any("people" in name for name in answer.report.columns), sure=True)


def _lot(answer: Answer) -> Iterator[Outcome]:
    """The people counted are some of all, and everybody counts in as many groups as the bound allows."""
    counts, most = answer.truth.counts, answer.most or 1
    some = all(answer.counted[group] <= counts[group] for group in counts)
    drawn = sum(min(most, number) for number in answer.truth.groups_of_people.values())
    yield Outcome("the lot", some and sum(answer.counted.values()) == drawn, sure=True)


@says("Those of all {column} allow for the {people} whom the bound leaves out.")
def intervals_of_all(answer: Answer, _: Places) -> Iterator[Outcome]:
    frame, column = answer.report.frame, answer.of_all or ()
    for rank, (group, interval) in enumerate(zip(groups_of(answer), column, strict=True), 1):
        place = rank if answer.case.kind == "top" else group
        yield Outcome(f"interval of all: {place}", within(interval, answer.truth.values[group]))
    ends = list(zip(frame["low"], frame["high"], strict=True))
    yield Outcome("the frame has the intervals of all", ends == [tuple(ends) for ends in column], sure=True)
    inside = all(within(ends, value) for ends, value in zip(column, frame["value"], strict=True))
    yield Outcome("the frame's value is in its interval", inside, sure=True)


@says(
    "A person counts in {where}, picked at random: {value} {people} ({low} to {high} with probability {level}) {have} "
    "more."
)
def people_cut(answer: Answer, places: Places) -> Iterator[Outcome]:
    assert answer.most is not None
    yield Outcome("where a person counts", _where(places) == answer.most, sure=True)
    yield Outcome("people with more items", between(places, answer.truth.people_with_more_groups(answer.most)))
    same = [answer.report.data[name] for name in ("cut_low", "cut_high")] == [parse(places[e]) for e in ("low", "high")]
    yield Outcome("the data has what the sentence says", same, sure=True)


def _where(places: Places) -> Fraction:
    first = places["where"].split()[0]
    return Fraction(1) if first == "one" else parse(first)


@says("A person counts in {where}, picked at random where there are more.")
def where_it_counts(answer: Answer, places: Places) -> Iterator[Outcome]:
    yield Outcome("where a person counts", _where(places) == answer.most, sure=True)


def _planned(answer: Answer, **options: Any) -> Fraction:
    """Return how far off a number would be, as the plan of the same question with other options says."""
    said = [answer.plan(**options)]
    while said:
        for entry in match_entries(said.pop()):
            places = {} if entry is None else entry[1].groupdict()
            if "within" in places:
                return parse(places["within"])
            if "promise" in places:  # a plan for bounds that nobody knows yet
                said.append(f"{places['promise'][:1].upper()}{places['promise'][1:]}")
    raise AssertionError("the plan names no number")


@says(
    "With --most-items all nobody is left out, and every number would be off by at most {within}: {wider} {intervals} "
    "of these {size} would be narrower. To ask that: {command}"
)
def everybody_could_count(answer: Answer, places: Places) -> Iterator[Outcome]:
    off = parse(places["within"])
    yield Outcome("off by, with all", off == _planned(answer, most_items="all", one_each=False), sure=True)
    people = answer.of_all or ()
    narrower = sum(None not in ends and 2 * off < ends[1] - ends[0] for ends in people)
    wider, size = parse(places["wider"]), parse(places["size"])
    same = size == len(people) and (wider == narrower if "weights" not in answer.case.options else wider >= narrower)
    yield Outcome("how many intervals would be narrower", same and 2 * narrower > len(people), sure=True)
    words = shlex.split(places["command"])
    plain = not {"--most-items", "--one-each"} & {*words} and words[:2] == ["lastbit", "count"]
    yield Outcome("the command asks for all", plain, sure=True)


@says(
    "A person may count in all {size} {groups}, and nobody is left out: the noise is for as many, {within} at most. "
    "With --one-each it would be {one}, and a person would count in one {one_group} only; --most-items does so for a "
    "few.",
)
def everybody_counts(answer: Answer, places: Places) -> Iterator[Outcome]:
    yield Outcome("all groups", parse(places["size"]) == len(answer.truth.groups), sure=True)
    yield Outcome("noise of all", parse(places["within"]) == _planned(answer), sure=True)
    yield Outcome("noise with one each", parse(places["one"]) >= _planned(answer, one_each=True), sure=True)


@says("A person may count in all {size} {groups}, and the noise is for as many.")
def all_groups(answer: Answer, places: Places) -> Iterator[Outcome]:
    within_groups = "in_each" in answer.case.options
    groups = {group for _, group in answer.truth.groups} if within_groups else answer.truth.groups
    yield Outcome("all groups", parse(places["size"]) == len(groups), sure=True)


@says(
    "With probability {level} the number of {group} is off by at most {within}.",
    "With probability {level} the number counted in {group} is off by at most {within}.",
    "With probability {level} the number counted in {group} is off by at most {least} where the bound comes out as 1, "
    "and by at most {within} where it comes out as {highest}.",
)
def number_off_by(answer: Answer, places: Places) -> Iterator[Outcome]:
    numbers, off = true_numbers(answer), parse(places["within"])
    if "least" in places:
        yield Outcome("the largest bound", parse(places["highest"]) == len(answer.truth.groups), sure=True)
        if answer.most == 1:
            off = parse(places["least"])
    for group, value in zip(groups_of(answer), answer.values, strict=True):
        yield Outcome(f"plan: off by: {group}", abs(value - numbers[group]) <= off)


@says(
    "Items are listed from a noisy number of {least} on: an item needs {needed} to be listed with probability {level}.",
    "Items are listed from a noisy number of {least} on: an item needs {needed} counted to be listed with probability "
    "{level}.",
)
def listed_from(answer: Answer, places: Places) -> Iterator[Outcome]:
    if speaks_of_another_bound(answer, places):
        return
    least, needed = parse(places["least"]), parse(places["needed"])
    yield Outcome("listed from", all(value >= least for value in answer.values), sure=True)
    counted = "counted to be listed" in places["text"]
    yield Outcome("says of whom", counted == ("most_items" in answer.case.options), sure=True)
    yield from _listed("needed", answer, needed, true_numbers(answer) if counted else answer.truth.values)


def _listed(claim: str, answer: Answer, needed: Fraction, numbers: Mapping[Any, Any]) -> Iterator[Outcome]:
    listed = {*answer.column("item")}
    for item, value in numbers.items():
        if value >= needed:
            yield Outcome(f"{claim}: {item}", item in listed)


@says("An item of the table is listed with a false interval with a probability of at most {false}.")
def false_intervals(answer: Answer, places: Places) -> Iterator[Outcome]:
    yield Outcome("the share of false intervals", percent(places["false"]) == 1 - answer.level, sure=True)
    columns, numbers = answer.report.columns, true_numbers(answer)
    shown = dict(zip(columns["item"], columns["interval"], strict=True))
    alone = [item for item in answer.truth.groups if answer.truth.counts[item] == 1]
    items = [item for item in answer.truth.groups if item not in alone[3:]]
    for item in items:
        held = item not in shown or within(shown[item], numbers.get(item, 0))
        yield Outcome(f"interval: {item}", held)
    if answer.of_all is not None:
        shown = dict(zip(columns["item"], answer.of_all, strict=True))
        for item in items:
            held = item not in shown or within(shown[item], answer.truth.values[item])
            yield Outcome(f"interval of all: {item}", held)


@says(
    "This is where the bound comes out as 1: for a larger one an item needs more.",
)
def where_the_bound_is_one(answer: Answer, _: Places) -> Iterator[Outcome]:
    yield Outcome("the bound is found", answer.case.options["most_items"] == "auto", sure=True)


@says("So {group} may have up to {more_people} {people} more than were counted, and {groups} may be in another order.")
def up_to_so_many_more(answer: Answer, places: Places) -> Iterator[Outcome]:
    more = parse(places["more_people"])
    if "weights" in answer.case.options:
        return  # the lot does not say which people of a sum were counted
    furthest = max((answer.truth.counts[item] - answer.counted.get(item, 0) for item in answer.truth.groups), default=0)
    yield Outcome("more than were counted", furthest <= more)


@says(
    "A row whose number is missing, negative, or text that is no number, counts 0. Other counts are rounded down to "
    "whole numbers, up to {limit}. Of several rows of an item the largest counts. One person moves each count by at "
    "most {sensitivity}, as was stated."
)
def stated_counts(answer: Answer, places: Places) -> Iterator[Outcome]:
    said = Fraction(answer.case.options["sensitivity"])
    yield Outcome("the sensitivity", parse(places["sensitivity"]) == said, sure=True)
