"""`Cost`: the cost of a release. Code outside of this folder need not know an eta from an epsilon."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any, Final

from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, flag, number, positive, probability, shorten
from lastbit.exact.rounding import exp_bounds, float_upper, fraction, log_lower, log_upper, short_upper
from lastbit.privacy import zcdp
from lastbit.privacy.dyadic import MAX_RATE_BITS, positive_epsilon
from lastbit.privacy.eta import Eta
from lastbit.privacy.rate import Rate

_NONE: Final = Fraction(0)
_FAR: Final = Fraction(1 << 200)
"""No delta is looked for beyond this epsilon: it is the least that is stated."""
_FAR_GROUP: Final = Fraction(1 << 14)
"""Beyond this epsilon the delta of a group is 1."""
_RHO_RANGE: Final = Fraction(1, 1 << 1000), Fraction(1 << 1000)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cost:
    """The exact cost of a release: an epsilon in nats or an eta in base 2, a rho of zCDP, and a delta. Costs add up.

    All three hold at once, each an upper bound: P(S) <= e^epsilon·Q(S) + delta for every event S on neighbours, and,
    but for an event of probability delta, zCDP of rho. `epsilon` is None where no epsilon holds, as for Gaussian noise.
    A pure cost is equal to the number or the eta that it stands for.

    >>> Cost.of("0.1") + Cost.of("0.2") <= Cost.of("0.3")
    True
    >>> Cost.of(Eta(1, 1, 1)).text, Cost.of(1) == 1, Cost.zcdp("1/100").text
    ('eta (1, 1, 1)', True, 'rho 1/100')
    """

    epsilon: Fraction | Eta | None
    stated_rho: Fraction | None = None
    """A rho that is known besides the one that follows from epsilon."""
    delta: Fraction = _NONE
    in_rho: bool = False
    """Whether a person asked for it in rho: then it is written in rho."""
    rho_of_two: Fraction | None = None
    """The rho of two steps, where less is known to hold than the four times that `of_two` takes otherwise."""

    def __post_init__(self) -> None:
        if self.epsilon is None and self.stated_rho is None:
            raise ParameterError(
                "a cost must have an epsilon or a rho: got neither. Write Cost.of(1), or Cost.zcdp('1/100')."
            )
        rhos = (("rho", self.stated_rho), ("rho_of_two", self.rho_of_two))
        for name, value in (("epsilon", self.epsilon), *rhos, ("delta", self.delta)):
            exact = isinstance(value, Fraction) or (name == "epsilon" and isinstance(value, Eta))
            if value is not None and not exact:
                raise ParameterError(f"{name} of a Cost must be a Fraction: got {type(value).__name__}. Use Cost.of.")
        flag(self.in_rho, "in_rho")
        if self.delta < 0 or any(rho is not None and rho <= 0 for _, rho in rhos):
            raise ParameterError("rho of a Cost must be positive, and delta not negative: they are upper bounds.")

    @classmethod
    def of(cls, value: Cost | Eta | Number) -> Cost:
        """Return a cost from a number, which is an epsilon, or from an eta."""
        if isinstance(value, Cost):
            return value
        if isinstance(value, Eta):
            return cls(value)
        return cls(positive(value, "cost", "A release that costs nothing cannot use the data."))

    @classmethod
    def zcdp(cls, rho: Number, delta: Number = 0) -> Cost:
        """Return the cost of a release that is rho-zCDP, but for an event of probability delta, and has no epsilon.

        >>> Cost.zcdp("1/2").epsilon_at("1e-6")
        5.2215344445301...
        """
        return cls(None, positive_rho(rho), _parse_delta(delta), in_rho=True)

    @classmethod
    def asked(cls, epsilon: Number | None, eta: Eta | None, rho: Number | None = None) -> Cost:
        """Return the cost that a person asks for, by exactly one of the three parameters.

        A rho becomes the largest epsilon whose rho is at most this.

        >>> Cost.asked("0.1", None)
        Cost(epsilon=Fraction(1, 10))
        >>> float(Cost.asked(None, None, "1/200").epsilon)
        0.100041...
        """
        if sum(parameter is not None for parameter in (epsilon, eta, rho)) != 1:
            raise ParameterError(
                "exactly one of epsilon, eta and rho must be given. Write epsilon=1, or eta=lastbit.Eta(1, 1, 1), or "
                "rho='1/100'."
            )
        if epsilon is not None:
            return cls(positive_epsilon(epsilon))
        if rho is not None:
            exact = positive_rho(rho)
            return cls(positive_epsilon(zcdp.epsilon_for(exact)), exact, in_rho=True)
        if not isinstance(eta, Eta):
            raise ParameterError(
                f"eta must be a lastbit.Eta: got {type(eta).__name__}. Write eta=lastbit.Eta(1, 1, 1)."
            )
        return cls(eta)

    @property
    def rho(self) -> Fraction:
        """An upper bound of the release's rho: the release is rho-zCDP, but for an event of probability `delta`.

        >>> float(Cost.of("1/10").rho)
        0.00499583749578...
        """
        if self.epsilon is None:
            return self.stated_rho or _NONE
        pure = _pure_rho(self.epsilon)
        return pure if self.stated_rho is None else min(self.stated_rho, pure)

    @property
    def _rho_text(self) -> Fraction:
        """The rho that a person asked for, where it was asked for in rho. It is no less than `rho`."""
        return self.stated_rho if self.in_rho and self.stated_rho is not None else self.rho

    @property
    def text(self) -> str:
        """The cost as people write it.

        >>> Cost.of("0.1").text, Cost.zcdp("1/8", "1e-9").text
        ('epsilon 1/10', 'rho 1/8, delta 1/1000000000')
        """
        loss = self.epsilon
        apart = f", delta {_short(self.delta)}" if self.delta else ""
        if loss is None or self.in_rho:
            return f"rho {_short(self._rho_text)}{apart}"
        return (f"eta ({loss.x}, {loss.y}, {loss.z})" if isinstance(loss, Eta) else f"epsilon {_short(loss)}") + apart

    @property
    def amount(self) -> Fraction | None:
        """The epsilon that a budget is charged: an epsilon itself; for an eta the float at or above eta·ln 2, exactly.

        None where no epsilon holds.

        >>> Cost.of(Eta(1, 1, 1)).amount == Fraction(Eta(1, 1, 1).epsilon_upper)
        True
        """
        return Fraction(self.epsilon.epsilon_upper) if isinstance(self.epsilon, Eta) else self.epsilon

    @property
    def is_pure(self) -> bool:
        """Whether the cost has an epsilon or an eta, and no delta."""
        return self.epsilon is not None and not self.delta

    @property
    def claimed_epsilon(self) -> Fraction | None:
        """The epsilon that a person reads as the claim; None where no epsilon holds, or where the person asked in rho.

        >>> Cost.of(1).claimed_epsilon, Cost.zcdp("1/8").claimed_epsilon
        (Fraction(1, 1), None)
        """
        return None if self.in_rho else self.amount

    @property
    def claimed_rho(self) -> Fraction | None:
        """The rho that is claimed besides the one that follows from epsilon; None where there is none.

        >>> Cost.of(1).claimed_rho, Cost.zcdp("1/8").claimed_rho
        (None, Fraction(1, 8))
        """
        return None if self.epsilon is not None and self.stated_rho is None else self.rho

    @property
    def share_unit(self) -> Fraction:
        """The unit of shares of the cost: the epsilon; for an eta 1, so that a share is a number of etas."""
        return Fraction(1) if isinstance(self.epsilon, Eta) else self._pure

    @property
    def in_bits(self) -> str:
        """The cost in base 2, for people to read; a cost without an epsilon as its text.

        >>> Cost.of(Eta(1, 1, 2)).in_bits
        '2 bits'
        """
        return self.text if self.amount is None else f"{float(self.amount) / math.log(2):.4g} bits"

    @property
    def nats_lower(self) -> Fraction:
        """A number at or below the cost in nats: an epsilon itself; for an eta, at most 2^-200 below."""
        if not isinstance(self.epsilon, Eta):
            return self._pure
        # Enough bits to tell 2^-eta from 1.
        return log_lower(1 / self.epsilon.fraction, 256 + self.epsilon.y * self.epsilon.z)

    @property
    def _pure(self) -> Fraction:
        """The epsilon, where it is a number."""
        if isinstance(self.epsilon, Fraction):
            return self.epsilon
        raise ParameterError(f"a cost with an epsilon is needed here: got {self.text}. Ask for an epsilon instead.")

    def odds_bounds(self) -> tuple[Fraction, Fraction]:
        """Return two fractions, at or below and at or above e^epsilon, the
        most a probability may grow. Equal for an eta.

        >>> Cost.of(Eta(1, 1, 1)).odds_bounds()
        (Fraction(2, 1), Fraction(2, 1))
        """
        loss = self.epsilon
        if isinstance(loss, Eta):
            return 1 / loss.fraction, 1 / loss.fraction
        lower, upper = exp_bounds(self._pure, self._pure, 256 + 2 * math.ceil(self._pure))
        return fraction(lower), fraction(upper)

    def rate(self, times: Fraction) -> Rate:
        """Return the rate whose loss per grid step is cost·times or
        slightly less: the one conversion, toward privacy.
        """
        loss = self.epsilon
        return Rate.from_eta(loss, times) if isinstance(loss, Eta) else Rate.from_epsilon(self._pure * times)

    def epsilon_at(self, delta: Number) -> float:
        """Return an epsilon such that the release is (epsilon, delta)-private, rounded up: the best of what is known.

        >>> (Cost.of("1/10") * 50).epsilon_at("1e-6")
        3.5406558...
        >>> Cost.of(1).epsilon_at(0), Cost.zcdp(1).epsilon_at(0)
        (1.0, inf)
        """
        apart = _parse_delta(delta) - self.delta
        if apart < 0:
            return math.inf
        best = [] if self.amount is None else [_pure_epsilon(self.amount, apart)]
        if apart > 0:
            best.append(zcdp.epsilon_at(short_upper(self.rho, zcdp.BITS), apart))
        return float_upper(min(best)) if best else math.inf

    def delta_at(self, epsilon: Number) -> float:
        """Return a delta such that the release is (epsilon, delta)-private, rounded up: the best of what is known.

        >>> Cost.of(1).delta_at(1), Cost.zcdp("1/10").delta_at(2)
        (0.0, 4.325...e-06)
        """
        target = number(epsilon, "epsilon")
        if target < 0:
            raise ParameterError(f"epsilon must not be negative: got {epsilon}.")
        best = zcdp.delta_at(short_upper(self.rho, zcdp.BITS), min(target, _FAR))
        if self.amount is not None:
            best = min(best, _pure_delta(self.amount, target))
        return min(1.0, float_upper(best + self.delta))

    def of_two(self) -> Cost:
        """Return the cost where neighbours differ by two steps that this
        cost is for, as to remove a record and to add one.

        An epsilon counts twice, a rho four times (Bun and Steinke 2016, Proposition 1.9) unless less is known, and a
        delta 1 + e^epsilon times. Where there is a delta and no epsilon nothing is known.

        >>> Cost.of(1).of_two().epsilon, Cost.zcdp("1/8").of_two().rho
        (Fraction(2, 1), Fraction(1, 2))
        """
        two = self.of_group(2)
        return two if self.rho_of_two is None or self.delta else replace(two, stated_rho=self.rho_of_two)

    def of_group(self, size: int) -> Cost:
        """Return the cost where neighbours differ by so many steps that this cost is for, as a user with many days.

        An epsilon counts `size` times, a rho `size` squared times (Bun and Steinke 2016, Proposition 1.9), and a delta
        1 + e^epsilon + … + e^((size-1)·epsilon) times (Vadhan 2017, Lemma 2.2). Where there is a delta and no epsilon
        nothing is known.

        >>> Cost.of("1/10").of_group(30).epsilon, Cost.zcdp("1/900").of_group(30).rho
        (Fraction(3, 1), Fraction(1, 1))
        >>> Cost(Fraction(1, 10), None, Fraction(1, 10**6)).of_group(30).text
        'epsilon 3, delta 0.0001814717'
        """
        if not self.delta:
            rho = None if self.stated_rho is None else size * size * self.stated_rho
            return Cost(None if self.epsilon is None else self._times(size).epsilon, rho, in_rho=self.in_rho)
        if self.epsilon is None:
            raise ParameterError(f"a cost with an epsilon is needed here: got {self.text}. Ask for an epsilon instead.")
        if size == 1:
            return self
        group = self._times(size)
        if group.nats_lower >= _FAR_GROUP:
            return Cost(group.epsilon, None, Fraction(1))
        steps = (group.odds_bounds()[1] - 1) / (self.odds_bounds()[0] - 1)
        return Cost(group.epsilon, None, min(short_upper(self.delta * steps, zcdp.BITS), Fraction(1)))

    def with_rho_of_two(self, rho: Fraction) -> Cost:
        """Return the same cost, where so much is known for neighbours that differ by two steps.

        Gaussian noise on counts has twice its rho for a record that is replaced: the moves are of different cells, so
        that their squares add up.

        >>> Cost.zcdp("1/8").with_rho_of_two(Fraction(1, 4)).of_two().rho
        Fraction(1, 4)
        """
        return replace(self, rho_of_two=rho)

    def widened(self, times: int | Fraction) -> Cost:
        """Return the cost of so many times the epsilon, and nothing else
        known: for a release that is no composition of parts.

        An epsilon stays exact, and so does an eta where its z times that is whole; otherwise an eta becomes nats,
        rounded up.

        >>> Cost.of("1/10").widened(3), Cost.of(Eta(1, 1, 2)).widened(Fraction(5, 2))
        (Cost(epsilon=Fraction(3, 10)), Cost(epsilon=Eta(x=1, y=1, z=5)))
        """
        if self.delta:
            raise ParameterError(f"a cost without a delta is needed here: got {self.text}.")
        return self._times(times)

    def _times(self, times: int | Fraction) -> Cost:
        loss = self.epsilon
        if not isinstance(loss, Eta):
            return Cost(self._pure * times)
        z = Fraction(loss.z) * times
        if z.denominator == 1:
            return _with_z(loss, z.numerator)
        return Cost(Fraction(log_upper(Fraction(1 << loss.y, loss.x), times=z)))

    def __add__(self, other: Cost) -> Cost:
        if not isinstance(other, Cost):
            return NotImplemented
        # Shares of one rho add up to this rho, as it was written.
        in_rho, rho = self.in_rho or other.in_rho, self._rho_text + other._rho_text
        return Cost(_sum(self.epsilon, other.epsilon), rho, self.delta + other.delta, in_rho)

    def __mul__(self, times: int) -> Cost:
        if type(times) is not int or times < 1:
            return NotImplemented
        epsilon = None if self.epsilon is None else self._times(times).epsilon
        return Cost(epsilon, self.rho * times, self.delta * times, self.in_rho)

    def __le__(self, other: Cost) -> bool:
        """Return whether all three bounds are at most the other's."""
        if not isinstance(other, Cost):
            return NotImplemented
        most = math.inf if other.amount is None else other.amount
        least = math.inf if self.amount is None else self.amount
        return least <= most and self.rho <= other.rho and self.delta <= other.delta

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, Cost):
            return self.epsilon is not None and self.delta == 0 and bool(self.epsilon == other)
        return (self.epsilon, self.delta) == (other.epsilon, other.delta) and self.rho == other.rho

    def __hash__(self) -> int:
        return hash(self.epsilon)

    def __repr__(self) -> str:
        rho = f", rho={self.rho!r}" if self.stated_rho is not None else ""
        return f"Cost(epsilon={self.epsilon!r}{rho}{f', delta={self.delta!r}' if self.delta else ''})"


