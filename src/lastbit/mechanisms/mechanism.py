"""What every mechanism has: a cost, a grid, a release, and a way for the auditor to run it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, Final

from lastbit.draw import Draw, Sampler
from lastbit.exact import Cost, Eta, Number, cost_of, positive
from lastbit.grid import Grid

Program = Callable[[Draw], Hashable]
"""A mechanism with its data filled in: all that is left is chance."""


@dataclass(frozen=True, kw_only=True)
class Mechanism(ABC):
    """A frozen object: everything that can be wrong about its parameters is said when it is built.

    Values live on a grid of `resolution`, and one person moves each of them by at most `sensitivity`, of which the
    resolution is a whole part.
    """

    epsilon: Number | None = None
    eta: Eta | None = None
    sensitivity: Number = 1
    resolution: Number = 1
    cost: Cost = field(init=False, repr=False, compare=False)
    grid: Grid = field(init=False, repr=False, compare=False)
    reach: int = field(init=False, repr=False, compare=False)
    """The sensitivity in grid steps."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # The auditor runs the program: of a class with a release of its own it must not be that of the class above.
        if "release" in vars(cls) and "program" not in vars(cls):
            cls.program = Mechanism.program  # type: ignore[method-assign]

    def __post_init__(self) -> None:
        sensitivity = positive(self.sensitivity, "sensitivity", "It is how far one person can move a value.")
        grid = Grid(self.resolution)
        self._derive(cost=cost_of(self.epsilon, self.eta), grid=grid, reach=grid.count(sensitivity, "sensitivity"))

    def _derive(self, **values: object) -> None:
        """Set fields computed from the parameters, while the object is being built."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @cached_property
    def furthest(self) -> Fraction:
        """The sensitivity as an exact number."""
        return self.reach * self.grid.resolution

    @property
    def name(self) -> str:
        """The name in tables and ledgers."""
        return type(self).__name__

    @property
    def parameters(self) -> dict[str, str]:
        """The public parameters as text, for a ledger."""
        given = {each.name: getattr(self, each.name) for each in fields(self) if each.init}
        return {name: str(value) for name, value in given.items() if value is not None}

    @abstractmethod
    def release(self, values: Any, draw: Draw | None = None) -> Any:
        """Draw once and publish. Charge `cost` before you call this, or let a Ledger do both."""

    def program(self, values: Any) -> Program:
        """This mechanism on these values: all that is left is chance.

        A mechanism may do once here what needs no chance, as long as a release goes through the same code.
        """
        return lambda draw: self.release(values, draw=draw)

    def neighbours(self, values: Sequence[Number]) -> Iterator[tuple[Fraction, ...]]:
        """Every other vector on the grid that one person could have turned these values into.

        Each value moves by at most the sensitivity; all the same way where the mechanism is monotone.
        """
        start = self.grid.values(self.grid.steps(values))
        moves = [step * self.grid.resolution for step in range(-self.reach, self.reach + 1)]
        for move in product(moves, repeat=len(start)):
            same_way = min(move, default=0) >= 0 or max(move, default=0) <= 0
            if any(move) and (same_way or not getattr(self, "monotone", False)):
                yield tuple(value + by for value, by in zip(start, move, strict=True))


_SYSTEM: Final = Sampler()
"""One for all, as a new key is slow to make. It remembers only its SystemBits, which threads and forks may share."""


def chance(draw: Draw | None) -> Draw:
    """The draw a release uses when nobody passed one: system randomness."""
    return _SYSTEM if draw is None else draw
