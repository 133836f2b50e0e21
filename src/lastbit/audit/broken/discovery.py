"""Searches for items that nobody listed, each with one line of the rule left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np

from lastbit.audit.broken.case import Case
from lastbit.chance.draw import Draw
from lastbit.mechanisms.mechanism import Program
from lastbit.mechanisms.top_k.selector import Selector
from lastbit.privacy.cost import Cost
from lastbit.privacy.eta import Eta
from lastbit.privacy.rate import Rate

_BIT: Final = Eta(1, 1, 1)
_TWO: Final = Eta(1, 1, 2)
_HALF: Final = Rate(1, 1)
_TAU: Final = 3
_SOURCE: Final = (
    "No paper: a slip in a variant of Durfee and Rogers, Practical differentially private top-k selection, with "
    "exponential noise and gaps"
)


def search(
    counts: Mapping[str, int],
    *,
    k: int,
    candidates: int,
    above: int = 1,
    strict: bool = False,
    backwards: bool = False,
    through: bool = False,
) -> Program:
    """Return a search with a bottom `above` + tau steps over the next item. The defaults are right.

    strict: items that are equal to the next item are no candidates; dummies of its count stand for them.
    backwards: equals come in the other order, as by a rule that looks at the data.
    through: items that come below the bottom are published too.
    """
    rows = sorted(
        ((-count, name) for name, count in counts.items() if count),
        key=lambda row: (
            row[0],
            [-ord(letter) for letter in row[1]] if backwards else [ord(letter) for letter in row[1]],
        ),
    )
    level = -rows[candidates][0] if len(rows) > candidates else 0
    listed = [(name, -count) for count, name in rows[:candidates] if not strict or -count > level]
    names: list[str | None] = [name for name, _ in listed]
    steps = [count for _, count in listed]
    while len(steps) < candidates:
        names.append(None)
        steps.append(level if strict else 0)
    names.append(None)
    steps.append(level + above + _TAU)
    values = np.array(steps, np.int64)

    def run(draw: Draw) -> tuple[Any, ...]:
        indices, ahead = Selector.of(k, _HALF).select(len(values), values.__getitem__, draw)
        winners = [names[index] for index in indices]
        if through:
            return tuple(winners)
        end = next((place for place, name in enumerate(winners) if name is None), len(winners))
        return tuple(winners[:end]), tuple(ahead[:end].tolist())

    return run


def _pair(data: Sequence[Mapping[str, int]], **rule: Any) -> tuple[Program, Program]:
    one, other = data
    return search(one, **rule), search(other, **rule)


NEW: Final[Sequence[Mapping[str, int]]] = ({"a": 1}, {})
"""One person has an item that nobody has."""
ANOTHER: Final = ({"a": 1, "b": 1, "c": 1, "d": 1}, {"a": 1, "b": 1, "c": 2, "d": 1})
"""One person more has one item of four that are equal."""
EQUALS: Final = ({"a": 1, "b": 1}, {"a": 1, "b": 1, "c": 1})
"""One person has a third item."""
FEW: Final = ({"a": 1, "b": 1}, {"b": 1})
"""One person has an item before another's."""

ONE_ITEM: Final = Fraction(1, 16)
"""The delta of one item that can leave, r^tau/2."""


def _by_data(data: Sequence[Mapping[str, int]]) -> tuple[Program, Program]:
    """Return a rule on equals that looks at the data: another order where a count is above 1."""
    one, other = (search(counts, k=1, candidates=2, backwards=max(counts.values()) > 1) for counts in data)
    return one, other


CASES: Final = (
    Case(
        "a bottom without the room for one person",
        _SOURCE,
        "A new item has as many as one person brings. Without this much more room the bottom is too near, and the item "
        "is told twice as often as delta says.",
        *_pair(NEW, k=1, candidates=1, above=0),
        Cost(_BIT, delta=ONE_ITEM),
        _pair(NEW, k=1, candidates=1),
        kind="control",
    ),
    Case(
        "equals in an order that looks at the data",
        _SOURCE,
        "One person with one item changes the order of all equals, and so two candidates. The delta is for one.",
        *_by_data(ANOTHER),
        Cost(_BIT, delta=ONE_ITEM),
        _pair(ANOTHER, k=1, candidates=2),
        kind="control",
    ),
    Case(
        "what comes below the bottom is told",
        _SOURCE,
        "Every item that nobody else has is told in the end.",
        *_pair(FEW, k=2, candidates=1, through=True),
        Cost(_TWO, delta=ONE_ITEM),
        _pair(FEW, k=2, candidates=1),
        kind="control",
    ),
    Case(
        "candidates strictly above the next, with the delta of one item",
        _SOURCE,
        "An item more or less among equals makes all of them candidates, or none: as many can leave as there are.",
        *_pair(EQUALS, k=2, candidates=2, strict=True),
        Cost(_TWO, delta=ONE_ITEM),
        _pair(EQUALS, k=2, candidates=2),
        kind="control",
    ),
)
