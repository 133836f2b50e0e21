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
        most = len(plan.tried(int(left[alive].max())))
        noise = [
            plan.kind.draw_many(draw, branch.rate, len(alive) * size).reshape(-1, size) - branch.centre
            for branch in plan.branches[:most]
        ]
        gaps = np.stack([each[:, : queries.shape[1]] + (steps[queries] - threshold[alive, None]) for each in noise])
        asked = np.zeros(len(alive), np.int64)
        # A run tries the branches that it can still pay: ever fewer, as it goes on.
        for tried in plan.stages[most:0:-1]:
            here = np.flatnonzero(left[alive] >= tried[-1].units)
            inside = gaps[: len(tried), here]
            which = np.select([gap >= b.margin for gap, b in zip(inside, tried, strict=True)], range(len(tried)), -1)
            which[np.arange(queries.shape[1]) < asked[here, None]] = -1
            spent = np.array([*(branch.units for branch in tried), 0])[which]
            open_ = left[alive[here], None] - (np.cumsum(spent, axis=1) - spent) >= tried[-1].units
            rows, columns = np.nonzero(open_ & (which >= 0))
            branch = which[rows, columns]
            found.append((alive[here[rows]], queries[here[rows], columns], inside[branch, rows, columns], branch))
            left[alive[here]] -= np.where(open_, spent, 0).sum(axis=1)
            asked[here] = open_.sum(axis=1)
        alive = alive[left[alive] >= plan.branches[0].units]
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
