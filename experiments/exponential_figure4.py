"""Figure 4 of the base-2 paper: time against the size of the outcome space."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from experiments import exponential_ways as ways
from experiments.harness import Row, Setting, follow
from experiments.plots import panels

TITLE = "Base-2 exponential mechanism, figure 4: time against the outcome space"
PAPER = f"""
Ilvento, *Implementing the Exponential Mechanism with Base-2 Differential Privacy*, figure 4: outcomes 1 to n with
utility u(o) = o, so the range of utilities grows with n. The paper states: the exact Python is competitive with the
naive Python, the naive Rust is orders of magnitude faster than the exact Rust, which takes about 10 seconds for n =
75,000.
{ways.SETTING}"""
PACKAGES = ("lastbit", "numpy", "gmpy2", "cryptography")
USES_DATA, TIMED = False, True
LISTINGS = (ways.LASTBIT, ways.NUMPY, ways.NAIVE, ways.PYTHON, ways.OPTIMIZED)
SLOW = 5
PUBLISHED_MILLISECONDS = {75_000: 10_000.0}
"""The paper's Rust, "about 10 seconds"."""


def repetitions(setting: Setting) -> str:
    return ways.repetitions(setting, SLOW)


def measure(setting: Setting) -> list[Row]:
    small, large = setting.size([50, 100, 200, 400, 800], [6]), setting.size([3_000, 10_000, 30_000, 75_000], [20])
    rows: list[Row] = []
    for n in follow([*small, *large], "figure 4"):
        names = LISTINGS if n in small else ways.QUICK
        rows += [{"n": n} | row for row in ways.measure_times(np.arange(1, n + 1), names, setting, SLOW)]
    return rows


def picture(rows: list[Row]) -> Figure:
    figure, axes = panels(1, 1, width=6, height=3.6)
    ways.curves(axes[0, 0], rows, "n")
    axes[0, 0].plot(
        *zip(*PUBLISHED_MILLISECONDS.items(), strict=True), "*", color="black", label="paper: Rust, n = 75,000"
    )
    axes[0, 0].set(xlabel="outcomes n, utilities 1 … n")
    axes[0, 0].legend(loc="best")
    return figure


def report(rows: list[Row]) -> str:
    most, against = ways.ratio(rows, ways.PYTHON, ways.LASTBIT, "n")
    largest, naive = ways.ratio(rows, ways.LASTBIT, ways.NUMPY, "n")
    mine = next(row["milliseconds"] for row in rows if row["way"] == ways.LASTBIT and row["n"] == largest)
    text = (
        f"At n = {most:,} Algorithm 3 takes {against:,.0f} times as long as `ExponentialMechanism`. At n = {largest:,} "
        f"that takes {mine:.3g} ms, {naive:.2f} times the naive float mechanism in NumPy arrays"
    )
    if largest in PUBLISHED_MILLISECONDS:
        published = PUBLISHED_MILLISECONDS[largest]
        text += f" (paper: about {published / 1e3:g} s in Rust on its machine, {published / mine:,.0f} times as long)"
    return f"{text}.\n\n{ways.times_table(rows, 'n', 'n')}"