def positive_rho(value: object) -> Fraction:
    """Return a rho that a person asks for: between 2^-1000 and 2^1000."""
    rho = positive(value, "rho", "A release that costs nothing cannot use the data.")
    if not _RHO_RANGE[0] <= rho <= _RHO_RANGE[1]:
        raise ParameterError(f"rho must be between 2^-1000 and 2^1000: got {shorten(rho)}. Choose another rho.")
    return rho


def _parse_delta(value: object) -> Fraction:
    exact = number(value, "delta")
    return exact if exact == 0 else probability(exact, "delta")


def _pure_rho(epsilon: Fraction | Eta) -> Fraction:
    return zcdp.rho_of(Fraction(epsilon.epsilon_upper) if isinstance(epsilon, Eta) else epsilon)


def _pure_delta(epsilon: Fraction, target: Fraction) -> Fraction:
    """Return the delta of randomized response, the worst release of this epsilon, at another epsilon, rounded up."""
    if target >= epsilon:
        return _NONE
    # (e^epsilon - e^wanted)/(e^epsilon + 1) rises with the first exponential and falls with the second.
    above = fraction(exp_bounds(epsilon, epsilon, 256)[1]) if epsilon < 1 << 14 else None
    if above is None:
        return Fraction(1)
    return short_upper((above - fraction(exp_bounds(target, target, 256)[0])) / (above + 1), zcdp.BITS)


