"""Ding et al., "Free Gap Information from the Differentially Private Sparse Vector and Noisy Max Mechanisms".

Algorithms 1 and 4, of sections 4.2 and 6.1.

Queries have sensitivity 1 and values on the grid of γ = 1; Laplace noise is discrete. The printed ε₀ = ε/2 is a
parameter `share` of ε here, because section 7.3 runs both algorithms with the share 1/(1 + (2k)^⅔) instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt

from lastbit.chance.draw import Draw
from lastbit.exact.numbers import Number, number
from lastbit.privacy.rate import Rate

Above = tuple[int, Fraction]
"""A gap, and the budget used."""


def sparse_vector_with_gap(
    draw: Draw, queries: Sequence[int], threshold: int, k: int, epsilon: Number, share: Number = "1/2"
) -> tuple[int | None, ...]:
    """Run Algorithm 1, with the box: the gap of every query above, and None for every query below.

    >>> import lastbit as lb
    >>> sparse_vector_with_gap(lb.Sampler(lb.Tape([1 << 62] * 3)), [0, 9], 5, 1, 1)
    (None, 6)
    """
    total = number(epsilon, "epsilon")
    epsilon_0 = number(share, "share") * total
    epsilon_1 = (total - epsilon_0) / (2 * k)
    count = 0
    noisy_threshold = threshold + draw.laplace(Rate.from_epsilon(epsilon_0))
    answers: list[int | None] = []
    for query in queries:
        noise = draw.laplace(Rate.from_epsilon(epsilon_1))
        if query + noise - noisy_threshold >= 0:
            answers.append(query + noise - noisy_threshold)
            count += 1
        else:
            answers.append(None)
        if count >= k:
            break
    return tuple(answers)


def adaptive_sparse_vector_with_gap(
    draw: Draw,
    queries: Sequence[int],
    threshold: int,
    k: int,
    epsilon: Number,
    share: Number = "1/2",
    *,
    spend_all: bool = False,
) -> tuple[Above | None, ...]:
    """Run Algorithm 4: the gap and the budget used for every query above, and None for every query below.

    Line 2 corrected (erratum B2): σ is two standard deviations of the noise ξ, here rounded up to the grid. Line 16
    corrected (erratum B1): the run ends when cost > ε - 2ε₂; as printed, k = 1 ends with its first query. Costs are
    exact fractions, so no sum of costs is rounded.

    So the algorithm gives at most 2k - 1 answers above, where section 6.1 speaks of up to 2k: it stops when its dearer
    branch cannot be paid. With `spend_all` it then goes on with the cheaper branch alone, and without σ, to its end.

    >>> import lastbit as lb
    >>> far, middle = [99] * 9, lb.Tape([1 << 62] * 99)
    >>> [len(adaptive_sparse_vector_with_gap(lb.Sampler(middle), far, 0, 1, 1, spend_all=each)) for each in (0, 1)]
    [1, 2]
    """
    total = number(epsilon, "epsilon")
    epsilon_0 = number(share, "share") * total
    epsilon_2 = (total - epsilon_0) / (2 * k)
    epsilon_1 = epsilon_2 / 2
    rate_1, rate_2 = Rate.from_epsilon(epsilon_1), Rate.from_epsilon(epsilon_2)
    sigma = _two_deviations(rate_1.fraction)
    noisy_threshold = threshold + draw.laplace(Rate.from_epsilon(epsilon_0))
    cost = epsilon_0
    answers: list[Above | None] = []
    for query in queries:
        dearer = cost <= total - 2 * epsilon_2
        xi = draw.laplace(rate_1)
        eta = draw.laplace(rate_2) if dearer else 0
        if query + xi - noisy_threshold >= (sigma if dearer else 0):
            answers.append((query + xi - noisy_threshold, 2 * epsilon_1))
            cost += 2 * epsilon_1
        elif dearer and query + eta - noisy_threshold >= 0:
            answers.append((query + eta - noisy_threshold, 2 * epsilon_2))
            cost += 2 * epsilon_2
        else:
            answers.append(None)
        if cost > total - 2 * (epsilon_1 if spend_all else epsilon_2):
            break
    return tuple(answers)


def _two_deviations(r: Fraction) -> int:
    """Return the least whole number whose square is at least four times the variance 2r/(1-r)²."""
    square = 4 * 2 * r / (1 - r) ** 2
    return isqrt(-(-square.numerator // square.denominator) - 1) + 1
