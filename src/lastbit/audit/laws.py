"""The exact output law of a program."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

import gmpy2

from lastbit._outcomes import hashable
from lastbit.audit.charts import draw_law
from lastbit.audit.divergence import Divergence
from lastbit.audit.enumerator import Enumerator
from lastbit.audit.hockey import hockey_stick, odds_of
from lastbit.audit.nearest import find_nearest, mass_pairs, ratio_cap
from lastbit.audit.rationals import fraction_of
from lastbit.errors import AuditError, ParameterError
from lastbit.exact.numbers import Number, number
from lastbit.exact.rounding import float_lower, float_upper, log_float_lower, log_upper
from lastbit.mechanisms.mechanism import Mechanism, Program
from lastbit.output.numbers import format_column
from lastbit.output.table import MOST_ROWS, html_table, text_table
from lastbit.output.words import plural
from lastbit.privacy.eta import Eta
from lastbit.release import Release

TOLERANCE: Final = Fraction(1, 1 << 40)


@dataclass(frozen=True)
class Law:
    """The outcomes of a program and the exact probability of each, up to the probability left unexplored.

    `law[outcome]` is a lower and an upper bound on the probability of an outcome, found or not. The bounds differ by
    `unexplored`, which is 0 when every branch was followed. Outcomes are compared by ==; 0.0 and -0.0 are two outcomes,
    and NaN is one.

    >>> coin = law(lambda draw: draw.bernoulli("1/3"))
    >>> print(coin)
    2 outcomes on 2 branches, every branch explored
    outcome  probability  exactly
      False     0.666667      2/3
       True     0.333333      1/3
    """

    exact: Mapping[Hashable, gmpy2.mpq]
    """The masses found, as gmpy2 rationals."""
    unexplored: Fraction
    branches: int

    @cached_property
    def masses(self) -> dict[Hashable, Fraction]:
        """The mass found for each outcome. The probability of the outcome is at least this mass."""
        return {outcome: fraction_of(mass) for outcome, mass in self.exact.items()}

    def __getitem__(self, outcome: Hashable) -> tuple[Fraction, Fraction]:
        lower = fraction_of(self.exact.get(hashable(outcome), gmpy2.mpq(0)))
        return lower, lower + self.unexplored

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.exact)

    def __contains__(self, outcome: Hashable) -> bool:
        return hashable(outcome) in self.exact

    def keys(self) -> Iterable[Hashable]:
        """Return the outcomes that were found."""
        return self.exact.keys()

    def items(self) -> Iterator[tuple[Hashable, tuple[Fraction, Fraction]]]:
        """Return every outcome that was found, with the two bounds on its probability.

        >>> [str(lower) for _, (lower, upper) in law(lambda draw: draw.bernoulli("1/3")).items()]
        ['1/3', '2/3']
        """
        return ((outcome, self[outcome]) for outcome in self)

    def delta_at(self, other: Law, epsilon: Eta | Number) -> tuple[Fraction, Fraction]:
        """Return the smallest delta with P(S) <= e^epsilon·Q(S) + delta for every event S: P this law, Q the other one.

        Two bounds. They are equal where both laws were explored to the end and e^epsilon is a fraction: for an Eta and
        for 0. This is one direction: the other one is other.delta_at(this, epsilon).

        >>> one, other = (law(lambda draw, p=p: draw.bernoulli(p)) for p in ("3/4", "1/4"))
        >>> one.delta_at(other, Eta(1, 1, 1)), one.delta_at(other, 0)
        ((Fraction(1, 4), Fraction(1, 4)), (Fraction(1, 2), Fraction(1, 2)))
        """
        hockey = hockey_stick(self, other, odds_of(epsilon))
        return fraction_of(hockey.lower), fraction_of(hockey.upper)

    def epsilon_at(self, other: Law, delta: Number) -> tuple[float, float]:
        """Return the smallest epsilon with P(S) <= e^epsilon·Q(S) + delta
        for every event S: rounded down, and rounded up.

        The inverse of `delta_at`, in the same direction. Infinite where no epsilon is enough.

        >>> one, other = (law(lambda draw, p=p: draw.bernoulli(p)) for p in ("3/4", "1/4"))
        >>> one.epsilon_at(other, "1/4"), one.epsilon_at(other, "3/4")
        ((0.693147180559945..., 0.693147180559945...), (0.0, 0.0))
        """
        apart = number(delta, "delta")
        if not 0 <= apart <= 1:
            raise ParameterError(f"delta must be from 0 to 1: got {delta}. It is a probability.")
        pairs, left = mass_pairs(self, other), apart - self.unexplored
        # The mass that this law lacks may add to every event; the mass that the other lacks may fall on it.
        lower = ratio_cap(pairs, gmpy2.mpq(apart), gmpy2.mpq(other.unexplored))
        upper = ratio_cap(pairs, gmpy2.mpq(left), gmpy2.mpq(0)) if left >= 0 else None
        return (
            math.inf if lower is None else log_float_lower(max(Fraction(1), fraction_of(lower))),
            math.inf if upper is None else log_upper(max(Fraction(1), fraction_of(upper))),
        )

    def renyi(self, other: Law, alpha: Number) -> tuple[float, float]:
        """Return the Rényi divergence of this law from the other one, of
        an order alpha > 1: rounded down, and rounded up.

        Where mass is unexplored, the lower bound holds for the true laws. The upper bound holds up to a delta: for two
        laws that differ from the true ones by no more than the unexplored mass (`audit.nearest`).

        >>> one, other = (law(lambda draw, p=p: draw.bernoulli(p)) for p in ("2/3", "1/3"))
        >>> one.renyi(other, 2)
        (0.40546510810816433, 0.4054651081081644)
        """
        order = number(alpha, "alpha")
        if order <= 1:
            raise ParameterError(f"alpha must be above 1: got {alpha}. It is the order of a Rényi divergence.")
        lower, upper = self._divergence(other).bounds(order)
        return float_lower(lower), float_upper(upper)

    def least_rho(self, other: Law) -> tuple[float, Fraction]:
        """Return a rho that the divergences of this law from the other one
        exceed for certain, and the alpha that proves it.

        The divergence of order alpha over alpha, rounded down, at about the worst alpha. No smaller rho is private.

        >>> one, other = (law(lambda draw, p=p: draw.bernoulli(p)) for p in ("2/3", "1/3"))
        >>> one.least_rho(other)[0]  # ln(2)/3, the limit at alpha 1
        0.231049...
        """
        divergence = self._divergence(other)
        alpha = divergence.worst
        return float_lower(divergence.bounds(alpha)[0] / alpha), alpha

    def _divergence(self, other: Law) -> Divergence:
        return Divergence(find_nearest(self, other))

    def __len__(self) -> int:
        return len(self.exact)

    def __str__(self) -> str:
        title, *more = self._lines()
        return "\n".join([title, text_table(*self._table()), *more])

    def _repr_html_(self) -> str:
        names, rows = self._table()
        title = " ".join(self._lines())
        masses = [fraction_of(mass) for _, mass in self._likeliest()]
        return html_table(names, rows, title) + draw_law([row[0] for row in rows], masses, title)

    def _likeliest(self) -> list[tuple[Hashable, gmpy2.mpq]]:
        return sorted(self.exact.items(), key=lambda item: -item[1])[:MOST_ROWS]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        likeliest = self._likeliest()
        probabilities = format_column([fraction_of(mass) for _, mass in likeliest])
        names = ["outcome", "probability", "at least" if self.unexplored else "exactly"]
        return names, [
            [render_outcome(outcome), probability, _short(mass)]
            for (outcome, mass), probability in zip(likeliest, probabilities, strict=True)
        ]

    def _lines(self) -> list[str]:
        left = f"unexplored {float(self.unexplored):.3g}" if self.unexplored else "every branch explored"
        more = [f"… and {plural(len(self) - MOST_ROWS, 'more outcome')}"] if len(self) > MOST_ROWS else []
        return [f"{plural(len(self), 'outcome')} on {plural(self.branches, 'branch', 'branches')}, {left}", *more]


def _short(mass: gmpy2.mpq) -> str:
    text = str(mass) if mass.denominator.bit_length() < 64 else ""
    return text if 0 < len(text) <= 24 else "…"


def render_outcome(outcome: Hashable) -> str:
    """Write an outcome in one line: the published columns of a release, without its name and cost."""
    if isinstance(outcome, Release):
        columns = {name: [render_outcome(value) for value in column] for name, column in outcome.columns().items()}
        return " ".join(f"{name}={','.join(column)}" for name, column in columns.items())
    return str(outcome)


def parse_tolerance(tolerance: Number) -> Fraction:
    """Parse a tolerance into a fraction. It is refused unless it is a probability below 1."""
    exact = number(tolerance, "tolerance")
    if not 0 <= exact < 1:
        raise ParameterError(f"tolerance must be from 0 to below 1: got {tolerance}. It is a probability.")
    return exact


def law(program: Program, tolerance: Number = TOLERANCE, *, seconds: float | None = None) -> Law:
    """Return the output law of a program: any callable that takes a Draw and returns something hashable.

    The auditor follows endless draws until less than `tolerance` is left open, or until `seconds` have passed. With a
    tolerance of 0 it follows every branch to the end, however unlikely.

    >>> dice = law(lambda draw: draw.integer(6) + draw.integer(6) + 2)
    >>> dice[7]
    (Fraction(1, 6), Fraction(1, 6))
    """
    exact = parse_tolerance(tolerance)
    enumerator = Enumerator()
    masses, unexplored = enumerator.explore(program, exact, seconds=seconds)
    return Law(masses, fraction_of(unexplored), enumerator.branches)


class MechanismLaws:
    """The laws of one mechanism: inputs that the mechanism says are mirrors of each other need one law together.

    >>> import lastbit as lb
    >>> laws = MechanismLaws(lb.NoisyMax(epsilon=1, resolution=1), Fraction(1, 10))
    >>> one, other = laws.find([0, 3]), laws.find([4, 1])
    >>> list(one.masses.values()) == list(other.masses.values()), {best.index for best in other} == {0, 1}
    (True, True)
    """

    def __init__(self, mechanism: Mechanism[Any], tolerance: Fraction) -> None:
        self._mechanism, self._tolerance = mechanism, tolerance
        # A subclass that gets ready in its own way may have another law.
        self._has_mirrors = {"mirror", "ready"} <= vars(type(mechanism)).keys()
        self._known: dict[Hashable, Law] = {}

    def find(self, values: Any, *, seconds: float | None = None) -> Law:
        """Return the law on these values: that of their mirror under their own names, where they have one."""
        mirror = self._mechanism.mirror(values) if self._has_mirrors else None
        if mirror is None:
            return law(self._mechanism.program(values), self._tolerance, seconds=seconds)
        simpler, rename = mirror
        if simpler not in self._known:
            self._known[simpler] = law(self._mechanism.program(simpler), self._tolerance, seconds=seconds)
        mirrored = self._known[simpler]
        exact = {rename(outcome): mass for outcome, mass in mirrored.exact.items()}
        if len(exact) < len(mirrored):
            raise AuditError(
                f"{self._mechanism.name}.mirror must tell outcomes apart as their mirrors are: two became one. Correct "
                "it, or leave it out."
            )
        return Law(exact, mirrored.unexplored, mirrored.branches)
