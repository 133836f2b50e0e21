"""The questions about listed items: top, above, choose, measure. Modules that load slowly are imported where used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from lastbit.errors import ParameterError
from lastbit.output.words import plural
from lastbit.questions.discovery import ask_unlisted_items, list_found_items
from lastbit.questions.group_selection import list_in_groups
from lastbit.questions.question import MORE, Accuracy, Question
from lastbit.questions.reading_notes import describe_groups, describe_weights

if TYPE_CHECKING:
    import lastbit as lb
    from lastbit.chance.draw import Draw
    from lastbit.mechanisms.mechanism import Mechanism
    from lastbit.questions.report import Report
    from lastbit.questions.request import Request


def top(request: Request) -> Question:
    """List the k items with the most people, or the largest sums, and how far each is ahead of the next.

    With --discover nobody listed the items: then a --delta pays for publishing them. With --numbers the number of each
    is estimated too. With --in-each the k items of each group of another column are listed.
    """
    items, k = request.items, request["k"]
    if request["in_each"] is not None:
        return list_in_groups(request)
    if request["numbers"] and not items.unlisted_columns:
        refuse_delta(request)
        return measure(request)
    if request["set"] or request["form"] != "both":
        return _select_set(request)
    if items.unlisted_columns:
        return list_found_items(request) if request["numbers"] else ask_unlisted_items(request, gaps=True)
    refuse_delta(request)
    import lastbit as lb
    from lastbit.questions.report import Report, format_bound, format_percent

    mechanism = lb.NoisyTopK(k=k, **request.cost, resolution=items.step("1/10"), **items.mechanism_parameters)
    items.require_at_least(k)
    level = format_percent(request.level)
    reach = mechanism.accuracy(items.size, request.level, items.margin)
    off = format_bound(reach, whole=items.counts_units)
    promise = f"no item left out has {items.more(off, request.words)} than a listed item"
    gaps = f"every gap is off by less than {off}"

    def report(release: lb.TopK) -> Report:
        no_next = [None] * (len(release.indices) - len(release.gaps))  # the last item of all has no next item
        ranges = [*release.gap_intervals(request.level), *no_next]
        columns = {
            "rank": range(1, len(release.indices) + 1),
            **items.columns(release.items or ()),
            "ahead of the next by": [*release.gaps, *no_next],
            "true gap": ranges,
        }
        notes = [f"With probability {level} all true gaps are in their ranges, and {promise}."]
        more = {"true_gap": ranges, "level": request.level, "within": reach}
        whole = items.whole_columns("ahead of the next by", "true gap")
        return Report(release.title, columns, notes, release.to_dict() | items.data | more, whole)

    sentence = f"With probability {level} {promise}, and {gaps}."
    return _ask_listed_items(request, mechanism, report, reach, sentence, MORE)


def _select_set(request: Request) -> Question:
    """Return the question that lists the k largest as a set."""
    import lastbit as lb
    from lastbit.output.words import nth
    from lastbit.questions.report import Report, format_bound, format_percent

    items, k, form = request.items, request["k"], request["form"]
    if not request["set"]:
        raise ParameterError("--form says how a set is weighed: write --set too.")
    refuse_delta(request)
    if items.unlisted_columns:
        raise ParameterError("--set needs --domain: a set is selected among items that are listed. Nothing was read.")
    mechanism = lb.SubsetTopK(k=k, **request.cost, resolution=items.step(), form=form, **items.mechanism_parameters)
    items.require_at_least(k)
    level, n = format_percent(request.level), items.size
    reach, lead = (bound(n, request.level, items.margin) for bound in (mechanism.accuracy, mechanism.lead))
    more = items.more(format_bound(reach, whole=items.counts_units), request.words)
    than = "a listed item" if form == "both" else f"the {nth(k + 1)} of all items"
    ahead = items.amount(format_bound(lead, whole=items.counts_units), request.words)
    sentence = (
        f"With probability {level} no item left out has {more} than {than}. Where the {nth(k)} of all items is ahead "
        f"of the next by {ahead}, the set is exactly the {k:,} largest with probability {level}."
    )
    notes = ["The items are in the order of the domain, which says nothing about their numbers."]
    if form == "left-out":
        notes.append("Places that are left may be filled with items picked at random.")

    def report(release: lb.TopSet) -> Report:
        data = {"within": reach, "lead": lead, "level": request.level}
        return Report(
            release.title, items.columns(release.items or ()), [sentence], release.to_dict() | items.data | data
        )

    return _ask_listed_items(request, mechanism, report, reach, sentence, MORE, notes=notes, draws_numbers=False)


def _ask_listed_items(
    request: Request,
    mechanism: Mechanism[Any],
    report: Callable[[Any], Report],
    within: Fraction,
    sentence: str,
    meaning: str = Accuracy.meaning,
    *,
    notes: Sequence[str] = (),
    prepare_values: Callable[[Any], Callable[[Draw], Any]] | None = None,
    draws_numbers: bool = True,
) -> Question:
    """Return the question that reads the numbers of listed items, and answers with this mechanism."""
    refuse_bound(request)
    from lastbit.questions.reading import read_counts

    items = request.items
    return Question(
        mechanism,
        reading=read_counts(request.rows, items),
        report=report,
        sample=items.sample,
        accuracy=lambda units: Accuracy(
            within, items.number(request.words), sentence, meaning, total=items.total_of(units)
        ),
        notes=[*notes, *describe_groups(request), *describe_weights(request)],
        prepare_values=prepare_values,
        draws_numbers=draws_numbers,
    )


def refuse_bound(request: Request) -> None:
    """Refuse a bound on the items of a person: it would leave people out of listed items, for the same noise.

    A person who comes into one item that is left out moves a selection as far as one who comes into all items.
    """
    items = request.items
    if (items.auto or items.most_items is not None) and items.counts is None:
        raise ParameterError(
            f"--most-items and --one-each must be left out of {request.kind.name} where the items are listed: they "
            "would leave people out, and the noise would be the same. The question count gains by "
            "--most-items: it lists the numbers of all items with less noise. Nothing was read."
        )


def refuse_delta(request: Request) -> None:
    """Refuse a delta beside a domain."""
    if request["delta"] is not None:
        raise ParameterError("--delta is for items that nobody listed. Leave --delta or --domain out.")


def above(request: Request) -> Question:
    """List the first items of the domain with more people, or a larger sum, than a threshold, and how much more."""
    import lastbit as lb
    from lastbit.exact.numbers import number
    from lastbit.questions.report import Report, format_bound, format_percent

    items, numbers = request.items, request["numbers"]
    mechanism = lb.SparseVector(
        threshold=request["threshold"],
        limit=request["limit"],
        **request.cost,
        resolution=items.step(),
        **items.mechanism_parameters,
        measure="1/2" if numbers else None,
    )
    base, noise = number(request["threshold"], "threshold"), mechanism.gap_noise
    noise.listed_bound(base, 0, request.level)  # refuses a level that allows no bound, before anything is spent
    items.require_at_least(1)
    level = format_percent(request.level)

    def report_numbers(release: lb.MeasuredAbove) -> Report:
        intervals = release.intervals(request.level)
        columns = {
            **items.columns(release.items or ()),
            "measurement": release.measurements,
            "estimate": release.estimates,
            "interval": intervals,
            "above by": release.gaps,
        }
        notes = [
            f"{release.answered:,} of {plural(items.size, 'item')} were asked, in the order of the domain.",
            f"Each interval holds with probability {level} or more, whoever is listed: the noise of a measurement is "
            "drawn after the item is listed.",
            "An estimate uses the gaps of all listed items too. Lucky noise gets items listed, so estimates are too "
            "high on average where items are near the threshold. Measurements are not.",
        ]
        more = {"interval": intervals, "level": request.level}
        whole = items.whole_columns("measurement", "estimate", "interval", "above by")
        return Report(release.title, columns, notes, release.to_dict() | items.data | more, whole)

    def report(release: lb.AboveThreshold) -> Report:
        if isinstance(release, lb.MeasuredAbove):
            return report_numbers(release)
        estimates = [noise.estimate(base, gap or 0).value for gap in release.gaps]
        lowest = [noise.listed_bound(base, gap or 0, request.level) for gap in release.gaps]
        columns = {
            **items.columns(release.items or ()),
            "above by": release.gaps,
            "estimate": estimates,
            "at least": lowest,
        }
        notes = [
            f"{release.answered:,} of {plural(items.size, 'item')} were asked, in the order of the domain.",
            f"With probability {level} the 'at least' of a listed item is empty or true, whatever the values are. "
            "Where all items are below the threshold, those that are shown are the lucky ones.",
            "An estimate is the threshold and the gap, less the mean of the noise. Lucky noise gets items listed, so "
            "estimates are too high on average.",
        ]
        more = {"estimate": estimates, "at_least": lowest, "level": request.level}
        whole = items.whole_columns("above by", "estimate", "at least")
        return Report(release.title, columns, notes, release.to_dict() | items.data | more, whole)

    within = mechanism.decisive(request.level, items.margin)
    distance = items.amount(format_bound(within, whole=items.counts_units), request.words)
    sentence = (
        f"Before the search begins, the probability is {level} that an item {distance} above or below "
        "the threshold gets the right answer, if the search reaches it."
    )
    meaning = "How far from the threshold an item gets the right answer"
    return _ask_listed_items(request, mechanism, report, within, sentence, meaning)


def choose(request: Request) -> Question:
    """Choose one item, or k of them, best first. An item with more people, or a larger sum, is more likely.

    Without --domain nobody listed the items: then a --delta pays for publishing them.
    """
    items, k = request.items, request["k"]
    if items.unlisted_columns:
        return ask_unlisted_items(request, gaps=False)
    from lastbit.questions.report import Report, format_bound, format_percent

    mechanism = _choose_mechanism(request)
    items.require_at_least(k)
    level, reach = (
        format_percent(request.level),
        mechanism.accuracy(items.size, request.level, k=k, margin=items.margin),
    )
    more = items.more(format_bound(reach, whole=items.counts_units), request.words)
    sentence = f"With probability {level} no item left out has {more} than a listed item."

    def report(release: lb.Ranking) -> Report:
        columns = {"rank": range(1, k + 1), **items.columns(release.outcomes or ())}
        data = {"within": reach, "level": request.level}
        return Report(release.title, columns, [sentence], release.to_dict() | items.data | data)

    return _ask_listed_items(
        request,
        mechanism,
        report,
        reach,
        sentence,
        MORE,
        prepare_values=lambda values: mechanism.ready_ranking(values, k),
        draws_numbers=False,
    )


def _choose_mechanism(request: Request) -> Any:
    """Return the mechanism that ranks k items at the cost that a person asks for."""
    from lastbit.mechanisms.exponential import ExponentialMechanism

    items, delta = request.items, request["delta"]
    parameters = {"resolution": items.step(), **items.mechanism_parameters}
    if delta is None:
        return ExponentialMechanism(**request.cost, **parameters)
    if request["epsilon"] is None or request["rho"] is not None:
        raise ParameterError("--delta goes with --epsilon: a rho is a cost of its own. Leave --delta or --rho out.")
    return ExponentialMechanism.for_ranking(request["k"], epsilon=request["epsilon"], delta=delta, **parameters)


def measure(request: Request) -> Question:
    """List the k items with the most people, or the largest sums, and estimate the people, or the sum, of each."""
    import lastbit as lb
    from lastbit.estimate.accuracy import laplace_accuracy
    from lastbit.exact.numbers import probability
    from lastbit.questions.groups import clip
    from lastbit.questions.report import Report, format_bound, format_percent

    items, k, as_set = request.items, request["k"], request["set"]
    if request["form"] != "both" and not as_set:
        raise ParameterError("--form says how a set is weighed: write --set too.")
    mechanism = lb.SelectAndMeasure(
        k=k,
        **request.cost,
        resolution=items.step("1" if as_set else "1/10"),
        **items.mechanism_parameters,
        selection="set" if as_set else "noise",
        form=request["form"],
    )
    items.require_at_least(k)
    level = format_percent(request.level)

    def report(release: Any) -> Report:
        intervals = release.intervals(request.level)
        notes = [
            f"Each interval holds with probability {level} or more, whoever is listed: it comes from a measurement "
            "made after the items were chosen."
        ]
        if as_set:
            columns = {
                **items.columns(release.items or ()),
                items.number(request.words): release.measurements,
                "interval": intervals,
            }
            notes.append("The items are in the order of the domain.")
        else:
            columns = {
                "rank": range(1, len(release.indices) + 1),
                **items.columns(release.items or ()),
                items.number(request.words): [
                    clip(value, ends) for value, ends in zip(release.estimates, intervals, strict=True)
                ],
                "interval": intervals,
                "ahead of the next by": [*release.gaps, *[None] * (len(release.indices) - len(release.gaps))],
            }
            notes.append(
                "The number beside it uses the gaps too, as far as they fit the measurements and the interval."
            )
        more = {"interval": intervals, "level": request.level}
        whole = items.whole_columns("interval", "ahead of the next by", items.number(request.words))
        return Report(release.title, columns, notes, release.to_dict() | items.data | more, whole)

    off = laplace_accuracy(mechanism._measurement_rate, probability(request.level, "level"))
    within = off * mechanism.grid.resolution + items.margin
    sentence = (
        f"With probability {level} the measurement of a listed item is off by at most "
        f"{items.amount(format_bound(within, whole=items.counts_units), request.words)}."
    )
    return _ask_listed_items(request, mechanism, report, within, sentence)
