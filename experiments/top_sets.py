"""The k largest as a set: how many are found, beside noise on every item, at the same epsilon; the lost rows too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import lastbit as lb
from experiments.datasets import Dataset
from experiments.harness import Row, Setting, spread_out
from experiments.page import table
from experiments.plots import FOURTH, OTHER, OURS, panels
from lastbit.estimate import expected_found

TITLE = "Top-k as a set: how many of the k largest are found"
PAPER = """
Shekelyan and Loukides (2022) weigh a set by its best count left out and its worst count taken, cut at 0. `SubsetTopK`
does not cut, which costs the same and finds more ("both"); or it weighs the best count left out alone, for half the
cost ("left out"). Beside them is `NoisyTopK`, which publishes an order and gaps too. All cost the same ε, for counts
that one person moves together by at most 1. An item is found where it is among the k selected and has at least the k-th
largest count; the table says how many, on average.

Here the candidates are the items that the files have, without those that count zero. "Stated" is what `expected_found`
says before anything is drawn, from the same counts, which a person would have to guess: exact in floats for sets, and
from where the noisy counts are cut for noise. The best is in bold. Rows where all three find all but a thousandth are
left out; no other row is.
"""
PACKAGES = ("lastbit", "numpy", "cryptography")
USES_DATA, USES_OTHERS, TIMED = True, True, False
EPSILONS = ("1", "7/10", "1/2", "1/4", "1/10", "1/20")
WAYS = ("noise", "both", "left_out")
NAMES = {"noise": "noisy top-k", "both": "set, both", "left_out": "set, left out"}


@dataclass(frozen=True)
class Point:
    """One table, one question."""

    data: Dataset
    k: int
    epsilon: str
    runs: int


def repetitions(setting: Setting) -> str:
    return f"means of {setting.size(200, 5)} runs"


def measure(setting: Setting) -> list[Row]:
    data = (*setting.datasets, *setting.others)
    sizes: list[int] = setting.size([10, 25, 100], [3])
    epsilons: tuple[str, ...] = setting.size(EPSILONS, EPSILONS[:2])
    runs = setting.size(200, 5)
    points = [Point(each, k, epsilon, runs) for each in data for k in sizes for epsilon in epsilons]
    return spread_out(_rows, points, setting, "sets")


def mechanisms(k: int, epsilon: str) -> dict[str, lb.Mechanism[Any]]:
    """The three at the same cost."""
    cost = {"k": k, "epsilon": epsilon, "monotone": True, "resolution": 1}
    return {
        "noise": lb.NoisyTopK(**cost),
        "both": lb.SubsetTopK(**cost),
        "left_out": lb.SubsetTopK(**cost, form="left-out"),
    }


def _rows(point: Point) -> list[Row]:
    counts = point.data.counts[point.data.counts > 0]
    least, draw = np.sort(counts)[-point.k], lb.Sampler()
    stated = expected_found(counts, point.k, lb.Cost.of(point.epsilon))
    row: Row = {"data": point.data.name, "items": len(counts), "k": point.k, "epsilon": point.epsilon}
    for way, mechanism in mechanisms(point.k, point.epsilon).items():
        ready = mechanism.ready(counts)
        found = [int((counts[list(ready(draw).indices)] >= least).sum()) for _ in range(point.runs)]
        row[way], row[f"{way}_stated"] = float(np.mean(found)), float(getattr(stated, way))
    return [row]


def picture(rows: list[Row]) -> Figure:
    k = max(row["k"] for row in rows)
    names = list(dict.fromkeys(row["data"] for row in rows))
    figure, axes = panels(1, len(names), width=2.4, height=2.8)
    for panel, data in zip(axes[0], names, strict=True):
        here = [row for row in rows if (row["data"], row["k"]) == (data, k)]
        for way, colour in zip(WAYS, (OTHER, OURS, FOURTH), strict=True):
            panel.plot(range(len(here)), [row[way] for row in here], "o-", color=colour, label=NAMES[way])
        panel.set_xticks(range(len(here)), [str(row["epsilon"]) for row in here], fontsize=7)
        panel.set_title(data, fontsize=7)
        panel.set(xlabel="ε", ylim=(0, k * 1.03))
    axes[0, 0].set_ylabel(f"found of the {k} largest")
    axes[0, 0].legend(loc="lower left")
    return figure


def report(rows: list[Row]) -> str:
    shown = [row for row in rows if min(row[f"{way}_stated"] for way in WAYS) < row["k"] * 0.999]
    lines = [
        [
            f"{row['data']}, {row['items']:,} items, k = {row['k']}, ε = {row['epsilon']}",
            *(_cell(row, way) for way in WAYS),
            " / ".join(f"{row[f'{way}_stated']:.1f}" for way in WAYS),
        ]
        for row in shown
    ]
    best = [max(WAYS, key=lambda way, row=row: row[f"{way}_stated"]) for row in shown]
    counted = ", ".join(f"{NAMES[way]} in {best.count(way)}" for way in WAYS)
    off = max(abs(row[way] - row[f"{way}_stated"]) for row in rows for way in WAYS)
    return (
        f"By what is stated, the most is found by {counted} of {len(shown)} rows. No mean of the runs is further than "
        f"{off:.1f} from what is stated.\n\n"
        f"{table(['counts', *NAMES.values(), 'stated'], lines)}"
    )


def _cell(row: Row, way: str) -> str:
    best = max(row[f"{each}_stated"] for each in WAYS) == row[f"{way}_stated"]
    return f"**{row[way]:.1f}**" if best else f"{row[way]:.1f}"
