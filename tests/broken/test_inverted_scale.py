"""Laplace noise with its scale inverted, as one paper prints it, is convicted."""

from collections.abc import Hashable
from fractions import Fraction

import lastbit as lb
from lastbit.audit.verdict import judge
from lastbit.papers import snapping as paper

EPSILON, TOLERANCE = Fraction(1, 10), Fraction(1, 1000)


def law(value: int, *, both_ways: bool) -> lb.audit.Law:
    def program(draw: lb.Draw) -> Hashable:
        noise = paper.noise_as_printed_elsewhere(paper.uniform(draw, bits=4), EPSILON)
        if both_ways and draw.bernoulli("1/2"):
            noise = -noise
        return paper.round_to_multiple(value + noise, Fraction(1, 4))

    return lb.audit.law(program, TOLERANCE)


def test_noise_that_goes_one_way_is_convicted() -> None:
    assert judge(EPSILON, law(0, both_ways=False), law(1, both_ways=False), TOLERANCE).verdict == "violated"


def test_noise_of_the_inverted_scale_is_convicted_both_ways_too() -> None:
    # At ten times the epsilon still.
    assert judge(10 * EPSILON, law(0, both_ways=True), law(1, both_ways=True), TOLERANCE).verdict == "violated"
