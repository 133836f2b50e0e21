"""How well two output laws can be told apart: the privacy loss, enclosed from both sides."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from lastbit.audit.law import TOLERANCE, Law, law
from lastbit.exact import Number, number
from lastbit.mechanisms.mechanism import Program
from lastbit.rounding import log_float_lower, log_upper

SET_ASIDE: Final = 1 << 10
"""How many times what is left unexplored may be set aside as rare outcomes, whose ratio it leaves in doubt."""


@dataclass(frozen=True)
class Loss:
    """The largest |ln(P/Q)| over all outcomes, in nats.

    `lower` is certain: the `witness` is an outcome whose two probabilities are that far apart. `upper` holds for every
    event but for a probability of `delta`: P(S) <= e^upper·Q(S) + delta, and the other way round. When both laws were
    explored to the end, delta is 0 and `upper` bounds the loss itself.
    """

    lower: float
    upper: float
    witness: Hashable
    delta: Fraction

    def __str__(self) -> str:
        apart = f" apart from a probability of {float(self.delta):.3g}" if self.delta else ""
        return f"loss from {self.lower:.9g} to {self.upper:.9g} nats{apart}, witness {self.witness!r}"


def loss(
    program: Program | Law,
    neighbour: Program | Law,
    tolerance: Number = TOLERANCE,
    *,
    seconds: float | None = None,
) -> Loss:
    """The privacy loss between a program and its neighbour, in both directions.

    >>> loss(lambda draw: draw.bernoulli("1/3"), lambda draw: draw.bernoulli("2/3")).witness in (True, False)
    True
    """
    exact = number(tolerance, "tolerance")
    one, other = (
        each if isinstance(each, Law) else law(each, exact / SET_ASIDE, seconds=seconds)
        for each in (program, neighbour)
    )
    outcomes = sorted(one.masses.keys() | other.masses.keys(), key=lambda o: max(one[o][0], other[o][0]))
    lower, witness = max((_certain(one, other, o) for o in outcomes), key=lambda pair: pair[0])
    # Set aside the rarest outcomes, as far as the tolerance goes; when nothing is unexplored there is no need to.
    aside = [one.unexplored, other.unexplored]
    ratio: Fraction | None = Fraction(1)
    for outcome in outcomes:
        p, q = one[outcome][0], other[outcome][0]
        if any(aside) and max(aside[0] + p, aside[1] + q) <= exact:
            aside = [aside[0] + p, aside[1] + q]
        else:
            ratio = None if ratio is None or p == 0 or q == 0 else max(ratio, p / q, q / p)
    upper = math.inf if ratio is None or max(aside) > exact else log_upper(ratio)
    return Loss(lower, upper, witness, max(aside))


def _certain(one: Law, other: Law, outcome: Hashable) -> tuple[float, Hashable]:
    """A loss that this outcome proves."""
    best = 0.0
    for (least, _), (_, most) in ((one[outcome], other[outcome]), (other[outcome], one[outcome])):
        if least > most:
            best = max(best, log_float_lower(least / most) if most else math.inf)
    return best, outcome
