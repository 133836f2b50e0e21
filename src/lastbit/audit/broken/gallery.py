"""Every broken mechanism, and the auditor's verdict on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from lastbit.audit.broken import (
    discovery,
    discrete_noise,
    downward_noise,
    numbers_of_rounds,
    printed_exponential,
    printed_selection,
    printed_snapping,
    printed_sparse_vector,
    quantiles,
    refunds,
    rho_and_delta,
    sets,
    sparse_vector_variants,
    tables,
)
from lastbit.audit.broken.case import KINDS, Case
from lastbit.audit.laws import law
from lastbit.audit.verdict import Verdict, compare, judge

GALLERY: Final[tuple[Case, ...]] = (
    *printed_sparse_vector.CASES,
    *printed_selection.CASES,
    *numbers_of_rounds.CASES,
    *printed_exponential.CASES,
    *printed_snapping.CASES,
    *sparse_vector_variants.CASES,
    *downward_noise.CASES,
    *discrete_noise.CASES,
    *refunds.CASES,
    *rho_and_delta.CASES,
    *discovery.CASES,
    *quantiles.CASES,
    *sets.CASES,
    *tables.CASES,
)

TOLERANCE: Final = Fraction(1, 1 << 16)


@dataclass(frozen=True)
class Hearing:
    """A case, the verdict on it as published, the two probabilities of the witness, and the verdict on its repair."""

    case: Case
    published: Verdict
    chances: tuple[Fraction, Fraction]
    repaired: Verdict | None


def hear(case: Case, tolerance: Fraction = TOLERANCE) -> Hearing:
    """Run a case and its repair on every branch.

    >>> hearing = hear(discrete_noise.CASES[0])
    >>> hearing.published.verdict, hearing.repaired.verdict
    ('violated', 'holds')
    """
    one, other = law(case.program, tolerance), law(case.neighbour, tolerance)
    published = judge(case.cost, one, other, tolerance)
    first, second = (
        sum((outcomes[outcome][0] for outcome in published.witness), Fraction(0)) for outcomes in (one, other)
    )
    repaired = None if case.repaired is None else compare(*case.repaired, case.cost, tolerance)
    return Hearing(case, published, (first, second), repaired)


def count_kinds() -> str:
    """Return how many of the cases are whose mistakes, in a sentence.

    >>> count_kinds().split(":")[0]
    '37 mechanisms that cost more than they claim'
    """
    counts = [(sum(case.kind == kind for case in GALLERY), words) for kind, words in KINDS.items()]
    return (
        f"{len(GALLERY)} mechanisms that cost more than they claim: "
        + ", ".join(f"{count} {words}" for count, words in counts)
        + "."
    )


def hearings() -> Iterator[Hearing]:
    """Return the hearings of all cases, one after the other."""
    return map(hear, GALLERY)
