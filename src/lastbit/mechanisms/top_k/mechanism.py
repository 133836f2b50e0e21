"""The base of mechanisms that select k of n candidates, and of the releases they publish."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np

from lastbit.chance.draw import Draw, Samples
from lastbit.errors import ParameterError
from lastbit.estimate.accuracy import least_exponent
from lastbit.exact.numbers import Number, flag, probability, shorten, whole
from lastbit.mechanisms.grid_mechanism import GridMechanism
from lastbit.mechanisms.mechanism import Released
from lastbit.mechanisms.top_k.selector import MOST_CANDIDATES, ScaledValues, Selector, StepsOf
from lastbit.output.picture import Panel
from lastbit.output.words import plural
from lastbit.privacy.rate import Rate
from lastbit.release import Interval, Release
from lastbit.values.grid import LIMIT, Grid
from lastbit.values.known import lies_on, lost_steps, unpack_values
from lastbit.values.spark_counts import SparkCounts


@dataclass(frozen=True, eq=False, repr=False)
class Selection(Release):
    """The base of all selections: the selected candidates, and how far each is ahead of the next."""

    indices: tuple[int, ...]
    """The selected, best first, as positions among the candidates."""
    ahead: Samples
    """`gap_steps` as they were drawn, in an array."""
    items: tuple[Any, ...] | None
    """The selected items, when the values were Counts."""
    resolution: Fraction = field(hash=False)
    candidates: int = field(compare=False)
    """The number of candidates."""
    selection_rate: Rate = field(compare=False)
    """The rate of the noise that selected."""
    above: int = field(compare=False)
    """How many steps higher the exact values may lie, which were floored; 0 where the values lie on the grid."""

    @cached_property
    def gap_steps(self) -> tuple[int, ...]:
        """`gaps` in units of the resolution."""
        return tuple(np.asarray(self.ahead).tolist())

    @cached_property
    def gaps(self) -> tuple[Fraction, ...]:
        """How far each selected is ahead of the next, exactly; the last has no gap when everyone was selected."""
        return Grid(self.resolution).values(self.gap_steps)

    @property
    def gaps_float(self) -> tuple[float, ...]:
        """`gaps` as the nearest floats."""
        return tuple(float(gap) for gap in self.gaps)

    def gap_between(self, i: int, j: int) -> Fraction:
        """Return how far the selected of rank i is ahead of that of rank j: 0 is the best, and behind is negative.

        It is the sum of the gaps between them. Each was floored, so it is low by less than one resolution a rank.
        """
        i, j = whole(i, "i", least=0), whole(j, "j", least=0)
        if max(i, j) >= len(self.indices):
            raise ParameterError(f"ranks must be from 0 to {len(self.indices) - 1}: got {i} and {j}.")
        return (sum(self.gap_steps[i:j]) - sum(self.gap_steps[j:i])) * self.resolution

    def gap_intervals(self, level: Number = "0.95") -> tuple[Interval, ...]:
        """Return a confidence interval for each true gap. All hold together with at least this probability.

        With this probability every candidate's noise is below m steps, for the least such m. Then every true gap is
        less than m steps from the published one. Values that were floored may lie `above` steps higher, which adds so
        many on either side.

        >>> import lastbit as lb
        >>> top = lb.NoisyTopK(k=1, epsilon=1, resolution=1, monotone=True).release([500, 0])
        >>> low, high = top.gap_intervals("0.95")[0]
        >>> high - low
        Fraction(7, 1)
        """
        return self._gap_intervals(level)

    def _gap_intervals(self, level: Number, most: int | None = None) -> tuple[Interval, ...]:
        reach = noise_bound(self.selection_rate, self.candidates, level) + self.above
        value = Grid(self.resolution).value
        return tuple((value(gap - reach + 1), value(gap + reach)) for gap in self.gap_steps[:most])

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the selected, and the gap from each to the next."""
        no_next = [None] * (len(self.indices) - len(self.gap_steps))
        items: dict[str, Sequence[Any]] = {} if self.items is None else {"item": self.items}
        return {**items, "index": self.indices, "gap": [*self.gaps, *no_next]}

    def error_bars(self, level: Number = "0.95", most: int | None = None) -> dict[str, Sequence[Interval | None]]:
        """Return the confidence interval of each gap."""
        no_next = [None] * (len(self.indices) - len(self.gap_steps))
        return {"gap": [*self._gap_intervals(level, most), *no_next][:most]}

    def panels(self, level: Number = "0.95") -> Sequence[Panel]:
        """Return the gaps as gaps"""
        bars, columns = self.error_bars(level)["gap"], self.columns()
        behind = list(accumulate(reversed(self.gaps), initial=Fraction(0)))
        name, label = "ahead of the next", next(iter(columns))
        return [Panel(name, columns[label], columns["gap"], label, bars, bottoms=[*behind[-2::-1], 0][: len(bars)])]


