"""`lastbit plan`: what an epsilon buys, before it is spent."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer

_MOST_ITEMS: Final = 1 << 63


def plan(
    k: Annotated[int, typer.Option("-k", metavar="NUMBER", help="How many items will be listed.")],
    items: Annotated[int, typer.Option("-n", "--items", metavar="NUMBER", help="How many items the domain has.")],
    epsilon: Annotated[str | None, typer.Option(metavar="NUMBER", help="Ask what this epsilon buys.")] = None,
    within: Annotated[str | None, typer.Option(metavar="UNITS", help="Ask what epsilon is this accurate.")] = None,
    bounds: Annotated[
        tuple[str, str] | None, typer.Option(metavar="LOW HIGH", help="Sums of weights between these bounds instead.")
    ] = None,
    level: Annotated[str, typer.Option(metavar="NUMBER", help="How sure.")] = "0.95",
    resolution: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="The step of noise and gaps: 1/10, or 1 with --bounds.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """What accuracy an epsilon buys in `lastbit top`, or the epsilon for a wanted accuracy. Reads no data."""
    import lastbit as lb
    from lastbit.cli.options import moved
    from lastbit.cli.showing import Report, percent, shown

    if (epsilon is None) == (within is None):
        raise lb.ParameterError("give either --epsilon, to see what it buys, or --within, to see what it takes.")
    if items >= _MOST_ITEMS:
        raise lb.ParameterError("--items must be below 2^63: no domain is longer.")
    if not 1 <= k <= items:
        raise lb.ParameterError(f"-k must be from 1 to the number of items: got {k} of {items:,}.")
    step = resolution if resolution is not None else "1/10" if bounds is None else "1"
    moves = moved(bounds, step)
    asked: dict[str, Any] = {"k": k, "resolution": step, **moves}
    if within is None:
        mechanism = lb.NoisyTopK(epsilon=epsilon, **asked)
    else:
        mechanism = lb.NoisyTopK.for_accuracy(within, items, level, **asked)
    reach = mechanism.accuracy(items, level)
    title = f"The top {k} of {items:,} items at {mechanism.cost.text}:"
    text = (
        f"with probability {percent(level)} no item left out has {shown(reach)} "
        f"{'units ' if bounds is None else ''}more than one listed, and every gap is off by less than that."
    )
    data = {"k": k, "items": items, "epsilon": str(mechanism.epsilon), "level": level, "within": reach}
    if bounds is not None:
        data["bounds"] = bounds
    Report(title, {}, [text], data).show(as_json=as_json)
