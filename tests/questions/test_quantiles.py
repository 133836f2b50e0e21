"""Quantiles of groups: what a person pays who has a number in several groups."""

from __future__ import annotations

from typing import Any

import pytest

import lastbit as lb
from lastbit.questions.kinds import KINDS


@pytest.mark.parametrize(("kind", "more"), [("median", {}), ("quantile", {"at": ["1/4", "3/4"]})])
@pytest.mark.parametrize(("most", "numbers"), [("1", 1), ("2", 2), ("all", 3), (None, 3)])
def test_a_person_pays_for_every_group_that_they_count_in(kind: str, more: Any, most: str | None, numbers: int) -> None:
    asked = {"source": "t.csv", "unit": "p", "of": "c", "bounds": [0, 9], "by": ["w"], "domain": [*"abc"], **more}
    mechanism: Any = KINDS[kind].parse({**asked, "most_items": most, "epsilon": 1}).question.mechanism
    while isinstance(mechanism, lb.Parts):
        *_, mechanism = mechanism.parts.values()
    assert isinstance(mechanism, lb.GroupQuantiles)
    assert mechanism.most_values == numbers
