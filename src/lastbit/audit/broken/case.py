"""What is known about a broken mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from lastbit.mechanisms.mechanism import Program
from lastbit.privacy.cost import Cost
from lastbit.privacy.eta import Eta


@dataclass(frozen=True)
class Case:
    """A program that spends more than its cost between two neighbouring inputs, and why.

    `source` says where it is printed; `repaired` is the same instance put right, where there is such a thing.
    """

    name: str
    source: str
    why: str
    program: Program
    neighbour: Program
    cost: Cost | Eta | Fraction
    repaired: tuple[Program, Program] | None = None
