"""The selection itself, on whole steps: which candidates are on top after noise, and by how much.

Exponential noise is a whole number of steps, geometric, and a fraction of one. The fractions are alike for all
candidates and independent of the steps, so all that matters of them is their order: one uniform permutation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lastbit.chance.draw import Draw, Samples
from lastbit.mechanisms.top_k.ranking import kth_highest, near, ranked
from lastbit.privacy.dyadic import MAX_RATE_BITS
from lastbit.privacy.rate import Rate
from lastbit.values.grid import Steps

_COARSE_BITS: Final = 6, 8
"""The first look at everyone has a scale below 2^6, or below 2^8: up to there a geometric takes one word."""

_ROOM: Final = 1 << 62
"""Steps stay within 2^61, so noise below this can be added to them in int64; beyond, Python integers are needed."""

_CHUNK: Final = 1 << 16
"""Candidates whose steps are in hand at a time: what a selection needs beyond one array, whatever its size."""

_GROUPS: Final = 8
"""Groups for each one selected: few of the selected share one then."""

StepsOf = Callable[[slice | list[int]], Steps]
"""The steps of some of the candidates."""


@dataclass(frozen=True)
class Selector:
    """The k largest of steps + exponential noise of this rate, and the floor of each gap to the next.

    A geometric X is V·M + L with V geometric of rate r^M, L geometric below M and independent of V. Everyone gets a
    V; who cannot reach the top k+1 whatever the L is out, and only the others, those in play, get an L and a place in
    the permutation. Who is in play depends on the V alone, so this is the law in which everyone gets both.
    """

    k: int
    rate: Rate
    shift: int
    """log2 of M."""
    coarse: Rate = field(init=False, repr=False, compare=False)
    wide: bool = field(init=False, repr=False, compare=False)
    """Whether noise of 2^62 steps can come: at a scale below 2^32 it would take 2^24 words of zero in a row."""

    def __post_init__(self) -> None:
        coarse = Rate(self.rate.x ** (1 << self.shift), self.rate.y << self.shift)
        object.__setattr__(self, "coarse", coarse)
        object.__setattr__(self, "wide", self.rate.scale >= 1 << 32)

    @classmethod
    def of(cls, k: int, rate: Rate) -> Selector:
        """With an M that makes a V take one word, where there is one; otherwise everyone gets all of X at once."""
        bits, most = rate.scale.bit_length(), (MAX_RATE_BITS // rate.y).bit_length() - 1
        shift = max(0, min(bits - _COARSE_BITS[0], most))
        return cls(k, rate, shift if bits - shift <= _COARSE_BITS[1] else 0)

    def select(self, n: int, steps_of: StepsOf, draw: Draw) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The selected of n, best first, and the gaps in steps: one for each selected that has a next one."""
        least = self.noisy(n, steps_of, draw)
        in_play = self.in_play(least)
        best, ahead = self.finish(least[in_play], draw)
        return tuple(map(in_play.tolist().__getitem__, best)), ahead

    def in_play(self, least: Samples) -> NDArray[np.int64]:
        """Who of these, each with steps + V·M, can be among the top k+1 whatever the L: k+1 at least, if there are.

        Those in play among some candidates contain all who are in play among more.
        """
        kept, below = self.k + 1, (1 << self.shift) - 1
        size = len(least) // (_GROUPS * kept)
        if size <= 1:
            return near(least, kept, below)
        # The k-th largest of the largest of each of many groups is at most the k-th largest of all: a first sieve.
        groups = len(least) // size
        bound = kth_highest(least[: size * groups].reshape(size, groups).max(axis=0), kept)
        in_play = _where(least >= bound - below)
        nearest: NDArray[np.int64] = in_play[near(least[in_play], kept, below)]
        return nearest

    def finish(self, cells: Samples, draw: Draw) -> tuple[list[int], tuple[int, ...]]:
        """The best k of those in play, from their steps + V·M, which are used up; and the gaps."""
        if self.shift:
            cells += draw.truncated_geometric(self.rate, 1 << self.shift, len(cells))
        best, ahead = ranked(cells, draw.permutation(len(cells)), self.k + 1)
        return best[: self.k], ahead

    def noisy(self, n: int, steps_of: StepsOf, draw: Draw) -> Samples:
        """Everyone's steps + V·M."""
        least = draw.geometric(self.coarse, n)
        if least.dtype.hasobject or (self.wide and least.max() >= _ROOM >> self.shift):
            least = least.astype(object)
        if self.shift:
            least <<= self.shift
        for start in range(0, n, _CHUNK):
            part = slice(start, start + _CHUNK)
            # Into the part itself: `least[part] += …` would copy it onto itself once more.
            into = least[part]
            into += steps_of(part)
        return least


def _where(mask: NDArray[Any]) -> NDArray[np.int64]:
    """The places that are true: np.flatnonzero, without the calls it takes to get there."""
    places: NDArray[np.int64] = mask.nonzero()[0]
    return places
