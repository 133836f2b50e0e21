"""`Rate`: the factor by which a noise law falls per grid step. One exponential, rounded up, toward privacy."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import gmpy2

from lastbit._outcomes import Compared
from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, positive, whole
from lastbit.exact.rounding import ceiling, exp_upper, log_lower, log_upper, power_bounds, precision_for
from lastbit.privacy.dyadic import MAX_RATE_BITS, bits_for, lowest_terms, positive_epsilon
from lastbit.privacy.eta import Eta


@dataclass(frozen=True, slots=True, eq=False)
class Rate(Compared):
    """The factor r = x/2^y by which a noise law falls per grid step: P(X >= i) = r^i for the geometric.

    >>> rate = Rate.from_epsilon("1/20")
    >>> 0.05 >= rate.loss_upper > 0.05 * (1 - 2**-50)
    True
    >>> Rate.from_eta(Eta(1, 1, 1)).fraction
    Fraction(1, 2)
    """

    x: int
    y: int

    def __post_init__(self) -> None:
        y = whole(self.y, "rate's y")
        if y > MAX_RATE_BITS:
            raise ParameterError(f"rate's y must be at most {MAX_RATE_BITS}: got {y}. Use a smaller y or z of eta.")
        if type(self.x) is not int or not 0 < self.x < 1 << y:
            raise ParameterError("rate's x must be an int above 0 and below 2^y, so that the rate is below 1.")
        x, y = lowest_terms(self.x, y)
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "y", y)

    @classmethod
    def from_epsilon(cls, epsilon: Number) -> Rate:
        """Return the dyadic r just above e^-epsilon: its loss per step
        is at most epsilon, and within 2^-50 of epsilon.
        """
        exact = positive_epsilon(epsilon)
        bits = bits_for(exact)
        return cls(exp_upper(-exact, bits), bits)

    @classmethod
    def from_eta(cls, eta: Eta, times: Number = 1) -> Rate:
        """Return 2^-(eta·times): exact when z·times is whole, otherwise rounded up, which is toward privacy.

        >>> Rate.from_eta(Eta(3, 2, 1), times=2).fraction
        Fraction(9, 16)
        """
        exponent = eta.z * positive(times, "times", "It scales the loss per step.")
        x, y = lowest_terms(eta.x, eta.y)
        if y % exponent.denominator == 0:
            root, whole_root = gmpy2.iroot(x, exponent.denominator)
            bits = y // exponent.denominator * exponent.numerator
            if whole_root and bits <= MAX_RATE_BITS:
                return cls(int(root) ** exponent.numerator, bits)
            if whole_root:
                raise ParameterError(f"eta's y*z times {times} must be at most {MAX_RATE_BITS}: got {bits}. Use less.")
        base = Fraction(x, 1 << y)
        bits = bits_for(positive_epsilon(-log_lower(base, precision_for(base)) * exponent))
        return cls(ceiling(lambda precision: power_bounds(base, exponent, precision), bits), bits)

    @property
    def fraction(self) -> Fraction:
        """The rate r as a fraction, exactly."""
        return Fraction(self.x, 1 << self.y)

    @property
    def loss_upper(self) -> float:
        """ln(1/r), the privacy loss of one grid step in nats, rounded up."""
        return log_upper(1 / self.fraction)

    @property
    def scale(self) -> int:
        """⌊1/(1-r)⌋: the typical size of noise of this rate, in steps.

        >>> Rate(3, 2).scale
        4
        """
        one = 1 << self.y
        return one // (one - self.x)

    @property
    def geometric_mean(self) -> Fraction:
        """r/(1-r): the mean of geometric noise of this rate, in steps.

        >>> Rate(3, 2).geometric_mean
        Fraction(3, 1)
        """
        return self.fraction / (1 - self.fraction)

    @property
    def geometric_variance(self) -> Fraction:
        """r/(1-r)²: the variance of geometric noise of this rate, in squared steps.

        >>> Rate(1, 1).geometric_variance
        Fraction(2, 1)
        """
        return _geometric_variance(self)

    @property
    def laplace_variance(self) -> Fraction:
        """2r/(1-r)²: the variance of discrete Laplace noise, the difference of two geometrics, in squared steps."""
        return 2 * self.geometric_variance


@lru_cache(maxsize=64)
def _geometric_variance(rate: Rate) -> Fraction:
    return rate.fraction / (1 - rate.fraction) ** 2