def _pure_epsilon(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the epsilon of randomized response of this epsilon, at a
    delta, rounded up: e^epsilon - delta·(e^epsilon + 1).
    """
    if delta == 0 or epsilon >= 1 << 14:
        return epsilon
    above = fraction(exp_bounds(epsilon, epsilon, 512)[1])
    odds = above - delta * (above + 1)
    if odds <= 1:
        return _NONE
    return min(epsilon, short_upper(-log_lower(1 / odds, 256), zcdp.BITS))


def _short(value: Fraction) -> str:
    """Return a number as people read it: exactly, where that is short, and otherwise rounded up.

    >>> _short(Fraction(3, 40)), _short(Fraction(19527, 1000000)), _short(Fraction(100, 3))
    ('3/40', '0.019527', '100/3')
    """
    if value.denominator.bit_length() < 200 and len(text := str(value)) <= 24:
        is_decimal = value.numerator > 9 and value.denominator > 999 and 10**12 % value.denominator == 0
        return f"{Decimal(value.numerator) / Decimal(value.denominator):f}" if is_decimal else text
    # Short first: a number may be too long for Decimal.
    short = short_upper(value, 60)
    rounded = Context(prec=7, rounding=ROUND_CEILING).divide(Decimal(short.numerator), Decimal(short.denominator))
    return f"{rounded:g}"


def _sum(one: Fraction | Eta | None, two: Fraction | Eta | None) -> Fraction | Eta | None:
    if one is None or two is None:
        return None
    if isinstance(one, Eta) and isinstance(two, Eta) and (one.x, one.y) == (two.x, two.y):
        return _with_z(one, one.z + two.z).epsilon
    # An eta and an epsilon have no common exact form: the eta becomes nats, rounded up.
    return sum((Fraction(loss.epsilon_upper) if isinstance(loss, Eta) else loss for loss in (one, two)), _NONE)


def _with_z(eta: Eta, z: int) -> Cost:
    """Return the eta with another z; in nats, rounded up, where z is too large for an eta."""
    if eta.y * z <= MAX_RATE_BITS:
        return Cost(Eta(eta.x, eta.y, z))
    return Cost(Fraction(Eta(eta.x, eta.y, 1).epsilon_upper) * z)
