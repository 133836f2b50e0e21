"""Draws that watch themselves: when each was made, how many there were, how many words they took."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import lastbit as lb
from lastbit.chance.bits import Words
from lastbit.papers.secure_top_k import geometric_of_coins
from lastbit.privacy.cost import Cost


class CountedBits:
    """System randomness that counts its words."""

    def __init__(self) -> None:
        self._bits = lb.SystemBits()
        self.taken = 0

    def words(self, n: int) -> Words:
        self.taken += n
        return self._bits.words(n)


@dataclass
class Kind:
    """All draws of one kind: how often it was asked, for how many samples, in how many seconds."""

    calls: int = 0
    samples: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Moment:
    """One draw, by the clock."""

    name: str
    began: float
    ended: float


class Watched(lb.Sampler):
    """A Sampler that keeps a diary."""

    def __init__(self, bits: lb.Bits | None = None) -> None:
        super().__init__(bits)
        self.kinds: dict[str, Kind] = {}
        self.moments: list[Moment] = []

    def geometric(self, rate: lb.Rate, size: int | None = None) -> Any:
        return self._watch("geometric", size, lambda: super(Watched, self).geometric(rate, size))

    def truncated_geometric(self, rate: lb.Rate, below: int, size: int | None = None) -> Any:
        return self._watch(
            "truncated geometric", size, lambda: super(Watched, self).truncated_geometric(rate, below, size)
        )

    def bernoulli(self, p: Any, size: int | None = None) -> Any:
        return self._watch("Bernoulli", size, lambda: super(Watched, self).bernoulli(p, size))

    def integer(self, n: int, size: int | None = None) -> Any:
        return self._watch("uniform integer", size, lambda: super(Watched, self).integer(n, size))

    def permutation(self, n: int) -> Any:
        return self._watch("permutation", n, lambda: super(Watched, self).permutation(n))

    def _watch(self, name: str, size: int | None, work: Any) -> Any:
        kind = self.kinds.setdefault(name, Kind())
        began = time.perf_counter()
        result = work()
        ended = time.perf_counter()
        kind.calls += 1
        kind.samples += 1 if size is None else size
        kind.seconds += ended - began
        self.moments.append(Moment(name, began, ended))
        return result


@dataclass
class _Exponents:
    """The exponent ε·γ/2k behind each rate that Algorithm 4 can ask for."""

    k: int
    per_unit: int
    refine: int
    levels: int = 40
    known: dict[lb.Rate, Fraction] = field(default_factory=dict)

    def of(self, rate: lb.Rate) -> Fraction:
        if not self.known:
            for level in range(self.levels):
                exponent = Fraction(1, 2 * self.k * self.per_unit * self.refine**level)
                self.known[Cost.of(Fraction(1)).rate(exponent)] = exponent
        return self.known[rate]


class Coins(Watched):
    """Geometric draws the way the secure top-k paper makes them: out of rational coins, one at a time (Algorithm 5)."""

    def __init__(self, k: int, per_unit: int, refine: int, bits: lb.Bits | None = None) -> None:
        super().__init__(bits)
        self._exponents = _Exponents(k, per_unit, refine)

    def geometric(self, rate: lb.Rate, size: int | None = None) -> Any:
        exponent = self._exponents.of(rate)
        return self._watch("geometric", size, lambda: geometric_of_coins(*exponent.as_integer_ratio(), self))

    def truncated_geometric(self, rate: lb.Rate, below: int, size: int | None = None) -> Any:
        return self.geometric(rate, size) % below
