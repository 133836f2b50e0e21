"""What an attack achieved, as exact probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Attack:
    """An attacker sees one release and says which of two neighbouring databases it came from.

    The advantage is how much likelier the attacker says "the first" on the first than on the second: 0 is a coin, 1 is
    certainty.

    >>> print(Attack("coin", "nobody", Fraction(0), Fraction(0), Fraction(1, 2)))
    coin (nobody): advantage 0 against the naive mechanism; 0 against ours, which allows 0.5
    """

    name: str
    source: str
    naive_advantage: Fraction
    our_advantage: Fraction
    our_bound: Fraction
    """No attacker does better against a mechanism of our cost: (e^cost - 1)/(e^cost + 1), or a hair above."""

    @property
    def succeeds(self) -> bool:
        """Whether the naive mechanism gives away more than ours may."""
        return self.naive_advantage > self.our_bound

    @property
    def withstood(self) -> bool:
        """Whether ours gives away no more than it may."""
        return self.our_advantage <= self.our_bound

    def __str__(self) -> str:
        naive, ours, bound = (f"{float(x):.6g}" for x in (self.naive_advantage, self.our_advantage, self.our_bound))
        return (
            f"{self.name} ({self.source}): advantage {naive} against the naive mechanism; "
            f"{ours} against ours, which allows {bound}"
        )
