"""The hockey stick between two laws: the smallest delta with P(S) <= e^epsilon·Q(S) + delta for every event S."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import gmpy2

from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, number
from lastbit.privacy.cost import Cost
from lastbit.privacy.eta import Eta

if TYPE_CHECKING:
    from lastbit.audit.laws import Law

Odds = tuple[gmpy2.mpq, gmpy2.mpq]
_ZERO = gmpy2.mpq(0)


@dataclass(frozen=True)
class HockeyStick:
    """The smallest delta of P over Q at some odds, between two bounds, and the event that proves the lower one.

    Say the found masses are p and q, and the laws left u and v unexplored. The sum of max(0, p - odds·q) over all
    outcomes is exact for the found masses. The true delta is at most odds·v below the sum, if all of v falls on its
    event, and at most u above it.
    """

    lower: gmpy2.mpq
    upper: gmpy2.mpq
    ahead: tuple[tuple[gmpy2.mpq, Hashable], ...]
    """The outcomes of the event, each with its excess over odds times the other mass: the largest first."""
    unseen: gmpy2.mpq
    """odds·v: the part of the excess that the second law may still make up for."""

    def witness(self, delta: gmpy2.mpq = _ZERO) -> tuple[Hashable, ...]:
        """Return an event that exceeds delta for certain: one outcome
        where one is enough; nothing where nothing does.
        """
        if self.lower <= delta:
            return ()
        enough = self.ahead[:1] if self.ahead[0][0] > self.unseen + delta else self.ahead
        return tuple(outcome for _, outcome in enough)


def hockey_stick(p: Law, q: Law, odds: Odds) -> HockeyStick:
    """Compute the hockey stick of one law over another. odds: at or below and at or above e^epsilon."""
    least, most = odds
    pairs = [(outcome, mass, q.exact.get(outcome, _ZERO)) for outcome, mass in p.exact.items()]
    ahead = [(most * b - a, n) for n, (_, a, b) in enumerate(pairs) if a > most * b]
    ahead.sort()
    unseen = most * gmpy2.mpq(q.unexplored)
    lower = -sum((short for short, _ in ahead), _ZERO) - unseen
    upper = gmpy2.mpq(p.unexplored) + sum((max(_ZERO, a - least * b) for _, a, b in pairs), _ZERO)
    event = tuple((-short, pairs[n][0]) for short, n in ahead)
    return HockeyStick(max(_ZERO, lower), min(upper, gmpy2.mpq(1)), event, unseen)


def odds_of(epsilon: Eta | Number) -> Odds:
    """Return two bounds on e^epsilon, for an epsilon from 0 on. They are equal for 0 and for an eta."""
    if not isinstance(epsilon, Eta):
        exact = number(epsilon, "epsilon")
        if exact < 0:
            raise ParameterError(f"epsilon must not be negative: got {epsilon}.")
        if exact == 0:
            return gmpy2.mpq(1), gmpy2.mpq(1)
    return odds_bounds(Cost.of(epsilon))


def odds_bounds(cost: Cost) -> Odds:
    """Return the odds of a cost as gmpy2 rationals, which are faster than fractions."""
    lower, upper = cost.odds_bounds()
    return gmpy2.mpq(lower), gmpy2.mpq(upper)
