"""Figure 1 of the free-gap paper: error reduction against k."""

from __future__ import annotations

from fractions import Fraction

from matplotlib.figure import Figure

from experiments import free_gap
from experiments.harness import Row, Setting, spread_out

TITLE = "Free gaps, figure 1: error reduction against k"
PAPER = """
Ding et al., *Free Gap Information from the Differentially Private Sparse Vector and Noisy Max Mechanisms*, figure 1: ε
= 0.7, half of it to select k queries and half to measure them; what combining the measurements with the free gaps
takes off the mean squared error. The paper plots points along its theory, 1 − (4k+1)/(5k) for top-k and 1 −
(1+(2k)^⅔)³/((1+(2k)^⅔)³+k²) for sparse vector, and states: up to 20% as k grows. The second line goes beyond the
paper: on counting queries one person moves all counts the same way, so half the noise selects them, and exponential
noise has half the variance of Laplace noise: up to two thirds for top-k, one half for sparse vector. And the noise of
the threshold is common to all reports of a run, so all reports together tell more than each by itself: that is what
`SparseVector(measure="1/2")` publishes, with one-sided noise.

What differs: the counts are partial or regenerated copies (below), so for sparse vector the same points are shown with
the counts enlarged to the published number of records; noise is discrete, in whole steps; the paper does not say in
which order sparse vector meets the queries, here it is a new random order for every hundred runs. A query that is
reported although its count is near or below the threshold was lucky in its noise, so its gap is too large: where the
noise is wide against the counts, sparse vector falls short of the theory, which knows nothing of that.

The paper's text sets the threshold at the 95% quantile of the counts. The authors' released code does something else:
for each run it draws a rank from 2k to 8k and sets the threshold halfway between the count of that rank and the next.
Such a threshold lies high, where counts are far apart, so few queries are near it. It is shown as a line of its own.
"""
PACKAGES = ("lastbit", "numpy", "cryptography")
USES_DATA, TIMED = True, False
EPSILON = Fraction(7, 10)


def repetitions(setting: Setting) -> str:
    return f"{setting.size(20_000, 40):,} runs a point"


def measure(setting: Setting) -> list[Row]:
    ks = setting.size([2, 5, 10, 15, 20, 25], [1, 3])
    jobs = free_gap.points(setting, list(ks), [EPSILON], setting.size(20_000, 40))
    return spread_out(free_gap.both, jobs, setting, "figure 1")


def picture(rows: list[Row]) -> Figure:
    return free_gap.picture(rows, "k")


def report(rows: list[Row]) -> str:
    return free_gap.report(rows, "k")
