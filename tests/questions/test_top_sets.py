"""Sets in every face: the release, its report, its plan, and which way of selecting finds most."""

from __future__ import annotations

import json
import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import lastbit as lb
from lastbit import cli
from lastbit.estimate.finding import expected_found, zipf_counts
from lastbit.privacy.cost import Cost
from lastbit.questions.kinds import KINDS


def run(command: str, capsys: Any) -> dict[str, Any]:
    assert cli._run(shlex.split(f"{command} --json"), debug=False) == 0, capsys.readouterr().err
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    return data


@pytest.fixture
def visits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Ten words; the i-th has 300/i people, some of them with the word in several rows."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{person},{word}\n" for place, word in enumerate("abcdefghij") for person in range(300 // (place + 1))]
    Path("visits.csv").write_text("person,word\n" + "".join(rows + rows[:50]))
    return tmp_path


LISTED = "visits.csv --unit person --by word --domain j,i,h,g,f,e,d,c,b,a"


@pytest.mark.usefixtures("visits")
@pytest.mark.parametrize("form", ["both", "left-out"])
def test_a_set_and_a_measured_set(form: str, capsys: Any) -> None:
    answer = run(f"top {LISTED} -k 3 --set --form {form} --epsilon 200", capsys)
    assert answer["item"] == ["c", "b", "a"]  # in the order of the domain
    assert answer["mechanism"] == "SubsetTopK"
    mechanism = lb.SubsetTopK(k=3, epsilon=200, monotone=True, form=form)  # type: ignore[arg-type]
    assert Fraction(answer["exact"]["within"] if "within" in answer["exact"] else answer["within"]) == (
        mechanism.accuracy(10)
    )
    measured = run(f"measure {LISTED} -k 3 --set --form {form} --epsilon 2000", capsys)
    assert measured["item"] == ["c", "b", "a"]
    for (low, high), truth in zip(measured["interval"], (100, 150, 300), strict=True):
        assert low <= truth <= high


@pytest.mark.usefixtures("visits")
def test_what_a_set_cannot_be(capsys: Any) -> None:
    for command, message in {
        f"top {LISTED} -k 3 --form left-out --epsilon 1": "--form says how a set is weighed: write --set too.",
        "top visits.csv --unit person --by word -k 3 --set --epsilon 1": "--set needs --domain",
        f"top {LISTED} -k 3 --set --epsilon 1 --delta 1e-6": "Leave --delta or --domain out.",
        f"top {LISTED} -k 11 --set --epsilon 1": "-k must be at most the number of items: got 11 of 10.",
        f"top {LISTED} -k 3 --set --epsilon 1 --plot out.png": "--plot draws numbers, and top publishes items",
        "plan top -k 3 --delta 1e-6 --epsilon 1 --largest 9": "--largest compares selections among listed items",
        "plan top -k 3 --items 3 --epsilon 1 --largest 9": "among more items than k",
    }.items():
        assert cli._run(shlex.split(command), debug=False) == 2
        assert message in capsys.readouterr().err


def test_a_plan_says_which_way_finds_most(capsys: Any) -> None:
    for command, cost in (
        ("top --epsilon 1", Cost.of(1)),
        ("top --rho 1/8", lb.NoisyTopK(k=20, rho="1/8").cost),
        ("measure --epsilon 2", Cost.of(1)),
    ):
        found = run(f"plan {command} -k 20 --items 2000 --largest 5000", capsys)["found"]
        direct = expected_found(zipf_counts(2000, 5000), 20, cost)
        assert found == {"k": 20, "noise": direct.noise, "both": direct.both, "left-out": direct.left_out,
                         "best": direct.best} | ({"exact": found["exact"]} if "exact" in found else {})  # fmt: skip


def test_a_set_and_a_list_are_two_questions() -> None:
    from lastbit.questions.identity import identity_of

    asked = {"source": "v.csv", "by": "word", "domain": "a,b,c", "k": 2, "epsilon": 1}
    requests = [asked, {**asked, "set": True}, {**asked, "set": True, "form": "left-out"}]
    assert len({json.dumps(identity_of(KINDS["top"].parse(request))) for request in requests}) == 3


@pytest.mark.parametrize("within", [{}, {"in_each": "ward", "domain": {"word": [*"abcdefgh"], "ward": ["x"]}}])
def test_every_number_lies_in_the_interval_beside_it(within: dict[str, Any]) -> None:
    """Estimates use gaps, and intervals do not: where luck bends the gaps, an estimate may leave its interval."""
    words = [letter for place, letter in enumerate("abcdefgh") for _ in range(40 - place)]
    table = pd.DataFrame({"who": range(len(words)), "word": words, "ward": "x"})
    asked = {
        "unit": "who",
        "by": "word",
        "domain": {"word": [*"abcdefgh"]},
        "k": 6,
        "numbers": True,
        "epsilon": "1/4",
        "level": "0.5",
    }
    outside = 0
    for _ in range(30):
        view = lb.ask("top", table, **{**asked, **within})
        columns = view.data_columns
        rows = zip(columns["value"], columns["low"], columns["high"], strict=True)
        assert all(low <= value <= high for value, low, high in rows)
        release = view.published.main if hasattr(view.published, "main") else view.published
        pairs = zip(release.columns()["estimate"], release.error_bars("0.5")["estimate"], strict=True)
        outside += sum(not low <= value <= high for value, (low, high) in pairs)
    assert outside > 0
