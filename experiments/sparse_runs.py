"""Thousands of sparse vector runs at once: the mechanism's own plan, one table of draws for all runs.

A single run reads the same words as the mechanism and gives the same answers; tests/experiments hold it to that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lastbit.chance.draw import Draw
from lastbit.mechanisms.sparse_vector.noise import LARGEST, SINGLES
from lastbit.mechanisms.sparse_vector.run import RunPlan


@dataclass(frozen=True)
class Above:
    """All answers above of all runs: whose run, which query, how far (in steps), by which branch."""

    runs: NDArray[np.int64]
    queries: NDArray[np.int64]
    gaps: NDArray[Any]
    branches: NDArray[np.int64]


def ask(
    plan: RunPlan,
    steps: NDArray[Any],
    orders: NDArray[np.int64],
    runs: int,
    draw: Draw,
    thresholds: NDArray[np.int64] | None = None,
) -> Above:
    """So many runs over these values, in steps. Run i asks in the order i·len(orders)//runs, which lists queries.

    Run i compares with thresholds[i], in steps, or every run with the plan's threshold.
    """
    drawn = plan.kind.draw_many(draw, plan.threshold_rate, runs)
    given = plan.threshold if thresholds is None else thresholds
    threshold = given + drawn - plan.kind.centre(plan.threshold_rate)
    left, alive = np.full(runs, plan.units), np.arange(runs)
    order = alive * len(orders) // runs
    found: list[tuple[NDArray[Any], ...]] = []
    start = 0
    for size in _blocks():
        queries = orders[order[alive], start : start + size]
        if not len(alive) or not queries.shape[1]:
            break
        noise = [
            plan.kind.draw_many(draw, branch.rate, len(alive) * size).reshape(-1, size) - branch.centre
            for branch in plan.branches
        ]
        gaps = [each[:, : queries.shape[1]] + (steps[queries] - threshold[alive, None]) for each in noise]
        which = np.select([gap >= b.margin for gap, b in zip(gaps, plan.branches, strict=True)], range(len(gaps)), -1)
        spent = np.array([*(branch.units for branch in plan.branches), 0])[which]
        asked = left[alive, None] - (np.cumsum(spent, axis=1) - spent) >= plan.dearest
        rows, columns = np.nonzero(asked & (which >= 0))
        branch = which[rows, columns]
        found.append((alive[rows], queries[rows, columns], np.stack(gaps)[branch, rows, columns], branch))
        left[alive] -= np.where(asked, spent, 0).sum(axis=1)
        alive = alive[left[alive] >= plan.dearest]
        start += size
    return Above(*(np.concatenate(column) for column in zip(*found, strict=True)))


def _blocks() -> Iterator[int]:
    """How many queries a run draws noise for at a time."""
    for _ in range(SINGLES):
        yield 1
    size = 1
    while True:
        size = min(LARGEST, 2 * size)
        yield size
