"""Errors in ranks of one and of several quantiles: each on its own, or by halves; and whether the stated ranks hold."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import lastbit as lb
from experiments.harness import Row, Setting, spread_out
from experiments.page import table
from experiments.plots import OTHER, OURS, panels

TITLE = "Quantiles: several by halves, on spread, tied and missing-ridden data"
PAPER = """
Kaplan, Schnapp and Stemmer (2022) split the values at the middle quantile and go on with either side, so that a person
pays for one split a level and not for every quantile. Here m quantiles at 1/(m+1), 2/(m+1), … are released at ε = 1
together: each on its own at ε/m (`Quantile`), or by halves (`Quantiles`), with and without spreading equal values over
parts of a step. The data are 1,000 numbers on a grid of 20,001 points: normal ones, skewed ones, and ones of which six
tenths are equal; a fifth of the last kind is missing. The error is the mean distance, in ranks, between the rank asked
for and the ranks that the released value takes. "Holds" is how often the ranks that `accuracy` states at 95% held, for
all quantiles of a release together.
"""
PACKAGES = ("lastbit", "numpy", "cryptography")
USES_DATA, TIMED = False, False
POINTS = 20_001
SHAPES = ("normal", "skewed", "tied", "missing")


def values_of(shape: str, n: int) -> NDArray[Any]:
    """The numbers, on a grid of steps of 1 from 0 to 20,000; the same ones in every run."""
    # Quantiles of a law and not a sample of it: the data of an experiment need no chance.
    places = (np.arange(n) + 0.5) / n
    from statistics import NormalDist

    normal = np.array([NormalDist(10_000, 2_000).inv_cdf(place) for place in places])
    if shape == "normal":
        return np.floor(normal)
    if shape == "skewed":
        return np.floor(np.minimum(-2_000 * np.log1p(-places), POINTS - 1))
    tied = np.where(places < 0.6, 7_000.0, np.floor(np.maximum(normal, 7_000.0)))
    if shape == "missing":
        tied[::5] = np.nan
    return tied


@dataclass(frozen=True)
class Point:
    """One shape and one number of quantiles."""

    shape: str
    m: int
    n: int
    runs: int


def repetitions(setting: Setting) -> str:
    return f"{setting.size(400, 4):,} releases of each kind"


def measure(setting: Setting) -> list[Row]:
    points = [
        Point(shape, m, setting.size(1000, 40), setting.size(400, 4))
        for shape in SHAPES
        for m in setting.size((1, 3, 9, 19), (1, 3))
    ]
    return spread_out(_rows, points, setting, "quantiles")


def _rows(point: Point) -> list[Row]:
    draw, values = lb.Sampler(), values_of(point.shape, point.n)
    present = np.sort(values[~np.isnan(values)])
    qs = [Fraction(i, point.m + 1) for i in range(1, point.m + 1)]
    bounds = (0, POINTS - 1)
    alone = [lb.Quantile(q=q, bounds=bounds, epsilon=Fraction(1, point.m)) for q in qs]
    ways: dict[str, Any] = {
        "alone": [each.ready(values) for each in alone],
        "halves": lb.Quantiles(qs=qs, bounds=bounds, epsilon=1).ready(values),
        "unspread": lb.Quantiles(qs=qs, bounds=bounds, epsilon=1, spread=1).ready(values),
    }
    ties = int(np.unique(present, return_counts=True)[1].max())
    stated = {
        # For all of them together each takes its share of the 5%.
        "alone": [each.accuracy(1 - Fraction(1, 20 * point.m)) for each in alone],
        "halves": lb.Quantiles(qs=qs, bounds=bounds, epsilon=1).accuracy("0.95", ties=ties),
    }
    row: Row = {"shape": point.shape, "m": point.m, "n": point.n}
    for way, ready in ways.items():
        errors = np.empty((point.runs, point.m))
        for run in range(point.runs):
            found = [each(draw).value for each in ready] if way == "alone" else ready(draw).values
            errors[run] = _errors(present, qs, np.array(found, float))
        row[way] = errors.mean()
        if way in stated:
            row[f"{way}_holds"] = (errors <= np.array(stated[way], float) + 1e-9).all(axis=1).mean()
            row[f"{way}_stated"] = float(max(stated[way]))
    return [row]


def _errors(present: NDArray[Any], qs: list[Fraction], found: NDArray[Any]) -> NDArray[Any]:
    """The distance of the ranks asked for from the ranks that the values take."""
    ranks = np.array(qs, float) * len(present)
    below, at_or_below = np.searchsorted(present, found), np.searchsorted(present, found, side="right")
    return np.maximum(0, np.maximum(below - ranks, ranks - at_or_below))


def picture(rows: list[Row]) -> Figure:
    shapes = list(dict.fromkeys(row["shape"] for row in rows))
    figure, axes = panels(1, len(shapes), height=2.8)
    for panel, shape in zip(axes[0], shapes, strict=True):
        here = [row for row in rows if row["shape"] == shape]
        across = np.arange(len(here))
        panel.bar(across - 0.2, [row["alone"] for row in here], 0.4, color=OTHER, label="each on its own")
        panel.bar(across + 0.2, [row["halves"] for row in here], 0.4, color=OURS, label="by halves")
        panel.set_xticks(across, [str(row["m"]) for row in here])
        panel.set(title=shape, xlabel="quantiles", ylabel="mean error in ranks")
    axes[0, 0].legend(loc="upper left")
    return figure


def report(rows: list[Row]) -> str:
    lines = [
        [f"{row['shape']}, m = {row['m']}", *(f"{row[way]:.1f}" for way in ("alone", "halves", "unspread")),
         f"{row['alone_stated']:.1f}", f"{row['alone_holds']:.3f}", f"{row['halves_stated']:.1f}",
         f"{row['halves_holds']:.3f}"]
        for row in rows
    ]  # fmt: skip
    names = [
        "values", "on its own", "by halves", "without spreading", "stated, on its own", "holds", "stated, by halves",
        "holds",
    ]  # fmt: skip
    return (
        "The mean error in ranks. Without spreading, values that are equal to the picked point all go to one side, and "
        "the quantiles beyond them are far off. The stated ranks are those of the worst quantile; they hold for all "
        f"data, and add up worst cases.\n\n{table(names, lines)}"
    )
