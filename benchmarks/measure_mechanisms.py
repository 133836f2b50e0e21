"""Measurements: noisy vectors, one snapped value, exact sums."""

from __future__ import annotations

import time

import numpy as np

import lastbit as lb
from benchmarks.measure import as_time, compare, heading, repeat, report

N, RECORDS = 10**6, 10**7
TINY = "1e-150"


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

    heading("one value, against diffprivlib's floats, 100 releases at a time")
    snapping, counted = lb.Snapping(epsilon=1, bounds=(0, 100)), lb.DiscreteLaplace(epsilon=1)
    try:
        from diffprivlib import mechanisms as theirs
    except ImportError:
        print("diffprivlib is not installed here: `make bench` installs it.")
    else:
        float_laplace = theirs.Laplace(epsilon=1, sensitivity=1)
        float_snapping = theirs.Snapping(epsilon=1, sensitivity=1, lower=0, upper=100)
        for label, ours, other, target in (
            ("discrete Laplace", lambda: counted.release(42), lambda: float_laplace.randomise(42), 0.7),
            ("snapped", lambda: snapping.release(42.5), lambda: float_snapping.randomise(42.5), 1.5),
        ):
            sides = repeat(ours, 100), repeat(other, 100)
            compare(label, *sides, against="diffprivlib", target=target, runs=51)

    heading(f"exact sums of {RECORDS:,} floats, against numpy.sum of the array clipped before")
    records = generator.normal(50, 20, RECORDS)
    clipped = np.clip(records, 0, 100)
    for resolution, bounds in (
        ("1/1024", (0, 100)),
        ("1/100", (0, 100)),
        ("1/1000000", (0, 100)),
        ("1/1024", (-100, 100)),
        ("1/1000000", (-100, 100)),
        ("1/3", (-100, 100)),
        ("7/10", ("-0.7", "70")),
    ):
        compare(
            f"{resolution}, from {bounds[0]} to {bounds[1]}",
            lambda resolution=resolution, bounds=bounds: lb.exact_sum(records, bounds=bounds, resolution=resolution),
            clipped.sum,
            against="NumPy",
            target=1.5,
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

    heading("an epsilon of 10^-150, the first time that it is asked")
    for label, work in {
        "measure, with an interval": lambda: lb.DiscreteLaplace(epsilon=TINY).release(412).interval(),
        "above": lambda: lb.SparseVector(threshold=10, limit=1, epsilon=TINY).release([3, 12]),
        "above, Laplace noise": lambda: lb.SparseVector(threshold=10, limit=1, epsilon=TINY, noise="laplace").release(
            [3, 12]
        ),
        "how far above, one-sided noise": lambda: lb.SparseVector(
            threshold=10, limit=1, epsilon=TINY
        ).gap_noise.decisive(),
        "how far above, Laplace noise": lambda: lb.SparseVector(
            threshold=10, limit=1, epsilon=TINY, noise="laplace"
        ).gap_noise.decisive(),
        "mean": lambda: lb.NoisyMean(epsilon=TINY, bounds=(0, 10)).release([1, 2, 3]),
        "top 2": lambda: lb.NoisyTopK(k=2, epsilon=TINY).release([3, 12, 5]),
        "select and measure": lambda: lb.SelectAndMeasure(k=2, epsilon=TINY).release([3, 12, 5]),
        "exponential mechanism": lambda: lb.ExponentialMechanism(epsilon=TINY).release([3, 12, 5]),
    }.items():
        start = time.perf_counter()
        work()
        report(label, time.perf_counter() - start, as_time, 1.0, "once")
