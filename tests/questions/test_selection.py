"""Selections from listed items: what is shown beside the items that are above a threshold."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import lastbit as lb
from lastbit.questions.kinds import KINDS


@pytest.mark.parametrize("level", ["0.5", "0.95", "0.999"])
def test_the_least_of_a_listed_item_is_the_bound_that_holds_for_listed_items(level: str) -> None:
    """The noise of a listed item is above zero by a geometric: by more than t with probability r^(t+1)."""
    asked = {
        "source": "t.csv",
        "unit": "p",
        "by": ["w"],
        "domain": [*"abc"],
        "threshold": 100,
        "epsilon": 1,
        "limit": 2,
    }
    question = KINDS["above"].parse({**asked, "level": level}).question
    mechanism: Any = question.mechanism
    rate, shift = mechanism.gap_noise.query_rate.fraction, mechanism.gap_noise.shift
    t = next(t for t in range(10_000) if rate ** (t + 1) <= 1 - Fraction(level))
    release = mechanism.release(lb.Counts(items=[*"abc"], values=[900, 102, 131], monotone=True))
    least = [100 + gap + shift - t if gap > t else None for gap in release.gaps]
    assert question.report(release).data["at_least"] == least
    assert question.report(release).columns["at least"] == least
