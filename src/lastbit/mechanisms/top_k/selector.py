"""The selection itself, on whole steps: which candidates are on top after noise, and by how much.

Exponential noise is a whole number of steps, geometric, and a fraction of one. The fractions are alike for all
candidates and independent of the steps, so all that matters of them is their order: one uniform permutation.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lastbit.chance._cells import Cells
from lastbit.chance.distributions import geometric
from lastbit.chance.draw import ROOM, Draw, Samples
from lastbit.chance.sampler import Sampler
from lastbit.mechanisms.top_k._ranks import named, selected
from lastbit.mechanisms.top_k.ranking import highest, near, rank_steps
from lastbit.privacy.dyadic import MAX_RATE_BITS
from lastbit.privacy.rate import Rate
from lastbit.values._floors import add_scaled
from lastbit.values.grid import Steps

_COARSE_BITS: Final = 40
"""The first look at everyone has a scale below 2^40: up to there a geometric takes one word, and is the whole noise."""

_CHUNK: Final = 1 << 16
"""Candidates whose steps are in hand at a time: the memory that a selection needs beyond one array."""

_EVERYONE: Final = 64
"""So few candidates all get an L: to look for the highest takes as long, and a time that depends on their order."""

MOST_CANDIDATES: Final = 1 << 40
"""More than any number of candidates."""

_AT_ONCE: Final = 1 << 12
"""So many candidates are selected from in one pass: their words and noise stay in the first caches."""

ScaledValues = tuple[NDArray[np.int64], int, int, int]
"""Whole values, and how a kernel brings them into steps: see `Grid.scaling`."""

StepsOf = Callable[[slice | list[int]], Steps]
"""The steps of some of the candidates."""


@dataclass(frozen=True)
class Selector:
    """The k largest of steps + exponential noise of this rate, and the floor of each gap to the next.

    A geometric X is V·M + L with V geometric of rate r^M, L geometric below M and independent of V. Every
    candidate gets a V. A candidate that can still reach the top k+1 with some L is in play, and only candidates in play
    need an L and a place in the permutation. The candidates in play and the `width` highest get both. The V alone
    decide which candidates these are, so this is the law in which every candidate gets both.

    How many words are read is public: `width` depends on k and the rate, and more than so many are in play with a
    probability below 2^-64, whatever the values. For let everyone climb by M at a time, each time on with probability
    q = r^M, the lowest of those who still climb first. When `width` - 1 still climb, the lowest of them is at some h,
    and nobody else is above h. One of the others is in play only if at most k of the climbers reach h + M, and each
    does with probability q at least, whatever the others do: P(Binomial(width - 1, q) <= k).
    """

    k: int
    rate: Rate
    shift: int
    """log2 of M."""
    coarse: Rate = field(init=False, repr=False, compare=False)
    width: int = field(init=False, repr=False, compare=False)
    """How many candidates get an L and a place, if there are more than `few` and no more are in play."""
    few: int = field(init=False, repr=False, compare=False)
    """Up to so many candidates everyone gets an L and a place."""
    wide: bool = field(init=False, repr=False, compare=False)
    """Whether noise of 2^62 steps can come: at a scale below 2^32 it would take 2^24 words of zero in a row."""

    def __post_init__(self) -> None:
        coarse = Rate(self.rate.x ** (1 << self.shift), self.rate.y << self.shift)
        object.__setattr__(self, "coarse", coarse)
        object.__setattr__(self, "width", _width(self.k, 1 - coarse.x / (1 << coarse.y)))
        object.__setattr__(self, "few", max(_EVERYONE, self.width))
        object.__setattr__(self, "wide", self.rate.scale >= 1 << 32)

    @cached_property
    def _cells(self) -> Cells | None:
        """The compiled way to invert the noise, where a word is all that a candidate's noise takes."""
        return None if self.shift or self.wide else geometric(self.rate).inverter

    def __reduce__(self) -> tuple[type[Selector], tuple[int, Rate, int]]:
        # Another process makes its own cells.
        return Selector, (self.k, self.rate, self.shift)

    @classmethod
    def of(cls, k: int, rate: Rate) -> Selector:
        """Return the selector with an M that makes a V take one word;
        where there is none, everyone gets all of X at once.
        """
        bits, most = rate.scale.bit_length(), (MAX_RATE_BITS // rate.y).bit_length() - 1
        shift = max(0, min(bits - _COARSE_BITS, most))
        return cls(k, rate, shift if bits - shift <= _COARSE_BITS else 0)

    def select(
        self, n: int, steps_of: StepsOf, draw: Draw, scaled_values: ScaledValues | None = None
    ) -> tuple[tuple[int, ...], Samples]:
        """Return the selected of n, best first, and the gaps in steps: one for each selected that has a next one."""
        if scaled_values is not None and n <= _AT_ONCE and type(draw) is Sampler and (law := self._cells) is not None:
            # All words are read ahead, in the order in which the draws below read them, and go through one pass.
            words = draw.raw(n + (n if n <= self.few else self.width) - 1)
            result = selected(words, law, *scaled_values, self.k, self.width, self.few)
            if result is not None:
                return result
            draw = draw.resume(words)
        least = self.noisy(n, steps_of, draw, scaled_values)
        if n <= self.few:
            best, ahead = self.finish(least, draw)
            return tuple(best.tolist()), ahead
        contenders, cells = self._contenders(least)
        best, ahead = self.finish(cells, draw)
        return named(contenders, best), ahead

    def contenders(self, least: Samples) -> NDArray[np.int64]:
        """Return the indices that get an L, from steps + V·M: the `width`
        highest, the first of equals, and all in play.

        A contender among more candidates is also a contender among fewer of them.
        """
        return np.arange(len(least)) if len(least) <= self.few else self._contenders(least)[0]

    def _contenders(self, least: Samples) -> tuple[NDArray[np.int64], Samples]:
        """Return the contenders among more candidates than a few, and their steps + V·M."""
        best = highest(least, self.width, self.k, 1 << self.shift)
        if best is None:
            in_play = self.in_play(least)
            return in_play, least[in_play]
        return best

    def in_play(self, least: Samples) -> NDArray[np.int64]:
        """Return the indices that can still finish in the top k+1 with
        some L, from steps + V·M: at least k+1, if there are.

        A candidate in play among more candidates is also in play among fewer of them.
        """
        return near(least, self.k + 1, (1 << self.shift) - 1)

    def finish(self, cells: Samples, draw: Draw) -> tuple[NDArray[np.int64], Samples]:
        """Return the best k of these contenders, from their steps + V·M, which are used up; and the gaps."""
        if self.shift:
            cells += draw.truncated_geometric(self.rate, 1 << self.shift, len(cells))
        # Only differences count, which are below 2^63 in int64: an auditor meets the same ones again and again.
        return draw.permute(_rank_best, cells - cells.item(cells.argmin()), self.k)

    def noisy(self, n: int, steps_of: StepsOf, draw: Draw, scaled_values: ScaledValues | None = None) -> Samples:
        """Draw a V for every candidate, and return everyone's steps + V·M."""
        least = draw.geometric(self.coarse, n)
        if least.dtype.hasobject or (self.wide and least.max() >= ROOM >> self.shift):
            least, scaled_values = least.astype(object), None
        if self.shift:
            least <<= self.shift
        if scaled_values is not None:
            add_scaled(*scaled_values, least)
            return least
        for start in range(0, n, _CHUNK):
            part = slice(start, start + _CHUNK)
            # Into the part itself: `least[part] += …` would copy it onto itself once more.
            into = least[part]
            into += steps_of(part)
        return least


def _rank_best(cells: Samples, places: NDArray[np.int64], k: int) -> tuple[NDArray[np.int64], Samples]:
    best, ahead = rank_steps(cells, places, k + 1)
    return best[:k], ahead


def _width(k: int, fails: float) -> int:
    """Return the least m with P(Binomial(m - 1, 1 - fails) <= k) < 2^-64, by the union bound over who fails.

    Floats, as only the time of a selection depends on it, not its law.
    """
    bits = -math.log2(max(fails, 2**-53))

    def enough(m: int) -> bool:
        log_choices = math.lgamma(m + 1) - math.lgamma(k + 1) - math.lgamma(m - k + 1)
        return log_choices / math.log(2) - (m - k) * bits < -64

    high = k + 2
    while not enough(high) and high < MOST_CANDIDATES:
        high *= 2
    return 1 + bisect_left(range(high), True, k + 1, key=enough)
