"""`lastbit plan`: how accurate a release will be, before anything is spent."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer

_MOST_ITEMS: Final = 1 << 63


def plan(
    k: Annotated[int, typer.Option("-k", metavar="NUMBER", help="How many items will be listed.")],
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
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Show the accuracy of `top` and `choose -k` at a cost, or the epsilon for an accuracy of `top`. Reads no data."""
    import lastbit as lb
    from lastbit.cli.discovering import planned
    from lastbit.cli.options import cost_of, moved, ranking_of
    from lastbit.cli.showing import Report, percent, shown

    if items is None:
        planned(k, cost_of(epsilon, rho), delta, most_items, bounds, resolution, level, as_json=as_json)
        return
    if sum(each is not None for each in (epsilon, rho, within)) != 1 or (delta is not None and epsilon is None):
        raise lb.ParameterError(
            "give exactly one of --epsilon, --rho and --within: a cost to see its accuracy, --within to see its "
            "epsilon. --delta goes with --epsilon."
        )
    if items >= _MOST_ITEMS:
        raise lb.ParameterError("--items must be below 2^63: no domain is longer.")
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
    title = f"The top {k} of {items:,} items at {mechanism.cost.text}{apart}:"
    unit = "units " if bounds is None else ""
    text = (
        f"with probability {percent(level)} no item left out has {shown(reach)} {unit}more than a listed item, and "
        f"every gap is off by less than {shown(reach)}."
    )
    without = (
        f"With `choose -k {k}`, which tells no gaps, no item left out has {shown(ranked)} {unit}more than a listed "
        "item, with the same probability."
    )
    data: dict[str, Any] = {"k": k, "items": items, "level": level, "within": reach, "choose_within": ranked}
    data |= {"rho": str(mechanism.rho)} if rho is not None else {"epsilon": str(mechanism.epsilon)}
    if delta is not None:
        data |= {"delta": delta, "choose_cost": ranking.cost.text}
    if bounds is not None:
        data["bounds"] = bounds
    Report(title, {}, [text, without], data).show(as_json=as_json)
