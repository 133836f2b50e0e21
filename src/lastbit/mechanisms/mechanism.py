"""What every mechanism has: a cost, a grid, a release, and a way for the auditor to run it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, Final

from lastbit.chance.draw import Draw, Sampler
from lastbit.errors import ParameterError
from lastbit.exact.numbers import Cost, Eta, Number, cost_of, positive
from lastbit.values.grid import Grid

_MOST_STEPS: Final = 1 << 48
"""The most steps of a sensitivity: so that thousands of them fit within what the grid holds."""

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

    _converts: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # What ledgers and auditors run must be the release this class has, wherever it has it from.
        release, ready, program = (_place(cls, name) for name in ("release", "_ready", "program"))
        cls._converts = "_ready" in vars(cls.__mro__[release])
        if min(release, ready) < program:
            cls.program = Mechanism.program  # type: ignore[method-assign]

    def __post_init__(self) -> None:
        sensitivity = positive(self.sensitivity, "sensitivity", "It is how far one person can move a value.")
        grid = Grid(self.resolution)
        reach = grid.count(sensitivity, "sensitivity")
        if reach > _MOST_STEPS:
            raise ParameterError(
                f"sensitivity must be at most 2^48 steps of the resolution: got {sensitivity} and {grid.resolution}. "
                "Values are clamped at 2^61 steps. Use a coarser resolution."
            )
        self._derive(cost=cost_of(self.epsilon, self.eta), grid=grid, reach=reach)

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

    def ready(self, values: Any) -> Callable[[Draw], Any]:
        """A release of these values, checked and converted as far as that takes no chance. They may not be copied."""
        return self._ready(values) if self._converts else Mechanism._ready(self, values)

    def _ready(self, values: Any) -> Callable[[Draw], Any]:
        """What a `release` that converts before it draws goes through; of any other, all of it."""
        return lambda draw: self.release(values, draw=draw)

    def program(self, values: Any) -> Program:
        """This mechanism on these values as a program for the auditor."""
        return self.ready(values)

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


def _place(kind: type, name: str) -> int:
    """How far up the class is that gives this method."""
    return next(place for place, each in enumerate(kind.__mro__) if name in vars(each))


_SYSTEM: Final = Sampler()
"""One for all, as a new key is slow to make. It remembers only its SystemBits, which threads and forks may share."""


def chance(draw: Draw | None) -> Draw:
    """The draw a release uses: system randomness when nobody passed one."""
    if draw is None:
        return _SYSTEM
    if not hasattr(draw, "integer"):
        raise ParameterError(f"draw must be a Draw, as lastbit.Sampler() is: got {type(draw).__name__}. Leave it out.")
    return draw
