"""What every mechanism has: a cost, a way to get ready, and a release."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Any, ClassVar, Final, Generic, Self, TypeVar, final

from lastbit.chance.draw import Draw
from lastbit.chance.sampler import Sampler
from lastbit.errors import MechanismError, ParameterError
from lastbit.exact.numbers import Number
from lastbit.mechanisms.tick import Tick
from lastbit.privacy.cost import Cost
from lastbit.release import say_of_whom
from lastbit.values.adjacency import Adjacency
from lastbit.values.known import Known

Program = Callable[[Draw], Hashable]
"""A mechanism with its data filled in: all that is left is chance."""

Released = TypeVar("Released", covariant=True)

_NOTHING: Final[Any] = object()
"""Stands for values that were not passed: None is a value, one that is missing."""


class Mechanism(ABC, Generic[Released]):
    """A frozen object with a `cost`: everything that can be wrong about its parameters is said when it is built.

    A subclass writes `ready`. `release` calls it, and so do a ledger, which charges between the two halves of a
    release, and the auditor, which runs the second half on every branch.

    >>> import lastbit as lb
    >>> isinstance(lb.NoisyMax(epsilon="1/2"), lb.Mechanism), lb.NoisyMax(epsilon="1/2").cost.text
    (True, 'epsilon 1/2')
    """

    cost: Cost
    parameters_identify: ClassVar[bool] = True
    """Whether two mechanisms with equal `parameters` ask the same: not where a parameter is a function."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.release is not Mechanism.release or cls.program is not Mechanism.program:
            raise MechanismError(
                f"{cls.__name__} must not define release or program: a ledger and the auditor would not run it. Define "
                "ready(self, values) instead: check and convert the values, and return a function that takes a Draw "
                "and returns the release."
            )

    @abstractmethod
    def ready(self, values: Any) -> Callable[[Draw], Released]:
        """Check and convert the values, without chance. The function returned draws and publishes.

        The values may not be copied: do not change them before the function has run.
        """

    @final
    def release(
        self, values: Any = _NOTHING, draw: Draw | None = None, *, hold: Number | None = None, **options: Any
    ) -> Released:
        """Draw once and publish. Charge `cost` before you call this, or let a Ledger do both.

        Where time can be watched, `hold` keeps the release back: it comes that many seconds after the call, or, if it
        took longer, when the next multiple of them has passed. Options go to `ready`.

        >>> import lastbit as lb
        >>> lb.NoisyMax(epsilon=1).release([50, 10, 900], hold="1/100").index
        2
        """
        tick = None if hold is None else Tick(hold)
        if options or values is _NOTHING:
            ready = self.ready(*(() if values is _NOTHING else (values,)), **options)
        else:
            ready = self.ready(values)  # without a detour that shows in the time of a small release
        result = ready(_SYSTEM if draw is None else resolve_draw(draw))
        if isinstance(values, Known):
            say_of_whom(result, values)
        if tick is not None:
            tick.wait()
        return result

    @final
    def program(self, *values: Any) -> Program:
        """Return the program that the auditor follows: the release of these values.

        Where a release has more branches than anyone can follow, the function that `ready` returns may have an
        attribute `by_law`: a program that draws from the exact law of the release instead.
        """
        ready: Any = self.ready(*values)
        program: Program = getattr(ready, "by_law", ready)
        return program

    def neighbours(self, values: Sequence[Number]) -> Iterator[tuple[Fraction, ...]]:
        """Return every other input that one person could have turned
        these values into; none where that is not known.
        """
        return iter(())

    def mirror(self, values: Any) -> tuple[Any, Callable[[Any], Any]] | None:
        """Return simpler values with the same law but for names, and what turns a release of them into one of these.

        None where there are none. The auditor follows one law for all inputs with equal mirrors. It asks only a class
        that defines both `mirror` and `ready`: what a base says of its own `ready` need not be true of another one.
        """
        return None

    @classmethod
    def of(cls, values: Known, **parameters: Any) -> Self:
        """Return the mechanism for values that say themselves how far one person moves them: Counts or a Statistic.

        The sensitivity, the grid and whether the values are monotone come from the values. Parameters passed here
        win; a release still refuses values that one person moves further.

        >>> import lastbit as lb
        >>> counts = lb.Counts(items=["flu", "cold"], values=[120, 80], monotone=True)
        >>> mechanism = lb.NoisyMax.of(counts, epsilon=1)
        >>> mechanism.sensitivity, mechanism.resolution, mechanism.monotone
        (Fraction(1, 1), Fraction(1, 1), True)
        """
        if not isinstance(values, Known):
            raise ParameterError(
                f"of takes Counts or a Statistic: got {type(values).__name__}. Count a table with lastbit.count first; "
                f"for bare numbers pass sensitivity= and resolution= to {cls.__name__} instead."
            )
        # Mechanisms are dataclasses.
        names = {parameter.name for parameter in fields(cls) if parameter.init}  # type: ignore[arg-type]
        return cls(**{name: value for name, value in cls._parameters_for(values).items() if name in names} | parameters)

    @classmethod
    def _parameters_for(cls, values: Known) -> dict[str, Any]:
        """Return the parameters that follow from what is known about values."""
        facts = {"sensitivity": values.each, "monotone": values.monotone}
        return facts if values.resolution is None else {**facts, "resolution": values.resolution}

    @property
    def adjacency(self) -> Adjacency | None:
        """Whose cost the cost is: "add-remove" for a mechanism that takes its values to be monotone.

        None where the cost holds for the neighbours that the sensitivity was stated for, whoever they are.
        """
        return "add-remove" if getattr(self, "monotone", False) else None

    @property
    def name(self) -> str:
        """The name in tables and ledgers."""
        return type(self).__name__

    @property
    def parameters(self) -> dict[str, str]:
        """The public parameters as text, for a ledger."""
        values = {parameter.name: getattr(self, parameter.name) for parameter in fields(self) if parameter.init}  # type: ignore[arg-type]
        return {name: _text_of(value) for name, value in values.items() if value is not None}

    def _derive(self, **values: object) -> None:
        """Set fields computed from the parameters, while the object is being built."""
        for name, value in values.items():
            object.__setattr__(self, name, value)


def _text_of(value: object) -> str:
    return f"({', '.join(map(str, value))})" if isinstance(value, tuple) else str(value)


_SYSTEM: Final = Sampler()
"""One for all, as a new key is slow to make. It remembers only its SystemBits, which threads and forks may share."""


def resolve_draw(draw: Draw | None) -> Draw:
    """Return the draw a release uses: system randomness when nobody passed one."""
    if draw is None:
        return _SYSTEM
    if not hasattr(draw, "integer"):
        raise ParameterError(f"draw must be a Draw, as lastbit.Sampler() is: got {type(draw).__name__}. Leave it out.")
    return draw


def require_system_draw(draw: Draw) -> None:
    """Refuse a draw that other machines cannot replace: a tape, or a branch of the auditor."""
    if not (isinstance(draw, Sampler) and draw.uses_system_bits):
        raise ParameterError(
            "draw must be left out: other machines draw the noise, from a secret of the release. To replay or audit a "
            "release, bring the values to one machine. Nothing was drawn."
        )
