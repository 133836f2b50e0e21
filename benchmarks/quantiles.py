"""Quantiles against NumPy: one of many numbers against a sort, nine of few, and one in each of many groups."""

from __future__ import annotations

import numpy as np

import lastbit as lb
from benchmarks.measure import compare, heading, repeat

MANY, FEW, GROUPS = 10**7, 1000, 10**5


def run() -> None:
    chance = np.random.default_rng(1)
    heading("quantiles, against NumPy")
    whole, floats = chance.integers(0, 1000, MANY), chance.uniform(0, 1000, MANY)
    cases = ("whole numbers", whole, "1"), ("floats, 1/100", floats, "1/100"), ("floats, 1/10^6", floats, "1/1000000")
    for label, values, resolution in cases:
        median = lb.Quantile(q="1/2", epsilon=1, bounds=(0, 1000), resolution=resolution)
        compare(
            f"one of {MANY:,} {label}",
            lambda median=median, values=values: median.release(values),
            lambda values=values: np.sort(values),
            against="np.sort",
            target=1.3,
            runs=5,
        )
    few, deciles = whole[:FEW], [f"{tenth}/10" for tenth in range(1, 10)]
    nine, places = lb.Quantiles(qs=deciles, epsilon=1, bounds=(0, 1000)), np.arange(1, 10) / 10
    compare(
        f"nine of {FEW:,}",
        repeat(lambda: nine.release(few), 20),
        repeat(lambda: np.quantile(few, places), 20),
        against="np.quantile",
        target=5,
        busy=True,
    )
    groups = dict(enumerate(whole[: 10 * GROUPS].reshape(GROUPS, 10)))
    medians = lb.GroupQuantiles(groups=range(GROUPS), qs=["1/2"], epsilon=1, bounds=(0, 1000))
    compare(
        f"the median of {GROUPS:,} groups",
        lambda: medians.release(groups),
        lambda: [np.quantile(group, 0.5) for group in groups.values()],
        against="NumPy loop",
        target=1,
        runs=3,
    )
