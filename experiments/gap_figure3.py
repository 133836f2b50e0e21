"""Figure 3 of the free-gap paper: how many queries the adaptive sparse vector answers, and how precisely."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from matplotlib.figure import Figure

import lastbit as lb
from experiments import sparse_runs
from experiments.datasets import Dataset
from experiments.free_gap import chunks, orders_for
from experiments.harness import Row, Setting, spread_out
from experiments.page import table
from experiments.plots import FOURTH, OTHER, OURS, QUOTED, legend_outside, panels

TITLE = "Free gaps, figure 3: queries answered and precision of the adaptive sparse vector"
PAPER = """
Ding et al., figure 3: ε = 0.7, threshold at the 95% quantile, threshold and query budgets in the ratio 1 : (2k)^⅔; the
number of answers above by sparse vector (k at most) and by its adaptive form (split by the branch that gave them), and
the fraction of them that is truly above. The paper states: most answers come from the top branch on BMS-POS and
T40I10D100K, with up to 15 more answers on average at k = 25; roughly half on Kosarak; and less than one additional
false positive on average when at least 25 answers are returned.

What differs: the counts are partial or regenerated copies, so each is shown as it is and with its counts enlarged to
the published number of records, which is what compares with the paper; the order of the queries is drawn anew for
every hundred runs; σ is the corrected one ([B2](../errata.md#b2)), and a run goes on with its cheaper branch until
nothing is left ([B18](../errata.md#b18)): up to 2k answers, one more than the paper's listing gives. The authors'
released code draws the threshold for each run between the counts of ranks 2k and 8k, as told under figure 1; the
enlarged counts are shown with that threshold too.

Why more answers than the paper states. A run gives k more answers at most, where all come from the top branch, as they
do where nearly all counts over the threshold are further over it than the margin: so it is on BMS-POS enlarged. The
rule of the authors' released code gives as many on the same counts, but for the last answer ([B18](../errata.md#b18)).
So the difference lies in the data, and not in the mechanism: T40I10D100K, which has its published number of records
here, and BMS-POS with a fifth of its records come near the paper's 15.

Why more false answers on Kosarak. The released code says that all plots of the paper are of counting queries, which
need half the noise: the rows "as counting queries" have less than one more false answer, as the paper states. General
queries have more, because the 95% quantile of Kosarak lies in its long tail: 960 items are less than 200 below the
enlarged threshold, where the noise of a query has a standard deviation of 108 (k = 25), and twice that in the top
branch. Counts as they are have a threshold of 55, below the noise: most answers are false with either mechanism, and
so are those that come in addition. With the real files (`python -m experiments.convert`) nothing need be enlarged.
"""
PACKAGES = ("lastbit", "numpy", "cryptography")
USES_DATA, TIMED = True, False
EPSILON = Fraction(7, 10)
AS_THEY_ARE, ENLARGED, AS_CODE, COUNTING = "as they are", "enlarged", "threshold of the code", "as counting queries"


@dataclass(frozen=True)
class Point:
    """One group of bars."""

    dataset: Dataset
    counts: str
    k: int
    runs: int


def repetitions(setting: Setting) -> str:
    few, many = _runs(setting, AS_CODE), _runs(setting, AS_THEY_ARE)
    return f"{many:,} runs a point, {few:,} with the threshold of the code, which few queries pass"


def _runs(setting: Setting, counts: str) -> int:
    return setting.size(1_000 if counts == AS_CODE else 20_000, 40)


def measure(setting: Setting) -> list[Row]:
    jobs = [
        Point(dataset if counts == AS_THEY_ARE else dataset.enlarge(), counts, k, _runs(setting, counts))
        for dataset in setting.datasets
        for counts in (
            (AS_THEY_ARE, ENLARGED, COUNTING, AS_CODE) if dataset.share < 1 else (AS_THEY_ARE, COUNTING, AS_CODE)
        )
        for k in setting.size([2, 5, 10, 15, 20, 25], [2, 3])
    ]
    return spread_out(run_point, jobs, setting, "figure 3")


def run_point(point: Point) -> list[Row]:
    """Both mechanisms on the same queries."""
    row: Row = {"dataset": point.dataset.name, "counts": point.counts, "k": point.k}
    steps = point.dataset.counts
    for name, kind in (("sparse", lb.SparseVector), ("adaptive", lb.AdaptiveSparseVector)):
        parameters = {"threshold": point.dataset.threshold(), "limit": point.k, "epsilon": EPSILON}
        mechanism = kind(**parameters, noise="laplace", monotone=point.counts == COUNTING)
        draw, answers, true, precision = lb.Sampler(), np.zeros(2), 0, 0.0
        for runs in chunks(point.runs, 128 * point.k):
            thresholds = point.dataset.thresholds(runs, point.k, draw, by_rank=point.counts == AS_CODE)
            orders = orders_for(runs, len(steps), draw)
            above = sparse_runs.ask(mechanism._plan, steps, orders, runs, draw, thresholds)
            right = steps[above.queries] >= thresholds[above.runs]
            given = np.bincount(above.runs, minlength=runs)
            answers += np.bincount(above.branches, minlength=2)
            true += int(right.sum())
            # A run that gave no answer gave no wrong one.
            precision += float(np.where(given, np.bincount(above.runs, right, runs) / np.maximum(given, 1), 1).sum())
        answered = ("adaptive_top", "adaptive_middle") if name == "adaptive" else ("sparse",)
        row |= {branch: count / point.runs for branch, count in zip(answered, answers, strict=False)}
        row |= {f"{name}_precision": precision / point.runs, f"{name}_false": (answers.sum() - true) / point.runs}
    return [row | {"runs": point.runs}]


def picture(rows: list[Row]) -> Figure:
    groups = list(dict.fromkeys((row["dataset"], row["counts"]) for row in rows if row["counts"] != COUNTING))
    figure, axes = panels(2, len(groups), width=2.9)
    for column, group in enumerate(groups):
        here = [row for row in rows if (row["dataset"], row["counts"]) == group]
        k = np.array([row["k"] for row in here])
        place = np.arange(len(k))
        bars, dots = axes[0, column], axes[1, column]
        top, middle = (np.array([row[f"adaptive_{part}"] for row in here]) for part in ("top", "middle"))
        bars.bar(place - 0.2, [row["sparse"] for row in here], 0.38, color=FOURTH, label="sparse vector")
        bars.bar(place + 0.2, top, 0.38, color=OURS, label="adaptive, top branch")
        bars.bar(place + 0.2, middle, 0.38, bottom=top, color=OTHER, label="adaptive, middle branch")
        bars.set(title=f"{group[0]}\n{group[1]}", ylabel="answers above" if not column else None)
        dots.plot(place, [row["sparse_precision"] for row in here], "o-", color=FOURTH, label="sparse vector")
        dots.plot(place, [row["adaptive_precision"] for row in here], "s-", color=QUOTED, label="adaptive")
        dots.set(xlabel="k", ylim=(0, 1.05), ylabel="precision" if not column else None)
        for panel in (bars, dots):
            panel.set_xticks(place, k)
    legend_outside(figure, axes[0, 0], "upper", 3)
    legend_outside(figure, axes[1, 0], "lower", 3)
    return figure


def report(rows: list[Row]) -> str:
    lines = [
        [
            f"{row['dataset']}, {row['counts']}",
            row["k"],
            f"{row['sparse']:.2f}",
            f"{row['adaptive_top']:.2f} + {row['adaptive_middle']:.2f}",
            f"{row['adaptive_top'] + row['adaptive_middle'] - row['sparse']:.2f}",
            f"{row['sparse_precision']:.3f}",
            f"{row['adaptive_precision']:.3f}",
            f"{row['adaptive_false'] - row['sparse_false']:.2f}",
        ]
        for row in rows
    ]
    names = ["counts", "k", "sparse vector", "adaptive: top + middle", "more", "precision", "adaptive", "more false"]
    said = " ".join(_most(rows, counts) for counts in dict.fromkeys(row["counts"] for row in rows))
    return f"{said}\n\n" + table(names, lines)


def _most(rows: list[Row], counts: str) -> str:
    """The two figures that the paper states for all its data, beside the largest here."""
    here = [row for row in rows if row["counts"] == counts]
    more = {id(row): row["adaptive_top"] + row["adaptive_middle"] - row["sparse"] for row in here}
    answers = max(here, key=lambda row: more[id(row)])
    wrong = max(here, key=lambda row: row["adaptive_false"] - row["sparse_false"])
    return (
        f"Counts {counts}: at most {more[id(answers)]:.1f} additional answers on average ({answers['dataset']}, "
        f"k = {answers['k']}; paper: up to 15), and at most {wrong['adaptive_false'] - wrong['sparse_false']:.2f} "
        f"additional false positives ({wrong['dataset']}, k = {wrong['k']}; paper: less than one)."
    )
