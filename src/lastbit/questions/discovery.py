"""Questions about items that nobody listed: `top` and `choose` without --domain; and counts of items, listed or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from lastbit.errors import ParameterError
from lastbit.output.words import article, nth, plural, pluralize
from lastbit.questions.people import PeopleParts, PeopleReading
from lastbit.questions.question import Accuracy, Question
from lastbit.questions.reading_notes import describe_groups, describe_weights
from lastbit.questions.report import format_percent
from lastbit.questions.titles import name_group
from lastbit.values.bounds import parse_bounds

if TYPE_CHECKING:
    from lastbit.questions.reading import Reading
    from lastbit.questions.report import Report
    from lastbit.questions.request import Request

_NEEDED = "How much an item needs to be listed"


def _require_delta(request: Request) -> str:
    """Return the delta that pays for publishing items, refused where there is none."""
    delta: str | None = request["delta"]
    if delta is None:
        raise ParameterError(
            "without --domain the items are private, and to publish them takes a --delta, such as --discover --delta "
            "1e-6. Give one, or list the public items in a file and pass --domain FILE. Nothing was read."
        )
    return delta


def ask_unlisted_items(request: Request, *, gaps: bool) -> Question:
    """Find the k items with the most people, or the largest sums, among items that nobody listed."""
    import lastbit as lb
    from lastbit.questions.report import Report, format_bound

    rows, items, k, words = request.rows, request.items, request["k"], request.words
    kind: Any = lb.DiscoverTopK if gaps else lb.DiscoverRanking
    parameters = items.discovery_parameters(rows.unit, of_counts="1/10" if gaps else "1")
    people = _choose_parts(request)

    def build(most: int, cost: Mapping[str, Any]) -> Any:
        bound_of_person = {"most_items": most} if people.is_bounded else {}
        return kind(k=k, delta=_require_delta(request), **cost, **{**parameters, **bound_of_person})

    mechanism = build(people.most or 1, people.main_cost(request.cost))
    level, of_units = format_percent(request.level), " counted" if people.is_bounded else ""

    def describe(built: Any) -> str:
        enough = items.more(format_bound(built.needed(request.level, items.margin), whole=items.counts_units), words)
        return (
            f"An item with {enough}{of_units} than the {nth(built.candidates + 1)} of all items is listed with "
            f"probability {level}, unless the noise puts {plural(k, 'other item')} ahead of it."
        )

    needed, sentence = mechanism.needed(request.level, items.margin), describe(mechanism) + describe_auto(people)

    def report(published: Any) -> Report:
        reading = people.read(published, request.level)
        release = reading.main
        columns: dict[str, Any] = {"rank": range(1, len(release.items) + 1), **items.columns(release.items)}
        if gaps:
            columns["ahead of the next by"] = release.gaps
        built = build(reading.most, people.main_cost(request.cost))
        notes = [describe(built)]
        fewer = "a smaller -k, or a larger --epsilon or --delta," if k > 1 else "a larger --epsilon or --delta"
        notes = [*_describe_fewer(len(release.items), k, fewer), *notes]
        if release.stopped:
            notes.insert(0, "The search stopped: no other item is far enough above the items that few people have.")
        notes += describe_cut(request, reading)
        more = {"needed": built.needed(request.level, items.margin), "level": request.level, **reading.data}
        whole = items.whole_columns("ahead of the next by")
        return Report(published.title, columns, notes, published.to_dict() | items.data | more, whole)

    return Question(
        people.mechanism(request.cost, build, _require_delta(request)),
        reading=_read_unlisted(request, people, mechanism.candidates + 1),
        report=report,
        sample=lambda units: _sample_unlisted_items(request, people, units, parameters),
        accuracy=lambda units: Accuracy(
            needed, items.number(request.words), sentence, _NEEDED, total=items.total_of(units)
        ),
        notes=[*describe_groups(request), *describe_weights(request)],
        draws_numbers=gaps,
    )


def list_found_items(request: Request) -> Question:
    """List the first k of the items that are found, with their numbers: the head of a count of unlisted items.

    The count costs the same, and publishes all items that are found. So the ledger takes both for one question.
    """
    count = request.canonical
    question = count.kind.build(count)
    return replace(question, report=lambda published: _take_first(question.report(published), request))


def _take_first(report: Report, request: Request) -> Report:
    """Return the report of the k items with the largest published numbers."""
    frame, k = report.frame or {}, request["k"]
    values = frame["value" if "value" in frame else "bounded_value"]
    order = sorted(range(len(values)), key=lambda place: -values[place])[:k]

    def pick(column: Any) -> Any:
        whole = isinstance(column, Sequence) and not isinstance(column, str) and len(column) == len(values)
        return [column[place] for place in order] if whole else column

    ranks = range(1, len(order) + 1)
    data = {
        name: {own: pick(labels) for own, labels in column.items()} if name == "groups" else pick(column)
        for name, column in report.data.items()
    }
    return replace(
        report,
        columns={"rank": ranks, **{name: pick(column) for name, column in report.columns.items()}},
        frame={"rank": list(ranks), **{name: pick(column) for name, column in frame.items()}},
        data=data | {"rank": list(ranks)},
        notes=[*_describe_fewer(len(order), k, "a larger --epsilon or --delta"), *report.notes],
    )


def _describe_fewer(listed: int, k: int, change: str) -> list[str]:
    """Return that fewer items were found than asked for, and what would find more."""
    if listed >= k:
        return []
    return [f"{listed:,} of the {k:,} asked for were found. With {change} an item needs fewer people to be listed."]


def count_items(request: Request) -> Question:
    """List items with the number of their people, or their sum: of a public domain all, otherwise the common ones."""
    return _count_unlisted_items(request) if request.items.unlisted_columns else _count_listed_items(request)


def _count_listed_items(request: Request) -> Question:
    """Return the question that counts listed items."""
    from lastbit.questions import samples
    from lastbit.questions.groups import Groups
    from lastbit.questions.people import choose_noise
    from lastbit.questions.reading import read_counts, read_ranked_counts

    rows, items = request.rows, request.items
    if request["delta"] is not None:
        raise ParameterError("--delta is for items that nobody listed. Leave --delta or --domain out.")
    # A row is in one item at most; a person may be in all. Stated counts come with their own bound.
    one, stated = rows.unit is None and items.counts is None, items.counts is not None
    counts_people = items.weights is None
    people = PeopleParts.of(
        items,
        1 if one or stated else items.size,
        request["people_share"],
        clamped=not counts_people,
        by_class=counts_people,
    )
    by_rank = people.is_bounded or bool(people.measured)

    def noise(most: int, cost: Mapping[str, Any]) -> Any:
        reached = 1 if one else min(items.size, items.most_items or items.size) if stated else most
        sensitivity = items.mechanism_parameters["sensitivity"]
        return choose_noise(cost, sensitivity=sensitivity, most=reached, resolution=items.step())

    def sample(units: int) -> Any:
        counts = replace(items.sample(units), most_items=1) if one else items.sample(units)
        return samples.rank_counts(counts) if by_rank else counts

    weights = None if items.bounds is None else parse_bounds(items.bounds)
    return Groups(
        request, "item", items.names, name_group(request), items.number(request.words), noise, people, weights
    ).ask(
        read_ranked_counts(rows, items) if by_rank else read_counts(rows, items),
        sample,
        [*describe_groups(request), *describe_weights(request)],
        total=items.total_of,
        data=items.data,
    )


def _choose_parts(request: Request, *, clamped: bool = False) -> PeopleParts:
    """Return what is measured about people where nobody listed the items."""
    if request.rows.unit is None or request.items.counts is not None:
        return PeopleParts(share=Fraction(0))
    return PeopleParts.of(request.items, None, request["people_share"], clamped=clamped)


def _read_unlisted(request: Request, people: PeopleParts, candidates: int | None) -> Reading[Any]:
    """Return the reading of items that nobody listed: by rank, where a bound is measured."""
    from lastbit.questions.reading import read_ranked_unlisted, read_unlisted_items

    if not people.measured:
        return read_unlisted_items(request.rows, request.items, candidates)
    return read_ranked_unlisted(request.rows, request.items, people.highest).then(people.values)


def _sample_unlisted_items(request: Request, people: PeopleParts, units: int, parameters: Mapping[str, Any]) -> Any:
    """Return made-up values for all parts."""
    from lastbit.questions import samples

    values = samples.make_unlisted_items(units, request.items.bounds, **parameters)
    return people.values(samples.rank_unlisted_items(values)) if people.measured else values


def describe_auto(people: PeopleParts) -> str:
    """Return for which bound a plan speaks, where the bound is found later."""
    return " This is where the bound comes out as 1: for a larger one an item needs more." if people.auto else ""


def describe_cut(request: Request, reading: PeopleReading, lot: str | None = None) -> list[str]:
    """Return how many people the bound leaves out, and what that means for the items.

    The bound is on the items of a person, or on the groups that `lot` names.
    """
    if not reading.parts.is_bounded:
        return []
    most = reading.most
    noun = name_group(request)
    drawn = noun if lot is None else lot
    where = f"one {drawn}" if most == 1 else f"{plural(most, drawn)} at most"
    words = request.words
    if not reading.knows_cut:
        return [
            f"{words.one} counts in {where}, picked at random where there are more. What is said is about the "
            f"{words.people} counted this way: there may be more."
        ]
    who, high = words.count_within(*reading.cut, format_percent(request.level)), reading.cut[2]
    return [
        f"{words.one} counts in {where}, picked at random: {who} more. So {article(noun)} {noun} may have up to "
        f"{plural(high, words.person, words.people)} more than were counted, and {pluralize(noun)} may be in another "
        "order."
    ]


def _count_unlisted_items(request: Request) -> Question:
    import lastbit as lb
    from lastbit.exact.numbers import probability
    from lastbit.questions.groups import name_ends
    from lastbit.questions.report import Report, format_value

    rows, items = request.rows, request.items
    parameters = items.discovery_parameters(rows.unit)
    people = _choose_parts(request, clamped=items.weights is not None)
    if parameters["most_items"] is None and not people.auto:
        raise ParameterError(
            "without --domain these numbers need --most-items: in how many groups one person counts at most. Write "
            "--most-items 10 --delta 1e-6, or list the public groups: --domain FILE, a,b,c or 2026-01..2026-12. "
            "Nothing was read."
        )

    def build(most: int, cost: Mapping[str, Any]) -> Any:
        bound_of_person = {"most_items": most} if people.is_bounded else {}
        return lb.DiscoverHistogram(delta=_require_delta(request), **cost, **{**parameters, **bound_of_person})

    mechanism = build(people.most or 1, people.main_cost(request.cost))
    level, needed = format_percent(request.level), mechanism.needed(request.level, items.margin)

    of_units = " counted" if people.is_bounded else ""

    def describe(built: Any) -> str:
        enough = format_value(built.needed(request.level, items.margin), "up")
        return (
            f"Items are listed from a noisy number of {format_value(built.threshold)} on: an item needs {enough}"
            f"{of_units} to be listed with probability {level}."
        )

    sentence = describe(mechanism) + describe_auto(people)
    misses = format_percent(1 - probability(request.level, "level"))

    def report(published: Any) -> Report:
        reading = people.read(published, request.level)
        release = reading.main
        intervals, values = release.intervals(request.level), release.columns()["value"]
        labels = items.columns(release.items)
        columns: dict[str, Any] = {**labels, items.bounded_number(request.words): values, "interval": intervals}
        notes = [
            f"{describe(build(reading.most, people.main_cost(request.cost)))} An item of the table is listed with a "
            f"false interval with a probability of at most {misses}."
        ]
        shown = intervals
        frame = {**labels, **name_ends("bounded_" if people.is_bounded else "", values, intervals)}
        if reading.knows_cut:
            counted = release.intervals(reading.counted_level)
            if items.weights is None:
                everybody = [reading.interval(interval, selected=None) for interval in counted]
            else:
                # No bound is below zero where nobody listed the items.
                beyond = parse_bounds(items.bounds)[1] * reading.bounds.cut
                everybody = [(low, None if high is None else high + beyond) for low, high in counted]
            columns[items.everybody(request.words)] = shown = everybody
            frame = {**labels, **name_ends("", values, everybody), **frame}
        notes += describe_cut(request, reading)
        if items.weights is not None and items.bounds is not None:
            what = "such a number, or such a total in an item"
            notes += reading.describe_clamping(items.weights, items.bounds, request.words, what)
        numbers = {name: column for name, column in frame.items() if name not in labels}
        more = {"item": release.items, "groups": labels, "interval": shown, "level": request.level, **reading.data}
        if reading.knows_cut:
            more["bounded_interval"] = intervals
        whole = items.whole_columns("interval", items.everybody(request.words), items.bounded_number(request.words))
        return Report(
            published.title, columns, notes, published.to_dict() | items.data | more | numbers, whole, frame=frame
        )

    return Question(
        people.mechanism(request.cost, build, _require_delta(request)),
        reading=_read_unlisted(request, people, None),
        report=report,
        sample=lambda units: _sample_unlisted_items(request, people, units, parameters),
        accuracy=lambda units: Accuracy(
            needed, items.number(request.words), sentence, _NEEDED, total=items.total_of(units)
        ),
        notes=[*describe_groups(request), *describe_weights(request)],
    )
