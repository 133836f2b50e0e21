"""Table 5 of the secure top-k paper: where the time goes."""

from __future__ import annotations

import statistics
import time
from fractions import Fraction

import numpy as np
from matplotlib.figure import Figure

import lastbit as lb
from experiments.harness import Row, Setting, follow
from experiments.instruments import Watched
from experiments.page import table
from experiments.plots import FOURTH, OTHER, OURS, legend_outside, panels
from experiments.topk_table4 import EPSILON, KS, PER_UNIT

TITLE = "Secure top-k, table 5: where the time goes"
PAPER = """
Ding et al., table 5: milliseconds of the pruned Algorithm 4 spent on the possible top k (noise for everyone, sorting),
on resolving ties (the refinement loop), and on the gaps; averages of 100 runs.

`NoisyTopK` has no refinement loop. Its parts: noise for everyone and who is still in play; finer noise and a random
order for those in play, which is what resolves ties; sorting them, gaps and the release. What differs: the machine and
the counts, as for table 4. A stopwatch around every draw takes time too. So each watched release is followed by one
that nobody watches, which is what table 4 times.
"""
PACKAGES = ("lastbit", "numpy", "cryptography")
USES_DATA, TIMED = True, True
PARTS = ("Possible top-k", "Resolve ties", "Find gaps")
WHOLE = "all, unwatched"
PUBLISHED: dict[str, list[list[float]]] = {
    "T40I10D100K": [
        [10.921, 10.530, 10.500, 10.457, 10.527, 10.555],
        [0.005, 0.017, 0.190, 0.622, 3.813, 11.573],
        [0.049, 0.081, 0.154, 0.300, 0.599, 1.192],
    ],
    "BMS-POS": [
        [18.475, 18.294, 18.261, 18.199, 18.159, 18.188],
        [0.005, 0.023, 0.057, 0.288, 4.092, 14.187],
        [0.045, 0.081, 0.154, 0.302, 0.598, 1.181],
    ],
    "Kosarak": [
        [461.56, 457.82, 457.371, 458.721, 456.256, 459.552],
        [0.008, 0.012, 0.074, 0.744, 5.077, 15.586],
        [0.080, 0.114, 0.186, 0.340, 0.618, 1.218],
    ],
}


def repetitions(setting: Setting) -> str:
    return f"medians of {setting.size(101, 3)} runs"


def parts_of(mechanism: lb.NoisyTopK, counts: np.ndarray, draw: Watched) -> tuple[float, float, float]:
    """Seconds of the three parts of one release, cut where it begins and ends to draw for those in play."""
    draw.moments.clear()
    began = time.perf_counter()
    mechanism.release(counts, draw)
    ended = time.perf_counter()
    everyone, *in_play = draw.moments
    assert everyone.name == "geometric"
    assert in_play[-1].name == "permutation"
    return in_play[0].began - began, in_play[-1].ended - in_play[0].began, ended - in_play[-1].ended


def whole_of(mechanism: lb.NoisyTopK, counts: np.ndarray, draw: lb.Draw) -> float:
    """Seconds of one release that nobody watches, as table 4 times it."""
    began = time.perf_counter()
    mechanism.release(counts, draw)
    return time.perf_counter() - began


def measure(setting: Setting) -> list[Row]:
    ks, rows = setting.size(KS, [2, 3]), []
    for dataset, k in follow([(dataset, k) for dataset in setting.datasets for k in ks], "table 5"):
        mechanism = lb.NoisyTopK(k=k, epsilon=EPSILON, resolution=Fraction(1, PER_UNIT))
        watched, plain = Watched(), lb.Sampler()
        taken = [
            (*parts_of(mechanism, dataset.counts, watched), whole_of(mechanism, dataset.counts, plain))
            for _ in range(setting.size(101, 3) + 1)
        ][1:]
        for part, seconds in zip((*PARTS, WHOLE), zip(*taken, strict=True), strict=True):
            row = {"dataset": dataset.name, "n": len(dataset.counts), "k": k, "part": part}
            rows.append(row | {"milliseconds": statistics.median(seconds) * 1e3, "runs": len(seconds)})
    return rows


def _parts(rows: list[Row], dataset: str) -> dict[str, list[float]]:
    return {
        part: [row["milliseconds"] for row in rows if (row["dataset"], row["part"]) == (dataset, part)]
        for part in (*PARTS, WHOLE)
    }


def picture(rows: list[Row]) -> Figure:
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    ks = list(dict.fromkeys(row["k"] for row in rows))
    figure, axes = panels(2, len(datasets))
    for column, dataset in enumerate(datasets):
        ours, place = _parts(rows, dataset), np.arange(len(ks))
        published = dict(zip(PARTS, PUBLISHED.get(dataset, []), strict=False))
        for panel, parts, whose in ((axes[0, column], ours, "lastbit"), (axes[1, column], published, "paper")):
            base = np.zeros(len(ks))
            for part, colour in zip(PARTS, (OURS, FOURTH, OTHER), strict=True):
                if len(parts.get(part, ())) == len(ks):
                    panel.bar(place, parts[part], bottom=base, color=colour, label=part)
                    base += parts[part]
            panel.set(title=f"{whose}: {dataset}", ylabel="ms" if not column else None, xlabel="k")
            panel.set_xticks(place, ks)
    legend_outside(figure, axes[0, 0], "lower", 3)
    return figure


def report(rows: list[Row]) -> str:
    ks, lines, excess = list(dict.fromkeys(row["k"] for row in rows)), [], []
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        parts = _parts(rows, dataset)
        for place, (part, values) in enumerate(parts.items()):
            lines.append([dataset, part, *(f"{value:.3f}" for value in values)])
            if dataset in PUBLISHED and ks == KS and part in PARTS:
                lines.append(["", f"paper: {part}", *PUBLISHED[dataset][place]])
        sums = [sum(values) for values in zip(*(parts[part] for part in PARTS), strict=True)]
        excess += [watched / plain for watched, plain in zip(sums, parts[WHOLE], strict=True)]
    return (
        f"The parts add up to {min(excess):.2f} to {max(excess):.2f} times a release that nobody watches.\n\n"
        + table(["milliseconds", "part", *(f"k = {k}" for k in ks)], lines)
    )
