"""`Eta`: a privacy loss in base 2, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from lastbit.errors import ParameterError
from lastbit.exact.numbers import MAX_BITS, Number, shorten, whole
from lastbit.exact.rounding import exp_upper, log_upper
from lastbit.privacy.dyadic import MAX_RATE_BITS, bits_for, lowest_terms, positive_epsilon


@dataclass(frozen=True, slots=True)
class Eta:
    """A privacy loss in base 2, with 2^-eta exact: 2^-eta == (x / 2^y)^z (the base-2 paper's η).

    >>> Eta(1, 1, 1).fraction
    Fraction(1, 2)
    >>> Eta(1, 1, 1).epsilon_upper
    0.6931471805599454
    """

    x: int
    y: int
    z: int

    def __post_init__(self) -> None:
        for name in ("x", "y", "z"):
            object.__setattr__(self, name, whole(getattr(self, name), f"eta's {name}"))
        if self.y * self.z > MAX_RATE_BITS:
            raise ParameterError(
                f"eta's y*z must be at most {MAX_RATE_BITS}: got y={self.y}, z={self.z}. Use a smaller y or z."
            )
        if self.x >= 1 << self.y:
            raise ParameterError(
                f"eta must be positive, so x must be below 2^y: got x={shorten(Fraction(self.x))}, y={self.y}. "
                "A release that costs nothing cannot use the data."
            )

    @classmethod
    def at_most(cls, epsilon: Number, bits: int | None = None) -> Eta:
        """Return the largest eta whose epsilon is at most this, among all etas with 2^-eta a fraction over 2^bits.

        No (x, y, z) with y·z = bits is larger, because (x/2^y)^z is itself a fraction over 2^bits. By default there
        are so many bits that less than 2^-50 of epsilon stays unused.

        >>> Eta.at_most("0.1", bits=8)
        Eta(x=29, y=5, z=1)
        >>> Eta.at_most("0.1").epsilon_upper
        0.1
        """
        exact = positive_epsilon(epsilon)
        bits = bits_for(exact) if bits is None else whole(bits, "bits")
        if bits > MAX_BITS:
            raise ParameterError(f"bits must be at most {MAX_BITS}: got {bits}.")
        x = exp_upper(-exact, bits)
        if x >= 1 << bits:
            raise ParameterError(
                f"bits must be enough to tell 2^-eta from 1: got {bits}. Use bits={bits_for(exact)}, or leave it out."
            )
        return cls(*lowest_terms(x, bits), 1)

    @property
    def fraction(self) -> Fraction:
        """The number 2^-eta, exactly."""
        return Fraction(self.x**self.z, 1 << self.y * self.z)

    @property
    def epsilon_upper(self) -> float:
        """eta·ln 2 as a float, rounded up: never below the true value."""
        return log_upper(Fraction(1 << self.y, self.x), times=Fraction(self.z))
