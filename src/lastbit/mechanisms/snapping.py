"""Mironov's snapping mechanism: Laplace noise by logarithm, made safe by rounding what comes out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import gmpy2
import numpy as np

from lastbit.chance.distributions import join_words
from lastbit.chance.draw import Draw
from lastbit.chance.sampler import Sampler
from lastbit.errors import ParameterError
from lastbit.estimate.accuracy import least_epsilon
from lastbit.exact.numbers import Number, positive, probability
from lastbit.exact.rounding import exp_bounds, fraction, log_lower, short_upper, to_nearest
from lastbit.mechanisms.grid_mechanism import GridMechanism
from lastbit.mechanisms.mechanism import Program
from lastbit.mechanisms.snapping_outcomes import Outcomes
from lastbit.mechanisms.snapping_units import SnappingUnits
from lastbit.privacy.rate import Rate
from lastbit.release import Interval, Measurement
from lastbit.values.grid import Grid
from lastbit.values.known import Known, unpack_within
from lastbit.values.raw import exact_ratio
from lastbit.values.statistic import as_list, parse_bounds

_COIN: Final = Rate(1, 1)

_LEAST_PRECISION: Final = 118
"""Bits the notes ask for, whatever the bounds."""

_GUARD: Final = 8
"""Bits beyond the precision that the cost speaks of. They pay for the bound in `Snapping`'s Law, which is ours."""


@dataclass(frozen=True, eq=False, repr=False)
class SnappedValue(Measurement):
    """One value, noisy and rounded, exactly as drawn.

    >>> import lastbit as lb
    >>> found = lb.Snapping(epsilon=9, bounds=(0, 100)).release(37.5)
    >>> low, high = found.interval("0.999999")
    >>> low < 37.5 < high
    True
    """

    value: Fraction
    source: Snapping = field(compare=False, repr=False)

    @property
    def values(self) -> tuple[Fraction, ...]:
        """The published value, alone in a tuple."""
        return (self.value,)

    def interval(self, level: Number = "0.95") -> Interval:
        """Return an interval that holds the true value with at least this probability, if it was within the bounds."""
        reach = self.source.accuracy(level)
        return self.value - reach, self.value + reach

    def error_bars(self, level: Number = "0.95", most: int | None = None) -> dict[str, tuple[Interval]]:
        """Return the confidence interval of the value."""
        return {"value": (self.interval(level),)}


