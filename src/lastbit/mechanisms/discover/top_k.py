"""The most common items that nobody listed, with the gap from each to the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np

from lastbit.chance.draw import Draw, Samples
from lastbit.exact.numbers import Number
from lastbit.mechanisms.discover.mechanism import Discovered, ShortlistMechanism, names_above_bottom
from lastbit.mechanisms.top_k.selector import Selector
from lastbit.output.picture import Panel
from lastbit.privacy.rate import Rate
from lastbit.values.grid import Grid


@dataclass(frozen=True, eq=False, repr=False)
class DiscoveredTopK(Discovered):
    """The items that were found, best first: `items`, `gaps`, and whether the search `stopped` before k.

    >>> import lastbit as lb
    >>> terms = lb.Unlisted.of({"flu": 5200, "cold": 3100, "a rare name": 1})
    >>> found = lb.DiscoverTopK(k=3, epsilon=3, delta="1e-6").release(terms)
    >>> found.items, found.gaps[0] > 2000, found.stopped
    (('flu', 'cold'), True, True)
    """

    ahead: Samples
    """`gaps` in units of the resolution, as they were drawn."""
    resolution: Fraction = field(hash=False)

    @cached_property
    def gaps(self) -> tuple[Fraction, ...]:
        """How far each item is ahead of the next, exactly; where the search stopped, the last gap is to the bottom."""
        return Grid(self.resolution).values(np.asarray(self.ahead).tolist())

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return rank, item, and the gap to the next item or to the bottom."""
        return {**super().columns(), "gap": self.gaps}

    def panels(self, level: Number = "0.95") -> Sequence[Panel]:
        """Return the gaps as gaps"""
        behind = list(accumulate(reversed(self.gaps), initial=Fraction(0)))
        return [Panel("ahead of the next", self.items, self.gaps, "item", bottoms=behind[-2::-1])]


@dataclass(frozen=True, kw_only=True)
class DiscoverTopK(ShortlistMechanism[DiscoveredTopK]):
    """Find the k most common items of a table whose items nobody listed, with free gaps. Best for k up to a few tens.

    Paper:    none; after Durfee and Rogers (2019), with exponential noise and gaps. Proof: mechanisms/discover.
    Law:      NoisyTopK, monotone, on the `candidates` highest items, filled up with dummies of value 0, and a bottom
              one sensitivity and tau steps above the next item; items are told in order until the bottom or a dummy
              comes, each with its gap to the next.
    Cost:     epsilon (or eta, or rho) and delta: m·r^tau/2 for the least tau that keeps delta, with
              m = min(most_items, candidates), or the candidates where one person may have any number of items.
    Assumes:  one person who comes or goes moves each value by at most `sensitivity`, all the same way, and at most
              `most_items` of them where that is stated.
    Checked:  tests/laws/test_discover.py: the exact smallest delta at epsilon, on all small data sets and neighbours.
    Speed:    that of NoisyTopK on the candidates; the table is counted in its own engine.

    >>> import lastbit as lb
    >>> words = lb.Unlisted.of({"apple": 5000, "pear": 3000, "a name": 1})
    >>> found = DiscoverTopK(k=3, epsilon=1, delta="1e-6").release(words)
    >>> found.items, found.stopped, 1800 < found.gaps[0] < 2200
    (('apple', 'pear'), True, True)
    """

    resolution: Number = "1/10"
    _odds: ClassVar[Fraction] = Fraction(1, 2)
    _selector: Selector = field(init=False, repr=False, compare=False)

    def _noise(self) -> Rate:
        rate = self.cost.rate(Fraction(1, self.k * self._reach))
        self._derive(_selector=Selector.of(self.k, rate))
        return rate

    def _behind(self, miss: Fraction) -> Fraction:
        # Two equal noises: the bottom's is more than d - 1 steps larger with probability r^d/(1+r).
        return miss * (1 + self._rate.fraction)

    def ready(self, values: Any) -> Callable[[Draw], DiscoveredTopK]:
        """Search the items of `Unlisted` values."""
        names, steps = self._shortlist(values)
        name, cost, resolution, selector = self.name, self.cost, self.grid.resolution, self._selector

        def search(draw: Draw) -> DiscoveredTopK:
            indices, ahead = selector.select(len(steps), steps.__getitem__, draw)
            items = names_above_bottom(names, indices)
            ahead = ahead[: len(items)]
            ahead.setflags(write=False)
            return DiscoveredTopK.made(name, cost, items, len(items) < selector.k, ahead, resolution)

        return search
