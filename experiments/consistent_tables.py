"""All tables of a study at once: how near they are beside tables measured one by one, and whether intervals hold."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod, sqrt
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import lastbit as lb
from experiments.harness import Row, Setting, spread_out
from experiments.page import table
from experiments.plots import OTHER, OURS, panels
from lastbit.estimate.tables.scheme import Axes, Scheme, subsets
from lastbit.estimate.tables.shares import best_shares

TITLE = "Tables that agree: errors of all tables of a study, and intervals that hold"
PAPER = """
Xiao, He, Zhang and Kifer (2023) find the best Gaussian noise for all tables of a study in closed form
(ResidualPlanner). `Tables` measures tables with exact discrete noise and makes them agree by least squares. Here are
the columns of the Adult census file, by their sizes alone (14 columns of 100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6,
5, 2 and 2 values), with all tables of one and two columns, and the last nine of them with all tables of up to three.
The cost is (ε, δ) = (1, 10^-9). "Alone" measures each table with the same share of the cost, and leaves it as it is.
The people are made up; the errors do not depend on them. "Optimum" is the least mean variance of any Gaussian noise.
"""
PACKAGES = ("lastbit", "numpy", "cryptography")
USES_DATA, TIMED = False, False
ADULT = (100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2)
STUDIES = {"Adult, up to 2 columns": (ADULT, 2), "9 columns, up to 3": (ADULT[5:], 3)}
TINY = {"tiny": ((5, 4, 3), 2)}
WAYS = ("alone", "even shares", "largest tables only", "best shares")
BUDGET = (1, "1e-9")
PEOPLE = 48_842


@dataclass(frozen=True)
class Point:
    """One study and one way to measure its tables."""

    study: str
    sizes: tuple[int, ...]
    ways: int
    way: str
    runs: int


def repetitions(setting: Setting) -> str:
    return f"{setting.size(20, 2)} releases of all tables"


def measure(setting: Setting) -> list[Row]:
    studies = TINY if setting.tiny else STUDIES
    points = [
        Point(study, sizes, ways, way, setting.size(20, 2)) for study, (sizes, ways) in studies.items() for way in WAYS
    ]
    return spread_out(_rows, points, setting, "tables that agree")


def _rows(point: Point) -> list[Row]:
    sizes, most = point.sizes, point.ways
    tables = [each for size in range(1, most + 1) for each in combinations(range(len(sizes)), size)]
    rho = lb.largest_rho(*BUDGET)
    scheme = _scheme(point, tables, rho)
    alone = Fraction(len(tables)) / (2 * rho)
    variances = {each: alone if point.way == "alone" else scheme.variance(each) for each in tables}
    by_size = {size: sqrt(np.mean([float(v) for t, v in variances.items() if len(t) == size])) for size in (1, most)}
    row: Row = {
        "study": point.study,
        "tables": len(tables),
        "cells": sum(prod(sizes[axis] for axis in each) for each in tables),
        "way": point.way,
        "measured": len(tables) if point.way == "alone" else len(scheme.precisions),
        "above": float(sum(variances.values())) / _optimum(sizes, tables, rho) - 1,
        "smallest": by_size[1],
        "largest": by_size[most],
        "of_alone": float(sum(variances.values()) / (alone * len(tables))),
    }
    if point.way == "best shares":
        row |= _released(point, rho)
    return [row]


def _scheme(point: Point, tables: list[Axes], rho: Fraction) -> Scheme:
    if point.way == "best shares":
        parts: Any = best_shares(point.sizes, dict.fromkeys(tables, Fraction(1))).parts
    else:
        largest = [each for each in tables if len(each) == point.ways]
        parts = dict.fromkeys(largest if point.way == "largest tables only" else tables, 1)
    return Scheme(point.sizes, {each: 2 * rho * part / sum(parts.values()) for each, part in parts.items()})


def _optimum(sizes: tuple[int, ...], tables: list[Axes], rho: Fraction) -> float:
    """The least sum of mean variances of any Gaussian noise: each residual measured by itself, shares by Cauchy."""
    total: dict[Axes, float] = {}
    for each in tables:
        for part in subsets(each):
            own = prod(1 - 1 / sizes[axis] for axis in part)
            outside = prod(sizes[axis] for axis in each if axis not in part)
            total[part] = total.get(part, 0.0) + own / outside**2
    roots = (sqrt(c * prod(1 - 1 / sizes[axis] for axis in part)) for part, c in total.items())
    return sum(roots) ** 2 / (2 * float(rho))


def _released(point: Point, rho: Fraction) -> Row:
    """Errors and intervals of real releases."""
    numbers = np.random.default_rng(1)
    names = [f"c{place}" for place in range(len(point.sizes))]
    people = [(numbers.random(PEOPLE) ** 2 * size).astype(np.int64) for size in point.sizes]
    mechanism = lb.Tables(domain=dict(zip(names, map(range, point.sizes), strict=True)), ways=point.ways, rho=rho)
    counts = {}
    for each in mechanism.shape.largest:
        code = np.zeros(PEOPLE, np.int64)
        for axis in each:
            code = code * point.sizes[axis] + people[axis]
        shape = tuple(point.sizes[axis] for axis in each)
        counts[mechanism.shape.columns_of(each)] = np.bincount(code, minlength=prod(shape)).reshape(shape)
    ready, draw = mechanism.ready(counts), lb.Sampler()
    squares: dict[int, list[float]] = {1: [], point.ways: []}
    held, seen, deviations = 0, 0, []
    for _ in range(point.runs):
        release = ready(draw)
        for each in release.tables():
            axes = mechanism.shape.axes(each.names)
            off = np.abs(each.to_numpy() - mechanism._counts(counts, axes))
            held += int((off <= float(each.within())).sum())
            seen += off.size
            if len(axes) in squares:
                squares[len(axes)].append(float((off**2).mean()))
    for each in release.tables():
        deviations.append(float(each.within()) / sqrt(each.variance))
    return {
        "found_smallest": sqrt(np.mean(squares[1])),
        "found_largest": sqrt(np.mean(squares[point.ways])),
        "holds": held / seen,
        "deviations": float(np.mean(deviations)),
    }


def picture(rows: list[Row]) -> Figure:
    studies = list(dict.fromkeys(row["study"] for row in rows))
    figure, axes = panels(1, len(studies), height=2.8)
    for panel, study in zip(axes[0], studies, strict=True):
        here = [row for row in rows if row["study"] == study]
        across = np.arange(len(here))
        panel.bar(across - 0.2, [row["smallest"] for row in here], 0.4, color=OURS, label="tables of one column")
        panel.bar(across + 0.2, [row["largest"] for row in here], 0.4, color=OTHER, label="the largest tables")
        panel.set_xticks(across, [row["way"].replace(" ", "\n") for row in here], fontsize=7)
        panel.set(title=study, ylabel="error of a number (people)")
    axes[0, 0].legend(loc="lower left", fontsize=7)
    return figure


def report(rows: list[Row]) -> str:
    lines = [
        [row["study"], row["way"], f"{row['measured']:,} of {row['tables']:,}", f"{row['smallest']:.1f}",
         f"{row['largest']:.1f}", f"{row['of_alone']:.3f}", f"{100 * row['above']:.1f}%"]
        for row in rows
    ]  # fmt: skip
    names = [
        "study",
        "way",
        "tables measured",
        "one column",
        "largest tables",
        "variance of alone",
        "above the optimum",
    ]
    best = [
        [row["study"], f"{row['cells']:,}", f"{float(row['found_smallest']):.1f}", f"{float(row['found_largest']):.1f}",
         f"{float(row['deviations']):.3f}", f"{float(row['holds']):.4f}"]
        for row in rows if row["way"] == "best shares"
    ]  # fmt: skip
    found = ["study", "cells", "one column", "largest tables", "half width in deviations", "intervals that hold"]
    return (
        f"The root mean squared error of a number, as stated before anything is drawn:\n\n{table(names, lines)}\n\n"
        "The same in releases, with the share of 95% intervals that hold, each for itself:\n\n"
        f"{table(found, best)}"
    )
