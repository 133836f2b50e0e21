"""The exact law of a snapped value as a draw: for an auditor, who cannot follow the 2^125 branches of the noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from lastbit.chance.distributions import Distribution, Masses

_HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Outcomes:
    """The outcomes, in rounding steps from the middle of the bounds, as cells of [0, 1) in rising order.

    Bounds may be 2^63 steps apart. So a mass is computed when it is asked for, from the nearest outcome outwards.
    """

    at_least: Callable[[Fraction], Fraction]
    """P(noise >= this distance), exactly."""
    start: Fraction
    """The value, and all distances, in units of the sensitivity."""
    snap: Fraction
    most: int

    @property
    def distribution(self) -> Distribution:
        """Return the law, likeliest outcomes first."""
        return Distribution((self,), (), self.masses, cells=1)

    def above(self, step: int) -> Fraction:
        """Return the probability P(outcome >= step)."""
        if step <= -self.most:
            return Fraction(1)
        return Fraction(0) if step > self.most else self.at_least((step - _HALF) * self.snap - self.start)

    def masses(self) -> Masses:
        """Yield each outcome with its mass, the side that is nearer first."""
        up = min(self.most, max(-self.most, round(self.start / self.snap)))
        down, over = up - 1, self.above(up)
        under = over
        while up <= self.most or down >= -self.most:
            if up <= self.most:
                rest = self.above(up + 1)
                yield up, over - rest
                up, over = up + 1, rest
            if down >= -self.most:
                rest = self.above(down)
                yield down, rest - under
                down, under = down - 1, rest

    def cell(self, u: int, bits: int) -> int | None:
        """Return the outcome whose cell holds all of [u, u+1)/2^bits."""
        low, high = -self.most, self.most + 1
        while high - low > 1:
            middle = (low + high) // 2
            # Outcomes below the middle own [0, 1 - P(outcome >= middle)).
            edge = (1 - self.above(middle)) * (1 << bits)
            if u >= edge:
                low = middle
            elif u + 1 <= edge:
                high = middle
            else:
                return None
        return low
