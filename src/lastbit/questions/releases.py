"""The questions about listed items: top, above, choose, measure. Modules that load slowly are imported where used."""

from __future__ import annotations

from typing import Annotated

import typer

from lastbit.errors import ParameterError
from lastbit.output.words import several
from lastbit.questions.discovering import Delta, search
from lastbit.questions.options import Items, Spending, Table
from lastbit.questions.question import Question

Amount = Annotated[int, typer.Option("-k", metavar="NUMBER", help="How many items.")]


def top(table: Table, items: Items, spending: Spending, k: Amount = 10, delta: Delta = None) -> Question:
    """List the k items with the most units, or the largest sums, and how far each is ahead of the next.

    Without --domain nobody listed the items: then a --delta pays for publishing them.
    """
    if not items.domain:
        return search(table, items, spending, k, delta, gaps=True)
    if delta is not None:
        raise ParameterError("--delta is for items that nobody listed. Leave --delta or --domain out.")
    import lastbit as lb
    from lastbit.questions.reading import counted
    from lastbit.questions.showing import Report, bound, percent

    mechanism = lb.NoisyTopK(k=k, **spending.cost, resolution=items.step("1/10"), **items.moves)
    items.check_enough(k)
    level = percent(spending.level)
    reach = mechanism.accuracy(items.size, spending.level)

    def report(release: lb.TopK) -> Report:
        lonely = [None] * (len(release.indices) - len(release.gaps))  # the last item of all has no next item
        ranges = [*release.gap_intervals(spending.level), *lonely]
        columns = {
            "rank": range(1, len(release.indices) + 1),
            "item": release.items or (),
            "ahead of the next by": [*release.gaps, *lonely],
            "true gap": ranges,
        }
        notes = [f"With probability {level} all true gaps are in their ranges, and {promise}"]
        more = {"true_gap": ranges, "level": spending.level, "within": reach}
        whole = items.whole("ahead of the next by", "true gap")
        return Report(release.title, columns, notes, release.to_dict() | items.data | more, whole)

    promise = f"no item left out has {items.more(bound(reach, whole=items.weights is None))} than a listed item."
    return Question(
        mechanism,
        read=lambda: counted(table, items),
        report=report,
        made_up=items.made_up,
        promise=f"With probability {level} {promise}",
        within=reach,
        counts_in=items.number,
        within_means="How much more than a listed item an item left out may have",
    )


def above(
    table: Table,
    items: Items,
    spending: Spending,
    threshold: Annotated[
        str, typer.Option(metavar="NUMBER", help="List items with more units, or a larger sum, than this number.")
    ],
    limit: Annotated[int, typer.Option(metavar="NUMBER", help="Stop after this many listed items.")] = 1,
) -> Question:
    """List the first items of the domain with more units, or a larger sum, than a threshold, and how much more."""
    import lastbit as lb
    from lastbit.exact.numbers import number
    from lastbit.questions.reading import counted
    from lastbit.questions.showing import Report, bound, percent

    mechanism = lb.SparseVector(
        threshold=threshold, limit=limit, **spending.cost, resolution=items.step(), **items.moves
    )
    base, noise = number(threshold, "threshold"), mechanism.gap_noise
    noise.listed_bound(base, 0, spending.level)  # refuses a level that allows no bound, before anything is spent
    items.check_enough(1)

    def report(release: lb.AboveThreshold) -> Report:
        estimates = [noise.estimate(base, gap or 0).value for gap in release.gaps]
        lowest = [noise.listed_bound(base, gap or 0, spending.level) for gap in release.gaps]
        columns = {
            "item": release.items or (),
            "above by": release.gaps,
            "estimate": estimates,
            "at least": lowest,
        }
        notes = [
            f"{release.answered:,} of {several(items.size, 'item')} were asked, in the order of the domain.",
            f"With probability {percent(spending.level)} the 'at least' of a listed item is empty or true, whatever "
            "the values are. Where all items are below the threshold, those that are shown are the lucky ones.",
            "An estimate is the threshold and the gap. Lucky noise gets items listed, so estimates are too high on "
            "average.",
        ]
        more = {"estimate": estimates, "at_least": lowest, "level": spending.level}
        whole = items.whole("above by", "estimate", "at least")
        return Report(release.title, columns, notes, release.to_dict() | items.data | more, whole)

    within = noise.decisive(spending.level)
    said = items.more(bound(within, whole=items.weights is None)).removesuffix(" more")
    return Question(
        mechanism,
        read=lambda: counted(table, items),
        report=report,
        made_up=items.made_up,
        promise=f"With probability {percent(spending.level)} an item that is {said} above or below the threshold is "
        "told rightly, while the search goes on.",
        within=within,
        counts_in=items.number,
        within_means="How far from the threshold an item is told rightly",
    )


