"""The snapping notes' bias, against the value, the bounds and epsilon, beside the discrete Laplace."""

from __future__ import annotations

from fractions import Fraction

from matplotlib.figure import Figure

import lastbit as lb
from experiments.harness import Row, Setting, follow
from experiments.page import table
from experiments.plots import FOURTH, OTHER, OURS, QUOTED, panels, spread_log
from experiments.snapping_laws import RESOLUTION, discrete_laplace_error, error

TITLE = "Snapping: bias against B and ε, beside the discrete Laplace"
PAPER = """
Covington, sections 6.4 and 6.5, print formulas and no measurements: clamping to [−B, B] pulls results toward the
middle; a bound on the bias; and B = B' + (Λ'/2)(1 + 2 ln(1/γ)), which leaves room so that a value within ±B' is
clamped with probability at most γ. Beside the bound: the exact bias from the mechanisms' laws. Nothing is sampled.
Without bounds the discrete Laplace has no bias; it is shown clamped to the same bounds.
"""
PACKAGES = ("lastbit", "gmpy2")
USES_DATA, TIMED = False, False
GAMMA = Fraction(1, 20)


def repetitions(setting: Setting) -> str:
    return f"exact laws, no sampling; discrete Laplace on a grid of {RESOLUTION}"


def measure(setting: Setting) -> list[Row]:
    half, places = setting.size(10, 3), setting.size(20, 2)
    points = [("value", Fraction(1), half, Fraction(half * i, places)) for i in range(-places, places + 1)]
    epsilons = [Fraction(each) for each in setting.size(["1/4", "1/2", "3/4", "1", "3/2", "2", "3", "4"], ["1"])]
    points += [("ε", epsilon, half, Fraction(half)) for epsilon in epsilons]
    points += [("B", Fraction(1), each, Fraction(each)) for each in setting.size([2, 5, 10, 20, 50, 100], [2])]
    return [_row(*point) for point in follow(points, "snapping bias")]


def _row(sweep: str, epsilon: Fraction, half: int, value: Fraction) -> Row:
    bounds = (Fraction(-half), Fraction(half))
    snapping = lb.Snapping(epsilon=epsilon, bounds=bounds)
    widened = lb.Snapping(epsilon=epsilon, bounds=bounds, gamma=GAMMA)
    return {
        "sweep": sweep, "epsilon": float(epsilon), "B": half, "value": float(value),
        "snapping": error(snapping.law(value), value).bias, "snapping_bound": float(snapping.bias_bound(value)),
        "widened": error(widened.law(value), value).bias,
        "discrete_clamped": discrete_laplace_error(epsilon, bounds, value).bias,
    }  # fmt: skip


def picture(rows: list[Row]) -> Figure:
    figure, axes = panels(1, 3, height=3.1)
    for panel, (sweep, column) in zip(axes[0], (("value", "value"), ("ε", "epsilon"), ("B", "B")), strict=True):
        here = [row for row in rows if row["sweep"] == sweep]
        x = [row[column] for row in here]
        for name, colour, style, label in (
            ("snapping_bound", OTHER, "--", "snapping, bound on |bias|"),
            ("snapping", QUOTED, "o-", "snapping"),
            ("widened", FOURTH, "v-", f"snapping, γ = {float(GAMMA):g}"),
            ("discrete_clamped", OURS, "s-", "discrete Laplace, clamped"),
        ):
            panel.plot(x, [row[name] for row in here], style, color=colour, label=label, markersize=3)
        where = f"ε = 1, B = {here[0]['B']}" if sweep == "value" else "at the upper bound"
        panel.set(xlabel=sweep, ylabel="bias", title=where)
        if sweep != "value":
            spread_log(panel, x)
    axes[0, 1].legend(loc="best")
    return figure


def report(rows: list[Row]) -> str:
    shown = [row for row in rows if row["sweep"] != "value" or row["value"] in (0, row["B"] / 2, row["B"])]
    lines = [
        [
            f"ε = {row['epsilon']:g}, B = {row['B']}, value {row['value']:g}",
            *(f"{row[name]:z.4f}" for name in ("snapping", "snapping_bound", "widened", "discrete_clamped")),
        ]
        for row in shown
    ]  # fmt: skip
    beyond = sum(abs(row["snapping"]) > row["snapping_bound"] for row in rows)
    names = ["", "snapping", "notes: bound on its size", f"snapping, γ = {float(GAMMA):g}", "discrete Laplace, clamped"]
    return (
        f"Of {len(rows)} exact biases {beyond} are beyond the bound. Away from the bounds snapping is still biased, by "
        f"rounding: a value between two multiples of Λ' is pulled to the nearer one.\n\n{table(names, lines)}"
    )
