"""The outcomes that a tree has found, with their masses. The masses become fractions only at the end."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction

import gmpy2

from lastbit.audit._tree import Tree


def masses(tree: Tree) -> dict[Hashable, gmpy2.mpq]:
    """The mass of each outcome."""
    found: dict[Hashable, gmpy2.mpq] = {}
    for odd, outcomes in tree.found.items():
        first = not found
        for outcome, (numerator, exponent) in outcomes.items():
            mass = gmpy2.mpq(numerator, odd << exponent)
            found[outcome] = mass if first else found.get(outcome, 0) + mass
    return found


def total(tree: Tree) -> gmpy2.mpq:
    """The sum of all masses: first over one power of two for each odd part, then as a fraction."""
    found = gmpy2.mpq(0)
    for odd, outcomes in tree.found.items():
        deepest = max(exponent for _, exponent in outcomes.values())
        numerators = (numerator << deepest - exponent for numerator, exponent in outcomes.values())
        found += gmpy2.mpq(sum(numerators), odd << deepest)
    return found


def fraction_of(value: gmpy2.mpq) -> Fraction:
    """A gmpy2 rational as a Fraction."""
    return Fraction(int(value.numerator), int(value.denominator))
