"""A distribution as the enumerator uses it: cell by cell, in integers.

The mass of a cell is numerator / (odd · 2^exponent). Along a run numerators multiply and exponents add; the odd parts,
of which a program has few, multiply once for all runs. So no greatest common divisor is taken until the very end.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

import gmpy2

from lastbit.distributions import Distribution


class Cells:
    """The values and masses of a distribution, made as far as they are asked for."""

    __slots__ = ("_bits", "_source", "endless", "exponents", "numerators", "odd", "rest", "upper", "values")

    def __init__(self, distribution: Distribution, bits: int) -> None:
        self._source = distribution.masses()
        self._bits = bits
        self.endless = distribution.endless
        self.values: list[int] = []
        self.numerators: list[gmpy2.mpz] = []
        self.exponents: list[int] = []
        self.odd: list[int] = []
        self.upper: list[int] = []
        """At or above 2^bits · mass."""
        self.rest = [1 << bits]
        """rest[i] is at or above 2^bits · the mass of the cells from i on."""
        self.reach(1)

    def reach(self, i: int) -> bool:
        """Whether there is a cell i - 1; cells without mass are passed over."""
        while len(self.values) < i:
            value, mass = next(self._source, (0, None))
            if mass is None:
                return False
            if mass:
                above, below = mass.numerator, mass.denominator
                exponent = (below & -below).bit_length() - 1
                floor = (above << self._bits) // below
                self.values.append(value)
                self.numerators.append(gmpy2.mpz(above))
                self.exponents.append(exponent)
                self.odd.append(below >> exponent)
                self.upper.append(floor + 1)
                self.rest.append(max(0, self.rest[-1] - floor))
        return True


class Kept:
    """The cells of every distribution met so far, found by the distribution or, when it is made anew, by its law."""

    def __init__(self, bits: int) -> None:
        self._bits = bits
        self._by_object: dict[Distribution, Cells] = {}
        self._by_law: dict[Hashable, Cells] = {}

    def of(self, distribution: Distribution) -> Cells:
        """The same cells for the same law, always."""
        cells = self._by_object.get(distribution)
        if cells is None:
            cells = self._by_law.get(distribution.levels)
            if cells is None:
                cells = self._by_law[distribution.levels] = Cells(distribution, self._bits)
            # A distribution that serves one call only is not worth remembering: its law is found again by its cells.
            if not distribution.cells:
                self._by_object[distribution] = cells
        return cells


class Scales:
    """The products of odd parts met so far, by number; 0 is the empty product."""

    def __init__(self) -> None:
        self.products: list[gmpy2.mpz] = [gmpy2.mpz(1)]
        self._numbers: dict[int, int] = {1: 0}
        self._times: dict[tuple[int, int], int] = {}

    def times(self, scale: int, odd: int) -> int:
        """The number of the product of this one and an odd part."""
        if odd == 1:
            return scale
        known = self._times.get((scale, odd))
        if known is None:
            product = self.products[scale] * odd
            known = self._numbers.setdefault(int(product), len(self.products))
            if known == len(self.products):
                self.products.append(product)
            self._times[scale, odd] = known
        return known


GUARD: Final = 64
"""Bits by which bounds on masses are finer than the tolerance."""
