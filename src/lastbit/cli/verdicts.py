"""What the auditor found, in one unit: as a line for people and as plain data for programs."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import ParameterError
from lastbit.output.numbers import Rounding, format_digits

if TYPE_CHECKING:
    from lastbit.audit.laws import Law
    from lastbit.audit.losses import Loss
    from lastbit.audit.verdict import Verdict
    from lastbit.privacy.cost import Cost

UNITS: Final = {"nats": 1.0, "bits": math.log(2)}
_WITNESSES: Final = 3


@dataclass(frozen=True)
class Unit:
    """The unit of all losses of an answer: nats, in which epsilon is stated, or bits."""

    name: str

    def __post_init__(self) -> None:
        if self.name not in UNITS:
            raise ParameterError(f"--unit must be bits or nats: got {self.name}.")

    def number(self, nats: float, rounding: Rounding = "nearest") -> float | None:
        """Return a loss in this unit; None where it has no end. A bound says which way it is rounded."""
        if math.isinf(nats):
            return None
        amount = nats / UNITS[self.name]
        if rounding == "nearest" or not amount or self.name == "nats":
            return amount
        # The float of log 2 and the division are off by less than two steps together.
        end = -math.inf if rounding == "down" else math.inf
        return math.nextafter(math.nextafter(amount, end), end)

    def text(self, nats: float, rounding: Rounding = "nearest") -> str:
        """Return a loss in this unit, as people read it.

        >>> Unit("bits").text(math.log(8)), Unit("nats").text(math.inf), Unit("nats").text(2 / 3, "down")
        ('3 bits', '∞ nats', '0.666666 nats')
        """
        amount = self.number(nats, rounding)
        return f"{'∞' if amount is None else format_digits(amount, 6, rounding)} {self.name}"

    def claim(self, cost: Cost) -> str:
        """Return a claimed cost: its epsilon in this unit, its rho and its delta as they are."""
        parts = []
        if cost.claimed_epsilon is not None:
            parts.append(self.text(float(cost.claimed_epsilon)))
        if cost.claimed_rho is not None:
            parts.append(f"rho {float(cost.claimed_rho):.6g}")
        if cost.delta:
            parts.append(f"delta {float(cost.delta):.6g}")
        return ", ".join(parts)

    def loss(self, loss: Loss, within: float = math.inf) -> str:
        """Return a loss between its two bounds, rounded outwards; `within` is a claim that was proved to hold."""
        apart = f" but for a probability of {format_digits(loss.delta, 3, 'up')}" if loss.delta else ""
        if math.isinf(loss.upper):
            return f"loss at least {self.text(loss.lower, 'down')}"
        most = self.text(within) if within <= loss.upper else self.text(loss.upper, "up")
        return f"loss from {self.text(loss.lower, 'down').split()[0]} to {most}{apart}"

    def verdict(self, verdict: Verdict) -> str:
        """Return a verdict in one line: the answer, what was found, what was claimed, and the proof."""
        plain = verdict.measured.claim == "epsilon" and not verdict.cost.delta
        # A float above the loss may be above the claim, too, which was judged exactly.
        proved = verdict.cost.amount if plain and verdict.holds else None
        loss = self.loss(verdict.loss, math.inf if proved is None else float(proved))
        evidence = loss if plain else f"{verdict.measured}; {loss}"
        holds = f", which holds but for a probability of {format_digits(verdict.delta, 3, 'up')}"
        apart = holds if verdict.holds and verdict.delta else ""
        return f"{verdict.verdict}: {evidence}; claimed {self.claim(verdict.cost)}{apart}{self._proof(verdict.witness)}"

    def _proof(self, witness: Sequence[Hashable]) -> str:
        from lastbit.audit.laws import render_outcome

        more = f" and {len(witness) - _WITNESSES:,} more" if len(witness) > _WITNESSES else ""
        return f"; witness {', '.join(map(render_outcome, witness[:_WITNESSES]))}{more}" if witness else ""

    def loss_data(self, loss: Loss) -> dict[str, Any]:
        """Return a loss for JSON; null stands for a bound that is infinite."""
        bounds = {"at_least": self.number(loss.lower, "down"), "at_most": self.number(loss.upper, "up")}
        return {"unit": self.name, "loss": {**bounds, "but_for": float(loss.delta)}}

    def verdict_data(self, verdict: Verdict) -> dict[str, Any]:
        """Return a verdict for JSON."""
        from lastbit.audit.laws import render_outcome

        cost = verdict.cost
        epsilon = None if cost.claimed_epsilon is None else self.number(float(cost.claimed_epsilon))
        rho = None if cost.claimed_rho is None else float(cost.claimed_rho)
        claim = {"epsilon": epsilon, "rho": rho, "delta": float(cost.delta), "text": cost.text}
        values = {"values": texts_of(verdict.values), "neighbour": texts_of(verdict.neighbour)}
        return {
            "verdict": verdict.verdict, **self.loss_data(verdict.loss), "claimed": claim,
            "witness": [render_outcome(value) for value in verdict.witness[:100]],
            **{name: value for name, value in values.items() if value is not None},
        }  # fmt: skip


def texts_of(values: Any) -> list[str] | None:
    """Return values that a person gave to the auditor, as text."""
    return None if values is None else [str(value) for value in values]


def law_data(law: Law) -> list[dict[str, Any]]:
    """Return a law for JSON: every outcome with its probability, likeliest first."""
    from lastbit.audit.laws import render_outcome

    ordered: list[tuple[Hashable, Fraction]] = sorted(law.masses.items(), key=lambda item: -item[1])
    return [{"outcome": render_outcome(outcome), "probability": mass} for outcome, mass in ordered]


def describe_branches(laws: Sequence[Law]) -> str:
    """Return in words how far the laws were followed."""
    unexplored = max(law.unexplored for law in laws)
    branches = f"{sum(law.branches for law in laws):,} branches followed"
    return (
        f"{branches}, all of them"
        if not unexplored
        else f"{branches}, {format_digits(unexplored, 3, 'up')} of the probability unexplored"
    )
