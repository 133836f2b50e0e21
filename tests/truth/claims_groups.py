"""What is said of numbers of groups: the mean, the total and the number of people of each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from tests.truth.claims import Answer, Outcome, parse, says, within
from tests.truth.claims_counts import people_cut

Places = Mapping[str, str]
ENDS = {"mean": "interval of means", "sum": "interval of sums"}


def true_sums(answer: Answer, *, counted: bool = False) -> dict[Any, tuple[Fraction, int]]:
    """Return the sum and the number of people of each group: of those whom a lot left, or of all."""
    if counted and answer.counted is not None:
        low, _ = answer.truth.bounds
        return {group: (above + n * low, n) for group, (above, n, _) in answer.counted.items()}
    return answer.truth.sums_of_groups


def true_variances(answer: Answer, *, counted: bool = False) -> dict[Any, Fraction | None]:
    """Return the mean square distance from the mean in each group, of those whom a lot left or of all."""
    if not counted or answer.counted is None:
        return answer.truth.variances_of_groups
    low, high = answer.truth.bounds
    variances: dict[Any, Fraction | None] = {}
    for group, (above, n, square) in answer.counted.items():
        variances[group] = square / n - (above / n - (high - low) / 2) ** 2 if n else None
    return variances


def _is_of_some(answer: Answer) -> bool:
    """Whether the answer is about those counted, and says so."""
    return any(name.endswith(" counted") for name in answer.report.columns)


@says("Each interval holds with probability {level} or more, for numbers clamped to the bounds.")
def intervals_of_groups(answer: Answer, _: Places) -> Iterator[Outcome]:
    columns, frame, kind = answer.report.columns, answer.report.frame, answer.case.kind
    bounded = answer.case.options.keys() & {"one_each", "most_items", "most_rows"}
    unknown = "most_rows" in bounded or (bounded and answer.case.options.get("people_share") == 0)
    yield Outcome("says of whom", _is_of_some(answer) == bool(unknown), sure=True)
    people = next(column for name, column in columns.items() if name in ("interval of people", "interval of rows"))
    means = columns["interval" if kind == "mean" else ENDS["mean"]]
    sums = columns["interval" if kind == "sum" else ENDS["sum"]]
    for place, (group, (total, n)) in enumerate(true_sums(answer, counted=_is_of_some(answer)).items()):
        yield Outcome(f"interval of a group: people of {group}", within(people[place], n))
        yield Outcome(f"interval of a group: sum of {group}", within(sums[place], total))
        seen = means[place] is not None
        held = not seen or (n > 0 and within(means[place], total / n))
        yield Outcome(f"interval of a group: mean of {group}", held)
        if "standard deviation" in columns:
            variance = true_variances(answer, counted=_is_of_some(answer))[group]
            low, high = columns["interval of standard deviations"][place] or (Fraction(0), Fraction(0))
            held = not seen or (variance is not None and low * low <= variance <= high * high)
            yield Outcome(f"interval of a group: standard deviation of {group}", held)
        same = frame["shown"][place] == seen and bool(frame["why"][place]) != seen
        yield Outcome("the frame says what is shown", same, sure=True)
    yield Outcome("everything is in its interval", all(_is_inside(frame, prefix) for prefix in _PREFIXES), sure=True)


_PREFIXES = (("value", ""), ("total", "total_"), ("mean", "mean_"), ("sd", "sd_"))


def _is_inside(frame: Mapping[str, Any], names: tuple[str, str]) -> bool:
    value, prefix = names
    if value not in frame:
        return True
    rows = zip(frame[value], frame[f"{prefix}low"], frame[f"{prefix}high"], strict=True)
    # A total stays as it was drawn, and its interval ends at 0.
    return all(number != number or low <= number <= high or not low * high for number, low, high in rows)


@says(
    "A standard deviation is that of the clamped numbers, divided by how many {noun} there are and not by one less; "
    "{sd_share} of the cost of the answer measures it."
)
def standard_deviations(answer: Answer, places: Places) -> Iterator[Outcome]:
    noun = "rows" if "most_rows" in answer.case.options or answer.case.options.get("unit", "") is None else "people"
    yield Outcome("of whom is the standard deviation", places["noun"] == noun, sure=True)
    yield Outcome("the share for squares", places["sd_share"] == "25%", sure=True)


@says(
    "A person counts in {where}, picked at random: {value} {people} ({low} to {high} with probability {level}) {have} "
    "more. The intervals allow for them. --most-items all leaves nobody out."
)
def people_of_groups_cut(answer: Answer, places: Places) -> Iterator[Outcome]:
    yield from people_cut(answer, places)


@says("Each interval holds with probability {level} or more, of the share and of both of its numbers.")
def shares(answer: Answer, _: Places) -> Iterator[Outcome]:
    columns, frame = answer.report.columns, answer.report.frame
    people = next(column for name, column in columns.items() if name in ("interval of people", "interval of rows"))
    for place, (group, (total, n)) in enumerate(true_sums(answer, counted=_is_of_some(answer)).items()):
        ends = columns["interval"][place]
        held = ends is None or (n > 0 and within(ends, 100 * total / n))
        yield Outcome(f"interval of a group: share of {group}", held)
        yield Outcome(f"interval of a group: true of {group}", within(columns["interval of these"][place], total))
        yield Outcome(f"interval of a group: people of {group}", within(people[place], n))
        same = ends is None or (frame["low"][place], frame["high"][place]) == ends
        yield Outcome("the frame has the interval", same and frame["shown"][place] == (ends is not None), sure=True)


@says(
    "It is true of a person with at least one row where {condition}",
    "It is true of a person with at least one row in the group where {condition}",
    "Each row is one, and it is true of a row where {condition}",
)
def condition(answer: Answer, places: Places) -> Iterator[Outcome]:
    yield Outcome("the condition", places["condition"] == f"{answer.case.options['of']}.", sure=True)


@says(
    "{whose} probability {level} the share of a group of {guess} {people} is off by at most {off} percentage points.",
    "{whose} probability {level} the share of {guess} {people} is off by at most {off} percentage points.",
)
def share_off_by(answer: Answer, places: Places) -> Iterator[Outcome]:
    release = getattr(answer.release, "main", answer.release)
    for place, (group, (total, n)) in enumerate(true_sums(answer, counted=True).items()):
        if n >= parse(places["guess"]):
            mean = release.means[place]
            held = mean is not None and 100 * abs(mean - total / n) <= parse(places["off"])
            yield Outcome(f"plan: share of {group}", held)


@says("The interval of {noun} of each group holds with probability {level}.")
def sizes_of_groups(answer: Answer, _: Places) -> Iterator[Outcome]:
    columns = answer.report.columns.items()
    ends = next(column for name, column in columns if name.startswith("interval of"))
    lots = _is_of_some(answer) and answer.counted is not None
    shown = [not math.isnan(value) for value in answer.report.frame["value"]]
    yield Outcome("the frame says what is shown", shown == answer.report.frame["shown"], sure=True)
    times = len(shown) // len(ends)
    for place, (group, own) in enumerate(answer.truth.numbers_of_groups.items()):
        size = len(answer.counted[group] if lots else own)
        yield Outcome(f"interval of a group: {group}", within(ends[place], size))
        yield Outcome(f"somebody is there: {group}", bool(own) or not any(shown[times * place :][:times]))


@says(
    "{whose} probability {level} the mean of a group of {guess} {people} is off by at most {off}, for numbers clamped "
    "to the bounds. With probability {level} the number of {people} of a group is off by at most {people_off}.",
    "{whose} probability {level} the mean of a group of {guess} {people} is off by at most {off}, for numbers clamped "
    "to the bounds. With probability {level} the number of {noun} of a group is off by at most {people_off}.",
)
def mean_of_a_group(answer: Answer, places: Places) -> Iterator[Outcome]:
    release, guess = (
        answer.release if not hasattr(answer.release, "main") else answer.release.main,
        parse(places["guess"]),
    )
    for place, (group, (total, n)) in enumerate(true_sums(answer, counted=True).items()):
        yield Outcome(f"plan: people of {group}", abs(release.people[place] - n) <= parse(places["people_off"]))
        if n >= guess:
            mean = release.means[place]
            held = mean is not None and abs(mean - total / n) <= parse(places["off"])
            yield Outcome(f"plan: mean of {group}", held)


@says("{whose} probability {level} the sum of a group is off by at most {off}, for numbers clamped to the bounds.")
def sum_of_a_group(answer: Answer, places: Places) -> Iterator[Outcome]:
    release = getattr(answer.release, "main", answer.release)
    for place, (group, (total, _)) in enumerate(true_sums(answer, counted=True).items()):
        yield Outcome(f"plan: sum of {group}", abs(release.totals[place] - total) <= parse(places["off"]))


@says(
    "Nothing is known about the mean of {guess} {people}.",
    "Of what is counted: nothing is known about the mean of {guess} {people}.",
    "Nothing is known about the mean of a group of {guess} {people}.",
    "Of what is counted: nothing is known about the mean of a group of {guess} {people}.",
    "Nothing is known about the share of a group of {guess} {people}.",
    "Nothing is known about the share of {guess} {people}.",
    "Of what is counted: nothing is known about the share of a group of {guess} {people}.",
    "Of what is counted: nothing is known about the share of {guess} {people}.",
)
def nothing_is_known(answer: Answer, places: Places) -> Iterator[Outcome]:
    yield Outcome("a small group", parse(places["guess"]) <= max(1, answer.truth.people), sure=True)
