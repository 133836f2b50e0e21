"""A private selection on values, for an audit: its candidates are functions, which no option of a command can state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

from lastbit.chance.draw import Draw
from lastbit.exact.numbers import Number, number
from lastbit.mechanisms.candidates import Candidate
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.mechanisms.private_selection import PrivateSelection, Winner
from lastbit.privacy.cost import Cost

CandidatesOf = Callable[[Sequence[Number]], Sequence[Candidate]]
"""The candidates that a data set gives, from its values."""


@dataclass(frozen=True)
class SelectionOnValues(Mechanism[Winner]):
    """A PrivateSelection whose candidates follow from values.

    Without candidates of your own, each value, 0 or 1, is a candidate: it tosses a coin, and says by its score how the
    coin fell. The coin of a 1 is fair. The coin of a 0 shows 1 less often, by the candidate's whole cost.

    >>> selection = SelectionOnValues({"candidate_cost": 1, "most": 2})
    >>> selection.cost, [tuple(map(int, neighbour)) for neighbour in selection.neighbours([0, 0])]
    (Cost(epsilon=Fraction(3, 1)), [(0, 1), (1, 0), (1, 1)])
    """

    settings: dict[str, Any] = field(hash=False)
    candidates: CandidatesOf | None = None
    cost: Cost = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._derive(cost=self._on([0]).cost if self.candidates is None else self._build([_nothing]).cost)

    @property
    def name(self) -> str:
        """The name of the mechanism that is audited."""
        return PrivateSelection.__name__

    def ready(self, values: Any) -> Callable[[Draw], Winner]:
        """Return the selection among the candidates of these values."""
        return self._on(values).ready()

    def neighbours(self, values: Sequence[Number]) -> Iterator[tuple[Fraction, ...]]:
        """One person may change every candidate. Nobody knows the neighbours of candidates of your own."""
        own = tuple(values)
        if self.candidates is None:
            yield from (neighbour for neighbour in product(map(Fraction, (0, 1)), repeat=len(own)) if neighbour != own)

    def _on(self, values: Sequence[Number]) -> PrivateSelection:
        if self.candidates is not None:
            return self._build(self.candidates(values))
        rate = Cost.of(self.settings.get("candidate_cost", 1)).rate(Fraction(1)).fraction
        return self._build([_coin(Fraction(1, 2) if number(value, "a value") > 0 else rate / 2) for value in values])

    def _build(self, candidates: Sequence[Candidate]) -> PrivateSelection:
        return PrivateSelection(candidates=candidates, **self.settings)


def _coin(chance: Fraction) -> Candidate:
    return lambda draw: (None, int(draw.bernoulli(chance)))


def _nothing(draw: Draw) -> tuple[None, int]:
    return None, 0
