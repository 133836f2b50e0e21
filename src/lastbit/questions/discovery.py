"""Questions about items that nobody listed: `top` and `choose` without --domain; and counts of items, listed or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lastbit.errors import ParameterError
from lastbit.output.words import nth, plural
from lastbit.questions.question import Accuracy, Question
from lastbit.questions.reading_notes import describe_most, describe_weights

if TYPE_CHECKING:
    from lastbit.questions.report import Report
    from lastbit.questions.request import Request

_NEEDED = "How much an item needs to be listed"


def _require_delta(request: Request) -> str:
    """Return the delta that pays for publishing items, refused where there is none."""
    delta: str | None = request["delta"]
    if delta is None:
        raise ParameterError(
            "without --domain the items are private, and to publish them takes a --delta, such as --delta 1e-6. Give "
            "one, or list the public items in a file and pass --domain FILE. Nothing was read."
        )
    return delta


def ask_unlisted_items(request: Request, *, gaps: bool) -> Question:
    """Find the k items with the most units, or the largest sums, among items that nobody listed."""
    import lastbit as lb
    from lastbit.questions import samples
    from lastbit.questions.reading import read_unlisted_items
    from lastbit.questions.report import Report, format_bound, format_percent

    rows, items, k = request.rows, request.items, request["k"]
    kind: Any = lb.DiscoverTopK if gaps else lb.DiscoverRanking
    parameters = items.discovery_parameters(rows.unit, of_counts="1/10" if gaps else "1")
    mechanism = kind(k=k, delta=_require_delta(request), **request.cost, **parameters)
    level, needed = format_percent(request.level), mechanism.needed(request.level)
    enough = items.more(format_bound(needed, whole=items.counts_units))
    sentence = (
        f"An item with {enough} than the {nth(mechanism.candidates + 1)} of all items is listed with "
        f"probability {level}, unless the noise puts {plural(k, 'other item')} ahead of it."
    )

    def report(release: Any) -> Report:
        columns: dict[str, Any] = {"rank": range(1, len(release.items) + 1), "item": release.items}
        if gaps:
            columns["ahead of the next by"] = release.gaps
        notes = [sentence]
        if release.stopped:
            notes.insert(0, "The search stopped: no other item is far enough above the items that few people have.")
        more = {"needed": needed, "level": request.level}
        whole = items.whole_columns("ahead of the next by")
        return Report(release.title, columns, notes, release.to_dict() | items.data | more, whole)

    return Question(
        mechanism,
        reading=read_unlisted_items(rows, items, mechanism.candidates + 1),
        report=report,
        sample=lambda units: samples.make_unlisted_items(units, items.bounds, **parameters),
        accuracy=lambda units: Accuracy(needed, items.number, sentence, _NEEDED, total=items.total_of(units)),
        notes=describe_weights(request),
        draws_numbers=gaps,
    )


def count_items(request: Request) -> Question:
    """List items with the number of their units, or their sum: of a public domain all, otherwise the common ones."""
    return _count_listed_items(request) if request.items.domain else _count_unlisted_items(request)


def _count_listed_items(request: Request) -> Question:
    import lastbit as lb
    from lastbit.questions.reading import read_counts
    from lastbit.questions.report import Report, format_bound, format_percent

    rows, items = request.rows, request.items
    if request["delta"] is not None:
        raise ParameterError("--delta is for items that nobody listed. Leave --delta or --domain out.")
    # A row is in one item at most; a unit may be in all.
    most = 1 if rows.unit is None and items.counts is None else min(items.size, items.most_items or items.size)
    step, single = items.step(), items.mechanism_parameters["sensitivity"]
    if request["rho"] is None:
        mechanism: Any = lb.DiscreteLaplace(**request.cost, resolution=step, sensitivity=single * most)
    else:
        mechanism = lb.DiscreteGaussian(**request.cost, resolution=step, squared_sensitivity=single * most * single)
    level, within = format_percent(request.level), mechanism.accuracy(request.level)

    def report(release: Any) -> Report:
        intervals = release.interval(request.level)
        columns = {"item": items.names, items.bounded_number: release.columns()["value"], "interval": intervals}
        more = {"item": items.names, "interval": intervals, "level": request.level}
        notes = [f"Each interval holds with probability {level} or more."]
        return Report(
            release.title, columns, notes, release.to_dict() | items.data | more, items.whole_columns("interval")
        )

    off = items.amount(format_bound(within, whole=items.counts_units))
    sentence = f"With probability {level} the number of an item is off by at most {off}."
    return Question(
        mechanism,
        reading=read_counts(rows, items),
        report=report,
        sample=items.sample,
        accuracy=lambda units: Accuracy(within, items.number, sentence, total=items.total_of(units)),
        notes=[*describe_most(rows.unit, items.most_items, items.size, "item"), *describe_weights(request)],
    )


def _count_unlisted_items(request: Request) -> Question:
    import lastbit as lb
    from lastbit.exact.numbers import probability
    from lastbit.questions import samples
    from lastbit.questions.reading import read_unlisted_items
    from lastbit.questions.report import Report, format_percent, format_value

    rows, items = request.rows, request.items
    parameters = items.discovery_parameters(rows.unit)
    if parameters["most_items"] is None:
        raise ParameterError(
            "without --domain a histogram needs --most-items, the number of items that one unit counts in. Write "
            "--most-items 10. Nothing was read."
        )
    mechanism = lb.DiscoverHistogram(delta=_require_delta(request), **request.cost, **parameters)
    level, needed = format_percent(request.level), mechanism.needed(request.level)
    sentence = (
        f"Items are listed from a noisy number of {format_value(mechanism.threshold)} on: "
        f"an item needs {format_value(needed, 'up')} to be listed with probability {level}."
    )
    misses = format_percent(1 - probability(request.level, "level"))

    def report(release: Any) -> Report:
        intervals = release.intervals(request.level)
        columns = {"item": release.items, items.bounded_number: release.columns()["value"], "interval": intervals}
        more = {"item": release.items, "interval": intervals, "level": request.level}
        notes = [
            f"{sentence} An item is listed with an interval that does not hold with a probability of at most {misses}."
        ]
        return Report(
            release.title, columns, notes, release.to_dict() | items.data | more, items.whole_columns("interval")
        )

    return Question(
        mechanism,
        reading=read_unlisted_items(rows, items, None),
        report=report,
        sample=lambda units: samples.make_unlisted_items(units, items.bounds, **parameters),
        accuracy=lambda units: Accuracy(needed, items.number, sentence, _NEEDED, total=items.total_of(units)),
        notes=[*describe_most(rows.unit, items.most_items, None, "item"), *describe_weights(request)],
    )
