"""What it takes to show a release: text against the release itself, frames against pandas."""

from __future__ import annotations

import numpy as np

import lastbit as lb
from benchmarks.measure import compare, heading, repeat

N = 10**5


def run() -> None:
    chance = np.random.default_rng(1)
    heading("releases as text and as frames")
    counts = chance.integers(0, 10**6, 10**4)
    top = lb.SelectAndMeasure(k=100, epsilon=1, monotone=True)
    compare(
        "text of SelectAndMeasure, k = 100",
        repeat(lambda: str(top.release(counts)), 10),
        repeat(lambda: top.release(counts), 10),
        against="release",
        target=5,
        busy=True,
    )
    try:
        import pandas
    except ImportError:
        print("pandas is not installed here.")
        return
    values = chance.integers(0, 10**6, N)
    for resolution in ("1", "1/10"):
        noisy = lb.DiscreteLaplace(epsilon=1, resolution=resolution).release(values)
        array = noisy.to_numpy()
        compare(
            f"to_frame of {N:,}, resolution {resolution}",
            noisy.to_frame,
            lambda array=array: pandas.DataFrame({"value": array.copy()}),
            against="pandas",
            target=2,
            busy=True,
        )
