"""How well two output laws can be told apart: a lower and an upper bound on the privacy loss."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import gmpy2

from lastbit.audit.laws import TOLERANCE, Law, law, parse_tolerance, render_outcome
from lastbit.audit.progress import TimeBudget
from lastbit.audit.rationals import fraction_of
from lastbit.exact.numbers import Number, number
from lastbit.exact.rounding import log_float_lower, log_upper
from lastbit.mechanisms.mechanism import Program
from lastbit.output.numbers import format_digits

SET_ASIDE: Final = 1 << 10
"""Rare outcomes may be set aside up to this many times the unexplored mass, which leaves their ratio in doubt."""


@dataclass(frozen=True)
class Loss:
    """The largest |ln(P/Q)| over all outcomes, in nats.

    `lower` is certain: the `witness` is an outcome whose two probabilities are that far apart. It is None when no
    outcome tells the two laws apart for certain. `upper` holds for every event S up to `delta`: P(S) <= e^upper·Q(S) +
    delta, and the same with P and Q exchanged. When both laws were explored to the end, delta is 0 and `upper` bounds
    the loss itself.
    """

    lower: float
    upper: float
    witness: Hashable
    delta: Fraction

    @property
    def lower_bits(self) -> float:
        """`lower` in base 2, to the nearest float: for reading, not for proofs."""
        return self.lower / math.log(2)

    def __str__(self) -> str:
        apart = f" apart from a probability of {format_digits(self.delta, 3, 'up')}" if self.delta else ""
        has_witness = self.lower and (self.witness is not None or not self.delta)
        proof = f", witness {render_outcome(self.witness)}" if has_witness else ""
        return f"loss from {self.at_least} to {self.at_most} nats{apart}{proof}"

    @property
    def at_least(self) -> str:
        """`lower` as people read it, rounded down."""
        return format_digits(self.lower, 9, "down")

    @property
    def at_most(self) -> str:
        """`upper` as people read it, rounded up."""
        return format_digits(self.upper, 9, "up")


def loss(
    program: Program | Law,
    neighbour: Program | Law,
    tolerance: Number = TOLERANCE,
    *,
    delta: Number = 0,
    seconds: float | None = None,
) -> Loss:
    """Return the privacy loss between a program and its neighbour, in both directions.

    With a delta it is the smallest epsilon that holds for every event but for this much probability; no single outcome
    is a witness of that. For a rho, ask the laws: `law(…).least_rho(other)`.

    >>> print(loss(lambda draw: draw.bernoulli("1/3"), lambda draw: draw.bernoulli("2/3")))
    loss from 0.69314718 to 0.693147181 nats, witness False
    >>> print(loss(lambda draw: draw.bernoulli("1/4"), lambda draw: draw.bernoulli("3/4"), delta="1/4"))
    loss from 0.69314718 to 0.693147181 nats apart from a probability of 0.25
    """
    exact = parse_tolerance(tolerance)
    budget = TimeBudget(seconds)
    one, other = (
        side if isinstance(side, Law) else law(side, exact / SET_ASIDE, seconds=budget.share(parts))
        for side, parts in ((program, 2), (neighbour, 1))
    )
    apart = number(delta, "delta")
    if not apart:
        return loss_between(one, other, exact)
    both = one.epsilon_at(other, apart), other.epsilon_at(one, apart)
    return Loss(max(low for low, _ in both), max(high for _, high in both), None, apart)


def loss_between(one: Law, other: Law, tolerance: Fraction) -> Loss:
    """Return the loss between two laws. If they are not fully
    explored, rare outcomes up to the tolerance are set aside.
    """
    zero = gmpy2.mpq(0)
    p, q = one.exact, other.exact
    outcomes = sorted(dict.fromkeys([*p, *q]), key=lambda o: max(p.get(o, zero), q.get(o, zero)))
    lower, witness = _certain(one, other, outcomes)
    # Set aside the rarest outcomes up to the tolerance. With nothing unexplored there is no need.
    aside = [gmpy2.mpq(one.unexplored), gmpy2.mpq(other.unexplored)]
    rare = any(aside)
    limit, ratio = gmpy2.mpq(tolerance), gmpy2.mpq(1)
    endless = max(aside) > limit
    for outcome in outcomes:
        a, b = p.get(outcome, zero), q.get(outcome, zero)
        if rare and max(aside[0] + a, aside[1] + b) <= limit:
            aside[0] += a
            aside[1] += b
        elif a == 0 or b == 0:
            endless = True
        elif a > ratio * b or b > ratio * a:
            ratio = max(a / b, b / a)
    upper = math.inf if endless else log_upper(fraction_of(ratio))
    return Loss(lower, upper, witness, fraction_of(max(aside)))


def _certain(one: Law, other: Law, outcomes: list[Hashable]) -> tuple[float, Hashable]:
    """Return the largest loss that an outcome proves, and the outcome."""
    zero, best, witness = gmpy2.mpq(0), gmpy2.mpq(1), None
    for p, q in ((one, other), (other, one)):
        left = gmpy2.mpq(q.unexplored)
        for outcome in outcomes:
            least, most = p.exact.get(outcome, zero), q.exact.get(outcome, zero) + left
            if least > 0 and most == 0:
                return math.inf, outcome
            if least > best * most:
                best, witness = least / most, outcome
    return log_float_lower(fraction_of(best)), witness
