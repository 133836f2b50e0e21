"""Figure 6 of the base-2 paper: time against the range of utilities."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from experiments import exponential_ways as ways
from experiments.harness import Row, Setting, follow
from experiments.plots import panels

TITLE = "Base-2 exponential mechanism, figure 6: time against the range of utilities"
PAPER = f"""
Ilvento, figure 6: 1,000 outcomes, one of utility 0 and the others of utilities n+1 to n+999, n growing. The paper
states: growth is linear in n, since only the precision grows, and Algorithm 4 pulls ahead.
{ways.SETTING}"""
PACKAGES = ("lastbit", "numpy", "gmpy2", "cryptography")
USES_DATA, TIMED = False, True
SLOW = 15
LISTINGS = (ways.LASTBIT, ways.NUMPY, ways.PYTHON, ways.OPTIMIZED)


def repetitions(setting: Setting) -> str:
    return ways.repetitions(setting, SLOW)


def measure(setting: Setting) -> list[Row]:
    outcomes = setting.size(1000, 8)
    small, large = setting.size([500, 1_000, 2_000, 4_000], [8, 16]), setting.size([10**5, 10**6, 10**9], [1000])
    rows: list[Row] = []
    for n in follow([*small, *large], "figure 6"):
        utilities = np.concatenate(([0], np.arange(1, outcomes) + n))
        names = LISTINGS if n in small else ways.QUICK
        rows += [{"n": n, "outcomes": outcomes} | row for row in ways.measure_times(utilities, names, setting, SLOW)]
    return rows


def picture(rows: list[Row]) -> Figure:
    figure, axes = panels(1, 1, width=6, height=3.6)
    ways.curves(axes[0, 0], rows, "n")
    axes[0, 0].set(xlabel=f"n: utilities 0 and n+1 … n+{rows[0]['outcomes'] - 1}")
    return figure


def report(rows: list[Row]) -> str:
    mine = {row["n"]: row["milliseconds"] for row in rows if row["way"] == ways.LASTBIT}
    listed = {row["n"]: row["milliseconds"] for row in rows if row["way"] == ways.PYTHON}
    loose = max(row["spread"] for row in rows if row["way"] == ways.PYTHON)
    return (
        f"From n = {min(listed):,} to {max(listed):,} Algorithm 3 takes "
        f"{listed[max(listed)] / listed[min(listed)]:.1f} times as long; time proportional to n would be "
        f"{max(listed) / min(listed):.0f} times. Single points have a spread of up to ±{loose:.0%}, so {len(listed)} "
        f"points show growth, and cannot show that the growth is a straight line. From n = {min(mine):,} to "
        f"{max(mine):,} `ExponentialMechanism` takes {mine[max(mine)] / mine[min(mine)]:.2f} times as long.\n\n"
        + ways.times_table(rows, "n", "n")
    )
