"""The auditor keeps the cells of a draw by its levels: so equal levels must mean equal masses, and no less.

Every kind of distribution is there with each of its parameters changed alone.
"""

from fractions import Fraction
from itertools import combinations, islice

import numpy as np
import pytest

from lastbit.chance import distributions
from lastbit.chance.layers import Layers
from lastbit.chance.powers import Powers
from lastbit.chance.rounds import Rounds
from lastbit.privacy.rate import Rate

HALF, QUARTER, ODD = Rate(1, 1), Rate(1, 2), Rate(3, 2)
FAR = Rate((1 << 40) - 1, 40)
"""So near 1 that a draw has several levels."""


def powers(rate, exponents, multiplicities=None):
    large = isinstance(multiplicities, tuple)
    times = multiplicities if multiplicities is None or large else np.array(multiplicities, np.int64)
    return distributions.powers(Powers(rate, np.array(exponents, np.int64), times))


ROUNDS = [Rounds(3), Rounds(4), Rounds(3, Fraction(0)), Rounds(3, Fraction(1, 2)), Rounds(3, keep=Fraction(1, 2))]
EACH = {
    **{f"geometric {rate}": distributions.geometric(rate) for rate in (HALF, QUARTER, ODD, FAR)},
    **{f"laplace {rate}": distributions.laplace(rate) for rate in (HALF, QUARTER, ODD, FAR)},
    **{f"gaussian {rate}": distributions.gaussian(rate) for rate in (HALF, QUARTER, ODD)},
    **{
        f"truncated {rate} {below}": distributions.truncated_geometric(rate, below)
        for rate in (HALF, ODD)
        for below in (2, 3, 4)
    },
    **{f"uniform {n}": distributions.uniform(n) for n in (2, 3, 4, 5)},
    "uniform below 3 of 9": distributions.uniform_below(3, 9),
    **{f"bernoulli {p}": distributions.bernoulli(Fraction(p)) for p in ("1/2", "1/3", "1/4", "0", "1")},
    **{f"weights {w}": distributions.categorical(w) for w in ([1, 1], [2, 1], [1, 2], [1, 1, 2], [2, 2, 4], [1, 1, 3])},
    "powers one half": powers(HALF, [0, 1, 3]),
    "powers a quarter": powers(QUARTER, [0, 1, 3]),
    "powers three quarters": powers(ODD, [0, 1, 3]),
    "powers moved": powers(HALF, [7, 8, 10]),
    "powers longer": powers(HALF, [0, 1, 3, 3]),
    "powers turned": powers(HALF, [3, 1, 0]),
    "powers apart": powers(HALF, [0, 1, 4]),
    "powers twice": powers(HALF, [0, 1, 3], [1, 2, 1]),
    "powers once": powers(HALF, [0, 1, 3], [1, 1, 1]),
    "powers less": powers(HALF, [0, 1, 3], [0, 2, 1]),
    "powers less, in a tuple": powers(HALF, [0, 1, 3], (0, 2, 1)),
    "powers many": powers(HALF, [0, 1, 3], (1, 1 << 80, 1)),
    "powers more": powers(HALF, [0, 1, 3], (1, 1 << 81, 1)),
    **{
        f"layers {rate} {k} {ranked} {p}{q}": distributions.layers(Layers.of(rate, k, np.array(ranked), p, q))
        for rate in (HALF, ODD)
        for k in (1, 2, 3)
        for ranked in (
            [0, 1, 3, 4],
            [5, 6, 8, 9],
            [0, 1, 3, 5],
            [0, 0, 3, 4],
            [0, 1, 3, 3],
            [0, 2, 3, 4],
            [0, 1, 3, 4, 4],
        )
        for p, q in ((1, 1), (1, 0), (0, 1))
    },
    **{f"rounds {law}": distributions.rounds(law) for law in ROUNDS},
    "powers at the ends": powers(HALF, [-(2**63), -(2**63) + 1, -(2**63) + 3]),
}


def first_masses(distribution):
    return list(islice(distribution.masses(), 6))


@pytest.mark.parametrize("kind", sorted({name.split()[0] for name in EACH}))
def test_equal_levels_have_equal_masses_and_one_hash(kind):
    for (one, a), (other, b) in combinations(EACH.items(), 2):
        if kind not in (one.split()[0], other.split()[0]):
            continue
        if a.levels == b.levels:
            assert first_masses(a) == first_masses(b), f"{one} and {other} are one law to the auditor"
            assert hash(a.levels) == hash(b.levels), f"{one} and {other} are equal, and have two hashes"


def test_powers_that_differ_by_a_shift_are_one_law():
    same = ["powers one half", "powers moved", "powers at the ends"]
    assert len({EACH[name].levels for name in same}) == 1
