"""What notebooks show below the tables of the auditor: a law as bars, and a loss beside the loss that is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isinf
from typing import TYPE_CHECKING, Any

from lastbit.output.chart import chart
from lastbit.output.numbers import Interval
from lastbit.output.picture import Panel

if TYPE_CHECKING:
    from lastbit.audit.verdict import Verdict


def draw_law(outcomes: Sequence[str], masses: Sequence[Any], title: str) -> str:
    """Draw the likeliest outcomes as bars, as long as they are likely.

    >>> draw_law(["heads", "tails"], [0.5, 0.5], "a coin").count('class="bar"')
    2
    """
    return chart([Panel("probability", outcomes, masses)], title) if outcomes else ""


def draw_verdicts(verdicts: Sequence[Verdict], names: Sequence[str], title: str) -> str:
    """Draw the loss on each neighbour, and the loss that the cost allows. A loss without an end goes on to the edge.

    >>> from lastbit import audit
    >>> program = lambda value: lambda draw: value
    >>> draw_verdicts([audit.compare(program(0), program(1), 1)], ["loss"], "two laws").count("<rect")
    1
    """
    first = verdicts[0]
    plain = first.measured.claim == "epsilon" and not first.cost.delta
    lows = [verdict.loss.lower if plain else verdict.measured.value for verdict in verdicts]
    highs = [verdict.loss.upper if plain else verdict.measured.value for verdict in verdicts]
    heights = [None if isinf(low) else low for low in lows]
    intervals = [_interval(low, high) for low, high in zip(lows, highs, strict=True)]
    name = "privacy loss, in nats" if plain else first.measured.measure
    allowed = first.cost.amount if plain else first.measured.allowed
    return chart([Panel(name, [*names, "allowed"], [*heights, allowed], intervals=[*intervals, None])], title)


def _interval(low: float | Fraction, high: float | Fraction) -> Interval | None:
    if low == high and not isinf(low):
        return None
    return Fraction(0) if isinf(low) else Fraction(low), None if isinf(high) else Fraction(high)
