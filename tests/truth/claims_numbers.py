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


@says("All three intervals hold together with probability {level}, for numbers clamped to the bounds.")
def mean_and_people(answer: Answer, _: Places) -> Iterator[Outcome]:
    (mean,), people = answer.column("interval"), answer.report.columns
    (numbers,) = next(column for name, column in people.items() if name.startswith("interval of"))
    true_mean = answer.truth.mean
    held = (true_mean is None or within(mean, true_mean)) and within(numbers, len(answer.truth.numbers))
    (total,) = answer.column("interval of sums")
    yield Outcome("intervals together", held and within(total, answer.truth.sum))
    ends = answer.report.frame["total_low"], answer.report.frame["total_high"]
    yield Outcome("the frame has the total", ends == ([total[0]], [total[1]]), sure=True)


@says(
    "With probability {level} the mean of {guess} {people} is off by about {off} at most where it is in the middle of "
    "the bounds, by twice that at a bound, and the number of {people} by at most {people_off}."
)
def mean_off_by(answer: Answer, places: Places) -> Iterator[Outcome]:
    (low, high), mean, n = answer.truth.bounds, answer.truth.mean, len(answer.truth.numbers)
    (estimate,), (units,) = (answer.report.frame[name] for name in ("value", "people"))
    held = abs(units - n) <= parse(places["people_off"])
    if mean is not None and parse(places["guess"]) == n:
        half = (high - low) / 2
        held = held and abs(estimate - mean) <= parse(places["off"]) * (1 + abs(mean - low - half) / half)
    yield Outcome("plan: off by", held)


def _likely(answer: Answer, places: Places) -> bool:
    """Tell whether the bounds came out as a plan supposed."""
    return answer.truth.bounds == (parse(places["likely_low"]), parse(places["likely_high"]))


@says(
    "If the bounds come out as {likely_low} and {likely_high}, with probability {level} the sum is off by at most "
    "{within}, for numbers clamped to the bounds."
)
def likely_sum_off_by(answer: Answer, places: Places) -> Iterator[Outcome]:
    if _likely(answer, places):
        yield from sum_off_by(answer, places)


@says(
    "If the bounds come out as {likely_low} and {likely_high}, with probability {level} the mean of {guess} {people} "
    "is off by about {off} at most where it is in the middle of the bounds, by twice that at a bound, and the number "
    "of {people} by at most {people_off}."
)
def likely_mean_off_by(answer: Answer, places: Places) -> Iterator[Outcome]:
    if _likely(answer, places):
        yield from mean_off_by(answer, places)


@says("If the bounds come out as {likely_low} and {likely_high}, nothing is known about the mean of {guess} {people}.")
def nothing_is_known_at_likely_bounds(answer: Answer, places: Places) -> Iterator[Outcome]:
    if _likely(answer, places):
        yield from nothing_is_known(answer, places)


@says(
    "The bounds {low} and {high} were chosen from a public list; with probability {level} at most {beyond} {people} "
    "have a number beyond either."
)
def chosen_bounds(answer: Answer, places: Places) -> Iterator[Outcome]:
    yield Outcome("the bounds", answer.truth.bounds == (parse(places["low"]), parse(places["high"])), sure=True)
    most = max(answer.truth.clamped.values())
    yield Outcome("people beyond a bound", most <= parse(places["beyond"]))


@says(
    "A share of {share} of the cost chooses bounds for these numbers from a public list of round numbers, in steps of "
    "{step}."
)
def share_for_bounds(answer: Answer, places: Places) -> Iterator[Outcome]:
    options = answer.case.options
    right = parse(places["share"]) == Fraction(options.get("bounds_share", "1/4"))
    right = right and parse(places["step"]) == Fraction(options.get("resolution", "1/1000"))
    yield Outcome("the share for bounds", right, sure=True)


@says("Nothing is known about the mean of {guess} {people}.")
def nothing_is_known(answer: Answer, _: Places) -> Iterator[Outcome]:
    yield Outcome("the interval has both bounds", answer.column("interval")[0] == answer.truth.bounds)


@says(
    "{column} below {bound} counts as {bound}: {value} {people} ({low} to {high} with probability {level}) {have} such "
    "a number and none above {high_bound}.",
    "{column} below {bound} counts as {bound}: {value} {people} ({low} to {high} with probability {level}) {have} such "
    "a number, or such a total in {group} and none above {high_bound}.",
)
def clamped_below(answer: Answer, places: Places) -> Iterator[Outcome]:
    yield from _clamped(answer, places, "below", answer.truth.bounds[0])


