"""`Cost`: the cost of a release, and everything that depends on the kind of cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, positive
from lastbit.exact.rounding import exp_bounds, fraction, log_lower
from lastbit.privacy.dyadic import MAX_RATE_BITS, positive_epsilon
from lastbit.privacy.eta import Eta
from lastbit.privacy.rate import Rate


@dataclass(frozen=True, slots=True, eq=False)
class Cost:
    """The exact cost of a release: an `epsilon` in nats, or an eta in base 2. Costs add up.

    A cost is equal to the number or the eta that it stands for.

    >>> Cost.of("0.1") + Cost.of("0.2")
    Cost(epsilon=Fraction(3, 10))
    >>> Cost.of(Eta(1, 1, 1)).text, Cost.of(1) == 1
    ('eta (1, 1, 1)', True)
    """

    epsilon: Fraction | Eta

    @classmethod
    def of(cls, value: Cost | Eta | Number) -> Cost:
        """A cost from a number, which is an epsilon, or from an eta."""
        if isinstance(value, Cost):
            return value
        if isinstance(value, Eta):
            return cls(value)
        return cls(positive(value, "cost", "A release that costs nothing cannot use the data."))

    @classmethod
    def asked(cls, epsilon: Number | None, eta: Eta | None) -> Cost:
        """The cost that a person asks for, by exactly one of the two parameters.

        >>> Cost.asked("0.1", None)
        Cost(epsilon=Fraction(1, 10))
        """
        if (epsilon is None) == (eta is None):
            raise ParameterError(
                "exactly one of epsilon and eta must be given. Write epsilon=1, or eta=lastbit.Eta(1, 1, 1)."
            )
        if eta is None:
            return cls(positive_epsilon(epsilon))
        if not isinstance(eta, Eta):
            raise ParameterError(
                f"eta must be a lastbit.Eta: got {type(eta).__name__}. Write eta=lastbit.Eta(1, 1, 1)."
            )
        return cls(eta)

    @property
    def text(self) -> str:
        """The cost as people write it.

        >>> Cost.of("0.1").text
        'epsilon 1/10'
        """
        loss = self.epsilon
        return f"eta ({loss.x}, {loss.y}, {loss.z})" if isinstance(loss, Eta) else f"epsilon {loss}"

    @property
    def amount(self) -> Fraction:
        """The amount that a budget is charged: an epsilon itself; for an eta the float at or above eta·ln 2, exactly.

        >>> Cost.of(Eta(1, 1, 1)).amount == Fraction(Eta(1, 1, 1).epsilon_upper)
        True
        """
        return Fraction(self.epsilon.epsilon_upper) if isinstance(self.epsilon, Eta) else self.epsilon

    @property
    def share_unit(self) -> Fraction:
        """The unit of shares of the cost: the epsilon; for an eta 1, so that a share is a number of etas."""
        return Fraction(1) if isinstance(self.epsilon, Eta) else self.epsilon

    @property
    def in_bits(self) -> str:
        """The cost in base 2, for people to read.

        >>> Cost.of(Eta(1, 1, 2)).in_bits
        '2 bits'
        """
        return f"{float(self.amount) / math.log(2):.4g} bits"

    @property
    def nats_lower(self) -> Fraction:
        """A number at or below the cost in nats: an epsilon itself; for an eta, at most 2^-200 below."""
        if not isinstance(self.epsilon, Eta):
            return self.epsilon
        # Enough bits to tell 2^-eta from 1.
        return log_lower(1 / self.epsilon.fraction, 256 + self.epsilon.y * self.epsilon.z)

    def odds_bounds(self) -> tuple[Fraction, Fraction]:
        """Two fractions, at or below and at or above e^cost, the most a probability may grow. Equal for an eta.

        >>> Cost.of(Eta(1, 1, 1)).odds_bounds()
        (Fraction(2, 1), Fraction(2, 1))
        """
        loss = self.epsilon
        if isinstance(loss, Eta):
            return 1 / loss.fraction, 1 / loss.fraction
        lower, upper = exp_bounds(loss, loss, 256 + 2 * math.ceil(loss))
        return fraction(lower), fraction(upper)

    def rate(self, times: Fraction) -> Rate:
        """The rate whose loss per grid step is cost·times or slightly less: the one conversion, toward privacy."""
        loss = self.epsilon
        return Rate.from_eta(loss, times) if isinstance(loss, Eta) else Rate.from_epsilon(loss * times)

    def __add__(self, other: Cost) -> Cost:
        if not isinstance(other, Cost):
            return NotImplemented
        one, two = self.epsilon, other.epsilon
        if isinstance(one, Eta) and isinstance(two, Eta) and (one.x, one.y) == (two.x, two.y):
            return _repeated(one, one.z + two.z)
        # An eta and an epsilon have no common exact form: the eta becomes nats, rounded up.
        return Cost(self.amount + other.amount)

    def __mul__(self, times: int) -> Cost:
        if type(times) is not int or times < 1:
            return NotImplemented
        loss = self.epsilon
        return _repeated(loss, loss.z * times) if isinstance(loss, Eta) else Cost(loss * times)

    def __eq__(self, other: Any) -> bool:
        return bool(self.epsilon == (other.epsilon if isinstance(other, Cost) else other))

    def __hash__(self) -> int:
        return hash(self.epsilon)


def _repeated(eta: Eta, z: int) -> Cost:
    """The eta with another z; in nats, rounded up, where z is too large for an eta."""
    if eta.y * z <= MAX_RATE_BITS:
        return Cost(Eta(eta.x, eta.y, z))
    return Cost(Fraction(Eta(eta.x, eta.y, 1).epsilon_upper) * z)
