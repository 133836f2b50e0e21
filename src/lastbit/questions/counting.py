"""The question `count`: how many people, how many rows, how many in each group."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lastbit.errors import ParameterError
from lastbit.exact.numbers import whole
from lastbit.output.words import several
from lastbit.questions.discovering import Delta
from lastbit.questions.options import Groups, Spending, Table
from lastbit.questions.question import Question
from lastbit.questions.sums import MostRows


def count(
    table: Table,
    groups: Groups,
    spending: Spending,
    rows: Annotated[bool, typer.Option("--rows", help="Count rows instead of units; needs --most-rows.")] = False,
    most_rows: MostRows = None,
    delta: Delta = None,
) -> Question:
    """Estimate how many units there are, or how many rows; with --by, how many units each group has.

    Where a unit is in one group at most, --one-each makes the noise of all groups as small as that of one.
    """
    import lastbit as lb
    from lastbit.questions import made_up
    from lastbit.questions.discovering import grouped
    from lastbit.questions.reading import everybody
    from lastbit.questions.showing import Report, percent

    if groups.by:
        if rows or most_rows is not None:
            raise ParameterError("--rows counts the rows of the whole table: leave --rows, --most-rows or --by out.")
        return grouped(table, groups, spending, delta)
    if groups.domain or groups.most_items or groups.weights or groups.bounds or delta:
        raise ParameterError("groups need a column: name it with --by COLUMN. Nothing was read.")
    if table.unit is None:
        raise ParameterError(
            "count needs --unit, the column that says whom a row belongs to. To protect single rows only, name a "
            "column that is different in every row."
        )
    if rows != (most_rows is not None):
        raise ParameterError(
            "--rows and --most-rows go together: how many rows of one unit count says how far one unit moves the "
            "number. Write --rows --most-rows 10."
        )
    most = 1 if most_rows is None else whole(most_rows, "--most-rows")
    if spending.rho is None:
        mechanism: Any = lb.DiscreteLaplace(**spending.cost, sensitivity=most)
    else:
        mechanism = lb.DiscreteGaussian(**spending.cost, squared_sensitivity=most**2)
    level, counted = percent(spending.level), "rows" if rows else "units"
    of_each = f" Of each unit at most {several(most, 'row counts', 'rows count')}." if rows else ""
    promise = f"The interval holds with probability {level}.{of_each} Rows without {table.unit} are left out."

    def report(release: lb.NoisyValues) -> Report:
        interval: Any = release.interval(spending.level)
        columns = {counted: release.columns()["value"], "interval": interval}
        more = {"counted": counted, "interval": interval, "level": spending.level}
        return Report(release.title, columns, [promise], release.to_dict() | more)

    return Question(
        mechanism,
        read=lambda: everybody(table, most_rows),
        report=report,
        made_up=lambda units: made_up.bell(units, ["everyone"], sensitivity=most, monotone=True),
        promise=promise,
        within=mechanism.accuracy(spending.level),
        counts_in=counted,
    )
