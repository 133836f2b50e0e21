"""Top-k as a set at half of its cost: where both the best count left out and the worst one taken weigh."""

from __future__ import annotations

import numpy as np

from lastbit.audit.broken.case import Case
from lastbit.chance.draw import Draw
from lastbit.chance.layers import Layers
from lastbit.mechanisms.mechanism import Program
from lastbit.mechanisms.top_k.subset import SubsetTopK
from lastbit.privacy.eta import Eta
from lastbit.privacy.rate import Rate

COST = Eta(1, 1, 2)
COUNTS, MOVED = [5, 1, 0, 0, 0, 0], [6, 1, 1, 0, 0, 0]
"""One person has the first item and the third."""


def half_instance(*, printed: bool) -> tuple[Program, Program]:
    """Printed, the loss is taken to be that of the count that moves further; right is the sum of both."""
    mechanism = SubsetTopK(k=2, eta=Eta(1, 1, 4) if printed else COST, monotone=True)
    return mechanism.program(COUNTS), mechanism.program(MOVED)


def one_instance(*, printed: bool) -> tuple[Program, Program]:
    """Return one item of many by both counts, at the price of the
    exponential mechanism; right is the worst taken alone.
    """

    def of(counts: list[int]) -> Program:
        # In the order of the counts, which is that of the items here.
        law = Layers.of(Rate(1, 2), 1, -np.array(counts), int(printed), 1)

        def program(draw: Draw) -> int:
            start, end = law.ranks(draw.layer(law))
            return 0 if start else int(draw.subset(end, 1)[0])

        return program

    return of([4, 0, 0]), of([4, 1, 0])


CASES = (
    Case(
        "a set for half of its cost",
        "No paper: top-k as a set, weighed by the best count left out less the worst count taken",
        "One person can raise the best count left out and leave the worst one taken, or raise both: so the weights of "
        "two sets move against each other by two counts, and not by one.",
        *half_instance(printed=True),
        COST,
        half_instance(printed=False),
        kind="control",
    ),
    Case(
        "the best of many by two counts for the price of one",
        "No paper: top-1 as a set, weighed by the best count left out less the worst count taken",
        "With the difference cut at 0 the count of the best item cancels, and top-1 is the exponential mechanism. "
        "Without the cut the best item also gains by its lead, and the law costs twice as much.",
        *one_instance(printed=True),
        COST,
        one_instance(printed=False),
        kind="control",
    ),
)
