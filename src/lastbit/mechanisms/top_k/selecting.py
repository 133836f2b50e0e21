"""What the mechanisms that select k of n candidates have in common: their parameters, and what they publish."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from lastbit.chance.draw import Draw
from lastbit.errors import ParameterError
from lastbit.exact.numbers import Cost, Number, flag, rate_of, whole
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.mechanisms.top_k.selector import Selector, StepsOf
from lastbit.release import Release
from lastbit.values.counts import unpacked
from lastbit.values.grid import Grid


@dataclass(frozen=True, eq=False)
class Selected(Release):
    """What every selection publishes: who, and how far each is ahead of the next."""

    indices: tuple[int, ...]
    """The selected, best first, as positions among the candidates."""
    gap_steps: tuple[int, ...]
    """`gaps` in units of the resolution."""
    items: tuple[Any, ...] | None
    """The selected items, when the values were Counts."""
    resolution: Fraction = field(hash=False)

    @cached_property
    def gaps(self) -> tuple[Fraction, ...]:
        """How far each selected is ahead of the next, exactly; the last has no gap when everyone was selected."""
        return Grid(self.resolution).values(self.gap_steps)

    @property
    def gaps_float(self) -> tuple[float, ...]:
        """`gaps` as the nearest floats."""
        return tuple(float(gap) for gap in self.gaps)

    def gap_between(self, i: int, j: int) -> Fraction:
        """How far the selected of rank i is ahead of that of rank j: 0 is the best, and behind is negative.

        It is the sum of the gaps between them. Each was floored, so it is low by less than one resolution a rank.
        """
        i, j = whole(i, "i", least=0), whole(j, "j", least=0)
        if max(i, j) >= len(self.indices):
            raise ParameterError(f"ranks must be from 0 to {len(self.indices) - 1}: got {i} and {j}.")
        return (sum(self.gap_steps[i:j]) - sum(self.gap_steps[j:i])) * self.resolution

    def columns(self) -> dict[str, Sequence[Any]]:
        """Who, and the gap to the next."""
        no_next = [None] * (len(self.indices) - len(self.gap_steps))
        items: dict[str, Sequence[Any]] = {} if self.items is None else {"item": self.items}
        return {**items, "index": self.indices, "gap": [*self.gaps, *no_next]}


Fields = tuple[str, Cost, tuple[int, ...], tuple[int, ...], tuple[Any, ...] | None, Fraction]
"""Those of a Selected."""


@dataclass(frozen=True, kw_only=True)
class Selecting(Mechanism):
    """A mechanism that begins by selecting k of its values."""

    k: int
    resolution: Number = "1/10"
    monotone: bool = False
    selector: Selector = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._derive(monotone=flag(self.monotone, "monotone"))
        k = whole(self.k, "k")
        # Where values can move against each other, one selected can lose what the runner-up gains.
        apart = self.reach if self.monotone else 2 * self.reach
        self._derive(k=k, selector=Selector.of(k, rate_of(self.cost, self._selection_share() / (k * apart))))

    def _selection_share(self) -> Fraction:
        """The part of the cost that the selection may use."""
        return Fraction(1)

    def _picking(self, values: Any) -> tuple[Callable[[Draw], Fields], StepsOf]:
        """A selection among these values, and the steps of any of them."""
        bare, items = unpacked(values, self.furthest, self.monotone)
        n, steps_of = self._candidates(bare)
        if n < self.k:
            raise ParameterError(
                f"k must be at most the number of candidates: got k={self.k} and {n:,} candidates. "
                "Ask for fewer, or offer more. Nothing was drawn."
            )
        name, cost, resolution = self.name, self.cost, self.grid.resolution

        def pick(draw: Draw) -> Fields:
            indices, gap_steps = self.selector.select(n, steps_of, draw)
            names = None if items is None else tuple([items[index] for index in indices])
            return name, cost, indices, gap_steps, names, resolution

        return pick, steps_of

    def _candidates(self, values: Any) -> tuple[int, StepsOf]:
        """How many there are, and the steps of any of them: arrays are converted part by part, as they are needed."""
        if isinstance(values, np.ndarray) and values.dtype != object:
            flat = values.ravel()
            return len(flat), lambda part: self.grid.steps(flat[part])
        steps = self.grid.steps(values)
        return len(steps), steps.__getitem__
