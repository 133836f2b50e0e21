"""Does a mechanism keep its word? The certified answer, on one pair of neighbours or on all of a small grid."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from lastbit.audit.law import TOLERANCE, Law, law
from lastbit.audit.loss import SET_ASIDE, Loss, loss
from lastbit.errors import ParameterError
from lastbit.exact import Cost, Number, number, odds_bounds
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.release import cost_text


@dataclass(frozen=True)
class Verdict:
    """What the auditor found for one pair of neighbours.

    violated: some event is more than e^cost times likelier on one side, for certain; `witness` names its outcomes.
    holds: P(S) <= e^cost·Q(S) + delta for every event S, both ways, where delta is 0 when every branch was explored
    and otherwise at most (1 + e^cost) times what was not.
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

    def __str__(self) -> str:
        apart = f", delta {float(self.delta):.3g}" if self.delta else ""
        proof = f", witness {', '.join(map(repr, self.witness[:3]))}" if self.witness else ""
        return f"{self.verdict}: {self.loss}; cost {cost_text(self.cost)}{apart}{proof}"


@dataclass(frozen=True)
class Verdicts:
    """One verdict for each neighbour that was tried."""

    each: tuple[Verdict, ...]

    @property
    def holds(self) -> bool:
        """Whether the mechanism holds on all of them."""
        return all(verdict.holds for verdict in self.each)

    @property
    def worst(self) -> Verdict:
        """The verdict that matters most: a violation before an open question, then the largest loss."""
        order = {"violated": 2, "undecided": 1, "holds": 0}
        return max(self.each, key=lambda verdict: (order[verdict.verdict], verdict.loss.lower))

    def __str__(self) -> str:
        return f"{len(self.each):,} neighbours, worst {self.worst}"


def judge(cost: Cost, one: Law, other: Law, tolerance: Fraction, values: Any = None, neighbour: Any = None) -> Verdict:
    """The verdict on two laws against a cost.

    Say the found masses are p and q, and u is what the second law left unexplored. If the sum of max(0, p - e^cost·q)
    over all outcomes is above e^cost·u, then the outcomes that add to it form an event that proves the violation.
    Otherwise that sum is part of delta, and small. So only exploring too little can leave the question open.
    """
    odds_lower, odds_upper = odds_bounds(cost)
    delta = Fraction(0)
    witness: tuple[Hashable, ...] = ()
    for p, q in ((one, other), (other, one)):
        ahead = [(mass, outcome) for outcome, mass in p.masses.items() if mass > odds_upper * q[outcome][0]]
        excess = sum(((mass - odds_upper * q[outcome][0]) for mass, outcome in ahead), Fraction(0))
        if excess > odds_upper * q.unexplored:
            ahead.sort(key=lambda pair: pair[0] - odds_upper * q[pair[1]][1], reverse=True)
            alone = ahead[0][0] > odds_upper * q[ahead[0][1]][1]
            witness = tuple(outcome for _, outcome in (ahead[:1] if alone else ahead))
            break
        within = (max(Fraction(0), mass - odds_lower * q[outcome][0]) for outcome, mass in p.masses.items())
        delta = max(delta, p.unexplored + sum(within, Fraction(0)))
    enough = max(one.unexplored, other.unexplored) <= tolerance and delta <= (1 + odds_upper) * tolerance
    verdict: Literal["holds", "violated", "undecided"] = "violated" if witness else "holds" if enough else "undecided"
    return Verdict(
        verdict, cost, delta, witness, loss(one, other, min(Fraction(1), tolerance * SET_ASIDE)), values, neighbour
    )


def check(
    mechanism: Mechanism,
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
    exact = number(tolerance, "tolerance")
    one, other = (law(mechanism.program(each), exact, seconds=seconds) for each in (values, neighbour))
    return judge(mechanism.cost, one, other, exact, values, neighbour)


def check_all(
    mechanism: Mechanism,
    values: Sequence[Number],
    tolerance: Number = TOLERANCE,
    *,
    seconds: float | None = None,
) -> Verdicts:
    """`check` against every neighbour on the grid: what one person could have turned these values into.

    >>> import lastbit as lb
    >>> print(lb.audit.check_all(lb.DiscreteLaplace(eta=lb.Eta(1, 1, 1)), [0], tolerance="1/1000"))
    2 neighbours, worst holds: ...
    """
    exact = number(tolerance, "tolerance")
    one = law(mechanism.program(values), exact, seconds=seconds)
    neighbours: Iterable[Any] = mechanism.neighbours(values)
    verdicts = tuple(
        judge(mechanism.cost, one, law(mechanism.program(each), exact, seconds=seconds), exact, values, each)
        for each in neighbours
    )
    if not verdicts:
        raise ParameterError("values must have a neighbour to compare with: got none. Pass at least one value.")
    return Verdicts(verdicts)
