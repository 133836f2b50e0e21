"""A comparison of two published answers holds whenever both intervals hold, and says where it has no limit."""

from __future__ import annotations

import json
import shlex
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import lastbit as lb
from lastbit import cli
from lastbit.errors import LastbitError, ParameterError
from lastbit.questions.compare import _WAYS

ENDS = [-2, 0, 1, 3]
INTERVALS = [(low, high) for low in [None, *ENDS] for high in [None, *ENDS] if None in (low, high) or low <= high]


def lies_in(value: Any, interval: tuple[Any, Any]) -> bool:
    low, high = interval
    return (low is None or low <= value) and (high is None or value <= high)


@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("way", ["difference", "ratio", "percent"])
def test_wherever_both_intervals_hold_the_comparison_holds(way: str, positive: bool) -> None:
    truths = [Fraction(step, 4) for step in range(0 if positive else -12, 17)]
    formula = {"difference": lambda a, b: b - a, "ratio": lambda a, b: b / a, "percent": lambda a, b: 100 * (b / a - 1)}
    for one, two in product(INTERVALS, INTERVALS):
        exact = [tuple(None if end is None else Fraction(end) for end in ends) for ends in (one, two)]
        _, ends = _WAYS[way]((Fraction(1), exact[0]), (Fraction(1), exact[1]), positive)
        for a, b in product(truths, truths):
            if lies_in(a, one) and lies_in(b, two) and (a or way == "difference"):
                assert lies_in(formula[way](a, b), ends), (one, two, a, b, ends)


def test_an_interval_is_no_wider_than_it_must_be() -> None:
    one, two = (Fraction(4), (Fraction(2), Fraction(8))), (Fraction(6), (Fraction(4), Fraction(10)))
    assert _WAYS["difference"](one, two, True) == (2, (-4, 8))
    assert _WAYS["ratio"](one, two, True) == (Fraction(3, 2), (Fraction(1, 2), 5))
    assert _WAYS["ratio"]((Fraction(1), (Fraction(0), Fraction(8))), two, True)[1] == (Fraction(1, 2), None)
    assert _WAYS["ratio"]((Fraction(0), (Fraction(-3), Fraction(8))), two, False) == (None, (None, None))
    assert _WAYS["ratio"]((None, (None, None)), two, True) == (None, (None, None))


@pytest.fixture
def years(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for year, people in ((2023, 400), (2024, 500)):
        rows = [{"patient": person, "region": "north" if person % 4 else "south"} for person in range(people)]
        pd.DataFrame(rows).to_csv(f"{year}.csv", index=False)
    return tmp_path


def ask(year: int, **options: Any) -> Any:
    by = {"region": ["north", "south", "west"]}
    return lb.ask("count", f"{year}.csv", **{"unit": "patient", "by": by, "epsilon": 2, **options})


def test_releases_are_compared_at_the_level_that_is_asked_for(years: Path) -> None:
    one, two = ask(2023), ask(2024)
    change = lb.compare(one, two)
    frame = change.to_frame()
    assert list(frame.columns) == ["region", "first", "second", "value", "low", "high"]
    assert frame["value"].tolist() == (two.to_frame()["value"] - one.to_frame()["value"]).tolist()
    # Each of the two at 97.5%, so that both hold together with 95%.
    reach = lb.DiscreteLaplace(epsilon=2, sensitivity=3).accuracy("0.975")
    widths = (frame["high"] - frame["low"]).tolist()
    assert widths[:2] == [float(4 * reach)] * 2
    assert widths[2] < float(4 * reach)  # nobody is in the third group, where intervals end at 0
    assert change.report.notes[0].startswith("Each interval holds with probability 95% or more; ")
    assert "no upper limit" not in repr(change)
    ratio = lb.compare(one, two, as_="ratio")
    assert "An interval without an upper limit: the first number may be 0." in repr(ratio)
    assert ratio.to_frame()["high"].isna().tolist() == [False, False, True]
    assert "north" in ratio._repr_html_()
    assert ratio.methods().startswith("People by region: the second against the first, as a ratio.")
    assert ratio.hide(below=1).to_frame()["shown"].tolist()[2] in (True, False)


def test_json_says_which_level_holds(years: Path, capsys: Any) -> None:
    for year in (2023, 2024):
        Path(f"{year}.json").write_text(json.dumps(json.loads(json.dumps(dict(ask(year).data), default=float))))
    assert cli._run(shlex.split("compare 2023.json 2024.json --as percent --json --csv c.csv"), debug=False) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["level"], shown["as"]) == (0.9, "percent")
    assert pd.read_csv("c.csv")["region"].tolist() == ["north", "south", "west"]
    with pytest.raises(ParameterError, match="one answer"):
        lb.compare("2023.json", "2024.json", of="x")


