"""One broken mechanism: where it is printed, and the programs that prove it broken."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from lastbit.mechanisms.mechanism import Program
from lastbit.privacy.cost import Cost
from lastbit.privacy.eta import Eta


@dataclass(frozen=True)
class Case:
    """A program that loses more than its cost between two neighbouring inputs, and why.

    `source` says where the mechanism is printed; `repaired` are the corrected programs on the same inputs, if any.
    """

    name: str
    source: str
    why: str
    program: Program
    neighbour: Program
    cost: Cost | Eta | Fraction
    repaired: tuple[Program, Program] | None = None
