"""Figure 7 of the base-2 paper: the clamped discrete Laplace as a choice among outcomes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from matplotlib.figure import Figure

from experiments import exponential_ways as ways
from experiments.harness import Row, Setting, follow
from experiments.plots import panels, spread_log

TITLE = "Base-2 exponential mechanism, figure 7: Laplace noise as a choice among outcomes"
PAPER = f"""
Ilvento, figure 7: the outcomes are the multiples of γ from −10 to 10, the utility of o is |o|, γ falls. The paper
states: its exact Python is faster than the naive one here, and precision by trial is faster still.
{ways.SETTING}
`ExponentialMechanism` is shown twice: on the grid of γ, where nothing needs rounding, and with the paper's randomized
rounding to whole utilities.
"""
PACKAGES = ("lastbit", "numpy", "gmpy2", "cryptography")
USES_DATA, TIMED = False, True
SLOW = 5
NAMES = (ways.LASTBIT, ways.LASTBIT_RANDOMIZED, ways.NUMPY, ways.NAIVE, ways.PYTHON, ways.EMPIRICAL)
BOUND = 10


def repetitions(setting: Setting) -> str:
    return ways.repetitions(setting, SLOW)


def measure(setting: Setting) -> list[Row]:
    rows: list[Row] = []
    for power in follow(setting.size([1, 2, 3, 4, 5, 6], [0, 1]), "figure 7"):
        steps = BOUND << power
        utilities = np.abs(np.arange(-steps, steps + 1)) / (1 << power)
        timed = ways.measure_times(utilities, NAMES, setting, SLOW, Fraction(1, 1 << power))
        rows += [{"outcomes": len(utilities), "power": power} | row for row in timed]
    return rows


def picture(rows: list[Row]) -> Figure:
    figure, axes = panels(1, 1, width=6, height=3.6)
    ways.curves(axes[0, 0], rows, "outcomes")
    spread_log(axes[0, 0], sorted({row["outcomes"] for row in rows}))
    axes[0, 0].set(xlabel="outcomes: 20/γ + 1")
    return figure


def report(rows: list[Row]) -> str:
    outcomes, against = ways.ratio(rows, ways.PYTHON, ways.LASTBIT, "outcomes")
    _, naive = ways.ratio(rows, ways.PYTHON, ways.NAIVE, "outcomes")
    return (
        f"With {outcomes:,} outcomes Algorithm 3 takes {against:,.0f} times as long as `ExponentialMechanism`, and "
        f"{naive:.2f} times as long as the naive listing of the paper's figure 1.\n\n"
        + ways.times_table(rows, "outcomes", "outcomes")
    )
