"""The same claims where the law can be enumerated: their probability is exact, and no repetition is needed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import lastbit as lb
from tests.truth import populations
from tests.truth.cases import Case
from tests.truth.harness import Trial
from tests.truth.populations import Row

FEW = (
    Row("p0", "a", "0.9"), Row("p0", "b", "3"), Row("p1", "a", "1"), Row("p1", "b", "-2"), Row("p2", "b", "0.5"),
    Row("p3", "a", ""), Row("p3", "c", "1"), Row("", "a", "7"),
)  # fmt: skip
"""Four people, and all that is odd about the others."""

NUMBERS = {"of": "number", "bounds": (0, 2), "people_share": 0}
FOUR = {"by": "item", "domain": ("a", "b", "c", "d")}

CASES = [
    Case("count", "count", "few"),
    Case("count rows", "count", "few", {"rows": True, "most_rows": 1, "people_share": 0}),
    Case("sum", "sum", "few", {**NUMBERS, "resolution": 1}),
    Case("mean", "mean", "few", {**NUMBERS, "resolution": 1}),
    Case("mean of groups", "mean", "few", {**NUMBERS, "by": "item", "domain": ("a",), "resolution": 2}),
    Case("sum of groups", "sum", "few", {**NUMBERS, "by": "item", "domain": ("b",), "resolution": 2}),
    Case("share", "share", "few", {"of": "number = '50'", "people_share": 0}),
    Case(
        "share of a group", "share", "few", {"of": "number = '50'", "by": "item", "domain": ("b",), "people_share": 0}
    ),
    Case("median", "median", "few", {**NUMBERS, "resolution": "1/2"}),
    Case("choose", "choose", "few", {**FOUR, "k": 2}),
    Case("top", "top", "few", {"by": "item", "domain": ("a", "b", "c"), "k": 1, "resolution": 1}),
    Case("top set", "top", "few", {**FOUR, "k": 2, "set": True}),
]


@pytest.mark.parametrize("level", ["0.5", "0.75"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_probability_of_every_claim_is_at_least_what_it_says(
    case: Case, level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(populations.STOCK, "few", FEW)
    case = replace(case, options={**case.options, "unit": "person", "epsilon": 2, "level": level})
    trial = Trial(case, tmp_path)
    ready = trial.request.question.prepare(trial.values(0))
    law = lb.audit.law(ready, Fraction(1, 1 << 9))
    assert law.unexplored <= Fraction(1, 1 << 9)
    held: Counter[str] = Counter()
    claims: set[str] = set()
    for release, mass in law.masses.items():
        for outcome in trial.describe(release).outcomes:
            if outcome.sure:
                assert outcome.held, outcome.claim
                continue
            claims.add(outcome.claim)
            held[outcome.claim] += mass if outcome.held else 0  # type: ignore[assignment]
    assert claims
    for claim in claims:
        # What is said under a condition counts as held where the condition does not.
        assert held[claim] >= Fraction(level) - law.unexplored, claim