@says(
    "{column} above {bound} counts as {bound}: {value} {people} ({low} to {high} with probability {level}) {have} such "
    "a number.",
    "{column} above {bound} counts as {bound}: {value} {people} ({low} to {high} with probability {level}) {have} such "
    "a number, or such a total in {group}.",
)
def clamped_above(answer: Answer, places: Places) -> Iterator[Outcome]:
    yield from _clamped(answer, places, "above", answer.truth.bounds[1])


def _clamped(answer: Answer, places: Places, side: str, bound: Fraction) -> Iterator[Outcome]:
    yield Outcome(f"the bound {side}", parse(places["bound"]) == bound, sure=True)
    yield Outcome(f"people {side} the bounds", between(places, answer.truth.clamped[side]))


@says(
    "At most {most} {rows_of_person}, picked at random: {value} {people} ({low} to {high} with probability {level}) "
    "have more, so that the answer is about the rows counted.",
    "At most {most} {rows_of_person}, picked at random: {value} {people} ({low} to {high} with probability {level}) "
    "have more.",
    "Each row has one number, its number; at most {most} {rows_of_person}, picked at random.",
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
    if "quantile" in columns:
        quantiles = [Fraction(q) for q in columns["quantile"]]
        yield None, dict(zip(quantiles, columns["number"], strict=True))
        return
    heading = next(iter(columns))
    names = [name for name in columns if name.startswith("number at ")]
    for place, group in enumerate(columns[heading]):
        cells = {Fraction(name.rsplit(" ", 1)[1]): columns[name][place] for name in names}
        # Where there are too few to say nothing is said.
        yield group, {q: value for q, value in cells.items() if value is not None}


def _furthest(values: Mapping[Fraction, Fraction], lower: Sequence[Fraction], upper: Sequence[Fraction]) -> Fraction:
    return max((rank_error(value, q, lower, upper) for q, value in values.items()), default=Fraction(0))


@says(
    "{who} probability {level} {values} within {ranks} ranks of the {quantiles}. If all numbers stood in order, a "
    "value would stand at most {ranks} places from the place that was asked for. This is for numbers clamped to the "
    "bounds and floored to steps of {step}, where a number less than {hair} below a step may count as that step.",
    "{who} probability {level} {values} within {ranks} ranks of the {quantiles}, if no two numbers fall on the same "
    "step. If all numbers stood in order, a value would stand at most {ranks} places from the place that was asked "
    "for. This is for numbers clamped to the bounds and floored to steps of {step}, where a number less than {hair} "
    "below a step may count as that step.",
)
def ranks(answer: Answer, places: Places) -> Iterator[Outcome]:
    step, hair, reach = (parse(places[name]) for name in ("step", "hair", "ranks"))
    some = places["who"].startswith("Of what is counted")
    bounded = answer.case.options.keys() & {"one_each", "most_items", "most_rows"}
    yield Outcome("says of whom", some == bool(bounded), sure=True)
    for group, values in _values_of_groups(answer):
        if some and answer.counted is not None:
            lower = upper = answer.counted[group]
        else:
            lower, upper = answer.truth.floored(group, step), answer.truth.floored(group, step, hair)
        yield Outcome(f"ranks: {group}", _spread(lower, values) or _furthest(values, lower, upper) <= reach)


def _spread(numbers: Sequence[Fraction], values: Mapping[Fraction, Fraction]) -> bool:
    """Whether two numbers fall on the same step, where several values are promised at once: then nothing is said."""
    return len(values) > 1 and len(set(numbers)) < len(numbers)


@says(
    "A person counts in {where}, picked at random: {value} {people} ({low} to {high} with probability {level}) have "
    "more. Among all people of a group, with those whom the bound leaves out, with probability {level} the values are "
    "within {ranks} ranks."
)
def ranks_of_all(answer: Answer, places: Places) -> Iterator[Outcome]:
    from tests.truth.claims_counts import people_cut

    yield from people_cut(answer, places)
    found = re.search(rf"floored to steps of ({NUMBER}), where a number less than ({NUMBER})", answer.report.notes[0])
    assert found is not None
    step, hair = map(parse, found.groups())
    for group, values in _values_of_groups(answer):
        lower, upper = answer.truth.floored(group, step), answer.truth.floored(group, step, hair)
        yield Outcome(f"ranks of all: {group}", _furthest(values, lower, upper) <= parse(places["ranks"]))
