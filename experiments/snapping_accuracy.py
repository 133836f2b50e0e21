"""The snapping notes' accuracy, against the bounds and epsilon, beside the discrete Laplace."""

from __future__ import annotations

import math
from fractions import Fraction

from matplotlib.figure import Figure

import lastbit as lb
from experiments.harness import Row, Setting, follow
from experiments.page import table
from experiments.plots import OTHER, OURS, QUOTED, panels, spread_log
from experiments.snapping_laws import RESOLUTION, discrete_laplace_error, error

TITLE = "Snapping: accuracy against ε and B, beside the discrete Laplace"
PAPER = """
Covington, *Snapping Mechanism Notes*, sections 6.2 and 6.3, print formulas and no measurements: the promise of
GetAccuracy2, a = ln(1/α)/ε' + Λ'/2, against the Laplace mechanism's ln(1/α)/ε, for a result within [−B, B] and α =
0.05 here. Beside the formula: what the mechanisms really do, from their exact laws. Nothing is sampled. The value is
moved through one step of snapping's grid, since rounding treats values differently; the worst of them is shown.
"""
PACKAGES = ("lastbit", "gmpy2")
USES_DATA, TIMED = False, False
ALPHA = Fraction(1, 20)


def repetitions(setting: Setting) -> str:
    return f"exact laws of {setting.size(8, 2)} values a point, no sampling; discrete Laplace on a grid of {RESOLUTION}"


def measure(setting: Setting) -> list[Row]:
    epsilons = [Fraction(each) for each in setting.size(["1/4", "1/2", "3/4", "1", "3/2", "2", "3", "4"], ["1/2", "1"])]
    halves = setting.size([2, 5, 10, 20, 50, 100], [5, 6])
    points = [("ε", epsilon, setting.size(20, 4)) for epsilon in epsilons] + [
        ("B", Fraction(1), half) for half in halves
    ]
    return [_row(*point, setting.size(8, 2)) for point in follow(points, "snapping accuracy")]


def _row(sweep: str, epsilon: Fraction, half: int, offsets: int) -> Row:
    snapping = lb.Snapping(epsilon=epsilon, bounds=(-half, half))
    errors = []
    for i in range(offsets):
        truth = snapping._snap * Fraction(i, offsets)
        errors.append(error(snapping.law(truth), truth))
    plain = discrete_laplace_error(epsilon, None, Fraction(0))
    return {
        "sweep": sweep, "epsilon": float(epsilon), "B": half, "snap": float(snapping._snap),
        "snapping_promise": float(snapping.accuracy(1 - ALPHA)), "snapping_within": max(each.within for each in errors),
        "snapping_rms_least": min(each.root_mean_square for each in errors),
        "snapping_rms_most": max(each.root_mean_square for each in errors),
        "laplace_formula": math.log(1 / ALPHA) / float(epsilon),
        "discrete_within": plain.within, "discrete_rms": plain.root_mean_square,
    }  # fmt: skip


def picture(rows: list[Row]) -> Figure:
    figure, axes = panels(1, 2, width=4.6, height=3.3)
    for panel, (sweep, column) in zip(axes[0], (("ε", "epsilon"), ("B", "B")), strict=True):
        here = [row for row in rows if row["sweep"] == sweep]
        x = [row[column] for row in here]
        scale = [row["epsilon"] for row in here]
        for name, colour, style, label in (
            ("snapping_promise", QUOTED, "--", "snapping, promised (GetAccuracy2)"),
            ("snapping_within", QUOTED, "o-", "snapping, exact"),
            ("laplace_formula", OTHER, "--", "Laplace, ln(1/α)/ε"),
            ("discrete_within", OURS, "s-", "discrete Laplace, exact"),
        ):
            panel.plot(x, [row[name] * e for row, e in zip(here, scale, strict=True)], style, color=colour, label=label)
        spread_log(panel, x)
        panel.set(xlabel=sweep, ylabel="distance kept with 95%, times ε", ylim=(2.5, 5.2))
    axes[0, 0].legend(loc="best")
    return figure


def report(rows: list[Row]) -> str:
    lines = [
        [
            f"ε = {row['epsilon']:g}, B = {row['B']}", f"{row['snap']:g}", f"{row['snapping_promise']:.3f}",
            f"{row['snapping_within']:.3f}", f"{row['snapping_rms_least']:.3f} to {row['snapping_rms_most']:.3f}",
            f"{row['laplace_formula']:.3f}", f"{row['discrete_within']:.3f}", f"{row['discrete_rms']:.3f}",
        ]
        for row in rows
    ]  # fmt: skip
    extra = [row["snapping_rms_most"] / row["discrete_rms"] - 1 for row in rows if row["B"] * row["epsilon"] >= 5]
    names = [
        "", "Λ'", "notes: promise", "snapping: 95% within", "snapping: RMS error", "notes: Laplace formula",
        "discrete: 95% within", "discrete: RMS error",
    ]  # fmt: skip
    return (
        f"Where the bounds do not cut the noise off (B·ε ≥ 5), the root mean square error of snapping is "
        f"{min(extra):.0%} to {max(extra):.0%} above that of the discrete Laplace, depending on how far Λ' is "
        "above 1/ε.\n\n" + table(names, lines)
    )
