"""Figure 5 of the base-2 paper: how the precision is determined."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from experiments import exponential_ways as ways
from experiments.harness import Row, Setting, follow
from experiments.page import table
from experiments.plots import FOURTH, QUOTED, panels, spread_log
from lastbit.papers.base2_sampling import compute_precision, sufficient_precision

TITLE = "Base-2 exponential mechanism, figure 5: precision by theory or by trial"
PAPER = f"""
Ilvento, figure 5: the test of figure 4 with the working precision of Lemma 3.4 and with that of Algorithm 1, which
tries. The paper states: by trial, its Python is significantly faster as n grows and its Rust significantly slower.
{ways.SETTING}
`ExponentialMechanism` has no working precision to determine: it compares 128-bit bounds of the weights with one random
word, and takes more bits only where those do not decide.
"""
PACKAGES = ("lastbit", "numpy", "gmpy2", "cryptography")
USES_DATA, TIMED = False, True
SLOW = 5


def repetitions(setting: Setting) -> str:
    return ways.repetitions(setting, SLOW)


def measure(setting: Setting) -> list[Row]:
    rows: list[Row] = []
    for n in follow(setting.size([50, 100, 200, 400, 800], [5, 8]), "figure 5"):
        bits = {
            ways.PYTHON: sufficient_precision(0, n, n, ways.ETA),
            ways.EMPIRICAL: compute_precision(0, n, n, ways.ETA),
        }
        timed = ways.measure_times(np.arange(1, n + 1), (ways.LASTBIT, ways.PYTHON, ways.EMPIRICAL), setting, SLOW)
        rows += [{"n": n} | row | ({"bits": bits[row["way"]]} if row["way"] in bits else {}) for row in timed]
    return rows


def picture(rows: list[Row]) -> Figure:
    figure, axes = panels(1, 2, width=4.4, height=3.2)
    ways.curves(axes[0, 0], rows, "n")
    spread_log(axes[0, 0], sorted({row["n"] for row in rows}))
    axes[0, 0].set(xlabel="outcomes n")
    for name, colour in ((ways.PYTHON, QUOTED), (ways.EMPIRICAL, FOURTH)):
        here = [row for row in rows if row["way"] == name]
        axes[0, 1].plot([row["n"] for row in here], [row["bits"] for row in here], "o-", color=colour, label=name)
    axes[0, 1].set(xlabel="outcomes n", ylabel="bits of precision")
    axes[0, 1].legend()
    return figure


def report(rows: list[Row]) -> str:
    largest, by_trial = ways.ratio(rows, ways.EMPIRICAL, ways.PYTHON, "n")
    places = sorted({row["n"] for row in rows})
    bits = [
        [f"bits: {name}", *(row["bits"] for row in rows if row["way"] == name)]
        for name in (ways.PYTHON, ways.EMPIRICAL)
    ]
    return (
        f"At n = {largest:,} Algorithm 3 with the precision found by trial takes {by_trial:.2f} times as long as with "
        f"that of the lemma.\n\n{ways.times_table(rows, 'n', 'n')}\n\n"
        + table(["", *(f"n = {n:,}" for n in places)], bits)
    )
