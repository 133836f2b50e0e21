"""Questions about items that nobody listed: `top` and `choose` without --domain, and `histogram`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from lastbit.errors import ParameterError
from lastbit.output.words import nth, several
from lastbit.questions.options import Items, Spending, Table
from lastbit.questions.question import Question

if TYPE_CHECKING:
    from lastbit.questions.showing import Report

Delta = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER", help="Without --domain: the probability, such as 1e-6, that one person's presence shows."
    ),
]


def needs_delta(
    delta: str | None, domain: str = "--domain", listed: str = "list the public items in a file and pass --domain FILE"
) -> str:
    """The delta, refused where there is none. `listed` says what to do where a public list exists."""
    if delta is None:
        raise ParameterError(
            f"without {domain} the items are private, and to publish them takes a --delta, such as --delta 1e-6. Give "
            f"one, or {listed}. Nothing was read."
        )
    return delta


def search(table: Table, items: Items, spending: Spending, k: int, delta: str | None, *, gaps: bool) -> Question:
    """Find the k items with the most units, or the largest sums, among items that nobody listed."""
    import lastbit as lb
    from lastbit.questions import made_up
    from lastbit.questions.reading import discovered
    from lastbit.questions.showing import Report, bound, percent

    kind: Any = lb.DiscoverTopK if gaps else lb.DiscoverRanking
    private = items.private(table.unit, of_counts="1/10" if gaps else "1")
    mechanism = kind(k=k, delta=needs_delta(delta), **spending.cost, **private)
    level, needed = percent(spending.level), mechanism.needed(spending.level)
    enough = items.more(bound(needed, whole=items.weights is None))
    promise = (
        f"An item with {enough} than the {nth(mechanism.candidates + 1)} of all items is listed with "
        f"probability {level}, unless the noise puts {several(k, 'other item')} ahead of it."
    )

    def report(release: Any) -> Report:
        columns: dict[str, Any] = {"rank": range(1, len(release.items) + 1), "item": release.items}
        if gaps:
            columns["ahead of the next by"] = release.gaps
        notes = [promise]
        if release.stopped:
            notes.insert(0, "The search stopped: no other item is far enough above the items that few people have.")
        more = {"needed": needed, "level": spending.level}
        whole = items.whole("ahead of the next by")
        return Report(release.title, columns, notes, release.to_dict() | items.data | more, whole)

    return Question(
        mechanism,
        read=lambda: discovered(table, items, mechanism.candidates + 1),
        report=report,
        made_up=lambda units: made_up.unlisted(units, items.bounds, **private),
        promise=promise,
        within=needed,
        counts_in=items.number,
        within_means="How much an item needs to be listed",
    )


def grouped(table: Table, items: Items, spending: Spending, delta: str | None = None) -> Question:
    """List items with the number of their units, or their sum: of a public domain all, otherwise the common ones."""
    import lastbit as lb
    from lastbit.questions import made_up
    from lastbit.questions.reading import counted, discovered
    from lastbit.questions.showing import Report, percent, shown

    level = percent(spending.level)

    def report(release: Any) -> Report:
        intervals = release.intervals(spending.level) if delta is not None else release.interval(spending.level)
        names = release.items if delta is not None else items.names
        columns = {"item": names, items.number: release.columns()["value"], "interval": intervals}
        more = {"item": names, "interval": intervals, "level": spending.level}
        return Report(release.title, columns, [promise], release.to_dict() | items.data | more, items.whole("interval"))

    if items.domain:
        if delta is not None:
            raise lb.ParameterError("--delta is for items that nobody listed. Leave --delta or --domain out.")
        # A row is in one item at most; a unit may be in all.
        most = 1 if table.unit is None else min(items.size, items.most_items or items.size)
        total = items.moves["sensitivity"] * most
        each = {"resolution": items.step(), "sensitivity": total}
        if spending.rho is None:
            mechanism: Any = lb.DiscreteLaplace(**spending.cost, **each)
        else:
            each = {"resolution": items.step(), "squared_sensitivity": total * items.moves["sensitivity"]}
            mechanism = lb.DiscreteGaussian(**spending.cost, **each)
        promise = f"Each interval holds with probability {level} or more.{_in_how_many(table, items)}"
        return Question(
            mechanism,
            read=lambda: counted(table, items),
            report=report,
            made_up=items.made_up,
            promise=promise,
            within=mechanism.accuracy(spending.level),
            counts_in=items.number,
        )
    private = items.private(table.unit)
    if private["most_items"] is None:
        raise lb.ParameterError(
            "without --domain a histogram needs --most-items, the number of items that one unit counts in. Write "
            "--most-items 10. Nothing was read."
        )
    mechanism = lb.DiscoverHistogram(delta=needs_delta(delta), **spending.cost, **private)
    promise = (
        f"Items are listed from a noisy number of {shown(mechanism.threshold)} on: an item needs "
        f"{shown(mechanism.needed(spending.level), 'up')} to be listed with probability {level}. An item is listed "
        f"with an interval that does not hold with a probability of at most {percent_left(spending.level)}."
    )
    return Question(
        mechanism,
        read=lambda: discovered(table, items, None),
        report=report,
        made_up=lambda units: made_up.unlisted(units, items.bounds, **private),
        promise=promise,
        within=mechanism.needed(spending.level),
        counts_in=items.number,
        within_means="How much an item needs to be listed",
    )


def _in_how_many(table: Table, items: Items) -> str:
    """In how many items one unit counts, in words."""
    if table.unit is None:
        return ""
    if items.most_items is None:
        if items.size == 1:
            return ""
        return (
            f" A unit may count in all {items.size:,} items, and the noise is for as many: where a unit has one item, "
            "--one-each makes the noise smaller, and so does --most-items for a few."
        )
    return f" A unit counts in {'one item' if items.most_items == 1 else f'{items.most_items:,} items'} at most."


def percent_left(level: str) -> str:
    """One less a level, in percent."""
    from lastbit.exact.numbers import probability
    from lastbit.questions.showing import percent

    return percent(1 - probability(level, "level"))


def planned(
    k: int,
    cost: dict[str, Any],
    delta: str | None,
    most_items: int | None,
    bounds: tuple[str, str] | None,
    resolution: str | None,
    level: str,
) -> Report:
    """How many units an item needs to be listed when nobody listed the items. Reads no data."""
    import lastbit as lb
    from lastbit.questions.options import moved
    from lastbit.questions.showing import Report, percent

    step = resolution if resolution is not None else "1"
    moves = moved(bounds, step)
    pays = needs_delta(delta, "--items", "say how many public items there are: --items 100")
    each: dict[str, Any] = {"delta": pays, "sensitivity": moves["sensitivity"], "most_items": most_items}
    gaps = {**each, "resolution": resolution or ("1/10" if bounds is None else "1")}
    found: dict[str, Any] = {
        f"top -k {k}": lb.DiscoverTopK(k=k, **cost, **gaps),
        f"choose -k {k}": lb.DiscoverRanking(k=k, **cost, **each, resolution=step),
    }
    if most_items is not None:
        found["histogram"] = lb.DiscoverHistogram(**cost, **each, resolution=step)
    needed = [mechanism.needed(level) for mechanism in found.values()]
    columns = {"command": list(found), "an item needs": needed}
    title = f"Items that nobody listed, at {next(iter(found.values())).cost.text}:"
    notes = [
        f"An item that has so many {'units' if bounds is None else 'in its sum'} is listed with probability "
        f"{percent(level)}: by top and choose, so many more than the {nth(10 * k + 1)} of all items, unless the "
        f"noise puts {several(k, 'other item')} ahead of it; by histogram, in all.",
    ]
    if most_items is None:
        notes.append("A histogram needs --most-items, the number of items that one unit counts in at most.")
    data = {"k": k, "level": level, "needed": dict(zip(found, needed, strict=True))}
    return Report(title, columns, notes, data)
