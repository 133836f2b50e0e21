"""JSON: numbers are numbers, fractions are exact beside them, and every release follows the one schema."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from importlib.resources import files
from typing import Any

import numpy as np
import pytest

import lastbit as lb
from lastbit.output.json_values import SCHEMA, json_text, to_json_value
from tests.ledger.test_published import RELEASES
from tests.output.json_schema import problems
from tools.pages.json_keys import json_keys

RULES = json.loads(files("lastbit.output").joinpath("release.schema.json").read_text(encoding="utf-8"))
NUMBERS = (
    "gap",
    "value",
    "mean",
    "people",
    "measurement",
    "standard_error",
    "estimate",
    "spent",
    "score",
    "index",
    "rank",
)


def number_or_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


@pytest.mark.parametrize("name", RELEASES)
def test_every_release_follows_the_schema(name: str) -> None:
    release: lb.Release = RELEASES[name]()
    given = json.loads(release.to_json())
    assert problems(given, RULES) == []
    assert given["schema"] == SCHEMA == RULES["$id"]
    rows = {len(given[column]) for column in given["columns"]}
    assert len(rows) == 1
    assert given["columns"] == list(release.columns())
    for column in set(NUMBERS) & set(given["columns"]):
        assert all(map(number_or_nothing, given[column]))
    for column, texts in given.get("exact", {}).items():
        if column in given["columns"]:
            for cell, text in zip(release.columns()[column], texts, strict=True):
                assert text is None if cell is None else Fraction(text) == cell


def test_the_schema_refuses_what_is_no_release() -> None:
    good = json.loads(RELEASES["TopK"]().to_json())
    for name, wrong in {"schema": "lastbit-release-2", "cost": 1, "gap": "5/2", "exact": [], "stopped": 1}.items():
        assert problems(good | {name: wrong}, RULES)
    assert problems({name: value for name, value in good.items() if name != "costs"}, RULES)
    assert problems(good | {"costs": good["costs"] | {"eta": 1}}, RULES) == ["release.costs.eta is not known"]


def test_fractions_are_numbers_and_exact_beside_them() -> None:
    given = to_json_value({"a": (Fraction(1, 3), None), "b": {"c": Fraction(2)}, "d": 5, "e": [[Fraction(1, 2), 1]]})
    assert given == {
        "a": [1 / 3, None],
        "b": {"c": 2, "exact": {"c": "2"}},
        "d": 5,
        "e": [[0.5, 1]],
        "exact": {"a": ["1/3", None], "e": [["1/2", "1"]]},
    }


def test_numbers_that_json_or_floats_do_not_have() -> None:
    wide = Fraction(10) ** 400 + Fraction(1, 3)
    given = to_json_value(
        {"inf": float("-inf"), "nan": [np.float64("nan")], "large": wide, "small": 1 / wide, "n": (1 << 53) + 1}
    )
    assert (given["inf"], given["nan"], given["small"], given["n"]) == (None, [None], 0.0, (1 << 53) + 1)
    assert given["large"] == 10**400
    assert given["exact"] == {
        "inf": "-inf", "nan": ["nan"], "large": str(wide), "small": str(1 / wide), "n": "9007199254740993",
    }  # fmt: skip
    assert json.loads(json_text(given)) == given
    assert "exact" not in to_json_value({"n": (1 << 53) - 1, "true": True, "half": 0.5})


def test_a_value_that_takes_the_place_of_another_takes_its_exact_form_too() -> None:
    release = RELEASES["MeasuredTopK"]().to_dict()
    assert to_json_value(release) == release
    assert "gap" not in to_json_value(release | {"gap": [0.5] * 2})["exact"]
    given = to_json_value(release | {"gap": [Fraction(1, 7)], "level": Fraction(19, 20)})
    assert given["exact"]["gap"] == ["1/7"]
    assert given["exact"]["measurement"] == release["exact"]["measurement"]
    assert (given["level"], given["exact"]["level"]) == (0.95, "19/20")


def test_an_object_of_somebody_else_may_have_a_key_of_this_name() -> None:
    found = lb.PrivateSelection(
        candidates=[lambda draw: ({"exact": 5, "a": Fraction(1, 2)}, 1)], candidate_cost=1, most=1
    ).release()
    assert json.loads(found.to_json())["output"] == [{"a": 0.5, "exact": 5}]
    assert to_json_value({"exact": {"x": 1}}) == {"exact": {"x": 1}}
    assert to_json_value({"x": 2, "exact": {"x": "no number"}}) == {"x": 2}
    assert to_json_value({"long": Fraction(1, 10**5000)})["exact"]["long"] == "1/1" + "0" * 5000


def test_a_cost_is_told_in_numbers() -> None:
    costs = lb.DiscreteGaussian(rho="1/3").release([1]).to_dict()["costs"]
    assert (costs["epsilon"], costs["rho"], costs["delta"]) == (None, 1 / 3, 0)
    assert costs["exact"] == {"rho": "1/3", "delta": "0"}
    eta = lb.DiscreteLaplace(eta=lb.Eta(1, 1, 1)).release([1]).to_dict()["costs"]
    assert eta["epsilon"] == lb.Eta(1, 1, 1).epsilon_upper


def test_text_that_an_output_cannot_encode_is_still_json() -> None:
    assert json.loads(json_text({"item": ["caf\u00e9", "\ud800"]}, ascii_only=True)) == {
        "item": ["caf\u00e9", "\ud800"]
    }
    assert json_text({"item": "caf\u00e9"}, ascii_only=True).isascii()


def test_the_reference_describes_every_key_of_the_schema() -> None:
    page = json_keys()
    for key in RULES["properties"]:
        assert re.search(rf"^\| `{key}` \| [A-Z].+ \|$", page, re.MULTILINE), key