Made = TypeVar("Made")
"""What is made of the fields of a Selected."""


@dataclass(frozen=True, kw_only=True)
class SelectionMechanism(GridMechanism[Released]):
    """A mechanism that begins by selecting k of its values."""

    k: int
    resolution: Number = "1/10"
    monotone: bool = False
    _selector: Selector = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._derive(monotone=flag(self.monotone, "monotone"))
        k = whole(self.k, "k")
        if k > MOST_CANDIDATES:
            raise ParameterError(f"k must be at most 2^40, more than any table has items: got {shorten(Fraction(k))}.")
        # Where values can move against each other, a selected value can fall while the runner-up rises.
        apart = self._reach if self.monotone else 2 * self._reach
        self._derive(k=k, _selector=Selector.of(k, self.cost.rate(self._selection_share() / (k * apart))))

    def _selection_share(self) -> Fraction:
        """Return the part of the cost that the selection may use."""
        return Fraction(1)

    def _ready_selection(self, values: Any, publish: Callable[..., Made]) -> tuple[Callable[[Draw], Made], StepsOf]:
        """Return a selection among these values, `publish` of its fields, and the steps of any value."""
        numbers, items = unpack_values(values, self._furthest, self.monotone)
        n, steps_of, scaled_values = self._candidates(numbers)
        above = lost_steps(values, self.grid)
        check_enough(self.k, n)
        name, cost, resolution, selector = self.name, self.cost, self.grid.resolution, self._selector

        def pick(draw: Draw) -> Made:
            indices, ahead = selector.select(n, steps_of, draw, scaled_values)
            ahead.setflags(write=False)
            names = None if items is None else tuple([items[index] for index in indices])
            return publish(name, cost, indices, ahead, names, resolution, n, selector.rate, above)

        return pick, steps_of

    def _sort_candidates(
        self, values: Any, publish: Callable[..., Made]
    ) -> tuple[tuple[Fraction, ...], Callable[[Selection], Made]] | None:
        """Return bare numbers from the largest down to 0, and the way back from a selection of them: see `mirror`.

        The noise is alike for all candidates and independent, so candidates in another order are selected in that
        order. Only differences of steps count, so all may move together, as long as none is clamped.
        """
        if type(values) not in (list, tuple) or not values:
            return None
        steps = self.grid.steps(values).tolist()
        order = sorted(range(len(steps)), key=steps.__getitem__, reverse=True)
        least = steps[order[-1]]
        if steps[order[0]] - least > self.grid.last:
            return None
        above = lost_steps(values, self.grid)

        def rename(release: Selection) -> Made:
            places = tuple([order[index] for index in release.indices])
            return publish(
                release.mechanism, release.cost, places, release.ahead, None,
                release.resolution, release.candidates, release.selection_rate, above,
            )  # fmt: skip

        return tuple((steps[place] - least) * self.grid.resolution for place in order), rename

    def _candidates(self, values: Any) -> tuple[int, StepsOf, ScaledValues | None]:
        """Return how many there are, and the steps of any of them: arrays
        are converted part by part, as they are needed.
        """
        grid = self.grid
        if isinstance(values, np.ndarray) and values.dtype.kind != "O":
            flat = values.ravel()
            scaling = grid.scaling(flat)
            scaled_values = None if scaling is None else (flat, *scaling)
            return len(flat), lambda part: grid.steps(flat[part]), scaled_values
        steps = grid.steps(values)
        return len(steps), steps.__getitem__, (steps, 1, LIMIT, LIMIT)


def check_enough(k: int, n: int) -> None:
    """Refuse fewer candidates than are to be selected: how many there are is public."""
    if n < k:
        raise ParameterError(
            f"k must be at most the number of candidates: got k={k} and {plural(n, 'candidate')}. "
            "Ask for fewer, or offer more. Nothing was drawn."
        )


def steps_in_one(values: SparkCounts, grid: Grid) -> int:
    """Return how many steps of the grid a step of the counts is, refused where the counts are not on the grid."""
    if not lies_on(values, grid):
        raise ParameterError(
            f"resolution must divide that of the counts: got {grid.resolution} and {values.resolution}. Build the "
            f"mechanism with resolution={values.resolution}. Nothing was drawn."
        )
    return int(Fraction(values.resolution) / grid.resolution)


def noise_bound(rate: Rate, n: int, level: Number) -> int:
    """Return the least m such that n exponential noises are all below m steps with at least this probability.

    By the union bound that is the least m with n·r^m <= 1 - level. The bound holds for any data and for any
    selection. Where every noise is below m steps, no candidate left out is m steps or more above a selected one.

    >>> noise_bound(Rate(1, 1), 1, "0.9")
    4
    """
    return max(1, least_exponent(rate, (1 - probability(level, "level")) / n))
