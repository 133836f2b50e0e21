"""The question `histogram`: counts by items, by bins of numbers, and by days, weeks, months or years."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Final

import typer

from lastbit.errors import ParameterError
from lastbit.exact.numbers import whole
from lastbit.questions.discovering import Delta, grouped
from lastbit.questions.options import Groups, Spending, Table
from lastbit.questions.question import Question

_PERIODS: Final = ("day", "week", "month", "year")


def histogram(
    table: Table,
    groups: Groups,
    spending: Spending,
    delta: Delta = None,
    of: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="A column of numbers or dates, to count by bins.")
    ] = None,
    bins: Annotated[int | None, typer.Option(metavar="NUMBER", help="So many equal bins between the --bounds.")] = None,
    edges: Annotated[
        str | None, typer.Option(metavar="A,B,C", help="The edges of the bins, instead of --bounds and --bins.")
    ] = None,
    every: Annotated[
        str | None, typer.Option(metavar="PERIOD", help="For dates: one bin for each day, week, month or year.")
    ] = None,
) -> Question:
    """Count units by the items of a column (--by), or by bins of a column of numbers or dates (--of).

    With --by and a public domain all items are listed, and otherwise the common ones. With --of all bins are listed;
    each unit counts in one bin, unless --most-items says in how many. --month date is --of date --every month.
    """
    if not groups.by:
        table, of, every = _dated(table, of, every)
    if of is None:
        if bins is not None or edges is not None or every is not None:
            raise ParameterError("bins need a column of numbers or dates: name it with --of COLUMN.")
        if not groups.by:
            raise ParameterError("histogram needs --by COLUMN for items, or --of COLUMN for bins of numbers or dates.")
        return grouped(table, groups, spending, delta)
    if groups.by or groups.domain or groups.weights or delta:
        raise ParameterError("--of takes the place of --by, --domain, --weights and --delta: all bins are public.")
    return _by_bins(table, groups, spending, of, bins_of(groups.bounds, bins, edges, every), every)


def _dated(table: Table, of: str | None, every: str | None) -> tuple[Table, str | None, str | None]:
    """The column of dates that --day, --week, --month or --year names, where it is the one to count by."""
    named = {period: column for period in _PERIODS if isinstance(column := getattr(table, period), str)}
    found = {period: column for period, column in named.items() if of in (None, column)}
    if not found:
        return table, of, every
    if len(found) > 1 or every is not None:
        raise ParameterError("a histogram is by one of days, weeks, months and years. Leave the others out.")
    ((period, column),) = found.items()
    # Read as it is: the bins need the day.
    return replace(table, **{period: None}), column, period  # type: ignore[arg-type]


def bins_of(bounds: tuple[str, str] | None, bins: int | None, edges: str | None, every: str | None) -> Any:
    """The bins that the options ask for."""
    from lastbit.data.binning import Periods
    from lastbit.values.bins import Bins

    if every is not None:
        if bounds is None or bins is not None or edges is not None:
            raise ParameterError(
                "bins of dates need --bounds with the first and the last day, and neither --bins nor --edges. Write "
                "--month date --bounds 2026-01 2026-12."
            )
        return Periods.of(every, bounds)
    return Bins.of(bounds=bounds, bins=bins, edges=None if edges is None else edges.split(","))


def _by_bins(table: Table, groups: Groups, spending: Spending, of: str, bins: Any, every: str | None) -> Question:
    import lastbit as lb
    from lastbit.questions import made_up
    from lastbit.questions.reading import binned
    from lastbit.questions.showing import Report, percent

    own = groups.missing == "bin"
    labels = (*bins.labels, "missing") if own else bins.labels
    most = 1 if groups.most_items is None else whole(groups.most_items, "--most-items")
    moved = min(most, len(labels))
    if groups.resolution is not None:
        raise ParameterError("--resolution is for sums: bins count units, which are whole. Leave it out.")
    if spending.rho is None:
        mechanism: Any = lb.DiscreteLaplace(**spending.cost, sensitivity=moved)
    else:
        mechanism = lb.DiscreteGaussian(**spending.cost, squared_sensitivity=moved)
    where = "one bin" if most == 1 else f"{most:,} bins at most"
    lost = {"leave-out": "are left out", "bin": "have a bin of their own"}.get(groups.missing)
    promise = (
        f"Each interval holds with probability {percent(spending.level)} or more."
        + ("" if table.unit is None else f" A unit counts in {where}, by lot where it has more.")
        + f" Rows whose {of} is missing {lost or f'count as {groups.missing}'}."
        + (" Days outside the bounds are left out." if every else " Numbers outside count in the first or last bin.")
    )

    def report(release: lb.NoisyValues) -> Report:
        intervals: Any = release.interval(spending.level)
        units = "rows" if table.unit is None else "units"
        columns = {of: labels, units: release.columns()["value"], "interval": intervals}
        more = {"of": of, "item": labels, "missing": groups.missing, "interval": intervals, "level": spending.level}
        return Report(release.title, columns, [promise], release.to_dict() | more)

    def read() -> Any:
        return binned(table, of, bins, labels, groups.missing, most)

    return Question(
        mechanism,
        read=read,
        report=report,
        made_up=lambda units: made_up.bell(units, labels, monotone=True, most_items=most),
        promise=promise,
        within=mechanism.accuracy(spending.level),
        counts_in="rows" if table.unit is None else "units",
    )