@dataclass(frozen=True, kw_only=True)
class Snapping(GridMechanism[SnappedValue]):
    """Clamp, add Laplace noise, round to a power of two, clamp again: for one value with known bounds.

    It is here because the papers describe it and some must use it. `DiscreteLaplace` is better wherever a grid will do,
    and counts and exact sums are on one. For a value around 50, within bounds 0 and 100, at epsilon 1: this mechanism
    rounds to even numbers, its root mean square error is 1.49 to 1.56 depending on the value, it is off by up to 0.06
    on average, and it promises to keep within 4.00 with probability 95%. The discrete Laplace has 1.36, no bias, and
    3.00. It is also faster, and takes vectors.

    `gamma` widens the bounds, so that a value within those given is clamped with at most this probability.

    Paper:    Covington's notes on Mironov's mechanism, sections 2 to 6; see docs/errata.md, A7,
              A10 and B4 to B9.
    Law:      round(f + S·λ·LN(U)) in units of the sensitivity, to multiples of Λ, the power of two from λ on, ties up.
              U has an exponent with P(e) = 2^-e from 1 on and as many further bits as the arithmetic, p + 8. So each
              probability is a difference of two numbers of p + 8 bits, whose relative error of at most
              26·(1 + B/λ)·2^-(p+8) is below the 2η + 12·B·η/λ that the cost sets aside for η = 2^-p.
    Cost:     epsilon: the noise has epsilon' = (epsilon - 2η)/(1 + 12·B·η).
    Assumes:  one person moves the value by at most `sensitivity`.
    Checked:  tests/laws/test_snapping.py, exactly: `law` gives every probability as a fraction.
    Speed:    three words and one logarithm, about 15 µs. The time of the logarithm depends on the noise.

    >>> mean = Snapping(epsilon=1, bounds=(0, 100)).release(42)
    >>> 0 <= float(mean) <= 100
    True
    """

    bounds: tuple[Number, Number]
    gamma: Number | None = None
    resolution: Number = field(init=False, repr=False, compare=False)
    """What released values are rounded to, measured from the middle of the bounds: Λ times the sensitivity."""
    _unit: Fraction = field(init=False, repr=False, compare=False)
    """The sensitivity. All that follow are in units of it."""
    _middle: Fraction = field(init=False, repr=False, compare=False)
    """The middle of the bounds."""
    _half: Fraction = field(init=False, repr=False, compare=False)
    """Half the distance of the clamping bounds (the paper's B)."""
    _precision: int = field(init=False, repr=False, compare=False)
    """The bits that the cost speaks of (the paper's p, with η = 2^-p)."""
    _scale: Fraction = field(init=False, repr=False, compare=False)
    """The scale of the noise (the paper's λ'): at least 1/epsilon', a number of `precision` bits."""
    _negated: gmpy2.mpfr = field(init=False, repr=False, compare=False)
    """The scale once more, below zero, as MPFR multiplies it."""
    _snap: Fraction = field(init=False, repr=False, compare=False)
    """The power of two that values are rounded to (the paper's Λ')."""
    _units: SnappingUnits = field(init=False, repr=False, compare=False)
    """The same in whole numbers."""

    def __post_init__(self) -> None:
        unit = positive(self.sensitivity, "sensitivity", "It is how far one person can move a value.")
        lower, upper = parse_bounds(self.bounds)
        self._set_cost()
        self._derive(bounds=(lower, upper), sensitivity=unit)
        epsilon = self.cost.nats_lower
        precision = max(_LEAST_PRECISION, _bits(1 / epsilon) + 2)
        half = (upper - lower) / 2 / unit
        if self.gamma is not None:
            gamma = probability(self.gamma, "gamma")
            half += _widening(epsilon - Fraction(2, 1 << precision), gamma)
            self._derive(gamma=gamma)
        precision = max(precision, _bits(half) + 52)
        eta = Fraction(1, 1 << precision)
        scale = short_upper((1 + 12 * half * eta) / (epsilon - 2 * eta), precision)
        snap = Fraction(1 << (scale.numerator - 1).bit_length(), scale.denominator)
        self._derive(grid=Grid(snap * unit), resolution=snap * unit, _furthest=unit, _reach=math.ceil(1 / snap))
        middle = (lower + upper) / 2
        self._derive(_unit=unit, _middle=middle, _half=half, _precision=precision, _scale=scale, _snap=snap)
        self._derive(_units=SnappingUnits.of(middle, unit, half, snap, precision + _GUARD))
        with to_nearest(precision + _GUARD):
            self._derive(_negated=gmpy2.mpfr(gmpy2.mpq(-scale)))

    def ready(self, values: Any) -> Callable[[Draw], SnappedValue]:
        """Return the value with noise: a number, or a list of one.

        >>> Snapping(epsilon=1, bounds=(0, 10)).release(float("nan")).values[0] >= 0
        True
        >>> from lastbit import audit
        >>> audit.check(Snapping(epsilon=1, bounds=(0, 8)), 3, 4).holds
        True
        """
        number = self._only_value(values)
        return _SnappingRelease(self, number, self._units.place(number))

    @classmethod
    def _parameters_for(cls, values: Known) -> dict[str, Any]:
        return {"sensitivity": values.total}

    def law(self, value: Any) -> dict[Fraction, Fraction]:
        """Return the exact probability of every value that a release of this one can publish.

        The noise falls as U rises, so an outcome is an interval of U, and P(U < u) = u for every u that U can be.

        >>> law = Snapping(epsilon=1, bounds=(0, 8)).law(4)
        >>> sum(law.values()), {int(outcome): round(float(p), 3) for outcome, p in law.items()}
        (Fraction(1, 1), {0: 0.025, 2: 0.159, 4: 0.632, 6: 0.159, 8: 0.025})
        """
        law, units = dict[Fraction, Fraction](), self._units
        for step, mass in sorted(self._outcomes(self._start(value)).masses()):
            outcome = units.outcome(step + units.most)
            law[outcome] = law.get(outcome, Fraction(0)) + mass
        return law

    def _outcomes(self, start: Fraction) -> Outcomes:
        return Outcomes(self._at_least, start, self._snap, self._units.most)

    def accuracy(self, level: Number = "0.95") -> Fraction:
        """Return a distance that the released value keeps to a value within the bounds, with at least this probability.

        This is the notes' GetAccuracy2, rounded up; their GetAccuracy is wrong in its last case.

        >>> float(Snapping(epsilon=1, bounds=(0, 100)).accuracy("0.95"))
        3.9957322735539913
        """
        logarithm = -log_lower(1 - probability(level, "level"), self._precision + _GUARD)
        slack = 1 + Fraction(1, 1 << self._precision)
        reach = self._scale * (logarithm * slack + slack - 1) + self._snap / 2
        return short_upper(min(reach, 2 * self._half) * self._unit)

    @classmethod
    def for_accuracy(cls, accuracy: Number, level: Number = "0.95", **parameters: Any) -> Snapping:
        """Return the mechanism with the least epsilon, to nine significant
        digits, whose `accuracy(level)` is at most this.

        >>> float(Snapping.for_accuracy(4, "0.95", bounds=(0, 100)).epsilon)
        0.998577425
        """
        target = positive(accuracy, "accuracy", "It is a distance, and values are rounded.")
        epsilon = least_epsilon(lambda epsilon: cls(epsilon=epsilon, **parameters).accuracy(level) <= target)
        return cls(epsilon=epsilon, **parameters)

    def bias_bound(self, guess: Number) -> Fraction:
        """Return a bound on how far the mean release of a value is from it, were the value this guess; rounded up.

        >>> snapping = Snapping(epsilon=1, bounds=(0, 100))
        >>> float(snapping.bias_bound(50)), float(snapping.maximum_bias)
        (1.0, 1.1839397205857212)
        """
        start = abs(self._start(guess))
        # Rounding moves a value by at most Λ/2. Toward the middle is worse, as clamping goes that way too.
        centre, half, scale = start - self._snap / 2, self._half, self._scale
        near, far = abs(centre + half) / scale, (half - centre) / scale
        below, _ = exp_bounds(-near, -near, self._precision)
        _, above = exp_bounds(-far, -far, self._precision)
        away = self._snap / 2 if centre >= -half else start + half
        bound = away + scale / 2 * (fraction(above) - fraction(below)) + scale / (1 << self._precision)
        return short_upper(bound * self._unit)

    @property
    def maximum_bias(self) -> Fraction:
        """`bias_bound` at the bounds, where it is largest."""
        return self.bias_bound(self._middle + self._half * self._unit)

    def neighbours(self, values: Sequence[Number]) -> Iterator[tuple[Fraction, ...]]:
        """Yield the value moved by the sensitivity, either way, within the bounds."""
        start = self._start(values)
        for move in (-1, 1):
            position = max(-self._half, min(self._half, start + move))
            if position != start:
                yield (self._middle + position * self._unit,)

    @property
    def _further(self) -> int:
        """How many bits of U follow its leading one."""
        return self._precision + _GUARD - 1

    def _only_value(self, values: Any) -> Any:
        """Return the one number that is passed, refused where there are several."""
        if type(values) is float or type(values) is int:
            return values
        raw, _ = as_list(unpack_within(values, self._unit))
        if not isinstance(raw, Sequence | np.ndarray) or isinstance(raw, str | bytes) or len(raw) != 1:
            raise ParameterError("values must be one number, or a list of one. Release several one by one.")
        return raw[0]

    def _start(self, values: Any) -> Fraction:
        """Return the value in units of the sensitivity, from the middle, clamped. NaN counts as the lower bound."""
        above, below = exact_ratio(self._only_value(values))
        if below == 0:
            return self._half if above > 0 else -self._half
        return max(-self._half, min(self._half, (Fraction(above, below) - self._middle) / self._unit))

    def _noise(self, index: int) -> gmpy2.mpfr:
        """Return -λ·LN(u), both operations rounded to nearest, for the u that comes -index places before 1."""
        further = self._further
        leading = gmpy2.mpz((1 << further) | (index & ((1 << further) - 1)))
        nearest = _nearest(further + 1)
        u = nearest.mul(leading, _power_of_two((index >> further) - further, further + 1))
        return nearest.mul(self._negated, nearest.log(u))

    def _release(self, value: Fraction) -> SnappedValue:
        return SnappedValue.made(self.name, self.cost, True, value, self)

    def _at_least(self, distance: Fraction) -> Fraction:
        """Return P(noise, either way, is at least this)."""
        edge = gmpy2.mpq(abs(distance))
        if distance > 0:
            return self._below(lambda noise: gmpy2.mpq(noise) < edge, distance) / 2
        return 1 - self._below(lambda noise: gmpy2.mpq(noise) <= edge, -distance) / 2

    def _below(self, is_reached: Callable[[gmpy2.mpfr], bool], distance: Fraction) -> Fraction:
        """Return the least u whose noise has come down to this distance: P(U < u) = u."""
        further = self._further
        with to_nearest(further + 1):
            near = fraction(gmpy2.exp(-gmpy2.mpfr(gmpy2.mpq(distance / self._scale))))
        exponent = near.denominator.bit_length() - near.numerator.bit_length()
        exponent += near * (1 << exponent) < 1
        guess = min(-1, math.floor((near * (1 << exponent) - 1) * (1 << further)) - (exponent << further))
        low, high, stride = guess, guess, 1
        while is_reached(self._noise(low)):
            low, stride = low - stride, stride * 2
        stride = 1
        while high < 0 and not is_reached(self._noise(high)):
            high, stride = min(0, high + stride), stride * 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if is_reached(self._noise(middle)) else (middle, high)
        return Fraction((1 << further) | (high & ((1 << further) - 1)), 1 << further - (high >> further))


