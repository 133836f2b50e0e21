"""What is known about a broken mechanism."""

from __future__ import annotations

from dataclasses import dataclass

from lastbit.exact.numbers import Cost
from lastbit.mechanisms.mechanism import Program


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
    cost: Cost
    repaired: tuple[Program, Program] | None = None
