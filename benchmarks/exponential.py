"""The exact exponential mechanism against the naive one in NumPy floats, and against itself on wider ranges."""

from __future__ import annotations

import numpy as np

import lastbit as lb
from benchmarks.measure import alternate, as_time, compare, heading, peak_beyond, report

N = 75_000
MANY = 10**7
ROUNDED = 10**4


def naive(generator: np.random.Generator, epsilon: float, utilities: np.ndarray) -> int:
    """The base-2 paper's figure 1, every loop a NumPy call: float weights, their sums, one uniform float."""
    weights = np.exp(-(epsilon / 2.0) * utilities)
    shares = np.cumsum(weights) / weights.sum()
    return int(np.searchsorted(shares, generator.random()))


def run() -> None:
    sampler, generator = lb.Sampler(), np.random.default_rng()

    heading(f"one of {N:,} outcomes with utilities 0, …, {N - 1:,}, against NumPy floats")
    utilities = np.arange(N)
    cases = {
        "the paper's rate, 2^-utility": (lb.ExponentialMechanism(eta=lb.Eta(1, 1, 2)), 2 * np.log(2), 0.1),
        "epsilon 1": (lb.ExponentialMechanism(epsilon=1), 1.0, 0.1),
        "epsilon 1/100": (lb.ExponentialMechanism(epsilon="1/100"), 0.01, None),
        "epsilon 1/10,000": (lb.ExponentialMechanism(epsilon="1/10000"), 0.0001, None),
    }
    for label, (mechanism, epsilon, target) in cases.items():
        for kind in (np.int64, np.float64):
            scores, lower_is_better = -utilities.astype(kind), utilities.astype(kind)
            compare(
                f"{label}, {kind.__name__}",
                lambda mechanism=mechanism, scores=scores: mechanism.release(scores, sampler),
                lambda epsilon=epsilon, values=lower_is_better: naive(generator, epsilon, values),
                against="NumPy",
                target=target if kind is np.int64 else None,
            )
    print("Ilvento reports about 10 s for 75,000 outcomes in Rust (section 4.1, on 2 cores and 2 GB).")

    heading(f"scores between two steps, rounded at random: {ROUNDED:,} floats")
    randomized, halves = lb.ExponentialMechanism(epsilon=1, rounding="randomized"), generator.random(ROUNDED) * 100
    (timing,) = alternate(lambda: randomized.release(halves, sampler), runs=5)
    report("a score", timing.median / ROUNDED, as_time, 0.1e-6, f"±{timing.spread:.0%}, 5 runs")

    heading(f"one of {N:,} outcomes, scores in [0, 10^6) against scores in [0, 10^3)")
    near, far = (generator.integers(0, top, N) for top in (10**3, 10**6))
    for text in ("1", "1/1000"):
        mechanism = lb.ExponentialMechanism(epsilon=text)
        compare(
            f"epsilon {text}",
            lambda mechanism=mechanism: mechanism.release(far, sampler),
            lambda mechanism=mechanism: mechanism.release(near, sampler),
            against="10^3",
            target=1.2,
        )

    heading(f"one of {MANY:,} outcomes")
    mechanism = lb.ExponentialMechanism(epsilon="1/10")
    scores = generator.integers(0, 10**6, MANY)
    (timing,) = alternate(lambda: mechanism.release(scores, sampler), runs=5)
    print(f"{'int64 scores':<34} {as_time(timing.median):>8} ±{timing.spread:4.0%}  5 runs")
    beyond = peak_beyond(lambda: mechanism.release(scores, sampler), 0)
    report("memory beyond the scores", beyond / 1e6, "{:.2f} MB".format, 4.0, f"{scores.nbytes / 1e6:.0f} MB of scores")