class _SnappingRelease:
    """A release of one value, which is at this place."""

    __slots__ = ("mechanism", "number", "place")

    def __init__(self, mechanism: Snapping, number: Any, place: gmpy2.mpz) -> None:
        self.mechanism, self.number, self.place = mechanism, number, place

    def __call__(self, draw: Draw) -> SnappedValue:
        mechanism, units, further = self.mechanism, self.mechanism._units, self.mechanism._further
        exponent, bits = _draw_uniform(further, draw)
        noise = mechanism._noise((bits >> 1) - (exponent << further))
        whole = _nearest(further + 1).mul(noise, _power_of_two(units.noise_bits, further + 1))
        return mechanism._release(units.snap(self.place, gmpy2.mpz(whole), 1 - 2 * (bits & 1)))

    @property
    def by_law(self) -> Program:
        """For the auditor: the exact law in place of the 2^125 branches of a release."""
        mechanism, units = self.mechanism, self.mechanism._units
        law = mechanism._outcomes(mechanism._start([self.number])).distribution
        return lambda draw: mechanism._release(units.outcome(draw._one(law) + units.most))


def _draw_uniform(further: int, draw: Draw) -> tuple[int, int]:
    """Return the exponent of U, from 1 on, and so many further bits of U before one for the side."""
    if type(draw) is Sampler:
        # The words of both draws at once, in the order in which they read them.
        words = draw.raw(1 + -(-(further + 1) // 64))
        first, *rest = np.frombuffer(words, np.uint64).tolist()
        if first:
            # U < 2^-j for as many j as the word has leading zeros, and ⌊U·2^m⌋ is the first m bits.
            return 65 - first.bit_length(), join_words(rest) >> 64 * len(rest) - further - 1
        draw = draw.resume(words)
    return draw.geometric(_COIN) + 1, draw.integer(2 << further)


@lru_cache(maxsize=256)
def _power_of_two(exponent: int, precision: int) -> gmpy2.mpfr:
    """Return 2^exponent. To multiply by it is exact, and quicker than MPFR's shifts are here."""
    # In a context of its own: that of the program may end before such a power, or trap it.
    return _nearest(precision).exp2(exponent)


@lru_cache(maxsize=64)
def _nearest(precision: int) -> gmpy2.context:
    """Return one context for all operations of a precision: to make one takes as long as to use it."""
    return to_nearest(precision)


def _bits(value: Fraction) -> int:
    """Return the least m >= 0 with 2^m >= value."""
    return (math.ceil(value) - 1).bit_length()


def _widening(epsilon: Fraction, gamma: Fraction) -> Fraction:
    """Return how far beyond values the bounds must lie, to clamp with probability gamma: section 6.5, rounded up."""
    coarsest = (2 + Fraction(24, 1 << 52)) / epsilon
    return short_upper(coarsest / 2 * (1 - 2 * log_lower(gamma, 128)))
