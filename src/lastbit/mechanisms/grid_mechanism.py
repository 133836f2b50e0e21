"""The base of mechanisms on a grid: a sensitivity in steps of a resolution, and neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Final

from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, positive
from lastbit.mechanisms.mechanism import Mechanism, Released
from lastbit.privacy.cost import Cost
from lastbit.privacy.eta import Eta
from lastbit.values.grid import Grid

MOST_STEPS: Final = 1 << 48
"""The most steps of a sensitivity: thousands of such moves still fit on the grid."""


@dataclass(frozen=True, kw_only=True)
class GridMechanism(Mechanism[Released]):
    """A mechanism on values that lie on a grid of `resolution`.

    One person moves each value by at most `sensitivity`, which is a whole number of steps of the resolution.
    """

    epsilon: Number | None = None
    eta: Eta | None = None
    rho: Number | None = None
    sensitivity: Number = 1
    resolution: Number = 1
    cost: Cost = field(init=False, repr=False, compare=False)
    grid: Grid = field(init=False, repr=False, compare=False)
    _furthest: Fraction = field(init=False, repr=False, compare=False)
    """The sensitivity as an exact number."""
    _reach: int = field(init=False, repr=False, compare=False)
    """The sensitivity in grid steps."""

    def __post_init__(self) -> None:
        sensitivity = positive(self.sensitivity, "sensitivity", "It is how far one person can move a value.")
        grid = Grid(self.resolution)
        reach = grid.count(sensitivity, "sensitivity")
        if reach > MOST_STEPS:
            raise ParameterError(
                f"sensitivity must be at most 2^48 steps of the resolution: got {sensitivity} and {grid.resolution}. "
                "Values are clamped at 2^61 steps. Use a coarser resolution."
            )
        self._set_cost()
        self._derive(sensitivity=sensitivity, resolution=grid.resolution, grid=grid)
        self._derive(_furthest=sensitivity, _reach=reach)

    def _set_cost(self) -> None:
        """Set the cost, and the parameter that gave it to its exact value: so that equal mechanisms are equal."""
        cost = Cost.asked(self.epsilon, self.eta, self.rho)
        if self.epsilon is not None:
            self._derive(epsilon=cost.epsilon)
        elif self.rho is not None:
            self._derive(rho=cost.stated_rho)
        self._derive(cost=cost)

    def neighbours(self, values: Sequence[Number]) -> Iterator[tuple[Fraction, ...]]:
        """Yield every other vector on the grid that one person could have turned these values into.

        Each value moves by at most the sensitivity; all the same way where the mechanism is monotone.
        """
        start = self.grid.values(self.grid.steps(values))
        moves = [step * self.grid.resolution for step in range(-self._reach, self._reach + 1)]
        for move in product(moves, repeat=len(start)):
            same_way = min(move, default=0) >= 0 or max(move, default=0) <= 0
            if any(move) and (same_way or not getattr(self, "monotone", False)):
                yield tuple(value + by for value, by in zip(start, move, strict=True))