def test_an_end_that_json_rounded_may_lie_further_out(years: Path) -> None:
    """The float 0.1 is above 1/10 and 0.3 below 3/10: with them as they are, -1/5 would lie outside."""
    rounded = json.loads(json.dumps(dict(ask(2023).data), default=float))
    rounded.pop("exact", None)
    rounded |= {"value": [0.2] * 3, "low": [0.1] * 3, "high": [0.3] * 3}
    data = lb.compare(rounded, rounded).report.data
    assert max(data["low"]) <= -Fraction(1, 5)
    assert min(data["high"]) >= Fraction(1, 5)


def test_what_cannot_be_compared_is_refused(years: Path) -> None:
    one = ask(2023)
    for other in (
        7,
        [1],
        {"value": [1]},
        {"answers": {}},
        lb.ask("top", "2024.csv", unit="patient", by={"region": ["north"]}, k=1, epsilon=1),
    ):
        with pytest.raises(ParameterError):
            lb.compare(one, other)
    with pytest.raises(ParameterError, match="same groups"):
        lb.compare(one, lb.ask("count", "2024.csv", unit="patient", epsilon=1))
    with pytest.raises(ParameterError, match="as_ must be"):
        lb.compare(one, one, as_="sum")  # type: ignore[arg-type]
    with pytest.raises(LastbitError, match="cannot be read"):
        lb.compare("none.json", "none.json")


@pytest.mark.parametrize(
    "change",
    [
        {"value": 3}, {"value": [1]}, {"low": ["x"] * 3}, {"high": [{}] * 3}, {"level": 7}, {"level": None},
        {"groups": {"region": ["a", "a", "b"]}}, {"groups": {"region": 5}}, {"groups": []}, {"exact": 3},
    ],
    ids=str,
)  # fmt: skip
def test_json_that_was_changed_is_refused_in_words(years: Path, change: dict[str, Any]) -> None:
    document = json.loads(json.dumps(dict(ask(2023).data), default=float))
    document.pop("exact", None)
    assert lb.compare(document, document).to_frame()["value"].tolist() == [0, 0, 0]
    with pytest.raises(ParameterError):
        lb.compare(document, {**document, **change})


def test_groups_of_one_answer_alone_are_left_out_and_said(years: Path) -> None:
    one, two = ask(2023), ask(2024, by={"region": ["south", "east"]})
    change = lb.compare(one, two)
    assert change.to_frame()["region"].tolist() == ["south"]
    assert "Left out: 3 groups of one answer alone." in change.report.notes


def test_numbers_that_may_be_negative_have_no_limits_around_zero(years: Path) -> None:
    rows = pd.DataFrame({"patient": range(300), "balance": [-5, 5, 1] * 100})
    rows.to_csv("b.csv", index=False)
    means = [lb.ask("mean", "b.csv", unit="patient", of="balance", bounds=(-9, 9), epsilon="1/100") for _ in range(2)]
    frame = lb.compare(*means, as_="ratio").to_frame()
    assert frame["low"].isna().all()
    assert frame["high"].isna().all()


@pytest.mark.parametrize(("bounds", "below"), [("-30 30", True), ("auto", True), ("0 30", False)])
def test_json_says_whether_numbers_may_be_negative(bounds: str, below: bool, years: Path, capsys: Any) -> None:
    answers = []
    pd.DataFrame({"patient": range(300), "cost": [5, 9, 1] * 100}).to_csv(years / "costs.csv", index=False)
    words = f"mean costs.csv --unit patient --of cost --bounds {bounds} --epsilon 1 --noun patient,patients"
    for _ in range(2):
        assert cli._run([*shlex.split(words), "--json"], debug=False) == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert {answer["never_negative"] for answer in answers} == {not below}
    notes = " ".join(lb.compare(*answers, as_="ratio").report.notes)
    assert "for these patients, not for patients in general" in notes
    rows = {"value": [-1], "low": [-2], "high": [1]}
    ratio = lb.compare({**answers[0], **rows, "exact": {}}, {**answers[1], **rows, "exact": {}}, as_="ratio")
    assert (ratio.to_frame()["low"].isna() == below).all()
