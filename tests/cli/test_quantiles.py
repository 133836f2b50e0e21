"""`lastbit median` and `lastbit quantile`: right where epsilon is large, and refused where a unit is not bounded."""

from __future__ import annotations

import json
import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit import cli

PEOPLE = "people.csv"


def run(command: str) -> int:
    return cli._run(shlex.split(command), debug=False)


def answer(command: str, capsys: Any) -> dict[str, Any]:
    assert run(f"{command} --json") == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """101 people in two regions with scores 0 to 100, one row each; 40 rows have no score; person 7 has 900 more."""
    rows = [f"{i},{'north' if i < 50 else 'south'},{i},{2000 + i}" for i in range(101)]
    rows += [f"{1000 + i},north,{['', 'n/a', 'nan', '-'][i % 4]},2000" for i in range(40)]
    rows += [f"7,{'north' if i % 2 else 'south'},100,1990" for i in range(900)]
    (tmp_path / PEOPLE).write_text("\n".join(["person,region,score,year", *rows]), encoding="utf-8")
    monkeypatch.chdir(tmp_path)


ASKED = f"{PEOPLE} --of score --unit person --bounds 0 100 --resolution 1 --epsilon 1000"


@pytest.mark.usefixtures("people")
def test_one_number_for_each_person_and_missing_ones_left_out(capsys: Any) -> None:
    # 40 people have no score: they do not count, and person 7 counts once, with a mean near 100.
    found = answer(f"median {ASKED}", capsys)
    assert found["value"] == [51]
    assert found["quantile"] == [0.5]
    assert found["missing"] == "leave-out"
    low, high = answer(f"quantile {ASKED} --at 0.75,0.25", capsys)["value"]
    assert low in (25, 26)  # a third of the 75 below 76 is rank 25, between the two
    assert high == 76
    assert answer(f"quantile {ASKED} --at 1", capsys)["value"] == [100]
    # The 40 count as 0 where they are asked to: 141 people, the rank of the median is 70.5.
    assert answer(f"median {ASKED} --missing lowest", capsys)["value"] == [31]
    # The row of the largest year counts: person 7 has 7 again.
    assert answer(f"median {ASKED} --per latest --latest-by year", capsys)["value"] == [50]


@pytest.mark.parametrize(("said", "bounds"), [("36.6", "36.5 42.3"), ("0.3", "0 10 --resolution 0.1")])
@pytest.mark.usefixtures("people")
def test_a_decimal_that_is_a_step_stays_that_step(said: str, bounds: str, capsys: Any) -> None:
    for rows, more in ([said], ""), ([said], " --per row --most-rows 1"), ([said] * 3, ""):
        written = [f"{i},{row}" for i in range(200) for row in rows]
        Path("same.csv").write_text("\n".join(["who,x", *written]), encoding="utf-8")
        found = answer(f"median same.csv --of x --unit who --bounds {bounds} --epsilon 1000{more}", capsys)
        assert found["value"] == [float(said)]


@pytest.mark.usefixtures("people")
def test_a_person_with_many_rows_is_bounded(capsys: Any) -> None:
    # Of 900 rows with 100, two count.
    found = answer(f"quantile {ASKED} --at 0.5 --per row --most-rows 2", capsys)
    assert 50 <= found["value"][0] <= 52
    assert lb.Quantile(bounds=(0, 100), epsilon=1000, most_values=2).accuracy() == Fraction(found["within_ranks"])


@pytest.mark.usefixtures("people")
def test_groups_have_their_own_quantiles(capsys: Any) -> None:
    asked = f"median {ASKED} --by region --domain north,south,west"
    found = answer(f"{asked} --one-each", capsys)
    assert found["item"] == ["north", "south", "west"]
    north, south, west = found["value"]
    assert 24 <= north <= 26
    assert 74 <= south <= 76
    assert 0 <= west <= 100  # nobody is there
    assert found["cost"] == "epsilon 1000"
    several = answer(f"quantile {ASKED} --by region --domain north,south --most-items 2 --at 0.1,0.9", capsys)
    assert several["quantile"] == [0.1, 0.9] * 2
    assert run(f"{asked} --one-each") == 0
    shown = capsys.readouterr().out
    assert "score at 0.5" in shown
    assert "in each group, with probability 95%" in shown


