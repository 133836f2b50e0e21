"""What is said of items that were selected: how much an item left out may have, gaps, and who is above a threshold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import lastbit as lb
from tests.truth.claims import Answer, Outcome, parse, says, within
from tests.truth.claims_counts import speaks_of_another_bound, true_numbers
from tests.truth.reference import nth_largest

Places = Mapping[str, str]


def _items(answer: Answer) -> list[Any]:
    return list(answer.column("item"))


def _left_out(answer: Answer) -> list[Fraction | int]:
    listed = {*_items(answer)}
    return [value for item, value in answer.truth.values.items() if item not in listed]


def _nobody_has_more(answer: Answer, than: str, more: Fraction) -> bool:
    left, values = max(_left_out(answer), default=None), answer.truth.values
    if left is None:
        return True
    if than == "a listed item":
        least: Fraction | int = min(values[item] for item in _items(answer))
    else:
        least = nth_largest(values.values(), int(re.sub(r"\D", "", than)))
    return left - least < more


@says(
    "With probability {level} no item left out has {reach} {more} than {than}.",
    "With probability {level} all true gaps are in their ranges, and no item left out has {reach} {more} than {than}.",
    "With probability {level} no item left out has {reach} {more} than {than}, and every gap is off by less than "
    "{gaps_off}.",
)
def nobody_left_out_has_more(answer: Answer, places: Places) -> Iterator[Outcome]:
    held = _nobody_has_more(answer, places["than"], parse(places["reach"]))
    gaps = true_gaps(answer) if "ahead of the next by" in answer.report.columns else []
    if "gaps_off" in places:
        shown = answer.column("ahead of the next by")
        near = all(abs(shown[place] - gap) < parse(places["gaps_off"]) for place, gap in enumerate(gaps))
        yield Outcome("plan: gaps", held and near)
    elif gaps or "true gap" in answer.report.columns:
        ranges = answer.column("true gap")
        yield Outcome("gaps", held and all(within(ranges[place], gap) for place, gap in enumerate(gaps)))
    else:
        yield Outcome("left out", held)


def true_gaps(answer: Answer) -> list[Fraction | int]:
    """Return how far each listed item is ahead of the next one, and the last of the largest that is left out."""
    values = [answer.truth.values[item] for item in _items(answer)]
    last = max(_left_out(answer), default=None)
    following = [*values[1:], *([] if last is None else [last])]
    return [value - after for value, after in zip(values, following, strict=False)]


@says(
    "Where the {k}{th} of all items is ahead of the next by {lead} {amount}, the set is exactly the {largest} largest "
    "with probability {level}."
)
def exactly_the_largest(answer: Answer, places: Places) -> Iterator[Outcome]:
    k, values = answer.case.options["k"], answer.truth.values
    yield Outcome("k", [parse(places["k"]), parse(places["largest"])] == [k, k], sure=True)
    largest = sorted(values.values(), reverse=True)
    if largest[k - 1] - largest[k] >= parse(places["lead"]):
        yield Outcome(
            "exactly the largest", {*_items(answer)} == {item for item in values if values[item] >= largest[k - 1]}
        )


@says("With probability {level} the measurement of a listed item is off by at most {within} {amount}.")
def measurement_off_by(answer: Answer, places: Places) -> Iterator[Outcome]:
    measurements = answer.release.measurements
    for rank, (item, measurement) in enumerate(zip(_items(answer), measurements, strict=True), 1):
        held = abs(measurement - answer.truth.values[item]) <= parse(places["within"])
        yield Outcome(f"plan: measurement: {rank}", held)


@says("{answered} of {size} {groups} were asked, in the order of the domain.")
def answered(answer: Answer, places: Places) -> Iterator[Outcome]:
    domain, items, last = list(answer.truth.groups), _items(answer), int(parse(places["answered"]))
    listed = [domain.index(item) + 1 for item in items]
    ended = listed[-1:] == [last] if len(items) == answer.case.options.get("limit", 1) else last == len(domain)
    in_order = listed == sorted(listed) and all(place <= last for place in listed)
    yield Outcome("asked", ended and in_order and parse(places["size"]) == len(domain), sure=True)


@says(
    "With probability {level} the 'at least' of a listed item is empty or true, whatever the values are. Where all "
    "items are below the threshold, those that are shown are the lucky ones."
)
def at_least(answer: Answer, _: Places) -> Iterator[Outcome]:
    for rank, (item, least) in enumerate(zip(_items(answer), answer.column("at least"), strict=True), 1):
        yield Outcome(f"at least: {rank}", least is None or least <= answer.truth.values[item])


@says(
    "Before the search begins, the probability is {level} that an item {within} {amount} above or below the threshold "
    "gets the right answer, if the search reaches it."
)
def told_rightly(answer: Answer, places: Places) -> Iterator[Outcome]:
    threshold, far = Fraction(answer.case.options["threshold"]), parse(places["within"])
    listed, asked = {*_items(answer)}, answer.truth.groups[: answer.release.answered]
    for item, value in answer.truth.values.items():
        if abs(value - threshold) >= far:
            held = item not in asked or (item in listed) == (value > threshold)
            yield Outcome(f"plan: told rightly: {item}", held)


@says(
    "{listed} of the {k} asked for were found. With a larger --epsilon or --delta an item needs fewer people to be "
    "listed.",
    "{listed} of the {k} asked for were found. With a smaller -k, or a larger --epsilon or --delta, an item needs "
    "fewer people to be listed.",
)
def found_fewer(answer: Answer, places: Places) -> Iterator[Outcome]:
    k, listed = answer.case.options["k"], len(_items(answer))
    if "a smaller -k" in places["text"]:
        release = getattr(answer.release, "main", answer.release)
        parameters = {"delta": answer.case.options["delta"], "epsilon": 1}
        build = getattr(lb, release.mechanism)
        needed = [build(k=fewer, **parameters).needed("0.95") for fewer in (k - 1, k)]
        yield Outcome("a smaller k needs fewer people", needed[0] < needed[1], sure=True)
    yield Outcome("how many", parse(places["listed"]) == listed < k == parse(places["k"]), sure=True)


@says(
    "An item with {reach} {more} than the {place}{th} of all items is listed with probability {level}, unless the "
    "noise puts {k} {other_items} ahead of it."
)
def listed_when_far_ahead(answer: Answer, places: Places) -> Iterator[Outcome]:
    k, place = answer.case.options["k"], int(parse(places["place"]))
    yield Outcome("k", parse(places["k"]) == k, sure=True)
    if speaks_of_another_bound(answer, places):
        return
    numbers = true_numbers(answer)
    other, listed = nth_largest(numbers.values(), place), _items(answer)
    for item, value in numbers.items():
        if value - other >= parse(places["reach"]):
            yield Outcome(f"needed: {item}", item in listed or len(listed) == k)


@says("An estimate is the threshold and the gap, less the mean of the noise.")
def estimates(answer: Answer, _: Places) -> Iterator[Outcome]:
    base = Fraction(answer.case.options["threshold"])
    pairs = zip(answer.column("estimate"), answer.column("above by"), strict=True)
    less = {base + gap - estimate for estimate, gap in pairs}
    yield Outcome("the estimate", len(less) <= 1, sure=True)
