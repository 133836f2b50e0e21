"""Items that nobody listed: how many of the true top k are found, beside the thresholds of Google and OpenDP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import lastbit as lb
from experiments import thresholds
from experiments.datasets import Counts, Dataset
from experiments.harness import Row, Setting, spread_out
from experiments.page import table
from experiments.plots import FOURTH, OTHER, OURS, QUOTED, panels
from lastbit.privacy.zcdp import largest_rho

TITLE = "Items that nobody listed: the true top k that is found"
PAPER = """
No paper's experiment. At ε = 1 and the same total δ, each method looks for the k most common items of a table whose
items nobody listed; the tables say how many of the true top k are among the k it puts first, on average. `NoisyTopK`,
which has a public list of all items and needs no δ, is beside them. Rankings and histograms in zCDP spend half of δ on
turning rho into ε, half on items.

Google's and OpenDP's methods are written down from their published definitions (Desfontaines, Voss, Gipson and
Mandayam, *Differentially Private Partition Selection*; the partition selection of Google's differential privacy
library; `make_laplace_threshold` of OpenDP) and computed in floats: their own code does not run here. All of them, and
`DiscoverHistogram`, need a bound ℓ on the items that one person counts in. Files of counts do not say what such a bound
would take away, so these columns pretend that everybody keeps to ℓ already: **that flatters them.** `DiscoverTopK` and
`DiscoverRanking` need no bound, and have none here.

