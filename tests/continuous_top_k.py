"""The ideal noisy top-k, integrated: continuous exponential noise, then gaps rounded down. Uses nothing of lastbit.

With r = e^-λ and u = r^x everything is a polynomial in u, piece by piece, so for a rational r every probability is
a rational number, found without drawing, enumerating, cells or permutations.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise, permutations, product

Polynomial = list[Fraction]
Pieces = list[tuple[Fraction, Polynomial]]
"""(end, polynomial) in rising order: the polynomial holds from the end before, or 0, to this end. Beyond, zero."""


def value(polynomial: Polynomial, u: Fraction) -> Fraction:
    result = Fraction(0)
    for coefficient in reversed(polynomial):
        result = result * u + coefficient
    return result


def times(a: Polynomial, b: Polynomial) -> Polynomial:
    result = [Fraction(0)] * (len(a) + len(b) - 1)
    for (i, x), (j, y) in product(enumerate(a), enumerate(b)):
        result[i + j] += x * y
    return result


def primitive(polynomial: Polynomial) -> Polynomial:
    return [Fraction(0), *(coefficient / (i + 1) for i, coefficient in enumerate(polynomial))]


def all_below(queries: Sequence[int], r: Fraction) -> Pieces:
    """P(every qᵢ + X is at most x) as a function of u = r^x: the product of 1 - r^-qᵢ·u, while each is positive."""
    polynomial = [Fraction(1)]
    for query in queries:
        polynomial = times(polynomial, [Fraction(1), -(r**-query)])
    return [(r ** max(queries), polynomial)]


def one_more(query: int, ahead: int, below: Pieces, r: Fraction) -> Pieces:
    """P(q + X is at most x, and whoever is `below` is so by at least `ahead`), as a function of u = r^x.

    The density of q + X at y turns into r^-q·dv for v = r^y up to r^q, and `below` is taken at y - ahead, where its
    argument is v·r^-ahead.
    """
    start, factor = r**query, r**-ahead
    shifted = [(end / factor, [c * factor**i for i, c in enumerate(p)]) for end, p in below]
    ends = sorted({end for end, _ in shifted if end < start} | {start})
    result: Pieces = []
    after = Fraction(0)
    for low, high in reversed(list(pairwise([Fraction(0), *ends]))):
        here = next((p for end, p in shifted if end >= high), [Fraction(0)])
        whole = [coefficient / start for coefficient in primitive(here)]
        at_high = value(whole, high)
        result.insert(0, (high, [after + at_high - whole[0], *(-c for c in whole[1:])]))
        after += at_high - value(whole, low)
    return result


@cache
def at_least(queries: tuple[int, ...], order: tuple[int, ...], gaps: tuple[int, ...], r: Fraction) -> Fraction:
    """P(the top is `order`, each ahead of the next by at least its gap, the last of them of everyone else)."""
    others = [query for i, query in enumerate(queries) if i not in order]
    below = all_below(others, r)
    for i, gap in zip(reversed(order), reversed(gaps), strict=True):
        below = one_more(queries[i], gap, below, r)
    return value(below[0][1], Fraction(0))


def probability(queries: tuple[int, ...], order: tuple[int, ...], gaps: tuple[int, ...], r: Fraction) -> Fraction:
    """P(the top is `order`, the gaps rounded down are `gaps`), for fewer selected than there are queries."""
    total = Fraction(0)
    for more in product((0, 1), repeat=len(gaps)):
        raised = tuple(gap + by for gap, by in zip(gaps, more, strict=True))
        total += (-1) ** sum(more) * at_least(queries, order, raised, r)
    return total


def outcomes(n: int, k: int, most: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every order of k among n with gaps from 0 to `most`."""
    return list(product(permutations(range(n), k), product(range(most + 1), repeat=k)))
