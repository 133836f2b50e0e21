"""Candidates of a private selection: how one is made, run, and ranked."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np

from lastbit.chance.draw import Draw
from lastbit.exact.numbers import MAX_BITS, Number, positive
from lastbit.mechanisms.watched_draw import WatchedDraw
from lastbit.privacy.cost import Cost
from lastbit.privacy.eta import Eta
from lastbit.values.grid import Grid
from lastbit.values.raw import exact_ratio
from lastbit.values.statistic import ends

Candidate = Callable[[Draw], tuple[Any, Any]]
"""Takes a Draw and returns (output, score), both private at the candidate's cost together."""

Rank = tuple[int, Fraction | int | float]
"""Python compares whole numbers, floats and fractions with each other exactly."""
_LOWEST: Final[Rank] = (0, Fraction(0))
_HIGHEST: Final[Rank] = (2, Fraction(0))
_LARGEST: Final = Fraction(sys.float_info.max)
_SHORT: Final = 1 << 63
_FINEST: Final = 1074
"""All floats are multiples of 2 to minus this."""


@dataclass(slots=True)
class Try:
    """One run of a candidate: its number among the candidates, its output, and the rank of its score."""

    candidate: int | None = None
    output: Any = None
    rank: Rank = _LOWEST

    @classmethod
    def run(cls, candidate: Candidate, place: int, draw: Draw) -> Try:
        """Run a candidate. Whatever it raises counts as the lowest score, unless it ends the whole run."""
        watched_draw = WatchedDraw(draw)
        try:
            output, score = candidate(watched_draw)
            return cls(place, output, _rank(score))
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) or watched_draw.comes_from_draw(error):
                raise
            # Whatever a candidate raises may depend on the data, so nobody may see it.
            return cls(place)

    @property
    def lowest(self) -> bool:
        """Whether it failed, or has a score that is no number: then nothing of it is published."""
        return self.rank == _LOWEST

    @property
    def score(self) -> Fraction | float:
        """The score, in the numbers that `_rank` has."""
        return math.inf if self.rank == _HIGHEST else Fraction(self.rank[1])

    def reaches(self, threshold: Fraction) -> bool:
        """Return whether the score is at least the threshold. That of a failure never is."""
        return self.rank >= (1, threshold)


def _rank(score: Any) -> Rank:
    """Return scores in their order; NaN, minus infinity and failures are the lowest, plus infinity the highest.

    A number that nobody could print or turn into a float would make a release useless after it is paid for. So finite
    scores end at the largest float, and those with a long denominator are rounded down.
    """
    if (type(score) is int and -_SHORT < score < _SHORT) or (type(score) is float and math.isfinite(score)):
        return 1, score
    if type(score) is Fraction and score.numerator.bit_length() < 1000 and score.denominator.bit_length() <= MAX_BITS:
        return 1, score
    number = score.item() if isinstance(score, np.ndarray) else score
    if isinstance(number, Decimal) and number.is_finite() and number.adjusted() > sys.float_info.max_10_exp:
        return 1, -_LARGEST if number.is_signed() else _LARGEST
    above, below = exact_ratio(number)
    if below == 0:
        return _HIGHEST if above > 0 else _LOWEST
    if below.bit_length() > MAX_BITS:
        above, below = (above << _FINEST) // below, 1 << _FINEST
    return 1, max(-_LARGEST, min(_LARGEST, Fraction(above, below)))


def wrong_signature(function: Callable[..., Any], arguments: int) -> inspect.Signature | None:
    """Return the signature of a function that so many arguments cannot
    call: in a run it would only look like one that fails.

    >>> wrong_signature(lambda draw: draw, 1), str(wrong_signature(lambda draw: draw, 2))
    (None, '(draw)')
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some callables written in C say nothing
        return None
    try:
        signature.bind(*[None] * arguments)
    except TypeError:
        return signature
    return None


def scored(
    mechanism: Callable[[Draw], Hashable],
    quality: Callable[[Any], Any],
    *,
    sensitivity: Number = 1,
    epsilon: Number | None = None,
    eta: Eta | None = None,
    resolution: Number = 1,
    bounds: tuple[Number, Number],
) -> Candidate:
    """Return a candidate from a private mechanism and a quality function of low sensitivity.

    Paper:    Ilvento, GETSAMPLE of Algorithm 7, with the sensitivity of erratum A9.
    Law:      the output, and its quality clamped to `bounds`, with discrete Laplace noise, clamped again.
    Cost:     the mechanism's own and epsilon (or eta): their sum is the candidate_cost to state.
    Assumes:  for every fixed output one person moves the quality by at most `sensitivity`.
    Checked:  tests/laws/test_private_selection.py, exactly.
    Speed:    one Laplace draw beside the mechanism.

    >>> import lastbit as lb
    >>> candidate = lb.scored(lambda draw: "model", lambda model: 7, epsilon="1/2", bounds=(0, 10))
    >>> output, score = candidate(lb.Sampler())
    >>> output, 0 <= score <= 10
    ('model', True)
    """
    reach = positive(sensitivity, "sensitivity", "It is how far one person can move the quality.")
    grid = Grid(resolution)
    rate = Cost.asked(epsilon, eta).rate(Fraction(1, grid.count(reach, "sensitivity")))
    low, high = ends(bounds, grid)

    def candidate(draw: Draw) -> tuple[Any, Fraction]:
        output = mechanism(draw)
        step = max(low, min(high, grid.step(quality(output))))
        return output, max(low, min(high, step + draw.laplace(rate))) * grid.resolution

    return candidate
