"""Questions about ranks of one number of each unit: `quantile` and `median`, of all units or of each group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from lastbit.errors import ParameterError
from lastbit.questions.options import Items, Missing, Spending, Table
from lastbit.questions.question import Question
from lastbit.questions.sums import Bounds, LatestBy, MostRows, Of, Per, in_words, rule_of
from lastbit.values.adjacency import Adjacency

By = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="The column that holds the groups. Repeat it for combinations."),
]
Domain = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE", help="The public groups: a file with one per line, or 1..12, or a,b,c. Give one for each --by."
    ),
]
OneEach = Annotated[
    bool, typer.Option("--one-each", help="Each unit counts in one group, by lot where it has several.")
]
MostItems = Annotated[
    int | None,
    typer.Option(metavar="NUMBER", help="One unit counts in at most so many groups; which, is drawn by lot."),
]
Step = Annotated[
    str | None,
    typer.Option(metavar="NUMBER", help="The step between two answers. Without it the step follows from the bounds."),
]


@dataclass(frozen=True, eq=False)
class _Read:
    """The numbers of a table in steps of the mechanism's grid: private, and never shown."""

    steps: Any
    adjacency: Adjacency = "add-remove"


def quantile(
    table: Table,
    spending: Spending,
    of: Of,
    bounds: Bounds,
    at: Annotated[str, typer.Option(metavar="NUMBERS", help="The quantiles, such as 0.5 or 0.25,0.5,0.75.")],
    per: Per = None,
    latest_by: LatestBy = None,
    most_rows: MostRows = None,
    missing: Missing = "leave-out",
    resolution: Step = None,
    by: By = None,
    domain: Domain = None,
    one_each: OneEach = False,
    most_items: MostItems = None,
) -> Question:
    """Find quantiles of a number over all units that have it: the median, quartiles, the 95th percentile.

    A unit with several rows has one number: the mean of its rows, unless --per says otherwise. With --by each group
    has its own quantiles.
    """
    import lastbit as lb
    from lastbit.questions import made_up
    from lastbit.questions.reading import numbers_of, without_unit
    from lastbit.questions.showing import Report
    from lastbit.values.span import usual_step

    rule, qs = rule_of(per, "mean", latest_by, most_rows), _listed(at)
    groups = _groups(table, by, domain, one_each, most_items, rule)
    most = 1 if table.unit is None else most_rows if rule == "row" else 1 if groups is None else groups.most_items
    if most is None:
        raise ParameterError("--per row needs --most-rows, the number of rows of one unit that count: --most-rows 10.")
    shared: dict[str, Any] = {
        **spending.cost,
        "bounds": bounds,
        "resolution": usual_step(bounds) if resolution is None else resolution,
        "missing": missing,
        "most_values": most,
    }
    mechanism: Any
    if groups is not None:
        mechanism = lb.GroupQuantiles(groups=tuple(groups.names), qs=qs, **shared)
    else:
        mechanism = lb.Quantile(q=qs[0], **shared) if len(qs) == 1 else lb.Quantiles(qs=qs, **shared)
    words = in_words(of, rule, table, latest_by, most_rows, missing)
    promise, ranks = _promise(mechanism, spending.level)

    def read() -> _Read:
        asked: dict[str, Any] = {"per": rule, "latest_by": latest_by, "most_rows": most_rows, "missing": missing}
        if groups is not None:
            limit = groups.most_items if rule != "row" and table.unit is not None else None
            asked |= {"by": groups.by, "domain": groups.domains, "most_items": limit}
        numbers = numbers_of(table, of, bounds, **asked)
        without_unit(table)
        return on_grid(numbers)

    def on_grid(numbers: Any) -> _Read:
        steps = mechanism.on_grid(numbers.steps, numbers.resolution, numbers.floored)
        if groups is None:
            return _Read(steps)
        return _Read([steps[numbers.places == place] for place in range(len(mechanism.groups))])

    def report(release: Any) -> Report:
        if isinstance(release, lb.GroupQuantileValues):
            # A group is a row, and a quantile a column.
            columns: dict[str, Any] = {"group": release.items}
            for place, q in enumerate(release.qs):
                columns[f"{of} at {_decimal(q)}"] = [row[place] for row in release.values]
        else:
            shown = release.columns()
            columns = {"quantile": [_decimal(q) for q in shown["quantile"]], of: shown["value"]}
        more = {"of": of, "per": rule, "missing": missing, "within_ranks": ranks, "level": spending.level}
        return Report(release.title, columns, [words, promise], release.to_dict() | more)

    step, several = shared["resolution"], 1 if groups is None else len(mechanism.groups)
    return Question(
        mechanism,
        read=read,
        report=report,
        made_up=lambda units: on_grid(made_up.numbers(units, bounds, step, most, several)),
        promise=f"{words} {promise}",
        within=max(ranks) if isinstance(ranks, list) else ranks,
        counts_in="ranks",
        within_means="How many ranks a value may be off",
        ready_values=lambda values: mechanism.ready_steps(values.steps),
    )


