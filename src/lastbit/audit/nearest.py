"""The two laws that are nearest to each other, among all laws that agree with the branches that were followed.

Where the auditor left mass unexplored, the true laws are not known. Say the found masses are p and q, and u and v are
missing. Two laws P and Q agree with them when P >= p and Q >= q. Among all such laws some P and Q have the least
divergence, and for every Rényi divergence (and hockey stick) they are the same: P/Q is p/q clipped to an interval [low,
high]. The missing v of Q goes to the outcomes of the largest ratio until all of them have the ratio `high`, and the
missing u of P goes to the smallest until all have the ratio `low`. This is the minimum, since the sum of P^a·Q^(1-a)
is convex in P and Q together, its slope in P rises with the ratio, its slope in Q falls, and so no mass can be moved to
lower the sum. An outcome that nobody found does not help: to join two outcomes never raises the sum.

So a divergence of the nearest laws is a lower bound of the true one. And the nearest laws are within u and v of the
true ones, in total variation. If every branch was followed, they are the true ones.

A claim that holds "but for delta" may also set mass of P aside: `apart` is taken from the largest ratios, and comes
back at the smallest. The same argument shows that this is the best use of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import gmpy2

if TYPE_CHECKING:
    from lastbit.audit.laws import Law

_ZERO, _ONE = gmpy2.mpq(0), gmpy2.mpq(1)
_Pair = tuple[gmpy2.mpq, gmpy2.mpq]


@dataclass(frozen=True)
class NearestLaws:
    """P and Q as the mass of Q at each ratio P/Q: outcomes of one ratio count as one, which changes no divergence."""

    ratios: tuple[gmpy2.mpq, ...]
    """Above zero: outcomes of P zero add nothing to a divergence of P from Q."""
    masses: tuple[gmpy2.mpq, ...]
    endless: bool
    """Whether P has outcomes that Q has not."""


def find_nearest(one: Law, other: Law, apart: gmpy2.mpq = _ZERO) -> NearestLaws:
    """Find the nearest laws P and Q, where P may be changed by a mass of `apart` too."""
    pairs = mass_pairs(one, other)
    added = gmpy2.mpq(other.unexplored)
    high = ratio_cap(pairs, apart, added)
    if high is None:
        return NearestLaws((), (), True)
    floor = ratio_cap(((b, a) for a, b in pairs), _ZERO, gmpy2.mpq(one.unexplored) + apart)
    # A mass of Q where P has none leaves no floor, so the smallest ratio is zero.
    low = _ZERO if floor is None else 1 / floor if floor else high
    if high <= low:
        return NearestLaws((_ONE,), (_ONE,), False)
    whole = apart + high * added
    classes: dict[gmpy2.mpq, gmpy2.mpq] = {}
    for a, b in pairs:
        over = a - high * b
        if over > 0:
            # The excess is paid from both: what is set aside, and what may still come to Q.
            ratio, mass = high, b + over * added / whole
        else:
            ratio, mass = max(low, a / b) if b else low, b
        classes[ratio] = classes.get(ratio, _ZERO) + mass
    ranked = sorted((ratio, mass) for ratio, mass in classes.items() if ratio and mass)
    return NearestLaws(tuple(ratio for ratio, _ in ranked), tuple(mass for _, mass in ranked), False)


def mass_pairs(one: Law, other: Law) -> list[_Pair]:
    """Return the two masses found for each outcome."""
    p, q = one.exact, other.exact
    return [(p.get(outcome, _ZERO), q.get(outcome, _ZERO)) for outcome in dict.fromkeys([*p, *q])]


def ratio_cap(pairs: Iterable[_Pair], removed: gmpy2.mpq, added: gmpy2.mpq) -> gmpy2.mpq | None:
    """Return the least c with sum of max(0, a - c·b) <= removed + c·added; None if no c is large enough."""
    endless = _ZERO
    finite = []
    for a, b in pairs:
        if b:
            finite.append((a / b, a, b))
        else:
            endless += a
    finite.sort(reverse=True)
    # Above is the sum of a over all pairs whose ratio is above c, and below the sum of b: c = (above - removed)/below.
    above, below = endless - removed, added
    if not below and above > 0:
        return None
    for ratio, a, b in finite:
        if below and above >= ratio * below:
            break
        above += a
        below += b
    return above / below if below else _ZERO
