"""The exact output law of a program."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from lastbit.audit.enumerator import Enumerator
from lastbit.errors import ParameterError
from lastbit.exact import Number, number
from lastbit.mechanisms.mechanism import Program
from lastbit.release import text_table

TOLERANCE: Final = Fraction(1, 1 << 40)


@dataclass(frozen=True)
class Law:
    """What a program publishes, and how likely each outcome is: exactly, up to what was left unexplored.

    `law[outcome]` encloses the probability of an outcome, seen or not. The two ends differ by `unexplored`, which is 0
    when every branch was followed.
    """

    masses: Mapping[Hashable, Fraction]
    unexplored: Fraction
    branches: int

    def __getitem__(self, outcome: Hashable) -> tuple[Fraction, Fraction]:
        lower = self.masses.get(outcome, Fraction(0))
        return lower, lower + self.unexplored

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.masses)

    def __len__(self) -> int:
        return len(self.masses)

    def __str__(self) -> str:
        ordered = sorted(self.masses.items(), key=lambda item: -item[1])
        table = text_table(
            ["outcome", "probability", "at least"],
            [[str(outcome), f"{float(mass):.6g}", _short(mass)] for outcome, mass in ordered],
        )
        left = f"unexplored {float(self.unexplored):.3g}" if self.unexplored else "every branch explored"
        return f"{len(self):,} outcomes on {self.branches:,} branches, {left}\n{table}"


def _short(mass: Fraction) -> str:
    text = str(mass)
    return text if len(text) <= 24 else "…"


def law(program: Program, tolerance: Number = TOLERANCE, *, seconds: float | None = None) -> Law:
    """The output law of a program: any callable that takes a Draw and returns something hashable.

    Endless draws are followed until less than `tolerance` is left open, or until `seconds` have passed.

    >>> dice = law(lambda draw: draw.integer(6) + draw.integer(6) + 2)
    >>> dice[7]
    (Fraction(1, 6), Fraction(1, 6))
    """
    exact = number(tolerance, "tolerance")
    if not 0 <= exact < 1:
        raise ParameterError(f"tolerance must be from 0 to below 1: got {tolerance}. It is a probability.")
    enumerator = Enumerator()
    masses, unexplored = enumerator.explore(program, exact, seconds=seconds)
    return Law(masses, unexplored, enumerator.branches)
