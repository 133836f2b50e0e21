"""Does a mechanism keep its cost? A certified answer, for one pair of neighbours or for all neighbours on a grid."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isinf
from typing import Any, Literal

import gmpy2

from lastbit.audit.laws import TOLERANCE, Law, fraction_of, law, shown, tolerated
from lastbit.audit.losses import SET_ASIDE, Loss, between
from lastbit.audit.progress import Budget
from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number
from lastbit.mechanisms.mechanism import Mechanism, Program
from lastbit.privacy.cost import Cost
from lastbit.privacy.eta import Eta


@dataclass(frozen=True)
class Verdict:
    """The auditor's answer for one pair of neighbours.

    violated: some event is for certain more than e^cost times likelier on one side; `witness` names its outcomes.
    holds: P(S) <= e^cost·Q(S) + delta for every event S, in both directions. delta is 0 when every branch was explored,
    and otherwise at most (1 + e^cost) times the unexplored mass.
    undecided: more than the tolerance was left unexplored.
    """

    verdict: Literal["holds", "violated", "undecided"]
    cost: Cost
    delta: Fraction
    witness: tuple[Hashable, ...]
    loss: Loss
    values: Any
    neighbour: Any

    @property
    def holds(self) -> bool:
        """The certified loss is within the cost."""
        return self.verdict == "holds"

    @property
    def in_bits(self) -> str:
        """The loss found, in base 2, and the verdict."""
        bits = self.loss.lower_bits
        return f"{'∞' if isinf(bits) else f'{bits:.4g}'} bits ({self.verdict})"

    def __str__(self) -> str:
        apart = f", delta {float(self.delta):.3g}" if self.delta else ""
        more = f" and {len(self.witness) - 3:,} more" if len(self.witness) > 3 else ""
        proof = f", witness {', '.join(map(shown, self.witness[:3]))}{more}" if self.witness else ""
        return f"{self.verdict}: {self.loss}; cost {self.cost.text}{apart}{proof}"


@dataclass(frozen=True)
class Verdicts:
    """One verdict for each neighbour that was tried."""

    each: tuple[Verdict, ...]

    @property
    def holds(self) -> bool:
        """Whether the cost holds on all neighbours."""
        return all(verdict.holds for verdict in self.each)

    @property
    def worst(self) -> Verdict:
        """The verdict that matters most: violated before undecided before holds, then the largest loss."""
        order = {"violated": 2, "undecided": 1, "holds": 0}
        return max(self.each, key=lambda verdict: (order[verdict.verdict], verdict.loss.lower))

    def __str__(self) -> str:
        return f"{len(self.each):,} neighbours, worst {self.worst}"


def judge(
    cost: Cost | Eta | Number, one: Law, other: Law, tolerance: Fraction, values: Any = None, neighbour: Any = None
) -> Verdict:
    """The verdict on two laws against a cost.

    Say the found masses are p and q, and the second law left a mass u unexplored. If the sum of max(0, p - e^cost·q)
    over all outcomes is above e^cost·u, then the outcomes that add to the sum form an event that proves the violation.
    Otherwise the sum is part of delta, and small. So only exploring too little can leave the question open.
    """
    cost = Cost.of(cost)
    odds_lower, odds_upper = (gmpy2.mpq(odds) for odds in cost.odds_bounds())
    zero = gmpy2.mpq(0)
    delta = zero
    witness: tuple[Hashable, ...] = ()
    for p, q in ((one, other), (other, one)):
        pairs = [(outcome, mass, q.exact.get(outcome, zero)) for outcome, mass in p.exact.items()]
        ahead = [(odds_upper * b - a, n) for n, (_, a, b) in enumerate(pairs) if a > odds_upper * b]
        ahead.sort()
        unseen = odds_upper * gmpy2.mpq(q.unexplored)
        if -sum((short for short, _ in ahead), zero) > unseen:
            witness = tuple(pairs[n][0] for _, n in (ahead[:1] if -ahead[0][0] > unseen else ahead))
            break
        within = (max(zero, a - odds_lower * b) for _, a, b in pairs)
        delta = max(delta, gmpy2.mpq(p.unexplored) + sum(within, zero))
    enough = max(one.unexplored, other.unexplored) <= tolerance and delta <= (1 + odds_upper) * gmpy2.mpq(tolerance)
    verdict: Literal["holds", "violated", "undecided"] = "violated" if witness else "holds" if enough else "undecided"
    aside = min(tolerance * SET_ASIDE, max(tolerance, Fraction(1, SET_ASIDE)))
    return Verdict(verdict, cost, fraction_of(delta), witness, between(one, other, aside), values, neighbour)


def compare(
    program: Program,
    neighbour: Program,
    cost: Cost | Eta | Number,
    tolerance: Number = TOLERANCE,
    *,
    seconds: float | None = None,
) -> Verdict:
    """Compare the exact laws of two programs with the cost that they claim. `seconds` is for both programs together.

    >>> from lastbit import Eta
    >>> compare(lambda draw: draw.bernoulli("1/4"), lambda draw: draw.bernoulli("1/8"), Eta(1, 1, 1)).verdict
    'holds'
    >>> compare(lambda draw: draw.bernoulli("1/4"), lambda draw: draw.bernoulli("1/9"), Eta(1, 1, 1)).witness
    (True,)
    """
    exact, budget = tolerated(tolerance), Budget(seconds)
    one, other = (law(each, exact, seconds=budget.share(parts)) for each, parts in ((program, 2), (neighbour, 1)))
    return judge(cost, one, other, exact)


def check(
    mechanism: Mechanism[Any],
    values: Any,
    neighbour: Any,
    tolerance: Number = TOLERANCE,
    *,
    seconds: float | None = None,
) -> Verdict:
    """Compare the exact laws of a mechanism on two neighbouring inputs with its own `cost`.

    >>> import lastbit as lb
    >>> lb.audit.check(lb.DiscreteLaplace(epsilon=1), [3], [4]).holds
    True
    """
    programs = mechanism.program(values), mechanism.program(neighbour)
    verdict = compare(*programs, mechanism.cost, tolerance, seconds=seconds)
    return replace(verdict, values=values, neighbour=neighbour)


def check_all(
    mechanism: Mechanism[Any],
    values: Sequence[Number],
    tolerance: Number = TOLERANCE,
    *,
    seconds: float | None = None,
) -> Verdicts:
    """`check` against every neighbour on the grid: all inputs that one person can turn these values into.

    >>> import lastbit as lb
    >>> print(lb.audit.check_all(lb.DiscreteLaplace(eta=lb.Eta(1, 1, 1)), [0], tolerance="1/1000"))
    2 neighbours, worst holds: ...
    """
    exact, budget = tolerated(tolerance), Budget(seconds)
    neighbours = list(mechanism.neighbours(values))
    if not neighbours:
        raise ParameterError("values must have a neighbour to compare with: got no neighbour. Pass at least one value.")
    one = law(mechanism.program(values), exact, seconds=budget.share(len(neighbours) + 1))
    others = (
        law(mechanism.program(each), exact, seconds=budget.share(len(neighbours) - before))
        for before, each in enumerate(neighbours)
    )
    return Verdicts(
        tuple(
            judge(mechanism.cost, one, other, exact, values, each)
            for other, each in zip(others, neighbours, strict=True)
        )
    )
