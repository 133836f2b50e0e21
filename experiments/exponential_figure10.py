"""Figures 10 and 11 of the base-2 paper: how far randomized rounding can move a probability, by Lemma A.2."""

from __future__ import annotations

from fractions import Fraction

from matplotlib.figure import Figure

from experiments.harness import Row, Setting, follow
from experiments.page import table
from experiments.plots import OTHER, OURS, panels
from lastbit.exact.rounding import fraction, power_bounds
from lastbit.papers.base2_exponential import rounding_bounds, rounding_error_upper
from lastbit.privacy.eta import Eta

TITLE = "Base-2 exponential mechanism, figures 10 and 11: the bound on randomized rounding"
PAPER = """
Ilvento, figures 10 and 11: Laplace noise as the exponential mechanism with utility |o| on the outcomes from -B to B in
steps of γ, B = 10. Figure 10 has the largest pointwise difference that Lemma A.2 allows between the mechanism with
randomized rounding and the one that rounds nothing, for several γ; figure 11 the lemma's lower and upper bounds beside
the unrounded probabilities. The paper draws both, states no numbers, and says: the error is small, and falls with γ.

What differs: here η = 1, which is ε = 2 ln 2 as in its figure 8, and nothing is sampled: the bounds are exact fractions
of the corrected lemma ([erratum B13](../errata.md#b13)), and the unrounded probabilities are right to 2^-250.
"""
PACKAGES = ("lastbit", "gmpy2")
USES_DATA, TIMED = False, False
ETA, BOUND, SHOWN = Eta(1, 1, 1), 10, 2


def repetitions(setting: Setting) -> str:
    return "nothing is drawn"


def utilities_at(per_unit: int) -> list[Fraction]:
    """|o| for the outcomes from -B to B, in steps of 1/per_unit."""
    return [abs(Fraction(step, per_unit)) for step in range(-BOUND * per_unit, BOUND * per_unit + 1)]


def unrounded(utilities: list[Fraction]) -> list[Fraction]:
    """The probabilities in proportion to 2^-u."""
    weights = [
        fraction(power_bounds(ETA.fraction, utility, 256)[0]) if utility else Fraction(1) for utility in utilities
    ]
    total = sum(weights, Fraction(0))
    return [weight / total for weight in weights]


def measure(setting: Setting) -> list[Row]:
    rows: list[Row] = []
    for power in follow(setting.size([0, 1, 2, 3, 4, 5], [0, 1, 2]), "figure 10"):
        utilities = utilities_at(1 << power)
        error = rounding_error_upper(ETA, utilities)
        exact = unrounded(utilities)
        for i, (lower, upper) in enumerate(rounding_bounds(ETA, utilities)):
            rows.append(
                {
                    "gamma": f"2^-{power}", "outcome": float(Fraction(i, 1 << power) - BOUND),
                    "lower": float(lower), "probability": float(exact[i]), "upper": float(upper),
                    "error_bound": float(error[i]),
                }
            )  # fmt: skip
    return rows


def _of(rows: list[Row], gamma: str) -> list[Row]:
    return [row for row in rows if row["gamma"] == gamma]


def _gammas(rows: list[Row]) -> list[str]:
    return list(dict.fromkeys(row["gamma"] for row in rows))


def picture(rows: list[Row]) -> Figure:
    figure, axes = panels(1, 2, width=4.6, height=3.2)
    gammas = _gammas(rows)
    largest = [max(row["error_bound"] for row in _of(rows, gamma)) for gamma in gammas]
    axes[0, 0].plot(range(len(gammas)), largest, "o-", color=OURS)
    axes[0, 0].set_xticks(range(len(gammas)), gammas)
    axes[0, 0].set(xlabel="γ", ylabel="largest pointwise error allowed")
    shown = _of(rows, gammas[min(SHOWN, len(gammas) - 1)])
    for name, colour, style in (("lower", OTHER, "--"), ("upper", OTHER, ":"), ("probability", OURS, "-")):
        axes[0, 1].plot(
            [row["outcome"] for row in shown], [row[name] for row in shown], style, color=colour, label=name
        )
    axes[0, 1].set(xlabel=f"outcome, γ = {shown[0]['gamma']}", ylabel="probability")
    axes[0, 1].legend()
    return figure


def report(rows: list[Row]) -> str:
    lines = []
    for gamma in _gammas(rows):
        here = _of(rows, gamma)
        middle = max(here, key=lambda row: row["probability"])
        lines.append(
            [
                gamma, f"{len(here):,}", f"{max(row['error_bound'] for row in here):.2g}",
                f"{middle['lower']:.4f}", f"{middle['probability']:.4f}", f"{middle['upper']:.4f}",
            ]
        )  # fmt: skip
    names = ["γ", "outcomes", "largest error allowed", "lower bound at 0", "unrounded at 0", "upper bound at 0"]
    return table(names, lines)
