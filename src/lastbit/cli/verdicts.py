"""What the auditor found, in one unit: as a line for people and as plain data for programs."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import ParameterError

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

    def number(self, nats: float) -> float | None:
        """A loss in this unit; None where it has no end."""
        return None if math.isinf(nats) else nats / UNITS[self.name]

    def text(self, nats: float) -> str:
        """A loss in this unit, as people read it.

        >>> Unit("bits").text(math.log(8)), Unit("nats").text(math.inf)
        ('3 bits', '∞ nats')
        """
        found = self.number(nats)
        return f"{'∞' if found is None else f'{found:.6g}'} {self.name}"

    def claim(self, cost: Cost) -> str:
        """A claimed cost: its epsilon in this unit, its rho and its delta as they are."""
        parts = []
        if cost.amount is not None and not cost.in_rho:
            parts.append(self.text(float(cost.amount)))
        if cost.epsilon is None or cost.stated_rho is not None:
            parts.append(f"rho {float(cost.rho):.6g}")
        if cost.delta:
            parts.append(f"delta {float(cost.delta):.6g}")
        return ", ".join(parts)

    def loss(self, loss: Loss) -> str:
        """A loss between its two bounds."""
        apart = f" but for a probability of {float(loss.delta):.3g}" if loss.delta else ""
        if math.isinf(loss.upper):
            return f"loss at least {self.text(loss.lower)}"
        return f"loss from {self.text(loss.lower).split()[0]} to {self.text(loss.upper)}{apart}"

    def verdict(self, verdict: Verdict) -> str:
        """A verdict in one line: the answer, what was found, what was claimed, and the proof."""
        plain = verdict.measured.claim == "epsilon" and not verdict.cost.delta
        found = self.loss(verdict.loss) if plain else f"{verdict.measured}; {self.loss(verdict.loss)}"
        holds = f", which holds but for a probability of {float(verdict.delta):.3g}"
        apart = holds if verdict.holds and verdict.delta else ""
        return f"{verdict.verdict}: {found}; claimed {self.claim(verdict.cost)}{apart}{self._proof(verdict.witness)}"

    def _proof(self, witness: Sequence[Hashable]) -> str:
        from lastbit.audit.laws import shown

        more = f" and {len(witness) - _WITNESSES:,} more" if len(witness) > _WITNESSES else ""
        return f"; witness {', '.join(map(shown, witness[:_WITNESSES]))}{more}" if witness else ""

    def loss_data(self, loss: Loss) -> dict[str, Any]:
        """A loss for JSON; null stands for a bound that is infinite."""
        both = {"at_least": self.number(loss.lower), "at_most": self.number(loss.upper)}
        return {"unit": self.name, "loss": {**both, "but_for": float(loss.delta)}}

    def verdict_data(self, verdict: Verdict) -> dict[str, Any]:
        """A verdict for JSON."""
        from lastbit.audit.laws import shown

        cost = verdict.cost
        epsilon = None if cost.amount is None or cost.in_rho else self.number(float(cost.amount))
        rho = None if cost.epsilon is not None and cost.stated_rho is None else float(cost.rho)
        claimed = {"epsilon": epsilon, "rho": rho, "delta": float(cost.delta), "text": cost.text}
        values = {"values": written(verdict.values), "neighbour": written(verdict.neighbour)}
        return {
            "verdict": verdict.verdict, **self.loss_data(verdict.loss), "claimed": claimed,
            "witness": [shown(each) for each in verdict.witness[:100]],
            **{name: each for name, each in values.items() if each is not None},
        }  # fmt: skip


def written(values: Any) -> list[str] | None:
    """Values that a person gave to the auditor, as text."""
    return None if values is None else [str(each) for each in values]


def law_data(law: Law) -> list[dict[str, Any]]:
    """A law for JSON: every outcome with its probability, likeliest first."""
    from lastbit.audit.laws import shown

    ordered: list[tuple[Hashable, Fraction]] = sorted(law.masses.items(), key=lambda item: -item[1])
    return [{"outcome": shown(each), "probability": mass} for each, mass in ordered]


def explored(laws: Sequence[Law]) -> str:
    """How far the laws were followed."""
    left = max(law.unexplored for law in laws)
    branches = f"{sum(law.branches for law in laws):,} branches followed"
    return f"{branches}, all of them" if not left else f"{branches}, {float(left):.3g} of the probability unexplored"
