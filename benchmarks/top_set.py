"""The k largest as a set, against noisy top-k; and how its time and memory depend on the counts."""

from __future__ import annotations

import numpy as np

import lastbit as lb
from benchmarks.measure import alternate, as_time, compare, heading, peak_beyond, report
from benchmarks.top_k import K, N, counts


def run() -> None:
    generator = np.random.default_rng(1)
    noisy = lb.NoisyTopK(k=K, epsilon=1, resolution=1, monotone=True)
    both, left_out = (lb.SubsetTopK(k=K, epsilon=1, monotone=True, form=form) for form in ("both", "left-out"))

    heading(f"top {K} of {N:,} as a set, epsilon 1")
    tables = {
        "a long tail": counts(N),
        "100 distinct counts": generator.integers(0, 100, N),
        "all counts equal": np.zeros(N, np.int64),
    }
    for name, values in tables.items():
        for form, mechanism in (("both", both), ("left-out", left_out)):
            compare(
                f"{name}, {form}",
                lambda mechanism=mechanism, values=values: mechanism.release(values),
                lambda values=values: noisy.release(values),
                against="noisy top-k",
                target=4.0,
                runs=101,
            )
        (timing,) = alternate(lambda values=values: both.release(values), runs=51)
        report(f"{name}, in all", timing.median, as_time, 2e-3, f"{_pairs(values):,} pairs of counts")

    heading("as the counts become different: time follows the pairs of distinct counts")
    for distinct in (1_000, 10_000, N):
        values = generator.permutation(np.arange(N) % distinct)
        (timing,) = alternate(lambda values=values: both.release(values), runs=11)
        each = timing.median / _pairs(values) * 1e9
        report(
            f"{distinct:,} distinct", timing.median, as_time, 0.15, f"{_pairs(values):,} pairs, {each:.2g} ns a pair"
        )
        extra = peak_beyond(lambda values=values: both.release(values), 0) / values.nbytes
        report(f"{distinct:,} distinct, memory", extra, "{:.2f}".format, 4.0, "times the counts, beyond kept tables")


def _pairs(values: np.ndarray) -> int:
    """Pairs of a distinct count among the k largest and one among the rest."""
    ranked = np.sort(values)[::-1]
    return len(np.unique(ranked[:K])) * len(np.unique(ranked[K:]))
