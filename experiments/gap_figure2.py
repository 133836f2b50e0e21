"""Figure 2 of the free-gap paper: error reduction against epsilon."""

from __future__ import annotations

from fractions import Fraction

from matplotlib.figure import Figure

from experiments import free_gap
from experiments.harness import Row, Setting, spread_out

TITLE = "Free gaps, figure 2: error reduction against ε"
PAPER = """
The same with k = 10 and ε from 0.1 to 1.5. The paper's figure 2 shows that the improvement is stable: its theory does
not depend on ε, 18% for top-k at k = 10. What differs is what differs in figure 1; sparse vector suffers most where the
noise just about carries the many low counts over the threshold.
"""
PACKAGES = ("lastbit", "numpy", "cryptography")
USES_DATA, TIMED = True, False
K = 10


def repetitions(setting: Setting) -> str:
    return f"{setting.size(20_000, 40):,} runs a point"


def measure(setting: Setting) -> list[Row]:
    epsilons = [Fraction(tenths, 10) for tenths in setting.size([1, 4, 7, 10, 13, 15], [3, 15])]
    jobs = free_gap.points(setting, [K], epsilons, setting.size(20_000, 40))
    return spread_out(free_gap.both, jobs, setting, "figure 2")


def picture(rows: list[Row]) -> Figure:
    return free_gap.picture(rows, "epsilon")


def report(rows: list[Row]) -> str:
    return free_gap.report(rows, "epsilon")
