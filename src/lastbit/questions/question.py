"""A question to a table: everything between the options of a person and a release, in one object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lastbit.chance.draw import Draw
    from lastbit.mechanisms.mechanism import Mechanism
    from lastbit.questions.showing import Report


@dataclass(frozen=True)
class Question:
    """A question that is ready to be asked. To build one reads no row and spends nothing."""

    mechanism: Mechanism[Any]
    read: Callable[[], Any]
    """Reads the table. The values are exact and private."""
    report: Callable[[Any], Report]
    """What is told about a release."""
    made_up: Callable[[int], Any]
    """Values of the same shape for so many units that nobody has: public, for samples."""
    promise: str = ""
    """The accuracy of the release in words."""
    within: Fraction | None = None
    """The accuracy as a number, in the unit that `counts_in` names; None where there is none."""
    within_of: Callable[[int], Fraction] | None = None
    """The same for so many units, where the accuracy depends on how many there are."""
    counts_in: str = ""
    within_means: str = "How far off an answer may be"
    """What the accuracy says, in words."""
    ready_values: Callable[[Any], Callable[[Draw], Any]] | None = None
    """Makes the values ready for the draw, where that is not the mechanism's own `ready`."""

    def accuracy(self, units: int) -> Fraction | None:
        """The accuracy as a number; `units` is a guess how many units there are."""
        return self.within if self.within_of is None else self.within_of(units)

    def ready(self, values: Any) -> Callable[[Draw], Any]:
        """The release of these values, ready for the draw."""
        return (self.ready_values or self.mechanism.ready)(values)