@pytest.mark.usefixtures("people")
def test_an_account_is_charged_once_and_an_answer_is_found_again(capsys: Any) -> None:
    lb.Ledger("budget.db").create("survey", epsilon=3)
    paid = f"{PEOPLE} --of score --unit person --bounds 0 100 --epsilon 1 --ledger budget.db --dataset survey"
    first = answer(f"quantile {paid} --at 0.25,0.5,0.75", capsys)
    assert first["account"]["spent"] == 1
    again = answer(f"quantile {paid} --at 0.25,0.5,0.75 --reuse", capsys)
    assert again["value"] == first["value"]
    assert again["charged"] == 0
    assert answer(f"median {paid} --by region --domain north,south --one-each", capsys)["account"]["spent"] == 2
    assert answer(f"median {paid} --dry-run", capsys)["allowed"] is True


@pytest.mark.usefixtures("people")
def test_the_promise_is_one_that_is_proved(capsys: Any) -> None:
    asked = f"{PEOPLE} --of score --unit person --bounds 0 100 --resolution 1 --epsilon 1"
    assert run(f"median {asked}") == 0
    one = " ".join(capsys.readouterr().out.split())
    ranks = lb.Quantile(bounds=(0, 100), epsilon="9/10").accuracy()
    assert ranks == 8
    assert (
        "the value is within 8 ranks of the quantile. If all numbers stood in order, a value would stand at most 8 "
        in one
    )
    assert run(f"median {asked} --people-share 0") == 0
    assert lb.Quantile(bounds=(0, 100), epsilon=1).accuracy() == Fraction(15, 2)
    assert "the value is within 7.5 ranks of the quantile." in " ".join(capsys.readouterr().out.split())
    assert "floored to steps of 1, where" in one
    # Of several quantiles less is proved where numbers are equal.
    for command in ("quantile", "plan quantile"):
        source = asked if command == "quantile" else "--bounds 0 100 --resolution 1 --epsilon 1"
        assert run(f"{command} {source} --at 0.25,0.75") == 0
        assert "if no two numbers fall on the same step" in " ".join(capsys.readouterr().out.split())


WRONG = {
    "--by region --domain north,south --one-each --most-items 2": "--one-each is --most-items 1: got both",
    "--by region --one-each": "--domain must be given once for each --by",
    "--domain north,south": "groups need a column",
    "--one-each": "groups need a column",
    "--per row": "--per row needs --most-rows",
    "--by region --domain north,south --per row --most-rows 2 --one-each": "--most-rows says how many numbers a person",
    "--per latest": "--per latest and --latest-by go together",
    "--per median": "--per must be mean, total, latest, first, any or row",
    "--resolution 7": "resolution must divide the upper bound",
    "--missing never": "missing must be 'leave-out'",
}


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("more", WRONG)
def test_what_is_wrong_is_refused_before_anything_is_read(more: str, capsys: Any) -> None:
    assert run(f"median nowhere.csv --of score --unit person --bounds 0 100 --epsilon 1 {more}") == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert WRONG[more] in shown.err


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("at", ["2", "half", "", "0.5,0.5", "0.5,,0.7"])
def test_quantiles_that_are_none(at: str, capsys: Any) -> None:
    assert run(f"quantile nowhere.csv --of score --unit person --bounds 0 100 --epsilon 1 --at '{at}'") == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "nowhere" not in error


@pytest.mark.usefixtures("people")
def test_rows_may_be_people(capsys: Any) -> None:
    assert run(f"median {PEOPLE} --unit row --of score --bounds 0 100 --resolution 1 --epsilon 1000 --json") == 0
    assert json.loads(capsys.readouterr().out)["value"] == [100]


