"""The sparse vector paper's sampling functions against their definitions, exactly."""

from fractions import Fraction
from typing import ClassVar

import pytest

import lastbit as lb
from lastbit.papers.sparse_vector_sampling import (
    clamp,
    clamped_disc_lap,
    cond_lazy_threshold,
    get_sum,
    lazy_threshold,
)

BASES = [Fraction(1, 2), Fraction(3, 4), Fraction(7, 16)]


def recursive_sum(base, lower, upper):
    """GETSUM as the paper prints it, by cases."""
    if lower is None and upper is None:
        return 1 + base
    if lower is None:
        return base ** abs(upper) if upper <= 0 else 1 + base - base ** (abs(upper) + 1)
    if upper is None:
        return base ** abs(lower) if lower >= 0 else 1 + base - base ** (abs(lower) + 1)
    return (1 + base) - recursive_sum(base, None, lower - 1) - recursive_sum(base, upper + 1, None)


@pytest.mark.parametrize("base", BASES)
def test_get_sum_is_the_sum(base):
    for lower in range(-4, 5):
        for upper in range(lower - 1, 6):
            plain = (1 - base) * sum(base ** abs(k) for k in range(lower, upper + 1))
            assert get_sum(base, lower, upper) == plain


@pytest.mark.parametrize("base", BASES)
def test_get_sum_is_the_print(base):
    ends = [None, *range(-4, 5)]
    for lower in ends:
        for upper in ends:
            assert get_sum(base, lower, upper) == recursive_sum(base, lower, upper)


class Counting(Fraction):
    """A fraction that counts what is done with it, to see that the steps do not depend on the arguments."""

    done: ClassVar[list[str]] = []

    def __pow__(self, other):
        self.done.append("power")
        return Counting(Fraction.__pow__(self, other))

    def __add__(self, other):
        self.done.append("add")
        return Counting(Fraction.__add__(self, other))

    def __radd__(self, other):
        self.done.append("add")
        return Counting(Fraction.__radd__(self, other))

    def __sub__(self, other):
        self.done.append("subtract")
        return Counting(Fraction.__sub__(self, other))

    def __rmul__(self, other):
        self.done.append("multiply")
        return Counting(Fraction.__rmul__(self, other))


def test_get_sum_takes_the_same_steps_for_every_argument():
    def steps(lower, upper):
        Counting.done.clear()
        get_sum(Counting(1, 2), lower, upper)
        return tuple(Counting.done)

    ends = [None, -3, 0, 2]
    taken = {steps(lower, upper) for lower in ends for upper in ends}
    assert len(taken) == 1
    assert "power" in taken.pop()


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize(("least", "most"), [(-2, 3), (0, 0), (1, 4), (-3, -1)])
def test_clamped_disc_lap_is_equation_2(base, least, most):
    law = lb.audit.law(lambda draw: clamped_disc_lap(draw, base, least, most), 0)
    total = get_sum(base, None, None)
    expected = {k: get_sum(base, k, k) / total for k in range(least, most + 1)}
    expected[least] = get_sum(base, None, least) / total
    expected[most] = get_sum(base, most, None) / total
    if least == most:
        expected = {least: Fraction(1)}
    assert law.unexplored == 0
    assert dict(law.masses) == expected


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("tau", [-2, 0, 1, 3])
def test_lazy_thresholds_are_tails_of_the_noise(base, tau):
    total = get_sum(base, None, None)
    law = lb.audit.law(lambda draw: lazy_threshold(draw, base, tau), 0)
    assert law[True][0] == get_sum(base, tau, None) / total
    for further in (0, 1, 4):
        law = lb.audit.law(lambda draw, further=further: cond_lazy_threshold(draw, base, tau + further, tau), 0)
        assert law[True][0] == get_sum(base, tau + further, None) / get_sum(base, tau, None)


def test_lemma_3_1_the_clamp_follows_the_threshold():
    for width in range(4):
        for value in range(-3, 4):
            for neighbour in (value - 1, value, value + 1):
                for z in range(-9, 10):
                    moved = clamp(z + 1, neighbour, width) - neighbour
                    assert clamp(z, value, width) - value <= moved <= clamp(z, value, width) - value + 2
