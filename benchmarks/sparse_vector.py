"""A stream of queries through the sparse vector technique, against NumPy's insecure noise and a comparison."""

from __future__ import annotations

import numpy as np

import lastbit as lb
from benchmarks.measure import alternate, as_time, compare, heading, peak_beyond, report

N = 10**6


def run() -> None:
    generator = np.random.default_rng()
    counts = np.random.default_rng(1).integers(0, 1000, N)
    # A threshold far above every count: all 10^6 queries are asked.
    plain = lb.SparseVector(threshold=100_000, limit=10, epsilon=1)
    adaptive = lb.AdaptiveSparseVector(threshold=100_000, limit=10, epsilon=1)
    share = float(plain.share)

    def numpy_sparse_vector(values: np.ndarray, branches: int) -> list[np.ndarray]:
        noisy = 100_000 + generator.laplace(0, 1 / share)
        return [values + generator.laplace(0, 2 * 10 / (1 - share), N) >= noisy for _ in range(branches)]

    heading(f"{N:,} queries in one call of ask_many, against NumPy's laplace vector and a comparison")
    for label, mechanism, values, branches, target in (
        ("SparseVector, whole values", plain, counts, 1, 0.35),
        ("SparseVector, floats", plain, counts + 0.5, 1, None),
        ("AdaptiveSparseVector", adaptive, counts, 2, None),
    ):
        compare(
            label,
            lambda mechanism=mechanism, values=values: mechanism.start().ask_many(values),
            lambda values=values, branches=branches: numpy_sparse_vector(values, branches),
            against="NumPy",
            target=target,
        )

    listed = counts.tolist()
    compare(
        "SparseVector, a Python list", lambda: plain.start().ask_many(listed), lambda: plain.start().ask_many(counts),
        against="array", target=1.0, runs=9,
    )  # fmt: skip

    heading("one query at a time, and memory")
    for label, mechanism, target in (("SparseVector.ask", plain, 2e-6), ("AdaptiveSparseVector.ask", adaptive, 5e-6)):
        live = mechanism.start()
        (timing,) = alternate(lambda live=live: [live.ask(500) for _ in range(1000)], runs=21)
        report(label, timing.median / 1000, as_time, target, f"±{timing.spread:.0%}, 21 runs of 1,000")
    for n in (10**5, N):
        beyond = peak_beyond(lambda n=n: plain.start().ask_many(counts[:n]), 0)
        report(f"memory of a run of {n:,}", beyond / 1e6, "{:.2f} MB".format, 2.0, "at its peak, beyond the values")
    print("Nothing is published to compare with: the papers give no running times for their sparse vectors.")
