"""Questions about one number of each unit: `mean` and `sum`."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import Annotated, Any

import typer

from lastbit.errors import ParameterError
from lastbit.exact.numbers import whole
from lastbit.output.words import several
from lastbit.questions.options import Missing, Spending, Table
from lastbit.questions.question import Question

Of = Annotated[str, typer.Option(metavar="COLUMN", help="The column of numbers.")]
Bounds = Annotated[
    tuple[str, str], typer.Option(metavar="LOW HIGH", help="The number of each unit is clamped to this range.")
]
Per = Annotated[
    str | None,
    typer.Option(
        metavar="RULE",
        help="The number that a unit with several rows has: mean, total or latest. With row, each row is a number.",
    ),
]
LatestBy = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="For --per latest: the row with the largest value here counts.")
]
MostRows = Annotated[
    int | None,
    typer.Option(metavar="NUMBER", help="For --per row: so many rows of a unit count at most; which, is drawn by lot."),
]
Step = Annotated[
    str | None,
    typer.Option(metavar="NUMBER", help="The step of the noise. Without it the step follows from the bounds."),
]


def rule_of(per: str | None, usual: str, latest_by: str | None, most_rows: int | None) -> str:
    """The number that a unit has: as it is said, or as the other options say.

    >>> rule_of(None, "mean", "date", None), rule_of(None, "mean", None, None)
    ('latest', 'mean')
    """
    found = per or ("latest" if latest_by is not None else "row" if most_rows is not None else usual)
    if found not in ("mean", "total", "latest", "row"):
        raise ParameterError(f"--per must be mean, total, latest or row: got {found}.")
    if (found == "latest") != (latest_by is not None):
        raise ParameterError("--per latest and --latest-by go together. Write --per latest --latest-by date.")
    if most_rows is not None and found != "row":
        raise ParameterError("--most-rows goes with --per row: otherwise each unit has one number anyway.")
    return found


def in_words(of: str, rule: str, table: Table, latest_by: str | None, most_rows: int | None, missing: str) -> str:
    """The numbers that are added up, in a sentence."""
    if table.unit is None:
        said = f"Each row has one number, its {of}."
    elif rule == "row":
        most = several(most_rows or 0, "row of a unit counts", "rows of a unit count")
        said = f"Each row has one number, its {of}; at most {most}, drawn by lot."
    else:
        own = {"mean": f"the mean of its {of}", "total": f"the total of its {of}"}
        said = f"Each unit has one number, {own.get(rule, f'its {of} with the largest {latest_by}')}."
    if missing == "leave-out":
        return f"{said} Rows whose {of} is missing are left out."
    return f"{said} A missing {of} counts as {'the lower bound' if missing == 'lowest' else missing}."


def mean(
    table: Table,
    spending: Spending,
    of: Of,
    bounds: Bounds,
    per: Per = None,
    latest_by: LatestBy = None,
    most_rows: MostRows = None,
    missing: Missing = "leave-out",
    resolution: Step = None,
) -> Question:
    """Estimate the mean of a number over all units that have it, and how many units these are.

    A unit with several rows has one number: the mean of its rows, unless --per says otherwise.
    """
    import lastbit as lb
    from lastbit.questions import made_up
    from lastbit.questions.showing import Report, percent

    rule = rule_of(per, "mean", latest_by, most_rows)
    each = _most(table, rule, most_rows)
    step = _step(bounds, resolution, each)
    mechanism = lb.NoisyMean(**spending.cost, bounds=bounds, resolution=step, most_rows=each)
    level, counted = percent(spending.level), "rows" if rule == "row" or table.unit is None else "units"
    words = in_words(of, rule, table, latest_by, most_rows, missing)

    def report(release: lb.MeanAndUnits) -> Report:
        fewest, most = release.units_interval(spending.level)
        assert fewest is not None and most is not None  # noqa: S101, PT018
        # A number of units is whole.
        intervals = [release.interval(spending.level), (Fraction(ceil(fewest)), Fraction(floor(most)))]
        columns: dict[str, Any] = {
            f"mean of {of}": [release.mean],
            "interval": intervals[:1],
            counted: [max(0, round(release.units))],
            f"interval of {counted}": intervals[1:],
        }
        note = f"Both intervals hold together with probability {level}, for numbers clamped to the bounds."
        more = {"of": of, "per": rule, "missing": missing, "interval": intervals[:1], "units_interval": intervals[1:]}
        return Report(release.title, columns, [words, note], release.to_dict() | more | {"level": spending.level})

    def read() -> Any:
        return _numbers(table, of, bounds, rule, latest_by, most_rows, missing).mean(step)

    return Question(
        mechanism,
        read=read,
        report=report,
        made_up=lambda units: made_up.numbers(units, bounds, step, each).mean(step),
        promise=words,
        within_of=lambda units: mean_within(mechanism, units, spending.level)[0],
        counts_in=of,
    )


def mean_within(mechanism: Any, units: int, level: str) -> tuple[Fraction, Fraction]:
    """How far the mean of so many units is off at most, in the middle of the bounds, and the number of units."""
    from lastbit.estimate.accuracy import laplace_accuracy
    from lastbit.exact.numbers import probability

    low, high = (Fraction(end) for end in mechanism.bounds)
    half, noise = (high - low) / 2, laplace_accuracy(mechanism.rate, (1 + probability(level, "level")) / 2)
    reach, seen = noise * mechanism.grid.resolution, units * half
    return half * reach / (seen - reach) if seen > reach else high - low, reach / half


def sum_(
    table: Table,
    spending: Spending,
    of: Of,
    bounds: Bounds,
    per: Per = None,
    latest_by: LatestBy = None,
    most_rows: MostRows = None,
    missing: Missing = "leave-out",
    resolution: Step = None,
) -> Question:
    """Estimate the sum of a number over all units.

    A unit with several rows has one number: the total of its rows, unless --per says otherwise.
    """
    import lastbit as lb
    from lastbit.questions import made_up
    from lastbit.questions.showing import Report, percent
    from lastbit.values.span import span

    rule = rule_of(per, "total", latest_by, most_rows)
    each = _most(table, rule, most_rows)
    step = _step(bounds, resolution, each)
    low, high = span(bounds)
    furthest = each * max(abs(low), abs(high))
    if spending.rho is None:
        mechanism: Any = lb.DiscreteLaplace(**spending.cost, sensitivity=furthest, resolution=step)
    else:
        mechanism = lb.DiscreteGaussian(**spending.cost, squared_sensitivity=furthest**2, resolution=step)
    level, words = percent(spending.level), in_words(of, rule, table, latest_by, most_rows, missing)

    def report(release: lb.NoisyValues) -> Report:
        interval: Any = release.interval(spending.level)
        # A sum that was floored is too low by half of that on average.
        estimate = release.values[0] + (0 if release.on_grid else release.above * release.resolution / 2)
        columns = {f"sum of {of}": [estimate], "interval": [interval]}
        note = f"The interval holds with probability {level}, for numbers clamped to the bounds."
        more = {"of": of, "per": rule, "missing": missing, "estimate": [estimate], "interval": [interval]}
        return Report(release.title, columns, [words, note], release.to_dict() | more | {"level": spending.level})

    def read() -> Any:
        return _numbers(table, of, bounds, rule, latest_by, most_rows, missing).total(step)

    # The sum may have been floored by less than a step.
    within = mechanism.accuracy(spending.level) + mechanism.grid.resolution
    return Question(
        mechanism,
        read=read,
        report=report,
        made_up=lambda units: made_up.numbers(units, bounds, step, each).total(step),
        promise=words,
        within=within,
        counts_in=of,
    )


def _step(bounds: tuple[str, str], resolution: str | None, most: int) -> Any:
    """The step of the noise: as it is said, or as the bounds say."""
    from lastbit.mechanisms.on_grid import MOST_STEPS
    from lastbit.values.span import span, usual_step

    if resolution is not None:
        return resolution
    step, (low, high) = usual_step(bounds), span(bounds)
    # A mean takes half steps.
    if 2 * most * max(high - low, abs(low), abs(high)) > step * MOST_STEPS:
        raise ParameterError(
            f"--bounds must have fewer digits: on a step that both of {bounds[0]} and {bounds[1]} are on, one unit "
            "moves the result by too many steps. Round the bounds outwards, such as --bounds 0 1e15 instead of 1 1e15."
        )
    return step


def _most(table: Table, rule: str, most_rows: int | None) -> int:
    """How many numbers one unit has at most."""
    if rule != "row" or table.unit is None:
        if most_rows is not None:
            raise ParameterError("--most-rows needs --unit, the column that says whom a row belongs to.")
        return 1
    if most_rows is None:
        raise ParameterError(
            "--per row needs --most-rows, the number of rows of one unit that count: otherwise nobody knows how far "
            "one unit moves the result. Write --most-rows 10, or --per mean."
        )
    return whole(most_rows, "--most-rows")


def _numbers(
    table: Table,
    of: str,
    bounds: tuple[str, str],
    rule: str,
    latest_by: str | None,
    most_rows: int | None,
    missing: str,
) -> Any:
    from lastbit.questions.reading import numbers_of, without_unit

    numbers = numbers_of(table, of, bounds, per=rule, latest_by=latest_by, most_rows=most_rows, missing=missing)
    without_unit(table)
    return numbers
