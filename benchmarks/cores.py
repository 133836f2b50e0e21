"""All cores against one, for work that uses more than one: draws and sums of more than a million values."""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np

import lastbit as lb
from benchmarks.measure import compare, heading
from lastbit.chance.parallel import core_count

N = 10**7
GAIN = 1.7
"""How many times as fast two cores should be."""


def on(number: int, work: Callable[[], object]) -> Callable[[], object]:
    """The work on so many cores."""

    def run_limited() -> None:
        before = os.environ.get("LASTBIT_CORES")
        os.environ["LASTBIT_CORES"] = str(number)
        try:
            work()
        finally:
            del os.environ["LASTBIT_CORES"]
            if before is not None:
                os.environ["LASTBIT_CORES"] = before

    return run_limited


def run() -> None:
    sampler, records = lb.Sampler(), np.random.default_rng().normal(50, 20, N)
    there = core_count()
    heading(f"{N:,} values on {there} cores, against one core; other work on the machine takes the gain away")
    if there < 2:
        print("One core is all there is, or LASTBIT_CORES says so: nothing to compare.")
        return
    rates = {scale: lb.Rate.from_epsilon(f"1/{scale}") for scale in (20, 2_000, 10**6)}
    works: dict[str, Callable[[], object]] = {
        f"Laplace, scale {scale:,}": lambda rate=rate: sampler.laplace(rate, N) for scale, rate in rates.items()
    }
    works["sum, resolution 1/1024"] = lambda: lb.exact_sum(records, bounds=(0, 100), resolution="1/1024")
    works["sum, resolution 1/1000000"] = lambda: lb.exact_sum(records, bounds=(-100, 100), resolution="1/1000000")
    for label, work in works.items():
        compare(label, on(there, work), on(1, work), against="one core", target=round(1 / GAIN, 2), runs=9)
