"""Exact histograms against NumPy's, which puts floats into bins by rounded arithmetic."""

from __future__ import annotations

import numpy as np

import lastbit as lb
from benchmarks.measure import alternate, as_time, compare, heading, report


def run() -> None:
    chance = np.random.default_rng(1)
    heading("histograms, against np.histogram")
    for label, values, bins, target, runs in (
        ("10,000,000 floats, 20 bins", chance.uniform(-5, 105, 10**7), 20, 1.5, 9),
        ("1,000,000 floats, 10,000 bins", chance.uniform(0, 100, 10**6), 10**4, 2.0, 21),
        ("1,000,000 whole numbers, 10,000 bins", chance.integers(0, 100, 10**6), 10**4, 2.0, 21),
    ):
        compare(
            label,
            lambda values=values, bins=bins: lb.histogram(values, bounds=(0, 100), bins=bins),
            lambda values=values, bins=bins: np.histogram(values, bins=bins, range=(0, 100)),
            against="NumPy",
            target=target,
            runs=runs,
        )
    few = chance.uniform(0, 100, 10)
    (timing,) = alternate(lambda: lb.histogram(few, bounds=(0, 100), bins=10**5))
    report("10 floats, 100,000 bins", timing.median, as_time, 0.05, f"±{timing.spread:.0%}, 21 runs")
