"""The retry channel: the number of random words that a release takes tells the sum of its weights.

Sampling by rejection draws numbers below the next power of two until one number is below the total weight. A total of
2^g needs one try; a total just above needs two tries on average, whatever the privacy parameter (Ilvento, base-2
exponential mechanism, sections 3.3 and 4). An attacker counts words or measures time; here words are counted, exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import accumulate
from math import ceil

from lastbit.audit.attacks.attack import Attack
from lastbit.chance.draw import Draw
from lastbit.privacy.cost import Cost
from lastbit.privacy.eta import Eta


def attacks() -> Iterator[Attack]:
    """Yield the attack on 257 outcomes: all utilities are 1 against all utilities are 0, at η = 1/177.

    >>> print(next(attacks()))
    retry timing (Ilvento, section 3.3): advantage 0.498... against the naive mechanism; 0 against ours, ...
    """
    eta = Eta(255, 8, 1)
    first, second = [eta.fraction] * 257, [Fraction(1)] * 257
    odds = Cost.of(Eta(255, 8, 2)).odds_bounds()[1]
    naive = [one_try(sum(weights, Fraction(0))) for weights in (first, second)]
    ours = [one_word(weights) for weights in (first, second)]
    yield Attack(
        "retry timing", "Ilvento, section 3.3", naive[0] - naive[1], abs(ours[0] - ours[1]), (odds - 1) / (odds + 1)
    )


def tries(draw: Draw, total: Fraction) -> int:
    """Return how many numbers a rejection sampler draws below this total.

    >>> from lastbit.audit import law
    >>> law(lambda draw: tries(draw, Fraction(3)), "1/1000")[1][0]
    Fraction(3, 4)
    """
    needed = 1
    while not draw.bernoulli(one_try(total)):
        needed += 1
    return needed


def one_try(total: Fraction) -> Fraction:
    """Return the probability that the first number is below the total: the total over the next power of two.

    >>> one_try(Fraction(256)), one_try(Fraction(257))
    (Fraction(1, 1), Fraction(257, 512))
    """
    return total / (1 << (ceil(total) - 1).bit_length())


def one_word(weights: Sequence[Fraction]) -> Fraction:
    """Return the probability that `Draw.index` needs one word only: that no border between cells cuts the word.

    >>> one_word([Fraction(1), Fraction(1)]), 1 - one_word([Fraction(1), Fraction(2)])
    (Fraction(1, 1), Fraction(1, 18446744073709551616))
    """
    total = sum(weights, Fraction(0))
    borders = [border * (1 << 64) / total for border in accumulate(weights)]
    cut = {border.numerator // border.denominator for border in borders if border.denominator > 1}
    return 1 - Fraction(len(cut), 1 << 64)
