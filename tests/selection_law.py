"""Closed forms of private selection: the law of a winner from the law of the number of rounds, in fractions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from functools import cache

import gmpy2

from lastbit.audit import Law
from lastbit.chance.rounds import Rounds

Masses = tuple[Fraction, ...]

RARE = Fraction(1, 1000)
THIRD = Fraction(1, 3)


Generating = Callable[[Fraction], gmpy2.mpq]
"""E x^K, a function of x."""


def sum_of_masses(rounds: Sequence[Fraction]) -> Generating:
    """E x^K from the masses of the number of rounds, term by term."""
    return lambda x: gmpy2.mpq(sum(mass * x**k for k, mass in enumerate(rounds, start=1)))


def generating(law: Rounds) -> Generating:
    """E x^K of a long law, by halves; tests/laws/test_rounds.py compares it with the definition."""
    return cache(lambda x: gmpy2.mpq(law.misses(1 - x)))


def best_law(masses: Masses, f: Generating, scores: Sequence[int] = (0, 1, 2)) -> dict[Hashable, gmpy2.mpq]:
    """P(the best of K samples is i), ties uniformly: Q(i)/Q(=s)·(f(Q(<=s)) - f(Q(<s)))."""
    found: dict[Hashable, gmpy2.mpq] = {}
    for i, mass in enumerate(masses):
        below = sum((m for m, s in zip(masses, scores, strict=True) if s < scores[i]), Fraction(0))
        tied = sum(m for m, s in zip(masses, scores, strict=True) if s == scores[i])
        best = f(below + tied) - f(below)
        found[i] = best * gmpy2.mpq(mass / tied) if tied else gmpy2.mpq(0)
    return found


def threshold_law(masses: Masses, f: Generating, bar: int = 1) -> dict[Hashable, gmpy2.mpq]:
    """P(the first of K samples from the bar on is i), and None: Q(i)/Q(>=bar)·(1 - f(Q(<bar))), f(Q(<bar))."""
    reached = sum(masses[bar:])
    none = f(1 - reached)
    return {None: none, **{i: (1 - none) * gmpy2.mpq(masses[i] / reached) for i in range(bar, len(masses))}}


def as_law(masses: dict[Hashable, gmpy2.mpq]) -> Law:
    assert sum(masses.values()) == 1
    return Law(masses, Fraction(0), 0)


def worst_pairs(rare: Fraction = RARE) -> Iterator[tuple[Masses, Masses]]:
    """Laws of three outputs that are private at ln 2, every ratio 2 or 1/2, with one output of mass `rare`.

    Where the ratio is 2, the neighbour has a third of the mass in all.
    """
    for rises in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2)):
        falls = tuple(i for i in range(3) if i not in rises)
        group, whole = (rises, THIRD) if len(rises) == 2 else (falls, 2 * THIRD)
        for alone in group:
            other = tuple((rare if i == alone else whole - rare) if i in group else 1 - whole for i in range(3))
            yield tuple(mass * 2 if i in rises else mass / 2 for i, mass in enumerate(other)), other
