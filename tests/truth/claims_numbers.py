"""What is said of one number of each person: sums, means and quantiles, and whose numbers are clamped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from tests.truth.claims import NUMBER, Answer, Outcome, between, match_entries, parse, read, says
from tests.truth.reference import rank_error

Places = Mapping[str, str]


@says(
    "With probability {level} the sum is off by at most {within}, for numbers clamped to the bounds.",
    "Of what is counted: with probability {level} the sum is off by at most {within}, for numbers clamped to the "
    "bounds.",
)
def sum_off_by(answer: Answer, places: Places) -> Iterator[Outcome]:
    from tests.truth.claims_groups import true_sums

    ((total, _),) = true_sums(answer, counted=True).values()
    (drawn,) = answer.report.frame["value" if answer.case.kind == "sum" else "total"]
    yield Outcome("plan: off by", abs(drawn - total) <= parse(places["within"]))


@says(
    "With probability {level} the mean of {guess} {people} is off by at most {off}, for numbers clamped to the bounds. "
    "With probability {level} the number of {noun} is off by at most {people_off}.",
    "Of what is counted: with probability {level} the mean of {guess} {people} is off by at most {off}, for numbers "
    "clamped to the bounds. With probability {level} the number of {noun} is off by at most {people_off}.",
)
def mean_off_by(answer: Answer, places: Places) -> Iterator[Outcome]:
    from tests.truth.claims_groups import true_sums

    ((total, n),) = true_sums(answer, counted=True).values()
    frame = answer.report.frame
    (mean,), (people,) = frame["value" if answer.case.kind == "mean" else "mean"], frame["people"]
    yield Outcome("plan: people off by", abs(people - n) <= parse(places["people_off"]))
    if n and mean == mean and n >= parse(places["guess"]):
        yield Outcome("plan: off by", abs(mean - total / n) <= parse(places["off"]))


@says("The cost is shared evenly among the {columns} columns of numbers: each is answered by itself.")
def shared_evenly(answer: Answer, places: Places) -> Iterator[Outcome]:
    columns = answer.case.options["columns of numbers"]
    yield Outcome("how many columns", parse(places["columns"]) == len(columns), sure=True)
    # What the parts paid, and not what they should have.
    currency = "rho" if "rho" in answer.case.options else "epsilon"
    costs = {getattr(part.cost, currency) for _, part in answer.whole.parts}
    yield Outcome("all columns pay the same", len(costs) == 1 and len(answer.whole.parts) == len(columns), sure=True)


@says("If the bounds come out as {likely_low} and {likely_high}, {promise}")
def likely_bounds(answer: Answer, places: Places) -> Iterator[Outcome]:
    promise = places["promise"][0].upper() + places["promise"][1:]
    entries = [entry for entry in match_entries(promise) if entry is not None]
    yield Outcome("the promise has an entry", bool(entries), sure=True)
    if answer.truth.bounds == (parse(places["likely_low"]), parse(places["likely_high"])):
        yield from read(promise, answer)


@says("A bin is {width} wide, and {promise}")
def likely_bins(answer: Answer, places: Places) -> Iterator[Outcome]:
    low, high = answer.truth.bounds
    width = (high - low) / answer.case.options["bins"]
    yield Outcome("the width", abs(parse(places["width"]) - width) <= width / 10**5, sure=True)  # as people read it
    yield from read(places["promise"][0].upper() + places["promise"][1:], answer)


@says("{column} below {bound} is in the first bin, and above {high_bound} in the last bin.")
def beyond_bins(answer: Answer, places: Places) -> Iterator[Outcome]:
    ends = parse(places["bound"]), parse(places["high_bound"])
    yield Outcome("the bounds", ends == answer.truth.bounds, sure=True)


@says(
    "The bounds {low} and {high} were chosen from a public list; with probability {level} at most {beyond} {people} "
    "{have} a number beyond either.",
    "The bounds {low} and {high} were chosen from a public list; with probability {level} at most {beyond} {people} "
    "{have} their number furthest from 0 beyond either.",
    "The bounds {low} and {high} were chosen from a public list, which ends there: any number of {people} may be "
    "beyond.",
)
def chosen_bounds(answer: Answer, places: Places) -> Iterator[Outcome]:
    low, high = answer.truth.bounds
    yield Outcome("the bounds", (low, high) == (parse(places["low"]), parse(places["high"])), sure=True)
    if "beyond" not in places:
        yield Outcome("the end of the list", max(-low, high) >= 10**12, sure=True)
        return
    furthest = answer.truth.furthest.values()
    most = max(sum(number < low for number in furthest), sum(number > high for number in furthest))
    yield Outcome("people beyond a bound", most <= parse(places["beyond"]))
    several = "furthest" in places["text"]
    yield Outcome("which number", several == (answer.truth.has_several_numbers), sure=True)


@says(
    "A share of {share} of the cost chooses bounds for these numbers from a public list of round numbers, in steps of "
    "{step}."
)
def share_for_bounds(answer: Answer, places: Places) -> Iterator[Outcome]:
    options = answer.case.options
    right = parse(places["share"]) == Fraction(options.get("bounds_share", "1/4"))
    right = right and parse(places["step"]) == Fraction(options.get("resolution", "1/1000"))
    yield Outcome("the share for bounds", right, sure=True)


@says(
    "{column} below {bound} counts as {bound}: {value} {people} ({low} to {high} with probability {level}) {have} such "
    "a number and none above {high_bound}.",
    "{column} below {bound} counts as {bound}: {value} {people} ({low} to {high} with probability {level}) {have} such "
    "a number, or such a total in {group} and none above {high_bound}.",
    "{column} below {bound} is in the first bin: {value} {people} ({low} to {high} with probability {level}) {have} "
    "such a number and none above {high_bound}.",
)
def clamped_below(answer: Answer, places: Places) -> Iterator[Outcome]:
    yield from _clamped(answer, places, "below", answer.truth.bounds[0])


@says(
    "{column} above {bound} counts as {bound}: {value} {people} ({low} to {high} with probability {level}) {have} such "
    "a number.",
    "{column} above {bound} counts as {bound}: {value} {people} ({low} to {high} with probability {level}) {have} such "
    "a number, or such a total in {group}.",
    "{column} above {bound} is in the last bin: {value} {people} ({low} to {high} with probability {level}) {have} "
    "such a number.",
)
def clamped_above(answer: Answer, places: Places) -> Iterator[Outcome]:
    yield from _clamped(answer, places, "above", answer.truth.bounds[1])


def _clamped(answer: Answer, places: Places, side: str, bound: Fraction) -> Iterator[Outcome]:
    yield Outcome(f"the bound {side}", parse(places["bound"]) == bound, sure=True)
    yield Outcome(f"people {side} the bounds", between(places, answer.truth.clamped[side]))


@says(
    "At most {most} {rows_of_person}, picked at random: {value} {people} ({low} to {high} with probability {level}) "
    "{have} more, so that the answer is about the rows counted.",
    "At most {most} {rows_of_person}, picked at random: {value} {people} ({low} to {high} with probability {level}) "
    "{have} more.",
    "Each row has one number, its {column}; at most {most} {rows_of_person}, picked at random.",
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
    "A person counts in {where}, picked at random: {value} {people} ({low} to {high} with probability {level}) {have} "
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
