"""Ding et al., A Floating-Point Secure Implementation of the Report Noisy Max with Gap Mechanism.

Queries and gaps are whole numbers of γ* steps; `per_unit` steps are 1. Candidates are numbered from 0. The paper asks
for sensitivity 1 and for more than k queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cmp_to_key, lru_cache
from itertools import pairwise

from lastbit.chance.draw import Draw
from lastbit.privacy.cost import Cost
from lastbit.privacy.rate import Rate

Answer = tuple[tuple[int, int], ...]
"""(j₁, g₁), …, (jₖ, gₖ)."""


@lru_cache
def _rate(cost: Cost, k: int, per_unit: int, refined: int) -> Rate:
    """Return e^(-ε·γ/2k) for γ = γ*/refined."""
    return Cost.of(cost).rate(Fraction(1, 2 * k * per_unit * refined))


class _Exponential:
    """Exp(2k/ε) to as many binary digits as the caller asks for: whole steps, halves, quarters, … (Lemma 5.7)."""

    def __init__(self, cost: Cost, k: int, per_unit: int, draw: Draw) -> None:
        self._parameters, self._draw = (cost, k, per_unit), draw
        self.whole = draw.geometric(_rate(*self._parameters, 1))
        self._digits: list[int] = []

    def digit(self, i: int) -> int:
        """Return the digit that counts 2^-(i+1) steps."""
        while len(self._digits) <= i:
            rate = _rate(*self._parameters, 2 << len(self._digits))
            self._digits.append(self._draw.truncated_geometric(rate, 2))
        return self._digits[i]


def _compare_fractions(a: _Exponential, b: _Exponential) -> int:
    i = 0
    while a.digit(i) == b.digit(i):
        i += 1
    return a.digit(i) - b.digit(i)


def top_k_with_rounding(queries: Sequence[int], k: int, cost: Cost, per_unit: int, draw: Draw) -> Answer:
    """Run Algorithm 2, which is Algorithm 1 with queries and gaps rounded down: continuous noise, drawn digit by digit.

    >>> from lastbit import Sampler
    >>> [j for j, gap in top_k_with_rounding([500, 0, 900], 2, Fraction(1), 1, Sampler())]
    [2, 0]
    """
    noise = [_Exponential(cost, k, per_unit, draw) for _ in queries]

    def compare(i: int, j: int) -> int:
        cells = queries[i] + noise[i].whole - queries[j] - noise[j].whole
        return cells or _compare_fractions(noise[i], noise[j])

    order = sorted(range(len(queries)), key=cmp_to_key(compare), reverse=True)[: k + 1]
    answer = []
    for i, j in pairwise(order):
        cells = queries[i] + noise[i].whole - queries[j] - noise[j].whole
        answer.append((i, cells - (_compare_fractions(noise[i], noise[j]) < 0)))
    return tuple(answer)


def secure_top_k(
    queries: Sequence[int], k: int, cost: Cost, per_unit: int, refine: int, draw: Draw, *, early_pruning: bool = False
) -> Answer:
    """Run Algorithm 4. `refine` is the paper's M; Geo mod M is drawn as a truncated geometric (Lemma 5.6).

    With early pruning (end of section 4.5) only queries that can still be among the top k+1 are refined. Erratum B14:
    these are all queries of the current top k+1, not only the tied ones. For n = k+1 there is no (k+2)-th query to tie
    with.

    >>> from lastbit import Sampler
    >>> [j for j, gap in secure_top_k([500, 0, 900], 2, Fraction(1), 1, 10, Sampler())]
    [2, 0]
    """
    rate = _rate(cost, k, per_unit, 1)
    # Line numbers are the paper's. noisy[i] is q̌ᵢ in units of γ_t = γ*/M^t; refined is M^t.
    noisy = {i: query + draw.geometric(rate) for i, query in enumerate(queries)}  # 2-4
    refined = 1  # 6
    while True:
        top = sorted(noisy, key=lambda i: -noisy[i])[: k + 2]  # 5, 12
        if len({noisy[i] for i in top}) == len(top):  # 7
            break
        if early_pruning:
            noisy = {i: value for i, value in noisy.items() if value >= noisy[top[k]]}
        refined *= refine  # 8
        rate = _rate(cost, k, per_unit, refined)
        noisy = {i: value * refine + draw.truncated_geometric(rate, refine) for i, value in noisy.items()}  # 9-11
    x = draw.permutation(k + 1).tolist()  # 13
    answer = []
    for i in range(k):  # 14-18
        gap = noisy[top[i]] - noisy[top[i + 1]] - (x[i] < x[i + 1])
        answer.append((top[i], gap // refined))
    return tuple(answer)  # 19


def _bernoulli_of_exponential(exponent: Fraction, draw: Draw) -> bool:
    """Draw Bernoulli(e^-exponent) for an exponent from 0 to 1: Algorithm 1 of Canonne, Kamath and Steinke."""
    k = 1
    while draw.bernoulli(exponent / k):
        k += 1
    return k % 2 == 1


def geometric_of_coins(s: int, t: int, draw: Draw) -> int:
    """Run Algorithm 5 (appendix): one sample of Geo(1 - e^(-s/t)) from uniform integers and rational coins alone.

    >>> from lastbit import Sampler
    >>> geometric_of_coins(1, 2, Sampler()) >= 0
    True
    """
    u = draw.integer(t)  # 3-5
    while not _bernoulli_of_exponential(Fraction(u, t), draw):
        u = draw.integer(t)
    v = 0  # 6-12
    while _bernoulli_of_exponential(Fraction(1), draw):
        v += 1
    return (u + t * v) // s  # 13-15