def median(
    table: Table,
    spending: Spending,
    of: Of,
    bounds: Bounds,
    per: Per = None,
    latest_by: LatestBy = None,
    most_rows: MostRows = None,
    missing: Missing = "leave-out",
    resolution: Step = None,
    by: By = None,
    domain: Domain = None,
    one_each: OneEach = False,
    most_items: MostItems = None,
) -> Question:
    """Find the median of a number over all units that have it, or over the units of each group.

    A unit with several rows has one number: the mean of its rows, unless --per says otherwise.
    """
    return quantile(
        table, spending, of, bounds, "1/2", per, latest_by, most_rows, missing, resolution, by, domain, one_each,
        most_items,
    )  # fmt: skip


def _listed(at: str) -> list[str]:
    """The quantiles of --at, in rising order."""
    from lastbit.exact.numbers import number

    found = [text.strip() for text in at.split(",")]
    return sorted(found, key=lambda text: number(text, "--at"))


def _decimal(q: Any) -> str:
    """A quantile as a short decimal, or as the fraction that it is.

    >>> from fractions import Fraction
    >>> _decimal(Fraction(1, 4)), _decimal(Fraction(1, 3))
    ('0.25', '1/3')
    """
    from fractions import Fraction

    short = f"{float(q):g}"
    return short if Fraction(short) == q else str(q)


def _groups(
    table: Table, by: list[str] | None, domain: list[str] | None, one_each: bool, most_items: int | None, rule: str
) -> Items | None:
    """The public groups; None where all units are one group."""
    if not by:
        if domain or one_each or most_items is not None:
            raise ParameterError("groups need a column: name it with --by COLUMN. Nothing was read.")
        return None
    if one_each and most_items is not None:
        raise ParameterError("--one-each is --most-items 1: got both. Leave one of them out.")
    most = 1 if one_each else most_items
    if most is not None and rule == "row":
        raise ParameterError(
            "--one-each and --most-items are for units with one number in each group. With --per row, --most-rows says "
            "how many numbers a unit has in all groups together. Leave the others out."
        )
    if table.unit is not None and rule != "row" and most is None:
        raise ParameterError(
            "--by needs --one-each where a unit is in one group, or --most-items 3 where it may be in three: otherwise "
            "nobody knows how many groups one unit changes."
        )
    return Items(by=by, domain=domain, most_items=most)


def _promise(mechanism: Any, level: str) -> tuple[str, Any]:
    """How near the answers are, in a sentence and in ranks."""
    from lastbit.questions.showing import bound, percent, shown

    found = mechanism.accuracy(level)
    ranks = max(found) if isinstance(found, tuple) else found
    several = isinstance(found, tuple) and len(found) > 1
    who = "In each group, with" if hasattr(mechanism, "groups") else "With"
    what = "all values are within" if several else "the value is within"
    reach = bound(ranks, whole=False)
    said = f"{who} probability {percent(level)} {what} {reach} ranks of the quantile{'s' if several else ''}"
    if several:
        said += ", if no two numbers fall on the same step"
    said += (
        ": at most so many numbers more than asked for lie below a value, or above it. This is for numbers clamped to "
        f"the bounds and floored to steps of {shown(mechanism.resolution)}."
    )
    return said, list(found) if isinstance(found, tuple) else found
