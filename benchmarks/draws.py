"""Exact draws against NumPy's inexact ones, and against OpenDP's exact ones."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import lastbit as lb
from benchmarks.measure import alternate, as_time, compare, heading, peak_beyond, report, seconds_of_command
from lastbit.chance.gaussian import Gaussian
from lastbit.chance.threshold_table import ThresholdTable

N = 10**6
TARGETS = {20: (0.2, 0.2), 2_000: (0.4, 0.4), 10**6: (0.35, 0.35), 10**12: (0.9, 0.9)}
GAUSSIAN_TARGETS = {20: 0.7, 700: None, 20_000: None, 1 << 16: None}


def run() -> None:
    sampler, generator = lb.Sampler(), np.random.default_rng()

    heading(f"{N:,} draws in one call, against NumPy's Generator")
    for scale, (geometric_target, laplace_target) in TARGETS.items():
        rate = lb.Rate.from_epsilon(f"1/{scale}")
        p = -np.expm1(-1 / scale)
        compare(
            f"geometric, scale {scale:,}",
            lambda rate=rate: sampler.geometric(rate, N),
            lambda p=p: generator.geometric(p, N),
            against="NumPy",
            target=geometric_target,
        )
        compare(
            f"Laplace, scale {scale:,}",
            lambda rate=rate: sampler.laplace(rate, N),
            lambda scale=scale: generator.laplace(0, scale, N),
            against="NumPy",
            target=laplace_target,
        )
    for deviation, gaussian_target in GAUSSIAN_TARGETS.items():
        rate = lb.Rate.from_epsilon(Fraction(1, 2 * deviation**2))
        compare(
            f"Gaussian, deviation {deviation:,}",
            lambda rate=rate: sampler.gaussian(rate, N),
            lambda deviation=deviation: np.rint(generator.standard_normal(N) * deviation),
            against="NumPy",
            target=gaussian_target,
        )
    compare(
        "uniform below 1,000", lambda: sampler.integer(1000, N), lambda: generator.integers(1000, size=N),
        against="NumPy", target=None,
    )  # fmt: skip
    compare(
        "permutation", lambda: sampler.permutation(N), lambda: generator.permutation(N), against="NumPy", target=None
    )

    heading("the table of a discrete Gaussian, built once for each rate")
    for deviation in (1, 70, 700, 20_000, 1 << 16):
        law = Gaussian(lb.Rate.from_epsilon(Fraction(1, 2 * deviation**2)))
        (timing,) = alternate(lambda law=law: ThresholdTable.of(law), runs=5)
        report(f"deviation {deviation:,}", timing.median, as_time, 5.0, f"±{timing.spread:.0%}, 5 runs")

    heading("memory and start")
    for scale in (20, 10**6):
        rate = lb.Rate.from_epsilon(f"1/{scale}")
        extra = peak_beyond(lambda rate=rate: sampler.laplace(rate, N), 8 * N)
        report(f"beyond the result, scale {scale:,}", extra / 1e6, "{:.2f} MB".format, 4.0, f"Laplace, {N:,} draws")
    rate = lb.Rate.from_epsilon("1/20")
    for label, work in {
        "one geometric draw": lambda: sampler.geometric(rate),
        "one Laplace draw": lambda: sampler.laplace(rate),
        "one uniform integer": lambda: sampler.integer(6),
        "one weighted index of three": lambda: sampler.index((1, 2, 3)),
    }.items():
        (timing,) = alternate(lambda work=work: [work() for _ in range(1000)], runs=21)
        report(label, timing.median / 1000, as_time, 10e-6, f"±{timing.spread:.0%}, 21 runs of 1,000")
    loaded, empty = seconds_of_command("-c", "import lastbit"), seconds_of_command("-c", "pass")
    report("import lastbit", loaded.median - empty.median, as_time, 0.25, "a fresh Python less an empty one, 9 runs")

    heading("10,000 Laplace draws at scale 20, against OpenDP")
    try:
        import opendp.prelude as dp
    except ImportError:
        print("OpenDP is not installed here: `make bench` installs it.")
        return
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    theirs = dp.m.make_laplace(*space, scale=20.0)
    zeros = [0] * 10_000
    compare(
        "Laplace, scale 20", lambda: sampler.laplace(rate, 10_000), lambda: theirs(zeros),
        against="OpenDP", target=None, runs=9,
    )  # fmt: skip
