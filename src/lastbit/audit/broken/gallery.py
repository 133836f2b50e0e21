"""Every broken mechanism, and the auditor's verdict on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from lastbit.audit.broken import (
    discrete_noise,
    printed_exponential,
    printed_selection,
    printed_snapping,
    printed_sparse_vector,
    sparse_vector_variants,
)
from lastbit.audit.broken.case import Case
from lastbit.audit.verdict import Verdict, compare

GALLERY: Final[tuple[Case, ...]] = (
    *printed_sparse_vector.CASES,
    *printed_selection.CASES,
    *printed_exponential.CASES,
    *printed_snapping.CASES,
    *sparse_vector_variants.CASES,
    *discrete_noise.CASES,
)

TOLERANCE: Final = Fraction(1, 1 << 16)


@dataclass(frozen=True)
class Hearing:
    """A case, the verdict on it as published, and on its repair."""

    case: Case
    published: Verdict
    repaired: Verdict | None


def hear(case: Case, tolerance: Fraction = TOLERANCE) -> Hearing:
    """Run a case and its repair on every branch.

    >>> hearing = hear(discrete_noise.CASES[0])
    >>> hearing.published.verdict, hearing.repaired.verdict
    ('violated', 'holds')
    """
    repaired = None if case.repaired is None else compare(*case.repaired, case.cost, tolerance)
    return Hearing(case, compare(case.program, case.neighbour, case.cost, tolerance), repaired)


def hearings() -> Iterator[Hearing]:
    """All of them, one after the other."""
    return map(hear, GALLERY)