The optimal selection of Desfontaines et al. tells items without counts or order: for it the tables say how many of the
top k are told at all, which asks for less than a top k. These numbers and the last table are computed, not sampled.
OpenDP's threshold has the law of `DiscoverHistogram` with a threshold one lower: as we read its published source, the δ
that it states is that of noise strictly above threshold − 1, and a noisy count equal to the threshold is told too;
`DiscoverHistogram` counts equality in. OpenDP has the same with Gaussian noise in zCDP, which is not listed here.
Google's Gaussian noise is fitted to one release at this ε and δ and comes out smaller than that of a rho, which in turn
adds up with other releases.
"""
PACKAGES = ("lastbit", "numpy", "cryptography")
USES_DATA, USES_OTHERS, TIMED = True, True, False
DELTAS = ("1e-6", "1e-9")
BOUNDS = (10, 100)
LISTED, GAPS, RANKED, CONCENTRATED = "public list", "DiscoverTopK", "DiscoverRanking", "DiscoverRanking, rho"
LAPLACE, GAUSSIAN = "DiscoverHistogram", "DiscoverHistogram, rho"
OPENDP, GOOGLE, GOOGLE_GAUSSIAN, BEST = "OpenDP, Laplace", "Google, Laplace", "Google, Gaussian", "optimal, items only"
FREE = (LISTED, GAPS, RANKED, CONCENTRATED)
BOUNDED = (LAPLACE, OPENDP, GOOGLE, GAUSSIAN, GOOGLE_GAUSSIAN, BEST)


@dataclass(frozen=True)
class Point:
    """One table, one question."""

    data: Dataset
    k: int
    delta: str
    runs: int


def repetitions(setting: Setting) -> str:
    return f"means of {setting.size(200, 5)} runs; the selection without counts is exact"


def measure(setting: Setting) -> list[Row]:
    sizes: list[int] = setting.size([10, 100], [3])
    data = (*setting.datasets, *setting.others)
    runs = setting.size(200, 5)
    points = [Point(each, k, delta, runs) for each in data for k in sizes for delta in DELTAS]
    return [*_needed_rows(), *spread_out(_rows, points, setting, "items that nobody listed")]


def rho_of(delta: str) -> Fraction:
    """The rho that half of delta turns into ε = 1."""
    return largest_rho(1, Fraction(delta) / 2)


def free_mechanisms(k: int, delta: str) -> dict[str, lb.Mechanism[Any]]:
    """The searches that need no bound."""
    half = Fraction(delta) / 2
    return {
        GAPS: lb.DiscoverTopK(k=k, epsilon=1, delta=delta),
        RANKED: lb.DiscoverRanking(k=k, epsilon=1, delta=delta),
        CONCENTRATED: lb.DiscoverRanking(k=k, rho=rho_of(delta), delta=half),
    }


def histograms(delta: str, most: int) -> dict[str, lb.DiscoverHistogram]:
    """The two histograms at ε = 1 in all."""
    return {
        LAPLACE: lb.DiscoverHistogram(epsilon=1, delta=delta, most_items=most),
        GAUSSIAN: lb.DiscoverHistogram(rho=rho_of(delta), delta=Fraction(delta) / 2, most_items=most),
    }


def _rows(point: Point) -> list[Row]:
    counts, k = point.data.counts, point.k
    about: Row = {"kind": "found", "data": point.data.name, "k": k, "delta": point.delta}
    draw, top = lb.Sampler(), set(range(k))
    listed = lb.NoisyTopK(k=k, epsilon=1, monotone=True)
    found = [len(top.intersection(listed.release(counts, draw).indices)) for _ in range(point.runs)]
    rows = [about | {"method": LISTED, "found": float(np.mean(found)), "stopped": 0.0}]
    # The item is its rank, which orders equals as the tables do.
    values = dict(enumerate(counts.tolist()))
    free = lb.Unlisted.of(values)
    for name, mechanism in free_mechanisms(k, point.delta).items():
        runs = [mechanism.release(free, draw) for _ in range(point.runs)]
        found = [len(top.intersection(run.items)) for run in runs]
        rows.append(about | {"method": name, "found": float(np.mean(found)), "stopped": _share(runs)})
    for most in BOUNDS:
        for name, found in _bound_items(point, values, most).items():
            rows.append(about | {"method": name, "most_items": most, "found": float(np.mean(found))})
    return rows


def _share(runs: list[Any]) -> float:
    return float(np.mean([run.stopped for run in runs]))


def _bound_items(point: Point, values: dict[int, int], most: int) -> dict[str, list[float]]:
    """The true top k found in each run, by the methods that need a bound."""
    k, delta, draw, top = point.k, float(point.delta), lb.Sampler(), set(range(point.k))
    bounded = lb.Unlisted.of(values, most_items=most)
    found: dict[str, list[float]] = {}
    for name, mechanism in histograms(point.delta, most).items():
        found[name] = [len(top.intersection(mechanism.release(bounded, draw).items[:k])) for _ in range(point.runs)]
    counts, chance = point.data.counts[point.data.counts > 0], np.random.default_rng()
    google, gaussian = thresholds.google_laplace(1, delta, most), thresholds.google_gaussian(1, delta, most)
    opendp = thresholds.opendp_laplace(1, delta, most)
    noises: dict[str, tuple[thresholds.Threshold, Callable[[], NDArray[Any]]]] = {
        GOOGLE: (google, lambda: chance.laplace(0, google.scale, len(counts))),
        GOOGLE_GAUSSIAN: (gaussian, lambda: chance.normal(0, gaussian.scale, len(counts))),
        OPENDP: (opendp, lambda: draw.laplace(lb.Rate.from_epsilon(Fraction(1, most)), len(counts))),
    }
    for name, (rule, noise) in noises.items():
        found[name] = [_first(counts + noise(), rule.threshold, k, top) for _ in range(point.runs)]
    kept = thresholds.best_selection(1, delta, most)
    found[BEST] = [sum(kept(people) for people in point.data.counts[:k].tolist())]
    return found


def _first(noisy: Counts, threshold: float, k: int, top: set[int]) -> int:
    """How many of the top are among the k highest of those that pass the threshold."""
    highest = np.argsort(-noisy, kind="stable")[:k]
    return len(top.intersection(highest[noisy[highest] >= threshold].tolist()))


def _needed_rows() -> list[Row]:
    """How many people an item needs to be told with probability 95%, at ε = 1: no data."""
    rows: list[Row] = []
    for delta in DELTAS:
        for most in (1, *BOUNDS):
            cost = (1.0, float(delta), most)
            people: dict[str, Any] = {name: histogram.needed() for name, histogram in histograms(delta, most).items()}
            people |= {
                OPENDP: thresholds.needed_people(thresholds.opendp_laplace(*cost).kept, 0.95),
                GOOGLE: thresholds.needed_people(thresholds.google_laplace(*cost).kept, 0.95),
                GOOGLE_GAUSSIAN: thresholds.needed_people(thresholds.google_gaussian(*cost).kept, 0.95),
                BEST: thresholds.needed_people(thresholds.best_selection(*cost), 0.95),
            }
            for name, number in people.items():
                rows.append(
                    {"kind": "needed", "delta": delta, "method": name, "most_items": most, "people": int(number)}
                )
    return rows


def picture(rows: list[Row]) -> Figure:
    found = [row for row in rows if row["kind"] == "found" and row["delta"] == float(DELTAS[0])]
    k = max(row["k"] for row in found)
    names = list(dict.fromkeys(row["data"] for row in found))
    figure, axes = panels(1, len(names), width=2.6, height=3.6)
    labels = [(name, None) for name in FREE] + [(name, most) for most in BOUNDS for name in BOUNDED]
    for panel, data in zip(axes[0], names, strict=True):
        here = {
            (row["method"], row.get("most_items")): row["found"]
            for row in found
            if (row["data"], row["k"]) == (data, k)
        }
        panel.barh(range(len(labels)), [here[label] for label in labels], color=[_colour(name) for name, _ in labels])
        panel.set_yticks(
            range(len(labels)), [name if most is None else f"{name}, ℓ = {most}" for name, most in labels], fontsize=6
        )
        panel.invert_yaxis()
        panel.set_title(f"{data}, k = {k}", fontsize=6)
        panel.set(xlabel=f"found, δ = {DELTAS[0]}", xlim=(0, k))
        if panel is not axes[0, 0]:
            panel.set_yticklabels([])
    return figure


def _colour(name: str) -> str:
    if name == LISTED:
        return OTHER
    return FOURTH if name == OPENDP else QUOTED if name in (GOOGLE, GOOGLE_GAUSSIAN, BEST) else OURS


def report(rows: list[Row]) -> str:
    found = [row for row in rows if row["kind"] == "found"]
    places = list(dict.fromkeys((row["data"], row["k"], row["delta"]) for row in found))
    cells = {(row["data"], row["k"], row["delta"], row["method"], row.get("most_items")): row for row in found}
    first: list[list[str]] = []
    second: list[list[str]] = []
    for place in places:
        data, k, delta = place
        label = f"{data}, k = {k}, δ = {delta:g}"
        free = [cells[*place, name, None] for name in FREE]
        first += _line(label, free, k)
        for most in BOUNDS:
            second += _line(f"{label}, ℓ = {most}", [cells[*place, name, most] for name in BOUNDED], k)
    needed = {
        (row["delta"], row["most_items"], row["method"]): row["people"] for row in rows if row["kind"] == "needed"
    }
    third = [
        [f"δ = {delta:g}, ℓ = {most}", *(f"{needed[delta, most, name]:,}" for name in BOUNDED)]
        for delta, most in dict.fromkeys((delta, most) for delta, most, _ in needed)
    ]
    return (
        "Without a bound on the items of a person. In brackets: how many runs stopped before k items. Here and below, "
        "lines where every method finds all are left out.\n\n"
        f"{table(['of the true top k', *FREE], first)}\n\n"
        "With a bound ℓ that everybody is taken to keep to already.\n\n"
        f"{table(['of the true top k', *BOUNDED], second)}\n\n"
        "How many people an item needs to be told with probability 95%, at ε = 1.\n\n"
        f"{table(['people', *BOUNDED], third)}"
    )


def _line(label: str, row: list[Row], k: int) -> list[list[str]]:
    """One line of a table, or none where every method finds all."""
    cells = [_format_found(each) for each in row]
    return [] if set(cells) == {f"{k}.0"} else [[label, *cells]]


def _format_found(row: Row) -> str:
    share = f" ({row['stopped']:.0%})" if row.get("stopped") else ""
    return f"{row['found']:.1f}{share}"
