"""The ways of choosing that the base-2 paper compares (its table 1), and ours, on the same utilities.

As in the paper a lower utility is better; ours takes scores, so minus the utility. All weigh an outcome by 2^-u.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

import lastbit as lb
from benchmarks.measure import alternate
from experiments.harness import Row, Setting
from experiments.page import format_rounded, table
from experiments.plots import FOURTH, OTHER, OURS, QUOTED
from lastbit.papers.base2_exponential import exponential_mechanism
from lastbit.papers.base2_sampling import optimized_sample

ETA = lb.Eta(1, 1, 1)
"""A weight falls to one half for each unit of utility."""
COST = lb.Eta(1, 1, 2)
"""What such a choice costs, with utilities of sensitivity 1."""

LASTBIT = "lastbit"
LASTBIT_RANDOMIZED = "lastbit, randomized rounding"
NUMPY = "naive, NumPy arrays"
NAIVE = "naive, the paper's figure 1"
PYTHON = "Algorithm 3"
OPTIMIZED = "Algorithm 3 with Algorithm 4"
EMPIRICAL = "Algorithm 3, empirical precision"

STYLES = {
    LASTBIT: (OURS, "o-"),
    LASTBIT_RANDOMIZED: (OURS, "o:"),
    NUMPY: (OTHER, "x-"),
    NAIVE: (OTHER, "x:"),
    PYTHON: (QUOTED, "s-"),
    OPTIMIZED: (QUOTED, "d--"),
    EMPIRICAL: (FOURTH, "v-"),
}

SETTING = """
The paper measured its own Python and Rust on a Linux virtual machine with 2 cores and 2 GB of memory; its figures print
no numbers but those quoted. Here the paper's Algorithms run line by line in Python (gmpy2 with the inexact flag
trapped, errata corrected) on our exact draws, in one process with ours, so ratios compare; its Rust does not run here.
"""


def ways(utilities: NDArray[Any], resolution: Fraction = Fraction(1)) -> dict[str, Callable[[], Any]]:
    """One choice by each way; utilities are multiples of the resolution."""
    draw, generator = lb.Sampler(), np.random.default_rng()
    grid = lb.ExponentialMechanism(eta=COST, resolution=resolution)
    randomized = lb.ExponentialMechanism(eta=COST, rounding="randomized")
    scores = -utilities
    exact = [Fraction(value) for value in utilities.tolist()]
    bounds = {"u_min": 0, "u_max": -int(-utilities.max() // 1), "o_max": len(utilities)}

    def naive_arrays() -> int:
        cumulative = np.cumsum(np.exp(-np.log(2.0) * utilities))
        return int(np.searchsorted(cumulative / cumulative[-1], generator.random()))

    def naive_listing() -> int | None:
        weights = [np.exp(-np.log(2.0) * utility) for utility in utilities]
        total = sum(weights)
        cumulative = [sum(weights[0:i]) / total for i in range(1, len(weights) + 1)]
        index = generator.random()
        return next((i for i, weight in enumerate(cumulative) if weight >= index), None)

    return {
        LASTBIT: lambda: grid.release(scores, draw),
        LASTBIT_RANDOMIZED: lambda: randomized.release(scores, draw),
        NUMPY: naive_arrays,
        NAIVE: naive_listing,
        PYTHON: lambda: exponential_mechanism(draw, exact, eta=ETA, **bounds),
        OPTIMIZED: lambda: exponential_mechanism(draw, exact, eta=ETA, **bounds, sample=optimized_sample),
        EMPIRICAL: lambda: exponential_mechanism(draw, exact, eta=ETA, **bounds, empirical=True),
    }


QUICK = (LASTBIT, NUMPY)
"""Timed by themselves: beside ways that take a thousand times as long they would find every cache cold."""


def repetitions(setting: Setting, slow: int) -> str:
    quick = f"medians of {setting.size(51, 2)} runs in turn for lastbit and NumPy arrays"
    return f"{quick}, of {setting.size(slow, 2)} for the others"


def measure_times(
    utilities: NDArray[Any], names: tuple[str, ...], setting: Setting, slow: int, resolution: Fraction = Fraction(1)
) -> list[Row]:
    """A row for each way: the quick ones in turn, then the others in turn."""
    offered, rows = ways(utilities, resolution), []
    for quick, runs in ((True, setting.size(51, 2)), (False, setting.size(slow, 2))):
        group = [name for name in names if (name in QUICK) is quick]
        timings = alternate(*(offered[name] for name in group), runs=runs)
        for name, timing in zip(group, timings, strict=True):
            row = {"way": name, "milliseconds": timing.median * 1e3, "spread": timing.spread}
            rows.append(row | {"runs": len(timing.seconds)})
    return rows


def curves(panel: Axes, rows: list[Row], x: str) -> None:
    """Time against x, both in log scale, a curve for each way."""
    for name, (colour, style) in STYLES.items():
        here = [row for row in rows if row["way"] == name]
        if here:
            panel.plot([row[x] for row in here], [row["milliseconds"] for row in here], style, color=colour, label=name)
    panel.set(xscale="log", yscale="log", ylabel="milliseconds")
    panel.legend(loc="best")


def times_table(rows: list[Row], x: str, label: str) -> str:
    """Milliseconds, a column for each x."""
    places = sorted({row[x] for row in rows})
    lines = []
    for name in dict.fromkeys(row["way"] for row in rows):
        here = {row[x]: row for row in rows if row["way"] == name}
        lines.append([name, *(_format_time(here.get(place)) for place in places)])
    return table(["milliseconds", *(f"{label} = {place:,}" for place in places)], lines)


def _format_time(row: Row | None) -> str:
    return "" if row is None else f"{format_rounded(row['milliseconds'])} ±{row['spread']:.0%}"


def ratio(rows: list[Row], one: str, other: str, x: str) -> tuple[float, float]:
    """At the largest x that both have: that x, and the time of the one over that of the other."""
    times = {(row["way"], row[x]): row["milliseconds"] for row in rows}
    place = max(row[x] for row in rows if (one, row[x]) in times and (other, row[x]) in times)
    return place, times[one, place] / times[other, place]
