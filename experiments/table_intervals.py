"""Intervals of means, sums and counts of a table: how often they hold, on skewed, tied and missing-ridden numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import lastbit as lb
from experiments.harness import Row, Setting, spread_out
from experiments.page import table
from experiments.plots import OTHER, OURS, legend_outside, panels

TITLE = "Numbers of a table: intervals hold on skewed, tied and missing-ridden data"
PAPER = """
No paper: a check of every interval that `lastbit mean`, `sum`, `count` and `histogram` state. One number for each unit,
bounds 0 to 100, ε = 1, level 95%. The truth is that of the numbers which are there, clamped to the bounds but not
floored. "Missing as lowest" is the rule of earlier versions, which `missing="lowest"` still has: the interval holds for
another truth than the one that was asked for. A resolution of 10 is so coarse that flooring number by number would move
the mean by up to 10.
"""
PACKAGES = ("lastbit", "numpy", "cryptography")
USES_DATA, TIMED = False, False
LEVEL, BOUNDS = "0.95", (0, 100)
MEASURES = ("mean", "units", "sum", "people", "bins", "lowest")

Values = NDArray[np.float64]


def shapes(n: int) -> dict[str, Values]:
    """Numbers of n units; NaN where a unit has none."""
    chance = np.random.default_rng(1)
    skewed = np.exp(chance.normal(1, 1.5, n))
    missing = np.where(chance.random(n) < 0.4, np.nan, chance.normal(60, 10, n))
    return {
        "skewed": skewed,
        "tied": np.full(n, 9.9),
        "two values": np.where(np.arange(n) % 10 == 0, 100.0, 0.0),
        "four in ten missing": missing,
        "all but three missing": np.where(np.arange(n) < 3, 99.9, np.nan),
        "outside the bounds": chance.normal(100, 80, n),
    }


@dataclass(frozen=True)
class Point:
    """One shape, and how often it is tried."""

    name: str
    n: int
    resolution: str
    runs: int


def repetitions(setting: Setting) -> str:
    return f"{setting.size(4_000, 20):,} releases a line"


def measure(setting: Setting) -> list[Row]:
    sizes, steps = setting.size([30, 1000], [30]), setting.size(["1/4", "10"], ["10"])
    runs = setting.size(4_000, 20)
    points = [Point(name, n, step, runs) for n in sizes for name in shapes(n) for step in steps]
    return spread_out(_rows, points, setting, "intervals of a table")


def _rows(point: Point) -> list[Row]:
    draw, values, step = lb.Sampler(), shapes(point.n)[point.name], point.resolution
    there = [min(Fraction(100), max(Fraction(0), Fraction(value))) for value in values[~np.isnan(values)].tolist()]
    total, units = sum(there, Fraction(0)), len(there)
    counts = lb.histogram(values, bounds=BOUNDS, bins=4, missing="bin")
    parts = {
        "mean": lb.NoisyMean(epsilon=1, bounds=BOUNDS, resolution=step).ready(values),
        "sum": _ready(lb.exact_sum(values, bounds=BOUNDS, resolution=step)),
        "bins": _ready(counts),
        "people": lb.DiscreteLaplace(epsilon=1).ready(units),
        "lowest": lb.NoisyMean(epsilon=1, bounds=BOUNDS, resolution=step).ready(
            lb.mean_sums(values, bounds=BOUNDS, resolution=step, missing="lowest")
        ),
    }
    held, widths = dict.fromkeys(MEASURES, 0.0), []
    for _ in range(point.runs):
        released: dict[str, Any] = {name: part(draw) for name, part in parts.items()}
        low, high = released["mean"].interval(LEVEL)
        widths.append(float(high - low))
        held["mean"] += low <= total / units <= high
        held["units"] += _within(units, released["mean"].people_interval(LEVEL))
        held["sum"] += _within(total, released["sum"].interval(LEVEL))
        held["people"] += _within(units, released["people"].interval(LEVEL))
        held["lowest"] += _within(total / units, released["lowest"].interval(LEVEL))
        intervals = released["bins"].interval(LEVEL)
        held["bins"] += np.mean(
            [_within(int(c), interval) for c, interval in zip(counts.values, intervals, strict=True)]
        )
    shares = {name: count / point.runs for name, count in held.items()}
    return [{"shape": point.name, "n": point.n, "step": step, "width": float(np.median(widths)), **shares}]


def _ready(values: Any) -> Any:
    return lb.DiscreteLaplace.of(values, epsilon=1).ready(values)


def _within(truth: Any, ends: tuple[Any, Any]) -> bool:
    return bool(ends[0] <= truth <= ends[1])


def picture(rows: list[Row]) -> Figure:
    sizes = sorted({row["n"] for row in rows})
    figure, axes = panels(1, len(sizes), width=4.2, height=3.6)
    for panel, n in zip(axes[0], sizes, strict=True):
        here = [row for row in rows if row["n"] == n]
        across = np.arange(len(here))
        panel.bar(across - 0.2, [row["lowest"] for row in here], 0.4, color=OTHER, label="missing as lowest")
        panel.bar(across + 0.2, [row["mean"] for row in here], 0.4, color=OURS, label="left out")
        panel.axhline(float(LEVEL), color="black", linewidth=0.8)
        names = [f"{row['shape']}, step {row['step']}" for row in here]
        panel.set_xticks(across, names, rotation=40, ha="right", fontsize=6)
        panel.set(title=f"{n:,} units", ylabel="intervals of the mean that hold", ylim=(0, 1.05))
    legend_outside(figure, axes[0, 0], "upper", 2)
    return figure


def report(rows: list[Row]) -> str:
    lines = [
        [f"{row['shape']}, n = {row['n']:,}, step {row['step']}", *(f"{row[name]:.3f}" for name in MEASURES),
         f"{row['width']:.3g}"]
        for row in rows
    ]  # fmt: skip
    names = ["numbers", "mean", "units", "sum", "people", "bins", "mean, missing as lowest", "width of the mean's"]
    return (
        "The share of intervals that hold. The mean and the units hold together at the level, so that each alone holds "
        "more often; a number of people is whole, and so is what its noise reaches, which rounds the level up. By "
        f"chance a share is off by up to 0.01 here.\n\n{table(names, lines)}"
    )
