"""Table 4 of the secure top-k paper: running time against k and n."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import lastbit as lb
from benchmarks.measure import alternate
from experiments.datasets import Counts
from experiments.harness import Row, Setting, follow
from experiments.page import format_rounded, table
from experiments.plots import OTHER, OURS, QUOTED, legend_outside, panels, spread_log
from lastbit.papers.secure_top_k import secure_top_k

TITLE = "Secure top-k, table 4: running time"
PAPER = """
Ding et al., *A Floating-Point Secure Implementation of the Report Noisy Max with Gap Mechanism*, table 4: milliseconds
for the top k of n counts with gaps, ε = 1, gaps to 0.1, averages of 1,000 runs on an Intel Core i9-10900X at 3.7 GHz.
"Secure" is its exact Algorithm 4, "Opt. Secure" prunes early, "Baseline" is Algorithm 1 with NumPy's exponential
noise, which is not secure; all in Python.

What differs: another machine; partial or regenerated counts, filled up with zeros to the published n. "lastbit" is
`NoisyTopK`, "NumPy" the same selection with NumPy's insecure exponential noise and a partial sort, "Algorithm 4" the
paper's listing line by line on our exact draws. The paper's baseline takes 2.4 µs a count, so it seems to draw them
one by one: compare the ratio of a secure line with the insecure one of the same column.
"""
PACKAGES = ("lastbit", "numpy", "cryptography")
USES_DATA, TIMED = True, True
KS = [25, 50, 100, 200, 400, 800]
EPSILON, PER_UNIT, REFINE = Fraction(1), 10, 10
PUBLISHED: dict[str, dict[str, list[float]]] = {
    "T40I10D100K": {
        "Secure": [10.53, 10.80, 11.64, 13.95, 19.80, 25.89],
        "Opt. Secure": [10.59, 10.64, 10.83, 11.51, 14.74, 23.70],
        "Baseline": [2.25, 2.24, 2.27, 2.32, 2.38, 2.52],
    },
    "BMS-POS": {
        "Secure": [18.51, 18.51, 19.03, 22.11, 35.21, 48.72],
        "Opt. Secure": [18.43, 18.47, 18.56, 19.11, 22.85, 33.09],
        "Baseline": [3.92, 3.91, 3.96, 3.99, 4.06, 4.20],
    },
    "Kosarak": {
        "Secure": [458.22, 459.45, 482.02, 575.38, 976.72, 1223.04],
        "Opt. Secure": [455.32, 455.17, 454.89, 455.59, 459.73, 471.30],
        "Baseline": [98.71, 97.53, 97.38, 98.69, 98.95, 99.03],
    },
}


def repetitions(setting: Setting) -> str:
    quick, slow = _runs(setting)
    return f"medians of {quick} runs in turn for lastbit and NumPy, of {slow} for Algorithm 4"


def _runs(setting: Setting) -> tuple[int, int]:
    return setting.size(101, 3), setting.size(3, 2)


def insecure(counts: Counts, k: int) -> Callable[[], Any]:
    """The same selection on NumPy's inexact exponential noise."""
    generator, scale = np.random.default_rng(), 2 * k / float(EPSILON)

    def select() -> Any:
        noisy = counts + generator.exponential(scale, len(counts))
        top = np.argpartition(noisy, -k - 1)[-k - 1 :]
        top = top[np.argsort(-noisy[top])]
        return top[:-1], noisy[top[:-1]] - noisy[top[1:]]

    return select


def measure(setting: Setting) -> list[Row]:
    ks, (quick, slow) = setting.size(KS, [2, 3]), _runs(setting)
    rows: list[Row] = []
    for dataset, k in follow([(dataset, k) for dataset in setting.datasets for k in ks], "table 4"):
        counts, draw = dataset.counts, lb.Sampler()
        mechanism = lb.NoisyTopK(k=k, epsilon=EPSILON, resolution=Fraction(1, PER_UNIT))
        steps = (counts * PER_UNIT).tolist()
        fast = alternate(lambda c=counts, m=mechanism, d=draw: m.release(c, d), insecure(counts, k), runs=quick)
        listings = alternate(
            *(
                lambda s=steps, k=k, d=draw, e=early: secure_top_k(s, k, EPSILON, PER_UNIT, REFINE, d, early_pruning=e)
                for early in (False, True)
            ),
            runs=slow,
        )
        names = ("lastbit", "NumPy, insecure", "Algorithm 4", "Algorithm 4, pruned early")
        for name, timing in zip(names, [*fast, *listings], strict=True):
            row = {"dataset": dataset.name, "n": len(counts), "k": k, "algorithm": name}
            rows.append(
                row | {"milliseconds": timing.median * 1e3, "spread": timing.spread, "runs": len(timing.seconds)}
            )
    return rows


def _times(rows: list[Row]) -> dict[tuple[str, str], dict[int, Row]]:
    times: dict[tuple[str, str], dict[int, Row]] = {}
    for row in rows:
        times.setdefault((row["dataset"], row["algorithm"]), {})[row["k"]] = row
    return times


def picture(rows: list[Row]) -> Figure:
    times = _times(rows)
    datasets = list(dict.fromkeys(dataset for dataset, _ in times))
    figure, axes = panels(1, len(datasets), height=3.2)
    styles = {
        "lastbit": (OURS, "o-"),
        "NumPy, insecure": (OTHER, "x-"),
        "Algorithm 4": (OURS, "^:"),
        "Algorithm 4, pruned early": (OURS, "v:"),
    }
    for panel, dataset in zip(axes[0], datasets, strict=True):
        for name, (colour, style) in styles.items():
            here = times[dataset, name]
            panel.plot(list(here), [row["milliseconds"] for row in here.values()], style, color=colour, label=name)
        for name, style in (("Secure", "s--"), ("Opt. Secure", "d--"), ("Baseline", "+--")):
            published = PUBLISHED.get(dataset, {}).get(name)
            if published:
                panel.plot(KS, published, style, color=QUOTED, label=f"paper: {name}")
        n = next(iter(times[dataset, "lastbit"].values()))["n"]
        spread_log(panel, list(times[dataset, "lastbit"]))
        panel.set(yscale="log", xlabel="k", title=f"{dataset}, n = {n:,}")
    axes[0, 0].set_ylabel("milliseconds")
    legend_outside(figure, axes[0, 0], "lower", 4)
    return figure


def report(rows: list[Row]) -> str:
    times, lines = _times(rows), []
    for (dataset, name), here in times.items():
        shown = [f"{format_rounded(row['milliseconds'])} ±{row['spread']:.0%}" for row in here.values()]
        lines.append([f"{dataset}, n = {next(iter(here.values()))['n']:,}", name, *shown])
        if name == "NumPy, insecure":
            ratios = [times[dataset, "lastbit"][k]["milliseconds"] / row["milliseconds"] for k, row in here.items()]
            lines.append(["", "**lastbit / NumPy**", *(f"**{ratio:.2f}**" for ratio in ratios)])
        if name == "Algorithm 4, pruned early" and dataset in PUBLISHED and list(here) == KS:
            published = PUBLISHED[dataset]
            for quoted, values in published.items():
                lines.append(["", f"paper: {quoted}", *values])
            ratios = [a / b for a, b in zip(published["Opt. Secure"], published["Baseline"], strict=True)]
            lines.append(["", "**paper: Opt. Secure / Baseline**", *(f"**{ratio:.1f}**" for ratio in ratios)])
    ks = list(dict.fromkeys(row["k"] for row in rows))
    return table(["milliseconds", "algorithm", *(f"k = {k}" for k in ks)], lines)
