"""How other libraries find items that nobody listed, from their published definitions, in floats.

Each says with which probability an item of so many people is told, at (epsilon, delta), where one person counts in at
most `most` items. Nothing is sampled. All are for people who come or go.

- Desfontaines, Voss, Gipson and Mandayam, *Differentially Private Partition Selection*, theorem 1: of all ways that
  look at an item's count only, the one that tells most. It tells items, without counts. In Google's library it is the
  near truncated geometric partition selection, with epsilon/most and 1 - (1 - delta)^(1/most) for one item.
- Google's differential privacy library, Laplace and Gaussian partition selection: an item is told, with its noisy
  count, where that is above a threshold.
- OpenDP, make_laplace_threshold: the same with discrete Laplace noise, from the threshold on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import NormalDist

Kept = Callable[[int], float]
"""The probability that an item of so many people is told."""


@dataclass(frozen=True)
class Threshold:
    """Items whose count with noise passes a threshold."""

    threshold: float
    scale: float
    """Of Laplace noise; of Gaussian noise, the standard deviation."""
    kept: Kept


def of_one_item(delta: float, most: int) -> float:
    """The delta of each of `most` items."""
    return -math.expm1(math.log1p(-delta) / most)


def best_selection(epsilon: float, delta: float, most: int) -> Kept:
    """Items without counts, as in theorem 1: as likely as the counts of two neighbours allow, step by step."""
    known = list(_best(epsilon / most, of_one_item(delta, most)))
    return lambda people: known[people] if people < len(known) else 1.0


def _best(epsilon: float, delta: float) -> Iterator[float]:
    odds, kept = math.exp(epsilon), 0.0
    while kept < 1:
        yield kept
        kept = min(odds * kept + delta, 1 - (1 - kept - delta) / odds, 1.0)
        # At most so many steps of a float: what is left is told as good as surely.
        if 1 - kept < 1e-12:
            return


def google_laplace(epsilon: float, delta: float, most: int) -> Threshold:
    """Items with their noisy counts: continuous noise, above the threshold."""
    scale = most / epsilon
    threshold = 1 - scale * math.log(2 * of_one_item(delta, most))

    def kept(people: int) -> float:
        short = (threshold - people) / scale
        return math.exp(-short) / 2 if short >= 0 else 1 - math.exp(short) / 2

    return Threshold(threshold, scale, kept)


def google_gaussian(epsilon: float, delta: float, most: int) -> Threshold:
    """Items with their noisy counts: half of delta for the noise, half for the threshold."""
    deviation = gaussian_deviation(epsilon, delta / 2, math.sqrt(most))
    noise = NormalDist(0, deviation)
    threshold = 1 - noise.inv_cdf(of_one_item(delta / 2, most))
    return Threshold(threshold, deviation, lambda people: noise.cdf(people - threshold))


def gaussian_deviation(epsilon: float, delta: float, sensitivity: float) -> float:
    """The least standard deviation that keeps (epsilon, delta), by the exact formula of Balle and Wang (2018)."""

    def spent(deviation: float) -> float:
        half, normal = sensitivity / (2 * deviation), NormalDist()
        shift = epsilon * deviation / sensitivity
        return normal.cdf(half - shift) - math.exp(epsilon) * normal.cdf(-half - shift)

    low, high = 0.0, 1.0
    while spent(high) > delta:
        low, high = high, 2 * high
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if spent(middle) > delta else (low, middle)
    return high


def opendp_laplace(epsilon: float, delta: float, most: int) -> Threshold:
    """Items with their noisy counts: the least whole threshold whose stated delta is kept.

    The delta that it states is that of noise above threshold - 1, strictly.
    """
    scale = most / epsilon
    rate = math.exp(-1 / scale)
    # The probability of noise above t is rate^(t+1)/(1+rate).
    threshold = 1 + math.ceil(math.log(of_one_item(delta, most) * (1 + rate)) / math.log(rate) - 1)

    def kept(people: int) -> float:
        return laplace_at_least(rate, threshold - people)

    return Threshold(threshold, scale, kept)


def laplace_at_least(rate: float, steps: int) -> float:
    """The probability that discrete Laplace noise of this rate is at least so many steps."""
    return rate**steps / (1 + rate) if steps > 0 else 1 - rate ** (1 - steps) / (1 + rate)


def needed_people(kept: Kept, level: float) -> int:
    """The least number of people with which an item is told with this probability."""
    low, high = 0, 1
    while kept(high) < level:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if kept(middle) >= level else (middle, high)
    return high
