"""A sparse vector whose one-sided noise points down, on the threshold, on the queries, or on both: limit 1, integers.

The proof of the mechanism moves noise up only, and can, because geometric noise upwards has no end there. Noise
downwards ends where the proof needs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from lastbit.audit.broken.case import Case
from lastbit.chance.draw import Draw
from lastbit.mechanisms.mechanism import Program
from lastbit.privacy.eta import Eta
from lastbit.privacy.rate import Rate

COST: Final = Eta(1, 1, 3)
"""One bit for the threshold, two for the one answer above."""

_HALF: Final = Rate(1, 1)
_SOURCE: Final = "No paper: one-sided noise (Liu, Wang, Liu, Li and Chen, PVLDB 18(2)) with a sign changed"


def one_sided_answers(draw: Draw, queries: Sequence[int], threshold: int, query: int) -> tuple[bool, ...]:
    """Return whether each query reaches 0, up to the first that does. A direction of 1 is the right one, -1 is down.

    The noise of a query is only compared, so a draw decides the comparison.
    """
    noisy_threshold = threshold * draw.geometric(_HALF)
    answers: list[bool] = []
    while len(answers) < len(queries) and not any(answers):
        lead = queries[len(answers)] - noisy_threshold
        # P(X >= -lead) upwards, P(X <= lead) downwards.
        chance = Fraction(1, 1 << max(0, -lead)) if query > 0 else 1 - Fraction(1, 1 << max(0, lead + 1))
        answers.append(draw.bernoulli(chance))
    return tuple(answers)


def instance(values: Sequence[int], threshold: int, query: int) -> Program:
    """Return the program with its values filled in."""
    return lambda draw: one_sided_answers(draw, values, threshold, query)


def _case(name: str, why: str, values: list[int], neighbour: list[int], threshold: int, query: int) -> Case:
    return Case(
        f"one-sided sparse vector, {name} noise downwards",
        _SOURCE,
        why,
        instance(values, threshold, query),
        instance(neighbour, threshold, query),
        COST,
        (instance(values, 1, 1), instance(neighbour, 1, 1)),
        kind="control",
    )


CASES: Final = (
    _case("threshold", "The noisy threshold is never higher than the threshold, so a query at the threshold is always "
          "above. One ⊥ proves that the query is lower.", [-1], [0], -1, 1),
    _case("query", "A query gets no help from its noise, so a query below the threshold is never above. One ⊤ proves "
          "that the query is at the threshold.", [-1], [0], 1, -1),
    _case("all", "The roles of ⊤ and ⊥ change: every ⊥ costs as much as a ⊤ should, and no limit counts them.",
          [0] * 6, [1] * 6, -1, -1),
)  # fmt: skip
