"""An epsilon of 10^-150: a search begins near its end, and does not take as many looks as the scale has bits."""

from fractions import Fraction
from typing import Any

import pytest

import lastbit as lb
from lastbit.estimate import gap_laws

TINY = "1e-150"


@pytest.mark.parametrize("noise", ["one-sided", "laplace"])
@pytest.mark.parametrize("monotone", [False, True])
def test_how_far_a_query_must_be_above_takes_few_looks(
    noise: Any, monotone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []
    exact = gap_laws.power
    monkeypatch.setattr(gap_laws, "power", lambda *asked: looks.append(asked) or exact(*asked))
    tiny, plain = (
        lb.SparseVector(threshold=10, limit=1, epsilon=each, noise=noise, monotone=monotone).gap_noise
        for each in (TINY, "1/1000")
    )
    # At both scales the same shares of the noise, so that the answers are in proportion.
    far, near = tiny.decisive(), plain.decisive()
    assert abs(far * Fraction(TINY) / (near * Fraction(1, 1000)) - 1) < Fraction(1, 100)
    # The scale has 500 bits, and a search without a guess takes two looks or more for each.
    assert len(looks) < 500
