"""What is said of one number of each person: sums, means and quantiles, and whose numbers are clamped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from tests.truth.claims import NUMBER, Answer, Outcome, between, parse, says, within
from tests.truth.reference import rank_error

Places = Mapping[str, str]


@says("The interval holds with probability {level}, for numbers clamped to the bounds.")
def sum_of_numbers(answer: Answer, _: Places) -> Iterator[Outcome]:
    (interval,) = answer.column("interval")
    yield Outcome("interval", within(interval, answer.truth.sum))


@says("With probability {level} the sum is off by at most {within}, for numbers clamped to the bounds.")
def sum_off_by(answer: Answer, places: Places) -> Iterator[Outcome]:
    yield Outcome("plan: off by", abs(answer.values[0] - answer.truth.sum) <= parse(places["within"]))


@says("Both intervals hold together with probability {level}, for numbers clamped to the bounds.")
def mean_and_people(answer: Answer, _: Places) -> Iterator[Outcome]:
    (mean,), people = answer.column("interval"), answer.report.columns
    (numbers,) = next(column for name, column in people.items() if name.startswith("interval of"))
    true_mean = answer.truth.mean
    held = (true_mean is None or within(mean, true_mean)) and within(numbers, len(answer.truth.numbers))
    yield Outcome("both intervals", held)


@says(
    "With probability {level} the mean of {people} {units} is off by about {off} at most where it is in the middle of "
    "the bounds, by twice that at a bound, and the number of {units} by at most {units_off}."
)
def mean_off_by(answer: Answer, places: Places) -> Iterator[Outcome]:
    (low, high), mean, n = answer.truth.bounds, answer.truth.mean, len(answer.truth.numbers)
    (estimate,), (units,) = (answer.report.frame[name] for name in ("value", "people"))
    held = abs(units - n) <= parse(places["units_off"])
    if mean is not None and parse(places["people"]) == n:
        half = (high - low) / 2
        held = held and abs(estimate - mean) <= parse(places["off"]) * (1 + abs(mean - low - half) / half)
    yield Outcome("plan: off by", held)


@says("Nothing is known about the mean of {people} {units}.")
def nothing_is_known(answer: Answer, _: Places) -> Iterator[Outcome]:
    yield Outcome("the interval has both bounds", answer.column("interval")[0] == answer.truth.bounds)


@says(
    "{column} below {bound} counts as {bound}: {value} {units} ({low} to {high} with probability {level}) {have} such "
    "a number, and none above {high_bound}.",
)
def clamped_below(answer: Answer, places: Places) -> Iterator[Outcome]:
    yield from _clamped(answer, places, "below", answer.truth.bounds[0])


@says(
    "{column} above {bound} counts as {bound}: {value} {units} ({low} to {high} with probability {level}) {have} such "
    "a number.",
)
def clamped_above(answer: Answer, places: Places) -> Iterator[Outcome]:
    yield from _clamped(answer, places, "above", answer.truth.bounds[1])


def _clamped(answer: Answer, places: Places, side: str, bound: Fraction) -> Iterator[Outcome]:
    yield Outcome(f"the bound {side}", parse(places["bound"]) == bound, sure=True)
    yield Outcome(f"people {side} the bounds", between(places, answer.truth.clamped[side]))


@says(
    "At most {most} {rows_of_unit}, picked at random: {value} {units} ({low} to {high} with probability {level}) have "
    "more, so that the answer is about the rows counted.",
    "At most {most} {rows_of_unit}, picked at random: {value} {units} ({low} to {high} with probability {level}) have "
    "more.",
    "Each row has one number, its number; at most {most} {rows_of_unit}, picked at random.",
)
def rows_cut(answer: Answer, places: Places) -> Iterator[Outcome]:
    most = answer.case.options["most_rows"]
    yield Outcome("most rows", parse(places["most"]) == most, sure=True)
    if "low" in places:
        yield Outcome("people with more rows", between(places, answer.truth.people_with_more_rows(most)))


@says(
    "A missing number counts as {missing}.",
    "Rows whose number is missing count as {missing}.",
    "A row whose number is missing, or is text that is no number, counts as {missing}.",
)
def missing(answer: Answer, places: Places) -> Iterator[Outcome]:
    yield Outcome("missing", parse(places["missing"]) == Fraction(answer.case.options["missing"]), sure=True)


def _values_of_groups(answer: Answer) -> Iterator[tuple[Any, dict[Fraction, Fraction]]]:
    """Yield each group, None for all people, and the value at each quantile."""
    columns = answer.report.columns
    if "group" not in columns:
        quantiles = [Fraction(q) for q in columns["quantile"]]
        yield None, dict(zip(quantiles, columns["number"], strict=True))
        return
    names = [name for name in columns if name != "group"]
    for place, group in enumerate(columns["group"]):
        yield group, {Fraction(name.rsplit(" ", 1)[1]): columns[name][place] for name in names}


def _furthest(values: Mapping[Fraction, Fraction], numbers: Sequence[Fraction]) -> Fraction:
    return max(rank_error(value, q, numbers) for q, value in values.items())


@says(
    "{who} probability {level} {values} within {ranks} ranks of the {quantiles}. If all numbers stood in order, a "
    "value would stand at most {ranks} places from the place that was asked for. This is for numbers clamped to the "
    "bounds and floored to steps of {step}.",
    "{who} probability {level} {values} within {ranks} ranks of the {quantiles}, if no two numbers fall on the same "
    "step. If all numbers stood in order, a value would stand at most {ranks} places from the place that was asked "
    "for. This is for numbers clamped to the bounds and floored to steps of {step}.",
)
def ranks(answer: Answer, places: Places) -> Iterator[Outcome]:
    step, reach = parse(places["step"]), parse(places["ranks"])
    for group, values in _values_of_groups(answer):
        if answer.counted is not None:
            held = _spread(answer.counted[group], values) or _furthest(values, answer.counted[group]) <= reach
            yield Outcome(f"ranks of the numbers counted: {group}", held)
        numbers = answer.truth.floored(group, step)
        yield Outcome(f"ranks: {group}", _spread(numbers, values) or _furthest(values, numbers) <= reach)


def _spread(numbers: Sequence[Fraction], values: Mapping[Fraction, Fraction]) -> bool:
    """Whether two numbers fall on the same step, where several values are promised at once: then nothing is said."""
    return len(values) > 1 and len(set(numbers)) < len(numbers)


@says(
    "A unit counts in {where}, picked at random: {value} {units} ({low} to {high} with probability {level}) have more. "
    "Among all units of a group, with those whom the bound leaves out, with probability {level} the values are within "
    "{ranks} ranks."
)
def ranks_of_all(answer: Answer, places: Places) -> Iterator[Outcome]:
    from tests.truth.claims_counts import people_cut

    yield from people_cut(answer, places)
    step = re.search(rf"floored to steps of ({NUMBER})", answer.report.notes[0])
    assert step is not None
    for group, values in _values_of_groups(answer):
        numbers = answer.truth.floored(group, parse(step[1]))
        yield Outcome(f"ranks of all: {group}", _furthest(values, numbers) <= parse(places["ranks"]))
