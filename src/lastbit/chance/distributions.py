"""The laws a `Draw` can draw from: how to invert each, and its probabilities as fractions.

A distribution is one cell, or several combined: a geometric X of a scale beyond 2^40 is (V << m) + L, where V is
geometric of rate r^(2^m) and L is geometric below 2^m, independent of V. So a few words serve every scale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import count
from numbers import Rational
from typing import Final

from lastbit.chance._cells import Cells
from lastbit.chance.gaussian import Gaussian
from lastbit.chance.inversion import Falling, Geometric, Partition, Signed, Spans, Truncated, Uniform, Weighted, resolve
from lastbit.chance.kernel import Kernel
from lastbit.chance.layers import Layers
from lastbit.chance.powers import Powers
from lastbit.chance.rounds import Rounds
from lastbit.errors import AuditError, ParameterError
from lastbit.privacy.rate import Rate

Masses = Iterator[tuple[int, Fraction]]

# One word decides a sample up to this scale, but for one in 2^18. The finer levels have tables of at most 2^12 cells.
_COARSE_BITS: Final = 40
_FINE_BITS: Final = 12

_MOST_MASS_BITS: Final = 1 << 22
"""Masses of more bits than this are not written out."""


@dataclass(frozen=True, eq=False)
class Distribution:
    """A law on the integers: its cells, coarsest level first, and its masses, likeliest side first.

    `shifts[i]` is how many bits the cell of `levels[i + 1]` adds below the value of the levels before it.
    """

    levels: tuple[Partition, ...]
    shifts: tuple[int, ...]
    masses: Callable[[], Masses]
    words: int = 1
    """Words a sample takes at once for each level; more words are read only while these do not decide."""
    cells: int = 0
    """How many samples make a table pay that serves one call only; 0 for a table that is kept."""
    narrow: bool = False
    """Whether samples are 0 or 1, so that many of them may be kept in bytes."""

    @property
    def endless(self) -> bool:
        """Whether the masses go on for ever."""
        top = self.levels[0]
        return isinstance(top, Falling) and top.last is None

    @cached_property
    def kernel(self) -> Kernel | None:
        """The compiled way to invert it, or None where there is none."""
        return Kernel.of(self.levels, self.shifts)

    @cached_property
    def inverter(self) -> Cells | None:
        """The compiled way to invert it where a word decides a sample, and is kept; None elsewhere."""
        return None if self.cells or self.shifts or self.kernel is None else self.kernel.first

    @property
    def block(self) -> int:
        """How many words a sample takes at once."""
        return self.words * len(self.levels)

    def value(self, block: Sequence[int], read: Callable[[], int]) -> int:
        """Find the sample whose block of words this is, and read further words as needed: the specification."""
        if not self.shifts:
            return resolve(self.levels[0], join_words(block), 64 * len(block), read)
        starts = self._starts(block)
        cells = [resolve(level, u, 64 * self.words, read) for level, u in zip(self.levels, starts, strict=True)]
        return self._combine(cells)

    def decide(self, block: Sequence[int]) -> int | None:
        """Find the sample whose block of words this is, or None when it takes more words to tell."""
        cells = []
        for level, u in zip(self.levels, self._starts(block), strict=True):
            if (cell := level.cell(u, 64 * self.words)) is None:
                return None
            cells.append(cell)
        return self._combine(cells)

    def _starts(self, block: Sequence[int]) -> list[int]:
        return [join_words(block[i : i + self.words]) for i in range(0, len(block), self.words)]

    def _combine(self, cells: list[int]) -> int:
        value = cells[0]
        for shift, cell in zip(self.shifts, cells[1:], strict=True):
            # Below zero the magnitude -1-value grows by the cell, so its bits are written inverted.
            value = value << shift | (cell if value >= 0 else (1 << shift) - 1 - cell)
        return value


def join_words(words: Sequence[int]) -> int:
    """Join words into the integer whose digits in base 2^64 they are, highest first."""
    result = 0
    for word in words:
        result = result << 64 | word
    return result


def _levels(rate: Rate, coarsest: type[Geometric] | type[Signed]) -> tuple[tuple[Partition, ...], tuple[int, ...]]:
    below = max(0, rate.scale.bit_length() - _COARSE_BITS)
    parts = -(-below // _FINE_BITS)
    shifts = tuple((below + i) // parts for i in range(parts))
    levels: list[Partition] = [coarsest(rate, 1 << below)]
    for shift in shifts:
        below -= shift
        levels.append(Truncated(rate, (1 << shift) - 1, 1 << below))
    return tuple(levels), shifts


@lru_cache(maxsize=64)
def geometric(rate: Rate) -> Distribution:
    """Return the law P(X >= i) = r^i on 0, 1, 2, …"""

    def masses() -> Masses:
        r, tail = rate.fraction, Fraction(1)
        for i in count():
            yield i, tail * (1 - r)
            tail *= r

    return Distribution(*_levels(rate, Geometric), masses)


@lru_cache(maxsize=64)
def laplace(rate: Rate) -> Distribution:
    """Return the law P(X = i) = r^|i| · (1-r)/(1+r) on all integers."""

    def masses() -> Masses:
        r = rate.fraction
        mass = (1 - r) / (1 + r)
        yield 0, mass
        for i in count(1):
            mass *= r
            yield i, mass
            yield -i, mass

    return Distribution(*_levels(rate, Signed), masses)


@lru_cache(maxsize=16)
def gaussian(rate: Rate) -> Distribution:
    """Return the law P(X = i) proportional to r^(i²) on all integers. Its irrational masses are rounded down."""
    law = Gaussian(rate)
    return Distribution((law,), (), law.masses)


@lru_cache(maxsize=64)
def truncated_geometric(rate: Rate, below: int) -> Distribution:
    """Return the law P(X = i) proportional to r^i on 0, …, below-1."""

    def masses() -> Masses:
        r = rate.fraction
        mass = (1 - r) / (1 - r**below)
        for i in range(below):
            yield i, mass
            mass *= r

    return Distribution((Truncated(rate, below - 1),), (), masses)


@lru_cache(maxsize=64)
def uniform(n: int) -> Distribution:
    """Return the law P(X = i) = 1/n on 0, …, n-1."""

    def masses() -> Masses:
        return ((i, Fraction(1, n)) for i in range(n))

    return Distribution((Uniform(n),), (), masses, max(1, -(-(n - 1).bit_length() // 64)))


def uniform_below(n: int, most: int) -> Distribution:
    """Return the law P(X = i) = 1/n on 0, …, n-1 for a private n, at most `most`: its words tell nothing about n.

    A sample takes 64 bits more than `most` has, so that they decide but for one in 2^64. Nothing is kept.
    """

    def masses() -> Masses:
        return ((i, Fraction(1, n)) for i in range(n))

    return Distribution((Uniform(n),), (), masses, -(-(64 + most.bit_length()) // 64), cells=n)


def spans_below(n: int, most: int, span: Callable[[int], tuple[int, int]]) -> Distribution:
    """Return the law with P(X = start) = (end - start)/n for every span from
    start to end of 0, …, n-1: words as in `uniform_below`.
    """
    law = Spans(n, span)

    def masses() -> Masses:
        return ((start, Fraction(length, n)) for start, length in law.lengths())

    return Distribution((law,), (), masses, -(-(64 + most.bit_length()) // 64), cells=n)


def bernoulli(p: Fraction) -> Distribution:
    """Return the law of 0 with probability p, and 1 otherwise."""
    return _from_partition(Weighted((p.numerator, p.denominator)), narrow=True)


def rise(part: Fraction) -> Distribution:
    """Return the law of 1 with this probability, and 0 otherwise."""
    return _from_partition(Weighted((part.denominator - part.numerator, part.denominator)))


def categorical(weights: Sequence[int | Fraction]) -> Distribution:
    """Return the law P(X = i) proportional to the i-th weight."""
    exact = [weight if type(weight) is int else _weight(weight) for weight in weights]
    if not exact or min(exact) < 0 or max(exact) == 0:
        raise ParameterError("weights must be exact, none negative and at least one positive. Nothing was drawn.")
    return _from_partition(Weighted.of(exact))


def _weight(weight: object) -> int | Fraction:
    if isinstance(weight, Rational) and not isinstance(weight, bool):
        return Fraction(int(weight.numerator), int(weight.denominator))
    raise ParameterError(f"weights must be integers or Fractions: got {type(weight).__name__}. Nothing was drawn.")


def _from_partition(partition: Weighted, narrow: bool = False) -> Distribution:
    def masses() -> Masses:
        before, total = 0, partition.cumulative[-1]
        for i, after in enumerate(partition.cumulative):
            yield i, Fraction(after - before, total)
            before = after

    return Distribution((partition,), (), masses, cells=len(partition.cumulative), narrow=narrow)


def powers(partition: Powers) -> Distribution:
    """Return the law P(X = i) proportional to r^e(i), or to m(i)·r^e(i)."""

    def masses() -> Masses:
        rate, exponents = partition.rate, partition.relative
        if (most := max(exponents)) * rate.y > _MOST_MASS_BITS:
            raise AuditError(
                "exponents must be closer together to write their masses out. Give bounds, or values nearer each other."
            )
        weights = [rate.x**exponent << rate.y * (most - exponent) for exponent in exponents]
        if partition.multiplicities is not None:
            often = map(int, partition.multiplicities)
            weights = [times * weight for times, weight in zip(often, weights, strict=True)]
        total = sum(weights)
        return ((i, Fraction(weight, total)) for i, weight in enumerate(weights))

    return Distribution((partition,), (), masses, cells=len(partition.exponents))


def layers(law: Layers) -> Distribution:
    """Return the cells of a law of sets. Two words at once, as there may be millions of cells."""

    def masses() -> Masses:
        if law.mass_bits > _MOST_MASS_BITS:
            raise AuditError("counts must be closer together to write their masses out. Give values nearer each other.")
        return law.masses()

    return Distribution((law,), (), masses, 2, cells=1 + len(law.starts) * len(law.ends))


def rounds(law: Rounds) -> Distribution:
    """Return the law of X, where P(X = k-1) is the chance of k rounds."""
    if law.uniform:
        return uniform(law.most)
    return Distribution((law,), (), lambda: iter(enumerate(law.masses())), cells=law.most)
