"""Which tables are measured, and with which share of the budget: a public rule, certified to be near the best.

With x(A) the precision of a measured table A, the variance of a table W is a sum of c(B)/(sum of x(A)·u(A, B)) over the
tables B inside W. So a weighted sum f of variances is convex and falls as 1/x. From any x the step
x(A) <- x(A)·√g(A), for g = -gradient of f, rescaled to the budget, never makes f larger; and for every x
f* >= f(x)²/(sum of x · largest g): how far the best is from what was found is known. Floats choose the shares, which
are whole numbers; the certificate is about those, and everything stated later follows from them in fractions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from lastbit.estimate.tables.scheme import Axes, contains, subsets

Rule = Literal["mean", "worst"]
"""What is made small: the weighted mean of the variances of all tables, or the largest weighted variance."""

_WHOLE: Final = 1 << 20
"""The parts that the budget is divided into."""
_STEPS: Final = 2000
_ROUNDS: Final = 500
_FEWEST: Final = 1 << 10
"""A table that would have fewer parts is measured only if that is worth it."""
_AS_GOOD: Final = 1.0005
_ENOUGH: Final = 1e-5
"""The descent ends when the rest is below this share of the objective."""

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Shares:
    """The parts of the budget that each measured table has, and how good they are.

    `above` bounds the share by which the objective is larger than with the best shares of the same tables.
    """

    parts: Mapping[Axes, int]
    above: float

    @property
    def total(self) -> int:
        """The number of all parts together."""
        return sum(self.parts.values())


def even_shares(tables: Sequence[Axes]) -> Shares:
    """Return each table measured with the same share.

    >>> even_shares([(0,), (0, 1)]).parts
    {(0,): 1, (0, 1): 1}
    """
    return Shares(dict.fromkeys(tables, 1), np.inf)


def best_shares(sizes: Sequence[int], weights: Mapping[Axes, Fraction], rule: Rule = "mean") -> Shares:
    """Return the shares that make the variances of these tables small, by their weights.

    Tables that are sums of a table asked for may be measured too. A table that would get next to nothing is not.

    >>> best_shares((4, 5), {(0, 1): Fraction(1)}).parts
    {(0, 1): 1048576}
    >>> best = best_shares((4, 5), {(0,): Fraction(1), (1,): Fraction(1), (0, 1): Fraction(1)})
    >>> sorted(best.parts), best.above < 0.001
    ([(0,), (0, 1), (1,)], True)
    """
    problem = _Problem.of(sizes, weights)
    best, pull = problem.solve(np.ones(len(problem.measured), np.bool_), rule)
    bound = problem.lower_bound(best, pull, rule)
    value = problem.objective(best, rule)
    # Fewer tables are simpler, and often as good: those asked for, or even fewer of them.
    fewer = problem.solve(np.isin(np.arange(len(best)), [problem.measured.index(table) for table in weights]), rule)[0]
    if problem.objective(fewer, rule) <= value * _AS_GOOD:
        best = fewer
    kept = best * _WHOLE >= _FEWEST
    kept[list(problem.needed)] = True
    fewer = problem.solve(kept, rule)[0]
    if problem.objective(fewer, rule) <= value * _AS_GOOD:
        best = fewer
    parts = np.rint(best * _WHOLE).astype(np.int64)
    parts[list(problem.needed)] = np.maximum(parts[list(problem.needed)], 1)
    stated = parts / parts.sum()
    shares = {problem.measured[place]: int(parts[place]) for place in np.flatnonzero(parts)}
    # A hair more, for the roundings of floats.
    return Shares(shares, max(0.0, problem.objective(stated, rule) / bound - 1) + 1e-9)


@dataclass(frozen=True)
class _Problem:
    """Arrays: `u[A, B]` how well a measured table A tells a residual B, `c[W, B]` how much of it a table W has."""

    asked: tuple[Axes, ...]
    measured: tuple[Axes, ...]
    u: Matrix
    c: Matrix
    needed: tuple[int, ...]
    """The largest tables, without which nothing else tells their residual: they are always measured."""

    @classmethod
    def of(cls, sizes: Sequence[int], weights: Mapping[Axes, Fraction]) -> _Problem:
        asked = tuple(weights)
        largest = max(weights.values())
        inside = sorted({part for table in asked for part in subsets(table)}, key=lambda part: (len(part), part))

        def cells(table: Sequence[int]) -> float:
            return float(prod(sizes[axis] for axis in table))

        u = np.zeros((len(inside), len(inside)))
        c = np.zeros((len(asked), len(inside)))
        places = {part: place for place, part in enumerate(inside)}
        for place, table in enumerate(inside):
            for part in subsets(table):
                u[place, places[part]] = cells(part) / cells(table)
        for place, table in enumerate(asked):
            for part in subsets(table):
                own = prod(1 - 1 / sizes[axis] for axis in part) * (cells(part) / cells(table)) ** 2
                c[place, places[part]] = float(weights[table] / largest) * own
        needed = tuple(
            places[table] for table in asked if not any(contains(other, table) for other in asked if other != table)
        )
        return cls(asked, tuple(inside), u, c, needed)

    def solve(self, allowed: NDArray[np.bool_], rule: Rule) -> tuple[Matrix, Matrix]:
        """Return precisions of these tables that are near the best, and the weights of the tables asked for.

        Where the worst counts, tables that are worse weigh more and more.
        """
        x = np.where(allowed, 1.0, 0.0) / allowed.sum()
        pull = np.ones(len(self.asked))
        if rule == "mean":
            return self._descend(x, pull, _STEPS), pull
        best, best_pull, least, bound = x, pull, np.inf, 0.0
        for _ in range(_ROUNDS):
            x = self._descend(x, pull, 20)
            if (value := self.objective(x, rule)) < least:
                best, least = x, value
            if (lower := self.lower_bound(x, pull, rule)) > bound:
                best_pull, bound = pull, lower
            if least / bound - 1 < _ENOUGH * 10:
                break
            variances = self._weighted_variances(x)
            pull = pull * variances / variances.max()
            pull = pull / pull.sum()
        return best, best_pull

    def _weighted_variances(self, x: Matrix) -> Matrix:
        """Return the variance of each table asked for, times its weight, where all precisions add up to 1."""
        result: Matrix = self.c @ (1 / (x @ self.u))
        return result

    def _descend(self, x: Matrix, pull: Matrix, steps: int) -> Matrix:
        """Return precisions that are nearer to the best. A table that has none stays without."""
        c = pull @ self.c
        for step in range(steps):
            statement = x @ self.u
            gradient = self.u @ (c / statement**2)
            # Both sides of the certificate, for precisions that add up to 1.
            if step % 20 == 0 and 1 - float(c @ (1 / statement)) / gradient[x > 0].max() < _ENOUGH:
                break
            x = x * np.sqrt(gradient)
            x = x / x.sum()
        return x

    def objective(self, x: Matrix, rule: Rule) -> float:
        """Return what is made small."""
        variances = self._weighted_variances(x)
        return float(variances.sum() if rule == "mean" else variances.max())

    def lower_bound(self, x: Matrix, pull: Matrix, rule: Rule) -> float:
        """Return a number that no precisions of any of the tables get the objective below."""
        c = pull @ self.c if rule == "mean" else (pull / pull.sum()) @ self.c
        statement = x @ self.u
        return float((c @ (1 / statement)) ** 2 / (self.u @ (c / statement**2)).max())
