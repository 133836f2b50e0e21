"""The most common items that nobody listed, best first, for many of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from lastbit.chance.draw import Draw
from lastbit.mechanisms.discover.mechanism import Discovered, ShortlistMechanism, names_above_bottom
from lastbit.privacy import zcdp
from lastbit.privacy.cost import Cost
from lastbit.privacy.rate import Rate
from lastbit.values.grid import LIMIT


@dataclass(frozen=True, kw_only=True)
class DiscoverRanking(ShortlistMechanism[Discovered]):
    """Find the k most common items of a table whose items nobody listed, without gaps. Best for k in the hundreds.

    Paper:    none; the exponential mechanism, k times. Proof: mechanisms/discover.
    Law:      among the `candidates` highest items, dummies of value 0 and a bottom one sensitivity and tau steps above
              the next item, pick one with P(i) proportional to r^-value, take it out, pick the next; items are told
              until the bottom or a dummy comes.
    Cost:     epsilon (or eta), a k-th for each pick, or rho, a k-th for each pick, so that the noise grows with the
              root of k; and delta: m·r^tau for the least tau that keeps delta, m as for DiscoverTopK.
    Assumes:  the same as DiscoverTopK.
    Checked:  tests/laws/test_discover.py: the exact smallest delta at epsilon, on all small data sets and neighbours.
    Speed:    k words, and k passes over the candidates.

    >>> import lastbit as lb
    >>> words = lb.Unlisted.of({"apple": 5000, "pear": 3000, "a name": 1})
    >>> found = DiscoverRanking(k=3, rho="1/100", delta="1e-6").release(words)
    >>> found.items, found.stopped
    (('apple', 'pear'), True)
    """

    _odds: ClassVar[Fraction] = Fraction(1)

    def _noise(self) -> Rate:
        if self.rho is None:
            rate = self.cost.rate(Fraction(1, self.k * self._reach))
            amount = self.cost.amount or Fraction(0)
            self._derive(cost=Cost(self.cost.epsilon, zcdp.range_rho(amount) / self.k))
            return rate
        rho = self.cost.rho if self.cost.stated_rho is None else self.cost.stated_rho
        epsilon = zcdp.range_epsilon_for(rho / self.k)
        self._derive(cost=Cost(epsilon * self.k, rho, in_rho=True))
        return Rate.from_epsilon(epsilon / self._reach)

    def _behind(self, miss: Fraction) -> Fraction:
        # The bottom is picked before the item with probability r^d/(1 + r^d).
        return miss / (1 - miss)

    def ready(self, values: Any) -> Callable[[Draw], Discovered]:
        """Search the items of `Unlisted` values."""
        names, steps = self._shortlist(values)
        name, cost, rate, k = self.name, self.cost, self._rate, self.k
        start = np.subtract(LIMIT, steps)

        def search(draw: Draw) -> Discovered:
            # All k picks are drawn, wherever the bottom comes.
            exponents, places = start, np.arange(len(start))
            picks = []
            for _ in range(k):
                index = draw.power_index(rate, exponents)
                picks.append(int(places[index]))
                exponents, places = np.delete(exponents, index), np.delete(places, index)
            items = names_above_bottom(names, picks)
            return Discovered.made(name, cost, items, len(items) < k)

        return search