def choose(
    table: Table,
    items: Items,
    spending: Spending,
    k: Annotated[int, typer.Option("-k", metavar="NUMBER", help="How many items, one after the other.")] = 1,
    delta: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="With --domain and --epsilon: the list may cost (epsilon, delta). Without --domain: the probability "
            "that one person's presence shows.",
        ),
    ] = None,
) -> Question:
    """Choose one item, or k of them, best first. An item with more units, or a larger sum, is more likely.

    Without --domain nobody listed the items: then a --delta pays for publishing them.
    """
    if not items.domain:
        return search(table, items, spending, k, delta, gaps=False)
    import lastbit as lb
    from lastbit.questions.options import ranking_of
    from lastbit.questions.reading import counted
    from lastbit.questions.showing import Report, bound, percent

    mechanism = ranking_of(spending.epsilon, spending.rho, delta, k, resolution=items.step(), **items.moves)
    items.check_enough(k)
    level, reach = percent(spending.level), mechanism.accuracy(items.size, spending.level, k=k)
    more = items.more(bound(reach, whole=items.weights is None))
    promise = f"With probability {level} no item left out has {more} than a listed item."

    def report(release: lb.Ranking) -> Report:
        listed = {"rank": range(1, k + 1), "item": release.outcomes or ()}
        more = {"within": reach, "level": spending.level}
        return Report(release.title, listed, [promise], release.to_dict() | items.data | more)

    if spending.plot is not None:
        raise lb.ParameterError("--plot draws numbers, and choose publishes items without a number. Leave it out.")
    return Question(
        mechanism,
        read=lambda: counted(table, items),
        report=report,
        made_up=items.made_up,
        promise=promise,
        within=reach,
        counts_in=items.number,
        within_means="How much more than a listed item an item left out may have",
        ready_values=lambda values: mechanism.ready_ranking(values, k),
    )


def measure(table: Table, items: Items, spending: Spending, k: Amount = 10) -> Question:
    """List the k items with the most units, or the largest sums, and estimate the units, or the sum, of each."""
    import lastbit as lb
    from lastbit.estimate.accuracy import laplace_accuracy
    from lastbit.exact.numbers import probability
    from lastbit.questions.reading import counted
    from lastbit.questions.showing import Report, bound, percent

    mechanism = lb.SelectAndMeasure(k=k, **spending.cost, resolution=items.step("1/10"), **items.moves)
    items.check_enough(k)
    level = percent(spending.level)

    def report(release: lb.MeasuredTopK) -> Report:
        intervals = release.intervals(spending.level)
        columns = {
            "rank": range(1, len(release.indices) + 1),
            "item": release.items or (),
            items.number: release.estimates,
            "interval": intervals,
            "ahead of the next by": [*release.gaps, *[None] * (len(release.indices) - len(release.gaps))],
        }
        notes = [
            f"Each interval holds with probability {level} or more, whoever is listed: it comes from a measurement "
            "made after the items were chosen. The number beside the interval uses the gaps too, as far as they fit "
            "the measurements."
        ]
        more = {"interval": intervals, "level": spending.level}
        whole = items.whole("interval", "ahead of the next by")
        return Report(release.title, columns, notes, release.to_dict() | items.data | more, whole)

    off = laplace_accuracy(mechanism._measurement_rate, probability(spending.level, "level"))
    within = off * mechanism.grid.resolution
    return Question(
        mechanism,
        read=lambda: counted(table, items),
        report=report,
        made_up=items.made_up,
        promise=f"With probability {level} the measurement of a listed item is off by at most "
        f"{bound(within, whole=items.weights is None)}.",
        within=within,
        counts_in=items.number,
    )
