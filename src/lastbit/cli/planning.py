"""`lastbit plan`: how accurate a release will be, before anything is spent."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer

_MOST_ITEMS: Final = 1 << 63


def plan(
    k: Annotated[int, typer.Option("-k", metavar="NUMBER", help="How many items will be listed.")],
    items: Annotated[int, typer.Option("-n", "--items", metavar="NUMBER", help="How many items the domain has.")],
    epsilon: Annotated[str | None, typer.Option(metavar="NUMBER", help="Show the accuracy of this epsilon.")] = None,
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
    """Show the accuracy of `lastbit top` at an epsilon, or the epsilon for an accuracy. Reads no data."""
    import lastbit as lb
    from lastbit.cli.options import moved
    from lastbit.cli.showing import Report, percent, shown

    if (epsilon is None) == (within is None):
        raise lb.ParameterError(
            "give exactly one of --epsilon and --within: --epsilon to see its accuracy, --within to see its epsilon."
        )
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
        f"{'units ' if bounds is None else ''}more than a listed item, and every gap is off by less than "
        f"{shown(reach)}."
    )
    data = {"k": k, "items": items, "epsilon": str(mechanism.epsilon), "level": level, "within": reach}
    if bounds is not None:
        data["bounds"] = bounds
    Report(title, {}, [text], data).show(as_json=as_json)
