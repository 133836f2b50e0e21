"""Does the time of a release tell what it ran on? A test in the style of dudect, for every mechanism's release.

Two inputs, measured in a random order, interleaved in one process; the slowest measurements, which are the machine's,
are cropped at several places; Welch's t says how far apart the means are. |t| above 4.5 is taken for a leak; below,
none was seen with this many measurements on this machine, which is not a proof that there is none.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence

import numpy as np

import lastbit as lb
from benchmarks.measure import heading, machine

MEASUREMENTS = 20_000
CROPS = (1.0, 0.99, 0.95, 0.9, 0.8, 0.5)
LEAK = 4.5
N = 64

Release = Callable[[object], object]


def pairs() -> dict[str, tuple[Release, object, object]]:
    """A release, and two inputs of the same public shape: all equal, and far apart."""
    low, high = np.full(N, 5000, np.int64), 5000 + np.arange(N, dtype=np.int64) * 1000
    made: dict[str, tuple[Release, object, object]] = {}

    def add(name: str, build: Callable[[], object], one: object, other: object) -> None:
        if hasattr(lb, name):
            made[name] = (build().release, one, other)  # type: ignore[attr-defined]

    add("DiscreteLaplace", lambda: lb.DiscreteLaplace(epsilon=1), low, high)
    add("ExponentialMechanism", lambda: lb.ExponentialMechanism(epsilon=1), low, high)
    add("NoisyMax", lambda: lb.NoisyMax(epsilon=1), low, high)
    add("NoisyTopK", lambda: lb.NoisyTopK(k=4, epsilon=1), low, high)
    add("SelectAndMeasure", lambda: lb.SelectAndMeasure(k=4, epsilon=1), low, high)
    add("SparseVector", lambda: lb.SparseVector(threshold=10**6, limit=4, epsilon=1), low, high)
    add("AdaptiveSparseVector", lambda: lb.AdaptiveSparseVector(threshold=10**6, limit=4, epsilon=1), low, high)
    add("Snapping", lambda: lb.Snapping(epsilon=1, bounds=(-100, 100)), 0.0, 77.25)
    return made


def measure(release: Release, one: object, other: object, n: int) -> tuple[list[int], list[int]]:
    """Nanoseconds of n releases, each on one of the two inputs by the toss of a coin."""
    taken: tuple[list[int], list[int]] = ([], [])
    tosses = np.random.default_rng().integers(2, size=n).tolist()
    for _ in range(200):
        release(one)
        release(other)
    clock = time.perf_counter_ns
    for toss in tosses:
        given = other if toss else one
        start = clock()
        release(given)
        taken[toss].append(clock() - start)
    return taken


def welch(one: Sequence[float], other: Sequence[float]) -> float:
    """Welch's t: the difference of the means over its standard error.

    Both sides need two measurements at least.
    """
    error = statistics.variance(one) / len(one) + statistics.variance(other) / len(other)
    return (statistics.fmean(one) - statistics.fmean(other)) / math.sqrt(error) if error else 0.0


def largest_t(one: Sequence[int], other: Sequence[int]) -> float:
    """The largest |t| over all crops, each at a quantile of both sides together."""
    together = sorted([*one, *other])
    found = []
    for crop in CROPS:
        most = together[min(len(together) - 1, int(crop * len(together)))]
        kept = [[float(each) for each in side if each <= most] for side in (one, other)]
        if min(map(len, kept)) > 100:
            found.append(welch(kept[0], kept[1]))
    return max(found, key=abs)


def run(measurements: int = MEASUREMENTS) -> None:
    heading(f"Welch's t on {measurements:,} releases of {N} values, two inputs interleaved, cropped")
    control = pairs()["DiscreteLaplace"]
    zeros = np.zeros(N, np.int64)
    rows = {
        "DiscreteLaplace, one input twice": (control[0], control[1], control[1]),
        "DiscreteLaplace, zeros": (control[0], zeros, control[2]),
        **pairs(),
    }
    for name, (release, one, other) in rows.items():
        first, second = measure(release, one, other, measurements)
        t = largest_t(first, second)
        medians = statistics.median(first) / 1e3, statistics.median(second) / 1e3
        seen = "a leak" if abs(t) > LEAK else "no leak seen"
        print(f"{name:<34} t {t:8.2f}  medians {medians[0]:.1f} and {medians[1]:.1f} µs  {seen}", flush=True)


if __name__ == "__main__":
    print(machine("lastbit", "numpy"))
    run()
