"""The commands that release: top, above, choose, measure, mean. What needs time to import is imported when used."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lastbit.cli.options import Items, Spending, Table

Amount = Annotated[int, typer.Option("-k", metavar="NUMBER", help="How many items.")]


def top(table: Table, items: Items, spending: Spending, k: Amount = 10) -> None:
    """The k items with the most units, or the largest sums, and how far each is ahead of the next."""
    import lastbit as lb
    from lastbit.cli.accuracy import gap_intervals, probability, top_accuracy
    from lastbit.cli.reading import counted
    from lastbit.cli.showing import Report, shown
    from lastbit.cli.spending import spend

    mechanism = lb.NoisyTopK(k=k, epsilon=spending.epsilon, resolution=items.step("1/10"), **items.moves)
    n, level = _number_of(items, k), shown(probability(spending.level) * 100)
    reach = top_accuracy(mechanism, n, spending.level)

    def report(release: Any) -> Report:
        lonely = [None] * (len(release.items) - len(release.gaps))  # the last of all has nobody next
        columns = {
            "rank": range(1, len(release.items) + 1),
            "item": release.items,
            "ahead of the next by": [*release.gaps, *lonely],
            "true gap": [*gap_intervals(mechanism, release.gap_steps, n, spending.level), *lonely],
        }
        keys = ("rank", "item", "gap", "true_gap")
        rows = [dict(zip(keys, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        notes = [f"With probability {level}% all true gaps are in their ranges, and {promise}"]
        return Report(
            release.title, columns, notes, _data(release, items, level=spending.level, within=reach, top=rows)
        )

    promise = f"no item left out has {items.more(shown(reach))} than one listed."
    spend(
        spending,
        mechanism,
        read=lambda: counted(table, items),
        report=report,
        promise=f"With probability {level}% {promise}",
    )


def above(
    table: Table,
    items: Items,
    spending: Spending,
    threshold: Annotated[str, typer.Option(metavar="NUMBER", help="What an item must have more of.")],
    limit: Annotated[int, typer.Option(metavar="NUMBER", help="Stop after this many items above.")] = 1,
) -> None:
    """The first items, in the order of the domain, with more units, or a larger sum, than a threshold; by how much."""
    import lastbit as lb
    from lastbit.cli.accuracy import probability
    from lastbit.cli.reading import counted
    from lastbit.cli.showing import Report, shown
    from lastbit.cli.spending import spend

    mechanism = lb.SparseVector(
        threshold=threshold, limit=limit, epsilon=spending.epsilon, resolution=items.step(), **items.moves
    )
    base, noise = mechanism.grid.resolution * mechanism.plan.threshold, mechanism.gap_noise
    level = shown(probability(spending.level) * 100)
    noise.lower_bound(base, 0, spending.level)  # refuses a level that allows no bound, before anything is spent
    n = _number_of(items, 1)

    def report(release: Any) -> Report:
        lowest = [noise.lower_bound(base, gap, spending.level).value for gap in release.gaps]
        columns = {
            "item": release.items,
            "above by": release.gaps,
            "estimate": [base + gap for gap in release.gaps],
            "at least": lowest,
        }
        keys = ("item", "gap", "estimate", "at_least")
        found = [dict(zip(keys, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        notes = [
            f"{release.answered:,} of {n:,} items were asked, in the order of the domain.",
            f"An item has at least that many with probability {level}%, before it is known whether it will be listed; "
            "of those listed fewer have.",
        ]
        return Report(release.title, columns, notes, _data(release, items, asked=release.answered, above=found))

    spend(spending, mechanism, read=lambda: counted(table, items), report=report)


def choose(table: Table, items: Items, spending: Spending) -> None:
    """One item, the likelier the more units, or the larger a sum, it has."""
    import lastbit as lb
    from lastbit.cli.reading import counted
    from lastbit.cli.showing import Report
    from lastbit.cli.spending import spend

    mechanism = lb.ExponentialMechanism(epsilon=spending.epsilon, resolution=items.step(), **items.moves)

    def report(release: Any) -> Report:
        return Report(release.title, {"item": [release.outcome]}, [], _data(release, items, item=release.outcome))

    if spending.plot is not None:
        raise lb.ParameterError("--plot draws numbers: what is chosen is one item. Leave it out.")
    spend(spending, mechanism, read=lambda: counted(table, items), report=report)


def measure(table: Table, items: Items, spending: Spending, k: Amount = 10) -> None:
    """The k items with the most units, or the largest sums, and an estimate of what each has."""
    import lastbit as lb
    from lastbit.cli.accuracy import probability
    from lastbit.cli.reading import counted
    from lastbit.cli.showing import Report, shown
    from lastbit.cli.spending import spend

    mechanism = lb.SelectAndMeasure(k=k, epsilon=spending.epsilon, resolution=items.step("1/10"), **items.moves)
    _number_of(items, k)
    level = shown(probability(spending.level) * 100)

    def report(release: Any) -> Report:
        intervals = release.intervals(spending.level)
        columns = {
            "rank": range(1, len(release.items) + 1),
            "item": release.items,
            items.number: [float(estimate) for estimate in release.estimates],
            "interval": intervals,
            "ahead of the next by": [*release.gaps, *[None] * (len(release.items) - len(release.gaps))],
        }
        measured = [
            {"item": item, "estimate": estimate, "from": low, "to": high}
            for item, estimate, (low, high) in zip(release.items, release.estimates, intervals, strict=True)
        ]
        notes = [f"Each interval holds with probability {level}% for the items listed."]
        return Report(release.title, columns, notes, _data(release, items, level=spending.level, measured=measured))

    spend(spending, mechanism, read=lambda: counted(table, items), report=report)


def mean(
    table: Table,
    spending: Spending,
    of: Annotated[str, typer.Option(metavar="COLUMN", help="The numbers. A unit's numbers are added up.")],
    bounds: Annotated[tuple[str, str], typer.Option(metavar="LOW HIGH", help="What a unit's total is clamped to.")],
    resolution: Annotated[str, typer.Option(metavar="NUMBER", help="The step numbers are floored to.")] = "1",
) -> None:
    """The mean of a number over all units, and how many there are."""
    from lastbit.cli.mean import Mean
    from lastbit.cli.spending import spend

    plan = Mean.of(spending, bounds, resolution)
    spend(
        spending,
        plan.mechanism,
        read=lambda: plan.read(table, of),
        report=lambda release: plan.report(release, of, spending.level),
    )


def _number_of(items: Items, k: int) -> int:
    """How many candidates the domain has: public, so that too few are refused before anything is read."""
    from math import prod

    from lastbit.data.domain import domains_of
    from lastbit.errors import ParameterError

    n = prod(len(each) for each in domains_of(items.domains, items.by))
    if k > n:
        raise ParameterError(f"-k must be at most the number of items: got {k} of {n:,}. Nothing was read.")
    return n


def _data(release: Any, items: Items, **more: Any) -> dict[str, Any]:
    from lastbit.release import cost_text

    return {"mechanism": release.mechanism, "cost": cost_text(release.cost), **items.data, **more}
