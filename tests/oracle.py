"""The laws again, from their definitions, in rationals: what the tests compare lastbit with. Uses none of it.

A law cuts [0, 1) into cells. `Falling` ones count downwards in U from a survival function, cell j being
[S(j+1), S(j)); `Rising` and `Even` ones go up.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, count
from math import floor

import gmpy2

WORD = 1 << 64


class Law:
    """Cells of [0, 1)."""

    def interval(self, cell: int) -> tuple[Fraction, Fraction]:
        raise NotImplementedError

    def locate(self, point: Fraction) -> int:
        raise NotImplementedError

    def holding(self, u: int, bits: int) -> int | None:
        """The cell around all of [u, u+1)/2^bits, or None."""
        cell = self.locate(Fraction(u, 1 << bits))
        return cell if Fraction(u + 1, 1 << bits) <= self.interval(cell)[1] else None

    def mass(self, cell: int) -> Fraction:
        low, high = self.interval(cell)
        return high - low

    def follow(self, words: Sequence[int], at_once: int = 1) -> tuple[int | None, int]:
        """The cell these words lead to (None if they do not suffice) and how many of them it takes."""
        u = 0
        for used, word in enumerate(words, start=1):
            u = u * WORD + word
            if used >= at_once and (cell := self.holding(u, 64 * used)) is not None:
                return cell, used
        return None, len(words)


@dataclass
class Falling(Law):
    """Cell j is [survival(j+1), survival(j)), for first <= j <= last."""

    survival: Callable[[int], Fraction]
    first: int | None = None
    last: int | None = None
    _seen: dict[int, Fraction] = field(default_factory=dict)

    def edge(self, j: int) -> Fraction:
        if self.first is not None and j <= self.first:
            return Fraction(1)
        if self.last is not None and j > self.last:
            return Fraction(0)
        if j not in self._seen:
            self._seen[j] = self.survival(j)
        return self._seen[j]

    def interval(self, cell: int) -> tuple[Fraction, Fraction]:
        return self.edge(cell + 1), self.edge(cell)

    def holding(self, u: int, bits: int) -> int | None:
        # Where cells go on for ever, the interval at that end meets infinitely many.
        return None if u == 0 and self.last is None else super().holding(u, bits)

    def locate(self, point: Fraction) -> int:
        low = next(-(1 << i) for i in count() if point < self.edge(-(1 << i)))
        high = next(1 << i for i in count() if point >= self.edge(1 << i))
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if point < self.edge(middle) else (low, middle)
        return low

    def floor(self, j: int, bits: int = 64) -> int:
        """⌊2^bits · S(j)⌋."""
        edge = self.edge(j)
        return (edge.numerator << bits) // edge.denominator


@dataclass
class Rising(Law):
    """Cell i is [cuts[i], cuts[i+1]), from cuts[0] = 0 to cuts[-1] = 1."""

    cuts: list[Fraction]

    def interval(self, cell: int) -> tuple[Fraction, Fraction]:
        return self.cuts[cell], self.cuts[cell + 1]

    def locate(self, point: Fraction) -> int:
        return bisect_right(self.cuts, point) - 1


@dataclass
class Even(Law):
    """n cells of length 1/n, in rising order; n may be too large to list them."""

    n: int

    def interval(self, cell: int) -> tuple[Fraction, Fraction]:
        return Fraction(cell, self.n), Fraction(cell + 1, self.n)

    def locate(self, point: Fraction) -> int:
        return floor(point * self.n)


def geometric(r: Fraction, stride: int = 1) -> Falling:
    """P(X >= j) = r^(stride·j)."""
    return Falling(lambda j: r ** (stride * j), first=0)


def truncated(r: Fraction, n: int, stride: int = 1) -> Falling:
    """Geometric given X < n."""
    return Falling(lambda j: (r ** (stride * j) - r ** (stride * n)) / (1 - r ** (stride * n)), first=0, last=n - 1)


def laplace(r: Fraction) -> Falling:
    """P(X = j) = r^|j|·(1-r)/(1+r), summed from j upwards."""
    return Falling(lambda j: r**j / (1 + r) if j >= 0 else 1 - r ** (1 - j) / (1 + r))


def signed(r: Fraction, stride: int) -> Falling:
    """Side + with probability 1/(1+r), then a geometric magnitude of rate r^stride: (+, m) is m, (-, m) is -1-m."""
    return Falling(lambda j: (r ** (stride * j) if j >= 0 else 1 + r - r ** (1 - stride * j)) / (1 + r))


def categorical(weights: Iterable[int | Fraction]) -> Rising:
    sums = [Fraction(0), *accumulate(Fraction(weight) for weight in weights)]
    return Rising([part / sums[-1] for part in sums])


def certified_floor(level: str, r: Fraction, stride: int, last: int | None, j: int) -> int:
    """⌊2^64 · S(j)⌋ of a level whose powers are too long to write out, between two outward roundings of MPFR."""
    assert r.denominator & (r.denominator - 1) == 0
    precision = 512
    while True:
        a, b = _power(r, stride * abs(j), precision), _power(r, stride * ((last or 0) + 1), precision)
        if level == "Geometric":
            low, high = a
        elif level == "Truncated":  # rises in the first power, falls in the second
            low, high = (a[0] - b[1]) / (1 - b[1]), (a[1] - b[0]) / (1 - b[0])
        elif j >= 0:
            low, high = a[0] / (1 + r), a[1] / (1 + r)
        else:
            low, high = 1 - r * a[1] / (1 + r), 1 - r * a[0] / (1 + r)
        floors = {int(gmpy2.floor_div((end * WORD).numerator, (end * WORD).denominator)) for end in (low, high)}
        if len(floors) == 1:
            return floors.pop()
        precision *= 2


def _power(r: Fraction, exponent: int, precision: int) -> tuple["gmpy2.mpq", "gmpy2.mpq"]:
    """Bounds of r^exponent; MPFR rounds a power of an exact base correctly."""
    bounds = []
    for mode in (gmpy2.RoundDown, gmpy2.RoundUp):
        with gmpy2.context(precision=max(precision, r.denominator.bit_length()), round=mode):
            bounds.append(gmpy2.mpq(gmpy2.mpfr(gmpy2.mpq(r)) ** exponent))
    return bounds[0], bounds[1]
