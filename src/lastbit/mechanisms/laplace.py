"""Discrete Laplace noise: the measurement that goes with every selection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from lastbit.draw import Draw
from lastbit.exact import Number, Rate, rate_of
from lastbit.mechanisms.mechanism import Mechanism, chance
from lastbit.release import Release


@dataclass(frozen=True, eq=False)
class Measurement(Release):
    """Values with discrete Laplace noise, exactly as drawn."""

    values: tuple[Fraction, ...]

    def columns(self) -> dict[str, Sequence[Any]]:
        """The values."""
        return {"value": self.values}


@dataclass(frozen=True, kw_only=True)
class DiscreteLaplace(Mechanism):
    """Add integer noise on the grid.

    >>> noisy = DiscreteLaplace(epsilon=1).release([10, 20])
    >>> len(noisy.values)
    2
    """

    rate: Rate = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._derive(rate=rate_of(self.cost, Fraction(1, self.reach)))

    def release(self, values: Any, draw: Draw | None = None) -> Measurement:
        """The values, each with its own noise."""
        steps = self.grid.steps(values)
        noisy = steps + chance(draw).laplace(self.rate, len(steps))
        return Measurement(self.name, self.cost, self.grid.values(noisy))

    def neighbours(self, values: Sequence[Number]) -> Iterator[tuple[Fraction, ...]]:
        """All vectors whose distances from these values add up to at most the sensitivity."""
        start = self.grid.values(self.grid.steps(values))
        for each in super().neighbours(values):
            if sum(abs(a - b) for a, b in zip(start, each, strict=True)) <= self.reach * self.grid.resolution:
                yield each
