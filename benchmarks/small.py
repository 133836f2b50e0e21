"""Releases of few values, where the time is that of Python around the draw; and the search among unlisted items."""

from __future__ import annotations

from typing import Any

import numpy as np

import lastbit as lb
from benchmarks.exponential import naive
from benchmarks.measure import compare, heading, repeat

TIMES, ITEMS = 200, 10**5


def run() -> None:
    chance = np.random.default_rng(1)
    heading("few values, against NumPy floats")
    for n in (10, 1000):
        values = chance.integers(0, 1000, n)
        floats, mean = values + 0.5, lb.NoisyMean(epsilon=1, bounds=(0, 1000))

        def noisy_mean(values: Any = values) -> Any:
            first, second = chance.laplace(scale=1000, size=2)
            return (np.clip(values, 0, 1000).sum() + first) / (len(values) + second / 500)

        for label, ours, theirs in (
            (f"NoisyMean of {n:,}", lambda m=mean, v=values: m.release(v), noisy_mean),
            (
                f"exact_sum of {n:,} floats",
                lambda v=floats: lb.exact_sum(v, bounds=(0, 1000), resolution="1/100"),
                lambda v=floats: np.clip(v, 0, 1000).sum(),
            ),
        ):
            compare(label, repeat(ours, TIMES), repeat(theirs, TIMES), against="NumPy", target=3)
    for n in (10, 100):
        scores = chance.integers(0, 100, n)
        best = lb.ExponentialMechanism(epsilon=1)
        compare(
            f"one of {n} outcomes",
            repeat(lambda m=best, s=scores: m.release(s), TIMES),
            repeat(lambda s=-scores: naive(chance, 1.0, s), TIMES),
            against="NumPy",
            target=1,
        )
    rate = lb.Rate.from_epsilon("1/10")
    candidates = [lambda draw, place=place: (place, 50 + draw.laplace(rate)) for place in range(10)]
    selection = lb.PrivateSelection(candidates=candidates, candidate_cost="1/10", most=199)

    def best_of_rounds() -> tuple[float, int]:
        rounds = range(chance.integers(1, 200))
        return max((50 + chance.laplace(scale=10), int(chance.integers(10))) for _ in rounds)

    # The number of rounds is drawn: a few hundred releases have about as many on either side.
    ours, theirs = repeat(selection.release, 100), repeat(best_of_rounds, 100)
    compare("PrivateSelection, up to 199 rounds", ours, theirs, against="NumPy", target=3)
    heading(f"DiscoverHistogram, {ITEMS:,} items, against NumPy floats that are not sorted")
    counts = chance.integers(1, 10**6, ITEMS)
    items = tuple(f"item {place}" for place in range(ITEMS))
    table = lb.Unlisted.of(dict(zip(items, counts.tolist(), strict=True)), most_items=1)
    for label, cost, noise in (("epsilon", {"epsilon": 1}, chance.laplace), ("rho", {"rho": "1/2"}, chance.normal)):
        search = lb.DiscoverHistogram(**cost, delta="1e-6", most_items=1)

        def insecure(noise: Any = noise) -> Any:
            noisy = counts + noise(size=ITEMS)
            places = np.flatnonzero(noisy > 20)
            return [items[place] for place in places], noisy[places]

        compare(label, lambda search=search: search.release(table), insecure, against="NumPy", target=1.5)
