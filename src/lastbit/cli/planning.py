"""`lastbit plan`: how accurate a release will be, before anything is spent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from lastbit.output.words import several

if TYPE_CHECKING:
    from lastbit.cli.plans import Asked

_MOST_ITEMS: Final = 1 << 63


def plan(
    command: Annotated[
        str,
        typer.Argument(
            metavar="[COMMAND]", help="Any command that releases: top, count, sum, quantile, watch and so on."
        ),
    ] = "top",
    k: Annotated[int | None, typer.Option("-k", metavar="NUMBER", help="How many items will be listed.")] = None,
    items: Annotated[
        int | None,
        typer.Option("-n", "--items", metavar="NUMBER", help="How many items the domain has, if it is public."),
    ] = None,
    epsilon: Annotated[str | None, typer.Option(metavar="NUMBER", help="Show the accuracy of this epsilon.")] = None,
    rho: Annotated[str | None, typer.Option(metavar="NUMBER", help="Show the accuracy of this rho.")] = None,
    delta: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="With --epsilon: what (epsilon, delta) buys for `choose -k`. Without --items: pays for private items.",
        ),
    ] = None,
    most_items: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Without --items: how many items one unit counts in at most.")
    ] = None,
    within: Annotated[str | None, typer.Option(metavar="UNITS", help="Show the epsilon of this accuracy.")] = None,
    bounds: Annotated[
        tuple[str, str] | None, typer.Option(metavar="LOW HIGH", help="Plan for sums of weights with these bounds.")
    ] = None,
    level: Annotated[str, typer.Option(metavar="NUMBER", help="The probability of the accuracy.")] = "0.95",
    resolution: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="The step of noise and gaps: 1/10, or 1 with --bounds.")
    ] = None,
    limit: Annotated[int, typer.Option(metavar="NUMBER", help="For above and watch: how many answers above.")] = 1,
    units: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="For mean: a guess how many units there are.")
    ] = None,
    at: Annotated[str, typer.Option(metavar="NUMBERS", help="For quantile: which, such as 0.25,0.5,0.75.")] = "0.5",
    most_rows: Annotated[
        int, typer.Option(metavar="NUMBER", help="For count, sum, mean and quantile: how many rows of a unit count.")
    ] = 1,
    sensitivity: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="For watch: how far one person can move a number.")
    ] = None,
    monotone: Annotated[
        bool, typer.Option("--monotone", help="For watch: one person who comes moves no number down.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Show how accurate a command will be at a cost, or the epsilon for an accuracy. Reads no data, spends nothing.

    Without COMMAND it shows `top`, and beside it `choose -k`.
    """
    import lastbit as lb
    from lastbit.cli.plans import Asked
    from lastbit.questions.discovering import planned
    from lastbit.questions.options import cost_of, moved, ranking_of
    from lastbit.questions.showing import Report, bound, percent

    if items is not None and items >= _MOST_ITEMS:
        raise lb.ParameterError("--items must be below 2^63: no domain is longer.")
    private = items is None and command in ("top", "choose", "histogram")  # nobody listed the items
    if command != "top" and not private:
        own = Asked(
            epsilon=epsilon, rho=rho, delta=delta, k=k, items=items, most_items=most_items, bounds=bounds,
            resolution=resolution, level=level, limit=limit, units=units, at=at, most_rows=most_rows,
            sensitivity=sensitivity, monotone=monotone,
        )  # fmt: skip
        _show(command, own, within, as_json=as_json)
        return
    k = 10 if k is None else k
    if items is None:
        planned(k, cost_of(epsilon, rho), delta, most_items, bounds, resolution, level).show(as_json=as_json)
        return
    if sum(each is not None for each in (epsilon, rho, within)) != 1 or (delta is not None and epsilon is None):
        raise lb.ParameterError(
            "give exactly one of --epsilon, --rho and --within: a cost to see its accuracy, --within to see its "
            "epsilon. --delta goes with --epsilon."
        )
    if not 1 <= k <= items:
        raise lb.ParameterError(f"-k must be from 1 to the number of items: got {k} of {items:,}.")
    step = resolution if resolution is not None else "1/10" if bounds is None else "1"
    moves = moved(bounds, step)
    asked: dict[str, Any] = {"k": k, "resolution": step, **moves}
    if within is None:
        mechanism = lb.NoisyTopK(**cost_of(epsilon, rho), **asked)
    else:
        mechanism = lb.NoisyTopK.for_accuracy(within, items, level, **asked)
    reach = mechanism.accuracy(items, level)
    asked = {"resolution": resolution or "1", **moves}
    ranking = ranking_of(epsilon if within is None else str(mechanism.epsilon), rho, delta, k, **asked)
    ranked = ranking.accuracy(items, level, k=k)
    apart = "" if delta is None else f", delta {delta}"
    title = f"The top {k} of {several(items, 'item')} at {mechanism.cost.text}{apart}:"
    unit = "units " if bounds is None else ""
    furthest, without_gaps = (bound(each, whole=bounds is None) for each in (reach, ranked))
    text = (
        f"with probability {percent(level)} no item left out has {furthest} {unit}more than a listed item, and "
        f"every gap is off by less than {furthest}."
    )
    without = (
        f"With `choose -k {k}`, which tells no gaps, no item left out has {without_gaps} {unit}more than a listed "
        "item, with the same probability."
    )
    data: dict[str, Any] = {"k": k, "items": items, "level": level, "within": reach, "choose_within": ranked}
    data |= {"rho": str(mechanism.rho)} if rho is not None else {"epsilon": str(mechanism.epsilon)}
    if delta is not None:
        data |= {"delta": delta, "choose_cost": ranking.cost.text}
    if bounds is not None:
        data["bounds"] = bounds
    Report(title, {}, [text, without], data).show(as_json=as_json)


def _show(command: str, asked: Asked, within: str | None, *, as_json: bool) -> None:
    from lastbit.cli.plans import planned
    from lastbit.questions.showing import Report, percent

    found = planned(command, asked, within)
    mechanism = found.mechanism
    title = f"{command} at {mechanism.cost.text}:"
    data: dict[str, Any] = {"command": command, "level": asked.level, "within": found.within, **found.data}
    data |= {"rho": str(mechanism.rho)} if asked.rho is not None else {"epsilon": str(mechanism.epsilon)}
    Report(title, {}, [f"With probability {percent(asked.level)} {found.sentence}"], data).show(as_json=as_json)