@pytest.mark.usefixtures("people")
def test_nothing_said_about_groups_leaves_nobody_out(capsys: Any) -> None:
    """The noise is for all groups, and every unit counts in each group that it has."""
    asked = f"median {PEOPLE} --of score --unit person --bounds 0 100 --epsilon 1 --by region --domain north,south"
    assert run(f"{asked} --dry-run --json") == 0
    plain = json.loads(capsys.readouterr().out)
    assert run(f"{asked} --most-items all --dry-run --json") == 0
    assert json.loads(capsys.readouterr().out) == plain
    assert plain["parameters"]["answer.numbers.most_values"] == "2"
    assert "spread.epsilon" not in plain["parameters"]
    assert "A person may count in all 2 groups" in " ".join(plain["notes"])
    assert run(f"{asked} --one-each --dry-run --json") == 0
    bounded = json.loads(capsys.readouterr().out)["parameters"]
    assert (bounded["answer.numbers.most_values"], bounded["spread.epsilon"]) == ("1", "1/20")


@pytest.mark.usefixtures("people")
def test_nobody_needs_to_know_the_range(capsys: Any) -> None:
    asked = f"{PEOPLE} --of score --unit person --epsilon 1000"
    found = answer(f"median {asked} --resolution 1", capsys)
    assert found["value"] == [51]
    assert answer(f"quantile {asked} --resolution 0.1 --at 0.25,0.5,0.75", capsys)["value"][1] == 51
    # With bounds the scale is linear, unless it is said.
    assert answer(f"median {asked} --bounds 0 1000000 --scale log", capsys)["value"] == [51]
    plan = answer(f"median {asked} --resolution 1 --dry-run", capsys)
    assert plan["parameters"]["scale"] == "log"
    assert run(f"median {asked} --resolution 1 --dry-run") == 0
    assert "places if the quantile is from -100,000 to 100,000." in " ".join(capsys.readouterr().out.split())


def test_a_column_of_whole_numbers_needs_no_resolution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    import pandas as pd

    monkeypatch.chdir(tmp_path)
    far = [10**15, -(10**15), *[7] * 50, *range(-20, 60)]
    pd.DataFrame({"who": range(len(far)), "whole": far, "part": [x + 0.5 for x in far]}).to_parquet("people.parquet")
    asked = "people.parquet --unit who --epsilon 1000"
    assert answer(f"median {asked} --of whole", capsys)["value"] == [7]
    assert run(f"median {asked} --of part") == 2
    refused = capsys.readouterr().err
    assert "bounds or a resolution must be said, as the type of 'part' is not whole numbers" in refused
    assert answer(f"median {asked} --of part --resolution 1/2", capsys)["value"] == [7.5]
    pd.DataFrame({"who": range(100), "whole": [10**15] * 100}).to_parquet("far.parquet")
    assert answer("median far.parquet --unit who --epsilon 1000 --of whole", capsys)["value"] == [10**15]


@pytest.mark.usefixtures("people")
def test_a_scale_that_follows_from_the_bounds_makes_no_other_question(capsys: Any) -> None:
    lb.Ledger("budget.db").create("people", epsilon=5000)
    paid = "--ledger budget.db --dataset people --reuse"
    table = f"{PEOPLE} --of score --unit person --epsilon 1000 {paid}"
    first = answer(f"median {table} --resolution 1", capsys)
    assert answer(f"median {table} --resolution 1 --scale log", capsys)["value"] == first["value"]
    assert answer(f"median {table} --bounds 0 100 --scale linear", capsys)
    assert answer(f"median {table} --bounds 0 100", capsys)
    assert answer(f"median {table} --bounds 0 100 --scale log", capsys)
    # Three questions: without bounds, with bounds, and with bounds on a log scale.
    assert answer(f"median {table} --bounds 0 100", capsys)["account"]["spent"] == 3000
