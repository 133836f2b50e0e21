"""Mironov's attack breaks NumPy's float Laplace for certain, and gains no more than epsilon here."""

from collections.abc import Hashable
from fractions import Fraction

import numpy as np
import pytest

import lastbit as lb
from lastbit.audit.attacks.low_bits import guess, possible, success
from lastbit.audit.laws import Law
from lastbit.audit.verdict import judge


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize(("value", "neighbour"), [(0.0, 1.0), (1.0, 0.0)])
def test_most_single_outputs_of_numpy_give_the_value_away(epsilon: float, value: float, neighbour: float) -> None:
    generator = np.random.Generator(np.random.PCG64(20121016))
    outputs = (value + generator.laplace(0, 1 / epsilon, 600)).tolist()
    assert all(possible(output, value, 1 / epsilon) for output in outputs)
    right, wrong = success(outputs, value, neighbour, 1 / epsilon)
    assert right > 0.75
    assert wrong == 0


@pytest.mark.parametrize("resolution", [1, "1/8"])
def test_on_the_discrete_laplace_a_guess_is_within_epsilon(resolution: object) -> None:
    mechanism = lb.DiscreteLaplace(epsilon=1, resolution=resolution)
    tolerance = Fraction(1, 1 << 20)
    laws = []
    for value in (0, 1):

        def attack(draw: lb.Draw, value: int = value) -> Hashable:
            return guess(float(mechanism.release(value, draw)), 0.0, 1.0, 1.0)

        laws.append(lb.audit.law(attack, tolerance))
    assert judge(mechanism.cost, *laws, tolerance).holds
    # And whatever it says of one value, it may say of the other.
    assert laws[0].masses.keys() == laws[1].masses.keys()


def test_on_snapping_a_guess_is_within_epsilon() -> None:
    mechanism = lb.Snapping(epsilon=1, bounds=(-8, 8))
    laws = []
    for value in (0, 1):
        masses: dict[Hashable, Fraction] = {}
        for outcome, p in mechanism.law(value).items():
            said = guess(float(outcome), 0.0, 1.0, 1.0)
            masses[said] = masses.get(said, Fraction(0)) + p
        laws.append(Law(masses, Fraction(0), len(masses)))
    assert judge(mechanism.cost, *laws, Fraction(0)).holds
    assert laws[0].masses.keys() == laws[1].masses.keys()
