"""Measurements: noisy vectors, one snapped value, exact sums."""

from __future__ import annotations

import numpy as np

import lastbit as lb
from benchmarks.measure import alternate, compare, heading, report, shown

N, RECORDS = 10**6, 10**7


def run() -> None:
    generator, sampler = np.random.default_rng(), lb.Sampler()
    counts = generator.integers(0, 1000, N)
    laplace = lb.DiscreteLaplace(epsilon="1/20")

    heading(f"{N:,} values with Laplace noise of scale 20, against values + Generator.laplace")
    # Floats may lie between steps, so they get noise for a million steps more: on a fine grid that is little.
    for label, mechanism, values in (
        ("whole numbers", laplace, counts),
        ("whole numbers, clamped", lb.DiscreteLaplace(epsilon="1/20", bounds=(0, 1000)), counts),
        ("floats, resolution 1/1000000", lb.DiscreteLaplace(epsilon="1/20", resolution="1/1000000"), counts / 10),
    ):
        compare(
            label,
            lambda mechanism=mechanism, values=values: mechanism.release(values, sampler),
            lambda values=values: values + generator.laplace(0, 20, N),
            against="NumPy",
            target=None if "floats" in label else 0.7,
            runs=11,
        )

    heading("one value")
    snapping = lb.Snapping(epsilon=1, bounds=(0, 100))
    for label, release in {
        "snapped": lambda: snapping.release(42.5, sampler),
        "discrete Laplace": lambda: laplace.release(42, sampler),
    }.items():
        (timing,) = alternate(lambda release=release: [release() for _ in range(100)], runs=21)
        report(label, timing.median / 100, shown, 200e-6, f"±{timing.spread:.0%}, 21 runs of 100")

    heading(f"exact sums of {RECORDS:,} floats, against numpy.sum of the array clipped before")
    records = generator.normal(50, 20, RECORDS)
    clipped = np.clip(records, 0, 100)
    for resolution in ("1/1024", "1/100", "1/1000000"):
        compare(
            f"exact_sum, resolution {resolution}",
            lambda resolution=resolution: lb.exact_sum(records, bounds=(0, 100), resolution=resolution),
            clipped.sum,
            against="NumPy",
            target=2.5,
            runs=11,
        )
    compare(
        "the same, clipping timed too",
        lambda: lb.exact_sum(records, bounds=(0, 100), resolution="1/1024"),
        lambda: np.clip(records, 0, 100).sum(),
        against="NumPy",
        target=None,
        runs=5,
    )
