"""Noisy top-k and noisy max, with free gaps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from lastbit.chance.draw import Draw
from lastbit.mechanisms.mechanism import chance
from lastbit.mechanisms.top_k.selecting import Selected, Selecting


class TopK(Selected):
    """The k selected, best first: `indices`, `gaps`, and `items` when the values were Counts."""


class TopItems(TopK):
    """The k items selected from a distributed table, best first. Rows there have no places: `indices` are ranks."""

    def columns(self) -> dict[str, Sequence[Any]]:
        """Who, and the gap to the next."""
        return {name: column for name, column in super().columns().items() if name != "index"}


class Maximum(Selected):
    """The one selected: `index`, its `gap` to the runner-up, and `item` when the values were Counts."""

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
class NoisyTopK(Selecting):
    """Pick the k largest values, with the gap from each to the next, for the price of picking.

    Paper:    Ding et al., A Floating-Point Secure Implementation of the Report Noisy Max with Gap Mechanism,
              Algorithm 4, without its refinement loop: the fractions of a step need an order only.
    Law:      the k+1 largest of value + exponential noise of scale 2·k·sensitivity/epsilon, half that when monotone;
              values are floored to the resolution before, gaps after.
    Cost:     epsilon (or eta), whatever the number of candidates.
    Assumes:  one person moves each value by at most `sensitivity`; when monotone, all of them the same way. The
              candidates are public.
    Checked:  tests/laws/test_top_k.py, exactly: against the integral over continuous noise for n <= 4, against the
              paper's Algorithms 2 and 4, and the loss on all neighbours for n <= 3.
    Speed:    one word a candidate and two passes, while the noise is shorter than about 2^17 steps; then two words or
              more. Those in play (the top k+1, and who came within a thirty-second of the noise of the last of them)
              take two words more. So time and the number of words tell how many are in play: k+1, and how many came
              that close, which depends on the data as well as on the noise.

    >>> import lastbit as lb
    >>> top = lb.NoisyTopK(k=2, epsilon=1, monotone=True).release([5000, 10, 9000, 20])
    >>> top.indices, len(top.gaps)
    ((2, 0), 2)
    >>> 3900 < top.gap_between(0, 1) < 4100
    True
    """

    def release(self, values: Any, draw: Draw | None = None) -> TopK:
        """Select k of the values: numbers, or Counts. There must be at least k."""
        return self._ready(values)(chance(draw))

    def _ready(self, values: Any) -> Callable[[Draw], TopK]:
        pick, _ = self._picking(values)
        return lambda draw: TopK.made(*pick(draw))

    def release_spark(
        self, frame: Any, *, item: str = "item", value: str = "count", draw: Draw | None = None
    ) -> TopItems:
        """Select k rows of a Spark DataFrame with too many candidates for one machine: the same law as `release`.

        Each row is a candidate: a public `item`, and a `value` that one person moves by at most `sensitivity`. The
        noise is drawn in the executors, each with randomness of its own; back comes a shortlist of every partition.
        """
        from lastbit.mechanisms.top_k import spark

        items, gap_steps = spark.select(frame, item, value, self.grid, self.selector, chance(draw))
        return TopItems(self.name, self.cost, tuple(range(self.k)), gap_steps, items, self.grid.resolution)


@dataclass(frozen=True, kw_only=True)
class NoisyMax(Selecting):
    """Pick the largest value, with the gap to the runner-up, for the price of picking.

    Paper:    Ding et al., Free Gap Information from the Differentially Private Sparse Vector and Noisy Max Mechanisms,
              Algorithm 2, with exponential noise as in the secure paper: NoisyTopK with k = 1.
    Law:      the largest of value + exponential noise of scale 2·sensitivity/epsilon, half that when monotone; values
              are floored to the resolution before, the gap after.
    Cost:     epsilon (or eta), whatever the number of candidates.
    Assumes:  what NoisyTopK assumes.
    Checked:  tests/laws/test_top_k.py, exactly, with NoisyTopK.
    Speed:    that of NoisyTopK.

    >>> import lastbit as lb
    >>> best = lb.NoisyMax(epsilon=1).release([50, 10, 900])
    >>> best.index, 700 < best.gap < 1000
    (2, True)
    """

    k: int = field(default=1, init=False)

    def release(self, values: Any, draw: Draw | None = None) -> Maximum:
        """Select one of the values: numbers, or Counts. There must be at least one."""
        return self._ready(values)(chance(draw))

    def _ready(self, values: Any) -> Callable[[Draw], Maximum]:
        pick, _ = self._picking(values)
        return lambda draw: Maximum.made(*pick(draw))
