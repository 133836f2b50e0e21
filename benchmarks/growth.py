"""How time and memory grow with n for every mechanism; and time with k, and with the range of the scores.

`python -m benchmarks.growth --most 100000000 --picture docs/pictures/growth.png` draws the picture in docs/speed.md.
The rows are kept beside the picture, as .csv, and rows that are there are not measured again: remove the file to begin
anew.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import lastbit as lb
from benchmarks.measure import alternate, as_time, heading, machine, peak_beyond

MOST = 10**6
KS = (1, 10, 100, 1_000)
RANGES = (10, 10**3, 10**6, 10**9, 10**12)
N_OF_THOSE = 10**5
MOST_OF = {"Quantile": 10**7}
"""Quantiles are sorted, and take 66 bytes a value: 10^8 of them need more memory than many machines have."""

Release = Callable[[Any], object]
Row = tuple[str, int, float, float]
"""A mechanism, n (or k, or a range), seconds, and bytes beyond the values and the result."""


def mechanisms() -> dict[str, Release]:
    """A release of whole numbers by every mechanism that takes many."""
    stream = {"threshold": 10**7, "limit": 10, "epsilon": 1}
    return {
        "DiscreteLaplace": lb.DiscreteLaplace(epsilon=1).release,
        "DiscreteGaussian": lb.DiscreteGaussian(rho="1/2").release,
        "NoisyTopK, k = 10": lb.NoisyTopK(k=10, epsilon=1, resolution=1).release,
        "NoisyMax": lb.NoisyMax(epsilon=1, resolution=1).release,
        "SelectAndMeasure, k = 10": lb.SelectAndMeasure(k=10, epsilon=1, resolution=1).release,
        "ExponentialMechanism": lb.ExponentialMechanism(epsilon=1).release,
        "SparseVector": lb.SparseVector(**stream).release,
        "AdaptiveSparseVector": lb.AdaptiveSparseVector(**stream).release,
        "NoisyMean": lb.NoisyMean(epsilon=1, bounds=(0, 1000)).release,
        "Quantile": lb.Quantile(q="1/2", epsilon=1, bounds=(0, 1000)).release,
        "exact_sum of floats": lambda values: lb.exact_sum(values, bounds=(0, 1000), resolution="1/100"),
    }


def values_of(name: str, n: int) -> np.ndarray:
    numbers = np.random.default_rng(n).integers(0, 1000, n)
    return numbers + 0.5 if "floats" in name else numbers


@dataclass
class Rows:
    """Rows of one kind, measured where they are not in the file yet."""

    kind: str
    kept: Path | None
    rows: list[Row] = field(default_factory=list)

    def measure(self, name: str, place: int, release: Release, values: Callable[[], Any], runs: int) -> None:
        """One row: the median time of a release, and its memory at the peak."""
        row = self._known(name, place)
        if row is None:
            given = values()
            (timing,) = alternate(lambda: release(given), runs=runs)
            memory = peak_beyond(lambda: release(given), 0, warm=runs > 1)
            row = name, place, timing.median, memory
            if self.kept is not None:
                with self.kept.open("a", newline="") as file:
                    csv.writer(file).writerow([self.kind, *row])
        self.rows.append(row)
        print(f"{name:<26} {self.kind} = {place:>17,} {as_time(row[2]):>8} {row[3] / 1e6:10.3f} MB", flush=True)

    def _known(self, name: str, place: int) -> Row | None:
        if self.kept is None or not self.kept.exists():
            return None
        with self.kept.open(newline="") as file:
            for kind, known, at, seconds, memory in csv.reader(file):
                if (kind, known, at) == (self.kind, name, str(place)):
                    return name, place, float(seconds), float(memory)
        return None


def with_n(most: int, kept: Path | None) -> list[Row]:
    """Every mechanism on 10, 100, … values."""
    found, n = Rows("n", kept), 10
    while n <= most:
        for name, release in mechanisms().items():
            if n <= MOST_OF.get(name, n):
                found.measure(name, n, release, lambda name=name, n=n: values_of(name, n), 1 if n > 10**7 else 9)
        n *= 10
    return found.rows


def with_k(kept: Path | None) -> list[Row]:
    """The selections, as k grows."""
    found = Rows("k", kept)
    for name, kind in (("NoisyTopK", lb.NoisyTopK), ("SelectAndMeasure", lb.SelectAndMeasure)):
        for k in KS:
            release = kind(k=k, epsilon=1, resolution=1).release
            found.measure(name, k, release, lambda: values_of("", N_OF_THOSE), 9)
    return found.rows


def with_range(kept: Path | None) -> list[Row]:
    """Choices and selections among scores that lie further and further apart."""
    found = Rows("range", kept)
    for name in ("ExponentialMechanism", "NoisyTopK, k = 10", "DiscreteLaplace"):
        for top in RANGES:
            scores = np.random.default_rng(top).integers(0, top, N_OF_THOSE)
            found.measure(name, top, mechanisms()[name], lambda scores=scores: scores, 9)
    return found.rows


def run(most: int = MOST, picture: str | None = None) -> None:
    kept = None if picture is None else Path(picture).with_suffix(".csv")
    heading(f"as n grows, to {most:,}: seconds, and memory at the peak beyond the values")
    grown = with_n(most, kept)
    heading(f"as k grows, {N_OF_THOSE:,} candidates")
    by_k = with_k(kept)
    heading(f"as the range of the scores grows, {N_OF_THOSE:,} of them")
    by_range = with_range(kept)
    if picture is not None:
        draw(grown, by_k, by_range, picture)


def draw(grown: list[Row], by_k: list[Row], by_range: list[Row], path: str) -> None:
    """Four panels: time and memory against n, time against k, time against the range."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 8), layout="constrained")
    (time_n, memory_n), (time_k, time_range) = figure.subplots(2, 2)
    for panel, rows, place, label in (
        (time_n, grown, 2, "seconds"),
        (memory_n, grown, 3, "bytes beyond the values"),
        (time_k, by_k, 2, "seconds"),
        (time_range, by_range, 2, "seconds"),
    ):
        for colour, name in enumerate(dict.fromkeys(row[0] for row in rows)):
            own = [row for row in rows if row[0] == name]
            panel.plot(
                [row[1] for row in own],
                [row[place] for row in own],
                marker="o",
                markersize=3,
                label=name,
                color=f"C{colour}",
                linestyle="-" if colour < 10 else "--",
            )
        panel.set(xscale="log", yscale="log", ylabel=label)
        panel.grid(alpha=0.3)
    time_n.set(xlabel="n", title="time against n")
    memory_n.set(xlabel="n", title="memory against n")
    time_k.set(xlabel="k", title=f"time against k, n = {N_OF_THOSE:,}")
    time_range.set(xlabel="range of the scores", title=f"time against the range, n = {N_OF_THOSE:,}")
    for panel, rows in ((time_k, by_k), (time_range, by_range)):
        panel.set_ylim(min(row[2] for row in rows) / 10, max(row[2] for row in rows) * 10)
        panel.legend(fontsize=8)
    figure.legend(*time_n.get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8)
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--most", type=int, default=MOST, help="the largest n")
    parser.add_argument("--picture", help="where to write the picture")
    options = parser.parse_args()
    print(machine("lastbit", "numpy"))
    run(options.most, options.picture)


if __name__ == "__main__":
    main()
