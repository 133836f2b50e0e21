"""Quantiles with too little noise, and a recursion in which one person counts twice."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from lastbit.audit.broken.case import Case
from lastbit.chance.draw import Draw
from lastbit.exact.rounding import log2_floor
from lastbit.mechanisms.mechanism import Program
from lastbit.mechanisms.quantiles.rank_error import RankError, furthest
from lastbit.mechanisms.quantiles.ranked_values import rank_on_scale
from lastbit.privacy.cost import Cost
from lastbit.privacy.eta import Eta
from lastbit.values.grid import Steps
from lastbit.values.log_scale import LogScale

_SOURCE: Final = "No paper: a slip that is easy to make in the exponential mechanism on ranks"
_TWO: Final = Eta(1, 1, 2)
_SIX: Final = Eta(1, 1, 6)
_MEDIAN, _QUARTER = Fraction(1, 2), Fraction(1, 4)
_LAST: Final = 40
"""The grid is 0 to 40: the gap above the values holds nearly all points."""
_WIDE: Final = 15
"""The log scale is from 1 to 15: four factors of two."""
_SHORT: Final = 10
"""The recursion is on 0 to 10."""


def one(q: Fraction, values: Sequence[int], cost: Eta, moves: int) -> Program:
    """Return a quantile whose noise is for a loss of so many steps of the rank error."""
    error = RankError(q, Cost.of(cost).rate(Fraction(1, moves)))
    data = np.array(sorted(values), np.int64)
    return lambda draw: error.point(draw, data, 0, _LAST)


def _pair(q: Fraction, data: Sequence[Sequence[int]], cost: Eta, moves: int) -> tuple[Program, Program]:
    first, second = (one(q, values, cost, moves) for values in data)
    return first, second


def quartiles(values: Sequence[int], cost: Eta, *, twice: bool) -> Program:
    """Return the median, then the median of either half, at half the
    cost each; `twice` puts equal values into both halves.
    """
    error = RankError.of(_MEDIAN, Cost.of(cost), 2)
    data: Steps = np.array(sorted(values), np.int64)

    def run(draw: Draw) -> tuple[int, int, int]:
        middle = error.point(draw, data, 0, _SHORT)
        below, above = data[data <= middle] if twice else data[data < middle], data[data >= middle]
        return error.point(draw, below, 0, middle), middle, error.point(draw, above, middle, _SHORT)

    return run


def on_log_scale(values: Sequence[int], cost: Eta, *, one_by_one: bool) -> Program:
    """Return a median on a log scale; `one_by_one` rounds the weight of each interval between two values for itself."""
    error, data = RankError.of(_MEDIAN, Cost.of(cost), 1), np.array(sorted(values), np.int64)
    if not one_by_one:
        ranked = rank_on_scale(LogScale(1, _WIDE), data, None, 1)
        return lambda draw: ranked.step(ranked.pick(error, draw))
    sizes, errors = error.classes(data, 1, _WIDE)
    firsts = 1 + np.cumsum(sizes) - sizes
    pairs = list(zip(firsts.tolist(), sizes.tolist(), strict=True))
    weights = [log2_floor(Fraction(first + size, first), 0) for first, size in pairs]

    def run(draw: Draw) -> int:
        first, size = pairs[draw.power_index(error.rate, errors, weights)]
        return int(first + draw.integer(size))

    return run


def recursion_instance(*, twice: bool) -> tuple[Program, Program]:
    """Return one person more, on a value that is picked as the median."""
    return quartiles(PICKED[0], Eta(1, 1, 4), twice=twice), quartiles(PICKED[1], Eta(1, 1, 4), twice=twice)


LOWER: Final = ([1], [0, 1])
"""A person who comes to 0 makes 0 better and the gap above worse."""
QUARTER: Final = ([1, 1, 1, 1], [0, 1, 1, 1, 1])
PICKED: Final = ([0, 5], [0, 5, 6])
CUT: Final[tuple[list[int], list[int]]] = ([], [3])
"""A person who comes to 3 cuts one interval of four factors of two into three."""

CASES: Final = (
    Case(
        "the noise of the minimum at the median",
        _SOURCE,
        "One person moves the rank errors of the minimum one way, which pays for half the noise. At the median the "
        "errors of some points fall while those of others rise.",
        *_pair(_MEDIAN, LOWER, _TWO, 1),
        _TWO,
        _pair(_MEDIAN, LOWER, _TWO, furthest(_MEDIAN)),
        kind="control",
    ),
    Case(
        "one step of the rank error as its sensitivity",
        _SOURCE,
        "Rank errors for q = a/b are whole numbers of b-ths of a rank. One person moves them by max(a, b - a) steps, "
        "which is 1 for the median and 3 for a quartile.",
        *_pair(_QUARTER, QUARTER, _SIX, 2),
        _SIX,
        _pair(_QUARTER, QUARTER, _SIX, furthest(_QUARTER)),
        kind="control",
    ),
    Case(
        "a recursion that puts equal values on both sides",
        "No paper: a slip that is easy to make in the recursion of Kaplan, Schnapp and Stemmer 2022",
        "A person whose value is picked as the median counts in both halves, so the second level costs "
        "twice its share.",
        *recursion_instance(twice=True),
        Eta(1, 1, 4),
        recursion_instance(twice=False),
        kind="control",
    ),
    Case(
        "weights of a log scale, rounded interval by interval",
        "No paper: a slip that is easy to make where an interval is to weigh the logarithm of the ratio of its ends",
        "Rounded weights of intervals do not add up, and people's values cut the intervals. Here the point 3 weighs "
        "something as long as nobody is at 3, and nothing as soon as somebody is.",
        on_log_scale(CUT[0], _TWO, one_by_one=True),
        on_log_scale(CUT[1], _TWO, one_by_one=True),
        _TWO,
        (on_log_scale(CUT[0], _TWO, one_by_one=False), on_log_scale(CUT[1], _TWO, one_by_one=False)),
        kind="control",
    ),
)
