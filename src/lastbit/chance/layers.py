"""`Layers`: the law of the canonical subset mechanism over all k-subsets of n ranked items, as few cells.

A set S weighs r^(p·c_out - q·c_in): c_out is the best count left out, c_in the worst one taken. Rank 0 has the largest
count. Let run i of equal counts among the first k ranks begin at rank s(i), and run j among the others end before rank
b(j). Cell (i, j) holds the sets of the first s(i) ranks and any k - s(i) of the ranks s(i), …, b(j) - 1; all of its
C(b(j) - s(i), k - s(i)) sets have the same share of

    (r^(p·c(i)) - r^(p·c(i-1))) · (r^(-q·c(j)) - r^(-q·c(j+1))),

which is positive, since r is below 1 and counts fall; the term of a run that does not exist is 0. A set other than the
first k ranks lies in the cells of all i up to the run of its best rank left out, and all j from the run of its worst
rank taken on. Both differences telescope: the shares of a set add up to r^(p·c_out - q·c_in). The first k ranks lie in
all cells, which gives them r^(p·c_k - q·c_(k+1)) of their r^(p·c_(k+1) - q·c_k); one more cell holds the rest.

So the cells are as many as pairs of runs, nothing is subtracted but two powers, and a cell is a product of a factor of
its row, a factor of its column and a factorial. All weights are divided by that of the first k ranks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lastbit.chance import _scaled
from lastbit.chance.inversion import Bounds, power
from lastbit.chance.powers import PowerSums, Terms, sign
from lastbit.privacy.rate import Rate

Runs = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Layers(PowerSums):
    """Cell 0 holds the first k ranks alone. Cell 1 + i·columns + j holds the sets of row i and column j.

    >>> ranked = np.array([-9, -5, -5, 0])
    >>> law = Layers.of(Rate(1, 1), 2, ranked, 1, 1)
    >>> law.starts.tolist(), law.ends.tolist(), [str(mass) for _, mass in law.masses()]
    ([0, 1], [3, 4], ['0', '31/358', '1/179', '155/179', '15/358'])
    """

    rate: Rate
    k: int
    starts: Runs
    """s: how many ranks are above each run of the first k ranks."""
    heads: Runs
    """-p·c of these runs, rising."""
    ends: Runs
    """b: how many ranks are above or in each run of the other ranks."""
    tails: Runs
    """-q·c of these runs, rising."""
    lead: int
    """(p + q)·(c_k - c_(k+1))."""

    @classmethod
    def of(cls, rate: Rate, k: int, ranked: Runs, p: int, q: int) -> Layers:
        """Return the law for counts with their signs turned, in rising
        order, more than k of them. p and q are 0 or 1.
        """
        return cls.of_runs(rate, k, *runs_of(ranked.copy()), p, q)

    @classmethod
    def of_runs(cls, rate: Rate, k: int, edges: Runs, turned: Runs, p: int, q: int) -> Layers:
        """Return the law for runs of equal counts: how many ranks are
        above or in each run, and its count, sign turned.
        """
        last = int(np.searchsorted(edges, k))
        first = last + int(edges[last] == k)
        lead = (p + q) * (int(turned[first]) - int(turned[last]))
        nothing = np.zeros(1, np.int64)
        starts, heads = (np.append(nothing, edges[:last]), turned[: last + 1]) if p else (nothing, nothing)
        ends, tails = (edges[first:], turned[first:]) if q else (edges[-1:], nothing)
        return cls(rate, k, starts, heads, ends, tails, lead)

    @property
    def n(self) -> int:
        """The number of items."""
        return int(self.ends[-1])

    def ranks(self, cell: int) -> tuple[int, int]:
        """Return (s, b) of a cell: its sets have the first s ranks, and k - s of the ranks s, …, b - 1."""
        if cell == 0:
            return self.k, self.k
        row, column = divmod(cell - 1, len(self.ends))
        return int(self.starts[row]), int(self.ends[column])

    @cached_property
    def _key(self) -> tuple[object, ...]:
        apart = (self.heads - self.heads[0]).tobytes(), (self.tails - self.tails[0]).tobytes()
        return self.rate, self.k, self.lead, self.starts.tobytes(), self.ends.tobytes(), *apart

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layers) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _row_powers(self) -> list[tuple[int, int | None]]:
        """The exponents (a, b) of r^a - r^b for each row, from its smallest one; None for no second term."""
        heads = self.heads.tolist()
        apart = [heads[-1] - head for head in heads]
        return list(zip(apart, [None, *apart], strict=False))

    @cached_property
    def _column_powers(self) -> list[tuple[int, int | None]]:
        """The exponents (a, b) of r^a - r^b for each column, from its smallest one; None for no second term."""
        tails = self.tails.tolist()
        apart = [tail - tails[0] for tail in tails]
        return list(zip(apart, [*apart[1:], None], strict=True))

    def _sizes(self, row: int) -> Iterator[int]:
        """Return how many sets each cell of a row holds."""
        start = int(self.starts[row])
        return (math.comb(end - start, self.k - start) for end in self.ends.tolist())

    def _bracket(self, u: int, bits: int) -> tuple[int, int]:
        most = math.comb(self.n, self.k)
        precision = bits + 64 + (most * len(self.starts) * len(self.ends)).bit_length()
        columns = [self._difference(exponents, precision) for exponents in self._column_powers]
        shared = power(self.rate, self.lead, precision)
        one = 1 << precision
        sums: list[Bounds] = [(0, 0), (one - shared[1], one - shared[0])]
        for row, powers in enumerate(self._row_powers):
            factor = _product(shared, self._difference(powers, precision), precision)
            for size, column in zip(self._sizes(row), columns, strict=True):
                low, high = _product(factor, column, precision)
                sums.append((sums[-1][0] + size * low, sums[-1][1] + size * high))
        start, stop = u * sums[-1][0] >> bits, -(-(u + 1) * sums[-1][1] >> bits)
        cells = len(sums) - 1
        first = max(cell for cell in range(cells) if sums[cell][1] <= start)
        last = min((cell for cell in range(cells) if sums[cell + 1][0] >= stop), default=cells - 1)
        return min(first, last), last

    def _difference(self, powers: tuple[int, int | None], precision: int) -> Bounds:
        low, high = power(self.rate, powers[0], precision)
        if powers[1] is None:
            return low, high
        less, more = power(self.rate, powers[1], precision)
        return max(0, low - more), high - less

    def _compare(self, boundary: int, v: int, bits: int) -> int:
        before, everything = self._terms(boundary), self._terms(1 + len(self.starts) * len(self.ends))
        terms = {d: before.get(d, 0) << bits for d in everything}
        for d, a in everything.items():
            terms[d] -= v * a
        return sign(self.rate, _terms_of(terms))

    def _terms(self, cells: int) -> dict[int, int]:
        """Return the weight of the first cells: the sum of all a·r^d."""
        terms: dict[int, int] = {}
        for cell in range(cells):
            self._add(cell, terms)
        return terms

    def _add(self, cell: int, terms: dict[int, int]) -> None:
        def add(d: int, a: int) -> None:
            terms[d] = terms.get(d, 0) + a

        if cell == 0:
            add(0, 1)
            add(self.lead, -1)
            return
        row, column = divmod(cell - 1, len(self.ends))
        start, end = self.ranks(cell)
        size = math.comb(end - start, self.k - start)
        for one, head in zip(self._row_powers[row], (size, -size), strict=True):
            for other, tail in zip(self._column_powers[column], (head, -head), strict=True):
                if one is not None and other is not None:
                    add(self.lead + one + other, tail)

    @property
    def mass_bits(self) -> int:
        """About how many bits the masses have."""
        ends = self.lead, self._row_powers[0][0], self._column_powers[-1][0]
        return self.rate.y * sum(ends) + self.n

    def masses(self) -> Iterator[tuple[int, Fraction]]:
        """Return the length of each cell."""
        weights = []
        for cell in range(1 + len(self.starts) * len(self.ends)):
            terms: dict[int, int] = {}
            self._add(cell, terms)
            weights.append(sum((a * self.rate.fraction**d for d, a in terms.items()), Fraction(0)))
        total = sum(weights)
        return ((cell, weight / total) for cell, weight in enumerate(weights))


def runs_of(ranked: Runs) -> tuple[Runs, Runs]:
    """Return runs of equal numbers in rising ones: how many numbers are above or in each run, and the number of each.

    The array is used up: the numbers of the runs are its beginning.

    >>> [array.tolist() for array in runs_of(np.array([-9, -5, -5, 0]))]
    [[1, 3, 4], [-9, -5, 0]]
    """
    edges, count = _scaled.runs(ranked)
    return edges, ranked[:count]


def _product(one: Bounds, other: Bounds, precision: int) -> Bounds:
    """Return bounds of a product of numbers that are not negative."""
    return one[0] * other[0] >> precision, -(-one[1] * other[1] >> precision)


def _terms_of(terms: dict[int, int]) -> Terms:
    return sorted((d, a) for d, a in terms.items() if a)
