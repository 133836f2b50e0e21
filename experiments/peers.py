"""The same work by lastbit, OpenDP and diffprivlib, in one process."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import lastbit as lb
from benchmarks.measure import alternate, as_time
from experiments.datasets import Counts
from experiments.harness import Row, Setting, follow
from experiments.page import format_rounded, table
from experiments.plots import FOURTH, OURS, QUOTED, panels

TITLE = "Against peers: OpenDP and diffprivlib on the same work"
PAPER = """
No paper's experiment. Each line is one piece of work at the same ε, done in turn by each library that offers it, in
one process, given what each takes without conversion: an array for lastbit, a list for OpenDP, one value after the
other for diffprivlib. OpenDP's noise is exact, as lastbit's is; diffprivlib computes its noise in floating point. Only
lastbit's top-k gives the gaps.
"""
PACKAGES = ("lastbit", "numpy", "cryptography", "opendp", "diffprivlib")
USES_DATA, TIMED = True, True
COLOURS = {"lastbit": OURS, "OpenDP": FOURTH, "diffprivlib": QUOTED}
Work = Callable[[], Any]


def repetitions(setting: Setting) -> str:
    return f"medians of {setting.size(9, 2)} runs in turn"


def measure(setting: Setting) -> list[Row]:
    counts = max((dataset.counts for dataset in setting.datasets), key=len)
    rows: list[Row] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        works = _works(setting, counts)
        for name, sides in follow(list(works.items()), "peers"):
            timings = alternate(*sides.values(), runs=setting.size(9, 2))
            for library, timing in zip(sides, timings, strict=True):
                row = {"work": name, "library": library, "milliseconds": timing.median * 1e3}
                rows.append(row | {"spread": timing.spread, "runs": len(timing.seconds)})
    return rows


def _works(setting: Setting, counts: Counts) -> dict[str, dict[str, Work]]:
    """Every piece of work, by the libraries that are installed and offer it."""
    many, some = counts[: setting.size(10_000, 20)], counts[: setting.size(1_000, 20)]
    k, times = setting.size(100, 2), setting.size(100, 2)
    return {
        f"Laplace noise on {len(many):,} counts, ε = 0.1": _noise(many),
        f"top {k} of {len(many):,} counts, ε = 1": _top(many, k),
        f"best of {len(some):,} candidates, ε = 1": _best(some),
        f"one snapped value, {times} times, ε = 1, bounds 0 and 100": _repeat(_snap(), times),
        f"Laplace noise on one count, {times} times, ε = 0.1": _repeat(_noise(many[:1]), times),
    }


def _repeat(sides: dict[str, Work], times: int) -> dict[str, Work]:
    return {library: lambda work=work: [work() for _ in range(times)] for library, work in sides.items()}


def _opendp() -> Any:
    try:
        import opendp.prelude as dp
    except ImportError:
        return None
    dp.enable_features("contrib")
    return dp


def _diffprivlib() -> Any:
    try:
        from diffprivlib import mechanisms
    except ImportError:
        return None
    return mechanisms


def _noise(counts: Counts) -> dict[str, Work]:
    draw, mechanism = lb.Sampler(), lb.DiscreteLaplace(epsilon="0.1")
    sides: dict[str, Work] = {"lastbit": lambda: mechanism.release(counts, draw)}
    values = counts.tolist()
    if dp := _opendp():
        space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
        theirs = dp.m.make_laplace(*space, scale=10.0)
        sides["OpenDP"] = lambda: theirs(values)
    if mechanisms := _diffprivlib():
        geometric = mechanisms.Geometric(epsilon=0.1)
        sides["diffprivlib"] = lambda: [geometric.randomise(value) for value in values]
    return sides


def _top(counts: Counts, k: int) -> dict[str, Work]:
    draw, mechanism = lb.Sampler(), lb.NoisyTopK(k=k, epsilon=1)
    sides: dict[str, Work] = {"lastbit": lambda: mechanism.release(counts, draw)}
    if (dp := _opendp()) and hasattr(dp.m, "make_noisy_top_k"):
        space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
        theirs = dp.m.make_noisy_top_k(*space, dp.max_divergence(), k=k, scale=2.0 * k)
        values = counts.tolist()
        sides["OpenDP"] = lambda: theirs(values)
    return sides


def _best(scores: Counts) -> dict[str, Work]:
    draw, mechanism = lb.Sampler(), lb.ExponentialMechanism(epsilon=1)
    sides: dict[str, Work] = {"lastbit": lambda: mechanism.release(scores, draw)}
    values = scores.tolist()
    if (dp := _opendp()) and hasattr(dp.m, "make_noisy_max"):
        space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
        theirs = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=2.0)
        sides["OpenDP"] = lambda: theirs(values)
    if mechanisms := _diffprivlib():
        floats = [float(value) for value in values]
        # It takes the utilities when it is built, so building is part of the work.
        sides["diffprivlib"] = lambda: mechanisms.Exponential(epsilon=1, sensitivity=1, utility=floats).randomise()
    return sides


def _snap() -> dict[str, Work]:
    draw, mechanism = lb.Sampler(), lb.Snapping(epsilon=1, bounds=(0, 100))
    sides: dict[str, Work] = {"lastbit": lambda: mechanism.release(42.5, draw)}
    if mechanisms := _diffprivlib():
        theirs = mechanisms.Snapping(epsilon=1, sensitivity=1, lower=0, upper=100)
        sides["diffprivlib"] = lambda: theirs.randomise(42.5)
    return sides


def picture(rows: list[Row]) -> Figure:
    works = list(dict.fromkeys(row["work"] for row in rows))
    figure, axes = panels(1, 1, width=8, height=0.75 * len(works) + 1)
    panel = axes[0, 0]
    for offset, (library, colour) in enumerate(COLOURS.items()):
        here = [row for row in rows if row["library"] == library]
        if not here:
            continue
        heights = [works.index(row["work"]) + 0.27 * (offset - 1) for row in here]
        values = [row["milliseconds"] for row in here]
        error = [row["milliseconds"] * min(row["spread"], 0.9) for row in here]
        panel.barh(heights, values, 0.25, xerr=error, color=colour, label=library, error_kw={"linewidth": 0.8})
        for height, value in zip(heights, values, strict=True):
            panel.text(value * 1.6, height, as_time(value / 1e3), va="center", fontsize=7)
    panel.set_yticks(np.arange(len(works)), works)
    panel.set(xscale="log", xlabel="milliseconds")
    panel.margins(x=0.2)
    panel.invert_yaxis()
    panel.legend(loc="lower right")
    return figure


def report(rows: list[Row]) -> str:
    lines = []
    for work in dict.fromkeys(row["work"] for row in rows):
        here = {row["library"]: row for row in rows if row["work"] == work}
        cells = []
        for library in COLOURS:
            row = here.get(library)
            cells.append("not offered" if row is None else f"{as_time(row['milliseconds'] / 1e3)} ±{row['spread']:.0%}")
        ratios = [
            format_rounded(here[library]["milliseconds"] / here["lastbit"]["milliseconds"]) if library in here else ""
            for library in ("OpenDP", "diffprivlib")
        ]
        lines.append([work, *cells, *ratios])
    return table(["median ± spread", *COLOURS, "OpenDP / lastbit", "diffprivlib / lastbit"], lines)
