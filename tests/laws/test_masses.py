"""The masses a distribution states are those of its law, in the order likeliest side first."""

from fractions import Fraction
from itertools import islice

import pytest

from lastbit import Rate
from lastbit.chance import distributions
from tests import oracle

R = Fraction(15, 16)


@pytest.mark.parametrize(
    ("distribution", "law"),
    [
        (distributions.geometric(Rate(15, 4)), oracle.geometric(R)),
        (distributions.laplace(Rate(15, 4)), oracle.laplace(R)),
        (distributions.truncated_geometric(Rate(15, 4), 30), oracle.truncated(R, 30)),
        (distributions.uniform(6), oracle.Even(6)),
        (distributions.categorical([1, 0, Fraction(1, 2), 3]), oracle.categorical([1, 0, Fraction(1, 2), 3])),
        (distributions.categorical([3, 0]), oracle.categorical([3, 0])),
    ],
)
def test_masses(distribution: distributions.Distribution, law: oracle.Law) -> None:
    stated = list(islice(distribution.masses(), 200))
    assert len({value for value, _ in stated}) == len(stated)
    assert all(mass == law.mass(value) for value, mass in stated)
    if len(stated) < 200:
        assert sum(mass for _, mass in stated) == 1
