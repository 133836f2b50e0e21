"""The base-2 exponential mechanism's paper: four places that break privacy when followed to the letter."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import accumulate, count
from math import ceil
from typing import Final

from lastbit.audit.broken.case import Case
from lastbit.chance.draw import Draw
from lastbit.mechanisms.mechanism import Program
from lastbit.papers.base2_exponential import exponential_mechanism
from lastbit.papers.base2_sampling import optimized_sample
from lastbit.privacy.eta import Eta
from lastbit.privacy.rate import Rate

_ETA, _BOUND = Eta(1, 1, 1), Eta(1, 1, 2)
"""η = 1, and the cost 2η that the exponential mechanism states when utilities move by at most 1. Lower is better."""


TRIES: Final = 4


def randomized_rounding(draw: Draw, utilities: Sequence[Fraction], *, printed: bool) -> int:
    """Run Mechanism 4: an index in proportion to 2^-ρ, where ρ is the utility rounded up or down at random.

    Printed, ⌊u⌋ has probability u - ⌊u⌋. Right: ⌈u⌉ has this probability, as in the proof of Lemma 3.5.
    """
    whole = []
    for utility in utilities:
        below = utility.numerator // utility.denominator
        up = draw.bernoulli(1 - (utility - below) if printed else utility - below)
        whole.append(below + up)
    return draw.index([_ETA.fraction**u for u in whole])


def rounding_instance(n: int, *, printed: bool) -> tuple[Program, Program]:
    """Return one utility just below 1 and n - 1 just above, against the other way round."""
    near, far = Fraction(99, 100), Fraction(101, 100)
    values, neighbour = [near, *[far] * (n - 1)], [far, *[near] * (n - 1)]
    return (
        lambda draw: randomized_rounding(draw, values, printed=printed),
        lambda draw: randomized_rounding(draw, neighbour, printed=printed),
    )


def printed_sample(draw: Draw, weights: Sequence[Fraction]) -> int | str | None:
    """Run Algorithm 4, NORMALIZEDSAMPLE one bit at a time, as printed, up to its first restart ("again").

    Line 8 ends the padding element at 2^k - t. Right is 2^k: `papers.base2_sampling.optimized_sample`. The result is
    None when no element remains, a case that the paper does not mention.
    """
    total = sum(weights)
    k = _power_at_least(total)
    ends = list(accumulate(weights))
    padding = None
    if _two(k) > total:
        padding = len(ends)
        ends.append(_two(k) - total)
    s, remaining = Fraction(0), list(range(len(ends)))
    for j in count(k - 1, -1):
        if len(remaining) < 2:
            break
        s += draw.integer(2) * _two(j)
        remaining = [i for i in remaining if ends[i] > s and not (i > 0 and ends[i - 1] >= s + _two(j))]
    return None if not remaining else "again" if remaining == [padding] else remaining[0]


def padding_instance(*, printed: bool) -> tuple[Program, Program]:
    """Return utilities (2, 1, 0, 1) against (2, 0, 0, 2).

    The printed program never restarts on these utilities. Right is the mechanism itself, Algorithm 3 with the repaired
    Algorithm 4, which restarts until it ends. Here it gives up after a few tries and returns None, so that the auditor
    can follow every branch. Given that it does not give up, its law is the same.
    """

    def program(utilities: tuple[int, ...]) -> Program:
        if printed:
            weights = [_ETA.fraction**u for u in utilities]
            return lambda draw: printed_sample(draw, weights)
        return lambda draw: exponential_mechanism(
            draw, utilities, eta=_ETA, u_min=0, u_max=2, o_max=4, sample=partial(optimized_sample, tries=TRIES)
        )

    return program((2, 1, 0, 1)), program((2, 0, 0, 2))


def finds_random_value(draw: Draw, total: Fraction, precision: int, *, printed: bool) -> bool:
    """Run GETRANDOMVALUE of Algorithm 2 with k = 1: whether it returns a number below the total weight.

    Printed, there is one try, and its bits start at 2^g, twice too high. Right is to try until a number is found, with
    bits from 2^(g-1) down. Only one fact about a try matters here, whether its number is below the total: this fact is
    drawn.
    """
    g = _power_at_least(total)
    last = _two(g - precision)
    numbers = _two(g + 1 if printed else g) / last
    while True:
        below = draw.bernoulli(Fraction(ceil(total / last)) / numbers)
        if below or printed:
            return below


MISSING_ETA: Final = Eta(255, 8, 1)


def missing_instance(*, printed: bool) -> tuple[Program, Program]:
    """Return 257 outcomes that all have utility 1, or all 0: the total weight is just below 2^8, or just above."""
    low, high = 257 * MISSING_ETA.fraction, Fraction(257)
    return (
        lambda draw: finds_random_value(draw, low, 17, printed=printed),
        lambda draw: finds_random_value(draw, high, 17, printed=printed),
    )


def laplace_instance(*, printed: bool) -> tuple[Program, Program]:
    """Return section 4.1's inverse transform at ε = 1, on 0 against 1, floored to whole numbers.

    Printed, τ = (ε/2Δf)·ln(1-U). As -ln(1-U) is exponential, ⌊τ⌋ is -1 minus a geometric that falls by 2Δf/ε a step.
    Right is ±(Δf/ε)·ln U, the Laplace law, here the discrete Laplace law.
    """
    printed_rate, rate = Rate.from_epsilon(2), Rate.from_epsilon(1)

    def program(value: int) -> Program:
        if printed:
            return lambda draw: value - 1 - draw.geometric(printed_rate)
        return lambda draw: value + draw.laplace(rate)

    return program(0), program(1)


def _two(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def _power_at_least(total: Fraction | int) -> int:
    """Return the least k with 2^k at or above the total."""
    k = (total.numerator // total.denominator).bit_length()
    while _two(k - 1) >= total:
        k -= 1
    return k


CASES = (
    Case(
        "randomized rounding the wrong way",
        "Ilvento, base-2 exponential mechanism, Mechanism 4",
        "0.99 is rounded to 0 and 1.01 to 2, nearly always. So a difference of 0.02 becomes 2, on every outcome at "
        "once. That is twice as far as a utility may move.",
        *rounding_instance(5, printed=True),
        _BOUND,
        rounding_instance(5, printed=False),
        kind="misprint",
        erratum="A4",
    ),
    Case(
        "weighted sampling with padding in the wrong place",
        "Ilvento, base-2 exponential mechanism, Algorithm 4 line 8",
        "The padding ends before the weights do. So the padding is crossed out too early, and its share goes to an "
        "outcome, or no element remains. The repaired program gives up after four tries.",
        *padding_instance(printed=True),
        _BOUND,
        padding_instance(printed=False),
        kind="error",
        erratum="A5",
    ),
    Case(
        "a random value that may be missing",
        "Ilvento, base-2 exponential mechanism, Algorithm 2, GETRANDOMVALUE",
        "With k = 1 the loop ends after one try, even if no value was found. How often no value is found depends on "
        "the total weight, whatever the privacy parameter.",
        *missing_instance(printed=True),
        Eta(255, 8, 2),
        missing_instance(printed=False),
        kind="misprint",
        erratum="A6",
    ),
    Case(
        "Laplace noise on one side, on the inverse scale",
        "Ilvento, base-2 exponential mechanism, section 4.1",
        "The noise never raises a value, so a result often gives the larger of two neighbours away for certain. And "
        "less privacy means more noise.",
        *laplace_instance(printed=True),
        Fraction(1),
        laplace_instance(printed=False),
        kind="error",
        erratum="A8",
    ),
)
