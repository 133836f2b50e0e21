"""The success of an attack, as exact probabilities; and all attacks of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from pkgutil import iter_modules

from lastbit.audit import attacks as folder


@dataclass(frozen=True)
class Attack:
    """An attacker sees one release and says which of two neighbouring databases it came from.

    The advantage is P(the attacker says "the first" on the first) - P(the attacker says "the first" on the second): 0
    for a coin, 1 for certainty.

    >>> print(Attack("coin", "nobody", Fraction(0), Fraction(0), Fraction(1, 2)))
    coin (nobody): advantage 0 against the naive mechanism; 0 against ours, which allows 0.5
    """

    name: str
    source: str
    naive_advantage: Fraction
    our_advantage: Fraction
    our_bound: Fraction
    """The largest advantage that our cost allows: (e^cost - 1)/(e^cost + 1), rounded up."""

    @property
    def succeeds(self) -> bool:
        """Whether the naive mechanism gives away more than our cost allows."""
        return self.naive_advantage > self.our_bound

    @property
    def fails_on_ours(self) -> bool:
        """Whether our mechanism gives away no more than its cost allows."""
        return self.our_advantage <= self.our_bound

    def __str__(self) -> str:
        naive, ours, bound = (f"{float(x):.6g}" for x in (self.naive_advantage, self.our_advantage, self.our_bound))
        return (
            f"{self.name} ({self.source}): advantage {naive} against the naive mechanism; "
            f"{ours} against ours, which allows {bound}"
        )


def all_attacks() -> Iterator[Attack]:
    """Run all attacks, one after the other: those of each module in this folder that has an `attacks` function.

    >>> all(attack.succeeds and attack.fails_on_ours for attack in all_attacks())
    True
    """
    for module in sorted(info.name for info in iter_modules(folder.__path__)):
        yield from getattr(import_module(f"{folder.__name__}.{module}"), "attacks", tuple)()
