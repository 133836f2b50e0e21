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
from lastbit.audit.found import fraction_of
from lastbit.audit.hockey import odds_bounds, odds_of, stick
from lastbit.audit.laws import Law
from lastbit.audit.nearest import nearest
from lastbit.exact.rounding import shortened_upper
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
class Proof:
    """Proof that a claim fails: an event, and what was found where.

    For an epsilon, and for a rho with a delta, `found` is the smallest delta at `at`, an epsilon, and `allowed` is the
    claimed one. For a rho without a delta, `found` is the divergence of the order `at`, an alpha, and `allowed` is
    alpha·rho.
    """

    claim: Claim
    witness: tuple[Hashable, ...]
    measure: Literal["delta", "divergence"]
    at: Fraction | None
    found: Bound
    allowed: Fraction

    @property
    def short(self) -> str:
        """What was found, in the currency of the claim."""
        if self.measure == "divergence" and self.at:
            share = float(self.found / self.at)
            return f"rho {'∞' if math.isinf(share) else f'{share:.4g}'}"
        return f"delta {float(self.found):.4g}"

    def __str__(self) -> str:
        place = "epsilon" if self.measure == "delta" else "alpha"
        where = "" if self.at is None else f" at {place} {float(self.at):.6g}"
        return f"{self.measure}{where} at least {float(self.found):.6g} where {float(self.allowed):.6g} is allowed"


@dataclass(frozen=True)
class Finding:
    """What two laws say to one claim: a proof against it, or the delta up to which it holds, if it does."""

    proof: Proof | None
    left: gmpy2.mpq
    """The claim holds but for this much more than its own delta."""
    holds: bool


def findings(cost: Cost, one: Law, other: Law, tolerance: Fraction) -> Iterator[Finding]:
    """What the laws say to each claim of a cost."""
    explored = max(one.unexplored, other.unexplored) <= tolerance
    if cost.epsilon is not None:
        yield _epsilon(cost, one, other, tolerance, explored)
    if cost.epsilon is None or cost.stated_rho is not None:
        yield _rho(cost, one, other, explored)


def _epsilon(cost: Cost, one: Law, other: Law, tolerance: Fraction, explored: bool) -> Finding:
    """The hockey sticks at epsilon against delta.

    If a hockey stick is for certain above delta, its event proves the violation. Otherwise it is above delta by no more
    than the unexplored masses allow, which is at most 1 + e^epsilon times the tolerance when enough was explored. So
    only exploring too little can leave the question open.
    """
    odds, delta = odds_bounds(cost), gmpy2.mpq(cost.delta)
    left = _NONE
    for p, q in ((one, other), (other, one)):
        found = stick(p, q, odds)
        if witness := found.witness(delta):
            return Finding(
                Proof("epsilon", witness, "delta", None, fraction_of(found.lower), cost.delta), left, holds=False
            )
        left = max(left, found.upper - delta)
    return Finding(None, left, explored and left <= (1 + odds[1]) * gmpy2.mpq(tolerance))


def _rho(cost: Cost, one: Law, other: Law, explored: bool) -> Finding:
    """The divergences of the nearest laws against alpha·rho.

    They bound the true ones from below. So one that is above alpha·rho proves the violation, where there is no delta.
    Where none is, laws within the unexplored mass of the true ones keep to rho, at every alpha that was tried. With a
    delta, the first law may differ by delta from one that keeps to rho: that is how deltas add up.
    """
    rho, delta = cost.rho, gmpy2.mpq(cost.delta)
    left = gmpy2.mpq(max(one.unexplored, other.unexplored))
    holds = explored
    for p, q in ((one, other), (other, one)):
        divergence = Divergence(nearest(p, q, delta))
        for alpha in divergence.orders(rho):
            least, most = divergence.bounds(alpha)
            if least > alpha * rho and not delta:
                witness = _largest(p, q, alpha)
                return Finding(Proof("rho", witness, "divergence", alpha, least, alpha * rho), _NONE, holds=False)
            holds = holds and most <= alpha * rho
        if delta and (proof := _exceeded(p, q, rho, cost.delta)):
            return Finding(proof, _NONE, holds=False)
    return Finding(None, left, holds)


def _exceeded(p: Law, q: Law, rho: Fraction, delta: Fraction) -> Proof | None:
    """A proof that a law is not (epsilon, delta + delta')-private where every law of this rho and delta is."""
    rho = shortened_upper(rho, zcdp.BITS)
    far = zcdp.epsilon_at(rho, _RAREST)
    for step in range(_STEPS):
        epsilon = far * Fraction(step + 1, _STEPS)
        allowed = delta + zcdp.delta_at(rho, epsilon)
        found = stick(p, q, odds_of(epsilon))
        if witness := found.witness(gmpy2.mpq(allowed)):
            return Proof("rho", witness, "delta", epsilon, fraction_of(found.lower), allowed)
    return None


def _largest(p: Law, q: Law, alpha: Fraction) -> tuple[Hashable, ...]:
    """The fewest outcomes that add half of all that raises the sum of P·(P/Q)^(alpha - 1) above 1: by floats."""
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
