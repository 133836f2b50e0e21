"""Masses are gmpy2 rationals while laws are compared, and fractions for everybody else."""

from __future__ import annotations

from fractions import Fraction

import gmpy2


def fraction_of(value: gmpy2.mpq) -> Fraction:
    """Convert a gmpy2 rational into a Fraction.

    >>> fraction_of(gmpy2.mpq(1, 3))
    Fraction(1, 3)
    """
    return Fraction(int(value.numerator), int(value.denominator))
