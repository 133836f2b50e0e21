"""Thousands of top-k selections at once: the mechanism's own law, one table of draws for all runs.

Everything is in whole steps of the mechanism's grid. A single run reads the same words as the mechanism and gives the
same answer; tests/experiments hold it to that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lastbit.chance.draw import Draw
from lastbit.privacy.rate import Rate

if TYPE_CHECKING:
    from lastbit.mechanisms.top_k.selector import Selector

Steps = NDArray[Any]

HEAD = 512
"""Columns looked at first: values come largest first, so most of the selected are among them."""


@dataclass(frozen=True)
class Selections:
    """For each run (a row) the k selected, best first, and the gap from each to the next."""

    indices: NDArray[np.int64]
    gaps: Steps
    floored: bool
    """Whether the gaps were rounded down to whole steps."""

    @property
    def middles(self) -> NDArray[np.float64]:
        """The gaps, half a step up where they were floored: what flooring takes off on average."""
        return self.gaps + (0.5 if self.floored else 0.0)


def with_exponential_noise(selector: Selector, steps: Steps, runs: int, draw: Draw) -> Selections:
    """So many runs of `selector.select` on these steps."""
    kept = selector.k + 1
    least = draw.geometric(selector.coarse, runs * len(steps)).reshape(runs, -1)
    least <<= selector.shift
    least += steps
    rows, columns, cells = _contenders(least, selector.few, selector.width)
    if selector.shift:
        cells += draw.truncated_geometric(selector.rate, 1 << selector.shift, len(cells))
    # One uniform order of all contenders, in all runs together, is a uniform order in each run, independently.
    fractions = draw.permutation(len(cells))
    best = _largest(rows, cells, fractions, kept)
    cells, fractions = cells[best], fractions[best]
    gaps = cells[:, :-1] - cells[:, 1:] - (fractions[:, :-1] < fractions[:, 1:])
    return Selections(columns[best][:, :-1], gaps, floored=True)


def with_laplace_noise(k: int, rate: Rate, steps: Steps, runs: int, draw: Draw) -> Selections:
    """So many runs of Algorithm 3 of the free-gap paper with discrete noise; of equals the first comes first."""
    noisy = draw.laplace(rate, runs * len(steps)).reshape(runs, -1)
    noisy += steps
    rows, columns, cells = _in_play(noisy, k + 1, 0)
    best = _largest(rows, cells, -columns, k + 1)
    cells = cells[best]
    return Selections(columns[best][:, :-1], cells[:, :-1] - cells[:, 1:], floored=False)


def _contenders(noisy: Steps, few: int, width: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Steps]:
    """The `width` highest of each row, the first of equals: row, column and cell, in order; everyone of a few."""
    if noisy.shape[1] <= few:
        rows, columns = np.divmod(np.arange(noisy.size), noisy.shape[1])
        return rows, columns, noisy.ravel().copy()
    rows, columns, cells = _in_play(noisy, width, 0)
    chosen = np.sort(_largest(rows, cells, -columns, width), axis=1).ravel()
    return rows[chosen], columns[chosen], cells[chosen]


def _in_play(noisy: Steps, kept: int, slack: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Steps]:
    """Everyone within `slack` of the kept-th largest of their row: row, column and cell, in order."""
    head = noisy[:, : max(HEAD, 4 * kept)]
    bound = np.partition(head, -kept, axis=1)[:, -kept, None]
    rows, columns = np.divmod(np.flatnonzero(noisy >= bound - slack), noisy.shape[1])
    cells = noisy[rows, columns]
    exact = cells[_largest(rows, cells, cells, kept)[:, -1]]
    close = cells >= exact[rows] - slack
    return rows[close], columns[close], cells[close]


def _largest(rows: NDArray[np.int64], cells: Steps, ties: Steps, kept: int) -> NDArray[np.int64]:
    """For each row, where its `kept` largest cells are, largest first; every row has that many."""
    ascending = np.lexsort((ties, cells, rows))
    ends = np.cumsum(np.bincount(rows))
    return ascending[ends[:, None] - 1 - np.arange(kept)]
