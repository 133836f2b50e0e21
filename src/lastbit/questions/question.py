"""A question to a table: everything between the options of a person and a release, in one object."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from lastbit.chance.draw import Draw
    from lastbit.mechanisms.mechanism import Mechanism
    from lastbit.questions.reading import Reading
    from lastbit.questions.report import Report
    from lastbit.values.adjacency import Adjacency

TABLE_ADJACENCY: Final[Adjacency] = "add-remove"
"""What every question reads: units come or go, and how many there are is private."""
MORE: Final = "How much more than a listed item an item left out may have"
"""What the accuracy of a selection measures, as a heading."""


@dataclass(frozen=True)
class Accuracy:
    """How accurate a release will be: said once, and printed by the plan, a dry run, the page and the service."""

    within: Fraction
    """How far off an answer may be, in `unit`."""
    unit: str
    sentence: str
    """The same in words, with the probability that it holds."""
    meaning: str = "How far off an answer may be"
    """What `within` measures, as a heading."""
    total: Fraction | None = None
    """What 100% is, where an accuracy is asked for in percent."""
    groups: int = 1
    """Over how many numbers the total is spread."""
    instead: str = ""
    """What to type in place of --within, where the accuracy depends on what is published; "" where it is known."""


@dataclass(frozen=True)
class Question:
    """A question that is ready to be asked. To build one reads no row and spends nothing."""

    mechanism: Mechanism[Any]
    reading: Reading[Any] | None
    """How the table is read; None for a stream, which has none. The values are exact and private."""
    report: Callable[[Any], Report]
    """Describes a release."""
    sample: Callable[[int], Any]
    """Values of the same shape for so many units that nobody has: public, for samples."""
    accuracy: Callable[[int], Accuracy]
    """The accuracy; the number is a guess how many units there are."""
    notes: Sequence[str] = ()
    """By which rules the rows are read, in sentences."""
    prepare_values: Callable[[Any], Callable[[Draw], Any]] | None = None
    """Makes the values ready for the draw, where that is not the mechanism's own `ready`."""
    depends_on_units: bool = False
    """Whether the accuracy depends on how many units there are."""
    plan_columns: Mapping[str, Sequence[Any]] | None = None
    shows_plan: bool = False
    """Whether a command prints the plan before it reads: where a rule shares the cost among many parts."""
    """What a plan lists in place of the parameters: the error of each part of a release."""
    read_frame: Callable[[Any], Any] | None = None
    """Counts a table of a library in its own engine, where the question can be asked of one."""
    draws_numbers: bool = True
    """Whether there are numbers to draw in a picture."""

    @property
    def adjacency(self) -> Adjacency | None:
        """The neighbours that the cost is for. Of a table units come or go; a stream's are those of its mechanism."""
        return self.mechanism.adjacency if self.reading is None else TABLE_ADJACENCY

    def of_groups(self, size: int) -> Question:
        """Return the same question at its cost for a person who is in up to so many units."""
        from lastbit.questions.group_privacy import GroupPrivacy

        mechanism, prepare = GroupPrivacy(mechanism=self.mechanism, size=size), self.prepare_values
        wide = None if prepare is None else lambda values: mechanism.widen(prepare(values))
        return replace(self, mechanism=mechanism, prepare_values=wide)

    def prepare(self, values: Any) -> Callable[[Draw], Any]:
        """Return the release of these values, ready for the draw."""
        return (self.prepare_values or self.mechanism.ready)(values)
