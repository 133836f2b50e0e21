"""Dyadic numbers x/2^y for privacy losses: which losses are allowed, and how many bits they need."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from lastbit.errors import ParameterError
from lastbit.exact.numbers import positive, shorten

MAX_RATE_BITS: Final = 1 << 16
"""The largest power of two under a rate: the largest y·z of an eta, and the largest y of a rate."""

_LOSS_RANGE: Final = Fraction(1, 1 << 512), Fraction(1 << 11)


def positive_epsilon(value: object) -> Fraction:
    """Return a loss in nats that a rate can have: between 2^-512 and 2^11."""
    epsilon = positive(value, "epsilon", "A release that costs nothing cannot use the data.")
    if not _LOSS_RANGE[0] <= epsilon <= _LOSS_RANGE[1]:
        raise ParameterError(
            f"epsilon must be between 2^-512 and 2^11 per step: got {shorten(epsilon)}. "
            "Choose a finer or a coarser resolution, or another epsilon."
        )
    return epsilon


def lowest_terms(x: int, y: int) -> tuple[int, int]:
    """Return x/2^y with an odd numerator.

    >>> lowest_terms(12, 4)
    (3, 2)
    """
    zeros = (x & -x).bit_length() - 1
    return x >> zeros, y - zeros


def bits_for(loss: Fraction) -> int:
    """Return so many bits that rounding e^-loss up to this many bits changes the loss by less than 2^-62 of it."""
    small = max(0, loss.denominator.bit_length() - loss.numerator.bit_length() + 1)
    large = math.ceil(loss * Fraction(14427, 10000)) if loss > 1 else 0
    return 64 + small + large
