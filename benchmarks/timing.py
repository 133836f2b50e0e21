"""Does the time of a release tell what it ran on? A test in the style of dudect, for every mechanism's release.

Each mechanism is timed on four pairs of inputs. The two inputs of a pair come in a random order, interleaved in one
process, and are copied into the same memory before the clock starts, so that only their values differ. The slowest
measurements, which are the machine's, are cropped at several places; Welch's t says how far apart the means are. |t|
above 4.5 is taken for a leak; below, none was seen with this many measurements on this machine, which is not a proof
that there is none.
"""

from __future__ import annotations

import argparse
import gc
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lastbit as lb
from benchmarks.measure import heading, machine

RELEASES = 100_000
"""Releases on each side of a pair."""
CROPS = (1.0, 0.99, 0.95, 0.9, 0.8, 0.5)
LEAK = 4.5
LINE = 4096
"""Bytes of a page, which caches and stores look at the place in."""
N = 64

Values = NDArray[Any]
Pairs = dict[str, tuple[Values, Values]]


def several() -> Pairs:
    """Pairs of N whole numbers."""
    places, zeros = np.arange(N, dtype=np.int64), np.zeros(N, np.int64)
    first, last = zeros.copy(), zeros.copy()
    first[0] = last[-1] = 100_000
    return {
        "all equal, spread": (zeros + 5000, 5000 + 1000 * places),
        "close, far": (5000 + places, 5000 + 1_000_000 * places),
        "zeros, large": (zeros, zeros + 10**9),
        "winner first, last": (first, last),
    }


def single() -> Pairs:
    """Pairs of one float, within bounds of -100 and 100."""
    chosen = {
        "0, 77.25": (0.0, 77.25),
        "50, 50.3": (50.0, 50.3),
        "1e-300, 99.9": (1e-300, 99.9),
        "-100, 100": (-100.0, 100.0),
    }
    return {name: (np.array([one]), np.array([other])) for name, (one, other) in chosen.items()}


def mechanisms() -> dict[str, tuple[lb.Mechanism[Any], Pairs]]:
    """Every mechanism, and its pairs. Sparse vectors publish the same on both sides: nothing is above the threshold."""
    many, above = several(), 10**12
    return {
        "DiscreteGaussian": (lb.DiscreteGaussian(rho="1/2", squared_sensitivity=N), many),
        "DiscreteLaplace": (lb.DiscreteLaplace(epsilon=1), many),
        "ExponentialMechanism": (lb.ExponentialMechanism(epsilon=1), many),
        "NoisyMax": (lb.NoisyMax(epsilon=1), many),
        "NoisyMean": (lb.NoisyMean(epsilon=1, bounds=(0, 10**6)), many),
        "NoisyTopK": (lb.NoisyTopK(k=4, epsilon=1), many),
        "SubsetTopK": (lb.SubsetTopK(k=4, epsilon=1), many),
        "SelectAndMeasure": (lb.SelectAndMeasure(k=4, epsilon=1), many),
        "SparseVector": (lb.SparseVector(threshold=above, limit=4, epsilon=1), many),
        "AdaptiveSparseVector": (lb.AdaptiveSparseVector(threshold=above, limit=4, epsilon=1), many),
        "Snapping": (lb.Snapping(epsilon=1, bounds=(-100, 100)), single()),
    }


def side_by_side(*inputs: Values) -> list[Values]:
    """Copies that begin at the same place of a cache line: where an array is must not look like what it holds."""
    size = -(-inputs[0].nbytes // LINE) * LINE
    room = np.zeros(LINE + len(inputs) * size, np.uint8)
    start = -room.ctypes.data % LINE
    copies = []
    for place, values in enumerate(inputs):
        begin = start + place * size
        copies.append(room[begin : begin + values.nbytes].view(values.dtype))
        copies[-1][:] = values
    return copies


def measure(release: Callable[[Any], object], one: Values, other: Values, n: int) -> tuple[Values, Values]:
    """Nanoseconds of n releases on each of two inputs, in an order drawn by lot."""
    order = np.random.default_rng().permutation(np.repeat([0, 1], n))
    taken, given, inputs = np.empty(2 * n, np.int64), np.empty_like(one), side_by_side(one, other)
    for warming in range(400):
        given[:] = inputs[warming % 2]
        release(given)
    clock = time.perf_counter_ns
    # The collector would come after so many allocations, whichever input made them.
    gc.collect()
    gc.disable()
    try:
        for i, side in enumerate(order.tolist()):
            given[:] = inputs[side]
            start = clock()
            release(given)
            taken[i] = clock() - start
    finally:
        gc.enable()
    return taken[order == 0], taken[order == 1]


def welch(one: Values, other: Values) -> float:
    """Welch's t: the difference of the means over its standard error.

    Both sides need two measurements at least.
    """
    error = one.var(ddof=1) / len(one) + other.var(ddof=1) / len(other)
    return float((one.mean() - other.mean()) / math.sqrt(error)) if error else 0.0


def largest_t(one: Values, other: Values) -> float:
    """The largest |t| over all crops, each at a quantile of both sides together."""
    together = np.sort(np.concatenate((one, other)))
    found = []
    for crop in CROPS:
        most = together[min(len(together) - 1, int(crop * len(together)))]
        kept = one[one <= most], other[other <= most]
        if min(map(len, kept)) > 100:
            found.append(welch(*kept))
    return max(found, key=abs)


def run(releases: int = RELEASES, only: str | None = None) -> None:
    heading(f"Welch's t on {releases:,} releases a side, {N} values or one, two inputs interleaved, cropped")
    for name, (mechanism, pairs) in mechanisms().items():
        if only not in (None, name):
            continue
        first = next(iter(pairs.values()))[0]
        for pair, (one, other) in {"one input twice": (first, first), **pairs}.items():
            taken = measure(mechanism.release, one, other, releases)
            t, (low, high) = largest_t(*taken), (float(np.median(side)) / 1e3 for side in taken)
            seen = "a leak" if abs(t) > LEAK else "no leak seen"
            print(f"{name:<21} {pair:<19} t {t:7.2f}  medians {low:.2f} and {high:.2f} µs  {seen}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.timing", description=__doc__)
    parser.add_argument("--releases", type=int, default=RELEASES, help="releases on each side of a pair")
    parser.add_argument("--only", choices=list(mechanisms()), help="time one mechanism")
    options = parser.parse_args()
    print(machine("lastbit", "numpy"))
    run(options.releases, options.only)


if __name__ == "__main__":
    main()
