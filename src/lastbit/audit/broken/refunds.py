"""What a run has not spent, given back by a wrong rule: in rho, or to an account while the run answers on.

The right rule is in mechanisms/sparse_vector/kinds.py. What answers spend bounds the loss of each transcript, so an
epsilon may come back, once, when no answer can follow. Both programs run a sparse vector with limit 1, thresholds at 0
and whole values; what comes back pays for randomized response about which of the two neighbours it is.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Final

from lastbit.audit.broken.case import Case
from lastbit.chance.draw import Draw
from lastbit.mechanisms.mechanism import Program
from lastbit.privacy.cost import Cost
from lastbit.privacy.eta import Eta
from lastbit.privacy.rate import Rate
from lastbit.privacy.zcdp import epsilon_for, rho_of

_S, _R = Rate(7, 3), Rate(1, 6)
_OPENING: Final = Fraction(_S.loss_upper)
RHO: Final = rho_of(_OPENING + Fraction(_R.loss_upper))
"""The account: the rho of the whole run, ln 8/7 for the threshold and ln 64 for one answer above (monotone values)."""
BACK: Final = Rate.from_epsilon(epsilon_for(RHO - rho_of(_OPENING)))
"""Randomized response at the rho of the answer that was never given."""

_HALF: Final = Rate(1, 1)
TOTAL: Final = Eta(1, 1, 3)
"""1 bit for the threshold, 2 for one answer above."""
_TWO_BITS: Final = Rate(1, 2)


def which(draw: Draw, neighbour: int, rate: Rate) -> int:
    """Draw randomized response about which neighbour it is: the truth is 1/rate times likelier."""
    return neighbour ^ draw.bernoulli(rate.fraction / (1 + rate.fraction))


def refunded_rho(draw: Draw, value: int, neighbour: int, *, given_back: bool) -> tuple[Hashable, ...]:
    """Answer one query. Where it is below, its rho comes back and is spent."""
    above = value + draw.geometric(_R) >= draw.geometric(_S)
    return (above, which(draw, neighbour, BACK)) if given_back and not above else (above,)


def answers_on(draw: Draw, values: Sequence[int], neighbour: int, *, closed: bool) -> tuple[Hashable, ...]:
    """Answer two queries. After the first below"""
    noise = draw.geometric(_HALF)
    first, second = values
    if first + draw.geometric(_HALF) >= noise:
        return (True,)
    spent = which(draw, neighbour, _TWO_BITS)
    return (False, spent) if closed else (False, spent, second + draw.geometric(_HALF) >= noise)


def rho_instance(*, given_back: bool) -> tuple[Program, Program]:
    """Return a value just below the threshold, and at it."""
    return (
        lambda draw: refunded_rho(draw, -1, 0, given_back=given_back),
        lambda draw: refunded_rho(draw, 0, 1, given_back=given_back),
    )


def open_instance(*, closed: bool) -> tuple[Program, Program]:
    """Return the values 0 and 0 against 1 and -1."""
    return (
        lambda draw: answers_on(draw, (0, 0), 0, closed=closed),
        lambda draw: answers_on(draw, (1, -1), 1, closed=closed),
    )


CASES = (
    Case(
        "the rho of an answer that was not given, given back",
        "No paper: what a ledger would do that gives back rho by the rule for epsilon",
        "The rho of a run is a mean over its transcripts. Here the answer is below nearly always, which costs more rho "
        "on average than the threshold's part. The account books the threshold's part, and gives the rest out again.",
        *rho_instance(given_back=True),
        Cost.zcdp(RHO),
        rho_instance(given_back=False),
        kind="control",
    ),
    Case(
        "a refund for a run that answers on",
        "No paper: what a ledger would do that does not end the run",
        "The price of the answer is spent twice: on another release, and by the run, which still has its noise.",
        *open_instance(closed=False),
        TOTAL,
        open_instance(closed=True),
        kind="control",
    ),
)
