"""Ilvento, "Implementing the sparse vector technique and variants", section 6: selecting among private candidates."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction

from lastbit.chance.draw import Draw
from lastbit.exact.rounding import exp_upper, log_upper
from lastbit.papers.sparse_vector_sampling import clamp
from lastbit.privacy.rate import Rate

Sample = tuple[Hashable, int]
Sampling = Callable[[Draw], Sample]
"""Q(D): an outcome x and its quality score q."""


def least_rounds(gamma: Fraction, slack: Fraction) -> int:
    """Return T, the least number of steps of Algorithms 6 and 7 for a slack ε0: max(ln(2/ε0)/γ, 1 + 1/(e·γ)).

    With a cap Algorithm 6 costs 2ε1 + ε0, and Algorithm 7 costs 3ε1 + 3ε0. `PrivateSelection` draws the number of steps
    first, given that it is at most the cap, and pays nothing for the cap.

    >>> least_rounds(Fraction(1, 20), Fraction(1, 100))
    106
    """
    inverse_e = Fraction(exp_upper(Fraction(-1), 64), 1 << 64)
    return math.ceil(max(Fraction(log_upper(2 / slack)) / gamma, 1 + inverse_e / gamma))


def pspc(draw: Draw, sample: Sampling, tau: int, gamma: Fraction, rounds: int) -> Sample | None:
    """Run Algorithm 6, private selection with a known threshold.

    Errata: A3, the algorithm costs 2ε1 + ε0, not the printed 2ε0 + ε1 (ε1 is the cost of one sample); and the second
    bound on the number of steps is 1 + 1/(e·γ) with Euler's e.

    >>> from lastbit import Reference, Tape
    >>> pspc(Reference(Tape([0])), lambda draw: ("x", 3), 2, Fraction(1, 2), 10)
    ('x', 3)
    """
    for _ in range(rounds):
        x, q = sample(draw)
        if q >= tau:
            return x, q
        if draw.bernoulli(gamma):
            return None
    return None


def hard_stop(draw: Draw, sample: Sampling, gamma: Fraction, rounds: int) -> Sample:
    """Run Algorithm 7, the best of a run that stops by chance or after `rounds`.

    The printed CMP tosses a fair coin between two equal scores. So of three equal scores the last wins twice as often
    as each of the others. The law is the same as with uniform ties, because the samples are exchangeable.

    >>> from lastbit import Reference, Tape
    >>> hard_stop(Reference(Tape([0])), lambda draw: ("x", 3), Fraction(1, 2), 10)
    ('x', 3)
    """
    best = sample(draw)
    for _ in range(1, rounds):
        if draw.bernoulli(gamma):
            return best
        best = _compare(draw, best, sample(draw))
    # Line 7 tosses its coin after the last step too, where the coin changes nothing.
    return best


def _compare(draw: Draw, one: Sample, other: Sample) -> Sample:
    if one[1] != other[1]:
        return max(one, other, key=lambda sample: sample[1])
    return (one, other)[draw.integer(2)]


def get_sample(
    draw: Draw, mechanisms: Sequence[Callable[[Draw], Hashable]], quality: Callable[[Hashable], int], rate: Rate, w: int
) -> Sample:
    """Run GETSAMPLE of Algorithm 7: a mechanism drawn uniformly, its outcome, and its score with clamped noise.

    The score is clamped to [-w, w], its noise to [-2w, 2w], and their sum to [-w, w] again.

    Erratum: A9, the noise must be at η/Δq (here the rate of one grid step); Lemma 6.1 holds as printed only at Δq = 1.

    >>> from lastbit import Eta, Sampler
    >>> get_sample(Sampler(), [lambda draw: "m"], lambda m: 2, Rate.from_eta(Eta(1, 1, 1)), 4)[0]
    (0, 'm')
    """
    i = draw.integer(len(mechanisms))
    m = mechanisms[i](draw)
    noise = clamp(draw.laplace(rate), 0, 2 * w)
    return (i, m), clamp(clamp(quality(m), 0, w) + noise, 0, w)
