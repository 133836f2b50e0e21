"""A question costs what was asked for: however many parts it has, what they cost adds up to that and to no more."""

from __future__ import annotations

from typing import Any

import pytest

from lastbit.questions.kinds import KINDS

ITEMS: dict[str, Any] = {"by": ["ward"], "domain": ["a", "b", "c"]}
NUMBERS: dict[str, Any] = {"of": "cost", "bounds": [0, 10]}
SEVERAL: dict[str, Any] = {"of": ["cost", "stay"], "bounds": {"cost": [0, 1], "stay": [0, 2]}}
AUTO: dict[str, Any] = {"of": "cost", "bounds": "auto"}
EACH: dict[str, Any] = {
    "by": ["ward"], "domain": {"ward": ["a", "b"], "sex": ["f", "m"]}, "in_each": "sex", "k": 1,
}  # fmt: skip
ASKED: dict[str, list[dict[str, Any]]] = {
    "top": [
        {**ITEMS, "k": 2},
        {**ITEMS, "k": 2, "set": True},
        EACH,
        {**EACH, "numbers": True},
        {**EACH, "most_items": 1},
    ],
    "above": [{**ITEMS, "threshold": 5}, {**ITEMS, "threshold": 5, "numbers": True}],
    "choose": [{**ITEMS, "k": 2}],
    "measure": [{**ITEMS, "k": 2}],
    "histogram": [
        ITEMS,
        {**ITEMS, "most_items": 1},
        {**ITEMS, "most_items": 2, "people_share": "1/7"},
        {**ITEMS, "most_items": "auto"},
    ],
    "count": [{}, {**ITEMS, "most_items": 1}, {"rows": True, "most_rows": 3}],
    "share": [{"of": "cost >= 2"}, {"of": "cost >= 2", **ITEMS, "most_items": 2}],
    "sum": [
        NUMBERS,
        {**NUMBERS, **ITEMS, "most_items": 2},
        AUTO,
        {**AUTO, **ITEMS},
        {**AUTO, "bounds_share": "1/7"},
        SEVERAL,
    ],
    "mean": [NUMBERS, {**NUMBERS, **ITEMS, "sd": True}, AUTO, {**AUTO, "sd": True}, SEVERAL, {**SEVERAL, "sd": True}],
    "median": [NUMBERS, {**NUMBERS, **ITEMS, "most_items": 2}],
    "quantile": [{**NUMBERS, "at": ["1/4", "1/2", "3/4"]}, {**NUMBERS, **ITEMS, "at": ["1/4", "1/2"], "most_items": 2}],
}


@pytest.mark.parametrize("cost", [{"epsilon": "3/7"}, {"rho": "2/11"}], ids=["epsilon", "rho"])
@pytest.mark.parametrize(
    ("kind", "asked"),
    [(kind, asked) for kind, some in ASKED.items() for asked in some],
    ids=lambda part: str(part)[:80],
)
def test_the_cost_is_what_was_asked(kind: str, asked: dict[str, Any], cost: dict[str, str]) -> None:
    request = KINDS[kind].parse({"source": "t.csv", "unit": "person", **asked, **cost})
    ((name, amount),) = cost.items()
    assert request.question.mechanism.cost.text == f"{name} {amount}"


def test_every_kind_is_here() -> None:
    """Tables turn an epsilon and a delta into a rho: test_tables has theirs. A description has no cost of its own."""
    assert set(KINDS) == {*ASKED, "tables", "describe"}
