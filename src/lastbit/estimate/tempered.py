"""Measurements of selected values, sharpened by the gaps as far as the gaps can be trusted.

Lucky noise gets candidates selected, and the gaps carry that luck; the measurements do not. So, given who was selected
and all gaps, measurement i is value i plus independent noise of a known variance v, and the gaps are numbers like any
others: they draw a line that the values may follow, all up to one level. Let m be the measurements, t the line at the
level that fits the measurements best, and S the sum of (mᵢ - tᵢ)². The estimate goes from m toward t:

    t + w·(m - t),    w = max(ratio/(1 + ratio), 1 - (2k - 6)·v/S).

Where the gaps are as good as their noise says, S is small and the first term decides: that is the best linear unbiased
estimate (`blue`). Where luck bends the line, S is large and the measurements are left alone. An estimator of this form
has at most the mean square error of the measurements, over all k together, whatever the values and the gaps are, if the
noise is normal (Baranchik 1970; k - 1 dimensions). For Laplace noise see
docs/decisions.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

from lastbit.estimate.blue import mismatch


def tempered(
    measurements: Sequence[Fraction], gaps: Sequence[Fraction], ratio: Fraction, variance: Fraction
) -> tuple[Fraction, ...]:
    """Return estimates of k selected values from k measurements of this variance and the k-1 gaps between them.

    `ratio` is the variance of the noise that selected over that of the measurements.

    >>> ten, ratio = [Fraction(10 * place) for place in range(9, -1, -1)], Fraction(1, 2)
    >>> tempered([value + (-1) ** i for i, value in enumerate(ten)], [Fraction(10)] * 9, ratio, Fraction(2))[:2]
    (Fraction(271, 3), Fraction(239, 3))
    >>> tempered(ten, [Fraction(50)] * 9, ratio, Fraction(2))[:2]           # gaps that the measurements contradict
    (Fraction(49521, 550), Fraction(132049, 1650))
    """
    k = len(measurements)
    if len(gaps) not in (k - 1, k) or not k:
        raise mismatch(len(gaps), k)
    # In whole numbers of 1/below: fractions would look for common divisors at every step.
    below = math.lcm(*(number.denominator for number in (*measurements, *gaps)))
    own, apart = (
        [number.numerator * (below // number.denominator) for number in side] for side in (measurements, gaps)
    )
    return temper_whole(own, apart, below, ratio, variance)


def temper_whole(
    own: Sequence[int], gaps: Sequence[int], below: int, ratio: Fraction, variance: Fraction
) -> tuple[Fraction, ...]:
    """Return `tempered` of measurements and gaps that are whole numbers of 1/below.

    >>> temper_whole([180, 162], [20], 2, Fraction(1, 2), Fraction(2)) == tempered(
    ...     [Fraction(90), Fraction(81)], [Fraction(10)], Fraction(1, 2), Fraction(2)
    ... )
    True
    """
    numerators, unit = temper_steps(own, gaps, below, ratio, variance)
    return tuple(Fraction(numerator, unit) for numerator in numerators)


def temper_steps(
    own: Sequence[int], gaps: Sequence[int], below: int, ratio: Fraction, variance: Fraction
) -> tuple[list[int], int]:
    """Return `temper_whole` as numerators and their one denominator.

    >>> temper_steps([180, 162], [20], 2, Fraction(1, 2), Fraction(2))
    ([360, 324], 4)
    """
    k = len(own)
    ahead = list(accumulate(gaps[: k - 1], initial=0))
    # Each measurement plus the gaps before it estimates the first value: k times the mean of these estimates.
    first = sum(own) + sum(ahead)
    line = [first - k * before for before in ahead]
    apart = [k * measurement - place for measurement, place in zip(own, line, strict=True)]
    square = Fraction(sum(distance * distance for distance in apart), (k * below) ** 2)
    allowance = max(0, 2 * k - 6) * variance
    # Where S is zero the measurements are the line.
    weight = max(ratio / (1 + ratio), 1 - allowance / square) if square else Fraction(1)
    parts, whole = weight.numerator, weight.denominator
    unit = k * below * whole
    return [whole * place + parts * distance for place, distance in zip(line, apart, strict=True)], unit
