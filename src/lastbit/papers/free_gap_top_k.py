"""Ding et al., Free Gap Information from the Differentially Private Sparse Vector and Noisy Max Mechanisms, section 5.

Queries and gaps are whole numbers of steps of the base γ; `per_unit` steps are 1. The paper's noise is continuous.
Here it has its finite form (5.1, implementation issues), discrete Laplace noise with base γ. Then ties happen, and the
guarantee fails with a probability of at most ε·γ·n². NoisyTopK has no such failure.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from lastbit.chance.draw import Draw
from lastbit.privacy.cost import Cost


def noisy_max_with_gap(queries: Sequence[int], cost: Cost, per_unit: int, draw: Draw) -> tuple[int, int]:
    """Run Algorithm 2: the largest noisy query and its lead on the runner-up.

    >>> from lastbit import Sampler
    >>> noisy_max_with_gap([500, 0, 900], Fraction(1), 1, Sampler())[0]
    2
    """
    return noisy_top_k_with_gap(queries, 1, cost, per_unit, draw)[0]


def noisy_top_k_with_gap(
    queries: Sequence[int], k: int, cost: Cost, per_unit: int, draw: Draw
) -> tuple[tuple[int, int], ...]:
    """Run Algorithm 3: the k largest noisy queries, each with its lead on the next.

    Erratum C4, in the alignment of its proof: the second maximum of equation 4 is over the losers too.

    >>> from lastbit import Sampler
    >>> [j for j, gap in noisy_top_k_with_gap([500, 0, 900], 2, Fraction(1), 1, Sampler())]
    [2, 0]
    """
    rate = Cost.of(cost).rate(Fraction(1, 2 * k * per_unit))  # Lap(2k/ε)
    noisy = [query + draw.laplace(rate) for query in queries]  # 2-4
    order = sorted(range(len(queries)), key=lambda i: -noisy[i])[: k + 1]  # 5
    return tuple((i, noisy[i] - noisy[j]) for i, j in pairwise(order))  # 6-8


def blue_of_theorem_3(measurements: Sequence[Fraction], gaps: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Compute Theorem 3, by its matrices X and Y: the BLUE when the gap
    noise has four times the measurements' variance.

    Erratum C4, in its proof (A.7): the variances 8k²/ε and 32k²/ε are over ε².

    >>> blue_of_theorem_3([Fraction(10), Fraction(5)], [Fraction(5)])
    (Fraction(10, 1), Fraction(5, 1))
    """
    k = len(measurements)
    estimates = []
    for i in range(k):
        x = [1 + 4 * k if j == i else 1 for j in range(k)]
        y = [(k - 1 - j) - (k if j < i else 0) for j in range(k - 1)]
        total = sum(a * b for a, b in zip(x, measurements, strict=True))
        estimates.append(Fraction(total + sum(a * b for a, b in zip(y, gaps, strict=True)), 5 * k))
    return tuple(estimates)
