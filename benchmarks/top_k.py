"""Noisy top-k with exact noise and gaps, against NumPy's inexact noise and OpenDP's exact one without gaps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import lastbit as lb
from benchmarks.measure import alternate, as_time, compare, heading, peak_beyond, repeat, report

N, K = 41_270, 100
"""The candidates of the paper's largest data set, Kosarak."""

PUBLISHED = """published, on other machines, for the same n and k (epsilon 1, resolution 1/10):
  Ding et al., A Floating-Point Secure Implementation of the Report Noisy Max with Gap Mechanism, Table 4:
  455 ms secure with early pruning, 482 ms secure, 97 ms for its insecure NumPy baseline"""


def counts(n: int) -> NDArray[np.int64]:
    """Counts with a long tail, like those of items in baskets."""
    return (np.random.default_rng(n).pareto(1, n) * 10).astype(np.int64)


def insecure(values: NDArray[np.int64], k: int, generator: np.random.Generator) -> tuple[list[int], list[float]]:
    """The same selection with floating-point exponential noise."""
    noisy = values + generator.exponential(2 * k, len(values))
    top = np.argpartition(noisy, -k - 1)[-k - 1 :]
    top = top[np.argsort(noisy[top])[::-1]]
    return top[:k].tolist(), (noisy[top[:-1]] - noisy[top[1:]]).tolist()


def run() -> None:
    generator, sampler = np.random.default_rng(), lb.Sampler()
    values = counts(N)

    heading(f"top {K} of {N:,} with gaps, epsilon 1, resolution 1/10")
    mechanism = lb.NoisyTopK(k=K, epsilon=1)
    compare(
        "exponential noise, exact", lambda: mechanism.release(values, sampler), lambda: insecure(values, K, generator),
        against="NumPy", target=0.7, runs=101,
    )  # fmt: skip
    print(PUBLISHED)
    _opendp(mechanism, values)

    heading("top 5 of a few, 100 releases at a time")
    five = lb.NoisyTopK(k=5, epsilon=1)
    for n in (10, 100, 1_000, 2_000):
        few = counts(n)
        compare(
            f"n = {n:,}",
            repeat(lambda few=few: five.release(few), 100),
            repeat(lambda few=few: insecure(few, 5, generator), 100),
            against="NumPy",
            target=1.0,
            runs=51,
        )

    heading("as k grows, n the same")
    for k in (200, 400, 800):
        larger = lb.NoisyTopK(k=k, epsilon=1)
        compare(
            f"k = {k}", lambda larger=larger: larger.release(values), lambda: mechanism.release(values),
            against=f"k = {K}", target=1.2, runs=51,
        )  # fmt: skip

    heading(f"as n grows, k = {K}")
    for n in (10**5, 10**6, 10**7):
        many = counts(n)
        timing, base = alternate(lambda many=many: mechanism.release(many), lambda: mechanism.release(values), runs=3)
        growth = (timing.median / n) / (base.median / N)
        report(
            f"n = {n:,}, time a candidate", growth, "{:.2f}".format, 1.5, f"of that at {N:,}; {as_time(timing.median)}"
        )
        extra = peak_beyond(lambda many=many: mechanism.release(many), 0) / many.nbytes
        report(f"n = {n:,}, memory", extra, "{:.2f}".format, 3.0, "times the input, at the peak")

    heading(f"select and measure {K} of {N:,}, against selecting alone")
    measuring = lb.SelectAndMeasure(k=K, epsilon=1)
    compare(
        "with estimates", lambda: measuring.release(values).estimates, lambda: mechanism.release(values).gaps,
        against="top-k", target=None,
    )  # fmt: skip


def _opendp(mechanism: lb.NoisyTopK, values: NDArray[np.int64]) -> None:
    try:
        import opendp.prelude as dp
    except ImportError:
        print("OpenDP is not installed here: `make bench` installs it. It took about 7.5 s without gaps elsewhere.")
        return
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
    theirs = dp.m.make_noisy_top_k(*space, dp.max_divergence(), k=mechanism.k, scale=2.0 * mechanism.k)
    plain = values.tolist()
    compare(
        "against exact noise, no gaps", lambda: mechanism.release(values), lambda: theirs(plain),
        against="OpenDP", target=None, runs=2,
    )  # fmt: skip
