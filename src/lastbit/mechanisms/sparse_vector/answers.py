"""The answers of a run over a stream of queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, overload

import numpy as np
from numpy.typing import NDArray

from lastbit._outcomes import Compared
from lastbit.output.words import plural


@dataclass(frozen=True, slots=True, eq=False)
class Answer(Compared):
    """Whether a query was above, how far, how much the answer spent, and what the value was measured as.

    `spent` is in epsilon; for a mechanism built with eta= it is a multiple of that eta.

    >>> Answer(True, Fraction(3), Fraction(1, 10))
    Answer(above=True, gap=Fraction(3, 1), spent=Fraction(1, 10), measurement=None)
    """

    above: bool
    gap: Fraction | None
    spent: Fraction = field(hash=False)
    measurement: Fraction | None = None
    """The value with noise of its own, where the mechanism measures."""
    left: Fraction | None = field(default=None, compare=False, repr=False)
    """What the run could still spend on answers when it gave this one, this one included; None where nobody noted it.

    Which branches an adaptive sparse vector tries follows from it."""


BELOW: Final = Answer(False, None, Fraction(0))


class Answers(Sequence[Answer]):
    """The answers to many queries, in order. Only answers above take memory.

    >>> answers = Answers(1000, {7: Answer(True, Fraction(3), Fraction(1, 10))})
    >>> len(answers), answers.indices, answers[7].gap, answers[8].above
    (1000, (7,), Fraction(3, 1), False)
    """

    __slots__ = ("_above", "_length")

    def __init__(self, length: int, above: dict[int, Answer]) -> None:
        self._length = length
        self._above = above

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, place: int) -> Answer: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Answer, ...]: ...
    def __getitem__(self, place: int | slice) -> Answer | tuple[Answer, ...]:
        places = range(self._length)[place]
        if isinstance(places, int):
            return self._above.get(places, BELOW)
        return tuple(self._above.get(index, BELOW) for index in places)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Answers) and (self._length, self._above) == (other._length, other._above)

    def __hash__(self) -> int:
        return hash((self._length, *self._above.items()))

    def __repr__(self) -> str:
        return f"<{plural(self._length, 'answer')}, {len(self._above):,} above>"

    @property
    def indices(self) -> tuple[int, ...]:
        """Which queries were above."""
        return tuple(self._above)

    @property
    def gaps(self) -> tuple[Fraction | None, ...]:
        """The gaps of the queries above."""
        return tuple(answer.gap for answer in self._above.values())

    @property
    def above(self) -> NDArray[np.bool_]:
        """For each query whether it was above."""
        result = np.zeros(self._length, np.bool_)
        result[list(self._above)] = True
        return result
