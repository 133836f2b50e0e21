"""Figure 8 of the base-2 paper: what randomized rounding does to the law."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import lastbit as lb
from experiments import exponential_ways as ways
from experiments.harness import Row, Setting, follow
from experiments.page import table
from experiments.plots import OTHER, OURS, panels
from lastbit.papers.base2_exponential import rounding_error_upper

TITLE = "Base-2 exponential mechanism, figure 8: accuracy of rounding"
PAPER = """
Ilvento, figure 8: 6,000 outputs of the mechanism with randomized rounding and 6,000 of the naive float mechanism, for
ε = 2 ln 2, outcomes ±γi for i = 1 … 100, γ = 2⁻⁴, utility |o|. The paper states: nearly identical, with a
Kolmogorov-Smirnov statistic of 0.02.

Beside it: `ExponentialMechanism` on the grid of γ, which rounds nothing; and the pointwise errors without sampling.
"""
PACKAGES = ("lastbit", "numpy", "gmpy2", "cryptography")
USES_DATA, TIMED = False, False
PER_UNIT, HALF = 16, 100
PUBLISHED_STATISTIC = 0.02


def repetitions(setting: Setting) -> str:
    return (
        f"{setting.size(6_000, 50):,} outputs of each; {setting.size(20_000, 50):,} roundings for the pointwise error"
    )


def outcomes() -> NDArray[np.int64]:
    """In units of γ."""
    steps = np.arange(1, HALF + 1)
    return np.concatenate((-steps[::-1], steps))


def kolmogorov_smirnov(one: NDArray[Any], other: NDArray[Any]) -> float:
    """The largest distance between two empirical distribution functions."""
    places = np.union1d(one, other)
    below = [np.searchsorted(np.sort(each), places, side="right") / len(each) for each in (one, other)]
    return float(np.abs(below[0] - below[1]).max())


def measure(setting: Setting) -> list[Row]:
    places = outcomes()
    utilities = np.abs(places) / PER_UNIT
    offered = ways.ways(utilities, Fraction(1, PER_UNIT))
    names = (ways.NUMPY, ways.LASTBIT_RANDOMIZED, ways.LASTBIT)
    counted = {name: np.zeros(len(places), int) for name in names}
    for _ in follow(range(setting.size(6_000, 50)), "figure 8"):
        for name in names:
            choice = offered[name]()
            counted[name][choice if isinstance(choice, int) else choice.index] += 1
    exact, grid = _run_unrounded(places), _on_grid(places)
    rounded = _with_rounding(utilities, setting.size(20_000, 50))
    bound = rounding_error_upper(ways.ETA, [Fraction(int(abs(place)), PER_UNIT) for place in places])
    return [
        {
            "outcome": float(place / PER_UNIT), "naive": counted[ways.NUMPY][i],
            "randomized": counted[ways.LASTBIT_RANDOMIZED][i], "grid": counted[ways.LASTBIT][i],
            "probability": float(exact[i]), "randomized_probability": float(rounded[i]),
            "randomized_bound": float(bound[i]), "grid_error": float(abs(grid[i] - exact[i])),
        }
        for i, place in enumerate(places)
    ]  # fmt: skip


def _run_unrounded(places: NDArray[np.int64]) -> list[Any]:
    """The law proportional to 2^-|o|, to 300 bits."""
    with gmpy2.context(precision=300):
        weights = [gmpy2.mpfr(2) ** (-gmpy2.mpfr(abs(int(place))) / PER_UNIT) for place in places]
        total = sum(weights)
        return [weight / total for weight in weights]


def _on_grid(places: NDArray[np.int64]) -> list[Any]:
    """The exact law of ours on the grid, proportional to r^(|o|/γ), to 300 bits."""
    rate = lb.ExponentialMechanism(eta=ways.COST, resolution=Fraction(1, PER_UNIT)).rate.fraction
    with gmpy2.context(precision=300):
        weights = [gmpy2.mpfr(gmpy2.mpq(rate)) ** abs(int(place)) for place in places]
        total = sum(weights)
        return [weight / total for weight in weights]


def _with_rounding(utilities: NDArray[np.float64], roundings: int) -> NDArray[np.float64]:
    """The law with randomized rounding: the mean, over roundings drawn at random, of the law given the rounding."""
    draw, law = lb.Sampler(), np.zeros(len(utilities))
    floors = np.floor(utilities)
    parts = ((utilities - floors) * PER_UNIT).astype(np.int64)
    for _ in range(roundings):
        up = draw.integer(PER_UNIT, len(utilities)) < parts
        weights = np.exp2(-(floors + up))
        law += weights / weights.sum()
    return law / roundings


def _samples(rows: list[Row], name: str) -> NDArray[np.float64]:
    return np.repeat([row["outcome"] for row in rows], [row[name] for row in rows])


def picture(rows: list[Row]) -> Figure:
    figure, axes = panels(1, 2, width=4.6, height=3.2)
    edges = np.arange(-6.5, 6.75, 0.25)
    for name, colour, label in (("naive", OTHER, "naive float"), ("randomized", OURS, "randomized rounding")):
        axes[0, 0].hist(_samples(rows, name), edges, histtype="step", color=colour, label=label)
    axes[0, 0].set(xlabel="output", ylabel="count")
    axes[0, 0].legend()
    x = [row["outcome"] for row in rows]
    errors = [max(abs(row["randomized_probability"] - row["probability"]), 1e-12) for row in rows]
    axes[0, 1].plot(x, [row["randomized_bound"] for row in rows], "-", color=OTHER, label="bound of Lemma A.2")
    axes[0, 1].plot(x, errors, ".", color=OURS, label="randomized rounding")
    axes[0, 1].plot(x, [max(row["grid_error"], 1e-25) for row in rows], "-", color="black", label="on the grid, exact")
    axes[0, 1].set(yscale="log", xlabel="output", ylabel="error of its probability")
    axes[0, 1].legend()
    return figure


def report(rows: list[Row]) -> str:
    naive = _samples(rows, "naive")
    statistics = [kolmogorov_smirnov(_samples(rows, name), naive) for name in ("randomized", "grid")]
    pointwise = max(abs(row["randomized_probability"] - row["probability"]) for row in rows)
    bound, grid = (max(row[name] for row in rows) for name in ("randomized_bound", "grid_error"))
    lines = [
        ["randomized rounding", f"{statistics[0]:.3f}", f"{pointwise:.2g}", f"{bound:.2g}"],
        ["on the grid of γ, nothing rounded", f"{statistics[1]:.3f}", f"{grid:.2g}", ""],
        ["paper: randomized rounding", PUBLISHED_STATISTIC, "", "drawn, no numbers"],
    ]
    names = [
        "against the unrounded mechanism",
        "Kolmogorov-Smirnov statistic",
        "largest pointwise error",
        "its bound by Lemma A.2",
    ]
    return table(names, lines)
