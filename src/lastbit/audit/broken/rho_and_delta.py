"""Costs in rho and in delta that are too low: the law is right, and another law was priced."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from lastbit.audit.broken.case import Case
from lastbit.chance.draw import Draw
from lastbit.mechanisms.mechanism import Program
from lastbit.mechanisms.top_k.noisy_max import NoisyMax
from lastbit.privacy.cost import Cost
from lastbit.privacy.eta import Eta
from lastbit.privacy.rate import Rate
from lastbit.privacy.zcdp import epsilon_for, range_rho

_STEP: Final = Eta(1, 1, 1)
_RATE: Final = Rate.from_eta(_STEP)
_LAST: Final = 4
_THRESHOLD: Final = 4

MAX_ETA: Final = Eta(1, 1, 2)
MAX_RHO: Final = range_rho(Fraction(MAX_ETA.epsilon_upper))
"""epsilon²/8: right for the exponential mechanism, whose losses on two outcomes are at most epsilon apart."""
GAUSSIAN_RHO: Final = Fraction(_RATE.loss_upper)
"""The rho of Gaussian noise without an end, r^(i²), for a move of one step: ln(1/r)."""
THRESHOLD_DELTA: Final = _RATE.fraction**_THRESHOLD / (1 + _RATE.fraction)
"""The probability that the noise alone is at the threshold. Right is the noise and one person."""


def winner(values: Sequence[int], *, printed: bool) -> Program:
    """Return the largest of some noisy values. Right is the epsilon whose
    rho, epsilon·tanh(epsilon/2), is the claimed one.
    """
    parameter = {"eta": MAX_ETA} if printed else {"epsilon": epsilon_for(MAX_RHO)}
    release = NoisyMax(resolution=1, **parameter).ready(values)
    return lambda draw: release(draw).index


def gaussian(draw: Draw, value: int, *, printed: bool) -> int:
    """Return a value with noise of law r^(i²) that ends at ±4. Right is noise of the same law without an end."""
    if printed:
        return value + draw.power_index(_RATE, np.arange(-_LAST, _LAST + 1) ** 2) - _LAST
    return value + draw.gaussian(_RATE)


def list_item(draw: Draw, count: int, *, printed: bool) -> int | None:
    """Return the noisy count of an item that somebody has, where it
    reaches a threshold. Right is a threshold one higher.
    """
    if count == 0:
        return None
    noisy = count + draw.laplace(_RATE)
    return noisy if noisy >= _THRESHOLD + (not printed) else None


def winner_instance(*, printed: bool) -> tuple[Program, Program]:
    """Return two values that one person turns round."""
    return winner((0, 1), printed=printed), winner((1, 0), printed=printed)


def gaussian_instance(*, printed: bool) -> tuple[Program, Program]:
    """Return the programs on the values 0 and 1."""
    return lambda draw: gaussian(draw, 0, printed=printed), lambda draw: gaussian(draw, 1, printed=printed)


def list_item_instance(*, printed: bool) -> tuple[Program, Program]:
    """Return an item that one person has, and an item that nobody has."""
    return lambda draw: list_item(draw, 1, printed=printed), lambda draw: list_item(draw, 0, printed=printed)


CASES = (
    Case(
        "noisy max at the rho of the exponential mechanism",
        "OpenDP 0.15.1, issue 2911, where permute-and-flip has the law of this noisy max",
        "ε²/8 needs losses that are at most ε apart on any two results. The losses of noisy max are up to 2ε apart. It "
        "costs ε·tanh(ε/2), up to four times as much.",
        *winner_instance(printed=True),
        Cost.zcdp(MAX_RHO),
        winner_instance(printed=False),
        kind="implementers",
    ),
    Case(
        "Gaussian noise that ends, sold as zCDP",
        "Canonne, Kamath and Steinke, The discrete Gaussian, run on a table that ends",
        "Where the noise ends, some results are possible for only one of two neighbours. No rho covers them, however "
        "rare they are.",
        *gaussian_instance(printed=True),
        Cost.zcdp(GAUSSIAN_RHO),
        gaussian_instance(printed=False),
        kind="implementers",
    ),
    Case(
        "a noisy threshold with the delta of the noise alone",
        "No paper: Korolova et al., Releasing search queries and clicks privately, with the tail at the threshold",
        "An item that one person has is listed when the noise reaches the threshold less this person. So delta is the "
        "tail from one step below the threshold on.",
        *list_item_instance(printed=True),
        Cost(_STEP, delta=THRESHOLD_DELTA),
        list_item_instance(printed=False),
        kind="control",
    ),
)
