"""Does a mechanism keep its cost? A certified answer, for one pair of neighbours or for all neighbours on a grid."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from math import isinf
from typing import Any, Final, Literal

from lastbit.audit.charts import draw_verdicts
from lastbit.audit.claims import Claim, ClaimMeasurement, findings
from lastbit.audit.laws import TOLERANCE, Law, MechanismLaws, law, parse_tolerance, render_outcome
from lastbit.audit.losses import SET_ASIDE, Loss, loss_between
from lastbit.audit.progress import TimeBudget
from lastbit.audit.rationals import fraction_of
from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number
from lastbit.mechanisms.mechanism import Mechanism, Program
from lastbit.output.numbers import format_digits
from lastbit.output.table import MOST_ROWS, html_table, one_line
from lastbit.output.words import plural
from lastbit.privacy.cost import Cost
from lastbit.privacy.eta import Eta

MOST_NEIGHBOURS: Final = 1 << 16
"""More neighbours than this are not tried."""


@dataclass(frozen=True)
class Verdict:
    """The auditor's answer for one pair of neighbours.

    violated: a claim of the cost fails for certain. `claim` says whether its epsilon or its rho, `measured` by how
    much, and `witness` names outcomes. For an epsilon the outcomes form an event that is more than e^epsilon times
    likelier on one side, by more than the cost's own delta. For a rho the divergence of some order alpha is above
    alpha·rho, and the outcomes add most to it.
    holds: P(S) <= e^epsilon·Q(S) + cost.delta + delta for every event S, in both directions. delta is 0 when every
    branch was explored, and otherwise at most (1 + e^epsilon) times the unexplored mass. A rho holds at every alpha
    that was tried, and so within 1% at all others (`divergence.orders`), for two laws that differ from the true ones by
    at most delta.
    undecided: more than the tolerance was left unexplored; or, for a rho with a delta, neither could be proved.
    """

    verdict: Literal["holds", "violated", "undecided"]
    cost: Cost
    delta: Fraction
    witness: tuple[Hashable, ...]
    loss: Loss
    values: Any
    neighbour: Any
    measured: ClaimMeasurement
    """What was measured for the claim that fails, or for the first claim where none does."""

    @property
    def claim(self) -> Claim | None:
        """The claim that fails; None when none does for certain."""
        return self.measured.claim if self.verdict == "violated" else None

    @property
    def alpha(self) -> Fraction | None:
        """The order of the divergence that proves a violation of rho; None for another proof."""
        return self.measured.at if self.claim and self.measured.measure == "divergence" else None

    @property
    def holds(self) -> bool:
        """The certified loss is within the cost."""
        return self.verdict == "holds"

    @property
    def in_bits(self) -> str:
        """The loss found, in base 2, and the verdict. Where the loss is not the claim: the delta or the rho found."""
        bits = self.loss.lower_bits
        loss = f"{'∞' if isinf(bits) else f'{bits:.4g}'} bits" if self._plain else self.measured.short
        return f"{loss} ({self.verdict})"

    @property
    def claims(self) -> str:
        """The cost in the words of `in_bits`."""
        apart = self.cost.delta and self.cost.amount is not None
        return f"{self.cost.in_bits}{f', delta {float(self.cost.delta):.4g}' if apart else ''}"

    @property
    def _plain(self) -> bool:
        """Whether the loss alone answers: the claim is an epsilon without a delta."""
        return self.measured.claim == "epsilon" and not self.cost.delta

    def __str__(self) -> str:
        named = ", but for" if self.cost.delta else ", delta"
        apart = f"{named} {format_digits(self.delta, 3, 'up')}" if self.delta else ""
        more = f" and {len(self.witness) - 3:,} more" if len(self.witness) > 3 else ""
        proof = f", witness {', '.join(map(render_outcome, self.witness[:3]))}{more}" if self.witness else ""
        measurement = "" if self._plain else f"{self.measured}; "
        return f"{self.verdict}: {measurement}{self.loss}; cost {self.cost.text}{apart}{proof}"

    def _repr_html_(self) -> str:
        title = f"The cost: {self.verdict}"
        table = html_table(["", ""], [[name, text] for name, text in self._facts().items()], title)
        return table + draw_verdicts([self], ["found"], title)

    def _facts(self) -> dict[str, str]:
        """Return the answer part by part, for a table."""
        named = "but for" if self.cost.delta else "delta"
        return {
            "verdict": self.verdict,
            "cost": self.cost.text,
            **({} if self._plain else {"measured": str(self.measured)}),
            "loss at least": f"{self.loss.at_least} nats",
            "loss at most": f"{self.loss.at_most} nats",
            **({named: f"{format_digits(self.delta, 3, 'up')}"} if self.delta else {}),
            **({"witness": ", ".join(map(render_outcome, self.witness[:3]))} if self.witness else {}),
        }


@dataclass(frozen=True)
class Verdicts:
    """One verdict for each neighbour that was tried."""

    each: tuple[Verdict, ...]
    complete: bool = True
    """Whether there was time for every neighbour."""

    @property
    def holds(self) -> bool:
        """Whether the cost holds on all neighbours, and all of them were tried."""
        return self.verdict == "holds"

    @property
    def verdict(self) -> Literal["holds", "violated", "undecided"]:
        """The answer for all neighbours together: undecided where there was no time for every one."""
        worst = self.worst.verdict
        return "undecided" if worst == "holds" and not self.complete else worst

    @property
    def worst(self) -> Verdict:
        """The verdict that matters most: violated before undecided before holds, then the largest loss."""
        order = {"violated": 2, "undecided": 1, "holds": 0}
        return max(self.each, key=lambda verdict: (order[verdict.verdict], verdict.loss.lower))

    def __str__(self) -> str:
        return f"{self.tried}, worst {self.worst}"

    @property
    def tried(self) -> str:
        """How many neighbours were tried, in words."""
        number = plural(len(self.each), "neighbour")
        return number if self.complete else f"{number} (there was no time for the others)"

    def _repr_html_(self) -> str:
        names = ["neighbour", "verdict", "loss at least", "loss at most"]
        rows = [
            [_values_text(verdict.neighbour), verdict.verdict, verdict.loss.at_least, verdict.loss.at_most]
            for verdict in self.each[:MOST_ROWS]
        ]
        more = f" … and {plural(len(self.each) - MOST_ROWS, 'more neighbour')}" if len(self.each) > MOST_ROWS else ""
        verdicts = self.each[:MOST_ROWS]
        return html_table(names, rows, f"{self}{more}") + draw_verdicts(verdicts, [row[0] for row in rows], str(self))


def _values_text(values: Any) -> str:
    """Return values in one line: 1/2, 0 and not a tuple of fractions."""
    return one_line(", ".join(map(str, values)) if isinstance(values, tuple) else values)


def judge(
    cost: Cost | Eta | Number,
    one: Law,
    other: Law,
    tolerance: Fraction,
    values: Any = None,
    neighbour: Any = None,
    *,
    seconds: float | None = None,
) -> Verdict:
    """Return the verdict on two laws against all claims of a cost (`audit.claims`).

    An epsilon is one pass over the outcomes. A rho takes a pass for each alpha: when the `seconds` are over, no further
    alpha is tried, and the rho does not hold.
    """
    cost = Cost.of(cost)
    results = []
    for finding in findings(cost, one, other, tolerance, TimeBudget(seconds)):
        results.append(finding)
        if finding.witness:
            break
    decisive = results[-1] if results[-1].witness else results[0]
    verdict: Literal["holds", "violated", "undecided"] = "undecided"
    if decisive.witness:
        verdict = "violated"
    elif all(finding.holds for finding in results):
        verdict = "holds"
    left = fraction_of(max(finding.left for finding in results))
    aside = min(tolerance * SET_ASIDE, max(tolerance, Fraction(1, SET_ASIDE)))
    loss = loss_between(one, other, aside)
    return Verdict(verdict, cost, left, decisive.witness, loss, values, neighbour, decisive.measured)


def compare(
    program: Program,
    neighbour: Program,
    cost: Cost | Eta | Number,
    tolerance: Number = TOLERANCE,
    *,
    seconds: float | None = None,
) -> Verdict:
    """Compare the exact laws of two programs with the cost that they claim. `seconds` is for all of it together.

    A cost is an epsilon, an Eta, or a Cost: `Cost.zcdp(rho, delta)`, or `Cost(epsilon, delta=delta)`.

    >>> from lastbit import Eta
    >>> compare(lambda draw: draw.bernoulli("1/4"), lambda draw: draw.bernoulli("1/8"), Eta(1, 1, 1)).verdict
    'holds'
    >>> compare(lambda draw: draw.bernoulli("1/4"), lambda draw: draw.bernoulli("1/9"), Eta(1, 1, 1)).witness
    (True,)
    >>> compare(lambda draw: draw.bernoulli("1/4"), lambda draw: draw.bernoulli("1/9"), Cost.zcdp("1/20")).verdict
    'violated'
    """
    exact, budget = parse_tolerance(tolerance), TimeBudget(seconds)
    # To compare the laws may take as long as to follow one of them.
    one, other = (law(side, exact, seconds=budget.share(parts)) for side, parts in ((program, 3), (neighbour, 2)))
    return judge(cost, one, other, exact, seconds=budget.share(1))


def check(
    mechanism: Mechanism[Any],
    values: Any,
    neighbour: Any,
    tolerance: Number = TOLERANCE,
    *,
    cost: Cost | Eta | Number | None = None,
    seconds: float | None = None,
) -> Verdict:
    """Compare the exact laws of a mechanism on two neighbouring inputs with its own `cost`, or with a claimed one.

    >>> import lastbit as lb
    >>> lb.audit.check(lb.DiscreteLaplace(epsilon=1), [3], [4]).holds
    True
    >>> max_claimed_too_cheap = lb.audit.check(
    ...     lb.NoisyMax(epsilon=1, resolution=1), [0, 1], [1, 0], "1/1000", cost=Cost.zcdp("1/8")
    ... )
    >>> max_claimed_too_cheap.verdict, max_claimed_too_cheap.claim
    ('violated', 'rho')
    """
    exact, budget = parse_tolerance(tolerance), TimeBudget(seconds)
    laws = MechanismLaws(mechanism, exact)
    one, other = (laws.find(side, seconds=budget.share(parts)) for side, parts in ((values, 3), (neighbour, 2)))
    claimed = mechanism.cost if cost is None else cost
    return judge(claimed, one, other, exact, values, neighbour, seconds=budget.share(1))


def check_all(
    mechanism: Mechanism[Any],
    values: Sequence[Number],
    tolerance: Number = TOLERANCE,
    *,
    cost: Cost | Eta | Number | None = None,
    seconds: float | None = None,
) -> Verdicts:
    """Run `check` against every neighbour on the grid: all inputs that one person can turn these values into.

    Where there is no time for all of them, or there are more than 65,536, `complete` is False and nothing holds.

    >>> import lastbit as lb
    >>> print(lb.audit.check_all(lb.DiscreteLaplace(eta=lb.Eta(1, 1, 1)), [0], tolerance="1/1000"))
    2 neighbours, worst holds: ...
    """
    exact, budget = parse_tolerance(tolerance), TimeBudget(seconds)
    # As many as anyone has time for: there may be more neighbours than memory holds.
    candidates = list(islice(mechanism.neighbours(values), MOST_NEIGHBOURS + 1))
    neighbours, beyond = candidates[:MOST_NEIGHBOURS], candidates[MOST_NEIGHBOURS:]
    if not neighbours:
        raise ParameterError("values must have a neighbour to compare with: got no neighbour. Pass at least one value.")
    laws = MechanismLaws(mechanism, exact)
    one = laws.find(values, seconds=budget.share(2 * len(neighbours) + 1))
    claimed, verdicts = mechanism.cost if cost is None else cost, []
    for before, neighbour in enumerate(neighbours):
        parts = 2 * (len(neighbours) - before)
        other = laws.find(neighbour, seconds=budget.share(parts))
        verdicts.append(judge(claimed, one, other, exact, values, neighbour, seconds=budget.share(parts - 1)))
        if budget.over and before + 1 < len(neighbours):
            return Verdicts(tuple(verdicts), complete=False)
    return Verdicts(tuple(verdicts), complete=not beyond)
