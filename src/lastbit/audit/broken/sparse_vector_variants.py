"""The six sparse vector variants surveyed by Lyu, Su and Li (2017), on the integers, thresholds 0, sensitivity 1.

Lap(s) becomes the discrete Laplace that falls by 1/s a step. Variants 1 and 2 are private. Variants 3 to 6 are others',
published and used, and cost more than they claim: Lyu, Su and Li print them as broken, with whose they are. A draw
decides whether noise reaches a threshold; its value is drawn only where it is published.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Final

from lastbit.audit.broken.case import Case
from lastbit.chance.draw import Draw
from lastbit.mechanisms.mechanism import Program
from lastbit.papers.sparse_vector_sampling import lazy_threshold
from lastbit.privacy.eta import Eta
from lastbit.privacy.rate import Rate

COST: Final = Eta(1, 1, 4)
"""Every variant claims 4 bits with one answer above the threshold."""

Variant = Callable[[Draw, Sequence[int]], tuple[Hashable, ...]]


def _falling(bits: int) -> Rate:
    return Rate.from_eta(Eta(1, 1, bits))


def _answers(
    draw: Draw, queries: Sequence[int], threshold: Rate, noise: Rate, limit: int | None, *, renew: bool = False
) -> tuple[bool, ...]:
    rho = draw.laplace(threshold)
    answers: list[bool] = []
    for query in queries:
        answers.append(lazy_threshold(draw, noise.fraction, rho - query))
        if answers[-1] and renew:
            rho = draw.laplace(threshold)
        if limit is not None and sum(answers) >= limit:
            break
    return tuple(answers)


def variant_1(draw: Draw, queries: Sequence[int], limit: int = 1) -> tuple[bool, ...]:
    """Run their own variant: ε/2 for the threshold, Lap(2c/(ε/2)) for
    each query. Costs 4 bits per unit of the limit.
    """
    return _answers(draw, queries, _falling(2 * limit), _falling(1), limit)


def variant_2(draw: Draw, queries: Sequence[int], limit: int = 1) -> tuple[bool, ...]:
    """Run the variant of Dwork and Roth: a fresh threshold after every
    answer above. Costs 4 bits per unit of the limit.
    """
    return _answers(draw, queries, _falling(2), _falling(1), limit, renew=True)


def variant_3(draw: Draw, queries: Sequence[int]) -> tuple[Hashable, ...]:
    """Run the variant of Roth's lecture notes: it publishes the noisy
    query when it is above, with the same noise that decided.
    """
    rho = draw.laplace(_falling(2))
    noise = _falling(2)
    answers: list[Hashable] = []
    for query in queries:
        if lazy_threshold(draw, noise.fraction, rho - query):
            return (*answers, query + _noise_from(draw, noise, rho - query))
        answers.append(False)
    return tuple(answers)


def _noise_from(draw: Draw, rate: Rate, least: int) -> int:
    """Draw discrete Laplace noise, given"""
    start = max(least, 0)
    r = rate.fraction
    below = draw.index([*(r**-value for value in range(least, 0)), 1 / (1 - r)])
    return start + draw.geometric(rate) if below == start - least else least + below


def variant_4(draw: Draw, queries: Sequence[int]) -> tuple[bool, ...]:
    """Run the variant of Lee and Clifton: ε/4 for the threshold, and
    query noise without the limit and a query's second move.
    """
    return _answers(draw, queries, _falling(1), _falling(3), 1)


def variant_5(draw: Draw, queries: Sequence[int]) -> tuple[bool, ...]:
    """Run the variant of Stoddard, Chen and Machanavajjhala: no noise on the queries, no limit."""
    rho = draw.laplace(_falling(2))
    return tuple(query >= rho for query in queries)


def variant_6(draw: Draw, queries: Sequence[int]) -> tuple[bool, ...]:
    """Run the variant of Chen et al.: noise on the queries, but no limit."""
    return _answers(draw, queries, _falling(2), _falling(2), None)


def instance(variant: Variant, low: int, high: int) -> tuple[Program, Program]:
    """Return queries of value 0, then of value 1, against the opposite."""
    values, neighbour = [0] * low + [1] * high, [1] * low + [0] * high
    return lambda draw: variant(draw, values), lambda draw: variant(draw, neighbour)


def _case(number: int, variant: Variant, low: int, high: int, *, repair: Variant, whose: str, why: str) -> Case:
    return Case(
        f"sparse vector, variant {number}",
        f"{whose}; printed as broken by Lyu, Su and Li, Understanding the sparse vector technique, Algorithm {number}",
        why,
        *instance(variant, low, high),
        COST,
        instance(repair, low, high),
        kind="warned",
    )


CASES = (
    _case(3, variant_3, 4, 1, repair=variant_1, whose="Roth, lecture notes",
          why="The published number bounds the noisy threshold from above. So every ⊥ "
              "before it tells more about its query."),
    _case(4, variant_4, 2, 1, repair=variant_1, whose="Lee and Clifton",
          why="The query noise hides one move of the query. The proof needs two moves, "
              "for each answer above."),
    _case(5, variant_5, 1, 1, repair=variant_2, whose="Stoddard, Chen and Machanavajjhala",
          why="Without noise on the queries the answers show the order of two queries."),
    _case(6, variant_6, 3, 3, repair=variant_2, whose="Chen et al.",
          why="Without a limit every answer above costs again, and no budget pays for it."),
)  # fmt: skip
