"""The privacy profile of two laws: the smallest delta at every epsilon, in both directions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

import gmpy2

from lastbit.audit.laws import TOLERANCE, Law, law
from lastbit.audit.rationals import fraction_of
from lastbit.errors import LastbitError
from lastbit.exact.numbers import Number
from lastbit.mechanisms.mechanism import Program
from lastbit.privacy.cost import Cost
from lastbit.privacy.eta import Eta
from lastbit.privacy.zcdp import log_of

_SMALLEST: Final = 1e-12
"""A picture shows no delta below this."""
_POINTS: Final = 100


@dataclass(frozen=True)
class Point:
    """The smallest delta at an epsilon: two bounds on the first law over the second, and on the second over the first.

    The bounds are equal, and exact, where both laws were explored to the end and e^epsilon is a fraction.
    """

    epsilon: Eta | Number
    one: tuple[Fraction, Fraction]
    other: tuple[Fraction, Fraction]

    @property
    def delta(self) -> tuple[Fraction, Fraction]:
        """Two bounds on the delta of both directions together."""
        return max(self.one[0], self.other[0]), max(self.one[1], self.other[1])


@dataclass(frozen=True)
class Profile:
    """The exact privacy profile of two laws.

    >>> coins = profile(lambda draw: draw.bernoulli("3/4"), lambda draw: draw.bernoulli("1/4"))
    >>> [(str(point.one[0]), str(point.other[0])) for point in coins.points([0, Eta(1, 1, 1), Eta(1, 1, 2)])]
    [('1/2', '1/2'), ('1/4', '1/4'), ('0', '0')]
    >>> coins.odds
    (Fraction(3, 1),)
    """

    one: Law
    other: Law

    def points(self, epsilons: Iterable[Eta | Number]) -> list[Point]:
        """Return the profile at each epsilon."""
        return [
            Point(epsilon, self.one.delta_at(self.other, epsilon), self.other.delta_at(self.one, epsilon))
            for epsilon in epsilons
        ]

    @property
    def odds(self) -> tuple[Fraction, ...]:
        """The e^epsilon above 1 at which the profile bends, rising: the ratios of the two masses of an outcome.

        Between two of them delta is linear in e^epsilon. Above the last one, only outcomes that one law lacks are left.
        """
        p, q = self.one.exact, self.other.exact
        both = ((p[outcome], q[outcome]) for outcome in p if outcome in q)
        ratios: set[gmpy2.mpq] = {max(a / b, b / a) for a, b in both if a != b}
        return tuple(fraction_of(ratio) for ratio in sorted(ratios))

    def plot(self, path: str | Path, cost: Cost | Eta | Number | None = None) -> None:
        """Draw the profile into a picture, and beside it the most that a claimed cost allows. Needs matplotlib.

        >>> coins = profile(lambda draw: draw.bernoulli("3/4"), lambda draw: draw.bernoulli("1/4"))
        >>> coins.plot(getfixture("tmp_path") / "profile.png", cost=2)
        """
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise LastbitError("a profile needs matplotlib. Install it with: pip install 'lastbit[plot]'") from None
        claimed = None if cost is None else Cost.of(cost)
        epsilons = self._epsilons(claimed)
        points = self.points(epsilons)
        places = [float(epsilon) for epsilon in epsilons]
        figure = Figure(figsize=(8, 4), layout="constrained")
        axes = figure.subplots()
        for name, style, bounds in (
            ("program over neighbour", "-", [point.one for point in points]),
            ("neighbour over program", ":", [point.other for point in points]),
        ):
            # The lower bound is drawn, because it is certain. What may be above it is shaded.
            (line,) = axes.plot(places, [float(lower) or math.nan for lower, _ in bounds], style, label=name)
            lower, upper = ([max(float(ends[side]), _SMALLEST) for ends in bounds] for side in (0, 1))
            axes.fill_between(places, lower, upper, color=line.get_color(), alpha=0.2)
        if claimed is not None:
            allowed = [claimed.delta_at(epsilon) or math.nan for epsilon in epsilons]
            axes.plot(places, allowed, "k--", label=f"allowed by {claimed.text}")
        axes.set(xlabel="epsilon", ylabel="delta", yscale="log", ylim=(_SMALLEST, 2), title="privacy profile")
        axes.legend()
        figure.savefig(path)

    def _epsilons(self, cost: Cost | None) -> list[Fraction]:
        """Return where a picture evaluates the profile: evenly, and at the bends while they are few."""
        bends = [Fraction(log_of(ratio)) for ratio in self.odds]
        ends = [Fraction(1), *bends] if cost is None or cost.amount is None else [cost.amount, *bends]
        last = max(ends) * Fraction(11, 10)
        even = [last * step / _POINTS for step in range(_POINTS + 1)]
        return sorted({*even, *(bends if len(bends) <= _POINTS else [])})


def profile(one: Program | Law, other: Program | Law, tolerance: Number = TOLERANCE) -> Profile:
    """Return the privacy profile of two programs, or of two laws."""
    return Profile(*(side if isinstance(side, Law) else law(side, tolerance) for side in (one, other)))
