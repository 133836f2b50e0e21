"""Private selection with a number of rounds whose law costs more than the theorem says: a cap, and a law that rises."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Final

from lastbit.audit.broken.case import Case
from lastbit.chance.draw import Draw
from lastbit.mechanisms.mechanism import Program
from lastbit.privacy.eta import Eta

STOP: Final = Fraction(1, 100)
CAP: Final = 20
BEST_COST, THRESHOLD_COST = Eta(1, 1, 3), Eta(1, 1, 2)
"""3c and 2c, for candidates that cost c = ln 2."""

RARE: Final = Fraction(1, 1000)


def best(draw: Draw, candidate: Sequence[Fraction], rounds: Sequence[Fraction]) -> int:
    """Return the best of K runs of a candidate that gives 0, 1, … with these probabilities and scores.

    The best of K runs is at most s with probability P(<= s)^K, so it is drawn at once: no branch for every run.
    """
    k = 1 + draw.index(rounds)
    return draw.index([above**k - below**k for below, above in pairwise(accumulate(candidate, initial=Fraction(0)))])


def first_above(draw: Draw, reaches: Fraction, rounds: Sequence[Fraction]) -> str | None:
    """Return whether one of K runs reaches the threshold."""
    for _ in range(1 + draw.index(rounds)):
        if draw.bernoulli(reaches):
            return "above"
    return None


def round_masses(*, printed: bool) -> list[Fraction]:
    """Return P(K = k): a geometric number, printed stopped at the
    cap; right is the number given that it is in the cap.
    """
    masses = [(1 - STOP) ** (k - 1) * STOP for k in range(1, CAP + 1)]
    return [*masses[:-1], (1 - STOP) ** (CAP - 1)] if printed else masses


def cap_instance(*, printed: bool) -> tuple[Program, Program]:
    """A rare output is half as likely on the second, and a better one twice as likely."""
    rounds, better = round_masses(printed=printed), Fraction(1, 6)
    one = (1 - better - 2 * RARE, 2 * RARE, better)
    other = (1 - 2 * better - RARE, RARE, 2 * better)
    return lambda draw: best(draw, one, rounds), lambda draw: best(draw, other, rounds)


def rising_instance(*, printed: bool) -> tuple[Program, Program]:
    """Printed, K rounds are likely in proportion to K; right is a law that never rises, here the uniform one."""
    rounds = [Fraction(k if printed else 1) for k in range(1, CAP + 1)]
    third = Fraction(1, 3)
    return lambda draw: first_above(draw, third, rounds), lambda draw: first_above(draw, 2 * third, rounds)


CASES = (
    Case(
        "a cap on the rounds without slack",
        "Ilvento, sparse vector, section 6, Algorithm 7 with fewer rounds than its bound asks for",
        "A geometric number of rounds with stop 1/100 that is cut at 20 is mostly 20, so more rounds are far "
        "likelier than fewer, and a neighbour with a better rival loses the rare output in every round. The claim of "
        "three candidates holds for a number of rounds given that it is at most 20.",
        *cap_instance(printed=True),
        BEST_COST,
        cap_instance(printed=False),
        kind="warned",
    ),
    Case(
        "a threshold with more rounds likelier than fewer",
        "No paper: a law of the number of rounds in proportion to the number",
        "That no run reaches the threshold is a fact about every run. Two candidates pay for it where more rounds are "
        "never likelier than fewer, as with the uniform law.",
        *rising_instance(printed=True),
        THRESHOLD_COST,
        rising_instance(printed=False),
        kind="control",
    ),
)
