"""Noisy max with a free gap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from lastbit.chance.draw import Draw
from lastbit.mechanisms.top_k.mechanism import Selection, SelectionMechanism


class Maximum(Selection):
    """The one selected: `index`, its `gap` to the runner-up, and `item` when the values were Counts.

    >>> import lastbit as lb
    >>> counts = lb.Counts(items=["flu", "gout"], values=[900, 3], monotone=True)
    >>> found = lb.NoisyMax.of(counts, epsilon=1).release(counts)
    >>> found.item, found.index, found.gap > 800
    ('flu', 0, True)
    """

    @property
    def index(self) -> int:
        """The selected, as a position among the candidates."""
        return self.indices[0]

    @property
    def gap(self) -> Fraction | None:
        """How far it is ahead of the runner-up, exactly; None when there was no other candidate."""
        return self.gaps[0] if self.gaps else None

    @property
    def item(self) -> Any:
        """The selected item; None when the candidates had no names."""
        return None if self.items is None else self.items[0]


@dataclass(frozen=True, kw_only=True)
class NoisyMax(SelectionMechanism[Maximum]):
    """Pick the largest value, with the gap to the runner-up, for the price of picking.

    Paper:    Ding et al., Free Gap Information from the Differentially Private Sparse Vector and Noisy Max Mechanisms,
              Algorithm 2, with exponential noise as in the secure paper: NoisyTopK with k = 1.
    Law:      the largest of value + exponential noise of scale 2·sensitivity/epsilon, half that when monotone; values
              are floored to the resolution before, the gap after.
    Cost:     epsilon (or eta), for any number of candidates.
    Assumes:  the same as NoisyTopK.
    Checked:  tests/laws/test_top_k.py, exactly, with NoisyTopK.
    Speed:    that of NoisyTopK.

    >>> import lastbit as lb
    >>> best = lb.NoisyMax(epsilon=1).release([50, 10, 900])
    >>> best.index, 700 < best.gap < 1000
    (2, True)
    """

    k: int = field(default=1, init=False)

    def ready(self, values: Any) -> Callable[[Draw], Maximum]:
        """Select one of the values: numbers, Counts or a Statistic. There must be at least one."""
        pick, _ = self._ready_selection(values, Maximum.made)
        return pick

    def mirror(self, values: Any) -> tuple[Any, Callable[[Any], Any]] | None:
        """Return the values in descending order, down to 0: candidates are alike, and only differences count."""
        return self._sort_candidates(values, Maximum.made)
