"""The privacy profile of two laws."""

from fractions import Fraction
from itertools import pairwise

import pytest

import lastbit as lb
from lastbit.audit import law, profile


def test_the_profile_is_exact_and_bends_where_the_ratios_are():
    one, other = (law(lambda draw, w=w: draw.index(w), 0) for w in ([8, 4, 2, 2], [1, 4, 10, 1]))
    found = profile(one, other)
    assert found.odds == (2, 5, 8)
    etas = [lb.Eta(1, 1, n) for n in range(1, 5)]
    points = found.points([0, *etas])
    assert [point.one[0] for point in points] == [Fraction(8, 16), Fraction(6, 16), Fraction(4, 16), 0, 0]
    assert [point.other[0] for point in points] == [Fraction(8, 16), Fraction(6, 16), Fraction(2, 16), 0, 0]
    assert all(lower == upper for point in points for lower, upper in (point.one, point.other))
    assert points[2].delta == (Fraction(4, 16),) * 2


def test_a_profile_falls_with_epsilon_and_is_enclosed_where_mass_is_missing():
    rate = lb.Rate.from_epsilon(1)
    found = profile(lambda draw: draw.laplace(rate), lambda draw: 1 + draw.laplace(rate), "1/1000")
    points = found.points([Fraction(n, 10) for n in range(12)])
    assert all(before.one[0] >= after.one[0] for before, after in pairwise(points))
    assert points[-1].delta[0] == 0 < points[-1].delta[1] <= Fraction(4, 1000)
    assert 0 < points[0].delta[1] - points[0].delta[0] <= Fraction(2, 1000)


@pytest.mark.parametrize("cost", [None, 1, lb.Cost.zcdp("1/2"), lb.Cost(Fraction(1), delta=Fraction(1, 100))])
def test_a_picture(tmp_path, cost):
    found = profile(lambda draw: draw.bernoulli("3/4"), lambda draw: draw.bernoulli("1/4"))
    found.plot(tmp_path / "profile.png", cost)
    assert (tmp_path / "profile.png").read_bytes().startswith(b"\x89PNG")
