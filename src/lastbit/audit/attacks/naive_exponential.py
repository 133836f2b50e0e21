"""Two attacks on the exponential mechanism in floating point: Ilvento, section 2.

The naive mechanism is the paper's figure 1: weights by `exp`, their sum, and the first outcome whose share of the sum
reaches a uniform float. Its probabilities are exact here: the floats are computed as the program computes them, and a
uniform float is a multiple of 2^-53. Outcomes come in runs of equal utility, because the second attack needs more
outcomes than a list can hold. Lower utilities are better, as in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from lastbit.audit.attacks.attack import Attack
from lastbit.errors import ParameterError
from lastbit.exact.numbers import whole
from lastbit.mechanisms.exponential import ExponentialMechanism
from lastbit.privacy.cost import Cost

Runs = list[tuple[int, int]]
"""(utility, number of outcomes with this utility). The attacker watches the first outcome, alone in its run."""

_GRAIN: Final = 1 << 53
"""A uniform float is one of the multiples of 1/2^53 in [0, 1)."""


def attacks(epsilon: int = 1, outcomes: int = 1000) -> Iterator[Attack]:
    """Return both attacks, run at this epsilon.

    >>> [(attack.name, attack.succeeds, attack.fails_on_ours) for attack in attacks()]
    [('zero rounding', True, True), ('truncated addition', True, True)]
    """
    yield zero_rounding(epsilon, outcomes)
    yield truncated_addition(epsilon)


def zero_rounding(epsilon: int = 1, outcomes: int = 1000) -> Attack:
    """Return attack 1: with Alice, all weights but the first are so small that `exp` gives 0.

    Without her all weights are equal. So the naive mechanism picks the first outcome always with her, and once in
    `outcomes` times without her.
    """
    whole(outcomes, "outcomes", least=2)
    x = next(x for x in range(2000 * 1000) if naive_weight(epsilon, x + 1) == 0)
    return _attack(
        "zero rounding", "Ilvento, Attack 1", epsilon, [(x, 1), (x + 1, outcomes - 1)], [(x, 1), (x, outcomes - 1)]
    )


def truncated_addition(epsilon: int = 1) -> Attack:
    """Return attack 2: with Alice, very many weights are each lost when added to the first weight, though none is 0.

    Without her they are not lost, and together weigh as much as the first. So the naive mechanism picks the first
    outcome always with her, and every second time without her.
    """
    # The sum starts at the first weight, 1 with Alice and exp(-ε/2) without.
    first = naive_weight(epsilon, 1)
    fitting = (
        x for x in range(2000) if 1 + naive_weight(epsilon, x + 1) == 1 and first + naive_weight(epsilon, x) > first
    )
    x = next(fitting, None)
    if x is None:
        raise ParameterError(f"epsilon must be smaller for this attack: got {epsilon}. Use 1.")
    count = _count_to_double(first, naive_weight(epsilon, x))
    return _attack("truncated addition", "Ilvento, Attack 2", epsilon, [(0, 1), (x + 1, count)], [(1, 1), (x, count)])


def _attack(name: str, source: str, epsilon: int, present: Runs, absent: Runs) -> Attack:
    """Return an attack: who sees the first outcome says "present". No rule is better: all other outcomes are alike."""
    mechanism = ExponentialMechanism(epsilon=epsilon)
    naive = [naive_chance_of_first(epsilon, runs) for runs in (present, absent)]
    ours = [our_chance_of_first(mechanism, runs) for runs in (present, absent)]
    odds = Cost.of(mechanism.cost).odds_bounds()[1]
    return Attack(name, source, naive[0] - naive[1], ours[0] - ours[1], (odds - 1) / (odds + 1))


def naive_weight(epsilon: float, utility: int) -> float:
    """Return the weight as line 10 of figure 1 computes it."""
    return math.exp(-(epsilon / 2.0) * utility)


def naive_chance_of_first(epsilon: float, runs: Runs) -> Fraction:
    """Return the probability that the naive mechanism picks the first outcome, exactly."""
    total = 0.0
    for utility, count in runs:
        total = after_run(total, naive_weight(epsilon, utility), count)
    share = Fraction(naive_weight(epsilon, runs[0][0]) / total)
    # Uniform floats 0/2^53, 1/2^53, … at or below the share.
    return Fraction(min(math.floor(share * _GRAIN) + 1, _GRAIN), _GRAIN)


def our_chance_of_first(mechanism: ExponentialMechanism, runs: Runs) -> Fraction:
    """Return the probability that our mechanism picks the first
    outcome: r^u over the sum of all r^u, with scores -u.
    """
    least = min(utility for utility, _ in runs)
    weights = [mechanism.rate.fraction ** (utility - least) for utility, _ in runs]
    return weights[0] / sum(count * weight for (_, count), weight in zip(runs, weights, strict=True))


def after_run(total: float, weight: float, count: int) -> float:
    """Return total + weight + … + weight: the result of `count` float additions, computed in leaps.

    Between two powers of two the sum is a multiple of one unit, and each addition moves the sum by the same number of
    units. Only a weight half a unit off is a tie, which goes to the even neighbour: then additions are done one by one.

    >>> after_run(1.0, 0.1, 10) == 1.0 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1
    True
    """
    while count > 0:
        once = total + weight
        step, next_step = once - total, once + weight - once
        if step == 0:
            return total
        leaps = 1
        if step == next_step and total > 0:
            edge = math.ldexp(1.0, math.frexp(total)[1])
            leaps = max(1, min(count, math.floor(Fraction(edge - once) / Fraction(step))))
        total += leaps * step
        count -= leaps
    return total


def _count_to_double(first: float, weight: float) -> int:
    """Return how many of these weights weigh as much as the first weight."""
    return math.floor(Fraction(first) / Fraction(weight))
