"""Private selection from private candidates: a cost stated too low, and a score with too little noise."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from lastbit.audit.broken.case import Case
from lastbit.chance.draw import Draw
from lastbit.mechanisms.mechanism import Program
from lastbit.papers.sparse_vector_sampling import clamp
from lastbit.privacy.eta import Eta
from lastbit.privacy.rate import Rate

STOP: Final = Fraction(1, 1000)
ROUNDS: Final = 7601
PRINTED_COST: Final = Fraction(6952, 10_000)
"""2ε0 + ε1 with ε0 = 0.001 and ε1 = ln 2, rounded up to four places."""
RIGHT_COST: Final = Fraction(13_873, 10_000)
"""2ε1 + ε0, rounded up to four places."""


def select(draw: Draw, candidate: tuple[Fraction, Fraction], stop: Fraction, rounds: int) -> str | None:
    """Run Algorithm 6 on a candidate that beats the threshold as "a" or as "b" with the given probabilities."""
    a, b = candidate
    for _ in range(rounds):
        outcome = draw.index((a, b, 1 - a - b))
        if outcome < 2:
            return "ab"[outcome]
        if draw.bernoulli(stop):
            return None
    return None


def selection_instance(ratio: Fraction, stop: Fraction = STOP, rounds: int = ROUNDS) -> tuple[Program, Program]:
    """Return two candidates with probabilities within `ratio`: "a" is likelier on the second, all else on the first.

    The second candidate fails more often, so it runs more rounds, which makes its "a" even likelier.
    """
    rare = Fraction(1, 10_000)
    often = 1 / (1 + ratio)
    one, other = (rare, ratio * often), (ratio * rare, often)
    return lambda draw: select(draw, one, stop, rounds), lambda draw: select(draw, other, stop, rounds)


def score(draw: Draw, quality: int, rate: Rate, bound: int = 4) -> int:
    """Return GETSAMPLE's score: the quality clamped to ±w, noise clamped to ±2w, the sum clamped to ±w."""
    noise = clamp(draw.laplace(rate), 0, 2 * bound)
    return clamp(clamp(quality, 0, bound) + noise, 0, bound)


def score_instance(rate: Rate) -> tuple[Program, Program]:
    """Return a quality function of sensitivity 2, on 0 against 2."""
    return lambda draw: score(draw, 0, rate), lambda draw: score(draw, 2, rate)


SCORE_ETA: Final = Eta(1, 1, 2)

CASES = (
    Case(
        "private selection at the price of one candidate",
        "Ilvento, sparse vector, section 6, the cost of Algorithm 6",
        "The printed cost is 2ε0 + ε1. A neighbour changes the probability of the winner, and the number of rounds, "
        "by ε1 each: the cost is 2ε1 + ε0. The repaired program has candidates at half the price.",
        *selection_instance(Fraction(2)),
        PRINTED_COST,
        selection_instance(Fraction(7, 5)),
        kind="error",
        erratum="A3",
    ),
    Case(
        "a score without its sensitivity",
        "Ilvento, sparse vector, Algorithm 7, GETSAMPLE",
        "The noise falls by η a step, whatever the sensitivity of the quality function. It must fall by η/Δq.",
        *score_instance(Rate.from_eta(SCORE_ETA)),
        SCORE_ETA,
        score_instance(Rate.from_eta(SCORE_ETA, Fraction(1, 2))),
        kind="error",
        erratum="A9",
    ),
)
