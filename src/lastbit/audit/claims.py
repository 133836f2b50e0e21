"""The claims that a cost makes, and what two laws say to each of them.

A cost with an epsilon claims it with its delta: no hockey stick at epsilon is above delta. A cost with a stated rho, or
without an epsilon, claims the rho with its delta: but for delta, no Rényi divergence of order alpha is above alpha·rho.
A rho that follows from the epsilon is no claim of its own.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

import gmpy2

from lastbit.audit.divergence import Bound, Divergence
from lastbit.audit.hockey import hockey_stick, odds_bounds, odds_of
from lastbit.audit.laws import Law
from lastbit.audit.nearest import find_nearest
from lastbit.audit.progress import TimeBudget
from lastbit.audit.rationals import fraction_of
from lastbit.exact.rounding import short_upper
from lastbit.privacy import zcdp
from lastbit.privacy.cost import Cost

Claim = Literal["epsilon", "rho"]

_NONE: Final = gmpy2.mpq(0)
_SHARE: Final = 0.5
"""The witness of a divergence is the fewest outcomes that make up this share of its sum."""
_STEPS: Final = 24
"""A rho with a delta is compared with the hockey stick at this many epsilons."""
_RAREST: Final = Fraction(1, 1 << 40)


@dataclass(frozen=True)
class ClaimMeasurement:
    """What was measured for a claim, for certain, and where.

    For an epsilon, and for a rho with a delta that fails, `value` is a delta at the epsilon `at`. For a rho it is the
    divergence of the order `at`.
    """

    claim: Claim
    measure: Literal["delta", "divergence"]
    at: Fraction | None
    """None stands for the claimed epsilon."""
    value: Bound
    allowed: Fraction

    @property
    def short(self) -> str:
        """What was found, in the currency of the claim."""
        if self.measure == "delta" or self.at is None:
            return f"delta {float(self.value):.4g}"
        rho = float(self.value / self.at)
        return f"rho {'∞' if math.isinf(rho) else f'{rho:.4g}'}"

    def __str__(self) -> str:
        place = "epsilon" if self.measure == "delta" else "alpha"
        where = "" if self.at is None else f" at {place} {float(self.at):.8g}"
        return f"{self.measure}{where} at least {float(self.value):.6g} where {float(self.allowed):.6g} is allowed"


@dataclass(frozen=True)
class Finding:
    """The answer of two laws to one claim."""

    measured: ClaimMeasurement
    witness: tuple[Hashable, ...]
    """The event that proves that the claim fails; empty where nothing proves it."""
    left: gmpy2.mpq
    """The claim holds but for this much more than its own delta, if it does."""
    holds: bool


def findings(cost: Cost, one: Law, other: Law, tolerance: Fraction, budget: TimeBudget) -> Iterator[Finding]:
    """Judge each claim of a cost by two laws, within the time of a budget."""
    explored = max(one.unexplored, other.unexplored) <= tolerance
    if cost.amount is not None:
        yield _judge_epsilon(cost, one, other, tolerance, explored)
    if cost.claimed_rho is not None:
        yield _judge_rho(cost, one, other, explored, budget)


def _judge_epsilon(cost: Cost, one: Law, other: Law, tolerance: Fraction, explored: bool) -> Finding:
    """Compare the hockey sticks at epsilon with delta.

    If a hockey stick is for certain above delta, its event proves the violation. Otherwise it is above delta by no more
    than the unexplored masses allow, which is at most 1 + e^epsilon times the tolerance when enough was explored. So
    only exploring too little can leave the question open.
    """
    odds, delta = odds_bounds(cost), gmpy2.mpq(cost.delta)
    most, left = _NONE, _NONE
    for p, q in ((one, other), (other, one)):
        hockey = hockey_stick(p, q, odds)
        most = max(most, hockey.lower)
        if witness := hockey.witness(delta):
            break
        left = max(left, hockey.upper - delta)
    measurement = ClaimMeasurement("epsilon", "delta", None, fraction_of(most), cost.delta)
    holds = not witness and explored and left <= (1 + odds[1]) * gmpy2.mpq(tolerance)
    return Finding(measurement, witness, left, holds)


def _judge_rho(cost: Cost, one: Law, other: Law, explored: bool, budget: TimeBudget) -> Finding:
    """Compare the divergences of the nearest laws with alpha·rho.

    They bound the true ones from below. So one that is above alpha·rho proves the violation, where there is no delta.
    Where none is, laws within the unexplored mass of the true ones keep to rho, at every alpha that was tried. With a
    delta, the first law may differ by delta from one that keeps to rho: that is how deltas add up.

    The worst alpha comes first. Where there is no time for all others, the rho does not hold.
    """
    rho, delta = cost.rho, gmpy2.mpq(cost.delta)
    holds, measurements = explored, []
    for p, q in ((one, other), (other, one)):
        divergence = Divergence(find_nearest(p, q, delta))
        for alpha in divergence.orders(rho):
            least, most = divergence.bounds(alpha)
            measurements.append(ClaimMeasurement("rho", "divergence", alpha, least, alpha * rho))
            if least > alpha * rho and not delta:
                return Finding(measurements[-1], _divergence_witness(p, q, alpha), _NONE, holds=False)
            holds = holds and most <= alpha * rho
            if budget.over:
                holds = False
                break
        if delta and (finding := _find_excess(p, q, rho, cost.delta, budget)):
            return finding
    worst = max(measurements, key=lambda measurement: measurement.value / measurement.allowed)
    return Finding(worst, (), gmpy2.mpq(max(one.unexplored, other.unexplored)), holds)


def _find_excess(p: Law, q: Law, rho: Fraction, delta: Fraction, budget: TimeBudget) -> Finding | None:
    """Search for a proof that a law is not (epsilon, delta + delta')-private, as each law of this rho and delta is."""
    short = short_upper(rho, zcdp.BITS)
    far = zcdp.epsilon_at(short, _RAREST)
    for step in range(1, _STEPS + 1):
        epsilon = far * Fraction(step, _STEPS)
        allowed = delta + zcdp.delta_at(short, epsilon)
        hockey = hockey_stick(p, q, odds_of(epsilon))
        if witness := hockey.witness(gmpy2.mpq(allowed)):
            measurement = ClaimMeasurement("rho", "delta", epsilon, fraction_of(hockey.lower), allowed)
            return Finding(measurement, witness, _NONE, holds=False)
        if budget.over:
            break
    return None


def _divergence_witness(p: Law, q: Law, alpha: Fraction) -> tuple[Hashable, ...]:
    """Return the fewest outcomes that add half of all that raises the sum of P·(P/Q)^(alpha - 1) above 1: by floats."""
    above, unseen = float(alpha - 1), gmpy2.mpq(q.unexplored)
    shares: list[tuple[float, Hashable]] = []
    for outcome, mass in p.exact.items():
        against = q.exact.get(outcome, _NONE) + unseen
        if not against:
            return (outcome,)
        if mass > against:
            power = above * _log(mass / against)
            # The logarithm of P·((P/Q)^(alpha - 1) - 1), in a form that no float overflows.
            shares.append((_log(mass) + power + math.log(-math.expm1(-power)), outcome))
    shares.sort(key=lambda share: -share[0])
    sizes = [math.exp(share - shares[0][0]) for share, _ in shares]
    enough = next(n for n in range(1, len(sizes) + 1) if sum(sizes[:n]) >= _SHARE * sum(sizes))
    return tuple(outcome for _, outcome in shares[:enough])


def _log(value: gmpy2.mpq) -> float:
    return zcdp.log_of(fraction_of(value))
