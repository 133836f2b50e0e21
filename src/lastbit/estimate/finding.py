"""How many of the k largest each way of selecting finds, for a shape of counts that a person states.

Floats: these numbers help to choose, before anything is spent, and nothing is promised from them. The law of a set is
summed over all of its cells. For noise on every item the number is found from where the noisy values are cut, which
holds well from a k of about 10 on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lastbit.chance.layers import runs_of
from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, flag, number, positive, whole
from lastbit.privacy import zcdp
from lastbit.privacy.cost import Cost

Floats = NDArray[np.float64]
Way = Literal["noise", "both", "left-out"]


@dataclass(frozen=True)
class Found:
    """The expected number of the k largest that each way of selecting finds. Items as large as the k-th are among them.

    >>> found = expected_found(zipf_counts(5_000, 50_000), 100, Cost.of(1))
    >>> found.best
    'both'
    >>> print(found)
    Of the 100 largest, noise on each item finds about 85.6, a set by both counts 100.0, a set by the one left out 89.6.
    """

    k: int
    noise: float
    both: float
    left_out: float

    @property
    def best(self) -> Way:
        """The way that finds most."""
        ways: dict[Way, float] = {"noise": self.noise, "both": self.both, "left-out": self.left_out}
        return max(ways, key=lambda way: ways[way])

    def __str__(self) -> str:
        return (
            f"Of the {self.k} largest, noise on each item finds about {self.noise:.1f}, a set by both counts "
            f"{self.both:.1f}, a set by the one left out {self.left_out:.1f}."
        )


def zipf_counts(n: int, top: Number, exponent: Number = 1) -> NDArray[np.int64]:
    """Return the counts of n items of which the i-th has top/i^exponent,
    rounded down: the shape of words, pages and names.

    >>> zipf_counts(5, 100).tolist()
    [100, 50, 33, 25, 20]
    """
    n, largest = whole(n, "n"), positive(top, "top", "It is the largest count.")
    fall = float(number(exponent, "exponent"))
    # A hair up: 100/25 in floats may be just below 4.
    shape: Floats = np.floor(float(largest) / np.arange(1, n + 1) ** fall * (1 + 1e-12))
    return shape.astype(np.int64)


def expected_found(counts: Any, k: int, cost: Cost, *, sensitivity: Number = 1, monotone: bool = True) -> Found:
    """Return how many of the k largest of these counts are found, for the same cost.

    The counts are stated by a person, as a guess of their shape: what comes out is as public as they are.

    >>> expected_found([5, 4, 3, 1, 1, 1, 0, 0], 3, Cost.of(1)).best
    'noise'
    """
    negatives = np.negative(np.asarray(counts, np.int64))
    negatives.sort()
    n, k = len(negatives), whole(k, "k")
    if not k < n:
        raise ParameterError(f"k must be less than the number of counts: got {k} of {n}.")
    targets = int(np.searchsorted(negatives, negatives[k - 1], side="right"))
    values = -negatives.astype(np.float64)
    apart = float(positive(sensitivity, "sensitivity", "It is how far one person can move a count.")) * (
        2 - flag(monotone, "monotone")
    )
    pure = float(cost.amount or Fraction(0))
    range_epsilon = float(zcdp.range_epsilon_for(cost.rho)) if cost.in_rho else pure
    edges, negative_counts = runs_of(negatives)

    def of_set(p: int, q: int) -> float:
        if k == 1 or k == n - 1:
            p, q = (0, 1) if k == 1 else (1, 0)
        loss = range_epsilon / (apart * (p + q))
        return _hits_by_set(edges, negative_counts, k, targets=targets, p=p, q=q, loss=loss)

    return Found(k, _hits_by_noise(values, k, targets, pure / (apart * k)), of_set(1, 1), of_set(1, 0))


def _hits_by_set(
    edges: NDArray[np.int64], negative_counts: NDArray[np.int64], k: int, *, targets: int, p: int, q: int, loss: float
) -> float:
    """Return the expected number of the first `targets` ranks in a
    set: from the law of the cells of `chance.layers`.
    """
    last = int(np.searchsorted(edges, k))
    first = last + int(edges[last] == k)
    starts = np.append(0, edges[:last]) if p else np.zeros(1, np.int64)
    heads = negative_counts[: last + 1] if p else np.zeros(1, np.int64)
    ends = edges[first:] if q else edges[-1:]
    tails = negative_counts[first:] if q else np.zeros(1, np.int64)
    lead = loss * (p + q) * float(negative_counts[first] - negative_counts[last])
    factorials = np.append(0.0, np.cumsum(np.log(np.arange(1, edges[-1] + 1))))
    rows = -loss * (heads[-1] - heads) + _log_rest(np.append(np.inf, np.diff(heads) * loss)) - factorials[k - starts]
    columns = -loss * (tails - tails[0]) + _log_rest(np.append(np.diff(tails) * loss, np.inf)) - factorials[ends - k]
    # The first k ranks alone, then row by row: as many as all pairs would be too many at once.
    parts = [(_log_rest(np.array([lead]))[0], float(k))]
    for start, row in zip(starts.tolist(), rows.tolist(), strict=True):
        weights = row + columns + factorials[ends - start] - lead
        most = float(weights.max())
        shares = np.exp(weights - most)
        hits = start + (k - start) * (targets - start) / (ends - start)
        total = float(shares.sum())
        parts.append((most + math.log(total), float((shares * hits).sum()) / total))
    most = max(weight for weight, _ in parts)
    weights = [math.exp(weight - most) for weight, _ in parts]
    return math.fsum(weight * hits for weight, (_, hits) in zip(weights, parts, strict=True)) / math.fsum(weights)


def _log_rest(losses: Floats) -> Floats:
    """Return ln(1 - e^-loss); minus infinity where the loss is 0."""
    with np.errstate(divide="ignore"):
        return np.log(-np.expm1(-losses))


def _hits_by_noise(values: Floats, k: int, targets: int, loss: float) -> float:
    """Return the expected number of the first `targets` ranks that are above where the noisy values are cut for k."""

    def above(cut: float) -> Floats:
        return np.exp(-loss * np.maximum(0, cut - values))

    low, high = float(values[-1]), float(values[0]) + (math.log(len(values)) + 1) / loss
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if above(middle).sum() > k else (low, middle)
    return float(above(high)[:targets].sum())
