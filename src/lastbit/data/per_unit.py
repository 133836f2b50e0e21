"""One number for each unit of a table, in whole steps: what means, sums, quantiles and histograms are made of.

A person with many rows has one number all the same: the mean of the rows, their total, the latest, the first, or the
largest of any. Or each row is a number, and a bound says how many rows of a unit count. Everything is decided by the
unit's own rows and by public things, so a unit that comes or goes leaves the numbers of all others as they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from lastbit.data.column_types import DECIMAL, INTEGER
from lastbit.data.domain import combine_domains, convert_items, read_domains
from lastbit.data.duckdb.relation import OpenTable
from lastbit.data.engines import call_engine, parse_columns, require_column_types, wrap_frame
from lastbit.data.number_grid import (
    FURTHEST,
    MOST_FLOORED,
    bounded_grid,
    is_power_of_two,
    missing_step,
    unbounded_grid,
)
from lastbit.data.numbers import NONE, Numbers
from lastbit.data.table import WAYS, Per, Task
from lastbit.data.weights import Weights
from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, whole
from lastbit.values.bounds import parse_bounds
from lastbit.values.contribution_bound import ContributionBound
from lastbit.values.missing import LEAVE_OUT, Missing


def per_unit(
    frame: Any,
    *,
    of: str,
    bounds: tuple[Number, Number] | None = None,
    unit: str | None = None,
    per: Per = "mean",
    latest_by: str | None = None,
    first_by: str | None = None,
    most_rows: int | None = None,
    by: str | Sequence[str] = (),
    domain: Any = None,
    most_items: int | None = None,
    missing: Missing = LEAVE_OUT,
    resolution: Number | None = None,
) -> Numbers:
    """Return one number for each unit of a table, between public bounds.

    of: the column of numbers. A row whose number is missing (null, NaN) is left out, unless `missing` says what a
    missing number counts as: "lowest", or a number between the bounds.
    bounds: each number is clamped to this range. Without bounds numbers are clamped about 10^15 steps from zero; then
    say the resolution, unless the type of the column is whole numbers. Quantiles on a log scale need no bounds.
    unit: the column that says whom a row belongs to. Without it each row is a unit of its own.
    per: the number that a unit has. "mean": the mean of its rows, each clamped to the bounds. "total": the sum of its
    rows, then clamped. "latest": the row with the largest value of the column `latest_by`, clamped. "first": the row
    with the smallest value of the column `first_by`, clamped. "any": the largest that any of its rows has, clamped.
    "row": each row is a number of its own; then `most_rows` bounds how many rows of a unit count, picked at random.
    by, domain: the column of the groups, or several, and their public items: then a unit has a number in each of its
    groups, and `most_items` bounds how many groups of a unit count.
    resolution: the step that numbers are floored to. Without it the bounds are about 2^40 steps, and bounds that are
    between two steps are taken inwards.

    >>> import pandas as pd
    >>> visits = pd.DataFrame({"patient": [1, 1, 2, 3], "cost": [10, 20, 40, None]})
    >>> per_unit(visits, of="cost", unit="patient", bounds=(0, 100)).values
    (Fraction(15, 1), Fraction(40, 1))
    >>> per_unit(visits, of="cost", unit="patient", per="total", bounds=(0, 100)).values
    (Fraction(30, 1), Fraction(40, 1))
    """
    return _read_numbers(
        frame,
        of=of,
        bounds=bounds,
        unit=unit,
        per=per,
        latest_by=latest_by,
        first_by=first_by,
        most_rows=most_rows,
        by=by,
        domain=domain,
        most_items=most_items,
        missing=missing,
        resolution=resolution,
        ranked=False,
    )


def rank_per_unit(
    table: OpenTable,
    *,
    of: str,
    bounds: tuple[Number, Number] | None,
    unit: str | None = None,
    per: Per = "mean",
    latest_by: str | None = None,
    first_by: str | None = None,
    most_rows: int | None = None,
    by: str | Sequence[str] = (),
    domain: Any = None,
    missing: Missing = LEAVE_OUT,
    resolution: Number | None = None,
    extremes: bool = False,
) -> Numbers:
    """Return the same for an open table, with no number left out by a bound yet: `Numbers.keep_first` does so later.

    Every number comes with its rank in its unit's lot, and with what of its unit is beyond the bounds; with `extremes`,
    for bounds that are chosen later, with the lowest and the highest number of its unit.
    """
    return _read_numbers(
        table,
        of=of,
        bounds=bounds,
        unit=unit,
        per=per,
        latest_by=latest_by,
        first_by=first_by,
        most_rows=most_rows,
        by=by,
        domain=domain,
        most_items=None,
        missing=missing,
        resolution=resolution,
        ranked=True,
        extremes=extremes,
    )


def _read_numbers(
    frame: Any,
    *,
    of: str,
    bounds: tuple[Number, Number] | None,
    unit: str | None,
    per: Per,
    latest_by: str | None,
    first_by: str | None,
    most_rows: int | None,
    by: str | Sequence[str],
    domain: Any,
    most_items: int | None,
    missing: Missing,
    resolution: Number | None,
    ranked: bool,
    extremes: bool = False,
) -> Numbers:
    if per not in WAYS:
        raise ParameterError(f"per must be one of {', '.join(map(repr, WAYS))}: got {per!r}.")
    if (per == "latest") != (latest_by is not None):
        raise ParameterError(
            "per='latest' and latest_by go together: latest_by names the column, such as a date, whose largest value "
            "says which row of a unit is the latest."
        )
    if (per == "first") != (first_by is not None):
        raise ParameterError(
            "per='first' and first_by go together: first_by names the column, such as a date, whose smallest value "
            "says which row of a unit is the first."
        )
    order = first_by if latest_by is None else latest_by
    columns = parse_columns(by) if by else []
    bound, most = _draw_bound(per, unit, most_rows, most_items if columns else 1)
    if ranked and unit is not None and bound is None:
        bound = ContributionBound.draw(1)  # its key decides the lots
    if bounds is None:
        grid, low, high, exact = unbounded_grid(1 if resolution is None else resolution)
        public_bounds = grid.value(low), grid.value(high)
    else:
        grid, low, high, exact = bounded_grid(bounds, resolution)
        public_bounds = parse_bounds(bounds)
    step = missing_step(missing, grid, low, high, public_bounds)
    # A step further out, where somebody asks who is beyond the bounds.
    lowest = math.floor(public_bounds[0] / grid.resolution)
    further = ranked and bounds is not None
    amount = Weights(grid, lowest - 1, high + 1, step) if further else Weights(grid, low, high, step)
    if per == "total":
        furthest = FURTHEST // grid.numerator
        amount = Weights(grid, -furthest, furthest, step)
    read = [*columns, *(name for name in (unit, of, order) if name is not None)]
    table = call_engine(wrap_frame, frame, read)
    types = call_engine(require_column_types, table, read)
    amount.check(types[of], of)
    if types[of] is not INTEGER and not all(map(is_power_of_two, (grid.numerator, grid.denominator))):
        raise ParameterError(
            f"resolution must be a power of two for numbers that are not whole: got {grid.resolution}. No other is "
            "exact in an engine's floats. Use resolution='1/128', or a column of whole numbers such as cents."
        )
    if bounds is None and resolution is None and types[of] is not INTEGER:
        raise ParameterError(
            f"bounds or a resolution must be said, as the type of {of!r} is not whole numbers. The resolution is the "
            "step of the numbers: 1, or 0.01 for cents. Nothing was counted."
        )
    domains = read_domains(domain, columns) if columns else []
    converted = [convert_items(items, types[name], name) for name, items in zip(columns, domains, strict=True)]
    task = Task(tuple(columns), unit, of, amount, bound, per, order, (low, high), ranked, lowest, extremes)
    items = combine_domains([column.items for column in converted]) if converted else ()
    keys = [column.keys for column in converted]
    # A mean of floors is floored once more, and a sum is less by what a lower bound between two steps is raised.
    known = exact and types[of] is INTEGER and grid.numerator == 1 and (per != "mean" or unit is None)
    known = known and ((step or 0) * grid.resolution).denominator == 1
    # So is a decimal with too many digits for the engines, by less than a step.
    floored = Fraction(0) if known else (MOST_FLOORED - (types[of] is not DECIMAL)) * grid.resolution
    most = most or max(len(items), 1)
    facts = items, grid.resolution, public_bounds, most, floored
    return call_engine(table.read_numbers, task, keys, Numbers(NONE, NONE, *facts, apart=per != "row"))


def _draw_bound(
    per: Per, unit: str | None, most_rows: int | None, most_items: int | None
) -> tuple[ContributionBound | None, int | None]:
    """Return the bound on the rows or the items of a unit, and how many numbers one unit has at most."""
    if most_rows is not None and (per != "row" or unit is None):
        raise ParameterError("most_rows goes with per='row' and a unit: otherwise a unit has one number anyway.")
    if unit is None:
        return None, 1
    if per == "row":
        if most_rows is None:
            raise ParameterError(
                "per='row' needs most_rows, the number of rows of one unit that count: otherwise nobody knows how far "
                "one unit moves a result. Write most_rows=10, or per='mean'."
            )
        most = whole(most_rows, "most_rows")
        return ContributionBound.draw(most), most
    if most_items is None:
        return None, None
    most = whole(most_items, "most_items")
    return ContributionBound.draw(most), most
