"""Estimates and intervals of selected values: what lucky noise does to them, on values of several shapes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import lastbit as lb
from experiments import top_k_runs
from experiments.free_gap import best_estimates, chunks
from experiments.harness import Row, Setting, spread_out
from experiments.page import table
from experiments.plots import OTHER, OURS, legend_outside, panels
from lastbit.estimate.accuracy import laplace_accuracy
from lastbit.exact.numbers import probability

TITLE = "After selection: intervals that hold, estimates that lucky noise does not spoil"
PAPER = """
Ding et al. combine measurements and gaps by the best linear unbiased estimate (BLUE). That is best for items that were
not selected by luck. Where items are close, the noise of a selected item is not what the noise of an item is: it was
lucky, and the gaps carry the luck. The measurements do not, because their noise is drawn after the selection. Here the
values have six shapes; `SelectAndMeasure` selects with half of ε = 1 and measures with the other half, on counts. The
mean squared error is over that of the measurements alone. Coverage is how often an interval of level 95% holds the true
value: over all ranks, and at the worst rank.
"""
PACKAGES = ("lastbit", "numpy", "cryptography")
USES_DATA, TIMED = False, False
LEVEL = "0.95"

Values = NDArray[Any]


def shapes(k: int, n: int) -> dict[str, Values]:
    """Values, largest first. The noise that selects has a scale of 2k at ε = 1."""
    places, scale = np.arange(n), 2 * k
    apart = np.where(places < k, (n - places) * 100 * scale, 0)
    return {
        "far apart": apart,
        "flat": np.full(n, 10 * scale),
        "steps": (n - places) // 20 * 2 * scale,
        "Zipf": 10_000 // (places + 1),
        "half apart, half lucky": np.where(places < k // 2, apart, 10 * scale),
        "one apart, the others lucky": np.where(places < 1, apart, 10 * scale),
    }


@dataclass(frozen=True)
class Point:
    """One shape, and how often it is tried."""

    name: str
    k: int
    n: int
    runs: int


def repetitions(setting: Setting) -> str:
    return f"{setting.size(20_000, 20):,} runs a shape, in whole units"


def measure(setting: Setting) -> list[Row]:
    sizes = setting.size([(4, 1000), (10, 1000), (50, 1000)], [(3, 40)])
    points = [Point(name, k, n, setting.size(20_000, 20)) for k, n in sizes for name in shapes(k, n)]
    return spread_out(_rows, points, setting, "after selection")


def _rows(point: Point) -> list[Row]:
    draw, k = lb.Sampler(), point.k
    steps = shapes(k, point.n)[point.name].astype(np.int64)
    mechanism = lb.SelectAndMeasure(k=k, epsilon=1, resolution=1, monotone=True)
    rate = mechanism._measurement_rate
    variance, ratio = float(rate.laplace_variance), float(mechanism._selector.rate.geometric_variance)
    ratio /= variance
    reach = laplace_accuracy(rate, probability(LEVEL, "level"))
    errors, held = np.zeros((3, k)), np.zeros(k)
    for runs in chunks(point.runs, point.n):
        chosen = top_k_runs.with_exponential_noise(mechanism._selector, steps, runs, draw)
        noise = draw.laplace(rate, runs * k).reshape(runs, k)
        truth = steps[chosen.indices]
        measured = truth + noise
        line = best_estimates(measured, chosen.middles, 0.0)
        held += (np.abs(noise) <= reach).sum(axis=0)
        apart = measured - line
        for place, weight in enumerate((1.0, ratio / (1 + ratio), weights_of(apart, ratio, variance))):
            errors[place] += np.square(line + weight * apart - truth).sum(axis=0)
    whole = errors.sum(axis=1)
    return [
        {
            "shape": point.name, "k": k, "n": point.n,
            "blue": whole[1] / whole[0], "estimates": whole[2] / whole[0],
            "worst_estimate": (errors[2] / errors[0]).max(),
            "coverage": held.mean() / point.runs, "worst_rank": held.min() / point.runs,
        }
    ]  # fmt: skip


def weights_of(apart: Values, ratio: float, variance: float) -> Values:
    """The weights of the measurements in `lastbit.estimate.tempered`, a run a row, in floats."""
    square = np.square(apart).sum(axis=1, keepdims=True)
    trusted = max(0, 2 * apart.shape[1] - 6) * variance
    weights: Values = np.maximum(ratio / (1 + ratio), 1 - trusted / np.maximum(square, 1e-300))
    return weights


def picture(rows: list[Row]) -> Figure:
    ks = sorted({row["k"] for row in rows})
    figure, axes = panels(1, len(ks), height=3.6)
    for panel, k in zip(axes[0], ks, strict=True):
        here = [row for row in rows if row["k"] == k]
        across = np.arange(len(here))
        panel.bar(across - 0.2, [min(row["blue"], 2) for row in here], 0.4, color=OTHER, label="BLUE")
        panel.bar(across + 0.2, [row["estimates"] for row in here], 0.4, color=OURS, label="estimates")
        panel.axhline(1, color="black", linewidth=0.8)
        panel.set_xticks(across, [row["shape"] for row in here], rotation=40, ha="right", fontsize=6)
        panel.set(title=f"k = {k}", ylabel="squared error, measurements = 1", ylim=(0, 2))
    legend_outside(figure, axes[0, 0], "upper", 2)
    return figure


def report(rows: list[Row]) -> str:
    shown: Callable[[float], str] = "{:.3f}".format
    lines = [
        [f"{row['shape']}, k = {row['k']} of {row['n']:,}",
         *(shown(row[name]) for name in ("blue", "estimates", "worst_estimate", "coverage", "worst_rank"))]
        for row in rows
    ]  # fmt: skip
    names = ["values", "BLUE", "estimates", "at the worst rank", "intervals hold", "at the worst rank"]
    return (
        "A squared error below 1 is better than measuring alone; at a single rank it can be well above 1, where the "
        "items before or after were lucky. An interval holds with at least its level at every rank, as the "
        "measurement's noise knows nothing of the selection; by chance the share at a rank is off by up "
        f"to 0.005 here.\n\n{table(names, lines)}"
    )
