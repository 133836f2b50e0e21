"""`--sd`: without noise it is what pandas says, it is another question, and both faces answer it alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lastbit as lb
from lastbit import cli
from lastbit.mechanisms import mechanism
from lastbit.questions.identity import identity_of
from lastbit.questions.kinds import KINDS
from tests.cli.test_counts_and_sums import Quiet

GROUPS = ["a", "b", "nobody has it"]
OPTIONS: dict[str, Any] = {"unit": "person", "of": "number", "bounds": (0, 100), "sd": True}
BY: dict[str, Any] = {"by": "item", "domain": GROUPS}


@pytest.fixture
def rows() -> pd.DataFrame:
    chance = np.random.default_rng(5)
    people, items = chance.integers(0, 400, 2000), chance.choice(["a", "b"], 2000)
    return pd.DataFrame({"person": people, "item": items, "number": chance.normal(60, 30, 2000)})


@pytest.mark.parametrize("kind", ["mean", "sum"])
@pytest.mark.parametrize("cost", [{"epsilon": 20}, {"rho": 20}], ids=["epsilon", "rho"])
@pytest.mark.parametrize("options", [{"per": "mean"}, {"rows": True, "most_rows": 20}], ids=str)
def test_without_noise_it_is_what_pandas_says(
    kind: str, cost: dict[str, Any], options: dict[str, Any], rows: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mechanism, "_SYSTEM", Quiet())
    answer = lb.ask(kind, rows, **OPTIONS, **BY, **options, **cost)
    numbers = rows.assign(number=rows["number"].clip(0, 100))
    if "per" in options:
        numbers = numbers.groupby(["person", "item"], as_index=False)["number"].mean()
    truth, frame = numbers.groupby("item")["number"].std(ddof=0), answer.to_frame()
    for place, group in enumerate("ab"):
        # A sum of squares is floored to a step, and so is a root.
        assert frame["sd"][place] == pytest.approx(truth[group], abs=0.2)
        assert frame["sd_low"][place] <= frame["sd"][place] <= frame["sd_high"][place]
    assert frame["sd"].isna().tolist() == frame["sd_low"].isna().tolist() == [False, False, True]
    assert frame["why"].iloc[-1] == "too few to say"
    assert "standard deviation" in str(answer)
    assert "25% of the cost of the answer" in answer.methods()
    whole = lb.ask(kind, rows, **OPTIONS, **options, **cost).to_frame()
    assert whole["sd"][0] == pytest.approx(_sd_of_all(rows, options), abs=0.2)


def _sd_of_all(rows: pd.DataFrame, options: dict[str, Any]) -> float:
    numbers = rows["number"].clip(0, 100)
    return float((numbers.groupby(rows["person"]).mean() if "per" in options else numbers).std(ddof=0))


@pytest.mark.parametrize("more", [{}, {"one_each": True}, {"people_share": 0}], ids=str)
def test_people_whom_a_bound_leaves_out_are_in_the_interval(
    more: dict[str, Any], rows: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mechanism, "_SYSTEM", Quiet())
    frame = lb.ask("mean", rows, **OPTIONS, **BY, **more, epsilon=50).to_frame()
    numbers = rows.assign(number=rows["number"].clip(0, 100)).groupby(["person", "item"], as_index=False).mean()
    truth = numbers.groupby("item")["number"].std(ddof=0)
    assert all(frame["sd_low"][place] <= truth[group] <= frame["sd_high"][place] for place, group in enumerate("ab"))
    wide = frame["sd_high"][0] - frame["sd_low"][0]
    assert (wide > 5) == ("one_each" in more)


def test_the_command_and_ask_say_the_same(
    rows: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mechanism, "_SYSTEM", Quiet())
    path = tmp_path / "rows.csv"
    rows.to_csv(path, index=False)
    words = "--unit person --of number --bounds 0 100 --by item --domain a,b --sd --epsilon 1 --json"
    assert cli._run(["mean", str(path), *words.split()], debug=False) == 0
    document = json.loads(capsys.readouterr().out)
    answer = lb.ask("mean", str(path), **OPTIONS, by="item", domain="a,b", epsilon=1)
    for name in ("sd", "sd_low", "sd_high"):
        assert document[name] == pytest.approx(answer.to_frame()[name].tolist())


def test_it_is_another_question_and_shares_have_none() -> None:
    facts: dict[str, Any] = {"source": "v.csv", "of": "cost", "bounds": [0, 10], "epsilon": 1}
    with_sd, without = (KINDS["mean"].parse({**facts, **more}) for more in ({"sd": True}, {}))
    assert identity_of(with_sd) != identity_of(without)
    assert identity_of(without) == identity_of(KINDS["mean"].parse({**facts, "sd": False}))
    assert identity_of(KINDS["sum"].parse({**facts, "per": "mean", "sd": True})) == identity_of(with_sd)
    for kind in ("share", "median"):
        assert "sd" not in {option.name for option in KINDS[kind].options}


def test_the_plan_is_for_what_is_left_for_the_mean() -> None:
    facts: dict[str, Any] = {"source": "v.csv", "unit": "id", "of": "cost", "bounds": [0, 10], "people_share": 0}
    whole, less = (
        KINDS["mean"].parse({**facts, **more}).question.accuracy(1000)
        for more in ({"sd": True, "epsilon": 1}, {"epsilon": "3/4"})
    )
    assert whole == less


def test_other_values_are_refused(rows: pd.DataFrame) -> None:
    with pytest.raises(lb.ParameterError, match="sd"):
        lb.ask("mean", rows, **{**OPTIONS, "sd": "sample"}, epsilon=1)
