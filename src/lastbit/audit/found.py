"""The outcomes met so far, and their masses as sums in integers: for each scale a numerator over a power of two."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from typing import Any

import gmpy2

from lastbit.audit.cells import Scales
from lastbit.errors import AuditError


class Found:
    """Outcomes with their masses. No fraction is made, and no greatest common divisor taken, until the very end.

    >>> found = Found(Scales())
    >>> for numerator, exponent in ((1, 1), (1, 2), (3, 4)):
    ...     found.add("heads", numerator, exponent, 0)
    >>> found.masses(), found.total()
    ({'heads': mpq(15,16)}, mpq(15,16))
    """

    def __init__(self, scales: Scales) -> None:
        self._scales = scales
        self._by_scale: defaultdict[int, dict[Hashable, list[Any]]] = defaultdict(dict)

    def add(self, outcome: Hashable, numerator: gmpy2.mpz, exponent: int, scale: int) -> None:
        """Add the mass of one branch to its outcome."""
        mass = [numerator, exponent]
        try:
            known = self._by_scale[scale].setdefault(outcome, mass)
        except TypeError:
            raise AuditError(
                f"a program must return something hashable: got {type(outcome).__name__}. Return a tuple of numbers."
            ) from None
        if known is not mass:
            deeper = exponent - known[1]
            if deeper > 0:
                known[:] = (known[0] << deeper) + numerator, exponent
            else:
                known[0] += numerator << -deeper

    def masses(self) -> dict[Hashable, gmpy2.mpq]:
        """The mass of each outcome."""
        masses: dict[Hashable, gmpy2.mpq] = {}
        for scale, outcomes in self._by_scale.items():
            odd, first = self._scales.products[scale], not masses
            for outcome, (numerator, exponent) in outcomes.items():
                mass = gmpy2.mpq(numerator, odd << exponent)
                masses[outcome] = mass if first else masses.get(outcome, 0) + mass
        return masses

    def total(self) -> gmpy2.mpq:
        """All mass together: over one power of two for each scale, and only then as a fraction."""
        total = gmpy2.mpq(0)
        for scale, outcomes in self._by_scale.items():
            deepest = max(exponent for _, exponent in outcomes.values())
            numerators = (numerator << deepest - exponent for numerator, exponent in outcomes.values())
            total += gmpy2.mpq(sum(numerators), self._scales.products[scale] << deepest)
        return total
