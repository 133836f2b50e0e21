"""The values near the top, and their order: the integers behind a selection."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lastbit.chance.draw import Samples
from lastbit.mechanisms.top_k import _ranks

_FEW: Final = 32
"""So many steps are looked through by the compiled loop before NumPy has begun."""


def near(steps: NDArray[Any], k: int, below: int) -> NDArray[np.int64]:
    """Return the indices of the values within `below` of the k-th highest value; all where there are no more values.

    >>> near(np.array([5, 4, 7, 1]), 2, 1)
    array([0, 1, 2])
    """
    if len(steps) <= _FEW and not steps.dtype.hasobject:
        return _ranks.near(steps, k, below)
    if len(steps) <= k:
        return np.arange(len(steps))
    return np.flatnonzero(steps >= kth_highest(steps, k) - below)


def kth_highest(steps: NDArray[Any], k: int) -> int:
    """Return the k-th highest of these steps.

    >>> kth_highest(np.array([5, 4, 7]), 2)
    5
    """
    ordered = steps.copy()
    ordered.partition(len(steps) - k)
    kth: int = ordered.item(-k)
    return kth


def highest(steps: NDArray[Any], width: int, k: int, reach: int) -> tuple[NDArray[np.int64], NDArray[Any]] | None:
    """Return the places of the `width` highest of more values, the first of equals, in rising order, and their values.

    None where the last of them is less than `reach` below the (k+1)-th highest: then there may be more that are.

    >>> highest(np.array([5, 4, 7, 5]), 2, 0, 1)
    (array([0, 2]), array([5, 7]))
    """
    if not steps.dtype.hasobject:
        return _ranks.contenders(steps, width, k, reach)
    places = np.argsort(-steps, kind="stable")[:width]
    if steps[places[-1]] > steps[places[k]] - reach:
        return None
    places.sort()
    return places, steps[places]


def rank_steps(steps: NDArray[Any], places: NDArray[np.int64], count: int) -> tuple[NDArray[np.int64], Samples]:
    """Return where the highest values are, best first, and how far each is ahead of the next, floored.

    The values are so many steps and a fraction high. All that counts of the fractions is their order, which is that of
    the places (Lemma 5.8 of the secure top-k paper).

    >>> rank_steps(np.array([5, 4, 7]), np.array([2, 1, 0]), 3)
    (array([2, 0, 1]), array([1, 1], dtype=uint64))
    """
    return (_rank_objects if steps.dtype.hasobject else _ranks.ranked)(steps, places, count)


def _rank_objects(steps: NDArray[Any], places: NDArray[np.int64], count: int) -> tuple[NDArray[np.int64], Samples]:
    """Return the same as the compiled `rank_steps`, for integers of any length."""
    n = len(steps)
    # With place/n for the fractions their order is the same, and n-ths of a step are whole.
    high = [step * n + place for step, place in zip(steps.tolist(), places.tolist(), strict=True)]
    best = sorted(range(n), key=high.__getitem__, reverse=True)[:count]
    return np.array(best, np.int64), np.array([(high[i] - high[j]) // n for i, j in pairwise(best)], object)
