"""The commands that release: top, above, choose, measure, mean. Modules that load slowly are imported where used."""

from __future__ import annotations

from typing import Annotated

import typer

from lastbit.cli.discovering import Delta, search
from lastbit.cli.options import Items, Spending, Table
from lastbit.errors import ParameterError

Amount = Annotated[int, typer.Option("-k", metavar="NUMBER", help="How many items.")]


def top(table: Table, items: Items, spending: Spending, k: Amount = 10, delta: Delta = None) -> None:
    """List the k items with the most units, or the largest sums, and how far each is ahead of the next.

    Without --domain nobody listed the items: then a --delta pays for publishing them.
    """
    if not items.domain:
        search(table, items, spending, k, delta, gaps=True)
        return
    if delta is not None:
        raise ParameterError("--delta is for items that nobody listed. Leave --delta or --domain out.")
    import lastbit as lb
    from lastbit.cli.reading import counted
    from lastbit.cli.showing import Report, bound, percent
    from lastbit.cli.spending import spend

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
    spend(
        spending,
        mechanism,
        read=lambda: counted(table, items),
        report=report,
        promise=f"With probability {level} {promise}",
    )


def above(
    table: Table,
    items: Items,
    spending: Spending,
    threshold: Annotated[
        str, typer.Option(metavar="NUMBER", help="List items with more units, or a larger sum, than this number.")
    ],
    limit: Annotated[int, typer.Option(metavar="NUMBER", help="Stop after this many listed items.")] = 1,
) -> None:
    """List the first items of the domain with more units, or a larger sum, than a threshold, and how much more."""
    import lastbit as lb
    from lastbit.cli.reading import counted
    from lastbit.cli.showing import Report, percent
    from lastbit.cli.spending import spend
    from lastbit.exact.numbers import number

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
            f"{release.answered:,} of {items.size:,} items were asked, in the order of the domain.",
            f"With probability {percent(spending.level)} the 'at least' of a listed item is empty or true, whatever "
            "the values are. Where all items are below the threshold, those that are shown are the lucky ones.",
            "An estimate is the threshold and the gap. Lucky noise gets items listed, so estimates are too high on "
            "average.",
        ]
        more = {"estimate": estimates, "at_least": lowest, "level": spending.level}
        whole = items.whole("above by", "estimate", "at least")
        return Report(release.title, columns, notes, release.to_dict() | items.data | more, whole)

    spend(spending, mechanism, read=lambda: counted(table, items), report=report)


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
) -> None:
    """Choose one item, or k of them, best first. An item with more units, or a larger sum, is more likely.

    Without --domain nobody listed the items: then a --delta pays for publishing them.
    """
    if not items.domain:
        search(table, items, spending, k, delta, gaps=False)
        return
    import lastbit as lb
    from lastbit.cli.options import ranking_of
    from lastbit.cli.reading import counted
    from lastbit.cli.showing import Report, bound, percent
    from lastbit.cli.spending import spend

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
    spend(
        spending,
        mechanism,
        read=lambda: counted(table, items),
        report=report,
        promise=promise,
        ready=lambda values: mechanism.ready_ranking(values, k),
    )


def measure(table: Table, items: Items, spending: Spending, k: Amount = 10) -> None:
    """List the k items with the most units, or the largest sums, and estimate the units, or the sum, of each."""
    import lastbit as lb
    from lastbit.cli.reading import counted
    from lastbit.cli.showing import Report, percent
    from lastbit.cli.spending import spend

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
            "made after the items were chosen. The estimate uses the gaps too, as far as they fit the measurements."
        ]
        more = {"interval": intervals, "level": spending.level}
        whole = items.whole("interval", "ahead of the next by")
        return Report(release.title, columns, notes, release.to_dict() | items.data | more, whole)

    spend(spending, mechanism, read=lambda: counted(table, items), report=report)
